// Three things that a program adds without changing the library: a format, a rounding mode, and a way to
// share scales. They work wherever the library's own do.
#include <narrow/narrow.hpp>

#include <cstdio>
#include <vector>

/// To the nearer neighbour, ties to the smaller magnitude.
struct nearest_down {
  static constexpr bool away(const narrow::rounding::tail& t) noexcept {
    return t.fraction > narrow::rounding::tail::half ||
           (t.fraction == narrow::rounding::tail::half && t.sticky);
  }
  static constexpr bool overflows_to_infinity(narrow::sign) noexcept { return true; }
};

using fp7 = narrow::floating<4, 2>;  // a sign, 4 bits of exponent, 2 of mantissa
using fp7_down = narrow::floating<4, 2, narrow::specials::ieee, nearest_down>;

/// One scale for every two rows.
struct per_two_rows {
  static constexpr std::ptrdiff_t tile_rows(std::ptrdiff_t) { return 2; }
  static constexpr std::ptrdiff_t tile_cols(std::ptrdiff_t cols) { return cols; }
};
using blocks_of_rows = narrow::bfp<8, per_two_rows, nearest_down>;

int main() {
  const fp7 x = 1.375, y = 1.625;  // both are in the middle of two numbers
  const fp7_down z = 1.375;
  std::printf("nearest even %g %g, nearest down %g\n", double{x}, double{y}, double{z});

  const std::vector<float> values = {1, 2, 3, 4, 100, 200, 300, 400, 0.5f, 0.25f, 0.75f, 1};
  std::vector<fp7> codes(values.size());
  narrow::convert(values, codes, nearest_down{});  // a mode for this conversion alone

  const auto tensor = narrow::quantize<blocks_of_rows>(values, 6, 2);
  std::printf("%zu scales: %g %g %g\n", tensor.scales().size(), double{tensor.scales()[0]},
              double{tensor.scales()[1]}, double{tensor.scales()[2]});
  return x == 1.5f && y == 1.5f && z == 1.25f && tensor.scales().size() == 3 ? 0 : 1;
}
