// Choices between numbers of 8 bits that have the format of the result already: of their codes, which are
// neither decoded nor rounded. (Of 16 bits both are done by an instruction, and nothing is gained.) Included
// by program.inl. No include guard, on purpose.

/// As many codes of T as there are lanes.
template <class T> struct code_lanes {
  using code = detail::uint_at_least<8 * sizeof(T)>;
  using type [[gnu::vector_size(lanes32 * sizeof(T))]] = code;
  using signed_type [[gnu::vector_size(lanes32 * sizeof(T))]] = std::make_signed_t<code>;
};
template <class T> using code_vector = typename code_lanes<T>::type;

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
template <class T> inline code_vector<T> codes_at(const lane_numbers<T>& x, index i) {
  code_vector<T> codes;
  std::memcpy(&codes, x.from + i, sizeof codes);
  return codes;
}
template <class T> inline code_vector<T> codes_at(const lane_code<T>& x, index) {
  return code_vector<T>{} + x.value.bits();
}

/// Signalling NaNs become quiet, as where they are decoded.
template <class T> inline code_vector<T> quiet_codes(code_vector<T> codes) {
  using layout = typename T::layout;
  using code = typename code_lanes<T>::code;
  using signed_codes = typename code_lanes<T>::signed_type;
  if constexpr (!layout::has_payload) return codes;
  constexpr code quiet = code{1} << (layout::mantissa_bits - 1);
  const auto magnitude = lanes_as<signed_codes>(codes & code{layout::magnitude_mask});
  const auto is_nan = magnitude > static_cast<std::make_signed_t<code>>(layout::max_finite + 1);
  return codes | (lanes_as<code_vector<T>>(is_nan) & quiet);
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
  const auto chosen = [&](index i) __attribute__((always_inline)) {
    const auto holds = lanes_as<code_vector<T>>(
        __builtin_convertvector(at(line.condition, i, all_lanes{}), typename code_lanes<T>::signed_type));
    return quiet_codes<T>((codes_at(a, i) & holds) | (codes_at(b, i) & ~holds));
  };
  const bool ends_whole = end != length;
  index i = 0;
  code_vector<T> last = {};
  if (ends_whole) last = chosen(end);
  for (; i + lanes32 <= length; i += lanes32) {
    const code_vector<T> codes = chosen(i);
    std::memcpy(static_cast<void*>(to + i), &codes, sizeof codes);
  }
  if (ends_whole)
    std::memcpy(static_cast<void*>(to + end), &last, sizeof last);
  else if (i != length)
    store_numbers<T>(to + i, at(line, i, rest_of(length)), rest_of(length));
}
