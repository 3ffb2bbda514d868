// Quantising to mantissas of every width, and to int8, against exact rationals.
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

TEST_CASE("bfp of every width: scales and mantissas are right", "[block]") {
  tally count;
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (check_format<bfp<I + 2>>(count), ...);
    (check_format<bfp<I + 2, tile<2, 3>, rounding::stochastic>>(count), ...);
  }
  (std::make_integer_sequence<int, 15>{});
  count.require(15 * 2 * cases_of_format);
}

TEST_CASE("int8: scales and mantissas are right", "[block]") {
  tally count;
  check_format<int8>(count);
  check_format<basic_int8<tile<2, 3>, rounding::stochastic>>(count);
  count.require(2 * cases_of_format);
}
