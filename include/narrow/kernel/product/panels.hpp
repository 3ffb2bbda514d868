// Products of panels: what is the same for every format and every instruction set.
#pragma once

#include <vector>

#include "left_factor.hpp"
#include "panel_store.hpp"
#include "plan.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

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
  index panel_words, limb_words;  // from a panel, from a limb of b to the next

  /// The tile in what the kernels gave for the whole panels.
  template <class Number> matrix_view<const Number> in(const Number* numbers) const {
    return {numbers + skipped * stride, height, width, stride, 1};
  }
  /// The sums of some k-packs: those of a limb of b from a word of its first panel on.
  template <class Lane>
  void multiply(const panel_kernel<Lane>& kernel, const left_panel& panel, index b_word, index packs,
                const Lane* start, Lane* tile) const {
    kernel.multiply(width, panel, b + b_word, panel_words, packs, start, tile, stride);
  }
};

constexpr index round_up(index n, index multiple) { return (n + multiple - 1) / multiple * multiple; }

/// How often a plan of panels reads the rows of its left factor, whichever part of it a thread computes.
inline reading reading_of_rows(const product_plan& plan) {
  return plan.work.cols <= plan.work.tile_cols ? reading::once : reading::often;
}

/// Which limb of b comes k-th in a plan of panels.
template <class Lane> limb limb_at(const panel_kernel<Lane>& kernel, const product_plan& plan, int k) {
  if (plan.b_limbs > 1) return k == 0 ? limb::high : limb::low;
  return kernel.row_sums ? limb::plus_128 : limb::whole;
}

/// Panels of factors that were packed before, or null: of the left one, which may be decoded instead, and of
/// the right one in limbs.
template <packed_type P> struct ready_panels {
  const word *left = nullptr, *right = nullptr;
  left_order order = left_order::rows_side_by_side;  // of the left one
  matrix_view<const element_of<P>> decoded;
  index words_of_row = 0, words_of_col = 0, limb_words = 0;

  /// Those of the rows from i on, and of the columns from j on, in whole panels.
  ready_panels from(index i, index j) const {
    ready_panels result(*this);
    if (left != nullptr) result.left += i * words_of_row;
    if (right != nullptr) result.right += j * words_of_col;
    if (decoded.data != nullptr) result.decoded = decoded.block(i, 0, decoded.rows - i, decoded.cols);
    return result;
  }
  bool has_rows() const { return left != nullptr || decoded.data != nullptr; }
  /// A part of these rows for the inner loop. Not inlined, so that products without such panels stay small.
  [[gnu::noinline]] left_factor<P> rows_of(kernel_set t, const product_plan& plan, index first,
                                           index count) const {
    const auto& kernel = plan.panels<lane_of<P>>();
    if (left != nullptr) return left_factor<P>(kernel, order, left + first * words_of_row, count, plan.packs);
    return left_factor<P>(t, kernel, decoded.block(first, 0, count, decoded.cols), plan.packs,
                          reading_of_rows(plan));
  }
};

/// B as panels, one limb after the other. Inlined: views that are handed on through memory once more cost a
/// small product 20 ns.
template <packed_type P, class B>
[[gnu::always_inline]] inline void pack_right(kernel_set t, const product_plan& plan, matrix_view<const B> b,
                                              index limb_words, word* to) {
  const auto& kernel = plan.panels<lane_of<P>>();
  for (int k = 0; k < plan.b_limbs; ++k)
    pack<P>(t, b.transposed(), kernel.cols, plan.packs, right_words<P>, limb_at(kernel, plan, k),
            to + k * limb_words);
  if (kernel.takes_bytes())
    for (index j = 0; j < b.cols; j += kernel.cols) kernel.split_panel(to + j * plan.packs, plan.packs);
}

