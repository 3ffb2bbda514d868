// What becomes of tiles of sums, included once in the namespace of an instruction set by
// simd/vector_kernels.inl. No include guard, on purpose.

using sum_lanes [[gnu::vector_size(vector_bytes)]] = std::int32_t;

/// f(i, j, n) for the n lanes from (i, j) on, n <= Lanes.
template <int Lanes = lanes32, class F> inline void for_vectors(const tile_shape& shape, F f) {
  const tile_shape s = shape;  // which what f stores cannot change
  for (index i = 0; i < s.rows; ++i) {
    index j = 0;
    for (; j + Lanes <= s.cols; j += Lanes) f(i, j, index{Lanes});
    if (j < s.cols) f(i, j, s.cols - j);
  }
}

NARROW_KERNEL inline void axpby_tile(const float* sums, const tile_shape& s, float alpha, float beta,
                                     float* to) {
  for_vectors(s, [=](index i, index j, index n) {
    float_vector value = read<float_vector>(sums + i * s.stride + j, n) * alpha;
    float* const c = to + i * s.to_stride + j;
    if (beta != 0) value = uncontracted(read<float_vector>(c, n) * beta) + uncontracted(value);
    write(c, value, n);
  });
}

template <class Sums, class Sum>
NARROW_KERNEL void scale_tile(const Sum* sums, const tile_shape& s, const float* row_scales,
                              const float* col_scales, float* values) {
  for_vectors(s, [=](index i, index j, index n) {
    const float_vector scale = read<float_vector>(col_scales + j, n) * row_scales[i];
    const auto sum = __builtin_convertvector(read<Sums>(sums + i * s.stride + j, n), float_vector);
    write(values + i * s.to_stride + j, sum * scale, n);
  });
}

template <class Sums, class Sum>
NARROW_KERNEL void add_scaled_tile(const Sum* sums, const tile_shape& s, const float* row_scales,
                                   const float* col_scales, float* values) {
  for_vectors(s, [=](index i, index j, index n) {
    const float_vector scale = read<float_vector>(col_scales + j, n) * row_scales[i];
    const auto sum = __builtin_convertvector(read<Sums>(sums + i * s.stride + j, n), float_vector);
    float* const to = values + i * s.to_stride + j;
    write(to, read<float_vector>(to, n) + uncontracted(sum * scale), n);
  });
}

template <class Element, class Sum>
NARROW_KERNEL void round_tile(const Sum* sums, const tile_shape& s, const integer_rounding& r, void* to) {
  constexpr int lanes = vector_bytes / sizeof(Sum);
  using sums_in_lanes [[gnu::vector_size(vector_bytes)]] = Sum;
  const int dropped = r.dropped_bits;
  const Sum half = Sum{1} << (dropped - 1), rest_mask = 2 * (half - 1) + 1;
  const auto store = [=, step = s.to_stride, bytes = static_cast<unsigned char*>(to)](
                         index i, index j, index n, const sums_in_lanes& x) {
    write_lower<Element>(bytes + (i * step + j) * index{sizeof(Element)}, x, n);
  };
  if (r.highest < std::numeric_limits<Sum>::max() >> dropped) {
    // Held to the range first, sums leave room for what is added to them.
    const sums_in_lanes lowest = sums_in_lanes{} + Sum{r.lowest} * 2 * half,
                        highest = sums_in_lanes{} + Sum{r.highest} * 2 * half;
    for_vectors<lanes>(s, [=, stride = s.stride](index i, index j, index n) {
      const auto x = larger(smaller(read<sums_in_lanes>(sums + i * stride + j, n), highest), lowest);
      store(i, j, n, (x + (half - 1) + (x >> dropped & 1)) >> dropped);
    });
  } else {
    const sums_in_lanes lowest = sums_in_lanes{} + Sum{r.lowest}, highest = sums_in_lanes{} + Sum{r.highest};
    for_vectors<lanes>(s, [=, stride = s.stride](index i, index j, index n) {
      const auto sum = read<sums_in_lanes>(sums + i * stride + j, n);
      const sums_in_lanes floor = sum >> dropped, rest = (sum & rest_mask) + (floor & 1);
      store(i, j, n, larger(smaller(floor - (rest > half), highest), lowest));  // true is -1
    });
  }
}

