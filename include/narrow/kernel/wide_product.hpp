// Matrix products of integers of more than 16 bits, exactly, in lanes of double.
#pragma once

#include <optional>
#include <vector>

#include "panel_product.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

/// How wide integers are multiplied: b in so many digits of 16 bits, and so many products that doubles add
/// exactly.
struct wide_plan {
  int digits = 1;
  index safe_terms = 1;
};

/// Whole numbers where lanes need not be emptied all the time, or else digits of b: twice the work.
inline wide_plan plan_for(magnitudes largest) {
  constexpr std::int64_t exact = std::int64_t{1} << 53, largest_digit = std::int64_t{1} << 15, fewest = 8;
  const auto safe = [&](std::int64_t b_magnitude) {
    return exact / std::max<std::int64_t>(largest.a, 1) / std::max<std::int64_t>(b_magnitude, 1);
  };
  if (safe(largest.b) >= fewest) return {1, safe(largest.b)};
  return {2, safe(largest_digit)};
}

/// Lines of integers along the summed dimension, as they lie in memory.
struct integer_lines {
  const unsigned char* data;
  index lines, depth;
  index line_step, depth_step;  // bytes
  int size;                     // of an integer

  template <class T>
  explicit integer_lines(matrix_view<const T> m)
      : data(bytes_of(m.data)),
        lines(m.rows),
        depth(m.cols),
        line_step(m.row_stride * index{sizeof(T)}),
        depth_step(m.col_stride * index{sizeof(T)}),
        size(sizeof(T)) {}

  integer_lines part(index first_line, index line_count, index first, index length) const {
    integer_lines result(*this);
    result.data += first_line * line_step + first * depth_step;
    result.lines = line_count;
    result.depth = length;
    return result;
  }
};

/// What is packed at a time.
inline constexpr index packed_lines = 16, packed_depth = 256;
using packed_words = word[packed_lines * packed_depth];

/// Narrower integers as words, side by side as they were.
template <class Element> line_source staged(const line_source& s, packed_words& to) {
  const bool across = s.line_step == sizeof(Element);
  const index line = across ? 1 : packed_depth, step = across ? packed_lines : 1;
  std::fill(to, to + packed_lines * packed_depth, 0u);
  const auto copy = [&](index l, index k) {
    Element x;
    std::memcpy(&x, s.data + l * s.line_step + k * s.depth_step, sizeof x);
    to[l * line + k * step] = static_cast<word>(std::int32_t{x});
  };
  if (across) {
    for (index k = 0; k < s.depth; ++k)
      for (index l = 0; l < s.lines; ++l) copy(l, k);
  } else {
    for (index l = 0; l < s.lines; ++l)
      for (index k = 0; k < s.depth; ++k) copy(l, k);
  }
  constexpr index size = sizeof(word);
  return {reinterpret_cast<const unsigned char*>(to), line * size, step * size, s.lines, packed_lines, s.depth};
}

/// Lines as panels of `width` of them: for each place along the depth, a double of each line. What the last
/// panel lacks is zeros; behind it a few doubles are written, too.
inline void pack_wide(kernel_set t, const integer_lines& m, index width, wide_kernels::widening widen,
                      double* to) {
  const auto pack = t.packing<&pack_kernels::size4>();
  alignas(64) packed_words words, copy;
  for (index l = 0; l < m.lines; l += width)
    for (index k = 0; k < m.depth; k += packed_depth) {
      const index count = std::min(packed_depth, m.depth - k), lines = std::min(width, m.lines - l);
      line_source from{m.data + l * m.line_step + k * m.depth_step, m.line_step, m.depth_step, lines,
                       m.lines - l, count};
      if (m.size == 1) from = staged<std::int8_t>(from, copy);
      if (m.size == 2) from = staged<std::int16_t>(from, copy);
      pack(from, width, 0, words);
      constexpr index vectors = 16;
      const index n = count * width, whole = (n + vectors - 1) / vectors * vectors;
      std::fill(words + n, words + whole, 0u);
      widen(words, to + l * m.depth + k * width, whole);
    }
}

/// Adds to a tile of sums the products of a panel of a and one of each digit of b, `digit_step` apart: those
/// of the upper digit to `high`, times 2^shift.
inline void add_wide_products(const wide_kernels& kernels, const wide_plan& plan, const left_panel& a,
                              const double* b, index digit_step, index depth, int shift, std::int64_t* high,
                              std::int64_t* low) {
  static constexpr double zeros[max_panel_rows] = {};
  const index rows = kernels.panels.rows, cols = kernels.panels.cols;
  alignas(64) double sums[max_panel_rows * packed_lines];
  for (index first = 0, length; first < depth; first += length) {
    length = std::min(plan.safe_terms, depth - first);
    const left_panel panel = from_group(a, first);
    kernels.panels.multiply(panel, b + first * cols, length, zeros, sums);
    kernels.add(sums, 0, low, rows * cols);
    if (plan.digits == 1) continue;
    kernels.panels.multiply(panel, b + digit_step + first * cols, length, zeros, sums);
    kernels.add(sums, shift, high, rows * cols);
  }
}

template <class Sum> using wide_tile = Sum[max_panel_rows * packed_lines];

