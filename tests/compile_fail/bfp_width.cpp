// expect: narrow::bfp<M>: the mantissa width M must be 2 to 16 bits
#include <narrow/block/tensor.hpp>

[[maybe_unused]] narrow::bfp<2> narrowest = 1;
[[maybe_unused]] narrow::bfp<16> widest = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::bfp<1> too_narrow = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::bfp<17> too_wide = 1;
#elif OFFENCE == 3
[[maybe_unused]] narrow::bfp<0> none = 1;
#elif OFFENCE == 4
[[maybe_unused]] narrow::bfp<-8> negative = 1;
#elif OFFENCE == 5
narrow::block_tensor<narrow::bfp<40> > tensor(1, 1);
#endif
