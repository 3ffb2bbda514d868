// A user's templates, written for float: with a narrow scalar they compile as they are and do the same.
#include <Eigen/Dense>
#include <narrow/eigen.hpp>
#include <vector>

#include "catch.hpp"
#include "exhaustive.hpp"

namespace {

template <class S> using Mat = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
template <class S> using Vec = Eigen::Matrix<S, Eigen::Dynamic, 1>;

// Functions of expressions, as Eigen's manual writes them.
template <class Derived> void center_columns(Eigen::MatrixBase<Derived>& x) {
  x.rowwise() -= x.colwise().mean().eval();
}

template <class Derived> typename Derived::Scalar spread(const Eigen::MatrixBase<Derived>& x) {
  using Scalar = typename Derived::Scalar;
  const Scalar largest = x.maxCoeff(), smallest = x.minCoeff();
  return largest - smallest;
}

template <class S> S weighted(Eigen::Ref<const Vec<S>> x, const Eigen::Ref<const Mat<S>>& w) {
  return x.dot(w * x);
}

template <class S> void scale_rows(Eigen::Ref<Mat<S>> x, const Vec<S>& factors) {
  x = factors.asDiagonal() * x;
}

/// Ridge regression: (X' X / n + lambda I) w = X' y / n.
template <class S> Vec<S> ridge(const Mat<S>& x, const Vec<S>& y, S lambda) {
  const auto n = static_cast<S>(x.rows());
  Mat<S> gram = x.transpose() * x / n;
  gram.diagonal().array() += lambda;
  const Vec<S> moment = (x.transpose() * y) / n;
  const Eigen::LLT<Mat<S>> llt(gram);
  if (llt.info() != Eigen::Success) return Vec<S>::Zero(x.cols());
  return llt.solve(moment);
}

/// The largest eigenvalue of a symmetric matrix.
template <class S> S power_iteration(const Mat<S>& a, int steps) {
  Vec<S> v = Vec<S>::Ones(a.rows());
  S value = 0;
  for (int i = 0; i < steps; ++i) {
    auto next = (a * v).eval();
    value = next.norm() / v.norm();
    v.noalias() = next / next.norm();
  }
  return value;
}

/// One step of k-means: every row of x goes to the nearest centre, every centre to the mean of its rows.
template <class S> std::vector<int> assign_and_move(const Mat<S>& x, Mat<S>& centres) {
  std::vector<int> labels(static_cast<std::size_t>(x.rows()));
  std::vector<Mat<S>> members(static_cast<std::size_t>(centres.rows()), Mat<S>(0, x.cols()));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    Eigen::Index nearest = 0;
    (centres.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
    labels[static_cast<std::size_t>(i)] = static_cast<int>(nearest);
    Mat<S>& group = members[static_cast<std::size_t>(nearest)];
    group.conservativeResize(group.rows() + 1, Eigen::NoChange);
    group.bottomRows(1) = x.row(i);
  }
  for (std::size_t k = 0; k < members.size(); ++k)
    if (members[k].rows() > 0) centres.row(static_cast<Eigen::Index>(k)) = members[k].colwise().mean();
  return labels;
}

/// A layer forward and back.
template <class S> struct layer {
  Mat<S> weights, input, gradient;
  Vec<S> bias;

  Mat<S> forward(const Mat<S>& x) {
    input = x;
    return ((weights * x).colwise() + bias).cwiseMax(S(0));
  }
  Mat<S> backward(const Mat<S>& output, const Mat<S>& delta) {
    const Mat<S> active = (output.array() > S(0)).select(delta, S(0));
    gradient.noalias() = active * input.transpose() / static_cast<S>(input.cols());
    bias -= S(0.125f) * active.rowwise().mean();
    return weights.transpose() * active;
  }
};

template <class S> Eigen::MatrixXd doubles(const Mat<S>& x) { return x.template cast<double>(); }

Eigen::MatrixXd numbers(Eigen::Index rows, Eigen::Index cols) {
  Eigen::MatrixXd x(rows, cols);
  for (Eigen::Index j = 0; j < cols; ++j)
    for (Eigen::Index i = 0; i < rows; ++i)
      x(i, j) = static_cast<double>((13 * i + 7 * j + i * i * j) % 16 - 8) / 8;
  return x;
}

}  // namespace

