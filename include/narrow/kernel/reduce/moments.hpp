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

/// f(number, place, part) for all numbers of all lines.
template <class F> void for_each_number(const float* from, const strided_lines& lines, F f) {
  for (index l = 0; l < lines.lines; ++l)
    for (index k = 0; k < lines.n; ++k) f(from[l * lines.from_stride + k], k, l % moment_parts);
}

inline std::int32_t magnitude_of(float x) {
  return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(x) & magnitude_mask);
}

inline void add_moments(const float* from, const strided_lines& lines, const moment_sums& m) {
  for_each_number(from, lines, [&](float x, index place, index part) {
    const std::int32_t magnitude = magnitude_of(x);
    const bool finite = magnitude < nonfinite_bits;
    const double difference = finite ? double(x) - m.pivots[place] : 0.0;
    m.sums[place + part * m.places] += difference;
    m.squares[place + part * m.places] += detail::uncontracted(difference * difference);
    m.finite[place] += finite ? 1 : 0;
    m.largest[place] = std::max(m.largest[place], finite ? magnitude : 0);
  });
}

inline void count_tails(const float* from, const strided_lines& lines, const tail_counts& m) {
  for_each_number(from, lines, [&](float x, index place, index) {
    const std::int32_t magnitude = magnitude_of(x);
    const bool finite = magnitude < nonfinite_bits;
    const double off = finite ? double(x) - m.pivots[place] - m.means[place] : 0.0;
    m.far[place] += off > m.deviations[place] || -off > m.deviations[place] ? 1 : 0;
    m.beyond[place] += finite && magnitude > m.limits[place] ? 1 : 0;
  });
}

inline void add_squares(const float* from, index n, double* sums) {
  for (index i = 0; i < n; ++i) {
    const auto x = static_cast<double>(from[i]);
    sums[i % square_sums] += detail::uncontracted(x * x);
  }
}

inline void add_quotients(const float* from, double divisor, double* to, index n, double* sums) {
  for (index i = 0; i < n; ++i) {
    to[i] += double(from[i]) / divisor;
    sums[i % square_sums] += detail::uncontracted(to[i] * to[i]);
  }
}

}  // namespace portable

inline void add_moments(kernel_set t, const float* from, const strided_lines& lines,
                        const moment_sums& sums) {
  const auto kernel = t.get<&kernel_table::add_moments>();
  (kernel ? kernel : portable::add_moments)(from, lines, sums);
}

inline void count_tails(kernel_set t, const float* from, const strided_lines& lines,
                        const tail_counts& counts) {
  const auto kernel = t.get<&kernel_table::count_tails>();
  (kernel ? kernel : portable::count_tails)(from, lines, counts);
}

/// use(kernel, first, count) for numbers in whole rounds of square_sums, if there is one, and use(plain, ...)
/// for the rest.
template <class Kernel, class Use> void in_rounds(Kernel kernel, Kernel plain, index n, const Use& use) {
  const index whole = kernel ? n - n % square_sums : 0;
  if (whole > 0) use(kernel, index{0}, whole);
  use(plain, whole, n - whole);
}

inline void add_squares(kernel_set t, const float* from, index n, double* sums) {
  in_rounds(t.get<&kernel_table::add_squares>(), portable::add_squares, n,
            [=](auto add, index first, index count) { add(from + first, count, sums); });
}

inline void add_quotients(kernel_set t, const float* from, double divisor, double* to, index n,
                          double* sums) {
  in_rounds(t.get<&kernel_table::add_quotients>(), portable::add_quotients, n,
            [=](auto add, index first, index count) { add(from + first, divisor, to + first, count, sums); });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
