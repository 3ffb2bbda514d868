// The kernels of products that are written over vectors of any width; included by simd/vector_kernels.inl. No
// include guard, on purpose.

template <class Table> constexpr void offer_products(Table& table) {
  NARROW_OFFER(pack1, pack_lines<std::int8_t>);
  NARROW_OFFER(pack2, pack_lines<std::int16_t>);
  NARROW_OFFER(pack4, pack_lines<std::int32_t>);
  NARROW_OFFER(take_high, take_high);
  NARROW_OFFER(take_low, take_low);
  NARROW_OFFER(combine, combine_tile);
  NARROW_OFFER(scale_tile, scale_tile<sum_lanes, std::int32_t>);
  NARROW_OFFER(scale_float_tile, scale_tile<value_lanes, float>);
  NARROW_OFFER(add_scaled_tile, add_scaled_tile<sum_lanes, std::int32_t>);
  NARROW_OFFER(add_scaled_float_tile, add_scaled_tile<value_lanes, float>);
  NARROW_OFFER(round, tile_roundings<std::int32_t>());
  NARROW_OFFER(round_wide, tile_roundings<std::int64_t>());
  NARROW_OFFER(join, join_tiles);
  NARROW_OFFER(add_tile, add_tile);
  NARROW_OFFER(scale, scale_line);
  NARROW_OFFER(dot_fp32, dot_line<fp32_line>);
  NARROW_OFFER(dot_int8, dot_line<int8_line>);
  NARROW_OFFER(dot_int16, dot_line<int16_line>);
  NARROW_OFFER(dot_fp16, dot_line<fp16_line>);
  NARROW_OFFER(dot_wide_int16, dot_line<wide_int16_line>);
  NARROW_OFFER(lines_fp32, line_products<single_columns<fp32_line>, fp32_line>());
  NARROW_OFFER(lines_fp16, line_products<single_columns<fp16_line>, fp16_line>());
  NARROW_OFFER(lines_bf16, line_products<single_columns<bf16_line>, bf16_line>());
  NARROW_OFFER(lines_int8, line_products<pair_columns<int8_line>, int8_line>());
  NARROW_OFFER(lines_int16, line_products<pair_columns<int16_line>, int16_line>());
}
