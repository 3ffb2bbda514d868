// Softmax of lines of numbers on vectors (see softmax.hpp); included once in the namespace of an instruction
// set by simd/vector_kernels.inl. No include guard, on purpose.
//
// The powers are floats, times 2^64 so that none is a subnormal one before the division; their sum is a
// double. So of the largest number, which has the power 1, the logarithm is that of 1 and the sum of all
// others, in which these have all of their bits.

inline constexpr int softmax_shift = 64;
inline constexpr double softmax_one = 0x1p64;  // e^0

/// How many significant bits a tie of a format has, or more than that.
template <class T> inline constexpr int softmax_bits = 12;
template <narrow_float T> inline constexpr int softmax_bits<T> = std::min(detail::bits_of_ties<T>(), 12);

/// Numbers less the largest one, of which none is above zero; below -130 all powers are nearer to zero than
/// any float.
template <int Bits> inline float_vector softmax_powers(float_vector difference) {
  const auto [power, scale] = quick_exponential<Bits, softmax_shift>(larger(all_lanes_of(-130), difference));
  return power * scale;
}

/// Sums of lanes, in double.
struct lane_sums {
  double_vector halves[2] = {};

  void add(const float_vector& x) {
    NARROW_UNROLL for (int h = 0; h < 2; ++h) halves[h] +=
        wider<double_vector>(half_lanes(x, h, half_of_lanes));
  }
  double total() const {
    const double_vector sums = halves[0] + halves[1];
    double total = 0;
    for (int l = 0; l < lanes64; ++l) total += sums[l];
    return total;
  }
};

/// What a power is multiplied by to be a share of the sum of all, or what is subtracted from a difference to
/// be its logarithm.
template <class Kind> inline float softmax_part(double sum) {
  if constexpr (std::same_as<Kind, lane_softmax>)
    return static_cast<float>(1 / sum);
  else
    return static_cast<float>(std::log1p((sum - softmax_one) / softmax_one));
}

/// use(i, lanes) for all vectors of a line.
template <class Use> inline void for_vectors(index length, const Use& use) {
  index i = 0;
  for (; i + lanes32 <= length; i += lanes32) use(i, all_lanes{});
  if (i != length) use(i, rest_of(length));
}
template <class T> inline void store_some(T* to, const float_vector& x, all_lanes) {
  store_numbers<T>(to, x);
}
template <class T> inline void store_some(T* to, const float_vector& x, first_lanes lanes) {
  store_numbers<T>(to, x, lanes);
}
template <class Lanes> inline float_vector or_else(float_vector x, float other, Lanes lanes) {
  return are_numbers(lanes) ? x : all_lanes_of(other);
}
inline float_vector or_else(float_vector x, float, all_lanes) { return x; }

template <class Kind, class From, class To>
NARROW_KERNEL void softmax_along(const From* from, index from_step, To* to, index to_step, float* some,
                                 const line_shape& shape) {
  constexpr float least = -std::numeric_limits<float>::infinity();
  const index length = shape.length;
  for (index l = 0; l < shape.lines; ++l, from += from_step, to += to_step) {
    const lane_numbers<From> line{from, 0};
    float_vector most = all_lanes_of(least);
    for_vectors(length,
                [&](index i, auto lanes) { most = larger(most, or_else(at(line, i, lanes), least, lanes)); });
    const float largest = folded(larger_one{}, most);
    lane_sums sums;
    for_vectors(length, [&](index i, auto lanes) {
      const float_vector powers =
          or_else(softmax_powers<softmax_bits<To>>(at(line, i, lanes) - largest), 0, lanes);
      sums.add(powers);
      if constexpr (std::same_as<Kind, lane_softmax>) std::memcpy(some + i, &powers, sizeof powers);
    });
    const float part = softmax_part<Kind>(sums.total());
    for_vectors(length, [&](index i, auto lanes) {
      if constexpr (std::same_as<Kind, lane_softmax>)
        store_some<To>(to + i, vector_at<float_vector>(some + i) * part, lanes);
      else
        store_some<To>(to + i, (at(line, i, lanes) - largest) - part, lanes);
    });
  }
}

template <class Kind, class From, class To>
NARROW_KERNEL void softmax_across(const From* from, index from_step, To* to, index to_step, float* some,
                                  const line_shape& shape) {
  const index length = shape.length;
  for_vectors(shape.lines, [&](index l, auto lanes) {
    const auto numbers = [&](index i) { return at(lane_numbers<From>{from + i * from_step, 0}, l, lanes); };
    float_vector largest = numbers(0);
    for (index i = 1; i < length; ++i) largest = larger(largest, numbers(i));
    lane_sums sums;
    for (index i = 0; i < length; ++i) {
      const float_vector powers = softmax_powers<softmax_bits<To>>(numbers(i) - largest);
      sums.add(powers);
      if constexpr (std::same_as<Kind, lane_softmax>) std::memcpy(some + i * lanes32, &powers, sizeof powers);
    }
    float_vector part;
    for (int p = 0; p < lanes32; ++p) part[p] = softmax_part<Kind>(sums.halves[p / lanes64][p % lanes64]);
    for (index i = 0; i < length; ++i) {
      To* const place = to + i * to_step + l;
      if constexpr (std::same_as<Kind, lane_softmax>)
        store_some<To>(place, vector_at<float_vector>(some + i * lanes32) * part, lanes);
      else
        store_some<To>(place, (numbers(i) - largest) - part, lanes);
    }
  });
}

template <class Kind, class From, class To>
constexpr auto kernel_of(std::type_identity<softmax_along_lines<Kind, From, To>>) {
  return softmax_along<Kind, From, To>;
}
template <class Kind, class From, class To>
constexpr auto kernel_of(std::type_identity<softmax_across_lines<Kind, From, To>>) {
  return softmax_across<Kind, From, To>;
}
