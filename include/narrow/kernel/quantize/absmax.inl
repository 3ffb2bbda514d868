// The largest magnitudes of lines of floats. Included once in the namespace of an instruction set by
// simd/vector_kernels.inl. No include guard, on purpose.

/// One block.
NARROW_KERNEL inline std::size_t absmax_of_block(const float* from, const strided_lines& b,
                                                 std::uint32_t* largest) {
  constexpr index ways = 4;
  const index n = b.n;
  int32_vector most[ways] = {};
  const auto look = [&](const float* numbers, index k) {
    uint32_vector bits;
    std::memcpy(&bits, numbers, sizeof bits);
    raise_to_magnitudes(bits, most[k]);
  };
  for (index line = 0; line < b.lines; ++line) {
    const float* const x = from + line * b.from_stride;
    index i = 0;
    for (; i + ways * lanes32 <= n; i += ways * lanes32) {
      NARROW_UNROLL for (index k = 0; k < ways; ++k) look(x + i + k * lanes32, k);
    }
    for (; i + lanes32 <= n; i += lanes32) look(x + i, 0);
    if (i == n) continue;
    if (n >= lanes32) {  // once more, at numbers that were looked at before
      look(x + n - lanes32, 1);
      continue;
    }
    float rest[lanes32];
    read_part(rest, x, n * index{sizeof(float)});
    look(rest, 0);
  }
  for (const int32_vector& other : most) most[0] = most[0] > other ? most[0] : other;
  std::int32_t top = largest_of(most[0]);
  std::size_t count = 0;
  if (top >= nonfinite_bits) {  // rare
    top = 0;
    for (index line = 0; line < b.lines; ++line)
      for (index i = 0; i < n; ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(from[line * b.from_stride + i]) & magnitude_mask;
        const auto magnitude = static_cast<std::int32_t>(bits);
        if (magnitude >= nonfinite_bits)
          ++count;
        else
          top = top < magnitude ? magnitude : top;
      }
  }
  const auto found = static_cast<std::uint32_t>(top);
  *largest = *largest < found ? found : *largest;
  return count;
}

/// Narrow blocks side by side, by places; false, and nothing is done, if something is not finite.
inline bool absmax_by_place(const float* from, const strided_lines& block, const block_runs& runs,
                            std::uint32_t* largest) {
  const strided_lines b = block;
  alignas(vector_bytes) std::int32_t by_place[max_places + lanes32];
  int32_vector all = {};
  index place = 0;
  constexpr index ways = 4;  // cache lines of a line, which are read together
  for (; place + ways * lanes32 <= b.n; place += ways * lanes32) {
    int32_vector most[ways] = {};
    for (index line = 0; line < b.lines; ++line) {
      const float* const x = from + line * b.from_stride + place;
      NARROW_UNROLL for (index w = 0; w < ways; ++w)
          raise_to_magnitudes(vector_at<uint32_vector>(x + w * lanes32), most[w]);
    }
    NARROW_UNROLL for (index w = 0; w < ways; ++w) {
      std::memcpy(by_place + place + w * lanes32, &most[w], sizeof most[w]);
      all = all > most[w] ? all : most[w];
    }
  }
  for (; place < b.n; place += lanes32) {
    int32_vector most = {};
    for (index line = 0; line < b.lines; ++line)
      raise_to_magnitudes(read<uint32_vector>(from + line * b.from_stride + place, b.n - place), most);
    std::memcpy(by_place + place, &most, sizeof most);
    all = all > most ? all : most;
  }
  if (largest_of(all) >= nonfinite_bits) return false;
  if (runs.width == 1) {
    for (index first = 0; first < b.n; first += lanes32) {
      const auto found = vector_at<int32_vector>(by_place + first);
      const auto before = read<int32_vector>(largest + first, b.n - first);
      write(largest + first, found > before ? found : before, b.n - first);
    }
    return true;
  }
  for_runs(b.n, runs, [&](index first, index end) {
    auto top = static_cast<std::int32_t>(*largest);
    for (; first < end; ++first) top = top < by_place[first] ? by_place[first] : top;
    *largest++ = static_cast<std::uint32_t>(top);
  });
  return true;
}

NARROW_KERNEL inline std::size_t absmax_of_blocks(const float* from, const strided_lines& b,
                                                  const block_runs& runs, std::uint32_t* largest) {
  std::size_t nonfinite = 0;
  for_bands(b, runs, [&](strided_lines part, index line) {
    const float* const x = from + line * b.from_stride;
    const bool done = runs.are_narrow() && absmax_by_place(x, part, runs, largest);
    for_runs(b.n, runs, [&](index place, index end) {
      part.n = end - place;
      if (!done) nonfinite += absmax_of_block(x + place, part, largest);
      ++largest;
    });
  });
  return nonfinite;
}
