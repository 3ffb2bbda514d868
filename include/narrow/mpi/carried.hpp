// Error feedback taken out of a reducer and put back, on any number of ranks.
#pragma once

#include <numeric>

#include "reducer.hpp"

namespace narrow::inline NARROW_ABI::mpi {

template <class Form> carried_gradients reducer<Form>::carried() const {
  // The buckets one after another are the elements one after another.
  const auto joined = [&](auto part_of) {
    std::vector<float> all;
    for (const detail::carried_parts& b : carried_) {
      const std::vector<float>& own = part_of(b);
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  };
  const bool collects = rank(comm_) == 0;
  carried_gradients result;
  for (int r = 0; r < ranks(comm_); ++r) {
    int terms = static_cast<int>(carried_counts_.own);
    detail::check(MPI_Bcast(&terms, 1, MPI_INT, r, comm_), "MPI_Bcast");
    for (std::size_t t = 0; t < static_cast<std::size_t>(terms); ++t) {
      std::vector<float> own;
      if (rank(comm_) == r)
        own = joined([&](const detail::carried_parts& b) -> const auto& { return b.terms[t]; });
      if (collects && r != 0) receive(own, r, 0, comm_);
      if (!collects && rank(comm_) == r) send(own, 0, 0, comm_);
      if (collects) result.terms.push_back(std::move(own));
    }
  }
  // Of each element one rank has what was cut off its sum, the others have 0.
  result.sum = joined([](const detail::carried_parts& b) -> const auto& { return b.sum; });
  std::vector<float> sum(result.sum.size());
  for (std::size_t first = 0, n; first < sum.size(); first += n) {
    n = std::min<std::size_t>(sum.size() - first, std::size_t{1} << 26);
    detail::check(MPI_Reduce(result.sum.data() + first, sum.data() + first, detail::count_of(n), MPI_FLOAT,
                             MPI_SUM, 0, comm_),
                  "MPI_Reduce");
  }
  if (!collects) return {};
  result.sum = std::move(sum);
  return result;
}

template <class Form> void reducer<Form>::carry(const carried_gradients& from) {
  carried_gradients all = from;
  broadcast(all.sum, 0, comm_);
  auto terms = static_cast<std::int64_t>(all.terms.size());
  detail::check(MPI_Bcast(&terms, 1, MPI_INT64_T, 0, comm_), "MPI_Bcast");
  all.terms.resize(static_cast<std::size_t>(terms));
  for (auto& term : all.terms) broadcast(term, 0, comm_);
  std::optional<std::string> refused;
  for (const auto& term : all.terms)
    if (term.size() != all.sum.size())
      refused = "narrow::mpi::reducer::carry: a term has " + std::to_string(term.size()) +
                " elements, the sum has " + std::to_string(all.sum.size());
  if (options_.feedback != error_feedback::carried)
    refused = "narrow::mpi::reducer::carry: the options say that nothing is carried";
  detail::require_all(refused, comm_);

  if (terms != carried_counts_.all &&
      terms > 0) {  // other terms than before: nothing is lost, but the first takes it all
    for (std::size_t t = 1; t < all.terms.size(); ++t)
      detail::add_to(all.terms[0].data(), all.terms[t].data(), std::ssize(all.terms[0]));
    all.terms.resize(1);
  }
  all.terms.resize(static_cast<std::size_t>(carried_counts_.all), std::vector<float>(all.sum.size()));
  std::int64_t first_term = 0;
  detail::check(MPI_Exscan(&carried_counts_.own, &first_term, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Exscan");
  if (rank(comm_) == 0) first_term = 0;  // which MPI leaves undefined

  carried_.clear();
  const std::ptrdiff_t size = std::ssize(all.sum);
  for (std::ptrdiff_t first = 0; first < size; first += options_.bucket) {
    const std::ptrdiff_t n = std::min(options_.bucket, size - first);
    detail::carried_parts& here = carried_.emplace_back();
    for (std::int64_t t = first_term; t < first_term + carried_counts_.own; ++t) {
      const float* const from_term = all.terms[static_cast<std::size_t>(t)].data() + first;
      here.terms.emplace_back(from_term, from_term + n);
    }
    // Each rank keeps what it cut off the sums that it rounds.
    here.sum.assign(static_cast<std::size_t>(n), 0);
    const auto [own, count] = detail::share_of(n, rank(comm_), ranks(comm_));
    std::copy_n(all.sum.data() + first + own, count, here.sum.data() + own);
  }
}

}  // namespace narrow::mpi
