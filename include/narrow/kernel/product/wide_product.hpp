// Matrix products of integers of more than 16 bits, exactly, in lanes of double.
#pragma once

#include <vector>

#include "panel_product.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// How wide integers are multiplied: a and b in so many digits, one of them in 1, and so many products that
/// doubles add exactly.
struct wide_plan {
  int a_digits = 1, b_digits = 1;
  index safe_terms = 1;
  int digits() const { return a_digits * b_digits; }
};

/// Whole numbers where lanes need not be emptied all the time, or else two digits of b, or of a if that is a
/// vector: twice the work.
inline wide_plan plan_for(magnitudes largest, index a_rows) {
  constexpr std::int64_t exact = std::int64_t{1} << 53, largest_digit = std::int64_t{1} << 15, fewest = 8;
  const auto safe = [&](std::int64_t a, std::int64_t b) {
    return exact / std::max<std::int64_t>(a, 1) / std::max<std::int64_t>(b, 1);
  };
  if (safe(largest.a, largest.b) >= fewest) return {1, 1, safe(largest.a, largest.b)};
  if (a_rows == 1) return {2, 1, safe(largest_digit, largest.b)};
  return {1, 2, safe(largest.a, largest_digit)};
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

/// What is packed at a time: words, in lines of which there is room for whole vectors.
inline constexpr index packed_words = 4096, lines_at_once = 16;

/// Narrower integers as words, side by side as they were, room for `lines` x `depth` of them.
template <class Element> line_source staged(const line_source& s, index lines, index depth, word* to) {
  const bool across = s.line_step == sizeof(Element);
  const index line = across ? 1 : depth, step = across ? lines : 1;
  const auto copy = [&](index l, index k) {
    Element x;
    std::memcpy(&x, s.data + l * s.line_step + k * s.depth_step, sizeof x);
    to[l * line + k * step] = static_cast<word>(std::int32_t{x});
  };
  if (across) {
    std::fill(to, to + lines * s.depth, 0u);
    for (index k = 0; k < s.depth; ++k)
      for (index l = 0; l < s.lines; ++l) copy(l, k);
  } else {
    for (index l = 0; l < s.lines; ++l)
      for (index k = 0; k < s.depth; ++k) copy(l, k);
  }
  constexpr index size = sizeof(word);
  return {reinterpret_cast<const unsigned char*>(to),
          line * size,
          step * size,
          s.lines,
          across ? lines : s.lines,
          s.depth};
}

/// Lines as panels of `width` of them: for each place along the depth, a double of each line. What the last
/// panel lacks is zeros; behind it a few doubles are written, too.
inline void pack_digit(kernel_set t, const integer_lines& m, index width, wide_kernels::widening widen,
                       double* to) {
  const auto pack = t.get<&kernel_table::pack4>();
  alignas(64) word words[packed_words], copy[packed_words];
  const index room = (width + lines_at_once - 1) / lines_at_once * lines_at_once, depth = packed_words / room;
  for (index l = 0; l < m.lines; l += width)
    for (index k = 0; k < m.depth; k += depth) {
      const index count = std::min(depth, m.depth - k);
      line_source from{m.data + l * m.line_step + k * m.depth_step,
                       m.line_step,
                       m.depth_step,
                       std::min(width, m.lines - l),
                       m.lines - l,
                       count};
      if (m.size == 1) from = staged<std::int8_t>(from, room, depth, copy);
      if (m.size == 2) from = staged<std::int16_t>(from, room, depth, copy);
      pack(from, width, 0, words);
      const index n = count * width, whole = (n + lines_at_once - 1) / lines_at_once * lines_at_once;
      std::fill(words + n, words + whole, 0u);
      widen(words, to + l * m.depth + k * width, whole);
    }
}

/// The same of whole numbers, or of the lower digits, and from `digit_step` on of the upper ones.
inline void pack_digits(kernel_set t, const integer_lines& m, int digits, index width, double* to,
                        index digit_step) {
  const wide_kernels& kernels = t.get<&kernel_table::wide>();
  pack_digit(t, m, width, digits == 1 ? kernels.whole : kernels.low, to);
  if (digits > 1) pack_digit(t, m, width, kernels.high, to + digit_step);
}

/// A piece of the depth of a tile: panels of both factors, and the steps to the upper digits of the one that
/// has them.
struct wide_panels {
  const double *a, *b;
  index a_digit_step, b_digit_step;
  index depth;
};

inline constexpr index largest_wide_tile = 256;

/// Adds to a tile of sums the products of two panels: those of an upper digit to `high`, times 2^shift.
inline void add_wide_products(kernel_set t, const panel_kernel<double>& kernel, const wide_plan& plan,
                              const wide_panels& p, int shift, std::int64_t* high, std::int64_t* low) {
  static constexpr double zeros[max_panel_rows] = {};
  const auto add = t.get<&kernel_table::wide>().add;
  const index rows = kernel.rows, cols = kernel.cols;
  alignas(64) double sums[largest_wide_tile];
  const auto multiply = [&](const double* a, const double* b, index length) {
    kernel.all({bytes_of(a), sizeof(double), rows * index{sizeof(double)}, 0}, b, length, zeros, sums, cols);
  };
  for (index k = 0, length; k < p.depth; k += length) {
    length = std::min(plan.safe_terms, p.depth - k);
    const double *const a = p.a + k * rows, *const b = p.b + k * cols;
    multiply(a, b, length);
    add(sums, 0, low, rows * cols);
    if (plan.digits() == 1) continue;
    multiply(plan.a_digits > 1 ? a + p.a_digit_step : a, plan.b_digits > 1 ? b + p.b_digit_step : b, length);
    add(sums, shift, high, rows * cols);
  }
}

/// The same, added up.
inline void add_to_sums(kernel_set t, const panel_kernel<double>& kernel, const wide_plan& plan,
                        const wide_panels& p, std::int64_t* sums) {
  add_wide_products(t, kernel, plan, p, 16, sums, sums);
}
/// For a depth of which the sums of a digit fit 64 bits.
inline void add_to_sums(kernel_set t, const panel_kernel<double>& kernel, const wide_plan& plan,
                        const wide_panels& p, detail::int128* sums) {
  alignas(64) std::int64_t high[largest_wide_tile] = {}, low[largest_wide_tile] = {};
  add_wide_products(t, kernel, plan, p, 0, high, low);
  for (index i = 0; i < kernel.rows * kernel.cols; ++i) sums[i] += detail::int128{high[i]} * 65536 + low[i];
}

/// The sums of A B, b by columns, handed to store(i, j, sums) in tiles. Sum holds all of them.
template <class Sum, class Store>
void wide_product(kernel_set t, const panel_kernel<double>& kernel, const wide_plan& plan,
                  const integer_lines& a, const integer_lines& b, const Store& store) {
  constexpr index longest = 1024,  // of the depth at a time, in doubles
      many = index{1} << 20,       // doubles of a
      few = index{1} << 16,        // of b, in the second-level cache
      side = 256,                  // of a block of sums that several pieces of the depth are added to
      padding = 16;
  const index rows = kernel.rows, cols = kernel.cols, tile = rows * cols;
  const auto round_up = [](index n, index size) { return (n + size - 1) / size * size; };
  const auto fitting = [&](index n, index size, index total) {
    return std::clamp(n / size * size, size, round_up(total, size));
  };
  const index depth = std::min(a.depth, longest);
  const bool at_once = depth == a.depth;
  const index height = fitting(at_once ? many / plan.a_digits / depth : side, rows, a.lines),
              width = fitting(at_once ? b.lines : side, cols, b.lines),
              strip = fitting(few / plan.b_digits / depth, cols, width);
  const scratch<double> packed_a(height * depth * plan.a_digits + padding),
      packed_b(strip * depth * plan.b_digits + padding);
  std::vector<Sum> block(static_cast<std::size_t>(at_once ? tile : height * width));

  for (index top = 0; top < a.lines; top += height)
    for (index left = 0; left < b.lines; left += width) {
      const index bottom = std::min(top + height, a.lines), right = std::min(left + width, b.lines);
      for (index k = 0, length; k < a.depth; k += length) {
        length = std::min(depth, a.depth - k);
        const index a_step = round_up(bottom - top, rows) * length;
        if (!at_once || left == 0)
          pack_digits(t, a.part(top, bottom - top, k, length), plan.a_digits, rows, packed_a.data(), a_step);
        for (index j0 = left; j0 < right; j0 += strip) {
          const index j1 = std::min(j0 + strip, right), b_step = round_up(j1 - j0, cols) * length;
          pack_digits(t, b.part(j0, j1 - j0, k, length), plan.b_digits, cols, packed_b.data(), b_step);
          for (index i = top; i < bottom; i += rows)
            for (index j = j0; j < j1; j += cols) {
              Sum* const sums = block.data() + (at_once ? 0 : (i - top) * width + (j - left) * rows);
              if (k == 0) std::fill(sums, sums + tile, Sum{});
              add_to_sums(t, kernel, plan,
                          {packed_a.data() + (i - top) * length, packed_b.data() + (j - j0) * length, a_step,
                           b_step, length},
                          sums);
              if (k + length < a.depth) continue;
              store(
                  i, j,
                  matrix_view<const Sum>{sums, std::min(rows, bottom - i), std::min(cols, j1 - j), cols, 1});
            }
        }
      }
    }
}

/// Tries to compute the sums of A B, b by columns, with the instruction set in use, and the threads. False,
/// and nothing was stored, if it has no kernel, or the product is too small to be worth one.
template <class Store>
bool try_wide_product(const integer_lines& a, const integer_lines& b, magnitudes largest,
                      const Store& store) {
  const kernel_set t = dispatch::instance().kernels();
  const wide_kernels& kernels = t.get<&kernel_table::wide>();
  const wide_plan plan = plan_for(largest, a.lines);
  // Of small results most of a tile would be for nothing.
  constexpr index worthwhile = 1024, fewest_sums = 48;
  if (!kernels || a.depth == 0 || a.lines * b.lines < fewest_sums * plan.digits() ||
      a.lines * b.lines < worthwhile / a.depth)
    return false;
  constexpr std::int64_t room = std::numeric_limits<std::int64_t>::max();
  const bool fits = std::max<std::int64_t>(largest.a * largest.b, 1) <= room / a.depth;
  const auto& kernel = a.lines == 1 ? kernels.line : kernels.panels;
  in_parts({a.lines, b.lines, kernel.rows, kernel.cols, a.depth},
           [&](index i, index j, index height, index width) {
             const integer_lines rows = a.part(i, height, 0, a.depth), cols = b.part(j, width, 0, a.depth);
             const auto store_part = [&](index row, index col, auto sums) { store(i + row, j + col, sums); };
             if (fits)
               wide_product<std::int64_t>(t, kernel, plan, rows, cols, store_part);
             else
               wide_product<detail::int128>(t, kernel, plan, rows, cols, store_part);
           });
  return true;
}

/// The same for matrices of integers, one of which has more than 16 bits; false for others, too.
template <class Meeting, class A, class B, class Store>
bool try_wide_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest,
                      const Store& store) {
  if constexpr (std::same_as<typename Meeting::sum, detail::int128> && std::max(sizeof(A), sizeof(B)) == 4) {
    const bool turned = b.cols == 1;  // the matrix is the right factor: it is packed to be read once
    if (turned && sizeof(A) != sizeof(B)) return false;  // plain lanes hold more of such products
    const integer_lines rows(a), cols(b.transposed());
    const auto store_tile = [&](index i, index j, auto sums) {
      if (turned)
        store(j, i, sums.transposed());
      else
        store(i, j, sums);
    };
    return turned ? try_wide_product(cols, rows, {largest.b, largest.a}, store_tile)
                  : try_wide_product(rows, cols, largest, store_tile);
  } else {
    return false;
  }
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
