// Names of formats: each is the text of the type itself, which the compiler has read, too.
#include <set>

#include "../policies.hpp"
#include "../tally.hpp"

using namespace test;
using namespace narrow;

namespace user {
struct half_down : rounding::toward_zero {};
template <int, class> struct threshold : rounding::toward_zero {};
}  // namespace user
namespace user_narrow {
struct half_down : rounding::toward_zero {};
}  // namespace user_narrow

#define CHECK_NAME(...) CHECK(format_name<__VA_ARGS__>() == #__VA_ARGS__)

TEST_CASE("a format of the catalogue has the name of its alias", "[format][names]") {
  const char* const names[] = {"fp16",         "bf16",         "fp8_e5m2", "fp8_e4m3fn", "fp8_e3m4",
                               "fp8_e5m2fnuz", "fp8_e4m3fnuz", "fp6_e2m3", "fp6_e3m2",   "fp4_e2m1"};
  static_assert(std::size(names) == std::tuple_size_v<all_formats>);
  std::size_t i = 0;
  for_each_type<all_formats>([&]<class T>() { CHECK(format_name<T>() == names[i++]); });
  CHECK_NAME(fp16);
  CHECK_NAME(bf16);
  CHECK_NAME(fp8_e4m3fn);
  CHECK_NAME(fp4_e2m1);
}

// clang-format off
TEST_CASE("a format has the name that it is written as", "[format][names]") {
  CHECK_NAME(floating<4,2>);
  CHECK_NAME(floating<4,2, specials::fn>);
  CHECK_NAME(floating<4,2, specials::fnuz>);
  CHECK_NAME(floating<4,2, specials::none>);
  CHECK_NAME(floating<5,10, specials::ieee, rounding::stochastic>);
  CHECK_NAME(floating<5,10, specials::ieee, rounding::nearest_even, overflow::saturate>);
  CHECK_NAME(fixed<8,4>);
  CHECK_NAME(fixed<32,31, rounding::to_odd>);
  CHECK_NAME(fixed<8,4, rounding::nearest_even, overflow::wrap>);
  CHECK_NAME(fixed<8,4, user::half_down>);
  CHECK_NAME(fixed<8,4, user_narrow::half_down>);
  CHECK_NAME(fixed<8,4, user::threshold<3,float>, overflow::wrap>);
  CHECK_NAME(bfp<8>);
  CHECK_NAME(bfp<8, per_row>);
  CHECK_NAME(bfp<12, tile<24,24>>);
  CHECK_NAME(bfp<8, per_tensor, rounding::stochastic>);
  CHECK_NAME(bfp<8, per_column, rounding::nearest_even, exponent::min<0>>);
  CHECK_NAME(bfp<8, per_column, rounding::nearest_even, exponent::avg<3>>);
  CHECK_NAME(int8);
  CHECK_NAME(basic_int8<per_row>);
  CHECK_NAME(basic_int8<per_tensor, rounding::stochastic>);
  CHECK_NAME(mx<int8>);
  CHECK_NAME(mx<fp8_e4m3fn>);
  CHECK_NAME(mx<fp4_e2m1, tile<1,16>>);
  CHECK_NAME(mx<fixed<6,4>, tile<1,32>, rounding::stochastic>);
  CHECK_NAME(dynamic_fixed);
  CHECK_NAME(float);
  CHECK_NAME(double);
  CHECK_NAME(long double);
  CHECK_NAME(int);
}
// clang-format on

TEST_CASE("no two formats have one name", "[format][names]") {
  std::set<std::string> names;
  std::size_t formats = 0;
  const auto add = [&]<class T>() {
    names.insert(format_name<T>());
    ++formats;
  };
  for_each_type<decltype(std::tuple_cat(all_formats{}, fixed_formats{}))>(
      [&]<class T>() { for_each_policy<T>(add); });
  const auto add_blocks = [&]<class Block, class Round>() {
    add.template operator()<bfp<8, Block, Round>>();
    add.template operator()<bfp<8, Block, Round, exponent::min<0>>>();
    add.template operator()<bfp<8, Block, Round, exponent::min<5>>>();
    add.template operator()<basic_int8<Block, Round>>();
    add.template operator()<mx<int8, Block, Round>>();
    add.template operator()<mx<fp8_e5m2, Block, Round>>();
  };
  using blocks = std::tuple<per_tensor, per_row, per_column, tile<1, 32>, tile<24, 24>>;
  for_each_type<rounding_modes>([&]<class Round>() {
    for_each_type<blocks>([&]<class Block>() { add_blocks.template operator()<Block, Round>(); });
  });
  CHECK(names.size() == formats);
  constexpr auto modes = std::tuple_size_v<rounding_modes>;
  static_assert(std::tuple_size_v<floating_overflows> == std::tuple_size_v<fixed_overflows>);
  constexpr auto scalars = (std::tuple_size_v<all_formats> + std::tuple_size_v<fixed_formats>)*modes *
                           std::tuple_size_v<fixed_overflows>;
  CHECK(formats == scalars + modes * std::tuple_size_v<blocks> * 6);  // of add_blocks
}
