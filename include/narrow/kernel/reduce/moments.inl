// Sums over the numbers at each place of lines, how many are far from their mean, and sums of squares;
// included once in the namespace of an instruction set by simd/vector_kernels.inl. All operations are those
// of lanes of double, in the order that moment_sums and square_sums say, so that they give the same bits on
// each instruction set. No include guard, on purpose.

static_assert(moment_places % lanes64 == 0);

/// A number at each place: its difference from the pivot of the place, zero if it is not finite.
struct moment_numbers {
  half_int32_vector magnitude, finite;  // masks, as what comparisons give
  double_vector difference;

  moment_numbers(const float* from, double_vector pivot) {
    const auto bits = vector_at<half_int32_vector>(from);
    magnitude = bits & static_cast<std::int32_t>(magnitude_mask);
    finite = magnitude < nonfinite_bits;
    const auto number = wider<double_vector>(lanes_as<half_float_vector>(bits & finite));
    difference = lanes_as<double_vector>(lanes_as<int64_vector>(number - pivot) & counted());
  }
  int64_vector counted() const { return __builtin_convertvector(finite, int64_vector); }
};

/// What moment_sums has for some places.
struct moments_at {
  using memory = moment_sums;
  double_vector pivot, sum[moment_parts], squares[moment_parts];
  int64_vector finite;
  half_int32_vector largest;

  moments_at(const memory& m, index place)
      : pivot(vector_at<double_vector>(m.pivots + place)),
        finite(vector_at<int64_vector>(m.finite + place)),
        largest(vector_at<half_int32_vector>(m.largest + place)) {
    NARROW_UNROLL for (int p = 0; p < moment_parts; ++p) {
      sum[p] = vector_at<double_vector>(m.sums + p * m.places + place);
      squares[p] = vector_at<double_vector>(m.squares + p * m.places + place);
    }
  }
  void add(const float* from, int part) {
    const moment_numbers x(from, pivot);
    sum[part] += x.difference;
    squares[part] += uncontracted(x.difference * x.difference);
    finite -= x.counted();
    const half_int32_vector magnitude = x.magnitude & x.finite;
    largest = largest > magnitude ? largest : magnitude;
  }
  void store(const memory& m, index place) const {
    NARROW_UNROLL for (int p = 0; p < moment_parts; ++p) {
      std::memcpy(m.sums + p * m.places + place, &sum[p], sizeof sum[p]);
      std::memcpy(m.squares + p * m.places + place, &squares[p], sizeof squares[p]);
    }
    std::memcpy(m.finite + place, &finite, sizeof finite);
    std::memcpy(m.largest + place, &largest, sizeof largest);
  }
};

/// What tail_counts has for some places.
struct tails_at {
  using memory = tail_counts;
  double_vector pivot, mean, deviation;
  half_int32_vector limit;
  int64_vector far, beyond;

  tails_at(const memory& m, index place)
      : pivot(vector_at<double_vector>(m.pivots + place)),
        mean(vector_at<double_vector>(m.means + place)),
        deviation(vector_at<double_vector>(m.deviations + place)),
        limit(vector_at<half_int32_vector>(m.limits + place)),
        far(vector_at<int64_vector>(m.far + place)),
        beyond(vector_at<int64_vector>(m.beyond + place)) {}
  void add(const float* from, int) {
    const moment_numbers x(from, pivot);
    const auto off = lanes_as<double_vector>(lanes_as<int64_vector>(x.difference - mean) & x.counted());
    far -= (off > deviation) | (-off > deviation);
    beyond -= __builtin_convertvector(x.finite & (x.magnitude > limit), int64_vector);
  }
  void store(const memory& m, index place) const {
    std::memcpy(m.far + place, &far, sizeof far);
    std::memcpy(m.beyond + place, &beyond, sizeof beyond);
  }
};

/// Adds lines to what the memory has, some that fit into the first cache at a time.
template <class State>
NARROW_KERNEL void add_places(const float* from, const line_block& lines,
                              const typename State::memory& memory) {
  const line_block b = lines;
  const typename State::memory m = memory;
  constexpr index some = 64;
  static_assert(some % moment_parts == 0);
  for (index line = 0; line < b.lines; line += some, from += some * b.from_stride) {
    const index count = std::min(some, b.lines - line);
    for (index place = 0; place < b.n; place += lanes64) {
      State state(m, place);
      const float* x = from + place;
      for (index l = 0; l < count; l += moment_parts) {
        NARROW_UNROLL for (int p = 0; p < moment_parts; ++p) {
          if (l + p < count) state.add(x + (l + p) * b.from_stride, p);
        }
      }
      state.store(m, place);
    }
  }
}

/// Adds the squares of number(i), the doubles from the i-th on, for i < n in whole vectors.
template <class Number> inline void add_squares_of(index n, double* sums, const Number& number) {
  double_vector parts[square_sums / lanes64];
  std::memcpy(parts, sums, sizeof parts);
  for (index i = 0; i < n; i += square_sums) {
    NARROW_UNROLL for (int p = 0; p < square_sums / lanes64; ++p) {
      const double_vector x = number(i + p * lanes64);
      parts[p] += uncontracted(x * x);
    }
  }
  std::memcpy(sums, parts, sizeof parts);
}

NARROW_KERNEL inline void add_squares(const float* from, index n, double* sums) {
  add_squares_of(n, sums,
                 [from](index i) { return wider<double_vector>(vector_at<half_float_vector>(from + i)); });
}

NARROW_KERNEL inline void add_quotients(const float* from, double divisor, double* to, index n,
                                        double* sums) {
  add_squares_of(n, sums, [=](index i) {
    const double_vector x = vector_at<double_vector>(to + i) +
                            wider<double_vector>(vector_at<half_float_vector>(from + i)) / divisor;
    std::memcpy(to + i, &x, sizeof x);
    return x;
  });
}
