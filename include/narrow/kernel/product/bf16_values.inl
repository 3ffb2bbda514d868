// Elements of 8 bits times powers of two as bf16, included once in the namespace of an instruction set by
// simd/vector_kernels.inl. No include guard, on purpose.

// What gives as many codes of bf16 as a vector holds, of the first n elements, and zeros.

struct integers_as_bf16 {
  explicit integers_as_bf16(const std::uint16_t*) {}
  uint16_vector operator()(const unsigned char* from, index n) const {
    unsigned char some[2 * lanes32] = {};
    if (n < 2 * lanes32) {
      std::memcpy(some, from, static_cast<std::size_t>(n));
      from = some;
    }
    return upper_halves(floats(from), floats(from + lanes32), std::make_integer_sequence<int, 2 * lanes32>{});
  }

 private:
  static uint16_vector floats(const unsigned char* from) {
    const auto x = lanes_as<int32_vector>(instructions::load_signed<1>(from));
    return lanes_as<uint16_vector>(__builtin_convertvector(x, float_vector));
  }
  template <int... I>
  static uint16_vector upper_halves(uint16_vector low, uint16_vector high, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(low, high, (2 * I + 1)...);
  }
};

struct codes_as_bf16 {
  const std::uint16_t* values;
  explicit codes_as_bf16(const std::uint16_t* of_codes) : values(of_codes) {}
  uint16_vector operator()(const unsigned char* from, index n) const {
    std::uint16_t found[2 * lanes32] = {};
    for (index i = 0; i < std::min<index>(n, 2 * lanes32); ++i) found[i] = values[from[i]];
    return vector_at<uint16_vector>(found);
  }
};

/// The magnitudes of what came out, in each lane.
struct seen_lanes {
  uint16_vector least = ~uint16_vector{}, most = {};
};

/// Codes of bf16 times powers of two. Inlined, as what follows: so that what was seen stays in registers.
[[gnu::always_inline]] inline uint16_vector scaled_bf16(uint16_vector code, uint16_vector step,
                                                        seen_lanes& seen) {
  constexpr std::uint16_t magnitude_bits = 0x7fff, infinity = 0x7f80;
  const uint16_vector magnitude = code & magnitude_bits, other = magnitude + step;
  // A zero, less 1, becomes the largest number.
  const auto changes = magnitude - std::uint16_t{1} < std::uint16_t{infinity - 1};
  seen.least = smaller(seen.least, changes ? other : ~uint16_vector{});
  seen.most = larger(seen.most, changes ? other : uint16_vector{});
  return changes ? code + step : code;
}

inline constexpr std::uint16_t bf16_nan = 0x7fc0;

/// The first n numbers of a vector under one step.
template <class Decode>
[[gnu::always_inline]] inline void scale_some(const Decode& decode, const unsigned char* from,
                                              std::uint16_t step, index n, unsigned char* to,
                                              seen_lanes& seen) {
  uint16_vector code = decode(from, n);
  if (step == scaled_lines::by_nan)
    code = uint16_vector{} + bf16_nan;
  else
    code = scaled_bf16(code, uint16_vector{} + step, seen);
  write(to, code, n);
}

/// A line whose runs have whole vectors, except for the end of the last one.
template <class Decode>
[[gnu::always_inline]] inline void scale_whole_runs(const Decode& decode, const unsigned char* from,
                                                    const scaled_lines& s, const std::uint16_t* steps,
                                                    unsigned char* to, seen_lanes& seen) {
  constexpr index count = 2 * lanes32;
  const index vectors = s.run / count;
  index i = 0;
  for (index left = vectors; i + count <= s.length; i += count) {
    scale_some(decode, from + i, *steps, count, to + 2 * i, seen);
    if (--left == 0) {
      left = vectors;
      ++steps;
    }
  }
  if (i < s.length) scale_some(decode, from + i, *steps, s.length - i, to + 2 * i, seen);
}
/// A line of any runs.
template <class Decode>
[[gnu::always_inline]] inline void scale_runs(const Decode& decode, const unsigned char* from,
                                              const scaled_lines& s, const std::uint16_t* steps,
                                              unsigned char* to, seen_lanes& seen) {
  constexpr index count = 2 * lanes32;
  for (index first = 0, last = s.first_run; first < s.length; first = last, last += s.run, ++steps) {
    last = std::min(last, s.length);
    for (index i = first; i < last; i += count)
      scale_some(decode, from + i, *steps, std::min(count, last - i), to + 2 * i, seen);
  }
}
/// A line of which every number has a step of its own.
template <class Decode>
[[gnu::always_inline]] inline void scale_each(const Decode& decode, const unsigned char* from,
                                              const scaled_lines& s, const std::uint16_t* steps,
                                              unsigned char* to, seen_lanes& seen) {
  constexpr index count = 2 * lanes32;
  for (index i = 0, n; i < s.length; i += n) {
    n = std::min(count, s.length - i);
    const auto step = read<uint16_vector>(steps + i, n);
    const auto is_nan = step == scaled_lines::by_nan;
    const uint16_vector code = decode(from + i, n), number = is_nan ? uint16_vector{} : code;
    const uint16_vector scaled = scaled_bf16(number, step, seen);
    write(to + 2 * i, is_nan ? uint16_vector{} + bf16_nan : scaled, n);
  }
}

template <class Decode>
NARROW_KERNEL void scale_to_bf16(const void* from, const std::uint16_t* values, const scaled_lines& lines,
                                 void* to, bf16_magnitudes& seen) {
  const scaled_lines s = lines;  // which a store to the codes cannot change
  const Decode decode(values);
  seen_lanes all;
  const auto* elements = static_cast<const unsigned char*>(from);
  auto* codes = static_cast<unsigned char*>(to);
  const std::uint16_t* steps = s.steps;
  for (index i = 0; i < s.lines;
       ++i, elements += s.stride, codes += 2 * s.to_stride, steps += s.steps_stride) {
    if (s.run == 1)
      scale_each(decode, elements, s, steps, codes, all);
    else if (s.run % (2 * lanes32) == 0 && s.first_run == s.run)
      scale_whole_runs(decode, elements, s, steps, codes, all);
    else
      scale_runs(decode, elements, s, steps, codes, all);
  }
  const seen_lanes result = all;  // a copy, since an index of a lane keeps a vector in memory
  for (index l = 0; l < 2 * lanes32; ++l) {
    seen.least = std::min<std::uint16_t>(seen.least, result.least[l]);
    seen.most = std::max<std::uint16_t>(seen.most, result.most[l]);
  }
}
