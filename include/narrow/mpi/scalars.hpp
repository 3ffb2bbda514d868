// Narrow scalars as MPI's datatypes, and the operations of its reductions.
#pragma once

#include "../format/operators.hpp"
#include "../format_name.hpp"
#include "../kernel/elementwise.hpp"
#include "communicator.hpp"

namespace narrow::inline NARROW_ABI::mpi {

/// What MPI's calls take for elements of T: a type of their size and with their name. Equal calls return the
/// same object, which MPI_Finalize frees. On machines with different byte orders it converts nothing.
template <narrow_scalar T> MPI_Datatype datatype() {
  static const MPI_Datatype type = [] {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    detail::check(MPI_Type_contiguous(sizeof(T), MPI_BYTE, &made), "MPI_Type_contiguous");
    const std::string name = "narrow::" + format_name<T>();
    detail::check(MPI_Type_set_name(made, name.substr(0, MPI_MAX_OBJECT_NAME - 1).c_str()),
                  "MPI_Type_set_name");
    detail::check(MPI_Type_commit(&made), "MPI_Type_commit");
    detail::free_at_end(made, MPI_Type_free);
    return made;
  }();
  return type;
}

namespace detail {

/// x and y in one, as MPI calls them: y[i] = Combine(x[i], y[i]).
template <class T, auto Combine> void combine(void* in, void* inout, int* count, MPI_Datatype*) {
  const T* const x = static_cast<const T*>(in);
  T* const y = static_cast<T*>(inout);
  for (int i = 0; i < *count; ++i) y[i] = Combine(x[i], y[i]);
}

template <class T> void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  using namespace narrow::kernel;
  const T* const x = static_cast<const T*>(in);
  T* const y = static_cast<T*>(inout);
  // The kernels round to nearest; by any other policy a format's own operator does.
  if constexpr (has_coder<T> && std::same_as<typename T::round_policy, rounding::nearest_even>) {
    const lane_binary<lane_sum, lane_numbers<T>, lane_numbers<T>> sum{{x, 0}, {y, 0}};
    if (store_program(sum, y, 0, line_shape{1, *count})) return;
  }
  combine<T, [](T a, T b) { return T(a + b); }>(in, inout, count, type);
}

/// The smaller or larger of two numbers, the same in any order of the two: a NaN comes before all numbers, -0
/// is below 0.
template <class T> T smaller(T a, T b) {
  if constexpr (narrow_float<T>) {
    if (isnan(a) || isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return signbit(a) ? a : b;
  }
  return b < a ? b : a;
}
template <class T> T larger(T a, T b) {
  if constexpr (narrow_float<T>) {
    if (isnan(a) || isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

inline MPI_Op made_operation(MPI_User_function* function) {
  MPI_Op made = MPI_OP_NULL;
  check(MPI_Op_create(function, 1, &made), "MPI_Op_create");
  free_at_end(made, MPI_Op_free);
  return made;
}

}  // namespace detail

/// The sum of elements of T, for MPI's own reductions of `datatype<T>()`.
///
/// Rounding  each addition is computed wide and rounded once by T's policy, so that a reduction rounds once a hop: a sum
///           over P ranks is off by at most P - 1 roundings of partial sums, at most (P - 1) u sum |x| with u half the
///           format's epsilon, where nothing overflows. `fixed` adds exactly, as long as no partial sum saturates.
///           `all_reduce` rounds once or twice in all, whatever P is.
/// Special   as T's operator + has them.
template <narrow_scalar T> MPI_Op sum() {
  static const MPI_Op made = detail::made_operation(detail::add<T>);
  return made;
}

/// The smallest or largest element, for MPI's own reductions of `datatype<T>()`: exact, and the same in any
/// order. NaN if one is; -0 counts as below 0.
template <narrow_scalar T> MPI_Op min() {
  static const MPI_Op made = detail::made_operation(detail::combine<T, detail::smaller<T>>);
  return made;
}
/// See min().
template <narrow_scalar T> MPI_Op max() {
  static const MPI_Op made = detail::made_operation(detail::combine<T, detail::larger<T>>);
  return made;
}

}  // namespace narrow::mpi
