// One bucket: a part of all gradients that goes through the ranks at a time, in stages between which MPI is
// at work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arithmetic.hpp"
#include "communicator.hpp"
#include "forms.hpp"

namespace narrow::inline NARROW_ABI::mpi::detail {

/// What rounding cut off in one bucket: of each of this rank's gradients, and of the part of the sum that it
/// rounds (zeros elsewhere).
struct carried_parts {
  std::vector<std::vector<float>> terms;
  std::vector<float> sum;
};

/// What a bucket adds up: n floats of each of this rank's gradients, and where their sum over all ranks goes,
/// which may be one of them. `carried` is null where nothing is carried.
struct bucket_arrays {
  std::vector<const float*> terms;
  float* sum = nullptr;
  std::ptrdiff_t n = 0;
  carried_parts* carried = nullptr;
};

/// How many gradients there are: on this rank, on the rank that has most, and on all of them.
struct term_counts {
  std::int64_t own = 1, most = 1, all = 1;
};

/// What kernels are handed at a time: a few blocks, which the nearest cache holds.
inline constexpr std::ptrdiff_t piece_size = 4 * block_size;
/// use(first, count) for all pieces of n elements.
template <class Use> void for_each_piece(std::ptrdiff_t n, const Use& use) {
  for (std::ptrdiff_t first = 0; first < n; first += piece_size) use(first, std::min(piece_size, n - first));
}

/// The part of n elements that a rank adds up: whole blocks, about as many as every other rank.
struct element_range {
  std::ptrdiff_t first, count;
};
constexpr element_range share_of(std::ptrdiff_t n, int rank, int ranks) {
  const auto begin = [&](int r) { return std::min(blocks_of(n) * r / ranks * block_size, n); };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

/// The stages that buckets of every form share. In the first all ranks compare how many elements they have:
/// what they then exchange depends on it.
class bucket_stages {
 public:
  /// `capacity`: the most elements that a bucket may have, the same on all ranks.
  bucket_stages(MPI_Comm comm, const term_counts& counts, std::ptrdiff_t capacity)
      : comm_(comm), counts_(counts), capacity_(capacity), rank_(mpi::rank(comm)), ranks_(mpi::ranks(comm)) {}
  bucket_stages(const bucket_stages&) = delete;
  bucket_stages& operator=(const bucket_stages&) = delete;

  MPI_Request& request() { return request_; }

 protected:
  /// So many further numbers, zeros, for `compare` to take along. All ranks name the same number.
  std::uint32_t* further(std::ptrdiff_t entries) {
    maxima_.assign(static_cast<std::size_t>(2 + entries), 0);
    return maxima_.data() + 2;
  }
  /// Compares the counts of elements, and raises the further numbers to their maximum over the ranks.
  void compare() {
    maxima_[0] = static_cast<std::uint32_t>(arrays_.n);
    maxima_[1] = greatest - maxima_[0];
    check(MPI_Iallreduce(MPI_IN_PLACE, maxima_.data(), count_of(maxima_.size()), MPI_INT32_T, MPI_MAX, comm_,
                         &request_),
          "MPI_Iallreduce");
  }
  bool all_have_as_many() const { return maxima_[0] == greatest - maxima_[1]; }
  const std::uint32_t* maxima() const { return maxima_.data() + 2; }

  std::ptrdiff_t first_of(int r) const { return share_of(arrays_.n, r, ranks_).first; }
  std::ptrdiff_t share(int r) const { return share_of(arrays_.n, r, ranks_).count; }

  /// Sends each rank its share of what this rank has, in elements of so many bytes; received() then has the
  /// shares of all ranks, one after another.
  void scatter(const std::byte* from, std::size_t size) {
    lay_out([&](int r) { return static_cast<std::size_t>(share(r)) * size; });
    const auto own = static_cast<std::size_t>(share(rank_)) * size;
    received_.resize(own * static_cast<std::size_t>(ranks_));
    received_sizes_.assign(sizes_.size(), count_of(own));
    received_places_.resize(sizes_.size());
    for (std::size_t r = 0; r < sizes_.size(); ++r) received_places_[r] = count_of(r * own);
    check(MPI_Ialltoallv(from, sizes_.data(), places_.data(), MPI_BYTE, received_.data(),
                         received_sizes_.data(), received_places_.data(), MPI_BYTE, comm_, &request_),
          "MPI_Ialltoallv");
  }
  const std::byte* received(int r) const {
    return received_.data() + received_places_[static_cast<std::size_t>(r)];
  }

  /// Places for what each rank makes of its share; chunk(r) is where that of rank r lies, to which this rank
  /// writes its own.
  template <class Size> void make_room(const Size& size_of_chunk) {
    lay_out(size_of_chunk);
    result_.resize(static_cast<std::size_t>(places_.back()) + static_cast<std::size_t>(sizes_.back()));
  }
  std::byte* chunk(int r) { return result_.data() + places_[static_cast<std::size_t>(r)]; }
  /// Gives all ranks the chunks of the others.
  void gather() {
    check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result_.data(), sizes_.data(), places_.data(),
                          MPI_BYTE, comm_, &request_),
          "MPI_Iallgatherv");
  }

  MPI_Comm comm_;
  term_counts counts_;
  std::ptrdiff_t capacity_;
  int rank_, ranks_;
  bucket_arrays arrays_;
  MPI_Request request_ = MPI_REQUEST_NULL;

 private:
  template <class Size> void lay_out(const Size& size_of) {
    sizes_.clear();
    places_.clear();
    std::size_t place = 0;
    for (int r = 0; r < ranks_; ++r) {
      const std::size_t size = size_of(r);
      sizes_.push_back(count_of(size));
      places_.push_back(count_of(place));
      place += size;
    }
  }

