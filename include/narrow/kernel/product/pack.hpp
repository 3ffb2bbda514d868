// Matrices as panels of words, in the order in which kernels read them, and whether they can be packed.
#pragma once

#include <cstring>

#include "../../matrix_view.hpp"
#include "../../runtime/scratch.hpp"
#include "../convert/decode.hpp"
#include "packed_type.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Whether all elements of a matrix lie side by side.
template <class T> constexpr bool is_dense(const matrix_view<T>& m) {
  return (m.row_stride == 1 && m.col_stride == m.rows) || (m.col_stride == 1 && m.row_stride == m.cols);
}

/// The codes of such numbers: as bf16 subnormals, which multipliers take for zeros; as two bf16 what is not
/// finite.
template <packed_type P, class T> constexpr code_range fallback_codes() {
  if constexpr (P == packed_type::bf16 && coded_as_bf16<T>) {
    return {T::layout::magnitude_mask, 1, T::layout::min_normal - 1};
  } else if constexpr (P == packed_type::two_bf16) {
    constexpr auto finite = T::layout::max_finite, mask = T::layout::magnitude_mask;
    return {mask, finite + 1, mask - finite};
  } else {
    return {};
  }
}

/// Whether one of the n numbers from[i * stride] cannot be multiplied as P.
template <packed_type P, class T> bool needs_fallback(kernel_set t, const T* from, index stride, index n) {
  static constexpr code_range codes = fallback_codes<P, T>();
  if (const auto kernel = t.get<&kernel_table::has_code16>(); kernel && stride == 1)
    return kernel(from, n, codes);
  bool any = false;
  for (index i = 0; i < n; ++i)
    any |= static_cast<std::uint16_t>((from[i * stride].bits() & codes.mask) - codes.first) < codes.count;
  return any;
}
template <packed_type P, class T> bool needs_fallback(kernel_set t, matrix_view<const T> m) {
  if constexpr (fallback_codes<P, T>().count == 0) {
    return false;
  } else {
    if (is_dense(m)) return needs_fallback<P>(t, m.data, 1, m.rows * m.cols);
    if (detail::lies_by_rows(m)) m = m.transposed();
    for (index j = 0; j < m.cols; ++j)
      if (needs_fallback<P>(t, m.col(j).data, m.row_stride, m.rows)) return true;
    return false;
  }
}

template <class T> const unsigned char* bytes_of(const T* data) {
  return reinterpret_cast<const unsigned char*>(data);
}

/// Where the elements of m are when they are decoded to a place, side by side where they were so in m.
template <class T, class Element>
matrix_view<const Element> decoded_at(const matrix_view<const T>& m, const Element* place) {
  const bool down = m.row_stride == 1;
  return {place, m.rows, m.cols, down ? 1 : m.cols, down ? m.rows : 1};
}

/// The elements of m as the multiplier takes them.
template <class T, class Element>
matrix_view<const Element> decoded_to(kernel_set t, matrix_view<const T> m, Element* to) {
  const matrix_view<const Element> result = decoded_at(m, to);
  if (is_dense(m)) {
    decode(t, m.data, 1, to, m.rows * m.cols);
  } else if (m.row_stride == 1) {
    for (index j = 0; j < m.cols; ++j) decode(t, m.col(j).data, 1, to + j * m.rows, m.rows);
  } else {
    for (index i = 0; i < m.rows; ++i) decode(t, m.row(i).data, m.col_stride, to + i * m.cols, m.cols);
  }
  return result;
}

/// What becomes of integers when they are packed: `plus_128` for the multiplier that takes one factor
/// unsigned; the limbs of x = 256 high + low for products that are too large for the accumulator.
enum class limb { whole, plus_128, high, low };

