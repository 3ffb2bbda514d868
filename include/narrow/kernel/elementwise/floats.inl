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
template <class Lanes> inline constexpr bool has_spare_lanes = true;
template <> inline constexpr bool has_spare_lanes<all_lanes> = false;

inline int32_vector places_of_lanes() {
  int32_vector place;
  for (int l = 0; l < lanes32; ++l) place[l] = l;
  return place;
}
template <class Lanes> inline int32_vector are_numbers(Lanes lanes) {
  return places_of_lanes() < static_cast<std::int32_t>(lanes.count);
}

/// Whether the numbers with codes of 8 bits are bf16, of which the upper bit is the sign or zero.
template <class T> inline constexpr bool is_looked_up = false;
template <narrow_float T>
requires(sizeof(T) == 1) inline constexpr bool is_looked_up<T> = T::layout::mantissa_bits <= 7 &&
                                                                 (T::layout::has_negative_zero ||
                                                                  T::layout::width < 8);
template <class T> constexpr std::array<std::uint16_t, 128> upper_halves_of_numbers() {
  std::array<std::uint16_t, 128> halves{};
  for (std::size_t i = 0; i < halves.size() && i >> T::layout::width == 0; ++i)
    halves[i] = static_cast<std::uint16_t>(
        std::bit_cast<std::uint32_t>(static_cast<float>(T::from_bits(static_cast<std::uint8_t>(i)))) >> 16);
  return halves;
}
template <class T, class Instructions = instructions>
inline constexpr bool looks_up_numbers = is_looked_up<T>&& requires(const std::uint16_t* table) {
  Instructions::look_up_codes(table, table);
};
template <class T, class Instructions = instructions> inline float_vector looked_up(const void* from) {
  static constexpr auto table = upper_halves_of_numbers<T>();
  return lanes_as<float_vector>(Instructions::look_up_codes(from, table.data()));
}

/// Of a format without -0, NaN instead, which has its code.
template <class T> inline float_vector with_nans(uint32_vector number) {
  if constexpr (T::layout::has_negative_zero) return lanes_as<float_vector>(number);
  constexpr float nan = static_cast<float>(std::numeric_limits<T>::quiet_NaN());
  return lanes_as<float_vector>(
      number == ~magnitude_mask ? uint32_vector{} + std::bit_cast<std::uint32_t>(nan) : number);
}
template <class T> [[gnu::always_inline]] inline float_vector decoded_upper_halves(half_uint16_vector upper) {
  static constexpr fp16_fields fields = fp16_fields_of<T>();
  auto code = moved_fields(upper, fields);
  if constexpr (fields.special_bits != 0) code = with_specials(code, fields);
  auto number = numbers_of_fp16(code);
  if constexpr (fields.factor != 1) number *= fields.factor;
  return with_nans<T>(lanes_as<uint32_vector>(number));
}

/// Numbers in memory; signalling NaNs may stay such, which every operation and every store makes quiet.
template <class T> [[gnu::always_inline]] inline float_vector decoded(const void* from) {
  if constexpr (std::same_as<T, float>)
    return vector_at<float_vector>(static_cast<const float*>(from));
  else if constexpr (std::same_as<T, double>)
    return decoded_doubles(from);
  else if constexpr (std::integral<T>)
    return decoded_integers<T>(from);
  else if constexpr (coded_as_fp16<T>)
    return instructions::load_fp16(from);
  else if constexpr (coded_as_bf16<T>)
    return lanes_as<float_vector>(load_upper<uint32_vector>(from));
  else if constexpr (coded_as<T, 5, 2> || (decodes_by_fp16 && has_fields_of_fp16<T>))
    return decoded_upper_halves<T>(load_upper_bytes<half_uint16_vector>(from));
  else if constexpr (looks_up_numbers<T>)
    return looked_up<T>(from);
  else
    return with_nans<T>(decode_some<typename T::bits_type>(from, decoding_of<T>()));
}

