// expect: narrow::mx<Element>: Element must be int8 or a narrow scalar of at most 8 bits
#include <narrow/block/mx.hpp>

[[maybe_unused]] narrow::mx<narrow::int8> integers = 1;
[[maybe_unused]] narrow::mx<narrow::fp8_e3m4> another_format_of_8_bits = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::mx<narrow::fp16> too_wide = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::mx<float> built_in = 1;
#elif OFFENCE == 3
[[maybe_unused]] narrow::mx<narrow::fixed<12, 4> > wide_fixed = 1;
#endif
