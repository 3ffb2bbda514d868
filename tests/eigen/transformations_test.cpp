// Reflections, rotations, permutations and solves applied to narrow matrices in place: the float result,
// rounded once.
#include <narrow/eigen.hpp>

#include <Eigen/Dense>

#include "../policies.hpp"
#include "../tally.hpp"

using namespace test;
using namespace Eigen;

namespace {

using formats = decltype(std::tuple_cat(
    narrow::all_formats{}, std::tuple<narrow::fixed<8, 4>, narrow::fixed<12, 6>, narrow::fixed<16, 8>,
                                      narrow::fixed<24, 12>, narrow::fixed<32, 16>>{}));

/// Numbers below 1, and a matrix that is well conditioned.
MatrixXf numbers(Index rows, Index cols) { return MatrixXf::Random(rows, cols); }
MatrixXf factor(Index n) { return numbers(n, n) + 4 * MatrixXf::Identity(n, n); }

/// Whether each coefficient is that of `wide`, rounded once; and near that of `exact`, to which the float
/// computation may have added so much.
template <class M>
void check(tally& count, const char* what, const M& result, const MatrixXf& wide, const MatrixXd& exact) {
  using T = typename M::Scalar;
  REQUIRE((result.rows() == wide.rows() && result.cols() == wide.cols()));
  const double error = 1e-5 * (1 + exact.cwiseAbs().maxCoeff());
  for (Index j = 0; j < wide.cols(); ++j)
    for (Index i = 0; i < wide.rows(); ++i) {
      const auto describe = [&] { return text(name_of<T>(), what, i, j, static_cast<double>(wide(i, j))); };
      count.expect(result.coeff(i, j).bits() == T(wide(i, j)).bits(), describe);
      const T low(exact(i, j) - error), high(exact(i, j) + error);
      count.expect(low <= result.coeff(i, j) && result.coeff(i, j) <= high, describe);
    }
}

/// use(b) changes a matrix in place: of T as of float, then rounded, and as of double but for float's error.
template <class M, class Use>
void check_in_place(tally& count, const char* what, Index rows, Index cols, Use use) {
  M b = numbers(rows, cols).cast<typename M::Scalar>();
  MatrixXf wide = b.template cast<float>();
  MatrixXd exact = wide.template cast<double>();
  use(b, float{});
  use(wide, float{});
  use(exact, double{});
  check(count, what, b, wide, exact);
}

template <class M> void check_reflections(tally& count, Index n) {
  const MatrixXf a = factor(n);
  const HouseholderQR<MatrixXf> qr(a);
  const HouseholderQR<MatrixXd> exact_qr(a.cast<double>());
  const auto of = [&](auto scalar) -> const auto& {
    if constexpr (std::same_as<decltype(scalar), float>)
      return qr;
    else
      return exact_qr;
  };
  const auto on_the_left = [&](const char* what, auto use) { check_in_place<M>(count, what, n, 5, use); };
  const auto on_the_right = [&](const char* what, auto use) { check_in_place<M>(count, what, 5, n, use); };
  on_the_left("Q b", [&](auto& b, auto s) { b.applyOnTheLeft(of(s).householderQ()); });
  on_the_left("Q^T b", [&](auto& b, auto s) { b.applyOnTheLeft(of(s).householderQ().adjoint()); });
  on_the_left("transposed", [&](auto& b, auto s) { b.applyOnTheLeft(of(s).householderQ().transpose()); });
  on_the_right("b Q", [&](auto& b, auto s) { b.applyOnTheRight(of(s).householderQ()); });
  on_the_right("b Q^T", [&](auto& b, auto s) { b.applyOnTheRight(of(s).householderQ().adjoint()); });
  on_the_left("= Q b", [&](auto& b, auto s) { b = of(s).householderQ() * b; });
  on_the_left("= Q^T b", [&](auto& b, auto s) { b = of(s).householderQ().transpose() * b; });
  on_the_right("= b Q", [&](auto& b, auto s) { b = b * of(s).householderQ(); });
  on_the_left("a column", [&](auto& b, auto s) { b.col(1).applyOnTheLeft(of(s).householderQ().adjoint()); });
  on_the_left("columns", [&](auto& b, auto s) { b.rightCols(3).applyOnTheLeft(of(s).householderQ()); });
  on_the_right("rows", [&](auto& b, auto s) { b.topRows(2).applyOnTheRight(of(s).householderQ()); });
  on_the_right("transposed columns",
               [&](auto& b, auto s) { b.transpose().applyOnTheLeft(of(s).householderQ()); });
}
constexpr std::uint64_t reflection_uses = 12;

template <class T> void check_rotations(tally& count) {
  for (const float angle : {0.3f, 1.5f, -2.0f}) {
    const JacobiRotation<float> rotation(std::cos(angle), std::sin(angle));
    const JacobiRotation<double> wide(rotation.c(), rotation.s());
    const auto of = [&](auto scalar) -> const auto& {
      if constexpr (std::same_as<decltype(scalar), float>)
        return rotation;
      else
        return wide;
    };
    using M = Matrix<T, Dynamic, Dynamic>;
    check_in_place<M>(count, "rows", 4, 9, [&](auto& b, auto s) { b.applyOnTheLeft(0, 2, of(s)); });
    check_in_place<M>(count, "rows back", 4, 9,
                      [&](auto& b, auto s) { b.applyOnTheLeft(1, 2, of(s).adjoint()); });
    check_in_place<M>(count, "columns", 9, 4, [&](auto& b, auto s) { b.applyOnTheRight(3, 1, of(s)); });
    // By a rotation of T, whose two numbers are floats, too.
    const JacobiRotation<T> narrow_rotation(T(rotation.c()), T(rotation.s()));
    const JacobiRotation<float> same(static_cast<float>(narrow_rotation.c()),
                                     static_cast<float>(narrow_rotation.s()));
    if constexpr (narrow::narrow_float<T>)
      check_in_place<M>(count, "by its own", 4, 9, [&]<class B>(B& b, auto s) {
        if constexpr (std::same_as<typename B::Scalar, T>)
          b.applyOnTheLeft(0, 2, narrow_rotation);
        else
          b.applyOnTheLeft(0, 2, JacobiRotation<decltype(s)>(same.c(), same.s()));
      });
  }
}
template <class T> constexpr std::uint64_t rotation_uses = 3 * (narrow::narrow_float<T> ? 4 : 3);

template <class T> void check_permutations(tally& count) {
  using M = Matrix<T, Dynamic, Dynamic>;
  const FullPivLU<MatrixXf> lu(numbers(6, 6));
  const auto p = lu.permutationP();
  const auto q = lu.permutationQ();
  Transpositions<Dynamic> swaps(6);
  swaps.indices() << 3, 1, 5, 4, 4, 5;
  const auto use = [&](const char* what, auto f) { check_in_place<M>(count, what, 6, 6, f); };
  use("P b", [&](auto& b, auto) { b = p * b; });
  use("P^-1 b", [&](auto& b, auto) { b = p.inverse() * b; });
  use("b Q", [&](auto& b, auto) { b = b * q; });
  use("P b in place", [&](auto& b, auto) { b.applyOnTheLeft(p); });
  use("b Q in place", [&](auto& b, auto) { b.applyOnTheRight(q); });
  use("P^T b Q", [&](auto& b, auto) { b = p.transpose() * b * q; });
  use("swapped", [&](auto& b, auto) { b = swaps * b; });
  use("swapped back", [&](auto& b, auto) { b = swaps.inverse() * b; });
  use("swapped columns", [&](auto& b, auto) { b = b * swaps; });
}
constexpr std::uint64_t permutation_uses = 9;

/// Solved in float, or in double for `fixed`, and rounded once.
template <class T> void check_solves(tally& count) {
  using M = Matrix<T, Dynamic, Dynamic>;
  constexpr Index n = 6;
  const MatrixXf a = factor(n);
  const MatrixXf symmetric = 0.25f * (a * a.transpose()) + 4 * MatrixXf::Identity(n, n);
  const M start = numbers(n, 3).template cast<T>();
  const MatrixXd wide = start.template cast<double>();
  const auto near = [&](const char* what, const M& result, const MatrixXd& exact, double roundings) {
    const double unit = static_cast<double>(std::numeric_limits<T>::epsilon());
    for (Index j = 0; j < result.cols(); ++j)
      for (Index i = 0; i < result.rows(); ++i) {
        const double x = exact(i, j), smallest = static_cast<double>(std::numeric_limits<T>::denorm_min());
        const double step = narrow::narrow_float<T> ? std::max(unit * std::abs(x), smallest) : unit;
        count.expect(std::abs(static_cast<double>(result(i, j)) - x) <= roundings * step + 1e-5,
                     [&] { return text(name_of<T>(), what, i, j, x); });
      }
  };
  M b = start;
  a.triangularView<Upper>().solveInPlace(b);
  near("a triangle of floats", b, a.cast<double>().triangularView<Upper>().solve(wide), 0.5);
  b = a.triangularView<Lower>().solve(start);
  near("a solved triangle", b, a.cast<double>().triangularView<Lower>().solve(wide), 0.5);
  if constexpr (narrow::narrow_float<T>) {
    const M narrow_symmetric = symmetric.cast<T>();
    const MatrixXd exact = narrow_symmetric.template cast<double>();
    if ((exact.array().abs() < 1e3).all() && exact.llt().info() == Success) {
      b = start;
      LLT<M>(narrow_symmetric).solveInPlace(b);
      near("LLT in place", b, exact.llt().solve(wide), 0.5 + 1e-3);
      b = start;
      REQUIRE(LDLT<M>(narrow_symmetric).solveInPlace(b));
      near("LDLT in place", b, exact.llt().solve(wide), 0.5 + 1e-3);
    }
  }
  const MatrixXd exact = symmetric.cast<double>();
  b = start;
  LDLT<MatrixXf>(symmetric).solveInPlace(b);
  near("LDLT of floats in place", b, exact.llt().solve(wide), 0.5 + 1e-3);
  b = LLT<MatrixXf>(symmetric).solve(start);
  near("LLT of floats", b, exact.llt().solve(wide), 0.5 + 1e-3);
  b = HouseholderQR<MatrixXf>(a).solve(start);
  near("QR of floats", b, a.cast<double>().partialPivLu().solve(wide), 0.5 + 1e-3);
  b = PartialPivLU<MatrixXf>(a).solve(start);
  near("LU of floats", b, a.cast<double>().partialPivLu().solve(wide), 0.5 + 1e-3);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("reflections are applied in float and rounded once", "[eigen][transformations]",
                        formats) {
  tally count;
  for (const Index n : {1, 4, 7}) check_reflections<Matrix<TestType, Dynamic, Dynamic>>(count, n);
  check_reflections<Matrix<TestType, Dynamic, Dynamic, RowMajor>>(count, 6);
  count.require(2 * 5 * reflection_uses * (1 + 4 + 7 + 6));
}

TEST_CASE("reflections by blocks are, too", "[eigen][transformations]") {
  tally count;
  check_reflections<Matrix<narrow::fp16, Dynamic, Dynamic>>(count, 60);
  count.require(2 * 5 * reflection_uses * 60);
}

TEMPLATE_LIST_TEST_CASE("reflections of a narrow decomposition", "[eigen][transformations]",
                        narrow::all_formats) {
  using M = Matrix<TestType, Dynamic, Dynamic>;
  const M a = factor(5).cast<TestType>();
  const HouseholderQR<M> qr(a);
  const ColPivHouseholderQR<M> pivoted(a);
  const MatrixXf q = qr.householderQ(), pivoted_q = pivoted.householderQ();
  const M start = numbers(5, 3).cast<TestType>();
  const MatrixXd wide = start.template cast<double>();
  tally count;
  M b = start;
  b.applyOnTheLeft(qr.householderQ().adjoint());
  check(count, "Q^T b", b, qr.householderQ().adjoint() * start, q.cast<double>().transpose() * wide);
  b = start;
  b.applyOnTheLeft(pivoted.householderQ());
  check(count, "pivoted Q b", b, pivoted.householderQ() * start, pivoted_q.cast<double>() * wide);
  Matrix<TestType, Dynamic, 1> v = start.col(0);
  v.applyOnTheLeft(qr.householderQ());
  check(count, "Q v", v, qr.householderQ() * start.col(0), q.cast<double>() * wide.col(0));
  M whole = qr.householderQ();
  check(count, "Q", whole, q, q.cast<double>());
  count.require(2 * (15 + 15 + 5 + 25));
}

TEMPLATE_LIST_TEST_CASE("rotations are computed in float and rounded once", "[eigen][transformations]",
                        formats) {
  if constexpr (!narrow::narrow_fixed<TestType> || sizeof(TestType) < 4) {
    tally count;
    check_rotations<TestType>(count);
    count.require(2 * 36 * rotation_uses<TestType>);
  }
}

TEMPLATE_LIST_TEST_CASE("permutations and transpositions move coefficients", "[eigen][transformations]",
                        formats) {
  tally count;
  check_permutations<TestType>(count);
  count.require(2 * 36 * permutation_uses);
}

TEMPLATE_LIST_TEST_CASE("solves round once", "[eigen][transformations]", formats) {
  tally count;
  check_solves<TestType>(count);
  count.require_at_least(6 * 18);
}
