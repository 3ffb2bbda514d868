// expect: narrow::exponent: Bits must be 1 to M - 1, where M is the width of the mantissa
#include <narrow/block/product.hpp>

#include <vector>

namespace exponent = narrow::exponent;
template <int M, class Exponent>
using format = narrow::bfp<M, narrow::per_tensor, narrow::rounding::nearest_even, Exponent>;

const std::vector<float> values(4);
template <class F> auto quantized() { return narrow::quantize<F>(values, 2, 2); }

[[maybe_unused]] const auto fewest = quantized<format<8, exponent::min<1>>>();
[[maybe_unused]] const auto most = quantized<format<8, exponent::avg<7>>>();
#if OFFENCE == 1
[[maybe_unused]] const auto too_many = quantized<format<8, exponent::min<8>>>();
#elif OFFENCE == 2
[[maybe_unused]] const auto far_too_many = quantized<format<4, exponent::avg<30>>>();
#elif OFFENCE == 3
[[maybe_unused]] const auto negative = quantized<format<8, exponent::min<-1>>>();
#endif
