// What an instruction set offers for sums of numbers, and for what else a pass over them gathers.
#pragma once

#include "../shapes.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// How many sums each place has in moment_sums: additions to one of them do not wait for those to the others.
inline constexpr int moment_parts = 4;
/// Kernels take lines whose number of places is a multiple of this.
inline constexpr index moment_places = 8;
/// Sums over the numbers at each place of lines, where everything has so many places.
struct moment_sums {
  index places = 0;
  const double* pivots = nullptr;
  double *sums = nullptr, *squares = nullptr;  // of differences from the pivot; place k of line l in element
                                               // k + l % moment_parts * places
  std::int64_t* finite = nullptr;              // how many are finite: no others are in the sums
  std::int32_t* largest = nullptr;             // the bits of the largest finite magnitude
};
/// How many of the finite numbers at each place differ from pivot + mean by more than the deviation, and how
/// many magnitudes have greater bits than the limit.
struct tail_counts {
  const double *pivots = nullptr, *means = nullptr, *deviations = nullptr;
  const std::int32_t* limits = nullptr;
  std::int64_t *far = nullptr, *beyond = nullptr;
};

/// How many sums squares are added to: that of element i to the one i % square_sums.
inline constexpr int square_sums = 32;

/// The sum of a[i], i < n, n to 2^15.
template <class Sum> using sum_kernel = Sum (*)(const void* a, index n);
/// Floating-point sums, with the same order of additions whatever the format.
struct float_sum_kernels {
  sum_kernel<float> fp32 = nullptr, fp16 = nullptr, bf16 = nullptr;

  constexpr float_sum_kernels() = default;
  constexpr float_sum_kernels(sum_kernel<float> of_fp32, sum_kernel<float> of_fp16, sum_kernel<float> of_bf16)
      : fp32(of_fp32), fp16(of_fp16), bf16(of_bf16) {}
  constexpr explicit operator bool() const { return fp32 && fp16 && bf16; }
};
struct integer_sum_kernels {
  sum_kernel<std::int64_t> int8 = nullptr, int16 = nullptr, int32 = nullptr;

  constexpr integer_sum_kernels() = default;
  constexpr integer_sum_kernels(sum_kernel<std::int64_t> of_int8, sum_kernel<std::int64_t> of_int16,
                                sum_kernel<std::int64_t> of_int32)
      : int8(of_int8), int16(of_int16), int32(of_int32) {}
  constexpr explicit operator bool() const { return int8 && int16 && int32; }
};

/// The kernels of reductions; one that an instruction set has not is null, a group that it has not holds
/// nulls.
struct reduce_table {
  float_sum_kernels sum_floats = {};
  integer_sum_kernels sum_integers = {};

  // Lines of which n is a multiple of moment_places are added to what is there.
  void (*add_moments)(const float* from, const strided_lines&, const moment_sums&) = nullptr;
  void (*count_tails)(const float* from, const strided_lines&, const tail_counts&) = nullptr;

  /// Adds the squares of `from`, n a multiple of square_sums.
  void (*add_squares)(const float* from, index n, double* sums) = nullptr;
  /// to[i] += from[i] / divisor, and adds the squares of `to`, n a multiple of square_sums.
  void (*add_quotients)(const float* from, double divisor, double* to, index n, double* sums) = nullptr;
};

}  // namespace narrow::kernel
