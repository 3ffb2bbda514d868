// Matrix products from panels: what is the same for every format and every instruction set.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "../../runtime/thread_pool.hpp"
#include "../../simd/dispatch.hpp"
#include "packing.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The largest magnitudes of integer elements.
struct magnitudes {
  std::int64_t a = 0, b = 0;
};

/// How B is multiplied: in how many planes, and how many groups at a time.
struct passes {
  plane planes[2] = {plane::whole, plane::low};
  int plane_count = 1;
  index safe_groups;
  bool is_wide = false;  // with sums of 64 bits
};

/// Integer accumulators are emptied into 64 bits, which no depth in memory can fill, before they can wrap;
/// where that would be all the time, B is multiplied in two halves, or by a kernel whose sums have 64 bits.
template <content Content, class Lane>
passes passes_for(const panel_kernel<Lane>& kernel, magnitudes largest, index groups) {
  passes result{.safe_groups = groups};
  if constexpr (std::integral<Lane>) {
    constexpr index fewest = 64;
    const auto safe = [&](std::int64_t b_magnitude) {
      const index most = std::numeric_limits<Lane>::max() /
                         std::max<std::int64_t>(group_size<Content> * largest.a * b_magnitude, 1);
      return most / kernel.multiple * kernel.multiple;
    };
    result.safe_groups = safe(largest.b);
    if (kernel.row_sums) result.planes[0] = plane::plus_128;
    if (kernel.wide && result.safe_groups < groups) {
      result.safe_groups = kernel.wide_groups;
      result.is_wide = true;
    } else if (Content == content::int16 && result.safe_groups < std::min(fewest, groups)) {
      result.planes[0] = plane::high;
      result.plane_count = 2;
      result.safe_groups = safe(128);
    }
    result.safe_groups = std::min(result.safe_groups, groups);
  }
  return result;
}

/// Groups of elements of the depth, as many as the kernel takes.
template <content Content, class Lane> index groups_for(const panel_kernel<Lane>& kernel, index depth) {
  const index size = group_size<Content> * kernel.multiple;
  return (depth + size - 1) / size * kernel.multiple;
}
/// The kernel for a left factor of so many rows, and sums of so many products of integers of at most these
/// magnitudes.
template <content Content> const auto& kernel_for(kernel_set t, index rows, index depth, magnitudes largest) {
  const index groups = groups_in<Content>(depth);
  const auto* kernel = &panel_kernel_for<Content>(t, groups);
  if (kernel->takes_bytes()) {  // worth it for what else takes two passes, or for deep sums of many rows
    constexpr index many_groups = 256, many_rows = 64;
    const auto& whole = panel_kernel_for<Content>(t, 0);
    if ((groups < many_groups || rows < many_rows) &&
        passes_for<Content>(whole, largest, groups).plane_count == 1)
      kernel = &whole;
  }
  return kernel->for_rows(rows, groups);
}

/// What a thread does around its products.
template <class Lane> class thread_section {
 public:
  explicit thread_section(const panel_kernel<Lane>& kernel) : end_(kernel.end) {
    if (kernel.begin) kernel.begin();
  }
  ~thread_section() {
    if (end_) end_();
  }
  thread_section(const thread_section&) = delete;
  thread_section& operator=(const thread_section&) = delete;

 private:
  void (*end_)();
};