template <class Element, class Sum>
NARROW_KERNEL void round_tile_stochastic(const Sum* sums, const tile_shape& s, const integer_rounding& r,
                                         void* to) {
  constexpr int lanes = vector_bytes / sizeof(Sum);
  using sums_in_lanes [[gnu::vector_size(vector_bytes)]] = Sum;
  using magnitudes_in_lanes [[gnu::vector_size(vector_bytes)]] = std::make_unsigned_t<Sum>;
  using words = std::conditional_t<sizeof(Sum) == sizeof(word), uint32_vector, word_lanes>;
  words across;
  for (unsigned l = 0; l < lanes; ++l) across[l] = r.draws.first + l * r.draws.step;
  const random_draws draws{r.draws.key};
  auto* const bytes = static_cast<unsigned char*>(to);
  for_vectors<lanes>(s, [=](index i, index j, index n) {
    const sums_in_lanes sum = read<sums_in_lanes>(sums + i * s.stride + j, n),
                        negative = sum >> (8 * sizeof(Sum) - 1);
    const words at =
        across + (static_cast<word>(i) * r.draws.line_step + static_cast<word>(j) * r.draws.step);
    // What of a draw is below the bits that are cut off cannot carry out of them.
    const words draw = draws(at) >> static_cast<word>(32 - r.dropped_bits);
    const auto magnitude =
        lanes_as<magnitudes_in_lanes>(sum ^ negative) - lanes_as<magnitudes_in_lanes>(negative);
    auto x = lanes_as<sums_in_lanes>((magnitude + __builtin_convertvector(draw, magnitudes_in_lanes)) >>
                                     static_cast<std::make_unsigned_t<Sum>>(r.dropped_bits));
    const sums_in_lanes most = negative ? sums_in_lanes{} - Sum{r.lowest} : sums_in_lanes{} + Sum{r.highest};
    x = x < most ? x : most;
    x = (x ^ negative) - negative;
    write_lower<Element>(bytes + (i * s.to_stride + j) * index{sizeof(Element)}, x, n);
  });
}

template <class Sum> constexpr rounding_kernels<Sum> tile_roundings() {
  rounding_kernels<Sum> result{round_tile<std::int8_t, Sum>, round_tile<std::int16_t, Sum>,
                               round_tile_stochastic<std::int8_t, Sum>,
                               round_tile_stochastic<std::int16_t, Sum>};
  if constexpr (sizeof(Sum) == sizeof(std::int64_t)) {
    result.to32 = round_tile<std::int32_t, Sum>;
    result.to32_stochastic = round_tile_stochastic<std::int32_t, Sum>;
  }
  return result;
}

inline long_lanes wide_sums_at(const std::int32_t* sums) {
  return wider<long_lanes>(vector_at<int_lanes>(sums));
}
NARROW_KERNEL inline void join_tiles(const std::int32_t* high, const std::int32_t* low, std::int64_t* total,
                                     index n) {
  for (index i = 0; i < n; i += quantize_lanes) {
    const long_lanes joined = (wide_sums_at(high + i) << 8) + wide_sums_at(low + i);
    std::memcpy(total + i, &joined, sizeof joined);
  }
}
NARROW_KERNEL inline void add_tile(const std::int32_t* sums, int shift, std::int64_t* total, index n) {
  for (index i = 0; i < n; i += quantize_lanes) {
    const long_lanes sum_so_far = vector_at<long_lanes>(total + i) + (wide_sums_at(sums + i) << shift);
    std::memcpy(total + i, &sum_so_far, sizeof sum_so_far);
  }
}