  /// MPI compares these as signed integers, which all of them are: none has the sign's bit.
  static constexpr std::uint32_t greatest = std::numeric_limits<std::int32_t>::max();
  std::vector<std::uint32_t> maxima_;
  std::vector<int> sizes_, places_, received_sizes_, received_places_;
  std::vector<std::byte> received_, result_;
};

/// The sum of this rank's gradients, in float.
inline void sum_of_terms(const bucket_arrays& arrays, std::ptrdiff_t first, std::ptrdiff_t count,
                         float* sum) {
  if (sum != arrays.terms[0] + first) std::copy_n(arrays.terms[0] + first, count, sum);
  for (std::size_t t = 1; t < arrays.terms.size(); ++t) add_to(sum, arrays.terms[t] + first, count);
}

/// The stages of a form: start(arrays) begins the first one, proceed() what follows when request() is done.
/// It returns whether there is more to wait for.
template <class Form> class bucket;

template <> class bucket<wide> : public bucket_stages {
 public:
  static constexpr bool rounds_each_term = false;
  using bucket_stages::bucket_stages;

  void start(const bucket_arrays& arrays) {
    arrays_ = arrays;
    compares_ = true;
    further(0);
    compare();
  }
  bool proceed() {
    if (!std::exchange(compares_, false) || !all_have_as_many()) return false;
    // The sum may lie in any of the terms.
    for_each_piece(arrays_.n, [&](std::ptrdiff_t first, std::ptrdiff_t count) {
      float sum[piece_size];
      sum_of_terms(arrays_, first, count, sum);
      std::copy_n(sum, count, arrays_.sum + first);
    });
    check(MPI_Iallreduce(MPI_IN_PLACE, arrays_.sum, count_of(static_cast<std::size_t>(arrays_.n)), MPI_FLOAT,
                         MPI_SUM, comm_, &request_),
          "MPI_Iallreduce");
    return true;
  }

 private:
  bool compares_ = false;
};

template <class T> class bucket<rounded<T>> : public bucket_stages {
 public:
  static constexpr bool rounds_each_term = false;  // but their sum
  using bucket_stages::bucket_stages;

  void start(const bucket_arrays& arrays) {
    arrays_ = arrays;
    stage_ = stage::compares;
    further(0);
    compare();
  }
  bool proceed() {
    switch (stage_) {
      case stage::compares:
        if (!all_have_as_many()) return false;
        round_terms();
        stage_ = stage::scatters;
        return true;
      case stage::scatters:
        add_up();
        stage_ = stage::gathers;
        return true;
      case stage::gathers:
        break;
    }
    for (int r = 0; r < ranks_; ++r)
      narrow::detail::convert(numbers(chunk(r)), arrays_.sum + first_of(r),
                              static_cast<std::size_t>(share(r)), rounding::nearest_even{});
    return false;
  }

 private:
  enum class stage { compares, scatters, gathers };

  static T* numbers(std::byte* bytes) { return static_cast<T*>(static_cast<void*>(bytes)); }
  static const T* numbers(const std::byte* bytes) {
    return static_cast<const T*>(static_cast<const void*>(bytes));
  }

  /// Rounds x to `to`, and leaves in x what that cut off, if it is to be carried.
  static void round(float* x, std::ptrdiff_t n, T* to, const void* carried) {
    const auto count = static_cast<std::size_t>(n);
    narrow::detail::convert(x, to, count, rounding::nearest_even{});
    if (carried == nullptr) return;
    float kept[piece_size];
    narrow::detail::convert(to, kept, count, rounding::nearest_even{});
    subtract_from(x, kept, n);
    if (kernel::count_nonfinite(as_column(x, n)) > 0)  // of a gradient that overflowed nothing is left
      for (std::ptrdiff_t i = 0; i < n; ++i)
        if (!narrow::detail::is_finite(x[i])) x[i] = 0;
  }

  void round_terms() {
    sent_.resize(static_cast<std::size_t>(arrays_.n));
    for_each_piece(arrays_.n, [&](std::ptrdiff_t first, std::ptrdiff_t count) {
      float sum[piece_size];
      sum_of_terms(arrays_, first, count, sum);
      float* const before = arrays_.carried != nullptr ? arrays_.carried->terms[0].data() + first : nullptr;
      if (before != nullptr) add_to(sum, before, count);
      round(sum, count, sent_.data() + first, before);
      if (before != nullptr) std::copy_n(sum, count, before);
    });
    scatter(static_cast<const std::byte*>(static_cast<const void*>(sent_.data())), sizeof(T));
  }

  void add_up() {
    make_room([&](int r) { return static_cast<std::size_t>(share(r)) * sizeof(T); });
    for_each_piece(share(rank_), [&](std::ptrdiff_t first, std::ptrdiff_t count) {
      float sum[piece_size], term[piece_size];
      for (int r = 0; r < ranks_; ++r) {
        narrow::detail::convert(numbers(received(r)) + first, r == 0 ? sum : term,
                                static_cast<std::size_t>(count), rounding::nearest_even{});
        if (r != 0) add_to(sum, term, count);
      }
      float* const before =
          arrays_.carried != nullptr ? arrays_.carried->sum.data() + first_of(rank_) + first : nullptr;
      if (before != nullptr) add_to(sum, before, count);
      round(sum, count, numbers(chunk(rank_)) + first, before);
      if (before != nullptr) std::copy_n(sum, count, before);
    });
    gather();
  }

  stage stage_ = stage::compares;
  std::vector<T> sent_;
};

}  // namespace narrow::mpi::detail
