// Lines of floats to integers in blocks that share a scale, and back. Included once in the namespace of an
// instruction set by simd/vector_kernels.inl. No include guard, on purpose.

/// Which lanes are exact for all inverses that it has met.
template <class Single, class Element> struct fitting_lanes {
  static constexpr bool takes_multiples = sizeof(Element) == 1 && std::is_same_v<Single, magnitude_nearest>,
                        takes_nearly = sizeof(Element) == 1 && std::is_same_v<Single, magnitude_stochastic>;
  bool floats, multiples, nearly;

  explicit fitting_lanes(const quantization& q)
      : floats(!q.snaps),
        multiples(takes_multiples && to_nearest_multiple<one_inverse>::fits(q)),
        nearly(takes_nearly && nearly_stochastic<one_inverse>::fits(q)) {}
  void meet(double inverse) {
    floats = floats && inverse <= 0x1p127;
    multiples = multiples && to_nearest_multiple<one_inverse>::fits(inverse);
    nearly = nearly && nearly_stochastic<one_inverse>::fits(inverse);
  }
  /// use(lanes).
  template <class Wide, class Inverse, class Use>
  void choose(const quantization& q, const Inverse& inverse, const Inverse& scale, const Use& use) const {
    if (floats) return use(in_float_lanes<Single, Inverse>(q, inverse));
    if constexpr (takes_multiples)
      if (multiples) return use(to_nearest_multiple<Inverse>(q, inverse, scale));
    if constexpr (takes_nearly)
      if (nearly) return use(nearly_stochastic<Inverse>(q, inverse));
    use(in_double_lanes<Wide, Inverse>{q, inverse});
  }
};

/// Writes to the places from `place` to `end`, and perhaps to less than lanes32 more.
template <class Value> inline void fill_places(Value* to, index place, index end, Value value) {
  using lanes [[gnu::vector_size(vector_bytes)]] = Value;
  constexpr index parts = sizeof(Value) / sizeof(float), count = lanes32 / parts;
  const lanes all = lanes{} + value;
  for (; place < end; place += lanes32) {
    NARROW_UNROLL for (index part = 0; part < parts; ++part)
        std::memcpy(to + place + part * count, &all, sizeof all);
  }
}

/// The values of n places, one after the other, and the last one for lanes32 places more; returns what
/// follows them.
template <class Value> inline const Value* copy_places(Value* to, const Value* from, index n) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(Value));
  fill_places(to, n, n + 1, from[n - 1]);
  return from + n;
}

/// visit(place, end) for the runs of places in lines of n.
template <class Visit> inline void for_runs(index n, const block_runs& runs, const Visit& visit) {
  for (index place = 0, end = runs.width - runs.before; place < n; place = end, end += runs.width)
    visit(place, end < n ? end : n);
}
/// visit(part, line) for the parts of a block of lines that meet the same blocks.
template <class Visit>
inline void for_bands(const strided_lines& b, const block_runs& runs, const Visit& visit) {
  strided_lines part = b;
  for (index line = 0, end = runs.height - runs.above; line < b.lines; line = end, end += runs.height) {
    part.lines = (end < b.lines ? end : b.lines) - line;
    visit(part, line);
  }
}

/// Narrow blocks side by side, by places; returns what follows their inverses.
template <class Wide, class Single, class Element>
inline const double* encode_by_place(const float* from, Element* to, const strided_lines& b,
                                     const quantization& q, const block_runs& runs, const double* inverses) {
  constexpr index most = max_places + lanes32;
  alignas(vector_bytes) float singles[most], scales[most];
  alignas(vector_bytes) double doubles[most];
  fitting_lanes<Single, Element> fitting(q);
  const double* next = inverses;
  for_runs(b.n, runs, [&](index, index) { fitting.meet(*next++); });
  if (runs.width == 1) {
    inverses = copy_places(doubles, inverses, b.n);
    // A vector of floats is read whole, also where it has more lanes than there are places.
    for (index place = 0; place < std::max<index>(b.n, lanes32); place += lanes64) {
      const auto by = vector_at<double_vector>(doubles + place);
      const auto single = wider<half_float_vector>(by), scale = wider<half_float_vector>(1 / by);
      std::memcpy(singles + place, &single, sizeof single);
      std::memcpy(scales + place, &scale, sizeof scale);
    }
  } else {
    for_runs(b.n, runs, [&](index place, index end) {
      const double by = *inverses++;
      if (!fitting.floats) fill_places(doubles, place, end, by);
      fill_places(singles, place, end, static_cast<float>(by));
      if (fitting.multiples) fill_places(scales, place, end, static_cast<float>(1 / by));
    });
  }
  fitting.template choose<Wide>(q, own_inverses{doubles, singles}, own_inverses{nullptr, scales},
                                [&](const auto& lanes) { encode_lines(lanes, from, to, b, q.draws); });
  return inverses;
}