/// The rows of a left factor for the inner loop, as many as it takes at a time: in place where they lie so
/// that it can read them there, and close enough for the first-level cache, or else packed.
template <content Content> class left_factor {
  using element = typename words_of<Content>::element;
  using lane = typename words_of<Content>::lane;

 public:
  template <class A>
  left_factor(kernel_set t, const panel_kernel<lane>& kernel, matrix_view<const A> a)
      : kernel_(kernel), total_(a.rows) {
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
  /// The panel of the kernel's rows with row i, a multiple of them. In place the last one begins earlier, so
  /// that it ends with the matrix.
  part operator[](index i) const {
    const index first = packed_ ? i : std::min(i, total_ - kernel_.rows);
    return {
        {data_ + first * step_of_rows_, row_step_, group_step_, packed_ ? kernel_.rows * step_of_rows_ : 0},
        i - first};
  }

 private:
  static constexpr index group = group_size<Content>;

  template <class A> void read_or_pack(kernel_set t, matrix_view<const A> a) {
    const auto extent = [](index stride, index count) { return (stride < 0 ? -stride : stride) * count; };
    const bool whole_groups = (group == 1 || a.col_stride == 1) && a.cols % (group * kernel_.multiple) == 0;
    if (kernel_.takes_bytes() || !whole_groups || a.rows < kernel_.rows ||
        (extent(a.row_stride, kernel_.rows) + extent(a.col_stride, a.cols)) * index{sizeof(element)} >
            near_bytes)
      return pack_all(t, a);
    data_ = bytes_of(a.data);
    row_step_ = step_of_rows_ = a.row_stride * index{sizeof(element)};
    group_step_ = a.col_stride * index{sizeof(word)};
  }
  template <class A> void pack_all(kernel_set t, matrix_view<const A> a) {
    const index rows = kernel_.rows, panels = (a.rows + rows - 1) / rows,
                groups = groups_for<Content>(kernel_, a.cols);
    if (kernel_.order == left_order::rows_along) {
      const index step =
          groups + kernel_.multiple;  // not a power of two, which would be the same places of a cache
      packed_.emplace(panels * rows * step);
      pack_rows<Content>(t, a, step, packed_->data());
      std::fill(packed_->data() + a.rows * step, packed_->data() + panels * rows * step, word{0});
      if (kernel_.takes_bytes())
        for (index i = 0; i < a.rows; ++i) kernel_.split_row(packed_->data() + i * step, groups);
      row_step_ = step_of_rows_ = step * index{sizeof(word)};
      group_step_ = sizeof(word);
    } else {
      packed_.emplace(panels * rows * groups);
      pack<Content>(t, a, rows, groups, 0, plane::whole, packed_->data());
      step_of_rows_ = groups * index{sizeof(word)};
      row_step_ = sizeof(word);
      group_step_ = rows * index{sizeof(word)};
    }
    data_ = bytes_of(packed_->data());
  }

  const panel_kernel<lane>& kernel_;
  index total_;
  std::optional<scratch<element>> decoded_;
  std::optional<scratch<word>> packed_;
  const unsigned char* data_ = nullptr;
  index step_of_rows_ = 0, row_step_ = 0, group_step_ = 0;
};

inline constexpr index max_panel_rows = 32, max_panel_cols = 32;
template <class Number> using tile_of = Number[max_panel_rows * max_panel_cols];

/// Where a tile of the result is, and what it is the product of: a panel of rows, and as many panels of
/// columns as tile_of has room for.
struct tile_place {
  index row, col, height, width;
  index stride;  // of sums of whole panels
  left_panel a;
  index skipped;  // rows of the panel that come before the tile's
  const word* b;
  index panel_words, plane_words;  // from a panel, from a plane of b to the next

  /// The tile in what the kernels gave for the whole panels.
  template <class Number> matrix_view<const Number> in(const Number* numbers) const {
    return {numbers + skipped * stride, height, width, stride, 1};
  }
  /// The sums of some groups, those of a plane of b from a word of its first panel on.
  template <class Lane>
  void multiply(const panel_kernel<Lane>& kernel, const left_panel& panel, index b_word, index groups,
                const Lane* start, Lane* tile) const {
    kernel.multiply(width, panel, b + b_word, panel_words, groups, start, tile, stride);
  }
};

/// Packs A, and B in planes, in blocks of rows and columns, whole depth, and visits the tiles of the result.
/// visit.rows(panel): the next tiles have these rows. visit.tile(place): one of them.
template <content Content, class A, class B, class Lane, class Visitor>
void for_tiles(kernel_set t, const panel_kernel<Lane>& kernel, matrix_view<const A> a, matrix_view<const B> b,
               const passes& p, Visitor&& visit) {
  const thread_section section(kernel);
  const index rows = kernel.rows, cols = kernel.cols, groups = groups_for<Content>(kernel, a.cols),
              depth_of_b = groups * right_words<Content>,
              longest = max_panel_rows * max_panel_cols / (rows * cols) * cols;
  const auto round_up = [](index n, index size) { return (n + size - 1) / size * size; };
  const auto fitting = [&](index words, index lines, index size, index total) {
    const index all = round_up(total, size), line = depth_of_b * lines;
    return all * line <= words
               ? all
               : std::max(words / line / size * size, size);  // few divisions where it is small
  };
  // All of A where it is not too large, and as many columns of B as the second-level cache holds.
  const index height_of_block = fitting(index{1} << 22, 1, rows, a.rows),
              width_of_block = fitting(index{1} << 17, p.plane_count, cols, b.cols);
  const scratch<word> packed_b(width_of_block * depth_of_b * p.plane_count);

  for (index top = 0; top < a.rows; top += height_of_block) {
    const index bottom = std::min(top + height_of_block, a.rows);
    const left_factor<Content> left(t, kernel, a.block(top, 0, bottom - top, a.cols));
    for (index j0 = 0; j0 < b.cols; j0 += width_of_block) {
      const index width = std::min(width_of_block, b.cols - j0),
                  plane_words = round_up(width, cols) * depth_of_b;
      for (int k = 0; k < p.plane_count; ++k)
        pack<Content>(t, b.block(0, j0, b.rows, width).transposed(), cols, groups, right_words<Content> - 1,
                      p.planes[k], packed_b.data() + k * plane_words);
      if (kernel.takes_bytes())
        for (index j = 0; j < width; j += cols) kernel.split_panel(packed_b.data() + j * groups, groups);
      for (index i = top; i < bottom; i += rows) {
        const auto part = left[i - top];
        visit.rows(part.panel);
        for (index j = 0; j < width; j += longest)
          visit.tile({.row = i,
                      .col = j0 + j,
                      .height = std::min(rows, bottom - i),
                      .width = std::min(longest, width - j),
                      .stride = round_up(std::min(longest, width - j), cols),
                      .a = part.panel,
                      .skipped = part.skipped,
                      .b = packed_b.data() + j * depth_of_b,
                      .panel_words = cols * depth_of_b,
                      .plane_words = plane_words});
      }
    }
  }
}

/// Groups of a panel from `first` on.
inline left_panel from_group(left_panel panel, index first) {
  panel.data += first * panel.group_step;
  return panel;
}

/// What the sums of the first groups of a panel begin with, so that what one of the factors has too much goes
/// away again; zeros, which are there, where it has nothing.
template <class Lane>
void set_start(const panel_kernel<Lane>& kernel, const left_panel& panel, index groups, Lane* start) {
  if constexpr (std::integral<Lane>) {
    if (!kernel.row_sums) return;
    kernel.row_sums(panel, groups, start);
    for (index i = 0; i < kernel.rows; ++i)
      start[i] = static_cast<Lane>(0u - 128u * static_cast<std::make_unsigned_t<Lane>>(start[i]));
  }
}

/// Hands the sums of tiles to store(i, j, sums), or writes them to `direct`, if there is such a matrix:
/// floats, neighbours in a row side by side.
template <content Content, class Store> class whole_sums {
  using lane = typename words_of<Content>::lane;

 public:
  whole_sums(kernel_set t, const panel_kernel<lane>& kernel, const passes& p, index groups,
             const matrix_view<float>& direct, const Store& store)
      : t_(t), kernel_(kernel), p_(p), groups_(groups), direct_(direct), store_(store) {}

  void rows(const left_panel& panel) {
    if (at_once_) set_start(kernel_, panel, groups_, start_);
  }
  void tile(const tile_place& at) {
    if constexpr (std::same_as<lane, float>)
      if (direct_.data && at.skipped == 0 && at.height == kernel_.rows && at.width == at.stride)
        return kernel_.multiply(at.width, at.a, at.b, at.panel_words, groups_, start_,
                                &direct_(at.row, at.col), direct_.row_stride);
    if (at_once_) {
      alignas(64) tile_of<lane> tile;
      at.multiply(kernel_, at.a, 0, groups_, start_, tile);
      store_(at.row, at.col, at.in(tile));
    } else if constexpr (std::integral<lane>) {
      alignas(64) tile_of<std::int64_t> total;
      const index size = kernel_.rows * at.stride;
      for (index first = 0; first < groups_; first += p_.safe_groups) add_piece(at, first, total, size);
      store_(at.row, at.col, at.in(total));
    }
  }

 private:
  /// Adds the sums of the groups from `first` on, as many as are safe, to the total.
  void add_piece(const tile_place& at, index first, std::int64_t* total, index size) {
    const index length = std::min(p_.safe_groups, groups_ - first);
    const left_panel panel = from_group(at.a, first);
    if (p_.is_wide) {
      alignas(64) tile_of<std::int64_t> piece;
      kernel_.wide(panel, at.b + first * kernel_.cols, length, first == 0 ? total : piece, at.stride);
      for (index i = 0; first > 0 && i < size; ++i) total[i] += piece[i];
      return;
    }
    set_start(kernel_, panel, length, start_);
    const auto join = t_.get<&kernel_table::join>();
    const auto add = t_.get<&kernel_table::add_tile>();
    alignas(64) tile_of<lane> sums[2];
    for (int k = 0; k < p_.plane_count; ++k)
      at.multiply(kernel_, panel, k * at.plane_words + first * kernel_.cols, length, start_, sums[k]);
    if (first == 0 && p_.plane_count == 2) return join(sums[0], sums[1], total, size);
    if (first == 0) std::fill_n(total, size, 0);
    for (int k = 0; k < p_.plane_count; ++k) add(sums[k], p_.planes[k] == plane::high ? 8 : 0, total, size);
  }

  kernel_set t_;
  const panel_kernel<lane>& kernel_;
  const passes& p_;
  index groups_;
  matrix_view<float> direct_;
  const Store& store_;
  bool at_once_ = p_.plane_count == 1 && p_.safe_groups == groups_ && !p_.is_wide;
  lane start_[max_panel_rows] = {};
};

/// Scales of lines, of one piece of their length after the other.
struct piece_scales {
  const float* data;
  index lines;
  const float* at(index piece, index line) const { return data + piece * lines + line; }
};

/// Hands tiles to store(i, j, values), where a value is the sum of a row's and a column's pieces, each of
/// them float(sum of products) * (scale of the row's * scale of the column's), added in ascending order.
template <content Content, class Store> class scaled_pieces {
  using lane = typename words_of<Content>::lane;

 public:
  scaled_pieces(kernel_set t, const panel_kernel<lane>& kernel, index groups, index piece_groups,
                const piece_scales& rows, const piece_scales& cols, const Store& store)
      : t_(t),
        kernel_(kernel),
        groups_(groups),
        piece_groups_(piece_groups),
        rows_(rows),
        cols_(cols),
        store_(store),
        starts_(static_cast<std::size_t>((groups + piece_groups - 1) / piece_groups * max_panel_rows)) {}

  void rows(const left_panel& panel) {
    lane* start = starts_.data();
    for (index first = 0; first < groups_; first += piece_groups_, start += max_panel_rows)
      set_start(kernel_, from_group(panel, first), std::min(piece_groups_, groups_ - first), start);
  }
  void tile(const tile_place& at) {
    alignas(64) tile_of<lane> tile;
    alignas(64) tile_of<float> values;
    std::fill_n(values, kernel_.rows * at.stride, 0.0f);
    const index skipped = at.skipped * at.stride;
    const tile_shape shape{at.height, at.width, at.stride, at.stride};
    const lane* start = starts_.data();
    for (index piece = 0, first = 0; first < groups_;
         ++piece, first += piece_groups_, start += max_panel_rows) {
      at.multiply(kernel_, from_group(at.a, first), first * kernel_.cols,
                  std::min(piece_groups_, groups_ - first), start, tile);
      const float *row_scales = rows_.at(piece, at.row), *col_scales = cols_.at(piece, at.col);
      if constexpr (std::integral<lane>)
        t_.get<&kernel_table::add_scaled_tile>()(tile + skipped, shape, row_scales, col_scales,
                                                 values + skipped);
      else
        t_.get<&kernel_table::add_scaled_float_tile>()(tile + skipped, shape, row_scales, col_scales,
                                                       values + skipped);
    }
    store_(at.row, at.col, at.in(values));
  }

 private:
  kernel_set t_;
  const panel_kernel<lane>& kernel_;
  index groups_, piece_groups_;
  piece_scales rows_, cols_;
  const Store& store_;
  std::vector<lane> starts_;
};

/// Tries to compute the sums of A B with the instruction set in use, and the threads; those that are floats
/// may be written to `direct`, if there is such a matrix, instead of stored. False, and nothing was stored,
/// if it has no kernel for such elements, or the product is too small to be worth one.
template <class Meeting, class A, class B, class Store>
bool try_panel_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest,
                       const matrix_view<float>& direct, const Store& store) {
  constexpr index worthwhile = std::floating_point<typename Meeting::sum> ? 512 : 200;  // multiplications
  if (a.rows < 2 || b.cols < 2 || a.cols == 0 || a.rows * b.cols < worthwhile / a.cols) return false;
  kernel_set t = dispatch::instance().kernels();
  return with_content<best_panel_content<typename Meeting::sum, A, B>()>([&]<content Content>() {
    const auto& kernel = kernel_for<Content>(t, a.rows, a.cols, largest);
    if (!kernel || !repays<Content>(a.rows, b.cols)) return false;
    if (has_unfit<Content>(t, a) || has_unfit<Content>(t, b)) return false;
    const index groups = groups_for<Content>(kernel, a.cols);
    const passes p = passes_for<Content>(kernel, largest, groups);
    in_parts(
        {a.rows, b.cols, kernel.rows, kernel.cols, a.cols}, [&](index i, index j, index height, index width) {
          const auto store_part = [&](index row, index col, auto sums) { store(i + row, j + col, sums); };
          for_tiles<Content>(t, kernel, a.block(i, 0, height, a.cols), b.block(0, j, b.rows, width), p,
                             whole_sums<Content, decltype(store_part)>(
                                 t, kernel, p, groups, direct.block(i, j, height, width), store_part));
        });
    return true;
  });
}

