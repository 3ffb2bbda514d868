// Operands of a product as panels of words, decoded to what the multiplier takes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "../../accumulator.hpp"
#include "../../matrix_view.hpp"
#include "../../runtime/environment.hpp"
#include "../../runtime/scratch.hpp"
#include "../../simd/dispatch.hpp"
#include "../convert/encoding.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// What a word holds: a float, the two bf16 that a number is the sum of, two bf16, two int16, four int8.
enum class content { none, fp32, two_bf16, bf16, int16, int8 };

/// The second kernel if there is one, and it is worth it for so many groups.
template <class Kernel> const Kernel& deeper(const Kernel& usual, const Kernel& deep, index groups) {
  return deep && groups >= deep.multiple ? deep : usual;
}

/// The kernels of panels: `usual`, and `deep` ones for sums of at least `fewest` words. Of lines: `dot`.
template <content> struct words_of;
template <> struct words_of<content::fp32> {
  using element = float;
  using lane = float;
  static constexpr auto usual = &kernel_table::fp32;
  static constexpr auto dot = &kernel_table::dot_fp32;
};
template <> struct words_of<content::two_bf16> {
  using element = word;
  using lane = float;
  static constexpr auto deep = &kernel_table::deep_two_bf16;
  // From then on a product is rounded no more often than there are terms: 16 times among those of a tile, and
  // twice for each 16 terms.
  static constexpr index fewest = 32;
};
template <> struct words_of<content::bf16> {
  using element = std::uint16_t;
  using lane = float;
  static constexpr auto usual = &kernel_table::bf16, deep = &kernel_table::deep_bf16;
  static constexpr index fewest = 0;
  static constexpr auto dot = &kernel_table::dot_bf16;
};
template <> struct words_of<content::int16> {
  using element = std::int16_t;
  using lane = std::int32_t;
  static constexpr auto usual = &kernel_table::int16, deep = &kernel_table::deep_int16;
  static constexpr index fewest = 0;
  static constexpr auto dot = &kernel_table::dot_int16;
};
template <> struct words_of<content::int8> {
  using element = std::int8_t;
  using lane = std::int32_t;
  static constexpr auto usual = &kernel_table::int8, deep = &kernel_table::deep_int8;
  static constexpr index fewest = 0;
  static constexpr auto dot = &kernel_table::dot_int8;
};

/// The kernel for sums of so many words; null if there is none.
template <content Content>
const panel_kernel<typename words_of<Content>::lane>& panel_kernel_for(kernel_set t, index groups) {
  using words = words_of<Content>;
  if constexpr (requires { words::deep; }) {
    const auto& deep = t.get<words::deep>();
    if (deep && groups >= std::max(words::fewest, deep.multiple)) return deep;
  }
  if constexpr (requires { words::usual; }) {
    return t.get<words::usual>();
  } else {
    static constexpr panel_kernel<typename words::lane> none;
    return none;
  }
}

template <content Content>
inline constexpr index group_size = sizeof(word) / sizeof(typename words_of<Content>::element);

/// How many words of a right factor there are for each of the left one: of two bf16 every one is multiplied
/// by both.
template <content Content> inline constexpr index right_words = Content == content::two_bf16 ? 2 : 1;

/// Whether a result is large enough for what it takes to pack the factors; the same for its transpose, whose
/// bits are to be the same.
template <content Content> constexpr bool repays(index rows, index cols) {
  return Content != content::two_bf16 || (std::min(rows, cols) >= 32 && rows * cols >= index{64} * 64);
}

/// The words that so many elements fill, the last one perhaps in part.
template <content Content> constexpr index groups_in(index depth) {
  return (depth + group_size<Content> - 1) / group_size<Content>;
}

/// The narrowest content that holds every T.
template <class T> constexpr content narrowest() {
  if constexpr (narrow_fixed<T> || std::signed_integral<T>)
    return sizeof(T) == 1 ? content::int8 : sizeof(T) == 2 ? content::int16 : content::none;
  else if constexpr (coded_as_bf16<T> || (narrow_float<T> && sizeof(T) == 1))
    return content::bf16;
  else
    return std::same_as<detail::carried_t<T>, float> ? content::fp32 : content::none;
}

