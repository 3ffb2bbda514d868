// The products of common formats, which narrow::kernels holds: where it is linked, no file that multiplies
// compiles them again.
#pragma once

#include "../../format/catalog.hpp"
#include "block_product.hpp"

/// Declares (`extern template`) or compiles (`template`) the products of matrices of T, rounded to To.
#define NARROW_PRODUCT(how, T, To)                                                        \
  how void multiply(kernel_set, const matrix_view<const T>&, const matrix_view<const T>&, \
                    const epilogue<To, rounding::nearest_even>&, const kept_panels&, numbers);
/// The same of matrices of elements under float scales.
#define NARROW_BLOCK_PRODUCT(how, Element)                                                                   \
  how void multiply_blocks(kernel_set, const block_view<Element, float>&, const block_view<Element, float>&, \
                           const epilogue<float, rounding::nearest_even>&, const kept_panels&);
/// The kernels of small ones, which programs ask for themselves.
#define NARROW_SMALL_PRODUCT(how, T, To)                                      \
  how compact_line<T, T, To>::function* job_kernel<compact_line<T, T, To>>(); \
  how compact_product<T, T, To>::function* job_kernel<compact_product<T, T, To>>();
#define NARROW_PRODUCTS_OF(how, T) NARROW_PRODUCT(how, T, T) NARROW_PRODUCT(how, T, float)
#define NARROW_COMPILED_PRODUCTS(how)    \
  NARROW_SMALL_PRODUCT(how, fp16, fp16)  \
  NARROW_SMALL_PRODUCT(how, fp16, float) \
  NARROW_SMALL_PRODUCT(how, bf16, bf16)  \
  NARROW_SMALL_PRODUCT(how, bf16, float) \
  NARROW_PRODUCT(how, float, float)      \
  NARROW_PRODUCTS_OF(how, fp16)          \
  NARROW_PRODUCTS_OF(how, bf16)          \
  NARROW_PRODUCTS_OF(how, fp8_e5m2)      \
  NARROW_PRODUCTS_OF(how, fp8_e4m3fn)    \
  NARROW_BLOCK_PRODUCT(how, std::int8_t) \
  NARROW_BLOCK_PRODUCT(how, std::int16_t)

namespace narrow::inline NARROW_ABI::kernel {

/// Whether the scales of two matrices in blocks are known to stay along the terms of a sum, as those of whole
/// matrices do. Where programs compile products, they then compile no others.
enum class scales_of_terms { may_change, stay };

#if defined(NARROW_COMPILED_KERNELS)
inline constexpr bool compiles_products = false;
#else
inline constexpr bool compiles_products = true;
#endif

}  // namespace narrow::kernel

#if defined(NARROW_COMPILED_KERNELS)
NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {
NARROW_COMPILED_PRODUCTS(extern template)
}

NARROW_STRICT_END
#endif
