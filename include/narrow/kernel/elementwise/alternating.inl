// Numbers of 8 and 16 bits in two vectors, one of the first and one of the second number of every two: what a
// shift or a mask takes out of words and puts together again, with no shuffle. So a program is evaluated
// whose numbers all lie like that, where each result depends on those of its own place. Included by
// program.inl. No include guard, on purpose.

/// The first or the second number, Place is 0 or 1, of as many twos as a vector has lanes of 32 bits.
template <int Place> struct one_of_twos {};
template <int Place> inline constexpr bool has_spare_lanes<one_of_twos<Place>> = false;

template <class T>
inline constexpr bool is_read_in_twos = coded_as_bf16<T> || (decodes_by_fp16 && has_fields_of_fp16<T>);
template <class T> inline constexpr bool is_stored_in_twos = false;
template <narrow_float T>
inline constexpr bool is_stored_in_twos<T> = sizeof(T) == 1 || lane_codes<T>::in_upper_half;

/// Whether all numbers of a part of a program are read so.
template <class Part> inline constexpr bool reads_twos = false;
template <class T> inline constexpr bool reads_twos<lane_numbers<T>> = is_read_in_twos<T>;
template <> inline constexpr bool reads_twos<lane_constant> = true;
template <class Op, class A> inline constexpr bool reads_twos<lane_unary<Op, A>> = reads_twos<A>;
template <class Op, class A, class B>
inline constexpr bool reads_twos<lane_binary<Op, A, B>> = reads_twos<A>&& reads_twos<B>;
template <class C, class A, class B>
inline constexpr bool reads_twos<lane_choice<C, A, B>> = reads_twos<C>&& reads_twos<A>&& reads_twos<B>;

/// Whether programs are computed so: those of 512 bits have instructions that move numbers of 16 and 8 bits
/// into lanes of 32 and back.
inline constexpr bool has_quick_twos = vector_bytes < 64 && std::endian::native == std::endian::little;
/// Whether the numbers of a line are computed so and stored as T.
template <class Line, class T>
inline constexpr bool takes_twos = has_quick_twos&& is_stored_in_twos<T>&& reads_twos<Line>;

template <class T, int Place>
[[gnu::always_inline]] inline float_vector at(const lane_numbers<T>& x, index i, one_of_twos<Place>) {
  if constexpr (coded_as_bf16<T>) {
    uint32_vector twos;
    std::memcpy(&twos, x.from + i, sizeof twos);
    return lanes_as<float_vector>(Place == 0 ? twos << 16 : twos & 0xffff'0000u);
  } else {
    half_uint16_vector twos;
    std::memcpy(&twos, x.from + i, sizeof twos);
    return decoded_upper_halves<T>(Place == 0 ? twos << 8 : twos);
  }
}

/// Stores the numbers of so many twos.
template <class T>
[[gnu::always_inline]] inline void store_twos(T* to, float_vector of_first, float_vector of_second) {
  lane_codes<T> first(of_first), second(of_second);
  if (any_nan(of_first, of_second)) [[unlikely]] {
    first.set_nans();
    second.set_nans();
  }
  if constexpr (lane_codes<T>::in_upper_half)
    store_lower<4>(to, first.codes >> 16 | (second.codes & 0xffff'0000u));
  else
    store_lower<2>(to, first.codes | second.codes << 8);
}

/// Whether a part of a program gives numbers that it reads, perhaps with another sign.
template <class T, class Part> inline constexpr bool keeps_numbers = false;
template <class T> inline constexpr bool keeps_numbers<T, lane_numbers<T>> = lane_codes<T>::in_upper_half;
template <class T> inline constexpr bool keeps_numbers<T, lane_constant> = lane_codes<T>::in_upper_half;
template <class T, class A>
inline constexpr bool keeps_numbers<T, lane_unary<lane_negative, A>> = keeps_numbers<T, A>;
template <class T, class A>
inline constexpr bool keeps_numbers<T, lane_unary<lane_absolute, A>> = keeps_numbers<T, A>;
template <class T, class A, class B>
inline constexpr bool keeps_numbers<T, lane_binary<lane_smaller, A, B>> =
    keeps_numbers<T, A>&& keeps_numbers<T, B>;
template <class T, class A, class B>
inline constexpr bool keeps_numbers<T, lane_binary<lane_larger, A, B>> =
    keeps_numbers<T, A>&& keeps_numbers<T, B>;
template <class T, class C, class A, class B>
inline constexpr bool keeps_numbers<T, lane_choice<C, A, B>> = keeps_numbers<T, A>&& keeps_numbers<T, B>;

/// Whether the constants among these are bf16.
template <class Part> inline bool constants_fit(const Part&) { return true; }
inline bool constants_fit(const lane_constant& x) {
  return (std::bit_cast<std::uint32_t>(x.value) & 0xffff) == 0;
}
template <class Op, class A> inline bool constants_fit(const lane_unary<Op, A>& x) {
  return constants_fit(x.a);
}
template <class Op, class A, class B> inline bool constants_fit(const lane_binary<Op, A, B>& x) {
  return constants_fit(x.a) && constants_fit(x.b);
}
template <class C, class A, class B> inline bool constants_fit(const lane_choice<C, A, B>& x) {
  return constants_fit(x.a) && constants_fit(x.b);
}

/// Stores numbers of so many twos that are bf16 already.
template <class T>
[[gnu::always_inline]] inline void store_kept_twos(T* to, float_vector first, float_vector second) {
  if (any_nan(first, second)) [[unlikely]]
    return store_twos(to, first, second);
  store_lower<4>(to, lanes_as<uint32_vector>(first) >> 16 | lanes_as<uint32_vector>(second));
}

/// Stores all whole vectors of twos of a line; how many numbers these are.
template <class Line, class T>
[[gnu::always_inline]] inline index store_line_of_twos(const Line& line, T* to, index length) {
  constexpr index step = 2 * lanes32;
  index i = 0;
  if constexpr (keeps_numbers<T, Line>)
    if (constants_fit(line)) {
      for (; i + step <= length; i += step)
        store_kept_twos(to + i, at(line, i, one_of_twos<0>{}), at(line, i, one_of_twos<1>{}));
      return i;
    }
  for (; i + step <= length; i += step)
    store_twos(to + i, at(line, i, one_of_twos<0>{}), at(line, i, one_of_twos<1>{}));
  return i;
}
