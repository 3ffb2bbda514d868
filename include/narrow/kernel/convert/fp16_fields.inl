// Codes of 8 bits as fp16, of which instructions make floats; included once in the namespace of an
// instruction set by simd/vector_kernels.inl. No include guard, on purpose.

/// Whether this takes less time than the arithmetic of the fields or a table: instructions of 512 bits have
/// tables.
inline constexpr bool decodes_by_fp16 = vector_bytes < 64;

/// Numbers, of whose codes each fills the upper half of one of 16 bits; the lower half means nothing.
[[gnu::always_inline]] inline float_vector numbers_of_upper_halves(half_uint16_vector upper,
                                                                   const fp16_fields& f) {
  constexpr std::int16_t magnitude_bits = std::numeric_limits<std::int16_t>::max();
  const auto aligned = lanes_as<half_int16_vector>(upper << f.unused_bits);
  half_uint16_vector code = lanes_as<half_uint16_vector>(aligned >> f.lacking_bits) & f.mask;
  if (f.special_bits != 0) {
    const auto is_special = (lanes_as<half_int16_vector>(code) & magnitude_bits) > f.last_finite;
    code ^= lanes_as<half_uint16_vector>(is_special) & f.special_bits;
  }
  const auto number = lanes_as<float_vector>(instructions::load_fp16(&code));
  return f.factor == 1 ? number : number * f.factor;
}

struct fp16_fields_decoder {
  fp16_fields fields;  // a copy, which a store to the floats cannot change
  uint32_vector operator()(const void* from) const {
    return lanes_as<uint32_vector>(
        numbers_of_upper_halves(load_upper_bytes<half_uint16_vector>(from), fields));
  }
};
