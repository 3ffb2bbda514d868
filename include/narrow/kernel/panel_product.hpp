// Matrix products from panels: what is the same for every format and every instruction set.
#pragma once

#include <limits>
#include <optional>

#include "isa.hpp"
#include "packing.hpp"
#include "threads.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

/// The largest magnitudes of integer elements.
struct magnitudes {
  std::int64_t a = 0, b = 0;
};

/// How B is multiplied: in how many planes, and how many groups at a time.
struct passes {
  plane planes[2] = {plane::whole, plane::low};
  int plane_count = 1;
  index safe_groups;
};

/// Integer accumulators are emptied into 64 bits, which no depth in memory can fill, before they can wrap;
/// where that would be all the time, B is multiplied in two halves.
template <content Content> passes passes_for(magnitudes largest, index groups) {
  using lane = typename words_of<Content>::lane;
  passes result{.safe_groups = groups};
  if constexpr (std::integral<lane>) {
    constexpr index fewest = 64;
    const auto safe = [&](std::int64_t b_magnitude) {
      return std::numeric_limits<lane>::max() /
             std::max<std::int64_t>(group_size<Content> * largest.a * b_magnitude, 1);
    };
    result.safe_groups = safe(largest.b);
    if (Content == content::int8) result.planes[0] = plane::plus_128;
    if (Content == content::int16 && result.safe_groups < std::min(fewest, groups)) {
      result.planes[0] = plane::high;
      result.plane_count = 2;
      result.safe_groups = safe(128);
    }
    result.safe_groups = std::min(result.safe_groups, groups);
  }
  return result;
}

/// The rows of a left factor for the inner loop, `rows` at a time: in place where they lie so that it can
/// read them there, and close enough for the first-level cache, or else packed.
template <content Content> class left_factor {
 public:
  template <class A>
  left_factor(const kernel_table& t, matrix_view<const A> a, index rows) : rows_(rows), total_(a.rows) {
    if constexpr (is_element<Content, A>) {
      read_or_pack(t, a);
    } else if (constexpr index few = index{1} << 15; a.rows * a.cols <= few) {
      decoded_.emplace(a.rows * a.cols);
      read_or_pack(t, decoded_to(t, a, decoded_->data()));
    } else {
      pack_all(t, a);
    }
  }

  struct part {
    left_panel panel;
    index skipped;  // rows of it that come before
  };
  /// A panel of `rows` rows with row i, a multiple of `rows`. In place the last one begins earlier, so that
  /// it ends with the matrix.
  part operator[](index i) const {
    const index first = packed_ ? i : std::min(i, total_ - rows_);
    return {{data_ + first * step_of_rows_, row_step_, group_step_, packed_ ? rows_ * step_of_rows_ : 0},
            i - first};
  }

 private:
  using element = typename words_of<Content>::element;
  static constexpr index group = group_size<Content>;

  template <class A> void read_or_pack(const kernel_table& t, matrix_view<const A> a) {
    constexpr index near = 16384;  // bytes, half of a first-level cache
    const auto extent = [](index stride, index count) { return (stride < 0 ? -stride : stride) * count; };
    const bool whole_groups = group == 1 || (a.col_stride == 1 && a.cols % group == 0);
    if (!whole_groups || a.rows < rows_ ||
        (extent(a.row_stride, rows_) + extent(a.col_stride, a.cols)) * index{sizeof(element)} > near)
      return pack_all(t, a);
    data_ = bytes_of(a.data);
    row_step_ = step_of_rows_ = a.row_stride * index{sizeof(element)};
    group_step_ = a.col_stride * index{sizeof(word)};
  }
  template <class A> void pack_all(const kernel_table& t, matrix_view<const A> a) {
    const index groups = (a.cols + group - 1) / group, panels = (a.rows + rows_ - 1) / rows_;
    packed_.emplace(panels * rows_ * groups);
    pack<Content>(t, a, rows_, plane::whole, packed_->data());
    data_ = bytes_of(packed_->data());
    step_of_rows_ = groups * index{sizeof(word)};
    row_step_ = sizeof(word);
    group_step_ = rows_ * index{sizeof(word)};
  }

  index rows_, total_;
  std::optional<uninitialised<element>> decoded_;
  std::optional<uninitialised<word>> packed_;
  const unsigned char* data_ = nullptr;
  index step_of_rows_ = 0, row_step_ = 0, group_step_ = 0;
};

inline constexpr index max_panel_rows = 16, max_panel_cols = 32;

