// The formats of the random programs; generate.py reads the names here.
#pragma once

#include <narrow/narrow.hpp>

namespace formats {
using namespace narrow;

using fp16 = narrow::fp16;
using bf16 = narrow::bf16;
using e5m2 = fp8_e5m2;
using e4m3fn = fp8_e4m3fn;
using e3m4 = fp8_e3m4;
using e5m2fnuz = fp8_e5m2fnuz;
using e4m3fnuz = fp8_e4m3fnuz;
using e2m3 = fp6_e2m3;
using e2m1 = fp4_e2m1;
using fp16_saturating = floating<5, 10, specials::ieee, rounding::nearest_even, overflow::saturate>;
using fp16_downward = floating<5, 10, specials::ieee, rounding::downward>;
using bf16_stochastic = floating<8, 7, specials::ieee, rounding::stochastic>;
using e6m12 = floating<6, 12>;
using fixed8 = fixed<8, 4>;
using fixed12 = fixed<12, 6>;
using fixed16 = fixed<16, 8>;
using fixed8_wrapping = fixed<8, 4, rounding::nearest_even, overflow::wrap>;
using fixed12_away = fixed<12, 6, rounding::nearest_away>;
using fixed8_down = fixed<8, 5, rounding::downward>;
using fixed8_stochastic = fixed<8, 4, rounding::stochastic>;
}  // namespace formats

#define NARROW_RANDOM_FORMATS(FORMAT) \
  FORMAT(formats::fp16)               \
  FORMAT(formats::bf16)               \
  FORMAT(formats::e5m2)               \
  FORMAT(formats::e4m3fn)             \
  FORMAT(formats::e3m4)               \
  FORMAT(formats::e5m2fnuz)           \
  FORMAT(formats::e4m3fnuz)           \
  FORMAT(formats::e2m3)               \
  FORMAT(formats::e2m1)               \
  FORMAT(formats::fp16_saturating)    \
  FORMAT(formats::fp16_downward)      \
  FORMAT(formats::bf16_stochastic)    \
  FORMAT(formats::e6m12)              \
  FORMAT(formats::fixed8)             \
  FORMAT(formats::fixed12)            \
  FORMAT(formats::fixed16)            \
  FORMAT(formats::fixed8_wrapping)    \
  FORMAT(formats::fixed12_away)       \
  FORMAT(formats::fixed8_down)        \
  FORMAT(formats::fixed8_stochastic)
