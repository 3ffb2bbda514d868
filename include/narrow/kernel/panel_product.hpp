// Matrix products from panels: what is the same for every format and every instruction set.
#pragma once

#include <limits>

#include "isa.hpp"
#include "packing.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

/// The largest magnitudes of integer elements.
struct magnitudes {
  std::int64_t a = 0, b = 0;
};

/// The sums of A B, handed to store(i, j, count, sums) in pieces of rows.
///
/// Rows and columns are packed in blocks, whole depth. Integer
/// accumulators are emptied into 64 bits, which no depth in memory can fill, before they can wrap; where that
/// would be all the time, B is multiplied in two halves.
template <content Content, class A, class B, class Store>
void panel_product(const kernel_table& t, matrix_view<const A> a, matrix_view<const B> b, magnitudes largest,
                   const Store& store) {
  using lane = typename words_of<Content>::lane;
  constexpr bool integers = std::integral<lane>;
  constexpr index group = group_size<Content>, max_tile = 16 * max_panel_lines;
  const auto& kernel = words_of<Content>::kernel(t);
  const index rows = kernel.rows, cols = kernel.cols, groups = (a.cols + group - 1) / group;

  plane planes[2] = {Content == content::int8 ? plane::plus_128 : plane::whole, plane::low};
  index plane_count = 1, safe_groups = groups;
  if constexpr (integers) {
    constexpr std::int64_t room = std::numeric_limits<lane>::max();
    constexpr index fewest = 64;
    const auto safe = [&](std::int64_t b_magnitude) {
      return room / std::max<std::int64_t>(group * largest.a * b_magnitude, 1);
    };
    safe_groups = safe(Content == content::int8 ? 255 : largest.b);
    if (Content == content::int16 && safe_groups < std::min(fewest, groups)) {
      planes[0] = plane::high;
      plane_count = 2;
      safe_groups = safe(128);
    }
  }

  const auto round_up = [](index n, index size) { return (n + size - 1) / size * size; };
  const auto fitting = [&](index words, index lines, index size, index total) {
    return std::clamp(words / std::max<index>(groups * lines, 1) / size * size, size, round_up(total, size));
  };
  // All of A where it is not too large, and as many columns of B as the second-level cache holds.
  const index height_of_block = fitting(index{1} << 22, 1, rows, a.rows),
              width_of_block = fitting(index{1} << 17, plane_count, cols, b.cols);
  word_buffer packed_a(height_of_block * groups + max_panel_lines),
      packed_b(width_of_block * groups * plane_count);

  for (index top = 0; top < a.rows; top += height_of_block) {
    const index bottom = std::min(top + height_of_block, a.rows);
    pack<Content>(t, a.block(top, 0, bottom - top, a.cols), rows, plane::whole, packed_a.data());
    for (index j0 = 0; j0 < b.cols; j0 += width_of_block) {
      const index width = std::min(width_of_block, b.cols - j0), plane_words = round_up(width, cols) * groups;
      for (index k = 0; k < plane_count; ++k)
        pack<Content>(t, b.block(0, j0, b.rows, width).transposed(), cols, planes[k],
                      packed_b.data() + k * plane_words);
      for (index i0 = top; i0 < bottom; i0 += rows) {
        const word* const panel_a = packed_a.data() + (i0 - top) * groups;
        const index height = std::min(rows, bottom - i0);
        for (index j = 0; j < width; j += cols) {
          const word* const panel_b = packed_b.data() + j * groups;
          const index count = std::min(cols, width - j);
          alignas(64) lane tile[max_tile];
          if constexpr (integers) {
            std::int64_t total[max_tile] = {};
            for (index k = 0; k < plane_count; ++k)
              for (index p = 0; p < groups; p += std::min(safe_groups, groups - p)) {
                const index length = std::min(safe_groups, groups - p);
                kernel.multiply(panel_a + p * rows, panel_b + k * plane_words + p * cols, length, tile);
                const std::int64_t weight = planes[k] == plane::high ? 256 : 1;
                for (index e = 0; e < rows * cols; ++e) total[e] += weight * tile[e];
                if (planes[k] != plane::plus_128) continue;
                std::int32_t sums[max_panel_lines];
                t.int8_row_sums(panel_a + p * rows, length, sums);
                for (index i = 0; i < height; ++i)
                  for (index e = i * cols; e < (i + 1) * cols; ++e) total[e] -= std::int64_t{128} * sums[i];
              }
            for (index i = 0; i < height; ++i) store(i0 + i, j0 + j, count, total + i * cols);
          } else {
            kernel.multiply(panel_a, panel_b, groups, tile);
            for (index i = 0; i < height; ++i) store(i0 + i, j0 + j, count, tile + i * cols);
          }
        }
      }
    }
  }
}

/// Tries to compute the sums of A B with the instruction set in use. False, and nothing was stored, if it has
/// no kernel for such elements, or the product is too small to be worth one.
template <class Meeting, class A, class B, class Store>
bool try_panel_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest,
                       const Store& store) {
  constexpr index worthwhile = 4096;
  if (a.rows < 2 || b.cols < 2 || a.cols == 0 || a.rows * b.cols < worthwhile / a.cols) return false;
  const kernel_table& t = dispatch::instance().kernels();
  return with_content<best_content<typename Meeting::sum, A, B>()>([&]<content Content>() {
    if (!words_of<Content>::kernel(t)) return false;
    if (Content == content::bf16 && (has_subnormal_bf16(t, a) || has_subnormal_bf16(t, b))) return false;
    panel_product<Content>(t, a, b, largest, store);
    return true;
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