/// Tries to do what `scaled_pieces` says with the instruction set in use, and the threads, for pieces of
/// `length` terms. False, and nothing was stored, if it has no kernel for such elements, or the pieces do not
/// begin with groups or would have to be cut.
template <class Meeting, class A, class B, class Store>
bool try_scaled_pieces(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest, index length,
                       const piece_scales& rows, const piece_scales& cols, const Store& store) {
  kernel_set t = dispatch::instance().kernels();
  return with_content<best_content<typename Meeting::sum, A, B>()>([&]<content Content>() {
    constexpr index group = group_size<Content>;
    const auto& deep = panel_kernel_for<Content>(t, length / group);
    const auto& kernel = deep.takes_bytes() ? panel_kernel_for<Content>(t, 0) : deep;
    const index groups = groups_for<Content>(kernel, a.cols), piece_groups = length / group;
    if (!kernel || !t.get<&kernel_table::add_scaled_tile>() || length % (group * kernel.multiple) != 0)
      return false;
    if (has_unfit<Content>(t, a) || has_unfit<Content>(t, b)) return false;
    const passes p = passes_for<Content>(kernel, largest, piece_groups);
    if (p.plane_count > 1 || p.safe_groups < piece_groups) return false;
    in_parts(
        {a.rows, b.cols, kernel.rows, kernel.cols, a.cols}, [&](index i, index j, index height, index width) {
          const auto store_part = [&](index row, index col, auto values) { store(i + row, j + col, values); };
          for_tiles<Content>(t, kernel, a.block(i, 0, height, a.cols), b.block(0, j, b.rows, width), p,
                             scaled_pieces<Content, decltype(store_part)>(
                                 t, kernel, groups, piece_groups, {rows.at(0, i), rows.lines},
                                 {cols.at(0, j), cols.lines}, store_part));
        });
    return true;
  });
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
