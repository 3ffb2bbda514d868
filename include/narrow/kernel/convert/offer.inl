// The kernels of conversions that are written over vectors of any width; included by simd/vector_kernels.inl.
// No include guard, on purpose.

template <class Table> constexpr void offer_conversions(Table& table) {
  NARROW_OFFER(codes8, coders<std::uint8_t>());
  NARROW_OFFER(codes16, coders<std::uint16_t>());
  NARROW_OFFER(codes32, coders<std::uint32_t>());
  NARROW_OFFER(has_code16, has_code16);
  NARROW_OFFER(fp16_to_float, decode_fp16<fp16_codes>);
  NARROW_OFFER(float_to_fp16, encode_fp16<fp16_codes>);
}
