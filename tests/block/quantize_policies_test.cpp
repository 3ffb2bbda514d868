// Quantising under every rounding mode and every rule for the shared exponent, against exact rationals.
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

template <template <class Round> class Format> void check_rounding_modes() {
  tally count;
  for_each_type<rounding_modes>([&]<class Round>() { check_format<Format<Round>>(count); });
  count.require(std::tuple_size_v<rounding_modes> * cases_of_format);
}

template <class Round> using by_largest = bfp<5, per_column, Round, exponent::max>;
template <class Round> using by_smallest = bfp<8, per_row, Round, exponent::min<>>;
template <class Round> using by_mean = bfp<11, tile<2, 3>, Round, exponent::avg<>>;
template <class Round> using int8_with = basic_int8<per_row, Round>;

}  // namespace

TEST_CASE("exponent::max under every rounding mode", "[block]") { check_rounding_modes<by_largest>(); }
TEST_CASE("exponent::min under every rounding mode", "[block]") { check_rounding_modes<by_smallest>(); }
TEST_CASE("exponent::avg under every rounding mode", "[block]") { check_rounding_modes<by_mean>(); }
TEST_CASE("int8 under every rounding mode", "[block]") { check_rounding_modes<int8_with>(); }

TEST_CASE("the bits that min and avg keep", "[block]") {
  using nearest = rounding::nearest_even;
  tally count;
  check_format<bfp<2, per_tensor, nearest, exponent::min<>>>(count);
  check_format<bfp<2, per_tensor, nearest, exponent::avg<1>>>(count);
  check_format<bfp<9, per_row, nearest, exponent::min<1>>>(count);
  check_format<bfp<9, per_row, nearest, exponent::avg<8>>>(count);
  check_format<bfp<16, per_column, nearest, exponent::min<15>>>(count);
  check_format<bfp<16, per_column, nearest, exponent::avg<>>>(count);
  count.require(6 * cases_of_format);
}

namespace {

/// Away from zero, or toward it: what its type does not tell.
class chosen_direction {
 public:
  explicit chosen_direction(bool away) : away_(away) {}
  bool away(const rounding::tail& t) const { return away_ && t.inexact(); }
  static bool overflows_to_infinity(sign) { return false; }

 private:
  bool away_;
};

}  // namespace

TEST_CASE("nothing saturates under a policy that has state", "[block]") {
  const std::vector<float> values{127.25f, 3, -127.5f};
  const auto away = quantize<bfp<8>>(values, 1, 3, chosen_direction(true));
  CHECK(away.scales()[0] == 2);
  CHECK(away(0, 0) == 128);
  CHECK(away(0, 2) == -128);
  const auto toward = quantize<bfp<8>>(values, 1, 3, chosen_direction(false));
  CHECK(toward(0, 0) == 126);
  CHECK(toward(0, 1) == 2);
}

TEST_CASE("a rounding mode given for one assignment replaces the format's", "[block]") {
  tally count;
  check_format<bfp<6>, rounding::toward_zero>(count);
  check_format<bfp<6>, rounding::stochastic>(count);
  count.require(2 * cases_of_format);
}
