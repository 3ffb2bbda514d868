// Numbers of programs of lanes (see program.hpp) and operations on them, in float; included once in the
// namespace of an instruction set by simd/vector_kernels.inl. No include guard, on purpose.

/// Which lanes of a vector are numbers of a line: all, or the first few, where the others are spare.
struct all_lanes {};
struct first_lanes {
  index count;
};
/// The first few, known when the program is compiled.
template <index Count> struct so_many_lanes {
  static constexpr index count = Count;
  operator first_lanes() const { return {Count}; }
};
template <class Lanes> inline int32_vector are_numbers(Lanes lanes) {
  int32_vector place;
  for (int l = 0; l < lanes32; ++l) place[l] = l;
  return place < static_cast<std::int32_t>(lanes.count);
}

/// Whether the codes of T, of 8 bits, are the upper halves of those of fp16.
template <class T> inline constexpr bool is_upper_half_of_fp16 = coded_as<T, 5, 2>;
template <class T> inline float_vector decoded_upper_half_of_fp16(const void* from) {
  using codes [[gnu::vector_size(lanes32)]] = std::uint8_t;
  using halves [[gnu::vector_size(2 * lanes32)]] = std::uint16_t;
  const auto upper = vector_at<codes>(static_cast<const std::uint8_t*>(from));
  const halves code = __builtin_convertvector(upper, halves) << 8;
  return instructions::load_fp16(&code);
}

/// Numbers in memory; signalling NaNs may stay such, which every operation and every store makes quiet.
template <class T> inline float_vector decoded(const void* from) {
  if constexpr (std::same_as<T, float>)
    return vector_at<float_vector>(static_cast<const float*>(from));
  else if constexpr (coded_as_fp16<T>)
    return instructions::load_fp16(from);
  else if constexpr (coded_as_bf16<T>)
    return lanes_as<float_vector>(lanes_as<uint32_vector>(load_lower<sizeof(T)>(from)) << 16);
  else if constexpr (is_upper_half_of_fp16<T>)
    return decoded_upper_half_of_fp16<T>(from);
  else {
    const uint32_vector number = decode_some<typename T::bits_type>(from, decoding_of<T>());
    if constexpr (T::layout::has_negative_zero) return lanes_as<float_vector>(number);
    constexpr float nan =
        static_cast<float>(std::numeric_limits<T>::quiet_NaN());  // whose code is that of -0
    return lanes_as<float_vector>(
        number == ~magnitude_mask ? uint32_vector{} + std::bit_cast<std::uint32_t>(nan) : number);
  }
}

inline bool any_nan(float_vector x) {
#if NARROW_COMPARES_NANS
  return instructions::any_nan(reinterpret_cast<instructions::floats>(x));
#else
  return any_of(lanes_as<int32_vector>(lanes_as<uint32_vector>(x) & magnitude_mask) > nonfinite_bits);
#endif
}

/// The codes of NaNs.
template <class T> inline uint32_vector nan_codes(uint32_vector bits) {
  using layout = typename T::layout;
  if constexpr (!layout::has_nan) return uint32_vector{};
  uint32_vector code = uint32_vector{} + std::uint32_t{layout::quiet_nan};
  if constexpr (layout::has_payload)
    code |= bits >> (detail::binary32::mantissa_bits - layout::mantissa_bits) &
            std::uint32_t{layout::mantissa_mask};
  if constexpr (layout::has_negative_zero) code |= (bits & ~magnitude_mask) >> (32 - layout::width);
  return code;
}

/// The codes of numbers to nearest even.
template <class T> inline uint32_vector encoded(float_vector x) {
  constexpr encoding e = encoding_of<T, typename T::overflow_policy>();
  const auto bits = lanes_as<uint32_vector>(x);
  uint32_vector codes;
  if constexpr (e.is_upper_half)
    codes = upper_half_codes(bits);
  else
    codes = with_signs(nearest_codes(bits, e), bits, e);
  if (any_nan(x)) [[unlikely]]
    codes = lanes_as<int32_vector>(bits & magnitude_mask) > nonfinite_bits ? nan_codes<T>(bits) : codes;
  return codes;
}