/// Blocks one after the other.
template <class Wide, class Single, class Element>
inline void encode_by_block(const float* from, Element* to, const strided_lines& b, const quantization& q,
                            const block_runs& runs, const double* inverses) {
  fitting_lanes<Single, Element> fitting(q);
  const double* next = inverses;
  for_bands(b, runs, [&](const strided_lines&, index) {
    for_runs(b.n, runs, [&](index, index) { fitting.meet(*next++); });
  });
  const one_inverse none{1};
  fitting.template choose<Wide>(q, none, none, [&](auto lanes) {
    for_bands(b, runs, [&](strided_lines part, index line) {
      for_runs(b.n, runs, [&](index place, index end) {
        part.n = end - place;
        element_draws draws = q.draws;
        draws.first += static_cast<std::uint32_t>(line) * draws.line_step +
                       static_cast<std::uint32_t>(place) * draws.step;
        lanes.set_inverse(*inverses++);
        encode_lines(lanes, from + line * b.from_stride + place, to + line * b.to_stride + place, part,
                     draws);
      });
    });
  });
}

template <class Wide, class Single, class Element>
NARROW_KERNEL void encode_blocks(const float* from, Element* to, const strided_lines& b,
                                 const quantization& how, const block_runs& runs, const double* inverses) {
  if (!runs.are_narrow()) return encode_by_block<Wide, Single>(from, to, b, how, runs, inverses);
  for_bands(b, runs, [&](const strided_lines& part, index line) {
    quantization q = how;
    q.draws.first += static_cast<std::uint32_t>(line) * how.draws.line_step;
    inverses = encode_by_place<Wide, Single>(from + line * b.from_stride, to + line * b.to_stride, part, q,
                                             runs, inverses);
  });
}

template <class Element> inline float_vector values_of(const Element* from) {
  if constexpr (std::is_same_v<Element, float>)
    return vector_at<float_vector>(from);
  else
    return __builtin_convertvector(lanes_as<int32_vector>(instructions::load_signed<sizeof(Element)>(from)),
                                   float_vector);
}

/// A line of n numbers times what scale_at(place) gives for whole vectors of places.
template <class Element, class ScaleAt>
inline void decode_places(const ScaleAt& scale_at, const Element* from, float* to, index n) {
  const auto take = [&](const Element* q, float* x, index place) {
    const float_vector values = values_of(q) * scale_at(place);
    std::memcpy(x, &values, sizeof values);
  };
  if (n < lanes32) {
    if (n == 0) return;  // an empty array may be nowhere in memory
    Element rest[lanes32];
    float results[lanes32];
    read_part(rest, from, n * index{sizeof(Element)});
    take(rest, results, 0);
    return write_part(to, results, n * index{sizeof(float)});
  }
  constexpr index ways = 4;
  index i = until_whole_lines(to, n);
  if (i > 0) take(from, to, 0);
  for (; i + ways * lanes32 <= n; i += ways * lanes32) {
    NARROW_UNROLL for (index w = 0; w < ways; ++w)
        take(from + i + w * lanes32, to + i + w * lanes32, i + w * lanes32);
  }
  for (; i + lanes32 <= n; i += lanes32) take(from + i, to + i, i);
  // Once more, numbers that were there before.
  if (i < n) take(from + n - lanes32, to + n - lanes32, n - lanes32);
}

template <class Element>
NARROW_KERNEL void decode_blocks(const Element* from, float* to, const strided_lines& b,
                                 const block_runs& runs, const float* scales) {
  for_bands(b, runs, [&](const strided_lines& part, index first) {
    const auto decode = [&, end = first + part.lines](index place, index n, const auto& scale_at) {
      for (index line = first; line < end; ++line)
        decode_places(scale_at, from + line * b.from_stride + place, to + line * b.to_stride + place, n);
    };
    if (runs.are_narrow()) {
      alignas(vector_bytes) float by_place[max_places + lanes32];
      if (runs.width == 1)
        scales = copy_places(by_place, scales, b.n);
      else
        for_runs(b.n, runs, [&](index place, index end) { fill_places(by_place, place, end, *scales++); });
      return decode(0, b.n, [&](index place) { return vector_at<float_vector>(by_place + place); });
    }
    for_runs(b.n, runs, [&](index place, index end) {
      const float_vector scale = float_vector{} + *scales++;
      decode(place, end - place, [scale](index) { return scale; });
    });
  });
}

template <class Element> constexpr quantize_kernels<Element> block_coders() {
  return {encode_blocks<round_nearest, magnitude_nearest, Element>,
          encode_blocks<round_toward_zero, magnitude_toward_zero, Element>,
          encode_blocks<round_stochastic, magnitude_stochastic, Element>, decode_blocks<Element>};
}
