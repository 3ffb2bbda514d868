// Identity() in expressions, of any size and shape, in both orders, has the numbers of a matrix with ones on
// its diagonal: on every instruction set.
#include <narrow/eigen.hpp>

#include "any_codes.hpp"
#include "catch.hpp"
#include "coefficient_bits.hpp"
#include "every_isa.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
using formats = test::some_of<std::tuple<fp16, fixed<8, 7>, fp8_e4m3fnuz, bf16, fp8_e4m3fn, floating<8, 16>,
                                         fixed<8, 4>, fixed<16, 8>, fixed<12, 3>>,
                              0, 1, 2>;

template <class T, int Order> auto sample(at rows, at cols) {
  if constexpr (narrow_fixed<T>)
    return test::matrix_in_order<T, Order>(Eigen::MatrixXf::Random(rows, cols).template cast<T>());
  else
    return test::any_codes<T, Order>(rows, cols, 7);
}

/// Each form with Identity() beside the same form with the matrix; how many coefficients these were.
template <class T, int Order> at check_forms(at rows, at cols) {
  using matrix = test::matrix_in_order<T, Order>;
  const matrix a = sample<T, Order>(rows, cols);
  matrix ones = matrix::Zero(rows, cols);
  for (at i = 0; i < std::min(rows, cols); ++i) ones(i, i) = T(1);
  at checked = 0;
  const auto check = [&](const char* form, const matrix& got, const matrix& expected) {
    INFO(form << ", " << rows << " x " << cols);
    at different = 0;
    for (at k = 0; k < got.size(); ++k) different += !test::same(got.data()[k], expected.data()[k]);
    CHECK(different == 0);
    checked += got.size();
  };
  const auto identity = matrix::Identity(rows, cols);
  const T half(0.5f);
  check("alone", identity, ones);
  check("times a number", half * identity, half * ones);
  check("added", a + half * identity, a + half * ones);
  check("less a matrix", identity - a, ones - a);
  check("of a transpose", (identity.transpose() + a.transpose()).transpose(), ones + a);
  matrix to = a, expected = a;
  to += identity;
  expected += ones;
  check("added to what is there", to, expected);
  to.setIdentity();
  check("set", to, ones);
  return checked;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the identity in expressions", "[eigen][identity]", formats) {
  using T = TestType;
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const auto& [rows, cols] : {std::pair<at, at>{1, 1},
                                     {1, 5},
                                     {3, 3},
                                     {8, 8},
                                     {9, 4},
                                     {16, 16},
                                     {17, 17},
                                     {20, 50},
                                     {50, 20},
                                     {70, 70}})
      checked += check_forms<T, Eigen::ColMajor>(rows, cols) + check_forms<T, Eigen::RowMajor>(rows, cols);
  });
  REQUIRE(checked == at(test::isa_count()) * 2 * 7 * (1 + 5 + 9 + 64 + 36 + 256 + 289 + 1000 + 1000 + 4900));
}
