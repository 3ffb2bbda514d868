// Kernels that decode numbers of 8 and 16 bits where they lie; included once in the namespace of an
// instruction set by simd/vector_kernels.inl. No include guard, on purpose.

/// Whether that takes less time than decoding them before: instructions of other lengths look codes up in
/// tables.
inline constexpr bool decodes_in_lines = vector_bytes == 32;

template <class T> struct code_line : fp32_line {
  static constexpr int element_size = sizeof(T);
  static vector load(const void* from) { return lanes_as<vector>(decoded<T>(from)); }
};

template <class T> NARROW_KERNEL const code_line_kernels& code_line_kernels_of() {
  if constexpr (!decodes_in_lines) {
    static constexpr code_line_kernels none{};
    return none;
  } else if constexpr (sizeof(T) == 2) {  // bf16 has kernels for all but inner products
    static constexpr code_line_kernels kernels{dot_line<code_line<T>>};
    return kernels;
  } else {
    static constexpr code_line_kernels kernels{dot_line<code_line<T>>, sum_line<code_line<T>>,
                                               gemv_of<single_columns<code_line<T>>, code_line<T>>()};
    return kernels;
  }
}
template <class Codes> constexpr auto kernel_of(std::type_identity<code_lines_of<Codes>>) {
  return code_line_kernels_of<Codes>;
}
