// A format that counts its roundings.
#pragma once

#include <narrow/narrow.hpp>

namespace test {

/// To nearest, ties to even. The policy is asked once for each number that is rounded, zero apart.
struct counting_nearest {
  static inline long calls = 0;

  static bool away(const narrow::rounding::tail& t) {
    ++calls;
    return narrow::rounding::nearest_even::away(t);
  }
  static bool overflows_to_infinity(narrow::sign) { return true; }
};

using counted_fp16 = narrow::floating<5, 10, narrow::specials::ieee, counting_nearest>;
using counted_fixed = narrow::fixed<24, 4, counting_nearest>;

}  // namespace test
