// The kernels of quantisation that are written over vectors of any width; included by
// simd/vector_kernels.inl. No include guard, on purpose.

template <class Table> constexpr void offer_quantization(Table& table) {
  NARROW_OFFER(quantize_int8, block_coders<std::int8_t>());
  NARROW_OFFER(quantize_int16, block_coders<std::int16_t>());
  NARROW_OFFER(quantize_int32, block_coders<std::int32_t>());
  NARROW_OFFER(scale_blocks, decode_blocks<float>);
  NARROW_OFFER(absmax, absmax_of_blocks);
}