template <class T> inline void store_numbers(void* to, float_vector x) {
  if constexpr (std::same_as<T, float>) {
    const auto bits = lanes_as<uint32_vector>(x);
    const int32_vector nan = lanes_as<int32_vector>(bits & magnitude_mask) > nonfinite_bits;
    const uint32_vector quiet = bits | (lanes_as<uint32_vector>(nan) & 0x0040'0000u);
    std::memcpy(to, &quiet, sizeof quiet);
  } else if constexpr (coded_as_fp16<T> && std::same_as<typename T::overflow_policy, overflow::ieee>) {
    instructions::store_fp16(to, reinterpret_cast<instructions::floats>(x));
  } else {
    store_lower<sizeof(T)>(to, encoded<T>(x));
  }
}

template <class T> inline float_vector at(const lane_numbers<T>& x, index i, all_lanes) {
  return decoded<T>(x.from + i);
}
template <class T> inline float_vector at(const lane_numbers<T>& x, index i, first_lanes lanes) {
  detail::uint_at_least<8 * sizeof(T)> some[lanes32];
  read_part(some, x.from + i, lanes.count * index{sizeof(T)});
  return decoded<T>(some);
}
template <class T, index Count>
requires(!narrow_fixed<T>) inline float_vector at(const lane_numbers<T>& x, index i, so_many_lanes<Count>) {
  constexpr int bytes = sizeof(T) * lanes32;
  const auto some = first_bytes<Count * index{sizeof(T)}, std::max(bytes, 16)>(
      reinterpret_cast<const unsigned char*>(x.from + i));
  return decoded<T>(&some);
}

/// The codes of as many numbers as there are lanes, or floats. A vector is made of them in registers: from
/// memory the processor could not read it as long as parts of it are on their way there.
template <class T, int... L>
inline auto gathered(const T* from, index step, std::integer_sequence<int, L...>) {
  using code = std::conditional_t<std::same_as<T, float>, float, detail::uint_at_least<8 * sizeof(T)>>;
  using codes [[gnu::vector_size(lanes32 * sizeof(T))]] = code;
  return codes{std::bit_cast<code>(from[L * step])...};
}
template <class T> inline float_vector at(const lane_spread_numbers<T>& x, index i, all_lanes) {
  const T* const from = x.from + i * x.step;
  if (x.step == 1) return decoded<T>(from);
  const auto some = gathered(from, x.step, std::make_integer_sequence<int, lanes32>{});
  return decoded<T>(&some);
}
template <class T> inline float_vector at(const lane_spread_numbers<T>& x, index i, first_lanes lanes) {
  T some[lanes32] = {};
  for (index l = 0; l < lanes.count; ++l) some[l] = x.from[(i + l) * x.step];
  return decoded<T>(some);
}

template <class Lanes> inline float_vector at(const lane_constant& x, index, Lanes) {
  return x.value - float_vector{};
}

template <class Lanes> inline float_vector apply(lane_negative, float_vector a, Lanes) {
  return lanes_as<float_vector>(lanes_as<uint32_vector>(a) ^ ~magnitude_mask);
}
template <class Lanes> inline float_vector apply(lane_absolute, float_vector a, Lanes) {
  return lanes_as<float_vector>(lanes_as<uint32_vector>(a) & magnitude_mask);
}
template <class Lanes> inline float_vector apply(lane_square, float_vector a, Lanes) {
  return uncontracted(a * a);
}
template <class Lanes> inline float_vector apply(lane_root, float_vector a, Lanes) {
  return lanes_as<float_vector>(instructions::square_root(lanes_as<instructions::floats>(a)));
}
template <class T, class Lanes> inline float_vector apply(lane_rounded<T>, float_vector a, Lanes) {
  detail::uint_at_least<8 * sizeof(T)> codes[lanes32];
  store_numbers<T>(codes, a);
  return decoded<T>(codes);
}
template <class Lanes> inline float_vector apply(lane_sum, float_vector a, float_vector b, Lanes) {
  return a + b;
}
template <class Lanes> inline float_vector apply(lane_difference, float_vector a, float_vector b, Lanes) {
  return a - b;
}
template <class Lanes> inline float_vector apply(lane_product, float_vector a, float_vector b, Lanes) {
  return uncontracted(a * b);
}
inline float_vector apply(lane_quotient, float_vector a, float_vector b, all_lanes) { return a / b; }
/// A spare lane divides by one: no exception is raised there that the numbers do not raise.
template <class Lanes> inline float_vector apply(lane_quotient, float_vector a, float_vector b, Lanes lanes) {
  return a / (are_numbers(lanes) ? b : float_vector{} + 1);
}
template <class Lanes> inline float_vector apply(lane_smaller, float_vector a, float_vector b, Lanes) {
  return smaller(b, a);
}
template <class Lanes> inline float_vector apply(lane_larger, float_vector a, float_vector b, Lanes) {
  return larger(b, a);
}
template <class Lanes> inline int32_vector apply(lane_less, float_vector a, float_vector b, Lanes) {
  return a < b;
}
template <class Lanes> inline int32_vector apply(lane_not_greater, float_vector a, float_vector b, Lanes) {
  return a <= b;
}
template <class Lanes> inline int32_vector apply(lane_equal, float_vector a, float_vector b, Lanes) {
  return a == b;
}
template <class Lanes> inline int32_vector apply(lane_unequal, float_vector a, float_vector b, Lanes) {
  return a != b;
}
