// Matrix products of integers of more than 16 bits, exactly, in lanes of double.
#pragma once

#include <vector>

#include "panels.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

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

/// The products of integers as a plan of wide_panels says. Sum holds all sums.
template <class Sum> class wide_product {
 public:
  wide_product(kernel_set t, const product_plan& plan)
      : pack_(t.get<&kernel_table::packing, &packing_kernels::bytes4>()),
        kernels_(t.get<&kernel_table::wide>()),
        plan_(plan),
        kernel_(plan.panels<double>()) {}

  /// The sums of A B, b by columns, handed to store(i, j, sums) in tiles.
  template <class Store> void run(const integer_lines& a, const integer_lines& b, const Store& store) const {
    constexpr index max_depth = 1024,  // of a piece, in doubles
        max_a = index{1} << 20,        // doubles
        max_b = index{1} << 16,        // doubles, which the second-level cache holds
        side = 256,                    // of a block of sums that several pieces of the depth are added to
        padding = 16;
    const auto fitting = [&](index n, index size, index total) {
      return std::clamp(n / size * size, size, round_up(total, size));
    };
    const index depth = std::min(a.depth, max_depth);
    const bool at_once = depth == a.depth;
    const index height = fitting(at_once ? max_a / plan_.a_limbs / depth : side, rows_, a.lines),
                width = fitting(at_once ? b.lines : side, cols_, b.lines),
                strip = fitting(max_b / plan_.b_limbs / depth, cols_, width);
    const scratch<double> packed_a(height * depth * plan_.a_limbs + padding),
        packed_b(strip * depth * plan_.b_limbs + padding);
    std::vector<Sum> block(static_cast<std::size_t>(at_once ? rows_ * cols_ : height * width));

    for (index top = 0; top < a.lines; top += height)
      for (index left = 0; left < b.lines; left += width) {
        const index bottom = std::min(top + height, a.lines), right = std::min(left + width, b.lines);
        for (index k = 0, length; k < a.depth; k += length) {
          length = std::min(depth, a.depth - k);
          if (!at_once || left == 0)
            pack_limbs(a.part(top, bottom - top, k, length), plan_.a_limbs, rows_, packed_a.data());
          for (index j0 = left; j0 < right; j0 += strip) {
            const index j1 = std::min(j0 + strip, right);
            pack_limbs(b.part(j0, j1 - j0, k, length), plan_.b_limbs, cols_, packed_b.data());
            const panels part{packed_a.data(), packed_b.data(), round_up(bottom - top, rows_) * length,
                              round_up(j1 - j0, cols_) * length, length};
            for (index i = top; i < bottom; i += rows_)
              for (index j = j0; j < j1; j += cols_) {
                Sum* const sums = block.data() + (at_once ? 0 : (i - top) * width + (j - left) * rows_);
                if (k == 0) std::fill(sums, sums + rows_ * cols_, Sum{});
                add_to_sums(part.at(i - top, j - j0), sums);
                if (k + length < a.depth) continue;
                store(i, j,
                      matrix_view<const Sum>{sums, std::min(rows_, bottom - i), std::min(cols_, j1 - j),
                                             cols_, 1});
              }
          }
        }
      }
  }

 private:
  /// A piece of the depth of panels of both factors, and the steps to the upper limbs of the one that has
  /// them.
  struct panels {
    const double *a, *b;
    index a_limb_step, b_limb_step;
    index depth;

    panels at(index row, index col) const {
      return {a + row * depth, b + col * depth, a_limb_step, b_limb_step, depth};
    }
  };

  /// Lines as panels of `width` of them: for each place along the depth, a double of each line. What the last
  /// panel lacks is zeros; behind it a few doubles are written, too.
  void pack(const integer_lines& m, index width, wide_kernels::widening widen, double* to) const {
    alignas(64) word words[packed_words], copy[packed_words];
    const index room = round_up(width, lines_at_once), depth = packed_words / room;
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
        pack_(from, width, 0, 0, words);
        const index n = count * width, whole = round_up(n, lines_at_once);
        std::fill(words + n, words + whole, 0u);
        widen(words, to + l * m.depth + k * width, whole);
      }
  }

  /// Packs whole numbers, or their lower limbs and after them the upper ones.
  void pack_limbs(const integer_lines& m, int limbs, index width, double* to) const {
    pack(m, width, limbs == 1 ? kernels_.whole : kernels_.low, to);
    if (limbs > 1) pack(m, width, kernels_.high, to + round_up(m.lines, width) * m.depth);
  }

  /// Adds to a tile of sums the products of two panels: those of an upper limb to `high`, times 2^shift.
  void add_products(const panels& p, int shift, std::int64_t* high, std::int64_t* low) const {
    static constexpr double zeros[max_panel_rows] = {};
    alignas(64) double sums[max_tile];
    const auto add = [&](const double* a, const double* b, index length, int up, std::int64_t* total) {
      kernel_.all({bytes_of(a), sizeof(double), rows_ * index{sizeof(double)}, 0}, b, length, zeros, sums,
                  cols_);
      kernels_.add(sums, up, total, rows_ * cols_);
    };
    for (index k = 0, length; k < p.depth; k += length) {
      length = std::min(plan_.depth_block, p.depth - k);
      const double *const a = p.a + k * rows_, *const b = p.b + k * cols_;
      add(a, b, length, 0, low);
      if (plan_.a_limbs * plan_.b_limbs > 1)
        add(plan_.a_limbs > 1 ? a + p.a_limb_step : a, plan_.b_limbs > 1 ? b + p.b_limb_step : b, length,
            shift, high);
    }
  }

  /// Sums of 128 bits are for a depth of which those of a limb fit 64.
  void add_to_sums(const panels& p, Sum* sums) const {
    if constexpr (std::same_as<Sum, std::int64_t>) {
      add_products(p, 16, sums, sums);
    } else {
      alignas(64) std::int64_t high[max_tile] = {}, low[max_tile] = {};
      add_products(p, 0, high, low);
      for (index i = 0; i < rows_ * cols_; ++i) sums[i] += Sum{high[i]} * 65536 + low[i];
    }
  }

  static constexpr index max_tile = 256;

  decltype(packing_kernels::bytes4) pack_;
  const wide_kernels& kernels_;
  const product_plan& plan_;
  const panel_kernel<double>& kernel_;
  index rows_ = kernel_.rows, cols_ = kernel_.cols;
};

/// The sums of A B, by all threads, handed to store(i, j, sums) in tiles.
template <class A, class B, class Store>
void run_wide_panels(kernel_set t, const product_plan& plan, matrix_view<const A> a, matrix_view<const B> b,
                     const Store& store) {
  const integer_lines of_a(a), of_b(b.transposed());
  const integer_lines &rows = plan.transposed ? of_b : of_a, &cols = plan.transposed ? of_a : of_b;
  parallel_for_tiles(plan.work, [&](index i0, index j0, index height, index width) {
    const auto store_part = [&](index i, index j, const auto& sums) {
      if (plan.transposed)
        store(j0 + j, i0 + i, sums.transposed());
      else
        store(i0 + i, j0 + j, sums);
    };
    const auto run = [&](auto sum) {
      wide_product<decltype(sum)>(t, plan).run(rows.part(i0, height, 0, rows.depth),
                                               cols.part(j0, width, 0, cols.depth), store_part);
    };
    if (plan.wide_sums)
      run(detail::int128{});
    else
      run(std::int64_t{});
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
