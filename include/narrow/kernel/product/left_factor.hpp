// The left factor of a product of panels: packed, or read where it lies.
#pragma once

#include <optional>

#include "pack.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The rows of a left factor for the inner loop, as many as it takes at a time: in place where they lie so
/// that it can read them there, and close enough for the first-level cache, or else packed in `packs`
/// k-packs.
template <packed_type P> class left_factor {
  using element = element_of<P>;
  using lane = lane_of<P>;

 public:
  template <class A>
  left_factor(kernel_set t, const panel_kernel<lane>& kernel, matrix_view<const A> a, index packs)
      : kernel_(kernel), total_(a.rows) {
    if constexpr (is_element<P, A>) {
      read_or_pack(t, a, packs);
    } else if (constexpr index max_decoded = index{1} << 15; a.rows * a.cols <= max_decoded) {
      decoded_.emplace(a.rows * a.cols);
      read_or_pack(t, decoded_to(t, a, decoded_->data()), packs);
    } else {
      pack_all(t, a, packs);
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
        {data_ + first * step_of_rows_, row_step_, pack_step_, packed_ ? kernel_.rows * step_of_rows_ : 0},
        i - first};
  }

 private:
  template <class A> void read_or_pack(kernel_set t, matrix_view<const A> a, index packs) {
    const auto extent = [](index stride, index count) { return (stride < 0 ? -stride : stride) * count; };
    const bool whole_packs =
        (k_pack<P> == 1 || a.col_stride == 1) && a.cols % (k_pack<P> * kernel_.multiple) == 0;
    if (kernel_.takes_bytes() || !whole_packs || a.rows < kernel_.rows ||
        (extent(a.row_stride, kernel_.rows) + extent(a.col_stride, a.cols)) * index{sizeof(element)} >
            near_bytes)
      return pack_all(t, a, packs);
    data_ = bytes_of(a.data);
    row_step_ = step_of_rows_ = a.row_stride * index{sizeof(element)};
    pack_step_ = a.col_stride * index{sizeof(word)};
  }
  template <class A> void pack_all(kernel_set t, matrix_view<const A> a, index packs) {
    const index rows = kernel_.rows, panels = (a.rows + rows - 1) / rows;
    if (kernel_.order == left_order::rows_along) {
      // Not a power of two, which would be the same places of a cache.
      const index step = packs + kernel_.multiple;
      packed_.emplace(panels * rows * step);
      pack_rows<P>(t, a, step, packed_->data());
      std::fill(packed_->data() + a.rows * step, packed_->data() + panels * rows * step, word{0});
      if (kernel_.takes_bytes())
        for (index i = 0; i < a.rows; ++i) kernel_.split_row(packed_->data() + i * step, packs);
      row_step_ = step_of_rows_ = step * index{sizeof(word)};
      pack_step_ = sizeof(word);
    } else {
      packed_.emplace(panels * rows * packs);
      pack<P>(t, a, rows, packs, 1, limb::whole, packed_->data());
      step_of_rows_ = packs * index{sizeof(word)};
      row_step_ = sizeof(word);
      pack_step_ = rows * index{sizeof(word)};
    }
    data_ = bytes_of(packed_->data());
  }

  const panel_kernel<lane>& kernel_;
  index total_;
  std::optional<scratch<element>> decoded_;
  std::optional<scratch<word>> packed_;
  const unsigned char* data_ = nullptr;
  index step_of_rows_ = 0, row_step_ = 0, pack_step_ = 0;
};

}  // namespace narrow::kernel

NARROW_STRICT_END
