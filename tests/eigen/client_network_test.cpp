// A library of neural networks that knows nothing of narrow numbers (clients/neural_network.hpp) trains with
// them as it does with double: only the scalar is another one.
#include <narrow/eigen.hpp>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "clients/neural_network.hpp"

namespace {

template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
using scalars = std::tuple<narrow::fp16, narrow::bf16, narrow::fixed<28, 16>>;

template <class S> double epsilon_of() { return static_cast<double>(std::numeric_limits<S>::epsilon()); }

template <class S> using parameters = std::vector<std::vector<S>>;
template <class To, class From> parameters<To> cast_all(const parameters<From>& from) {
  parameters<To> result;
  for (const auto& layer : from) {
    result.emplace_back();
    for (const From& x : layer) result.back().push_back(static_cast<To>(static_cast<double>(x)));
  }
  return result;
}

/// The largest difference of parameters, relative to 1 and their magnitude.
template <class S> double distance(const parameters<S>& a, const parameters<double>& b) {
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j)
      result = std::max(result, std::abs(static_cast<double>(a[i][j]) - b[i][j]) / (1 + std::abs(b[i][j])));
  return result;
}

template <class S> client::Network<S> regression_network() {
  client::Network<S> network(1);
  network.add_layer(std::make_unique<client::FullyConnected<S, client::Tanh>>(4, 8));
  network.add_layer(std::make_unique<client::FullyConnected<S, client::Sigmoid>>(8, 2));
  network.set_output(std::make_unique<client::RegressionMSE<S>>());
  network.init(S(0), S(0.5));
  return network;
}

/// Images of 6 x 6, bright above or below their middle or nowhere.
Eigen::MatrixXd images(Eigen::Index count) {
  std::mt19937 rng(3);
  std::uniform_int_distribution<int> noise(0, 63);
  Eigen::MatrixXd x(36, count);
  for (Eigen::Index j = 0; j < count; ++j)
    for (Eigen::Index i = 0; i < 36; ++i)
      x(i, j) = noise(rng) / 256.0 + (j % 3 == 0 && i % 6 < 3 ? 0.5 : j % 3 == 1 && i % 6 >= 3 ? 0.5 : 0);
  return x;
}
Eigen::MatrixXd classes(Eigen::Index count) {
  Eigen::MatrixXd y = Eigen::MatrixXd::Zero(3, count);
  for (Eigen::Index j = 0; j < count; ++j) y(j % 3, j) = 1;
  return y;
}
template <class S> client::Network<S> classifier() {
  client::Network<S> network(2);
  network.add_layer(std::make_unique<client::MaxPooling<S>>(6, 6, 2));
  network.add_layer(std::make_unique<client::FullyConnected<S, client::ReLU>>(9, 8));
  network.add_layer(std::make_unique<client::FullyConnected<S, client::Softmax>>(8, 3));
  network.set_output(std::make_unique<client::MultiClassEntropy<S>>());
  network.init(S(0), S(0.5));
  return network;
}
template <class S> int right(const matrix<S>& output) {
  int result = 0;
  for (Eigen::Index j = 0; j < output.cols(); ++j) {
    Eigen::Index best = 0;
    output.col(j).maxCoeff(&best);
    result += best == j % 3;
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A network of a client's library follows that of double", "[.exhaustive]", scalars) {
  using S = TestType;
  std::srand(3);
  const Eigen::MatrixXd exact_x = (Eigen::MatrixXd::Random(4, 64) * 64).array().round() / 64;
  const matrix<S> x = exact_x.cast<S>();
  const Eigen::MatrixXd exact_y = (exact_x.topRows(2).array() * exact_x.bottomRows(2).array() + 1) / 2;
  const matrix<S> y = exact_y.cast<S>();

  auto network = regression_network<S>();
  auto exact = regression_network<double>();
  exact.set_parameters(cast_all<double>(network.get_parameters()));
  // 8 roundings and a function on the way through two layers, each at most epsilon of numbers below 2.
  const double epsilon = epsilon_of<S>();
  const Eigen::MatrixXd difference = network.predict(x).template cast<double>() - exact.predict(exact_x);
  CHECK(difference.cwiseAbs().maxCoeff() <= 4 * epsilon);

  client::SGD<S> optimizer;
  client::SGD<double> exact_optimizer;
  constexpr int epochs = 5, steps = epochs * 64 / 16;
  const auto losses = network.fit(optimizer, x, y, 16, epochs);
  const auto exact_losses = exact.fit(exact_optimizer, exact_x, exact_y, 16, epochs);
  // Every step rounds the weights once, and adds a gradient whose error is a few epsilon times the rate of
  // 0.1.
  CHECK(distance(network.get_parameters(), exact.get_parameters()) <= steps * epsilon);
  CHECK(std::abs(static_cast<double>(losses.back()) - exact_losses.back()) <= steps * epsilon);
  CHECK(exact_losses.back() < 0.2);
}

TEMPLATE_LIST_TEST_CASE("A classifier of a client's library learns", "[.exhaustive]", scalars) {
  using S = TestType;
  const matrix<S> x = images(96).cast<S>(), y = classes(96).cast<S>();
  auto network = classifier<S>();
  client::RMSProp<S> optimizer;
  const auto losses = network.fit(optimizer, x, y, 32, 20);
  CHECK(losses.back() < losses.front() / 4);
  CHECK(right<S>(network.predict(x)) >= 90);

  // The parameters are those of another network, to the bit.
  auto copy = classifier<S>();
  copy.set_parameters(network.get_parameters());
  CHECK(copy.predict(x) == network.predict(x));
  CHECK_THROWS_AS(network.fit(optimizer, x, matrix<S>(y / 2), 32, 1), std::invalid_argument);
}

TEST_CASE("A classifier of double learns", "[.exhaustive]") {
  auto network = classifier<double>();
  client::RMSProp<double> optimizer;
  network.fit(optimizer, images(96), classes(96), 32, 20);
  CHECK(right<double>(network.predict(images(96))) >= 90);
}
