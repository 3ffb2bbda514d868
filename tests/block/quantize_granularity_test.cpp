// Quantising with every granularity, and from every kind of view, against exact rationals.
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

TEST_CASE("every granularity: scales and mantissas are right", "[block]") {
  tally count;
  for_each_type<granularities>([&]<class Block>() {
    check_format<bfp<8, Block>>(count);
    check_format<bfp<12, Block, rounding::stochastic>>(count);
    check_format<basic_int8<Block>>(count);
  });
  count.require(std::tuple_size_v<granularities> * 3 * cases_of_format);
}
