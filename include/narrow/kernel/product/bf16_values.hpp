// Matrices in blocks as matrices of bf16, their scales multiplied in: where the elements have 8 bits and the
// scales are powers of two, that is exact.
#pragma once

#include <bit>

#include "block_view.hpp"
#include "panel_store.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

using value_bf16 = floating<8, 7>;

/// Whether elements have at most the 8 bits of precision that bf16 has.
template <class E> inline constexpr bool fits_bf16 = sizeof(E) == 1;

/// The place of the last bit of an element, as an exponent of two, and how many bits it takes to hold all
/// elements in units of it.
template <class E> constexpr int last_place() {
  if constexpr (narrow_float<E>)
    return E::layout::min_quantum;
  else if constexpr (narrow_fixed<E>)
    return -E::fraction_length;
  else
    return 0;
}
template <class E> constexpr int bits_in_last_places() {
  if constexpr (narrow_float<E>)
    return E::layout::max_exponent + 1 - E::layout::min_quantum;
  else
    return std::bit_width(static_cast<std::uint64_t>(detail::largest_element<E>()));
}

/// What is added to magnitudes for a factor `scale` 2^shift (see scaled_lines); `no_step` if it is no power
/// of two.
inline constexpr std::uint16_t no_step = 0xfffe;
template <class S> std::uint16_t bf16_step(const S& scale, int shift) {
  using single = detail::binary32;
  constexpr int place = value_bf16::layout::mantissa_bits;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(scale));
  const auto step = [shift](int exponent) {
    return static_cast<std::uint16_t>((exponent + shift) * (1 << place));
  };
  if (bits >= single::infinity)
    return (bits & single::magnitude_mask) > single::infinity ? scaled_lines::by_nan : no_step;
  if (bits >= single::min_normal)
    return (bits & single::mantissa_mask) != 0
               ? no_step
               : step(static_cast<int>(bits >> single::mantissa_bits) - single::bias);
  return std::has_single_bit(bits) ? step(single::min_quantum + std::countr_zero(bits)) : no_step;
}

/// The numbers of lines, integers and fixed point in units of their last bit, times powers of two.
template <class E>
void scale_to_bf16(kernel_set t, const E* from, const scaled_lines& s, value_bf16* to,
                   bf16_magnitudes& seen) {
  if (const auto& kernels = t.get<&kernel_table::scale_to_bf16>()) {
    if constexpr (!narrow_float<E>)
      return kernels.integers(from, nullptr, s, to, seen);
    else
      return (has_plain_sign<E> ? kernels.signed_codes : kernels.codes)(from, decoded_bf16<E>.data(), s, to,
                                                                        seen);
  }
  using layout = value_bf16::layout;
  for (index i = 0; i < s.lines; ++i)
    for (index j = 0; j < s.length; ++j) {
      const E x = from[i * s.stride + j];
      const std::uint16_t step =
          s.steps[i * s.steps_stride + (j < s.first_run ? 0 : 1 + (j - s.first_run) / s.run)];
      std::uint16_t code;
      if constexpr (narrow_float<E>)
        code = decoded_bf16<E>[x.bits()];
      else if constexpr (narrow_fixed<E>)
        code = value_bf16(x.bits()).bits();
      else
        code = value_bf16(x).bits();
      auto magnitude = static_cast<std::uint16_t>(code & layout::magnitude_mask);
      if (step == scaled_lines::by_nan) {
        magnitude = layout::quiet_nan;
      } else if (magnitude != 0 && magnitude < layout::infinity) {
        magnitude = static_cast<std::uint16_t>(magnitude + step);
        seen.least = std::min(seen.least, magnitude);
        seen.most = std::max(seen.most, magnitude);
      }
      to[i * s.to_stride + j] = value_bf16::from_bits(
          static_cast<std::uint16_t>((code & layout::sign_mask) | (magnitude & layout::magnitude_mask)));
    }
}

/// What is known of a matrix that was made bf16: the magnitudes in it, if it has the values of what it was
/// made of.
struct bf16_contents {
  bool exact = true;
  bf16_magnitudes seen = {};
};

/// The steps for the blocks that some lines of a matrix are in, those of one line after the other's. False if
/// a scale is no power of two.
template <class E, class S>
bool read_steps(const block_view<E, S>& m, index line, index lines, index runs, std::uint16_t* to) {
  bool exact = true;
  for (index i = line; i < line + lines; ++i) {
    const auto of_line = m.scales.row((m.first_row + i) / m.tile_rows);
    const index first = m.first_col / m.tile_cols;
    for (index r = 0; r < runs; ++r, ++to) {
      *to = bf16_step(of_line(0, first + r), narrow_float<E> ? 0 : last_place<E>());
      exact &= *to != no_step;
    }
  }
  return exact;
}

