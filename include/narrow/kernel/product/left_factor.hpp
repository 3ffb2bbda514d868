// The left factor of a product of panels: packed, or read where it lies.
#pragma once

#include <optional>

#include "pack.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// How rows of a left factor are packed: as the kernel reads them fastest, or else as they lie in memory if a
/// panel of them stays in the first-level cache, where AVX2's kernels were found to read either as fast.
template <packed_type P, class A>
left_order order_of_rows(const panel_kernel<lane_of<P>>& kernel, const matrix_view<const A>& a, index packs) {
  const bool as_they_lie = a.col_stride == 1 && kernel.rows * packs * index{sizeof(word)} <= near_bytes;
  return as_they_lie ? left_order::rows_along : kernel.order;
}

/// Where packed rows of a left factor are, in bytes, and how many words they take.
struct left_layout {
  index words, step_of_rows, row_step, pack_step;

  template <class Lane>
  left_layout(const panel_kernel<Lane>& kernel, left_order order, index rows, index packs) {
    constexpr index word_size = sizeof(word);
    const bool along = order == left_order::rows_along;
    // Not a power of two, which would be the same places of a cache.
    const index line = along ? packs + kernel.multiple : packs;
    words = (rows + kernel.rows - 1) / kernel.rows * kernel.rows * line;
    step_of_rows = line * word_size;
    row_step = along ? step_of_rows : word_size;
    pack_step = along ? word_size : kernel.rows * word_size;
  }
};

/// Packs rows of a left factor so, what is no row as zeros.
template <packed_type P, class A>
void pack_left(kernel_set t, const panel_kernel<lane_of<P>>& kernel, left_order order, matrix_view<const A> a,
               index packs, word* to) {
  if (order == left_order::rows_along) {
    const left_layout layout(kernel, order, a.rows, packs);
    const index step = layout.step_of_rows / index{sizeof(word)};
    pack_rows<P>(t, a, step, to);
    std::fill(to + a.rows * step, to + layout.words, word{0});
    if (kernel.takes_bytes())
      for (index i = 0; i < a.rows; ++i) kernel.split_row(to + i * step, packs);
  } else {
    pack<P>(t, a, kernel.rows, packs, 1, limb::whole, to);
  }
}

/// How often the rows of a left factor are read: once, where a panel has all columns of the right one.
enum class reading { once, often };

/// Whether the kernel can read the rows of a left factor where they lie: near enough, if it reads them often.
template <packed_type P, class A>
bool reads_in_place(const panel_kernel<lane_of<P>>& kernel, const matrix_view<const A>& a, reading rows) {
  if constexpr (!is_element<P, A>) {
    return false;
  } else {
    const auto extent = [](index stride, index count) {
      return (stride < 0 ? -stride : stride) * (count - 1);
    };
    // Words of more elements than one, and rows that the kernel takes as they lie along memory.
    const bool takes_neighbours = k_pack<P> > 1 || kernel.order == left_order::rows_along;
    const bool whole_packs =
        (a.col_stride == 1 || !takes_neighbours) && a.cols % (k_pack<P> * kernel.multiple) == 0;
    const bool is_near =
        (extent(a.row_stride, kernel.rows) + extent(a.col_stride, a.cols) + 1) * index{sizeof(A)} <=
        near_bytes;
    return !kernel.takes_bytes() && whole_packs && a.rows >= kernel.rows &&
           (is_near || rows == reading::once);
  }
}

/// A left factor of at most so many elements is decoded as a whole, to be read where it lies then.
inline constexpr index max_decoded = index{1} << 15;
template <packed_type P, class A> bool decodes_first(const matrix_view<const A>& a) {
  return !is_element<P, A> && a.rows * a.cols <= max_decoded;
}

/// The rows of a left factor for the inner loop, as many as it takes at a time: in place where they lie so
/// that it can read them there, and close enough for the first-level cache if it reads them often, or else
/// packed in `packs` k-packs.
template <packed_type P> class left_factor {
  using element = element_of<P>;
  using lane = lane_of<P>;

 public:
  template <class A>
  left_factor(kernel_set t, const panel_kernel<lane>& kernel, matrix_view<const A> a, index packs,
              reading rows)
      : kernel_(kernel), total_(a.rows) {
    if constexpr (is_element<P, A>) {
      read_or_pack(t, a, packs, rows);
    } else if (decodes_first<P>(a)) {
      decoded_.emplace(a.rows * a.cols);
      read_or_pack(t, decoded_to(t, a, decoded_->data()), packs, rows);
    } else {
      pack_all(t, a, packs);
    }
  }

  /// Of so many rows that were packed before.
  left_factor(const panel_kernel<lane>& kernel, left_order order, const word* packed, index rows, index packs)
      : kernel_(kernel), total_(rows) {
    take(order, packed, packs);
  }

  struct part {
    left_panel panel;
    index skipped;  // rows of it that come before
  };
  /// The panel of the kernel's rows with row i, a multiple of them. In place the last one begins earlier, so
  /// that it ends with the matrix.
  part operator[](index i) const {
    const index first = is_packed_ ? i : std::min(i, total_ - kernel_.rows);
    return {
        {data_ + first * step_of_rows_, row_step_, pack_step_, is_packed_ ? kernel_.rows * step_of_rows_ : 0},
        i - first};
  }

 private:
  template <class A> void read_or_pack(kernel_set t, matrix_view<const A> a, index packs, reading rows) {
    if (!reads_in_place<P>(kernel_, a, rows)) return pack_all(t, a, packs);
    data_ = bytes_of(a.data);
    row_step_ = step_of_rows_ = a.row_stride * index{sizeof(element)};
    pack_step_ = a.col_stride * index{sizeof(word)};
  }
  template <class A> void pack_all(kernel_set t, matrix_view<const A> a, index packs) {
    const left_order order = order_of_rows<P>(kernel_, a, packs);
    packed_.emplace(left_layout(kernel_, order, a.rows, packs).words);
    pack_left<P>(t, kernel_, order, a, packs, packed_->data());
    take(order, packed_->data(), packs);
  }
  void take(left_order order, const word* packed, index packs) {
    const left_layout layout(kernel_, order, total_, packs);
    is_packed_ = true;
    data_ = bytes_of(packed);
    step_of_rows_ = layout.step_of_rows;
    row_step_ = layout.row_step;
    pack_step_ = layout.pack_step;
  }

  const panel_kernel<lane>& kernel_;
  index total_;
  std::optional<scratch<element>> decoded_;
  std::optional<scratch<word>> packed_;
  bool is_packed_ = false;
  const unsigned char* data_ = nullptr;
  index step_of_rows_ = 0, row_step_ = 0, pack_step_ = 0;
};

}  // namespace narrow::kernel

NARROW_STRICT_END
