// The kernels that are the same over vectors of any width, included once in the namespace of each instruction set, inside
// its target region, after the other .inl files and the lines that it names. No include guard, on purpose.

template <class Table> constexpr void offer_vectors(Table& table) {
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
  NARROW_OFFER(quantize_int8, quantizers<std::int8_t>());
  NARROW_OFFER(quantize_int16, quantizers<std::int16_t>());
  NARROW_OFFER(quantize_int32, quantizers<std::int32_t>());
  NARROW_OFFER(scale_blocks, dequantize_blocks<float>);
  NARROW_OFFER(survey, survey_blocks);
  NARROW_OFFER(add_moments, add_places<moments_at>);
  NARROW_OFFER(count_tails, add_places<tails_at>);
  NARROW_OFFER(add_squares, add_squares);
  NARROW_OFFER(add_quotients, add_quotients);
  NARROW_OFFER(scale, scale_line);
  NARROW_OFFER(codes8, coders<std::uint8_t>());
  NARROW_OFFER(codes16, coders<std::uint16_t>());
  NARROW_OFFER(codes32, coders<std::uint32_t>());
  NARROW_OFFER(has_code16, has_code16);
  NARROW_OFFER(dot_fp32, dot_line<fp32_line>);
  NARROW_OFFER(dot_int8, dot_line<int8_line>);
  NARROW_OFFER(dot_int16, dot_line<int16_line>);
  NARROW_OFFER(dot_fp16, dot_line<fp16_line>);
  NARROW_OFFER(dot_wide_int16, dot_line<wide_int16_line>);
  NARROW_OFFER(sum_fp32, sum_line<fp32_line>);
  NARROW_OFFER(sum_fp16, sum_line<fp16_line>);
  NARROW_OFFER(sum_bf16, sum_line<bf16_line>);
  NARROW_OFFER(sum_int8, sum_line<summed_int8>);
  NARROW_OFFER(sum_int16, sum_line<summed_integers<std::int16_t, std::int32_t>>);
  NARROW_OFFER(sum_int32, sum_line<summed_integers<std::int32_t, std::int64_t>>);
  NARROW_OFFER(lines_fp32, line_products<single_columns<fp32_line>, fp32_line>());
  NARROW_OFFER(lines_fp16, line_products<single_columns<fp16_line>, fp16_line>());
  NARROW_OFFER(lines_bf16, line_products<single_columns<bf16_line>, bf16_line>());
  NARROW_OFFER(lines_int8, line_products<pair_columns<int8_line>, int8_line>());
  NARROW_OFFER(lines_int16, line_products<pair_columns<int16_line>, int16_line>());
  NARROW_OFFER(fp16_to_float, decode_fp16<fp16_codes>);
  NARROW_OFFER(float_to_fp16, encode_fp16<fp16_codes>);
}