/// What sums of type Sum of products of A and B are best multiplied as.
template <class Sum, class A, class B> constexpr content best_content() {
  constexpr content a = narrowest<A>(), b = narrowest<B>();
  if constexpr (std::same_as<Sum, float>)
    return a == content::bf16 && b == content::bf16 ? content::bf16 : content::fp32;
  else if constexpr (std::floating_point<Sum> || a == content::none || b == content::none)
    return content::none;
  else
    return a == content::int8 && b == content::int8 ? content::int8 : content::int16;
}

/// Formats with coders whose upper bit is the sign of every number, zeros too.
template <class T> inline constexpr bool has_plain_sign = false;
template <class T>
requires has_coder<T>
inline constexpr bool has_plain_sign<T> = T::layout::has_negative_zero;

/// Whether a finite T is the sum of two bf16, and no product of such is below 2^-126.
template <class T> constexpr bool splits_in_bf16() {
  if constexpr (!has_plain_sign<T> || sizeof(T) != 2)
    return false;
  else
    return T::layout::mantissa_bits < 16 && 2 * T::layout::min_quantum >= -126;
}
/// The same for products from panels.
template <class Sum, class A, class B> constexpr content best_panel_content() {
  constexpr content best = best_content<Sum, A, B>();
  return best == content::fp32 && splits_in_bf16<A>() && splits_in_bf16<B>() ? content::two_bf16 : best;
}

/// use.operator()<Content>() until it returns true, for the best content and for those that hold it.
template <content Content, class Use> bool with_content(const Use& use) {
  if constexpr (Content == content::none)
    return false;
  else if (use.template operator()<Content>())
    return true;
  else
    return with_content < Content == content::bf16 || Content == content::two_bf16 ? content::fp32
           : Content == content::int8                                              ? content::int16
                                                                                   : content::none > (use);
}

/// Values of all codes of an 8-bit format.
template <class T>
inline constexpr auto decoded = [] {
  std::array<float, 256> values{};
  for (unsigned code = 0; code < values.size(); ++code)
    values[code] = static_cast<float>(T::from_bits(static_cast<typename T::bits_type>(code)));
  return values;
}();
/// The same in bf16, which holds them exactly.
template <class T>
inline constexpr auto decoded_bf16 = [] {
  std::array<std::uint16_t, 256> values{};
  for (unsigned code = 0; code < values.size(); ++code)
    values[code] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(decoded<T>[code]) >> 16);
  return values;
}();

// to[i] = from[i * stride] as an element.

template <class T> void decode(kernel_set t, const T* from, index stride, float* to, index n) {
  if constexpr (has_coder<T>)
    if (stride != 1) {
      constexpr index longest = 256;
      T piece[longest];
      for (index first = 0, count; first < n; first += count) {
        count = std::min(longest, n - first);
        for (index i = 0; i < count; ++i) piece[i] = from[(first + i) * stride];
        decode(t, piece, 1, to + first, count);
      }
      return;
    }
  if constexpr (coded_as_fp16<T>) {
    if (const auto kernel = t.get<&kernel_table::fp16_to_float>()) return kernel(from, to, n);
  } else if constexpr (has_plain_sign<T>) {
    if (const auto kernel = t.get<coder<T>, &code_kernels::decode>()) {
      static constexpr decoding d = decoding_of<T>();
      return kernel(from, to, n, d);
    }
  }
  for (index i = 0; i < n; ++i) {
    if constexpr (coded_as_bf16<T>) {
      const std::uint32_t bits = std::uint32_t{from[i * stride].bits()} << 16;
      const bool nan = (bits & detail::binary32::magnitude_mask) > detail::binary32::infinity;
      to[i] = std::bit_cast<float>(bits | (nan ? detail::binary32::quiet_bit : 0));
    } else if constexpr (narrow_float<T> && sizeof(T) == 1)
      to[i] = decoded<T>[from[i * stride].bits()];
    else
      to[i] = static_cast<float>(from[i * stride]);
  }
}

template <narrow_float T> void decode(kernel_set t, const T* from, index stride, std::uint16_t* to, index n) {
  if constexpr (sizeof(T) == 1 && has_plain_sign<T>)
    if (t.get<&kernel_table::look_up8>() && stride == 1)
      return t.get<&kernel_table::look_up8>()(from, to, n, decoded_bf16<T>.data());
  for (index i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 1)
      to[i] = decoded_bf16<T>[from[i * stride].bits()];
    else
      to[i] = from[i * stride].bits();
  }
}

