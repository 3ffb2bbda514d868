// Sums over ranks in one call.
#pragma once

#include "carried.hpp"
#include "reducer.hpp"

namespace narrow::inline NARROW_ABI::mpi {

/// `sum` becomes the sum of the terms of all ranks, on every rank the same bits, in the form `wide`,
/// `rounded<T>` or `exact<M>`; see `reducer`, which does the same while other gradients are computed, and
/// carries what is cut off.
///
/// Shapes  all ranks have the same one, which `sum` takes. Ranks may have different numbers of terms, at least one.
/// Throws  std::invalid_argument on every rank, naming two of them, if they disagree in shape or form.
/// Cost    beside the elements seven small reductions, memory for four buckets, and in the first call five
///         duplicates of the communicator.
template <class Form, readable_array Term, readable_array Sum>
void all_reduce(std::span<const Term> terms, Sum& sum, Form form, MPI_Comm comm = MPI_COMM_WORLD) {
  const std::string what = terms.empty() ? "no term" : detail::shape_of(terms.front());
  detail::require_same("all_reduce", Form::name() + " of " + what, comm);
  reducer<Form> by(form, {.terms = static_cast<int>(terms.size())}, comm);
  by.add(terms, sum);
  by.wait();
}
/// The same of one term, or of an expression.
template <class Form, readable_array Term, readable_array Sum>
requires(!std::same_as<Form, MPI_Comm>) void all_reduce(const Term& term, Sum& sum, Form form,
                                                        MPI_Comm comm = MPI_COMM_WORLD) {
  all_reduce(std::span<const Term>(&term, 1), sum, form, comm);
}
/// The same in place.
template <class Form, readable_array X> void all_reduce(X& x, Form form, MPI_Comm comm = MPI_COMM_WORLD) {
  all_reduce(std::span<const X>(&x, 1), x, form, comm);
}

}  // namespace narrow::mpi