/// The sums of A B, handed to store(i, j, sums) in tiles. Rows and columns are packed in blocks, whole depth.
template <content Content, class A, class B, class Store>
void panel_product(const kernel_table& t, matrix_view<const A> a, matrix_view<const B> b, magnitudes largest,
                   const Store& store) {
  using lane = typename words_of<Content>::lane;
  constexpr index group = group_size<Content>;
  const auto& kernel = words_of<Content>::kernel(t);
  const index rows = kernel.rows, cols = kernel.cols, groups = (a.cols + group - 1) / group;
  const passes p = passes_for<Content>(largest, groups);
  const bool at_once = p.plane_count == 1 && p.safe_groups == groups;

  const auto round_up = [](index n, index size) { return (n + size - 1) / size * size; };
  const auto fitting = [&](index words, index lines, index size, index total) {
    return std::clamp(words / (groups * lines) / size * size, size, round_up(total, size));
  };
  // All of A where it is not too large, and as many columns of B as the second-level cache holds.
  const index height_of_block = fitting(index{1} << 22, 1, rows, a.rows),
              width_of_block = fitting(index{1} << 17, p.plane_count, cols, b.cols);
  const uninitialised<word> packed_b(width_of_block * groups * p.plane_count);

  // What the sums of `length` groups of a panel begin with.
  const auto set_start = [&](const left_panel& panel, index length, lane(&start)[max_panel_rows]) {
    if constexpr (Content == content::int8) {
      t.int8_row_sums(panel, length, start);
      for (lane& x : start) x = static_cast<lane>(0u - 128u * static_cast<std::uint32_t>(x));
    }
  };
  for (index top = 0; top < a.rows; top += height_of_block) {
    const index bottom = std::min(top + height_of_block, a.rows);
    const left_factor<Content> left(t, a.block(top, 0, bottom - top, a.cols), rows);
    for (index j0 = 0; j0 < b.cols; j0 += width_of_block) {
      const index width = std::min(width_of_block, b.cols - j0), plane_words = round_up(width, cols) * groups;
      for (int k = 0; k < p.plane_count; ++k)
        pack<Content>(t, b.block(0, j0, b.rows, width).transposed(), cols, p.planes[k],
                      packed_b.data() + k * plane_words);
      for (index i0 = top; i0 < bottom; i0 += rows) {
        const auto part = left[i0 - top];
        const index height = std::min(rows, bottom - i0);
        lane start[max_panel_rows] = {};
        if (at_once) set_start(part.panel, groups, start);
        for (index j = 0; j < width; j += cols) {
          const auto hand_over = [&](const auto* tile) {
            store(i0, j0 + j,
                  matrix_view{tile + part.skipped * cols, height, std::min(cols, width - j), cols, index{1}});
          };
          const word* const panel_b = packed_b.data() + j * groups;
          alignas(64) lane tile[max_panel_rows * max_panel_cols];
          if (at_once) {
            kernel.multiply(part.panel, panel_b, groups, start, tile);
            hand_over(tile);
          } else if constexpr (std::integral<lane>) {
            alignas(64) std::int64_t total[max_panel_rows * max_panel_cols] = {};
            for (index first = 0, length; first < groups; first += length) {
              length = std::min(p.safe_groups, groups - first);
              left_panel panel = part.panel;
              panel.data += first * panel.group_step;
              set_start(panel, length, start);
              for (int k = 0; k < p.plane_count; ++k) {
                kernel.multiply(panel, panel_b + k * plane_words + first * cols, length, start, tile);
                t.tiles.add(tile, p.planes[k] == plane::high ? 8 : 0, total, rows * cols);
              }
            }
            hand_over(total);
          }
        }
      }
    }
  }
}

/// Tries to compute the sums of A B with the instruction set in use, and the threads. False, and nothing was
/// stored, if it has no kernel for such elements, or the product is too small to be worth one.
template <class Meeting, class A, class B, class Store>
bool try_panel_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest,
                       const Store& store) {
  constexpr index worthwhile = 4096;
  if (a.rows < 2 || b.cols < 2 || a.cols == 0 || a.rows * b.cols < worthwhile / a.cols) return false;
  const kernel_table& t = dispatch::instance().kernels();
  return with_content<best_content<typename Meeting::sum, A, B>()>([&]<content Content>() {
    const auto& kernel = words_of<Content>::kernel(t);
    if (!kernel) return false;
    if (Content == content::bf16 && (has_subnormal_bf16(t, a) || has_subnormal_bf16(t, b))) return false;
    in_parts(
        {a.rows, b.cols, kernel.rows, kernel.cols, a.cols}, [&](index i, index j, index height, index width) {
          panel_product<Content>(t, a.block(i, 0, height, a.cols), b.block(0, j, b.rows, width), largest,
                                 [&](index row, index col, auto sums) { store(i + row, j + col, sums); });
        });
    return true;
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
