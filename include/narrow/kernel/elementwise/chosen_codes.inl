// Choices between numbers of 8 bits that have the format of the result already: of their codes, which are
// neither decoded nor rounded. (Of 16 bits both are done by an instruction, and nothing is gained.) Included
// by program.inl. No include guard, on purpose.

/// Codes of T in so many bytes.
template <class T, int Bytes> struct code_lanes {
  using code = detail::uint_at_least<8 * sizeof(T)>;
  using type [[gnu::vector_size(Bytes)]] = code;
  using signed_type [[gnu::vector_size(Bytes)]] = std::make_signed_t<code>;
};
template <class T, int Bytes> using code_vector = typename code_lanes<T, Bytes>::type;

/// A number as a code of T.
template <class T> struct lane_code { T value; };

/// What can be chosen: numbers of T, and constants, which are rounded once for all lanes.
template <class T, class Part> inline constexpr bool has_codes = false;
template <class T> inline constexpr bool has_codes<T, lane_numbers<T>> = true;
template <class T> inline constexpr bool has_codes<T, lane_constant> = true;

template <class T> lane_numbers<T> as_codes(const lane_numbers<T>& x) { return x; }
template <class T> lane_code<T> as_codes(const lane_constant& x) {
  T code;
  const float_vector all = x.value - float_vector{};
  store_numbers<T>(&code, all, so_many_lanes<1>{});
  return {code};
}
template <class Codes, class T> inline Codes codes_at(const lane_numbers<T>& x, index i) {
  Codes codes;
  std::memcpy(&codes, x.from + i, sizeof codes);
  return codes;
}
template <class Codes, class T> inline Codes codes_at(const lane_code<T>& x, index) {
  return Codes{} + x.value.bits();
}

/// Signalling NaNs become quiet, as where they are decoded.
template <class T, class Codes> inline Codes quiet_codes(Codes codes) {
  using layout = typename T::layout;
  using lanes = code_lanes<T, sizeof(Codes)>;
  using code = typename lanes::code;
  if constexpr (!layout::has_payload) return codes;
  constexpr code quiet = code{1} << (layout::mantissa_bits - 1);
  const auto magnitude = lanes_as<typename lanes::signed_type>(codes & code{layout::magnitude_mask});
  const auto is_nan = magnitude > static_cast<std::make_signed_t<code>>(layout::max_finite + 1);
  return codes | (lanes_as<Codes>(is_nan) & quiet);
}

/// Whether the numbers of a line are chosen so.
template <class Line, class T> inline constexpr bool chooses_codes = false;
template <class C, class A, class B, class T>
requires(has_coder<T> && sizeof(T) == 1 && has_codes<T, A> &&
         has_codes<T, B>) inline constexpr bool chooses_codes<lane_choice<C, A, B>, T> = true;

/// As store_line does it.
template <class C, class A, class B, class T, class Length>
[[gnu::always_inline]] inline void store_chosen(const lane_choice<C, A, B>& line, T* to, Length length,
                                                index end) {
  const auto a = as_codes<T>(line.a);
  const auto b = as_codes<T>(line.b);
  const auto choose = [&](index i, auto holds) __attribute__((always_inline)) {
    using codes = decltype(holds);
    return quiet_codes<T>((codes_at<codes>(a, i) & holds) | (codes_at<codes>(b, i) & ~holds));
  };
  const auto chosen = [&](index i) __attribute__((always_inline)) {
    code_vector<T, lanes32> holds;
    store_lower<sizeof(T)>(&holds, at(line.condition, i, all_lanes{}));
    return choose(i, holds);
  };
  const bool ends_whole = end != length;
  index i = 0;
  code_vector<T, lanes32> last = {};
  if (ends_whole) last = chosen(end);
  if constexpr (has_quick_twos && reads_twos<C>)
    for (; i + 2 * lanes32 <= length; i += 2 * lanes32) {
      const int32_vector first = at(line.condition, i, one_of_twos<0>{}),
                         second = at(line.condition, i, one_of_twos<1>{});
      code_vector<T, 2 * lanes32> holds;
      store_lower<2>(&holds, (first & 0xff) | second << 8);
      const auto codes = choose(i, holds);
      std::memcpy(static_cast<void*>(to + i), &codes, sizeof codes);
    }
  for (; i + lanes32 <= length; i += lanes32) {
    const auto codes = chosen(i);
    std::memcpy(static_cast<void*>(to + i), &codes, sizeof codes);
  }
  if (ends_whole)
    std::memcpy(static_cast<void*>(to + end), &last, sizeof last);
  else if (i != length)
    store_numbers<T>(to + i, at(line, i, rest_of(length)), rest_of(length));
}
