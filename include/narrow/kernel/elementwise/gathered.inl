// Vectors of numbers that are a step apart; included by floats.inl. No include guard, on purpose.
//
// A vector is made of them in registers: from memory a processor could not read it as long as parts of it are
// on their way there.

/// A number's code, or a float.
template <class T>
using code_in_lane = std::conditional_t<narrow_scalar<T>, detail::uint_at_least<8 * sizeof(T)>, T>;

/// The codes of as many numbers as there are lanes.
template <class T, int... L>
inline auto gathered(const T* from, index step, std::integer_sequence<int, L...>) {
  using codes [[gnu::vector_size(lanes32 * sizeof(T))]] = code_in_lane<T>;
  return codes{std::bit_cast<code_in_lane<T>>(from[L * step])...};
}
/// A word moved up by so many codes, at most as many as it has room for, which take its lower bits.
template <class T>
inline std::uint64_t gathered_word(const T* from, index step, index count, std::uint64_t word) {
  using code = detail::uint_at_least<8 * sizeof(T)>;
  while (--count >= 0) word = word << (8 * sizeof(T)) | std::bit_cast<code>(from[count * step]);
  return word;
}
/// Of fewer numbers than there are lanes, and after them codes of `spare`. They are put together in words,
/// not in vectors, since g++ keeps single codes of 16 bits in memory and reads 32 from there.
template <int Size, class T>
inline typename words_of<Size>::type gathered_words(const T* from, index step, index count,
                                                    std::uint64_t spare) {
  constexpr index half = Size / 2 / sizeof(T);
  const index first = std::min(half, count), rest = count - first;
  const T* const after = rest > 0 ? from + half * step : from;
  if constexpr (Size == 16)
    return typename words_of<16>::type{gathered_word(from, step, first, spare),
                                       gathered_word(after, step, rest, spare)};
  else
    return joined(gathered_words<Size / 2>(from, step, first, spare),
                  gathered_words<Size / 2>(after, step, rest, spare),
                  std::make_integer_sequence<int, Size / 8>{});
}
/// Of so many numbers, and after them of the first one again, as the first bytes of a vector.
template <class T> inline auto gathered(const T* from, index step, first_lanes lanes) {
  using code = detail::uint_at_least<8 * sizeof(T)>;
  constexpr int size = lanes32 * sizeof(T);
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  const std::uint64_t spare = ones / static_cast<code>(ones) * std::bit_cast<code>(from[0]);
  if constexpr (size <= 8)
    return gathered_word(from, step, lanes.count, spare);
  else
    return gathered_words<size>(from, step, lanes.count, spare);
}
/// The same of as many as there are lanes, by a pointer for every four: g++ would keep one for each of them.
template <class T, int... L, int... Fours>
[[gnu::always_inline]] inline auto gathered(const T* from, index step, std::integer_sequence<int, L...>,
                                            std::integer_sequence<int, Fours...>) {
  using codes [[gnu::vector_size(lanes32 * sizeof(T))]] = code_in_lane<T>;
  const T* const four[] = {in_register(from + 4 * Fours * step)...};
  const index three = in_register(3 * step);
  const auto at = [&](int lane) {
    const T* const first = four[lane / 4];
    return first[lane % 4 == 3 ? three : lane % 4 * step];
  };
  return codes{std::bit_cast<code_in_lane<T>>(at(L))...};
}
