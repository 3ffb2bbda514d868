// Integers and doubles as the floats that programs of lanes compute with; included once in the namespace of
// an instruction set by simd/vector_kernels.inl. No include guard, on purpose.

/// Integers as floats: exact where an int has no more than 24 bits, else rounded to odd in bits that no
/// format of 16 bits has.
template <class T> inline float_vector decoded_integers(const void* from) {
  auto x = std::signed_integral<T> ? lanes_as<int32_vector>(instructions::load_signed<sizeof(T)>(from))
                                   : lanes_as<int32_vector>(load_lower<sizeof(T)>(from));
  if constexpr (sizeof(T) == 4) {
    constexpr int precision = detail::binary32::mantissa_bits + 1;
    constexpr int dropped = 31 - precision;  // bits of the largest int
    constexpr std::int32_t rest = (1 << dropped) - 1, exact = 1 << precision;
    const int32_vector odd = (x | ((x & rest) != 0 ? int32_vector{} + (rest + 1) : int32_vector{})) & ~rest;
    const int32_vector are_exact = (x >= -exact) & (x <= exact);
    x = are_exact ? x : odd;
  }
  return __builtin_convertvector(x, float_vector);
}
/// Doubles as floats, those that are none rounded to odd: what they are rounded to next, of fewer bits, is
/// what the doubles would be.
inline half_float_vector decoded_half(const double* from) {
  const auto x = vector_at<double_vector>(from);
  const auto y = wider<half_float_vector>(x);
  const auto back = wider<double_vector>(y);
  const auto code = lanes_as<half_uint32_vector>(y);
  constexpr auto magnitude = std::numeric_limits<std::int64_t>::max();  // all bits but the sign
  const int64_vector differ = (back < x) | (back > x),
                     are_larger =
                         (lanes_as<int64_vector>(back) & magnitude) > (lanes_as<int64_vector>(x) & magnitude);
  const auto differs = __builtin_convertvector(differ, half_int32_vector),
             too_large = __builtin_convertvector(are_larger, half_int32_vector);
  const auto is_even = lanes_as<half_int32_vector>((code & 1u) - 1u);
  const auto step = lanes_as<half_uint32_vector>(too_large | 1);  // -1 or 1
  return lanes_as<half_float_vector>(code + (step & lanes_as<half_uint32_vector>(differs & is_even)));
}
inline float_vector decoded_doubles(const void* from) {
  const auto* const x = static_cast<const double*>(from);
  return joined(decoded_half(x), decoded_half(x + lanes64), std::make_integer_sequence<int, lanes32>{});
}
