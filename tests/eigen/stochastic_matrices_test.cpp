// Matrices whose format rounds stochastically: one ticket of the thread's stream for each assignment, and for
// each coefficient the draw of its row-major index, whatever the storage order and the place in memory.
#include "catch.hpp"
#include "counting.hpp"

using namespace test;

namespace {

using S = narrow::floating<5, 10, narrow::specials::ieee, narrow::rounding::stochastic>;
using Mat = matrix<S>;
using MatR = matrix<S, Eigen::RowMajor>;

constexpr int rows = 9, cols = 11, depth = 23;

/// Numbers of 6 bits: exact in S, and their products sum up exactly in float.
Eigen::MatrixXd coarse(Eigen::Index m, Eigen::Index n, unsigned seed) {
  return (reals(m, n, seed) * 32).array().round().matrix() / 32;
}

/// What the stored bits must be: number i of the matrix, counted by rows, rounded with draw i of the ticket.
Eigen::MatrixXd drawn(const Eigen::MatrixXd& exact, std::uint64_t ticket) {
  Eigen::MatrixXd result(exact.rows(), exact.cols());
  for (Eigen::Index i = 0; i < exact.rows(); ++i)
    for (Eigen::Index j = 0; j < exact.cols(); ++j)
      result(i, j) = static_cast<double>(narrow::narrow_cast<S>(
          exact(i, j),
          narrow::rounding::stochastic(ticket, static_cast<std::uint64_t>(i * exact.cols() + j))));
  return result;
}

/// The ticket that the next operation after `narrow::seed(value)` takes.
std::uint64_t first_ticket(std::uint64_t value) { return narrow::random_stream{value, 0}.next(); }

/// Seeds, stores, and tells how many tickets that took.
template <class F> std::uint64_t tickets(std::uint64_t seed, F&& store) {
  narrow::seed(seed);
  store();
  return narrow::thread_stream().ticket;
}

}  // namespace

TEST_CASE("An assignment takes one ticket and draws by row-major index") {
  const Eigen::MatrixXd exact = reals(rows, cols, 1);
  const Eigen::MatrixXd expected = drawn(exact, first_ticket(5));
  REQUIRE(expected != rounded_to<narrow::fp16>(exact));

  Mat c;
  MatR r;
  Mat whole = Mat::Zero(rows + 3, cols + 4);
  const auto same = [&](const auto& got) { return as_double(got) == expected; };
  REQUIRE(tickets(5, [&] { c = exact.cast<S>(); }) == 1);
  REQUIRE(same(c));
  REQUIRE(tickets(5, [&] { r = exact.cast<S>(); }) == 1);
  REQUIRE(same(r));
  REQUIRE(tickets(5, [&] { whole.block(2, 1, rows, cols) = exact.cast<S>(); }) == 1);
  REQUIRE(same(whole.block(2, 1, rows, cols)));
  narrow::seed(5);
  REQUIRE(same(Mat(exact.cast<S>())));
  narrow::seed(5);
  REQUIRE(same(MatR(exact.cast<S>())));
  narrow::seed(6);
  c = exact.cast<S>();
  REQUIRE(as_double(c) == drawn(exact, first_ticket(6)));
}

TEST_CASE("A product takes one ticket and draws by row-major index") {
  const Eigen::MatrixXd a = coarse(rows, depth, 1), b = coarse(depth, cols, 2), d = coarse(rows, cols, 3);
  const std::uint64_t ticket = first_ticket(7);
  narrow::seed(1);
  const Mat x = a.cast<S>(), y = b.cast<S>(), z = d.cast<S>();
  const MatR xr = x, yr = y;
  Mat c(rows, cols), whole(rows + 3, cols + 4);
  MatR r(rows, cols);
  const auto check = [&](auto& place, auto store, const Eigen::MatrixXd& exact) {
    place = z;
    const bool once = tickets(7, [&] { store(place); }) == 1;
    return once && as_double(place) == drawn(exact, ticket);
  };
  REQUIRE(as_double(x) == a);
  REQUIRE(drawn(a * b, ticket) != rounded_to<narrow::fp16>(a * b));
  const auto product = [&](auto& to) { to = x * y; };
  auto block = whole.block(1, 2, rows, cols);
  REQUIRE(check(c, product, a * b));
  REQUIRE(check(r, product, a * b));
  REQUIRE(check(block, product, a * b));
  REQUIRE(check(
      c, [&](auto& to) { to = xr * yr; }, a * b));
  REQUIRE(check(
      r, [&](auto& to) { to.noalias() += 0.5f * x * yr; }, d + 0.5 * a * b));
  REQUIRE(check(
      c, [&](auto& to) { to -= xr * y; }, d - a * b));
  REQUIRE(check(
      c, [&](auto& to) { to = 2 * z - x * y; }, 2 * d - a * b));
  REQUIRE(check(
      r, [&](auto& to) { to = x * y * 2 + z; }, 2 * a * b + d));

  Mat column_result;
  narrow::seed(7);
  column_result = x * y.col(3);
  REQUIRE(as_double(column_result) == drawn(a * b.col(3), ticket));
  column<S> v;
  REQUIRE(tickets(7, [&] { v = xr * y.col(3); }) == 1);
  REQUIRE(as_double(v) == drawn(a * b.col(3), ticket));
}

TEST_CASE("Expressions draw once per coefficient and are right on average") {
  constexpr int n = 20000;
  const double exact = 1 + 0.3 * std::ldexp(1., -10);  // three tenths of the way to the next number
  narrow::seed(11);
  const column<S> x = Eigen::VectorXd::Constant(n, exact).cast<S>();
  const double up = static_cast<double>((x.array() > S(1)).count()) / n;
  REQUIRE(std::abs(up - 0.3) < 5 * std::sqrt(0.21 / n));
  const column<S> ones = column<S>::Ones(n);
  const column<S> y = ones + static_cast<float>(0.3 * std::ldexp(1., -10)) * ones;
  const double also_up = static_cast<double>((y.array() > S(1)).count()) / n;
  REQUIRE(std::abs(also_up - 0.3) < 5 * std::sqrt(0.21 / n));
  REQUIRE(x != y);  // tickets of their own
}
