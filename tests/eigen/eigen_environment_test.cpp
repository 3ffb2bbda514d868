// Rounding mode and flush-to-zero of the caller change no product, no sum and nothing that is assigned; NaN
// and infinity reach every sum.
#include "../float_control.hpp"
#include "catch.hpp"
#include "counting.hpp"
#include "tally.hpp"

using namespace test;
using narrow::bf16;
using narrow::fp16;

namespace {

/// Everything that the kernels compute of a, b and v, as one list of numbers.
template <class S> std::vector<float> results(const matrix<S>& a, const matrix<S>& b, const column<S>& v) {
  std::vector<float> list;
  const auto put = [&](const auto& x) {
    for (Eigen::Index j = 0; j < x.cols(); ++j)
      for (Eigen::Index i = 0; i < x.rows(); ++i) list.push_back(static_cast<float>(x(i, j)));
  };
  matrix<S> c = b.topRows(a.rows());
  c += 0.3f * a * b;
  put(c);
  put((a * v).eval());
  put(a.lazyProduct(b).eval());
  put((v.transpose() * b).eval());
  put(Eigen::MatrixXf(a * b));
  put(a.rowwise().sum().eval());
  put(b.colwise().squaredNorm().eval());
  list.push_back(static_cast<float>(v.dot(v)));
  list.push_back(static_cast<float>(a.sum()));
  list.push_back(narrow::sum(a));
  list.push_back(narrow::dot(v, v));
  list.push_back(narrow::norm(a));
  list.push_back(narrow::mean(a));
  return list;
}

/// Coefficient-wise expressions, in every way of assigning them: of float what `float` computes, rounded
/// once.
template <class S> std::vector<float> assigned(const matrix<S>& a, const matrix<S>& b) {
  std::vector<float> list;
  const auto put = [&](const auto& x) {
    for (Eigen::Index j = 0; j < x.cols(); ++j)
      for (Eigen::Index i = 0; i < x.rows(); ++i) list.push_back(static_cast<float>(x(i, j)));
  };
  using drawn = narrow::floating<8, 7, narrow::specials::ieee, narrow::rounding::stochastic>;
  matrix<S> c = a + 0.7f * b;
  put(c);
  c += a;
  put(c);
  c.array() *= b.array();
  put(c);
  c.col(1) -= 0.3f * c.col(0);
  put(c);
  put((c - a).cwiseAbs().eval());
  put(Eigen::MatrixXf(a / 3));
  Eigen::MatrixXf wide = Eigen::MatrixXf::Zero(a.rows(), a.cols());
  wide += a.cwiseProduct(b);
  put(wide);
  narrow::seed(1);
  matrix<drawn> random = 0.7f * a.template cast<drawn>();
  put(random);
  const Eigen::Matrix<S, 2, 2> small =
      a.template topLeftCorner<2, 2>() - b.template topLeftCorner<2, 2>() / 7;
  put(small);
  return list;
}

std::vector<std::uint32_t> bits(const std::vector<float>& list) {
  std::vector<std::uint32_t> result;
  for (const float x : list) result.push_back(std::bit_cast<std::uint32_t>(x));
  return result;
}

/// `compute()` under every mode of the control register gives what it gives under none.
template <class F> void check_modes(F compute, std::size_t at_least) {
  const auto expected = bits(compute());
  for (const control_word mode : {round_up, round_down, round_to_zero, flush_to_zero | denormals_are_zero}) {
    const auto got = [&] {
      const float_control disturbed(plain_control | mode);
      return bits(compute());
    }();
    std::size_t first = 0;
    while (first < expected.size() && got[first] == expected[first]) ++first;
    INFO("control bits " << mode);
    REQUIRE(first == expected.size());
  }
  REQUIRE(expected.size() >= at_least);
}

}  // namespace

TEMPLATE_TEST_CASE("Products and sums do not see the caller's control register", "[.exhaustive]", fp16,
                   bf16) {
  using S = TestType;
  const float_control plain(plain_control);
  for (const double scale : {1., std::ldexp(1., -133)}) {  // bf16: subnormal operands
    const matrix<S> a = (scale * reals(7, 40, 1)).template cast<S>(), b = reals(40, 7, 2).template cast<S>();
    const column<S> v = (scale * reals(40, 1, 3)).template cast<S>();
    INFO("scale " << scale);
    check_modes([&] { return results(a, b, v); }, 150);
  }
}

TEMPLATE_TEST_CASE("What is assigned does not see the caller's control register", "[.exhaustive]", fp16,
                   bf16) {
  using S = TestType;
  const float_control plain(plain_control);
  for (const double scale : {1., std::ldexp(1., -133)}) {
    const matrix<S> a = (scale * reals(9, 7, 1)).template cast<S>(),
                    b = (scale * reals(9, 7, 2)).template cast<S>();
    INFO("scale " << scale);
    check_modes([&] { return assigned(a, b); }, 8 * 63 + 4);
  }
}

TEMPLATE_TEST_CASE("One NaN or infinity anywhere is in every sum over it", "[.exhaustive]", fp16, bf16) {
  using S = TestType;
  const S inf = std::numeric_limits<S>::infinity(), nan = std::numeric_limits<S>::quiet_NaN();
  tally result;
  for (Eigen::Index n = 1; n <= 19; ++n)
    for (Eigen::Index at = 0; at < n; ++at)
      for (const S special : {inf, -inf, nan}) {
        column<S> x = column<S>::Ones(n);
        const column<S> ones = x;
        x(at) = special;
        const auto expect = [&](const char* name, S got) {
          const bool same = isnan(special) ? isnan(got) : got == special;
          result.expect(same, [&] { return text(name, n, at, float(special), float(got)); });
        };
        expect("sum", x.sum());
        expect("dot", x.dot(ones));
        expect("inner", (ones.transpose() * x).value());
        expect("sum of an expression", (x + ones).sum());
        expect("row sum", x.transpose().rowwise().sum().value());
        expect("product", (ones * x.transpose()).rowwise().sum().coeff(0));
        x(at) = 0;
        column<S> other = ones;
        other(at) = special;
        const S nothing = x.dot(other);
        result.expect(isnan(nothing),
                      [&] { return text("0 * special", n, at, float(special), float(nothing)); });
      }
  result.require(190 * 3 * 7);
}
