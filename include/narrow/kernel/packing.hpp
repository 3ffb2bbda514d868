// Operands of a product as panels of words, decoded to what the multiplier takes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>

#include "accumulator.hpp"
#include "codes.hpp"
#include "environment.hpp"
#include "matrix_view.hpp"
#include "table.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

/// What a word holds.
enum class content { none, fp32, bf16, int16, int8 };

template <content> struct words_of;
template <> struct words_of<content::fp32> {
  using element = float;
  using lane = float;
  static const auto& kernel(const kernel_table& t) { return t.fp32; }
  static auto dot(const kernel_table& t) { return t.dot_fp32; }
};
template <> struct words_of<content::bf16> {
  using element = std::uint16_t;
  using lane = float;
  static const auto& kernel(const kernel_table& t) { return t.bf16; }
  static auto dot(const kernel_table& t) { return t.dot_bf16; }
};
template <> struct words_of<content::int16> {
  using element = std::int16_t;
  using lane = std::int32_t;
  static const auto& kernel(const kernel_table& t) { return t.int16; }
  static auto dot(const kernel_table& t) { return t.dot_int16; }
};
template <> struct words_of<content::int8> {
  using element = std::int8_t;
  using lane = std::int32_t;
  static const auto& kernel(const kernel_table& t) { return t.int8; }
  static auto dot(const kernel_table& t) { return t.dot_int8; }
};
template <content Content>
inline constexpr index group_size = sizeof(word) / sizeof(typename words_of<Content>::element);

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

/// use.operator()<Content>() until it returns true, for the best content and for those that hold it.
template <content Content, class Use> bool with_content(const Use& use) {
  if constexpr (Content == content::none)
    return false;
  else if (use.template operator()<Content>())
    return true;
  else
    return with_content < Content == content::bf16 ? content::fp32
           : Content == content::int8              ? content::int16
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

template <class T> void decode(const kernel_table& t, const T* from, index stride, float* to, index n) {
  if constexpr (coded_as_fp16<T>)
    if (stride == 1 && t.fp16_to_float) return t.fp16_to_float(from, to, n);
  if constexpr (narrow_float<T> && sizeof(T) <= 2)
    if constexpr (T::layout::has_negative_zero)  // else its code is NaN
      if (const auto kernel = sizeof(T) == 1 ? t.decode8 : t.decode16; kernel && stride == 1) {
        static constexpr decoding d = decoding_of<T>();
        return kernel(from, to, n, d);
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

template <narrow_float T>
void decode(const kernel_table&, const T* from, index stride, std::uint16_t* to, index n) {
  for (index i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 1)
      to[i] = decoded_bf16<T>[from[i * stride].bits()];
    else
      to[i] = from[i * stride].bits();
  }
}

template <class T, std::signed_integral Element>
void decode(const kernel_table&, const T* from, index stride, Element* to, index n) {
  for (index i = 0; i < n; ++i) {
    if constexpr (narrow_fixed<T>)
      to[i] = from[i * stride].bits();
    else
      to[i] = from[i * stride];
  }
}

/// Whether there are numbers which the multiplier of bf16 takes for zeros.
template <class T> bool has_subnormal_bf16(const kernel_table& t, const T* from, index stride, index n) {
  if constexpr (!coded_as_bf16<T>) {
    return false;  // all numbers of fewer bits are normal ones of bf16
  } else if (stride == 1 && t.has_subnormal_bf16) {
    return t.has_subnormal_bf16(from, n);
  } else {
    bool any = false;
    for (index i = 0; i < n; ++i) {
      const unsigned magnitude = from[i * stride].bits() & T::layout::magnitude_mask;
      any |= magnitude != 0 && magnitude < T::layout::min_normal;
    }
    return any;
  }
}
template <class T> bool has_subnormal_bf16(const kernel_table& t, matrix_view<const T> m) {
  if (detail::lies_by_rows(m)) m = m.transposed();
  for (index j = 0; j < m.cols; ++j)
    if (has_subnormal_bf16(t, m.col(j).data, m.row_stride, m.rows)) return true;
  return false;
}

/// What becomes of integers on their way: for the multiplier that takes one factor unsigned, and for products
/// too wide for the accumulator, x = 256 high + low.
enum class plane { whole, plus_128, high, low };

template <std::signed_integral Element> void take(plane which, Element* x, index n) {
  const auto change = [=](auto f) {
    for (index i = 0; i < n; ++i) x[i] = static_cast<Element>(f(int{x[i]}));
  };
  if (which == plane::plus_128)
    change([](int e) { return e ^ 0x80; });
  else if (which == plane::high)
    change([](int e) { return (e + 128) >> 8; });
  else if (which == plane::low)
    change([](int e) { return ((e + 128) & 0xff) - 128; });
}
template <class Element> void take(plane, Element*, index) {}

/// Memory for words, aligned to cache lines.
class word_buffer {
 public:
  explicit word_buffer(index n)
      : words_(static_cast<word*>(::operator new(static_cast<std::size_t>(n) * sizeof(word), alignment))) {}
  ~word_buffer() { ::operator delete(words_, alignment); }
  word_buffer(const word_buffer&) = delete;
  word_buffer& operator=(const word_buffer&) = delete;
  word* data() { return words_; }

 private:
  static constexpr std::align_val_t alignment{64};
  word* words_;
};

inline constexpr index max_panel_lines = 32;

/// A matrix of lines x depth as panels of `width` lines: for each group of the depth, a word of each line.
/// What the last panel and the last group lack is zeros.
template <content Content, class T>
void pack(const kernel_table& t, matrix_view<const T> m, index width, plane which, word* to) {
  using element = typename words_of<Content>::element;
  constexpr index group = group_size<Content>, chunk = 64;
  const index groups = (m.cols + group - 1) / group;
  for (index first = 0; first < m.rows; first += width, to += width * groups) {
    const index lines = std::min(width, m.rows - first);
    if (lines < width) std::fill(to, to + width * groups, word{0});
    if (m.row_stride == 1) {
      element rows[group][max_panel_lines] = {};
      for (index p = 0; p < groups; ++p) {
        for (index q = 0; q < group; ++q) {
          if (p * group + q < m.cols) {
            decode(t, &m(first, p * group + q), 1, rows[q], lines);
            take(which, rows[q], lines);
          } else {
            std::fill(rows[q], rows[q] + lines, element{});
          }
        }
        word* const packed = to + p * width;
        for (index l = 0; l < lines; ++l) {
          element neighbours[group];
          for (index q = 0; q < group; ++q) neighbours[q] = rows[q][l];
          std::memcpy(packed + l, neighbours, sizeof(word));
        }
      }
    } else {
      for (index p = 0; p < groups; p += chunk)
        for (index l = 0; l < lines; ++l) {
          element line[chunk * group];
          const index n = std::min(chunk * group, m.cols - p * group), whole = (n + group - 1) / group;
          decode(t, &m(first + l, p * group), m.col_stride, line, n);
          take(which, line, n);
          std::fill(line + n, line + whole * group, element{});
          word* const packed = to + p * width + l;
          for (index q = 0; q < whole; ++q) std::memcpy(packed + q * width, line + q * group, sizeof(word));
        }
    }
  }
}

}  // namespace narrow::kernel

NARROW_STRICT_END
