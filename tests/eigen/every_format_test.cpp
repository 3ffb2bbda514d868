// What generic Eigen code does with its scalar compiles for every format, and means the same.
#include <Eigen/Dense>
#include <narrow/eigen.hpp>
#include <sstream>

#include "catch.hpp"
#include "counting.hpp"
#include "policies.hpp"
#include "tally.hpp"

using namespace test;

namespace {

/// Numbers that every format holds: -1, 0, 1 in a pattern of full rank.
template <class S> matrix<S> sample() {
  matrix<S> m(4, 4);
  m << 1, 0, 1, 0, 0, 1, 0, -1, 1, 0, -1, 0, 0, 1, 0, 1;
  return m;
}

template <class S> void check_format(tally& result) {
  const auto expect = [&](const char* what, bool good) {
    result.expect(good, [&] { return text(name_of<S>(), what); });
  };
  const matrix<S> m = sample<S>(), one = matrix<S>::Identity(4, 4);
  const column<S> v = column<S>::Ones(4);
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  const auto near = [&](const auto& got, const Eigen::MatrixXd& expected) {
    return (as_double(got) - expected).cwiseAbs().maxCoeff() <= epsilon;
  };

  expect("product", matrix<S>(m * m.transpose() - one) == one);
  expect("sum", near(column<S>(m * v), as_double(m).rowwise().sum()));
  expect("dot", double(v.head(2).dot(v.head(2))) == 2);
  expect("expression", near(matrix<S>((m + one) / 2), (as_double(m) + as_double(one)) / 2));
  expect("norm", double(v.norm()) == 2);
  expect("limits", Eigen::NumTraits<S>::lowest() == std::numeric_limits<S>::lowest() &&
                       Eigen::NumTraits<S>::highest() == std::numeric_limits<S>::max());
  expect("extremes", double(m.maxCoeff()) == 1 && double(m.minCoeff()) == -1);
  expect("comparison", (m.array() >= S(0)).count() == 14);
  expect("cast", m.template cast<float>().template cast<S>() == m && m.template cast<int>().sum() == 4);
  expect("random", (matrix<S>::Random(3, 3).array().abs() <= S(1)).all());
  expect("spaced", double(column<S>::LinSpaced(5, S(-1), S(1))(2)) == 0);
  expect("approx", m.isApprox(m) && !m.isApprox(-m) && one.isIdentity());
  std::ostringstream out;
  out << m.topLeftCorner(2, 2);
  expect("stream", out.str() == "1 0\n0 1");

  // A decomposition of each kind; decompositions_test has them all.
  const matrix<S> gram = m * m.transpose();  // 2 on the diagonal
  expect("LLT", near(column<S>(gram.llt().solve(v)), Eigen::Vector4d::Constant(0.5)));
  expect("LU", near(column<S>(m.lu().solve(m * v)), as_double(v)));
  expect("inverse", near(matrix<S>(m.inverse()), as_double(m).inverse()));
  expect("triangle", near(column<S>(one.template triangularView<Eigen::Lower>().solve(v)), as_double(v)));
}
constexpr int checks_of_format = 17;

}  // namespace

TEST_CASE("Every floating format is an Eigen scalar") {
  tally result;
  using formats = some_of<narrow::all_formats, 3>;
  for_each_type<formats>([&]<class S>() { check_format<S>(result); });
  result.require(std::tuple_size_v<formats> * checks_of_format);
}

TEST_CASE("Fixed-point formats are Eigen scalars") {
  tally result;
  using formats = some_of<std::tuple<narrow::fixed<8, 4>, narrow::fixed<16, 8>, narrow::fixed<28, 14>>, 0>;
  for_each_type<formats>([&]<class S>() { check_format<S>(result); });
  result.require(std::tuple_size_v<formats> * checks_of_format);
}
