// What many tests make of the same templates: declared for all of them, and compiled once, in the library
// that tests/CMakeLists.txt makes of this.
#pragma once

#include <narrow/narrow.hpp>

/// Declares (`extern template`) or compiles (`template`) what multiplies few numbers, which every product
/// has.
#define SHARED_SMALL_PRODUCT(how, A, B, To)                                   \
  how compact_line<A, B, To>::function* job_kernel<compact_line<A, B, To>>(); \
  how compact_product<A, B, To>::function* job_kernel<compact_product<A, B, To>>();
/// Products of matrices, rounded to To.
#define SHARED_PRODUCT(how, A, B, To, Round)                                              \
  how void multiply(kernel_set, const matrix_view<const A>&, const matrix_view<const B>&, \
                    const epilogue<To, Round>&, const kept_panels&, numbers);
/// Magnitudes of a matrix, for its scales.
#define SHARED_MAGNITUDES(how, Statistic)                                                                  \
  how std::size_t add_magnitudes(kernel_set, const matrix_view<const float>&, Statistic&);                 \
  how std::size_t add_magnitudes(kernel_set, const matrix_view<const float>&, const tile_map<Statistic>&); \
  how std::size_t gather_magnitudes(kernel_set, const matrix_view<const float>&, const tile_map<Statistic>&);

#define SHARED_KERNELS(how)                                                                   \
  SHARED_SMALL_PRODUCT(how, float, float, float)                                              \
  SHARED_SMALL_PRODUCT(how, fp16, float, float)                                               \
  SHARED_SMALL_PRODUCT(how, float, fp16, float)                                               \
  SHARED_SMALL_PRODUCT(how, bf16, float, float)                                               \
  SHARED_SMALL_PRODUCT(how, float, bf16, float)                                               \
  SHARED_PRODUCT(how, fp16, float, float, rounding::nearest_even)                             \
  SHARED_PRODUCT(how, float, fp16, float, rounding::nearest_even)                             \
  SHARED_PRODUCT(how, bf16, float, float, rounding::nearest_even)                             \
  SHARED_PRODUCT(how, float, bf16, float, rounding::nearest_even)                             \
  SHARED_PRODUCT(how, float, float, fp16, rounding::nearest_even)                             \
  SHARED_PRODUCT(how, shared_fixed8, shared_fixed8, shared_fixed8, rounding::nearest_even)    \
  SHARED_PRODUCT(how, shared_fixed8, shared_fixed8, float, rounding::nearest_even)            \
  SHARED_PRODUCT(how, shared_fixed16, shared_fixed16, shared_fixed16, rounding::nearest_even) \
  SHARED_PRODUCT(how, shared_fixed16, shared_fixed16, float, rounding::nearest_even)          \
  SHARED_PRODUCT(how, shared_fixed32, shared_fixed32, double, rounding::nearest_even)         \
  SHARED_PRODUCT(how, shared_fixed32, shared_fixed32, shared_fixed32, rounding::nearest_even) \
  SHARED_MAGNITUDES(how, no_statistic)                                                        \
  SHARED_MAGNITUDES(how, detail::absmax_of<detail::binary32>)                                 \
  how code_lines_of<fp8_e4m3fn>::function* job_kernel<code_lines_of<fp8_e4m3fn>>();           \
  how code_lines_of<fp8_e5m2>::function* job_kernel<code_lines_of<fp8_e5m2>>();               \
  how code_lines_of<bf16>::function* job_kernel<code_lines_of<bf16>>();                       \
  how struct encoder<std::int8_t, rounding::nearest_even>;                                    \
  how class wide_product<detail::int128>;                                                     \
  how class wide_product<std::int64_t>;
/// Tensors of int8 blocks that are assigned floats.
#define SHARED_BLOCKS(how)                                                                  \
  how class block_storage<std::int8_t, float>;                                              \
  how class block_storage<std::int8_t, float>::whole_assignment<float, absmax_of<binary32>, \
                                                                rounding::nearest_even>;

#if defined(NARROW_COMPILES_SHARED)
#define SHARED template
#else
#define SHARED extern template
#endif

namespace narrow::inline NARROW_ABI::kernel {
using shared_fixed8 = fixed<8, 4>;
using shared_fixed16 = fixed<16, 8>;
using shared_fixed32 = fixed<32, 16>;

NARROW_STRICT_BEGIN
SHARED_KERNELS(SHARED)
NARROW_STRICT_END
}  // namespace narrow::kernel

namespace narrow::inline NARROW_ABI::detail {
NARROW_STRICT_BEGIN
SHARED_BLOCKS(SHARED)
NARROW_STRICT_END
}  // namespace narrow::detail