/// The values of m at `to`, in the order in which the elements lie in memory.
template <class E, class S>
bf16_contents write_bf16(kernel_set t, const block_view<E, S>& m, value_bf16* to) {
  const bool down = m.elements.row_stride == 1;
  const block_view<E, S> v = down ? m.transposed() : m;  // lines of it are lines of memory
  const index lines = v.rows(), length = v.cols();
  bf16_contents result;
  if (lines == 0 || length == 0) return result;
  const index first_run = v.tile_cols - v.first_col % v.tile_cols,
              runs = first_run >= length ? 1 : 1 + (length - first_run + v.tile_cols - 1) / v.tile_cols,
              near = std::max<index>(near_bytes / (length * index{sizeof(value_bf16)}), 1);
  const scratch<std::uint16_t> steps(runs * std::min(near, lines));
  const bool are_side_by_side = v.elements.col_stride == 1;
  const scratch<E> gathered(are_side_by_side ? 0 : near * length);
  for (index i = 0, count; i < lines; i += count) {
    const index alike = v.constant_rows(i);  // lines of one block
    count = alike > 1 ? std::min(alike, near) : std::min(near, lines - i);
    result.exact = read_steps(v, i, alike > 1 ? 1 : count, runs, steps.data());
    if (!result.exact) return result;
    if (!are_side_by_side)
      for (index l = 0; l < count * length; ++l) gathered.data()[l] = v.elements(i + l / length, l % length);
    scale_to_bf16(t, are_side_by_side ? v.elements.row(i).data : gathered.data(),
                  {count, length, are_side_by_side ? v.elements.row_stride : length, length, first_run,
                   v.tile_cols, steps.data(), alike > 1 ? 0 : runs},
                  to + i * length, result.seen);
  }
  return result;
}

/// The values of a matrix in blocks, which a store may keep.
template <class E, class S> class bf16_values {
 public:
  bf16_values(kernel_set t, const block_view<E, S>& m, const panel_store* kept)
      : own_(kept == nullptr ? m.rows() * m.cols() : 0), matrix_(m.elements), place_(own_.data()) {
    if (kept == nullptr) {
      contents_ = write_bf16(t, m, own_.data());
      return;
    }
    // What is known of it stands before the matrix, in a cache line of its own.
    constexpr index head = static_cast<index>(cache_line) / index{sizeof(word)};
    const auto& v = m.elements.row_stride == 1 ? m.elements.transposed() : m.elements;
    const word* const words = kept->get(
        {t, v.data, v.rows, v.cols, v.row_stride, v.col_stride, packed_type::bf16, panel_order::values},
        head + (m.rows() * m.cols() + 1) / 2, [&](word* to) {
          const bf16_contents made = write_bf16(t, m, reinterpret_cast<value_bf16*>(to + head));
          to[0] = made.exact ? 1 : 0;
          to[1] = made.seen.least;
          to[2] = made.seen.most;
        });
    contents_ = {words[0] != 0, {static_cast<std::uint16_t>(words[1]), static_cast<std::uint16_t>(words[2])}};
    place_ = reinterpret_cast<const value_bf16*>(words + head);
  }

  const bf16_contents& contents() const { return contents_; }
  matrix_view<const value_bf16> view() const { return decoded_at(matrix_, place_); }

 private:
  scratch<value_bf16> own_;
  matrix_view<const E> matrix_;
  const value_bf16* place_;
  bf16_contents contents_;
};

/// Whether sums of `depth` products are what they are in float: no term and no partial sum of them leaves the
/// range of the normal floats, but for zeros.
inline bool stay_normal(const bf16_magnitudes& a, const bf16_magnitudes& b, index depth) {
  using layout = value_bf16::layout;
  const auto is_normal = [](const bf16_magnitudes& x) {
    return x.most == 0 || (x.least >= layout::min_normal && x.most <= layout::max_finite);
  };
  if (a.most == 0 || b.most == 0) return is_normal(a) && is_normal(b);  // what is no number makes no zero
  const auto exponent = [](std::uint16_t code) { return (code >> layout::mantissa_bits) - layout::bias; };
  const int last = exponent(a.least) + exponent(b.least) - 2 * layout::mantissa_bits,
            first = exponent(a.most) + exponent(b.most) + 2 +
                    static_cast<int>(std::bit_width(static_cast<std::uint64_t>(depth)));
  return is_normal(a) && is_normal(b) && last >= layout::min_exponent && first <= layout::max_exponent;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
