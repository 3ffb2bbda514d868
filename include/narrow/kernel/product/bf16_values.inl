// Lines of bf16 times powers of two, included once in the namespace of each instruction set, inside its target
// region, after lanes.inl. No include guard, on purpose.

/// Multiplies one vector after another, and keeps the magnitudes of what came out.
struct bf16_scaler {
  static constexpr index count = vector_bytes / 2;
  uint16_vector least = ~uint16_vector{}, most = {};

  /// The first n numbers at `codes`.
  void operator()(unsigned char* codes, uint16_vector step, index n) {
    constexpr std::uint16_t sign = 0x8000, infinity = 0x7f80, quiet_nan = 0x7fc0;
    const auto code = read<uint16_vector>(codes, n);
    const uint16_vector magnitude = code & static_cast<std::uint16_t>(sign - 1);
    const auto by_nan = lanes_as<uint16_vector>(step == bf16_scaling::by_nan);
    // A zero, less 1, becomes the largest number.
    const auto changes = lanes_as<uint16_vector>(magnitude - std::uint16_t{1} < std::uint16_t{infinity - 1}) & ~by_nan;
    const uint16_vector scaled = magnitude + (step & changes);
    least = smaller(least, scaled | ~changes);
    most = larger(most, scaled & changes);
    write(codes, (scaled & ~by_nan) | (by_nan & quiet_nan) | (code & sign), n);
  }
  /// So many numbers under one step.
  void run(unsigned char* codes, std::uint16_t step, index n) {
    for (index i = 0; i < n; i += count)
      (*this)(codes + 2 * i, uint16_vector{} + step, std::min(count, n - i));
  }
  void line(unsigned char* codes, const bf16_scaling& s, const std::uint16_t* steps) {
    if (s.run == 1) {
      for (index i = 0; i < s.length; i += count) {
        const index n = std::min(count, s.length - i);
        (*this)(codes + 2 * i, read<uint16_vector>(steps + i, n), n);
      }
      return;
    }
    for (index i = 0, n = s.first_run; i < s.length; i += n, n = s.run)
      run(codes + 2 * i, *steps++, std::min(n, s.length - i));
  }
};

NARROW_KERNEL inline void scale_bf16_lines(void* codes, const bf16_scaling& scaling, bf16_magnitudes& seen) {
  const bf16_scaling s = scaling;  // which a store to the codes cannot change
  bf16_scaler scale;
  for (index i = 0; i < s.lines; ++i)
    scale.line(static_cast<unsigned char*>(codes) + 2 * i * s.stride, s, s.steps + i * s.steps_stride);
  for (index l = 0; l < bf16_scaler::count; ++l) {
    seen.least = std::min<std::uint16_t>(seen.least, scale.least[l]);
    seen.most = std::max<std::uint16_t>(seen.most, scale.most[l]);
  }
}
