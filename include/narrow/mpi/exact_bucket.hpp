// The stages of a bucket that is summed in integers.
#pragma once

#include <cstring>
#include <utility>

#include "bucket.hpp"

namespace narrow::inline NARROW_ABI::mpi::detail {

/// The largest magnitudes of blocks, over the ranks; integers under the steps that follow from them, to the
/// ranks that add up; the sums, in integers of as many bits under steps of their own, to all ranks.
template <int M> class bucket<exact<M>> : public bucket_stages {
  using numbers = integers<M>;
  using element = typename numbers::type;

 public:
  static constexpr bool rounds_each_term = true;
  using bucket_stages::bucket_stages;

  void start(const bucket_arrays& arrays) {
    arrays_ = arrays;
    stage_ = stage::compares;
    std::uint32_t* const largest = further(blocks_of(capacity_));
    for (std::size_t t = 0; t < arrays_.terms.size(); ++t) {
      if (arrays_.carried != nullptr) add_to(carried(t), arrays_.terms[t], arrays_.n);
      raise_to_largest(term(t), arrays_.n, largest);
    }
    compare();
  }

  bool proceed() {
    switch (stage_) {
      case stage::compares:
        if (!all_have_as_many()) return false;
        with_sent_type([&](auto zero) { quantize_terms<decltype(zero)>(); });
        stage_ = stage::scatters;
        return true;
      case stage::scatters:
        with_sent_type([&](auto zero) {
          // As floats the sums are exact where they have no more bits than those.
          if (counts_.all <= (std::int64_t{1} << std::numeric_limits<float>::digits) / numbers::limit)
            add_up<decltype(zero), float>();
          else
            add_up<decltype(zero), double>();
        });
        stage_ = stage::gathers;
        return true;
      case stage::gathers:
        break;
    }
    for (int r = 0; r < ranks_; ++r) take_chunk(r);
    return false;
  }

  /// How many gradients there can be in all: as many as a sum in double is exact for.
  static constexpr std::int64_t max_terms =
      (std::int64_t{1} << std::numeric_limits<double>::digits) / numbers::limit;

 private:
  enum class stage { compares, scatters, gathers };
  using exponent_type = std::int16_t;
  static constexpr exponent_type no_exponent =
      std::numeric_limits<exponent_type>::max();  // of a step that is NaN

  float* carried(std::size_t t) { return arrays_.carried->terms[t].data(); }
  const float* term(std::size_t t) { return arrays_.carried != nullptr ? carried(t) : arrays_.terms[t]; }

  /// f(T()) with the type of the integers that a rank sends: sums over as many gradients as a rank has.
  template <class F> void with_sent_type(const F& f) const {
    const std::int64_t largest = counts_.most * numbers::limit;
    if (counts_.most == 1)
      f(element{});
    else if (largest <= std::numeric_limits<std::int16_t>::max())
      f(std::int16_t{});
    else if (largest <= std::numeric_limits<std::int32_t>::max())
      f(std::int32_t{});
    else
      f(std::int64_t{});
  }

  template <class Sent> void quantize_terms() {
    steps_.resize(static_cast<std::size_t>(blocks_of(arrays_.n)));
    for (std::size_t b = 0; b < steps_.size(); ++b) steps_[b] = numbers::step_for(maxima()[b]);
    sent_.resize(static_cast<std::size_t>(arrays_.n) * sizeof(Sent));
    Sent* const sums = as<Sent>(sent_.data());
    for_each_piece(arrays_.n, [&](std::ptrdiff_t first, std::ptrdiff_t count) {
      const float* const steps = steps_.data() + first / block_size;
      for (std::size_t t = 0; t < arrays_.terms.size(); ++t) {
        element q[piece_size];
        numbers::quantize(term(t) + first, count, steps, q);
        if (arrays_.carried != nullptr) keep_rest(carried(t) + first, count, steps, q);
        if (t == 0)
          std::copy_n(q, count, sums + first);
        else
          for (std::ptrdiff_t i = 0; i < count; ++i)
            sums[first + i] = static_cast<Sent>(sums[first + i] + q[i]);
      }
    });
    scatter(sent_.data(), sizeof(Sent));
  }

  template <class Sent, class Sum> void add_up() {
    make_room([&](int r) { return chunk_size(r); });
    const std::ptrdiff_t own = share(rank_), before = first_of(rank_);
    std::byte* const exponents = chunk(rank_) + own * std::ptrdiff_t{sizeof(element)};
    for_each_piece(own, [&](std::ptrdiff_t first, std::ptrdiff_t count) {
      const float* const steps = steps_.data() + (before + first) / block_size;
      Sum sum[piece_size], part[piece_size];
      for (int r = 0; r < ranks_; ++r) {
        dequantize(as<Sent>(received(r)) + first, count, steps, r == 0 ? sum : part);
        if (r != 0) add_to(sum, part, count);
      }
      float* const kept = arrays_.carried != nullptr ? arrays_.carried->sum.data() + before + first : nullptr;
      if (kept != nullptr) {
        narrow::detail::convert(kept, part, static_cast<std::size_t>(count), rounding::nearest_even{});
        add_to(sum, part, count);
      }
      magnitude_t<Sum> largest[piece_size / block_size] = {};
      float own_steps[piece_size / block_size];
      raise_to_largest(sum, count, largest);
      for (std::ptrdiff_t b = 0; b < blocks_of(count); ++b) {
        own_steps[b] = numbers::step_for(largest[b]);
        const exponent_type e = exponent_of(own_steps[b]);
        std::memcpy(exponents + (first / block_size + b) * std::ptrdiff_t{sizeof e}, &e, sizeof e);
      }
      element* const q = as<element>(chunk(rank_)) + first;
      numbers::quantize(sum, count, own_steps, q);
      if (kept == nullptr) return;
      narrow::detail::convert(sum, kept, static_cast<std::size_t>(count), rounding::nearest_even{});
      keep_rest(kept, count, own_steps, q);
    });
    gather();
  }

  void take_chunk(int r) {
    const std::ptrdiff_t n = share(r), blocks = blocks_of(n);
    const std::byte* const exponents = chunk(r) + n * std::ptrdiff_t{sizeof(element)};
    std::vector<float> steps(static_cast<std::size_t>(blocks));
    for (std::ptrdiff_t b = 0; b < blocks; ++b) {
      exponent_type e = 0;
      std::memcpy(&e, exponents + b * std::ptrdiff_t{sizeof e}, sizeof e);
      steps[static_cast<std::size_t>(b)] =
          e == no_exponent ? std::numeric_limits<float>::quiet_NaN() : narrow::detail::power_of_two(e);
    }
    dequantize(as<element>(chunk(r)), n, steps.data(), arrays_.sum + first_of(r));
  }

  /// x becomes what rounding to q cut off. Of a block that is not finite nothing is left.
  static void keep_rest(float* x, std::ptrdiff_t n, const float* steps, const element* q) {
    float rounded[piece_size];
    dequantize(q, n, steps, rounded);
    subtract_from(x, rounded, n);
    for (std::ptrdiff_t first = 0; first < n; first += block_size)
      if (!narrow::detail::is_finite(steps[first / block_size]))
        std::fill_n(x + first, std::min(block_size, n - first), 0.f);
  }

  /// The integers of a share and the exponents of their steps; such that those of the next rank are aligned.
  std::size_t chunk_size(int r) const {
    const std::ptrdiff_t bytes = share(r) * std::ptrdiff_t{sizeof(element)} +
                                 blocks_of(share(r)) * std::ptrdiff_t{sizeof(exponent_type)};
    constexpr std::ptrdiff_t unit = alignof(element);
    return static_cast<std::size_t>((bytes + unit - 1) / unit * unit);
  }

  static exponent_type exponent_of(float step) {
    return narrow::detail::is_finite(step) ? static_cast<exponent_type>(narrow::detail::leading_exponent(
                                                 narrow::detail::magnitude_bits(step)))
                                           : no_exponent;
  }

  template <class T> static T* as(std::byte* x) { return static_cast<T*>(static_cast<void*>(x)); }
  template <class T> static const T* as(const std::byte* x) {
    return static_cast<const T*>(static_cast<const void*>(x));
  }

  stage stage_ = stage::compares;
  std::vector<float> steps_;  // of this bucket's blocks, over all ranks
  std::vector<std::byte> sent_;
};

}  // namespace narrow::mpi::detail
