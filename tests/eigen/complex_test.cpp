// Matrices of complex narrow numbers beside real ones and single factors: they compile as those of float do,
// and hold what those in double hold.
#include <complex>
#include <narrow/eigen.hpp>

#include "catch.hpp"
#include "counting.hpp"
#include "exhaustive.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;

template <class T> using complexes = Eigen::Matrix<std::complex<T>, Eigen::Dynamic, Eigen::Dynamic>;

/// What each form of an expression gives for the same small numbers, exact in every format. Compound
/// assignments begin with the first matrix.
template <class T> std::vector<complexes<T>> every_form() {
  using number = std::complex<T>;
  using reals = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  complexes<T> a(2, 2), b(2, 2), c = complexes<T>::Zero(2, 2);
  a << number(T(1), T(-2)), number(T(0), T(1)), number(T(2), T(0)), number(T(-1), T(1));
  b << number(T(2), T(1)), number(T(1), T(0)), number(T(-1), T(-1)), number(T(0), T(2));
  reals r(2, 2);
  r << T(1), T(-1), T(2), T(0);
  const T s = T(2);

  std::vector<complexes<T>> results;
  const auto keep = [&](const auto& x) { results.push_back(x); };
  keep(a * s), keep(s * a), keep(a / s);
  keep(2 * a), keep(a * 0.5), keep(a / 2), keep(0.5f * (a + b));
  keep((a.array() + 1).matrix()), keep((1 - a.array()).matrix()), keep((a.array() - 2).matrix());
  keep((2 / b.col(1).array()).matrix());
  keep(a + b), keep(a - b), keep(-a), keep(a.conjugate()), keep(a.adjoint()), keep(a.transpose());
  keep(a.cwiseProduct(b)), keep(a.cwiseProduct(r)), keep(r.cwiseProduct(a));
  keep(a * b), keep(a * r), keep(r * a), keep(a.adjoint() * b), keep(r.template cast<number>() * a);
  keep(a.template triangularView<Eigen::Upper>() * b);
  c.real() = r, c.imag() = r * s, keep(c);
  c *= s, keep(c), c /= s, keep(c), c += a, keep(c), c -= b * r, keep(c), c *= number(s, s), keep(c);
  keep(complexes<T>::Constant(1, 1, a.sum())), keep(complexes<T>::Constant(1, 1, a.col(0).dot(b.col(1))));
  keep(complexes<T>::Constant(1, 1, number(a.squaredNorm()))), keep(a.cwiseAbs2().template cast<number>());
  keep(a.real().template cast<number>()), keep(a.imag().template cast<number>());
  return results;
}

using formats = test::some_of<std::tuple<fp16, fixed<16, 8>, bf16, fp8_e4m3fn, fixed<32, 16>>, 0, 1>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("complex narrow matrices compute what those in double do", "[eigen][complex]",
                        formats) {
  const auto got = every_form<TestType>();
  const auto expected = every_form<double>();
  REQUIRE(got.size() == expected.size());
  at compared = 0;
  for (std::size_t form = 0; form < got.size(); ++form) {
    INFO("form " << form);
    REQUIRE(got[form].rows() == expected[form].rows());
    REQUIRE(got[form].cols() == expected[form].cols());
    compared += got[form].size();
    CHECK(test::as_double(got[form].real()) == expected[form].real());
    CHECK(test::as_double(got[form].imag()) == expected[form].imag());
  }
  REQUIRE(compared == 4 * 34 + 2 + 3);
}
