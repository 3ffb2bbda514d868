// What the reductions compute: sums, integers under steps and back, by the kernels of the instruction set in
// use.
#pragma once

#include <span>

#include "../block/scale.hpp"
#include "../convert.hpp"
#include "../kernel/elementwise.hpp"
#include "../kernel/quantize.hpp"
#include "../math.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::mpi::detail {

/// As many elements share a step. A sixteenth of a first-level cache in float.
inline constexpr std::ptrdiff_t block_size = 1024;
constexpr std::ptrdiff_t blocks_of(std::ptrdiff_t n) { return (n + block_size - 1) / block_size; }

template <class T> matrix_view<T> as_column(T* x, std::ptrdiff_t n) { return {x, n, 1, 1, n}; }
template <class T> kernel::tile_map<T> per_block(T* values) { return {values, 1, 0, block_size, 1}; }

/// to[i] = Op(x[i], y[i]) in float.
template <class Op, std::floating_point T> void combine(const T* x, const T* y, T* to, std::ptrdiff_t n) {
  if constexpr (std::same_as<T, float>) {
    using namespace narrow::kernel;
    const lane_binary<Op, lane_numbers<float>, lane_numbers<float>> program{{x, 0}, {y, 0}};
    if (store_program(program, to, 0, line_shape{1, n})) return;
  }
  narrow::detail::with_float_environment([&] {
    for (std::ptrdiff_t i = 0; i < n; ++i)
      if constexpr (std::same_as<Op, kernel::lane_sum>)
        to[i] = x[i] + y[i];
      else
        to[i] = x[i] - y[i];
  });
}
template <std::floating_point T> void add_to(T* sum, const T* x, std::ptrdiff_t n) {
  combine<kernel::lane_sum>(sum, x, sum, n);
}
template <std::floating_point T> void subtract_from(T* x, const T* y, std::ptrdiff_t n) {
  combine<kernel::lane_difference>(x, y, x, n);
}

/// The type of magnitudes' bits that steps are chosen from.
template <std::floating_point T>
using magnitude_t = typename narrow::detail::layout_of_built_in_t<T>::bits_type;
/// What stands for the magnitude of a block that is not finite: larger than all others, and positive as a
/// signed integer, which MPI compares alike everywhere (MPICH 4.0 takes those of MPI_UINT32_T for signed).
template <std::unsigned_integral Bits>
inline constexpr Bits not_finite = std::numeric_limits<Bits>::max() >> 1;

/// Raises largest[block] to the bits of the largest magnitude in each block.
template <std::floating_point T>
void raise_to_largest(const T* x, std::ptrdiff_t n, magnitude_t<T>* largest) {
  using statistic = narrow::detail::absmax_of<narrow::detail::layout_of_built_in_t<T>>;
  constexpr std::ptrdiff_t at_a_time = 64;
  for (std::ptrdiff_t first = 0; first < n; first += at_a_time * block_size) {
    const std::ptrdiff_t count = std::min(at_a_time * block_size, n - first);
    statistic found[at_a_time];
    const bool finite = kernel::gather_magnitudes(as_column(x + first, count), per_block(found)) == 0;
    for (std::ptrdiff_t b = 0; b * block_size < count; ++b) {
      auto& so_far = largest[first / block_size + b];
      so_far = std::max(so_far, found[b].bits);
      const std::ptrdiff_t at = first + b * block_size;
      if (!finite && kernel::count_nonfinite(as_column(x + at, std::min(block_size, n - at))) > 0)
        so_far = not_finite<magnitude_t<T>>;
    }
  }
}

/// Integers of M bits under steps that are powers of two.
template <int M> struct integers {
  using step = narrow::detail::power_of_two_step<M - 1>;
  using type = narrow::detail::int_at_least<M>;
  static constexpr std::int64_t limit = (std::int64_t{1} << (M - 1)) - 1;

  /// The step at which a magnitude fits; NaN for a block that is not finite.
  template <std::unsigned_integral Magnitude> static float step_for(Magnitude largest) {
    return largest == not_finite<Magnitude> ? std::numeric_limits<float>::quiet_NaN()
                                            : step::template reaching<rounding::nearest_even>(largest);
  }

  /// q[i] = x[i] / steps[i / block_size], rounded to nearest even; 0 where the step is NaN.
  template <std::floating_point T>
  static void quantize(const T* x, std::ptrdiff_t n, const float* steps, type* q) {
    kernel::quantize(as_column(x, n), as_column(q, n), per_block(steps), kernel::scale_kind::power_of_two,
                     {-double(limit), double(limit)}, rounding::nearest_even{}, {});
  }
};

/// x[i] = q[i] steps[i / block_size], rounded to T where it does not hold that. `q` may be a sum of several
/// integers.
template <std::floating_point T, std::signed_integral Integer>
void dequantize(const Integer* q, std::ptrdiff_t n, const float* steps, T* x) {
  if constexpr (std::same_as<T, float> && sizeof(Integer) <= sizeof(std::int32_t)) {
    kernel::dequantize(as_column(q, n), per_block(steps), as_column(x, n));
  } else {
    narrow::detail::with_float_environment([&] {
      for (std::ptrdiff_t i = 0; i < n; ++i)
        x[i] = static_cast<T>(static_cast<double>(q[i]) * double(steps[i / block_size]));
    });
  }
}

}  // namespace narrow::mpi::detail

NARROW_STRICT_END
