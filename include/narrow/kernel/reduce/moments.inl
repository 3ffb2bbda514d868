// Sums over the numbers at each place of lines, how many are far from their mean, and sums of squares,
// included once in the namespace of each instruction set, inside its target region, after `vector_bytes` and
// lanes.inl. All operations are those of double lanes, in the order that moment_sums and square_sums say: the
// same bits on each. No include guard, on purpose.

inline constexpr int moment_lanes = vector_bytes / 8;
static_assert(moment_places % moment_lanes == 0);
using moment_doubles [[gnu::vector_size(vector_bytes)]] = double;
using moment_counts [[gnu::vector_size(vector_bytes)]] = std::int64_t;
using moment_floats [[gnu::vector_size(vector_bytes / 2)]] = float;
using moment_bits [[gnu::vector_size(vector_bytes / 2)]] = std::int32_t;

/// A number at each place: its difference from the pivot of the place, zero if it is not finite.
struct moment_numbers {
  moment_bits magnitude, finite;  // masks, as what comparisons give
  moment_doubles difference;

  moment_numbers(const float* from, moment_doubles pivot) {
    const auto bits = vector_at<moment_bits>(from);
    magnitude = bits & 0x7fff'ffff;
    finite = magnitude < 0x7f80'0000;
    const auto number = wider<moment_doubles>(lanes_as<moment_floats>(bits & finite));
    difference = lanes_as<moment_doubles>(lanes_as<moment_counts>(number - pivot) & counted());
  }
  moment_counts counted() const { return __builtin_convertvector(finite, moment_counts); }
};

/// What moment_sums has for some places.
struct moments_at {
  using memory = moment_sums;
  moment_doubles pivot, sum[moment_parts], squares[moment_parts];
  moment_counts finite;
  moment_bits largest;

  moments_at(const memory& m, index place)
      : pivot(vector_at<moment_doubles>(m.pivots + place)),
        finite(vector_at<moment_counts>(m.finite + place)),
        largest(vector_at<moment_bits>(m.largest + place)) {
    NARROW_UNROLL for (int p = 0; p < moment_parts; ++p) {
      sum[p] = vector_at<moment_doubles>(m.sums + p * m.places + place);
      squares[p] = vector_at<moment_doubles>(m.squares + p * m.places + place);
    }
  }
  void add(const float* from, int part) {
    const moment_numbers x(from, pivot);
    sum[part] += x.difference;
    squares[part] += apart(x.difference * x.difference);
    finite -= x.counted();
    const moment_bits magnitude = x.magnitude & x.finite;
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
  moment_doubles pivot, mean, deviation;
  moment_bits limit;
  moment_counts far, beyond;

  tails_at(const memory& m, index place)
      : pivot(vector_at<moment_doubles>(m.pivots + place)),
        mean(vector_at<moment_doubles>(m.means + place)),
        deviation(vector_at<moment_doubles>(m.deviations + place)),
        limit(vector_at<moment_bits>(m.limits + place)),
        far(vector_at<moment_counts>(m.far + place)),
        beyond(vector_at<moment_counts>(m.beyond + place)) {}
  void add(const float* from, int) {
    const moment_numbers x(from, pivot);
    const auto off = lanes_as<moment_doubles>(lanes_as<moment_counts>(x.difference - mean) & x.counted());
    far -= (off > deviation) | (-off > deviation);
    beyond -= __builtin_convertvector(x.finite & (x.magnitude > limit), moment_counts);
  }
  void store(const memory& m, index place) const {
    std::memcpy(m.far + place, &far, sizeof far);
    std::memcpy(m.beyond + place, &beyond, sizeof beyond);
  }
};

/// Adds lines to what the memory has, some that fit into the first cache at a time.
template <class State>
NARROW_KERNEL void add_places(const float* from, const strided_lines& lines,
                              const typename State::memory& memory) {
  const strided_lines b = lines;
  const typename State::memory m = memory;
  constexpr index some = 64;
  static_assert(some % moment_parts == 0);
  for (index line = 0; line < b.lines; line += some, from += some * b.from_stride) {
    const index count = std::min(some, b.lines - line);
    for (index place = 0; place < b.n; place += moment_lanes) {
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
  moment_doubles parts[square_sums / moment_lanes];
  std::memcpy(parts, sums, sizeof parts);
  for (index i = 0; i < n; i += square_sums) {
    NARROW_UNROLL for (int p = 0; p < square_sums / moment_lanes; ++p) {
      const moment_doubles x = number(i + p * moment_lanes);
      parts[p] += apart(x * x);
    }
  }
  std::memcpy(sums, parts, sizeof parts);
}

NARROW_KERNEL inline void add_squares(const float* from, index n, double* sums) {
  add_squares_of(n, sums,
                 [from](index i) { return wider<moment_doubles>(vector_at<moment_floats>(from + i)); });
}

NARROW_KERNEL inline void add_quotients(const float* from, double divisor, double* to, index n,
                                        double* sums) {
  add_squares_of(n, sums, [=](index i) {
    const moment_doubles x = vector_at<moment_doubles>(to + i) +
                             wider<moment_doubles>(vector_at<moment_floats>(from + i)) / divisor;
    std::memcpy(to + i, &x, sizeof x);
    return x;
  });
}
