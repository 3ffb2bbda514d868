// all(), any(), allFinite() and hasNaN() say what the coefficients say, wherever the one that decides lies:
// on every instruction set, in both orders, of matrices and of vectors.
#include <narrow/eigen.hpp>

#include "any_codes.hpp"
#include "catch.hpp"
#include "every_isa.hpp"
#include "exhaustive.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;

/// Whether a condition holds of all and of any coefficients, counted one by one.
struct answers {
  bool all = true, any = false;
  void take(bool holds) {
    all &= holds;
    any |= holds;
  }
};

template <class M> at check_conditions(const M& m) {
  using S = typename M::Scalar;
  const S border(0.5f);
  answers less, unequal, is_nan, is_finite;
  for (at j = 0; j < m.cols(); ++j)
    for (at i = 0; i < m.rows(); ++i) {
      const auto x = static_cast<float>(m(i, j));
      less.take(x < 0.5f);
      unequal.take(x != 0.5f);
      is_nan.take(std::isnan(x));
      is_finite.take(std::isfinite(x));
    }
  const auto a = m.array();
  at different = ((a < border).all() != less.all) + ((a < border).any() != less.any);
  different += ((a != border).all() != unequal.all) + ((a != border).any() != unequal.any);
  different += (a.isNaN().any() != is_nan.any) + (a.isFinite().all() != is_finite.all);
  different += (m.hasNaN() != is_nan.any) + (m.allFinite() != is_finite.all);
  different += ((a < border && a != border).all() != (less.all && unequal.all));
  CHECK(different == 0);
  return 9;
}

/// Of a matrix, and of such whose number at one place is another one.
template <class M> at check_with_one_other(const M& m) {
  using limits = std::numeric_limits<typename M::Scalar>;
  at checked = check_conditions(m);
  for (const typename M::Scalar other :
       {typename M::Scalar(0.25f), typename M::Scalar(2), limits::quiet_NaN(), limits::infinity()})
    for (at k = 0; k < m.size(); ++k) {
      M changed = m;
      changed.data()[k] = other;
      checked += check_conditions(changed);
    }
  return checked;
}

}  // namespace

// With infinities, without, and without NaNs, too.
using formats = test::some_of<std::tuple<fp16, bf16, fp8_e4m3fn, fp8_e5m2, fp6_e2m3>, 0, 2, 4>;
using wide_formats = test::some_of<std::tuple<fp16, bf16>, 1>;

TEMPLATE_LIST_TEST_CASE("conditions of all and of any coefficients", "[eigen][conditions]", formats) {
  using S = TestType;
  at checked = 0;
  const auto check_order = [&]<int Order>(std::integral_constant<int, Order>) {
    for (const auto& [rows, cols] :
         {std::pair<at, at>{1, 1}, {3, 2}, {1, 40}, {40, 1}, {4, 4}, {17, 1}, {5, 23}, {16, 3}, {70, 2}}) {
      using matrix = test::matrix_in_order<S, Order>;
      INFO(rows << " x " << cols);
      for (const float usual : {0.25f, 1.0f, 0.5f})
        checked += check_with_one_other(matrix(matrix::Constant(rows, cols, S(usual))));
      checked += check_conditions(test::any_codes<S, Order>(rows, cols, 5));
      const auto larger = test::any_codes<S, Order>(rows + 2, cols + 1, 6);
      checked += check_conditions(larger.block(1, 1, rows, cols));
    }
  };
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    check_order(std::integral_constant<int, Eigen::ColMajor>{});
    check_order(std::integral_constant<int, Eigen::RowMajor>{});
  });
  REQUIRE(checked == at(test::isa_count()) * 2 * 9 * (9 * 5 + 3 * 4 * 423));
}

TEMPLATE_LIST_TEST_CASE("conditions of few coefficients, whose number is known when the program is compiled",
                        "[eigen][conditions]", wide_formats) {
  using S = TestType;
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const float usual : {0.25f, 1.0f, 0.5f}) {
      checked += check_with_one_other(Eigen::Matrix<S, 3, 1>::Constant(S(usual)).eval());
      checked += check_with_one_other(Eigen::Matrix<S, 4, 4>::Constant(S(usual)).eval());
      // A part of a larger one, whose columns do not follow one another.
      Eigen::Matrix<S, 5, 4> larger;
      larger.setConstant(std::numeric_limits<S>::quiet_NaN());
      larger.template block<3, 3>(1, 1).setConstant(S(usual));
      checked += check_conditions(larger.template block<3, 3>(1, 1));
    }
  });
  REQUIRE(checked == at(test::isa_count()) * 3 * 9 * (2 + 4 * (3 + 16) + 1));
}
