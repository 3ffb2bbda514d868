// The kernels of reductions that are written over vectors of any width; included by simd/vector_kernels.inl.
// No include guard, on purpose.

template <class Table> constexpr void offer_reductions(Table& table) {
  NARROW_OFFER(add_moments, add_places<moments_at>);
  NARROW_OFFER(count_tails, add_places<tails_at>);
  NARROW_OFFER(add_squares, add_squares);
  NARROW_OFFER(add_quotients, add_quotients);
  NARROW_OFFER(sum_floats, {sum_line<fp32_line>, sum_line<fp16_line>, sum_line<bf16_line>});
  NARROW_OFFER(sum_integers, {sum_line<summed_int8>, sum_line<summed_integers<std::int16_t, std::int32_t>>,
                              sum_line<summed_integers<std::int32_t, std::int64_t>>});
}
