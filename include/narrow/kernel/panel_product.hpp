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
/// Rows and columns are packed once, whole depth, columns in blocks that fit the second-level cache. Integer
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
    const auto safe = [&](std::int64_t b_magnitude) { return room / (group * largest.a * b_magnitude); };
    safe_groups = safe(Content == content::int8 ? 255 : largest.b);
    if (Content == content::int16 && safe_groups < std::min(fewest, groups)) {
      planes[0] = plane::high;
      plane_count = 2;
      safe_groups = safe(128);
    }
  }

  const auto round_up = [](index n, index size) { return (n + size - 1) / size * size; };
  constexpr index cached_words = index{1} << 17;
  const index block = std::clamp(cached_words / std::max<index>(groups * plane_count, 1) / cols * cols, cols,
                                 round_up(b.cols, cols));
  word_buffer packed_a(round_up(a.rows, rows) * groups + max_panel_lines),
      packed_b(block * groups * plane_count);
  pack<Content>(t, a, rows, plane::whole, packed_a.data());

  for (index j0 = 0; j0 < b.cols; j0 += block) {
    const index width = std::min(block, b.cols - j0), plane_words = round_up(width, cols) * groups;
    for (index k = 0; k < plane_count; ++k)
      pack<Content>(t, b.block(0, j0, b.rows, width).transposed(), cols, planes[k],
                    packed_b.data() + k * plane_words);
    for (index i0 = 0; i0 < a.rows; i0 += rows) {
      const word* const panel_a = packed_a.data() + i0 * groups;
      const index height = std::min(rows, a.rows - i0);
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

/// Tries to compute the sums of A B with the instruction set in use. False, and nothing was stored, if it has
/// no kernel for such elements, or the product is too small to be worth one.
template <class Meeting, class A, class B, class Store>
bool try_panel_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest,
                       const Store& store) {
  using sum = typename Meeting::sum;
  constexpr index worthwhile = 4096;
  if (a.rows < 2 || b.cols < 2 || a.cols == 0 || a.rows * b.cols < worthwhile / a.cols) return false;
  constexpr content narrowest_a = narrowest<A>(), narrowest_b = narrowest<B>();
  const kernel_table& t = dispatch::instance().kernels();
  if constexpr (std::same_as<sum, float>) {
    if constexpr (narrowest_a == content::bf16 && narrowest_b == content::bf16)
      if (t.bf16.multiply) {
        panel_product<content::bf16>(t, a, b, largest, store);
        return true;
      }
    if (!t.fp32.multiply) return false;
    panel_product<content::fp32>(t, a, b, largest, store);
    return true;
  } else if constexpr (std::integral<sum> || std::same_as<sum, detail::int128>) {
    constexpr bool bytes = narrowest_a == content::int8 && narrowest_b == content::int8;
    if constexpr (bytes)
      if (t.int8.multiply) {
        panel_product<content::int8>(t, a, b, largest, store);
        return true;
      }
    if constexpr (narrowest_a != content::none && narrowest_b != content::none)
      if (t.int16.multiply) {
        panel_product<content::int16>(t, a, b, largest, store);
        return true;
      }
  }
  return false;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
