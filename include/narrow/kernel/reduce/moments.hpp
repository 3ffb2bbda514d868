// Sums over the numbers at each place of lines, and of squares, in plain C++: see moment_sums, tail_counts
// and square_sums in table.hpp.
#pragma once

#include <algorithm>
#include <bit>

#include "../../runtime/environment.hpp"
#include "../../simd/dispatch.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

namespace portable {

/// f(number, place, part) for all places of all lines.
template <class F> void for_each_place(const float* from, const strided_lines& lines, F f) {
  for (index l = 0; l < lines.lines; ++l)
    for (index k = 0; k < lines.n; ++k) f(from[l * lines.from_stride + k], k, l % moment_parts);
}

inline std::int32_t magnitude_of(float x) { return std::bit_cast<std::int32_t>(x) & 0x7fff'ffff; }
inline constexpr std::int32_t least_nonfinite = 0x7f80'0000;

NARROW_KERNEL inline void add_moments(const float* from, const strided_lines& lines, const moment_sums& m) {
  for_each_place(from, lines, [&](float x, index place, index part) {
    const std::int32_t magnitude = magnitude_of(x);
    const bool finite = magnitude < least_nonfinite;
    const double difference = finite ? double{x} - m.pivots[place] : 0.0;
    m.sums[place + part * m.places] += difference;
    m.squares[place + part * m.places] += detail::uncontracted(difference * difference);
    m.finite[place] += finite ? 1 : 0;
    m.largest[place] = std::max(m.largest[place], finite ? magnitude : 0);
  });
}

NARROW_KERNEL inline void count_tails(const float* from, const strided_lines& lines, const tail_counts& m) {
  for_each_place(from, lines, [&](float x, index place, index) {
    const std::int32_t magnitude = magnitude_of(x);
    const bool finite = magnitude < least_nonfinite;
    const double off = finite ? double{x} - m.pivots[place] - m.means[place] : 0.0;
    m.far[place] += off > m.deviations[place] || -off > m.deviations[place] ? 1 : 0;
    m.beyond[place] += finite && magnitude > m.limits[place] ? 1 : 0;
  });
}

NARROW_KERNEL inline void add_squares(const float* from, index n, double* sums) {
  for (index i = 0; i < n; ++i) {
    const double x = from[i];
    sums[i % square_sums] += detail::uncontracted(x * x);
  }
}

NARROW_KERNEL inline void add_quotients(const float* from, double divisor, double* to, index n,
                                        double* sums) {
  for (index i = 0; i < n; ++i) {
    to[i] += double{from[i]} / divisor;
    sums[i % square_sums] += detail::uncontracted(to[i] * to[i]);
  }
}

}  // namespace portable

/// Adds lines of which n is a multiple of moment_places to the sums.
inline void add_moments(const float* from, const strided_lines& lines, const moment_sums& sums) {
  const auto kernel = dispatch::instance().kernels().get<&kernel_table::add_moments>();
  (kernel ? kernel : portable::add_moments)(from, lines, sums);
}

/// The same to the counts.
inline void count_tails(const float* from, const strided_lines& lines, const tail_counts& counts) {
  const auto kernel = dispatch::instance().kernels().get<&kernel_table::count_tails>();
  (kernel ? kernel : portable::count_tails)(from, lines, counts);
}

/// use(kernel, first, count) for numbers in whole rounds of square_sums, if there is one, and use(plain, ...)
/// for the rest.
template <class Kernel, class Use> void in_rounds(Kernel kernel, Kernel plain, index n, const Use& use) {
  const index whole = kernel ? n - n % square_sums : 0;
  if (whole > 0) use(kernel, index{0}, whole);
  use(plain, whole, n - whole);
}

/// Adds the squares of n numbers to square_sums sums.
inline void add_squares(const float* from, index n, double* sums) {
  in_rounds(dispatch::instance().kernels().get<&kernel_table::add_squares>(), portable::add_squares, n,
            [=](auto add, index first, index count) { add(from + first, count, sums); });
}

/// to[i] += from[i] / divisor, and adds the squares of `to` to square_sums sums.
inline void add_quotients(const float* from, double divisor, double* to, index n, double* sums) {
  in_rounds(dispatch::instance().kernels().get<&kernel_table::add_quotients>(), portable::add_quotients, n,
            [=](auto add, index first, index count) { add(from + first, divisor, to + first, count, sums); });
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