using scalars = test::some_of<std::tuple<float, narrow::fp16, narrow::bf16, narrow::fixed<28, 14>>, 1>;
TEMPLATE_LIST_TEST_CASE("Ordinary Eigen code takes a narrow scalar", "", scalars) {
  using S = TestType;
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  const auto near = [&](double got, double expected, double ulps) {
    return std::abs(got - expected) <= ulps * epsilon * (1 + std::abs(expected));
  };
  const Eigen::MatrixXd exact = numbers(24, 4);
  Mat<S> x = exact.cast<S>();
  REQUIRE(doubles(x) == exact);

  center_columns(x);
  REQUIRE(doubles(x).colwise().mean().cwiseAbs().maxCoeff() <= 2 * epsilon);
  REQUIRE(near(double(spread(x.block(1, 1, 8, 2).topRows(4))),
               doubles(x).block(1, 1, 4, 2).maxCoeff() - doubles(x).block(1, 1, 4, 2).minCoeff(), 1));
  const Mat<S> w = Mat<S>::Identity(24, 24) * S(0.5f);
  REQUIRE(near(double(weighted<S>(x.col(1), w)), doubles(x).col(1).squaredNorm() / 2, 2));
  Mat<S> scaled = x;
  scale_rows<S>(scaled.topRows(2), Vec<S>::Constant(2, S(2)));
  REQUIRE(doubles(scaled).topRows(2) == 2 * doubles(x).topRows(2));
  REQUIRE(doubles(scaled).bottomRows(22) == doubles(x).bottomRows(22));

  Vec<S> truth(4);
  truth << S(1), S(-0.5f), S(0.25f), S(2);
  const Vec<S> y = x * truth;
  const float lambda = std::ldexp(1.f, -6);
  const Eigen::VectorXd best = ridge<double>(doubles(x), doubles<S>(y), lambda);
  REQUIRE((doubles<S>(ridge<S>(x, y, S(lambda))) - best).cwiseAbs().maxCoeff() < 32 * epsilon);

  const Mat<S> gram = x.transpose() * x / S(24);
  const double largest =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(doubles(gram)).eigenvalues().maxCoeff();
  REQUIRE(near(double(power_iteration<S>(gram, 60)), largest, 8));

  Mat<S> points(40, 2), centres(2, 2);
  points << (numbers(20, 2) / 4).array().cast<S>() + S(1), (numbers(20, 2) / 4).array().cast<S>() - S(1);
  centres << S(0.5f), S(0), S(-0.5f), S(0.25f);
  auto labels = assign_and_move<S>(points, centres);
  labels = assign_and_move<S>(points, centres);
  for (std::size_t i = 0; i < labels.size(); ++i) REQUIRE(labels[i] == (i < 20 ? 0 : 1));
  REQUIRE(near(double(centres(0, 0)), 1 + numbers(20, 1).mean() / 4, 2));

  layer<S> l{numbers(3, 4).cast<S>(), {}, Mat<S>(3, 4), Vec<S>::Zero(3)};
  const Mat<S> input = numbers(4, 8).cast<S>();
  const Mat<S> output = l.forward(input);
  const Eigen::MatrixXd exact_output = (numbers(3, 4) * numbers(4, 8)).cwiseMax(0);
  REQUIRE((doubles(output) - exact_output).cwiseAbs().maxCoeff() <= 2 * epsilon);
  const Mat<S> back = l.backward(output, output);
  REQUIRE((doubles(l.gradient) - exact_output * numbers(4, 8).transpose() / 8).cwiseAbs().maxCoeff() <=
          4 * epsilon);
  REQUIRE((doubles(back) - numbers(3, 4).transpose() * exact_output).cwiseAbs().maxCoeff() <= 8 * epsilon);

  std::vector<Mat<S>> history;
  for (int step = 0; step < 3; ++step) history.push_back(l.weights - S(0.125f) * l.gradient * S(step));
  REQUIRE(history[0] == l.weights);
  REQUIRE(near(double(history[2](1, 1)), double(l.weights(1, 1)) - 0.25 * double(l.gradient(1, 1)), 1));
}