template <narrow_float T> void decode(kernel_set t, const T* from, index stride, word* to, index n) {
  constexpr index longest = 256;
  float piece[longest];
  for (index first = 0, count; first < n; first += count) {
    count = std::min(longest, n - first);
    decode(t, from + first * stride, stride, piece, count);
    t.get<&kernel_table::split>()(piece, to + first, count);
  }
}

template <class T, std::signed_integral Element>
void decode(kernel_set, const T* from, index stride, Element* to, index n) {
  for (index i = 0; i < n; ++i) {
    if constexpr (narrow_fixed<T>)
      to[i] = from[i * stride].bits();
    else
      to[i] = from[i * stride];
  }
}

/// Whether all elements lie side by side.
template <class T> constexpr bool is_dense(const matrix_view<T>& m) {
  return (m.row_stride == 1 && m.col_stride == m.rows) || (m.col_stride == 1 && m.row_stride == m.cols);
}

/// The codes of numbers which the multiplier takes for others, or cannot be given: of bf16 subnormals, which
/// it takes for zeros, where two bf16 are a number what is not finite.
template <content Content, class T> constexpr code_range unfit_codes() {
  if constexpr (Content == content::bf16 && coded_as_bf16<T>) {
    return {T::layout::magnitude_mask, 1, T::layout::min_normal - 1};
  } else if constexpr (Content == content::two_bf16) {
    constexpr auto finite = T::layout::max_finite, mask = T::layout::magnitude_mask;
    return {mask, finite + 1, mask - finite};
  } else {
    return {};
  }
}
template <content Content, class T> bool has_unfit(kernel_set t, const T* from, index stride, index n) {
  static constexpr code_range unfit = unfit_codes<Content, T>();
  if constexpr (unfit.count == 0) {
    return false;
  } else if (stride == 1 && t.get<&kernel_table::has_code16>()) {
    return t.get<&kernel_table::has_code16>()(from, n, unfit);
  } else {
    bool any = false;
    for (index i = 0; i < n; ++i)
      any |= static_cast<std::uint16_t>((from[i * stride].bits() & unfit.mask) - unfit.first) < unfit.count;
    return any;
  }
}
template <content Content, class T> bool has_unfit(kernel_set t, matrix_view<const T> m) {
  if (is_dense(m)) return has_unfit<Content>(t, m.data, 1, m.rows * m.cols);
  if (detail::lies_by_rows(m)) m = m.transposed();
  for (index j = 0; j < m.cols; ++j)
    if (has_unfit<Content>(t, m.col(j).data, m.row_stride, m.rows)) return true;
  return false;
}

/// Whether an element of T is in memory what the multiplier takes.
template <content Content, class T>
inline constexpr bool is_element = sizeof(T) == sizeof(typename words_of<Content>::element) &&
                                   (std::same_as<T, typename words_of<Content>::element> ||
                                    (narrow_fixed<T> && Content != content::fp32) ||
                                    (coded_as_bf16<T> && Content == content::bf16));

template <class T> const unsigned char* bytes_of(const T* data) {
  return reinterpret_cast<const unsigned char*>(data);
}

/// The elements of m as the multiplier takes them, side by side in memory where they were so in m.
template <class T, class Element>
matrix_view<const Element> decoded_to(kernel_set t, matrix_view<const T> m, Element* to) {
  const bool down = m.row_stride == 1;
  const matrix_view<const Element> result{to, m.rows, m.cols, down ? 1 : m.cols, down ? m.rows : 1};
  if (is_dense(m)) {
    decode(t, m.data, 1, to, m.rows * m.cols);
  } else if (down) {
    for (index j = 0; j < m.cols; ++j) decode(t, m.col(j).data, 1, to + j * m.rows, m.rows);
  } else {
    for (index i = 0; i < m.rows; ++i) decode(t, m.row(i).data, m.col_stride, to + i * m.cols, m.cols);
  }
  return result;
}

/// What becomes of integers on their way: for the multiplier that takes one factor unsigned, and for products
/// too wide for the accumulator, x = 256 high + low.
enum class plane { whole, plus_128, high, low };