inline int32_vector magnitudes_of(float_vector x) {
  return lanes_as<int32_vector>(lanes_as<uint32_vector>(x) & magnitude_mask);
}
inline int32_vector is_nan(float_vector x) { return magnitudes_of(x) > nonfinite_bits; }
inline bool any_nan(float_vector x, float_vector y) {
#if NARROW_COMPARES_NANS
  return instructions::any_nan(lanes_as<instructions::floats>(x), lanes_as<instructions::floats>(y));
#else
  return any_of(is_nan(x) | is_nan(y));
#endif
}
/// Whether two numbers in a lane differ, or are NaN; zeros are of one sign.
inline bool any_unequal(float_vector x, float_vector y) {
#if NARROW_COMPARES_NANS
  return instructions::any_unequal(lanes_as<instructions::floats>(x), lanes_as<instructions::floats>(y));
#else
  return any_of(is_nan(x) | (lanes_as<int32_vector>(x) != lanes_as<int32_vector>(y)));
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

/// Numbers as codes of T, to nearest even, in lanes as they are stored from.
template <class T> struct lane_codes {
  static constexpr encoding e = encoding_of<T, typename T::overflow_policy>();
  static constexpr bool in_upper_half = e.is_upper_half && sizeof(T) == 2;
  uint32_vector bits, codes;

  /// Those of NaNs mean nothing yet.
  [[gnu::always_inline]] explicit lane_codes(float_vector x) : bits(lanes_as<uint32_vector>(x)) {
    if constexpr (in_upper_half)
      codes = upper_half_codes(bits);
    else
      codes = with_signs(nearest_codes(bits, e), bits, e);
  }
  void set_nans() {
    codes = is_nan(lanes_as<float_vector>(bits)) ? nan_codes<T>(bits) << (in_upper_half ? 16 : 0) : codes;
  }
  void store(void* to) const {
    if constexpr (in_upper_half)
      store_upper(to, codes);
    else
      store_lower<sizeof(T)>(to, codes);
  }
};

/// Whether numbers are stored as T by an instruction that knows what becomes of a NaN.
template <class T> inline constexpr bool stores_nans = !narrow_scalar<T>;
template <class T>
requires coded_as_fp16<T>
inline constexpr bool stores_nans<T> = std::same_as<typename T::overflow_policy, overflow::ieee>;

template <class T> [[gnu::always_inline]] inline void store_numbers(void* to, float_vector x) {
  if constexpr (std::same_as<T, float>) {
    const uint32_vector quiet =
        lanes_as<uint32_vector>(x) | (lanes_as<uint32_vector>(is_nan(x)) & 0x0040'0000u);
    std::memcpy(to, &quiet, sizeof quiet);
  } else if constexpr (std::same_as<T, double>) {
    const double_vector halves[] = {wider<double_vector>(half_lanes(x, 0, half_of_lanes)),
                                    wider<double_vector>(half_lanes(x, 1, half_of_lanes))};
    std::memcpy(to, halves, sizeof halves);
  } else if constexpr (std::same_as<T, int>) {
    const auto integers = __builtin_convertvector(x, int32_vector);  // toward zero
    std::memcpy(to, &integers, sizeof integers);
  } else if constexpr (stores_nans<T>) {
    instructions::store_fp16(to, lanes_as<instructions::floats>(x));
  } else {
    lane_codes<T> numbers(x);
    if (any_nan(x, x)) [[unlikely]]
      numbers.set_nans();
    numbers.store(to);
  }
}
/// Conditions, of which all bits of a lane hold or none.
template <std::same_as<bool> T>
[[gnu::always_inline]] inline void store_numbers(void* to, int32_vector holds) {
  store_lower<1>(to, lanes_as<uint32_vector>(holds) & 1u);
}
/// Of two vectors, which have one look for NaNs.
template <class T>
[[gnu::always_inline]] inline void store_numbers(void* to, float_vector x, float_vector y) {
  lane_codes<T> first(x), second(y);
  if (any_nan(x, y)) [[unlikely]] {
    first.set_nans();
    second.set_nans();
  }
  first.store(to);
  second.store(static_cast<unsigned char*>(to) + lanes32 * sizeof(T));
}

template <class T>
[[gnu::always_inline]] inline float_vector at(const lane_numbers<T>& x, index i, all_lanes) {
  return decoded<T>(x.from + i);
}
template <class T>
[[gnu::always_inline]] inline float_vector at(const lane_numbers<T>& x, index i, first_lanes lanes) {
  if constexpr (sizeof(T) > sizeof(float)) {
    T some[lanes32] = {};
    std::copy_n(x.from + i, lanes.count, some);
    return decoded<T>(some);
  } else {
    detail::uint_at_least<8 * sizeof(T)> some[lanes32];
    read_part(some, x.from + i, lanes.count * index{sizeof(T)});
    return decoded<T>(some);
  }
}
template <class T, index Count>
requires(!narrow_fixed<T> && sizeof(T) <= sizeof(float)) [[gnu::always_inline]] inline float_vector
    at(const lane_numbers<T>& x, index i, so_many_lanes<Count>) {
  constexpr int bytes = sizeof(T) * lanes32;
  const auto some = first_bytes<Count * index{sizeof(T)}, std::max(bytes, 16)>(
      reinterpret_cast<const unsigned char*>(x.from + i));
  return decoded<T>(&some);
}

#include "gathered.inl"

template <int... L>
[[gnu::always_inline]] inline float_vector reversed(float_vector x, std::integer_sequence<int, L...>) {
  return __builtin_shufflevector(x, x, (lanes32 - 1 - L)...);
}
template <class T>
[[gnu::always_inline]] inline float_vector at(const lane_spread_numbers<T>& x, index i, all_lanes) {
  const T* const from = x.from + i * x.step;
  if (x.step == 1) return decoded<T>(from);
  if (x.step == -1)
    return reversed(decoded<T>(from - (lanes32 - 1)), std::make_integer_sequence<int, lanes32>{});
  if constexpr (sizeof(T) > sizeof(float)) {
    T some[lanes32];
    for (index l = 0; l < lanes32; ++l) some[l] = from[l * x.step];
    return decoded<T>(some);
  } else {
    const auto some = gathered(from, x.step, std::make_integer_sequence<int, lanes32>{},
                               std::make_integer_sequence<int, lanes32 / 4>{});
    return decoded<T>(&some);
  }
}
template <class T>
[[gnu::always_inline]] inline float_vector at(const lane_spread_numbers<T>& x, index i, first_lanes lanes) {
  const T* const from = x.from + i * x.step;
  if constexpr (sizeof(T) > sizeof(float)) {
    T some[lanes32] = {};
    for (index l = 0; l < lanes.count; ++l) some[l] = from[l * x.step];
    return decoded<T>(some);
  } else {
    const auto some = gathered(from, x.step, lanes);
    return decoded<T>(&some);
  }
}

template <class Lanes> [[gnu::always_inline]] inline float_vector at(const lane_constant& x, index, Lanes) {
  return x.value - float_vector{};
}

template <class Number, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_one_at<Number>& x, index i, Lanes) {
  using numbers = std::conditional_t<std::same_as<Number, float>, float_vector, int32_vector>;
  const auto lane = static_cast<std::int32_t>(std::clamp<index>(x.place - i, -1, lanes32));
  return lanes_as<numbers>((places_of_lanes() == lane) & std::bit_cast<std::int32_t>(x.one));
}

template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_negative, float_vector a, Lanes) {
  return lanes_as<float_vector>(lanes_as<uint32_vector>(a) ^ ~magnitude_mask);
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_absolute, float_vector a, Lanes) {
  return lanes_as<float_vector>(lanes_as<uint32_vector>(a) & magnitude_mask);
}
template <class Lanes> [[gnu::always_inline]] inline float_vector apply(lane_square, float_vector a, Lanes) {
  return uncontracted(a * a);
}
template <class Lanes> [[gnu::always_inline]] inline float_vector apply(lane_cube, float_vector a, Lanes) {
  return uncontracted(uncontracted(a * a) * a);
}
template <std::float_round_style Style>
[[gnu::always_inline]] inline float_vector to_integers(float_vector a) {
  return lanes_as<float_vector>(instructions::to_integers<Style>(lanes_as<instructions::floats>(a)));
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_truncated, float_vector a, Lanes) {
  return to_integers<std::round_toward_zero>(a);
}
template <class Lanes> [[gnu::always_inline]] inline float_vector apply(lane_floor, float_vector a, Lanes) {
  return to_integers<std::round_toward_neg_infinity>(a);
}
template <class Lanes> [[gnu::always_inline]] inline float_vector apply(lane_ceiling, float_vector a, Lanes) {
  return to_integers<std::round_toward_infinity>(a);
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_nearest_even, float_vector a, Lanes) {
  return to_integers<std::round_to_nearest>(a);
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_nearest_away, float_vector a, Lanes lanes) {
  const float_vector whole = apply(lane_truncated{}, a, lanes),
                     rest = apply(lane_absolute{}, a - whole, lanes);
  const auto one = lanes_as<float_vector>(std::bit_cast<std::uint32_t>(1.0f) |
                                          (lanes_as<uint32_vector>(a) & ~magnitude_mask));
  return rest >= 0.5f ? whole + one : whole;
}
template <class Lanes> [[gnu::always_inline]] inline float_vector apply(lane_sign, float_vector a, Lanes) {
  const auto one = lanes_as<uint32_vector>(float_vector{} + 1);
  const auto positive = lanes_as<uint32_vector>(a > 0.0f), negative = lanes_as<uint32_vector>(a < 0.0f);
  return lanes_as<float_vector>((one & (positive | negative)) | (negative & ~magnitude_mask) |
                                (lanes_as<uint32_vector>(a) & lanes_as<uint32_vector>(is_nan(a))));
}
template <class Lanes> [[gnu::always_inline]] inline float_vector apply(lane_root, float_vector a, Lanes) {
  return lanes_as<float_vector>(instructions::square_root(lanes_as<instructions::floats>(a)));
}
template <class T, class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_rounded<T>, float_vector a, Lanes) {
  if constexpr (!stores_nans<T> && lane_codes<T>::in_upper_half) {
    lane_codes<T> number(a);
    if (any_nan(a, a)) [[unlikely]]
      number.set_nans();
    return lanes_as<float_vector>(number.codes & 0xffff'0000u);
  }
  detail::uint_at_least<8 * sizeof(T)> codes[lanes32];
  store_numbers<T>(codes, a);
  return decoded<T>(codes);
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_sum, float_vector a, float_vector b, Lanes) {
  return a + b;
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_difference, float_vector a, float_vector b, Lanes) {
  return a - b;
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_product, float_vector a, float_vector b, Lanes) {
  return uncontracted(a * b);
}
/// A spare lane divides by one: no exception is raised there that the numbers do not raise.
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_quotient, float_vector a, float_vector b, Lanes lanes) {
  if constexpr (!has_spare_lanes<Lanes>)
    return a / b;
  else
    return a / (are_numbers(lanes) ? b : float_vector{} + 1);
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_inverse, float_vector a, Lanes lanes) {
  return apply(lane_quotient{}, float_vector{} + 1, a, lanes);
}
[[gnu::noinline]] inline float_vector powers_one_by_one(float_vector a, float_vector b) {
  for (int l = 0; l < lanes32; ++l) a[l] = power_of(a[l], b[l]);
  return a;
}
/// A spare lane is a power of one.
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_power, float_vector a, float_vector b, Lanes lanes) {
  if constexpr (has_spare_lanes<Lanes>) {
    return apply(lane_power{}, are_numbers(lanes) ? a : float_vector{} + 1, b, all_lanes{});
  } else {
    const float_vector two = float_vector{} + 2;
    return instructions::any_unequal(lanes_as<instructions::floats>(b), lanes_as<instructions::floats>(two))
               ? powers_one_by_one(a, b)
               : uncontracted(a * a);
  }
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_smaller, float_vector a, float_vector b, Lanes) {
  return smaller(b, a);
}
template <class Lanes>
[[gnu::always_inline]] inline float_vector apply(lane_larger, float_vector a, float_vector b, Lanes) {
  return larger(b, a);
}
template <class Lanes>
[[gnu::always_inline]] inline int32_vector apply(lane_less, float_vector a, float_vector b, Lanes) {
  return a < b;
}
template <class Lanes>
[[gnu::always_inline]] inline int32_vector apply(lane_not_greater, float_vector a, float_vector b, Lanes) {
  return a <= b;
}
template <class Lanes>
[[gnu::always_inline]] inline int32_vector apply(lane_equal, float_vector a, float_vector b, Lanes) {
  return a == b;
}
template <class Lanes>
[[gnu::always_inline]] inline int32_vector apply(lane_unequal, float_vector a, float_vector b, Lanes) {
  return a != b;
}
template <class Lanes> [[gnu::always_inline]] inline int32_vector apply(lane_is_nan, float_vector a, Lanes) {
  return is_nan(a);
}
template <class Lanes>
[[gnu::always_inline]] inline int32_vector apply(lane_is_infinite, float_vector a, Lanes) {
  return magnitudes_of(a) == nonfinite_bits;
}
template <class Lanes>
[[gnu::always_inline]] inline int32_vector apply(lane_is_finite, float_vector a, Lanes) {
  return magnitudes_of(a) < nonfinite_bits;
}
template <class Lanes>
[[gnu::always_inline]] inline int32_vector apply(lane_and, int32_vector a, int32_vector b, Lanes) {
  return a & b;
}
template <class Lanes>
[[gnu::always_inline]] inline int32_vector apply(lane_or, int32_vector a, int32_vector b, Lanes) {
  return a | b;
}
template <class Lanes> [[gnu::always_inline]] inline int32_vector apply(lane_not, int32_vector a, Lanes) {
  return ~a;
}