/// The panels that stores keep for this plan. A left factor that the kernel reads where it lies has none, and
/// one that it reads so when it is decoded is kept like that: the rows of a tile then are those that they
/// would be without a store, and so are the payloads of NaNs.
template <packed_type P, class A, class B>
[[gnu::noinline]] ready_panels<P> panels_of(kernel_set t, const product_plan& plan, matrix_view<const A> a,
                                            matrix_view<const B> b, const kept_panels& kept) {
  using element = element_of<P>;
  const auto& kernel = plan.panels<lane_of<P>>();
  const auto form_of = [&](const auto& lines, panel_order order, index width, limb first_limb,
                           void (*split)(word*, index)) {
    return panel_form{t,    lines.data, lines.rows, lines.cols, lines.row_stride, lines.col_stride,
                      P,    order,      width,      plan.packs, kernel.multiple,  first_limb,
                      split};
  };
  ready_panels<P> ready;
  if (kept.a != nullptr && decodes_first<P>(a) &&
      reads_in_place<P>(kernel, decoded_at<A, element>(a, nullptr), reading_of_rows(plan))) {
    const word* const words =
        kept.a->get(form_of(a, panel_order::decoded, 0, limb::whole, nullptr), packs_in<P>(a.rows * a.cols),
                    [&](word* to) { decoded_to(t, a, reinterpret_cast<element*>(to)); });
    ready.decoded = decoded_at(a, reinterpret_cast<const element*>(words));
  } else if (kept.a != nullptr && !reads_in_place<P>(kernel, a, reading_of_rows(plan))) {
    ready.order = order_of_rows<P>(kernel, a, plan.packs);
    const left_layout layout(kernel, ready.order, a.rows, plan.packs);
    const auto order =
        ready.order == left_order::rows_along ? panel_order::rows_along : panel_order::rows_side_by_side;
    ready.words_of_row = layout.step_of_rows / index{sizeof(word)};
    ready.left = kept.a->get(form_of(a, order, kernel.rows, limb::whole, kernel.split_row), layout.words,
                             [&](word* to) { pack_left<P>(t, kernel, ready.order, a, plan.packs, to); });
  }
  if (kept.b != nullptr) {
    ready.words_of_col = plan.packs * right_words<P>;
    ready.limb_words = round_up(b.cols, kernel.cols) * ready.words_of_col;
    ready.right = kept.b->get(form_of(b.transposed(), panel_order::columns, kernel.cols,
                                      limb_at(kernel, plan, 0), kernel.split_panel),
                              ready.limb_words * plan.b_limbs,
                              [&](word* to) { pack_right<P>(t, plan, b, ready.limb_words, to); });
  }
  return ready;
}

/// Packs A, and B in limbs, in blocks of rows and columns, whole depth, where they are not ready, and visits
/// the tiles of the result.
/// visit.rows(panel): the next tiles have these rows. visit.tile(place): one of them.
template <packed_type P, class A, class B, class Visitor>
void for_tiles(kernel_set t, const product_plan& plan, matrix_view<const A> a, matrix_view<const B> b,
               const ready_panels<P>& ready, Visitor&& visit) {
  const auto& kernel = plan.panels<lane_of<P>>();
  const thread_section section(kernel);
  const index rows = kernel.rows, cols = kernel.cols, packs = plan.packs, depth_of_b = packs * right_words<P>,
              max_width = max_panel_rows * max_panel_cols / (rows * cols) * cols;
  const auto fitting = [&](index words, index lines, index size, index total) {
    const index all = round_up(total, size), line = depth_of_b * lines;
    return all * line <= words
               ? all
               : std::max(words / line / size * size, size);  // few divisions where it is small
  };
  // All of A where it is not too large, and as many columns of B as the second-level cache holds.
  const index height_of_block = fitting(index{1} << 22, 1, rows, a.rows),
              width_of_block = fitting(index{1} << 17, plan.b_limbs, cols, b.cols);
  const bool packs_b = ready.right == nullptr;
  const scratch<word> packed_b(packs_b ? width_of_block * depth_of_b * plan.b_limbs : 0);

  for (index top = 0; top < a.rows; top += height_of_block) {
    const index bottom = std::min(top + height_of_block, a.rows);
    const left_factor<P> left =
        ready.has_rows()
            ? ready.rows_of(t, plan, top, bottom - top)
            : left_factor<P>(t, kernel, a.block(top, 0, bottom - top, a.cols), packs, reading_of_rows(plan));
    for (index j0 = 0; j0 < b.cols; j0 += width_of_block) {
      const index width = std::min(width_of_block, b.cols - j0),
                  limb_words = packs_b ? round_up(width, cols) * depth_of_b : ready.limb_words;
      if (packs_b) pack_right<P>(t, plan, b.block(0, j0, b.rows, width), limb_words, packed_b.data());
      const word* const words_of_b = packs_b ? packed_b.data() : ready.right + j0 * depth_of_b;
      for (index i = top; i < bottom; i += rows) {
        const auto part = left[i - top];
        visit.rows(part.panel);
        for (index j = 0; j < width; j += max_width)
          visit.tile({.row = i,
                      .col = j0 + j,
                      .height = std::min(rows, bottom - i),
                      .width = std::min(max_width, width - j),
                      .stride = round_up(std::min(max_width, width - j), cols),
                      .a = part.panel,
                      .skipped = part.skipped,
                      .b = words_of_b + j * depth_of_b,
                      .panel_words = cols * depth_of_b,
                      .limb_words = limb_words});
      }
    }
  }
}