inline void add_to_sums(const wide_kernels& kernels, const wide_plan& plan, const left_panel& a,
                        const double* b, index digit_step, index depth, std::int64_t* sums) {
  add_wide_products(kernels, plan, a, b, digit_step, depth, 16, sums, sums);
}
/// For a depth of which a digit's sums fit 64 bits.
inline void add_to_sums(const wide_kernels& kernels, const wide_plan& plan, const left_panel& a,
                        const double* b, index digit_step, index depth, detail::int128* sums) {
  alignas(64) wide_tile<std::int64_t> high = {}, low = {};
  add_wide_products(kernels, plan, a, b, digit_step, depth, 0, high, low);
  const index n = kernels.panels.rows * kernels.panels.cols;
  for (index i = 0; i < n; ++i) sums[i] += detail::int128{high[i]} * 65536 + low[i];
}

/// The sums of A B, b by columns, handed to store(i, j, sums) in tiles. Sum holds all of them.
template <class Sum, class Store>
void wide_product(kernel_set t, const wide_plan& plan, const integer_lines& a, const integer_lines& b,
                  const Store& store) {
  constexpr index longest = 1024,        // of the depth at a time, in doubles
      many = index{1} << 20,             // doubles of a
      few = index{1} << 16,              // of b, in the second-level cache
      side = 256, padding = 16;          // of a block of sums that several pieces of the depth are added to
  const wide_kernels& kernels = t.get<&kernel_table::wide>();
  const index rows = kernels.panels.rows, cols = kernels.panels.cols, tile = rows * cols;
  const auto round_up = [](index n, index size) { return (n + size - 1) / size * size; };
  const auto fitting = [&](index n, index size, index total) {
    return std::clamp(n / size * size, size, round_up(total, size));
  };
  const index depth = std::min(a.depth, longest);
  const bool at_once = depth == a.depth;
  const index height = fitting(at_once ? many / depth : side, rows, a.lines),
              width = fitting(at_once ? b.lines : side, cols, b.lines),
              strip = fitting(few / plan.digits / depth, cols, width);
  const uninitialised<double> packed_a(height * depth + padding),
      packed_b(strip * depth * plan.digits + padding);
  std::vector<Sum> block(static_cast<std::size_t>(at_once ? tile : height * width));

  for (index top = 0; top < a.lines; top += height)
    for (index left = 0; left < b.lines; left += width) {
      const index bottom = std::min(top + height, a.lines), right = std::min(left + width, b.lines);
      for (index k = 0, length; k < a.depth; k += length) {
        length = std::min(depth, a.depth - k);
        if (!at_once || left == 0)
          pack_wide(t, a.part(top, bottom - top, k, length), rows, kernels.whole, packed_a.data());
        for (index j0 = left; j0 < right; j0 += strip) {
          const index j1 = std::min(j0 + strip, right), digit_step = round_up(j1 - j0, cols) * length;
          const integer_lines part = b.part(j0, j1 - j0, k, length);
          pack_wide(t, part, cols, plan.digits == 1 ? kernels.whole : kernels.low, packed_b.data());
          if (plan.digits == 2) pack_wide(t, part, cols, kernels.high, packed_b.data() + digit_step);
          for (index i = top; i < bottom; i += rows)
            for (index j = j0; j < j1; j += cols) {
              Sum* const sums =
                  block.data() + (at_once ? 0 : (i - top) * width + (j - left) * rows);
              if (k == 0) std::fill(sums, sums + tile, Sum{});
              add_to_sums(kernels, plan,
                          {bytes_of(packed_a.data() + (i - top) * length), sizeof(double),
                           rows * index{sizeof(double)}, 0},
                          packed_b.data() + (j - j0) * length, digit_step, length, sums);
              if (k + length == a.depth)
                store(i, j,
                      matrix_view<const Sum>{sums, std::min(rows, bottom - i), std::min(cols, j1 - j), cols, 1});
            }
        }
      }
    }
}

/// Tries to compute the sums of integers' A B with the instruction set in use, and the threads, where one of
/// them has more than 16 bits. False, and nothing was stored, if it has no kernel for such elements, or the
/// product is too small to be worth one.
template <class Meeting, class A, class B, class Store>
bool try_wide_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest,
                      const Store& store) {
  if constexpr (std::same_as<typename Meeting::sum, detail::int128> && std::max(sizeof(A), sizeof(B)) == 4) {
    constexpr index worthwhile = 512;
    if (a.rows < 2 || b.cols < 2 || a.cols == 0 || a.rows * b.cols < worthwhile / a.cols) return false;
    const kernel_set t = dispatch::instance().kernels();
    const wide_kernels& kernels = t.get<&kernel_table::wide>();
    if (!kernels) return false;
    const wide_plan plan = plan_for(largest);
    constexpr std::int64_t room = std::numeric_limits<std::int64_t>::max();
    const bool fits = std::max<std::int64_t>(largest.a * largest.b, 1) <= room / a.cols;
    in_parts({a.rows, b.cols, kernels.panels.rows, kernels.panels.cols, a.cols},
             [&](index i, index j, index height, index width) {
               const integer_lines left(a.block(i, 0, height, a.cols)),
                   right(b.block(0, j, b.rows, width).transposed());
               const auto store_part = [&](index row, index col, auto sums) {
                 store(i + row, j + col, sums);
               };
               if (fits)
                 wide_product<std::int64_t>(t, plan, left, right, store_part);
               else
                 wide_product<detail::int128>(t, plan, left, right, store_part);
             });
    return true;
  } else {
    return false;
  }
}

}  // namespace narrow::kernel

NARROW_STRICT_END