/// A matrix of lines x depth as panels of `width` lines, `panel_words` apart: for each k-pack of the depth, a
/// word of each line. What the last panel and the last k-pack lack is zeros.
template <packed_type P, class T>
void pack_at(kernel_set t, matrix_view<const T> m, index width, index panel_words, limb which, word* to) {
  using element = element_of<P>;
  constexpr index size = sizeof(element);
  if constexpr (is_element<P, T>) {
    using kernels = packing_kernels;
    const auto pack = t.get < &kernel_table::packing, size == 1   ? &kernels::bytes1
                                                      : size == 2 ? &kernels::bytes2
                                                                  : &kernels::bytes4 > ();
    pack({bytes_of(m.data), m.row_stride * size, m.col_stride * size, m.rows, m.rows, m.cols}, width,
         panel_words, which == limb::plus_128 ? 0x8080'8080u : 0u, to);
    if constexpr (P == packed_type::int16)
      if (which == limb::high || which == limb::low) {
        const auto& packing = t.get<&kernel_table::packing>();
        const auto change = which == limb::high ? packing.take_high : packing.take_low;
        const index words = packs_in<P>(m.cols) * width;
        for (index first = 0; first < m.rows; first += width, to += panel_words) change(to, words);
      }
  } else {
    // Decoded on the way, as much at a time as stays in the cache: of all lines where they lie side by side,
    // or else of whole lines.
    constexpr index max_elements = index{1} << 15;
    const auto some = [&](index other_extent, index multiple, index extent) {
      return std::min(std::max<index>(max_elements / other_extent / multiple, 1) * multiple, extent);
    };
    const bool across = m.row_stride == 1;
    const index lines = across ? m.rows : some(m.cols, width, m.rows),
                depth = across ? some(m.rows, k_pack<P>, m.cols) : m.cols;
    const scratch<element> staged(lines * depth);
    for (index first = 0; first < m.rows; first += lines)
      for (index k = 0; k < m.cols; k += depth) {
        const auto part = m.block(first, k, std::min(lines, m.rows - first), std::min(depth, m.cols - k));
        pack_at<P>(t, decoded_to(t, part, staged.data()), width, panel_words, which,
                   to + first / width * panel_words + k / k_pack<P> * width);
      }
  }
}
/// Panels as pack_at makes them, of so many k-packs, which may be more than there are. Each is followed by
/// `right_words` - 1 more, with the halves of its words exchanged.
template <packed_type P, class T>
void pack(kernel_set t, matrix_view<const T> m, index width, index packs, index words, limb which, word* to) {
  const index own = packs_in<P>(m.cols), panel_words = packs * width;
  pack_at<P>(t, m, width, words * panel_words, which, to);
  for (index first = 0; first < m.rows; first += width, to += words * panel_words) {
    std::fill(to + own * width, to + panel_words, word{0});
    if constexpr (right_words < P >> 1)
      if (words > 1)
        t.get<&kernel_table::two_bf16, &two_bf16_kernels::exchange_halves>()(to, to + panel_words,
                                                                             panel_words);
  }
}

/// A matrix of lines x depth with the words of each line side by side, and as many k-packs from one line to
/// the next.
template <packed_type P, class T>
void pack_rows(kernel_set t, matrix_view<const T> m, index packs, word* to) {
  using element = element_of<P>;
  const index own = packs_in<P>(m.cols);
  if (m.col_stride == 1) {
    for (index i = 0; i < m.rows; ++i, to += packs) {
      auto* const bytes = reinterpret_cast<unsigned char*>(to);
      const auto size = static_cast<std::size_t>(m.cols) * sizeof(element);
      if constexpr (is_element<P, T>)
        std::memcpy(bytes, bytes_of(m.row(i).data), size);
      else
        decode(t, m.row(i).data, 1, reinterpret_cast<element*>(to), m.cols);
      std::memset(bytes + size, 0, static_cast<std::size_t>(packs) * sizeof(word) - size);
    }
  } else {
    constexpr index width = 16;
    const scratch<word> panel(own * width);
    for (index first = 0; first < m.rows; first += width, to += packs * width) {
      const index lines = std::min(width, m.rows - first);
      pack_at<P>(t, m.block(first, 0, lines, m.cols), width, 0, limb::whole, panel.data());
      // Lines and k-packs change places.
      t.get<&kernel_table::packing, &packing_kernels::bytes4>()(
          {bytes_of(panel.data()), width * index{sizeof(word)}, sizeof(word), own, own, lines}, packs, 0, 0,
          to);
    }
  }
}

}  // namespace narrow::kernel

NARROW_STRICT_END