/// The k-packs of a panel from `first` on.
inline left_panel from_pack(left_panel panel, index first) {
  panel.data += first * panel.pack_step;
  return panel;
}

/// What the sums of the first k-packs of a panel begin with, so that what one of the factors has too much
/// goes away again; zeros, which are there, where it has nothing.
template <class Lane>
void set_start(const panel_kernel<Lane>& kernel, const left_panel& panel, index packs, Lane* start) {
  if constexpr (std::integral<Lane>) {
    if (!kernel.row_sums) return;
    kernel.row_sums(panel, packs, start);
    for (index i = 0; i < kernel.rows; ++i)
      start[i] = static_cast<Lane>(0u - 128u * static_cast<std::make_unsigned_t<Lane>>(start[i]));
  }
}

/// Hands the sums of tiles to store(i, j, sums), or writes them to `direct`, if there is such a matrix:
/// floats, neighbours in a row side by side.
template <packed_type P, class Store> class whole_sums {
  using lane = lane_of<P>;

 public:
  whole_sums(kernel_set t, const product_plan& plan, const matrix_view<float>& direct, const Store& store)
      : t_(t), plan_(plan), direct_(direct), store_(store) {}

  void rows(const left_panel& panel) {
    if (at_once_) set_start(kernel_, panel, packs_, start_);
  }
  void tile(const tile_place& at) {
    if constexpr (std::same_as<lane, float>)
      if (direct_.data && at.skipped == 0 && at.height == kernel_.rows && at.width == at.stride)
        return kernel_.multiply(at.width, at.a, at.b, at.panel_words, packs_, start_,
                                &direct_(at.row, at.col), direct_.row_stride);
    if (at_once_) {
      alignas(64) tile_of<lane> tile;
      at.multiply(kernel_, at.a, 0, packs_, start_, tile);
      store_(at.row, at.col, at.in(tile));
    } else if constexpr (std::integral<lane>) {
      alignas(64) tile_of<std::int64_t> total;
      const index size = kernel_.rows * at.stride;
      for (index first = 0; first < packs_; first += safe_packs_) add_piece(at, first, total, size);
      store_(at.row, at.col, at.in(total));
    }
  }

 private:
  /// Adds the sums of the k-packs from `first` on, as many as are safe, to the total.
  void add_piece(const tile_place& at, index first, std::int64_t* total, index size) {
    const index length = std::min(safe_packs_, packs_ - first);
    const left_panel panel = from_pack(at.a, first);
    if (plan_.wide_sums) {
      alignas(64) tile_of<std::int64_t> piece;
      kernel_.wide(panel, at.b + first * kernel_.cols, length, first == 0 ? total : piece, at.stride);
      for (index i = 0; first > 0 && i < size; ++i) total[i] += piece[i];
      return;
    }
    set_start(kernel_, panel, length, start_);
    const auto& widen = t_.get<&kernel_table::widening>();
    alignas(64) tile_of<lane> sums[2];
    for (int k = 0; k < plan_.b_limbs; ++k)
      at.multiply(kernel_, panel, k * at.limb_words + first * kernel_.cols, length, start_, sums[k]);
    if (first == 0 && plan_.b_limbs == 2) return widen.join(sums[0], sums[1], total, size);
    if (first == 0) std::fill_n(total, size, 0);
    for (int k = 0; k < plan_.b_limbs; ++k)
      widen.add(sums[k], limb_at(kernel_, plan_, k) == limb::high ? 8 : 0, total, size);
  }

  kernel_set t_;
  const product_plan& plan_;
  const panel_kernel<lane>& kernel_ = plan_.panels<lane>();
  index packs_ = plan_.packs, safe_packs_ = plan_.depth_block / k_pack<P>;
  matrix_view<float> direct_;
  const Store& store_;
  bool at_once_ = plan_.b_limbs == 1 && safe_packs_ == packs_ && !plan_.wide_sums;
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
template <packed_type P, class Store> class scaled_pieces {
  using lane = lane_of<P>;

 public:
  scaled_pieces(kernel_set t, const product_plan& plan, const piece_scales& rows, const piece_scales& cols,
                const Store& store)
      : t_(t),
        kernel_(plan.panels<lane>()),
        packs_(plan.packs),
        piece_packs_(plan.depth_block / k_pack<P>),
        rows_(rows),
        cols_(cols),
        store_(store),
        starts_(static_cast<std::size_t>((packs_ + piece_packs_ - 1) / piece_packs_ * max_panel_rows)) {}

  void rows(const left_panel& panel) {
    for_pieces([&](index first, index packs, lane* start) {
      set_start(kernel_, from_pack(panel, first), packs, start);
    });
  }
  void tile(const tile_place& at) {
    alignas(64) tile_of<lane> tile;
    alignas(64) tile_of<float> values;
    std::fill_n(values, kernel_.rows * at.stride, 0.0f);
    const index skipped = at.skipped * at.stride;
    const tile_shape shape{at.height, at.width, at.stride, at.stride};
    index piece = 0;
    for_pieces([&](index first, index packs, const lane* start) {
      at.multiply(kernel_, from_pack(at.a, first), first * kernel_.cols, packs, start, tile);
      tile_scaling<lane>(t_).add(tile + skipped, shape, rows_.at(piece, at.row), cols_.at(piece, at.col),
                                 values + skipped);
      ++piece;
    });
    store_(at.row, at.col, at.in(values));
  }

 private:
  template <class Use> void for_pieces(const Use& use) {
    lane* start = starts_.data();
    for (index first = 0; first < packs_; first += piece_packs_, start += max_panel_rows)
      use(first, std::min(piece_packs_, packs_ - first), start);
  }

  kernel_set t_;
  const panel_kernel<lane>& kernel_;
  index packs_, piece_packs_;
  piece_scales rows_, cols_;
  const Store& store_;
  std::vector<lane> starts_;
};

/// The sums of A B, by all threads, handed to store(i, j, sums); those that are floats may be written to
/// `direct`, if there is such a matrix, instead.
template <packed_type P, class A, class B, class Store>
void run_panels(kernel_set t, const product_plan& plan, matrix_view<const A> a, matrix_view<const B> b,
                const matrix_view<float>& direct, const Store& store, const kept_panels& kept = {}) {
  const ready_panels<P> ready = kept.any() ? panels_of<P>(t, plan, a, b, kept) : ready_panels<P>{};
  parallel_for_tiles(plan.work, [&](index i, index j, index height, index width) {
    const auto store_part = [&](index row, index col, const auto& sums) { store(i + row, j + col, sums); };
    for_tiles<P>(t, plan, a.block(i, 0, height, a.cols), b.block(0, j, b.rows, width), ready.from(i, j),
                 whole_sums<P, decltype(store_part)>(t, plan, direct.block(i, j, height, width), store_part));
  });
}

/// What `scaled_pieces` says, by all threads.
template <packed_type P, class A, class B, class Store>
void run_scaled_panels(kernel_set t, const product_plan& plan, matrix_view<const A> a, matrix_view<const B> b,
                       const piece_scales& rows, const piece_scales& cols, const Store& store,
                       const kept_panels& kept) {
  const ready_panels<P> ready = kept.any() ? panels_of<P>(t, plan, a, b, kept) : ready_panels<P>{};
  parallel_for_tiles(plan.work, [&](index i, index j, index height, index width) {
    const auto store_part = [&](index row, index col, const auto& values) {
      store(i + row, j + col, values);
    };
    for_tiles<P>(t, plan, a.block(i, 0, height, a.cols), b.block(0, j, b.rows, width), ready.from(i, j),
                 scaled_pieces<P, decltype(store_part)>(t, plan, {rows.at(0, i), rows.lines},
                                                        {cols.at(0, j), cols.lines}, store_part));
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
