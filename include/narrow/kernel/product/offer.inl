// The kernels of products that are written over vectors of any width; included by simd/vector_kernels.inl. No
// include guard, on purpose.

template <class Table> constexpr void offer_products(Table& table) {
  NARROW_OFFER(packing, {pack_lines<std::int8_t>, pack_lines<std::int16_t>, pack_lines<std::int32_t>,
                         int8_to_int16, take_high, take_low});
  NARROW_OFFER(compact, multiply_compact<float, float, float>);
  NARROW_OFFER(widening, {join_tiles, add_tile});
  NARROW_OFFER(axpby, axpby_tile);
  NARROW_OFFER(scale_tile, {scale_tile<sum_lanes, std::int32_t>, add_scaled_tile<sum_lanes, std::int32_t>});
  NARROW_OFFER(scale_float_tile, {scale_tile<float_vector, float>, add_scaled_tile<float_vector, float>});
  NARROW_OFFER(round, tile_roundings<std::int32_t>());
  NARROW_OFFER(round_wide, tile_roundings<std::int64_t>());
  NARROW_OFFER(scale, scale_line);
  NARROW_OFFER(scale_to_bf16,
               {scale_to_bf16<integers_as_bf16>, scale_to_bf16<codes_as_bf16>, scale_to_bf16<codes_as_bf16>});
  NARROW_OFFER(dot_fp32, dot_line<fp32_line>);
  NARROW_OFFER(dot_fp16, dot_line<fp16_line>);
  NARROW_OFFER(dot_int8, dot_line<int8_line>);
  NARROW_OFFER(dot_int16, {dot_line<int16_line>, dot_line<in_halves<int16_line>>});
  NARROW_OFFER(gemv_fp32, gemv_of<single_columns<fp32_line>, fp32_line>());
  NARROW_OFFER(gemv_fp16, gemv_of<single_columns<fp16_line>, fp16_line>());
  NARROW_OFFER(gemv_bf16, gemv_of<single_columns<bf16_line>, bf16_line>());
  NARROW_OFFER(gemv_int8, gemv_of<pair_columns<int8_line>, int8_line>());
  NARROW_OFFER(gemv_int16, gemv_of<pair_columns<int16_line>, int16_line>());
}
