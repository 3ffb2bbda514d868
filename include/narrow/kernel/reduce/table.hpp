// What an instruction set offers for sums of numbers, and for what else a pass over them gathers.
#pragma once

#include "../shapes.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// How many sums each place has in moment_sums: additions to one of them do not wait for those to the others.
inline constexpr int moment_parts = 4;
/// Of how many places kernels take multiples.
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

/// The kernels of reductions; one that an instruction set has not is null.
struct reduce_table {
  // Sums of a[i] over lines, n to 2^15; the floating ones are the same whatever the format.
  float (*sum_fp32)(const void* a, index n) = nullptr;
  float (*sum_fp16)(const void* a, index n) = nullptr;
  float (*sum_bf16)(const void* a, index n) = nullptr;
  std::int64_t (*sum_int8)(const void* a, index n) = nullptr;
  std::int64_t (*sum_int16)(const void* a, index n) = nullptr;
  std::int64_t (*sum_int32)(const void* a, index n) = nullptr;

  // Lines of which n is a multiple of moment_places are added to what is there.
  void (*add_moments)(const float* from, const strided_lines&, const moment_sums&) = nullptr;
  void (*count_tails)(const float* from, const strided_lines&, const tail_counts&) = nullptr;

  // n a multiple of square_sums.
  /// Adds the squares of `from`.
  void (*add_squares)(const float* from, index n, double* sums) = nullptr;
  /// to[i] += from[i] / divisor, and adds the squares of `to`.
  void (*add_quotients)(const float* from, double divisor, double* to, index n, double* sums) = nullptr;
};

}  // namespace narrow::inline NARROW_ABI::kernel
