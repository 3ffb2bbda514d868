// Identity() in expressions, of any size and shape, in both orders, has the numbers of a matrix with ones on
// its diagonal, and expressions of constants alone have these: on every instruction set.
#include <narrow/eigen.hpp>
#include <vector>

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

/// Expressions of constants, stored among other numbers, which stay as they are; how many numbers these were.
template <class T> at check_constants(at n) {
  using column = Eigen::Array<T, Eigen::Dynamic, 1>;
  constexpr at margin = 64;
  const T half(0.5f), quarter(-0.25f), other(0.75f);
  at checked = 0;
  const auto check = [&](const char* form, const auto& expression, const auto& expected) {
    INFO(form << ", " << n);
    std::vector<T> memory(static_cast<std::size_t>(n + 2 * margin), other);
    Eigen::Map<column>(memory.data() + margin, n) = expression;
    at different = 0;
    for (at i = -margin; i < n + margin; ++i)
      different +=
          !test::same(memory[static_cast<std::size_t>(margin + i)], i < 0 || i >= n ? other : expected(i));
    CHECK(different == 0);
    checked += n + 2 * margin;
  };
  const auto all = [](T x) { return [x](at) { return x; }; };
  const Eigen::ArrayXf a = Eigen::ArrayXf::Random(n);
  const column x = a.cast<T>();
  check("a constant", column::Constant(n, half), all(half));
  check("zeros", column::Zero(n), all(T(0)));
  check("a negative one", -column::Constant(n, half), all(T(-0.5f)));
  check("the larger one", column::Constant(n, half).max(column::Constant(n, quarter)), all(half));
  check("choices of two", (x < T(0)).select(column::Constant(n, half), column::Constant(n, quarter)),
        [&](at i) { return x(i) < T(0) ? half : quarter; });
  check("a choice of a constant and a number", (x < T(0)).select(column::Constant(n, half), x),
        [&](at i) { return x(i) < T(0) ? half : x(i); });
  return checked;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("expressions of constants", "[eigen][identity]", formats) {
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const at n : {1, 7, 8, 16, 17, 31, 32, 40, 64, 100, 1000}) checked += check_constants<TestType>(n);
  });
  CHECK(checked == static_cast<at>(test::isa_count()) * 6 * (1316 + 11 * 128));
}

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
