// Codes of 8 bits as fp16, of which instructions make floats; included once in the namespace of an
// instruction set by simd/vector_kernels.inl. No include guard, on purpose.

/// Whether this takes less time than the arithmetic of the fields or a table: instructions of 512 bits have
/// tables.
inline constexpr bool decodes_by_fp16 = vector_bytes < 64;

/// Codes of fp16, of codes that each fill the upper half of one of 16 bits; the lower half means nothing.
/// Infinities and NaNs are not yet such.
[[gnu::always_inline]] inline half_uint16_vector moved_fields(half_uint16_vector upper,
                                                              const fp16_fields& f) {
  const auto aligned = lanes_as<half_int16_vector>(upper << f.unused_bits);
  return lanes_as<half_uint16_vector>(aligned >> f.lacking_bits) & f.mask;
}
[[gnu::always_inline]] inline half_uint16_vector with_specials(half_uint16_vector code,
                                                               const fp16_fields& f) {
  constexpr std::int16_t magnitude_bits = std::numeric_limits<std::int16_t>::max();
  const auto is_special = (lanes_as<half_int16_vector>(code) & magnitude_bits) > f.last_finite;
  return code ^ (lanes_as<half_uint16_vector>(is_special) & f.special_bits);
}
[[gnu::always_inline]] inline float_vector numbers_of_fp16(half_uint16_vector code) {
  return lanes_as<float_vector>(instructions::load_fp16(&code));
}

// Decoders of codes of 8 bits. Which steps a format lacks is decided for a line: in its loop a choice would
// take longer than the step.

/// Of one whose codes are upper halves of those of fp16.
struct fp16_upper_half_decoder {
  float_vector operator()(const void* from) const {
    return numbers_of_fp16(load_upper_bytes<half_uint16_vector>(from));
  }
};
/// Of one without infinities and NaNs.
struct finite_fp16_fields_decoder {
  fp16_fields fields;  // a copy, which a store to the floats cannot change
  float_vector operator()(const void* from) const {
    const auto upper = load_upper_bytes<half_uint16_vector>(from);
    return numbers_of_fp16(moved_fields(upper, fields)) * fields.factor;
  }
};
struct fp16_fields_decoder {
  fp16_fields fields;
  float_vector operator()(const void* from) const {
    const auto upper = load_upper_bytes<half_uint16_vector>(from);
    return numbers_of_fp16(with_specials(moved_fields(upper, fields), fields)) * fields.factor;
  }
};
