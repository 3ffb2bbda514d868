// expect: narrow::floating: Round must be a rounding policy, see narrow::rounding
#include <narrow/format/operators.hpp>

using narrow::floating, narrow::specials;

[[maybe_unused]] floating<5, 10, specials::ieee, narrow::rounding::to_odd> odd = 1;
#if OFFENCE == 1
[[maybe_unused]] floating<5, 10, specials::ieee, int> number = 1;
#elif OFFENCE == 2
[[maybe_unused]] floating<5, 10, specials::ieee, narrow::overflow::saturate> overflow = 1;
#elif OFFENCE == 3
struct half_a_policy {
  static constexpr bool away(const narrow::rounding::tail&) { return false; }
};
[[maybe_unused]] floating<5, 10, specials::ieee, half_a_policy> half = 1;
#endif