/// A matrix of lines x depth as panels of `width` lines, `panel_words` apart: for each group of the depth, a
/// word of each line. What the last panel and the last group lack is zeros.
template <content Content, class T>
void pack_at(kernel_set t, matrix_view<const T> m, index width, index panel_words, plane which, word* to) {
  using element = typename words_of<Content>::element;
  constexpr index size = sizeof(element), group = group_size<Content>;
  if constexpr (is_element<Content, T>) {
    constexpr auto member = size == 1   ? &kernel_table::pack1
                            : size == 2 ? &kernel_table::pack2
                                        : &kernel_table::pack4;
    const auto kernel = t.get<member>();
    const index words = groups_in<Content>(m.cols) * width;
    for (index first = 0; first < m.rows; first += width, to += panel_words) {
      kernel({bytes_of(m.row(first).data), m.row_stride * size, m.col_stride * size,
              std::min(width, m.rows - first), m.rows - first, m.cols},
             width, which == plane::plus_128 ? 0x8080'8080u : 0u, to);
      if constexpr (Content == content::int16) {
        if (which == plane::high) t.get<&kernel_table::take_high>()(to, words);
        if (which == plane::low) t.get<&kernel_table::take_low>()(to, words);
      }
    }
  } else {
    // Decoded on the way, as much at a time as stays in the cache: of all lines where they lie side by side,
    // or else of whole lines.
    constexpr index most = index{1} << 15;
    const bool across = m.row_stride == 1;
    const index lines = across ? m.rows : std::min(std::max<index>(most / m.cols / width, 1) * width, m.rows),
                depth = across ? std::min(std::max<index>(most / m.rows / group, 1) * group, m.cols) : m.cols;
    const scratch<element> staged(lines * depth);
    for (index first = 0; first < m.rows; first += lines)
      for (index k = 0; k < m.cols; k += depth)
        pack_at<Content>(
            t,
            decoded_to(t, m.block(first, k, std::min(lines, m.rows - first), std::min(depth, m.cols - k)),
                       staged.data()),
            width, panel_words, which, to + first / width * panel_words + k / group * width);
  }
}
/// The same for a depth of so many groups, which may be more than there are, each panel followed by one with
/// the halves of its words exchanged where `more` is 1.
template <content Content, class T>
void pack(kernel_set t, matrix_view<const T> m, index width, index groups, index more, plane which,
          word* to) {
  const index own = groups_in<Content>(m.cols), panel_words = groups * width;
  pack_at<Content>(t, m, width, (1 + more) * panel_words, which, to);
  for (index first = 0; first < m.rows; first += width, to += (1 + more) * panel_words) {
    std::fill(to + own * width, to + panel_words, word{0});
    if (more > 0) t.get<&kernel_table::exchange_halves>()(to, to + panel_words, panel_words);
  }
}

/// A matrix of lines x depth with the words of each line side by side, as many groups from one line to the
/// next.
template <content Content, class T>
void pack_rows(kernel_set t, matrix_view<const T> m, index groups, word* to) {
  using element = typename words_of<Content>::element;
  const index own = groups_in<Content>(m.cols);
  if (m.col_stride == 1) {
    for (index i = 0; i < m.rows; ++i, to += groups) {
      auto* const bytes = reinterpret_cast<unsigned char*>(to);
      const auto size = static_cast<std::size_t>(m.cols) * sizeof(element);
      if constexpr (is_element<Content, T>)
        std::memcpy(bytes, bytes_of(m.row(i).data), size);
      else
        decode(t, m.row(i).data, 1, reinterpret_cast<element*>(to), m.cols);
      std::memset(bytes + size, 0, static_cast<std::size_t>(groups) * sizeof(word) - size);
    }
  } else {
    constexpr index width = 16;
    const scratch<word> panel(own * width);
    for (index first = 0; first < m.rows; first += width, to += groups * width) {
      const index lines = std::min(width, m.rows - first);
      pack_at<Content>(t, m.block(first, 0, lines, m.cols), width, 0, plane::whole, panel.data());
      // Lines and groups change places.
      t.get<&kernel_table::pack4>()(
          {bytes_of(panel.data()), width * index{sizeof(word)}, sizeof(word), own, own, lines}, groups, 0,
          to);
    }
  }
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
