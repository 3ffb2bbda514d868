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
    some_of<narrow::all_formats, 0>{},
    some_of<std::tuple<narrow::fixed<8, 4>, narrow::fixed<12, 6>, narrow::fixed<16, 8>, narrow::fixed<24, 12>,
                       narrow::fixed<32, 16>>,
            2>{}));

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

/// A change of a matrix in place, by something of float or of double. Those below are outside of templates,
/// so that for float and double they are compiled once, and not for each format.
template <class Change> struct named {
  const char* name;
  Change change;  // (matrix, by)
};
template <class Change> named(const char*, Change) -> named<Change>;

/// A matrix of T is changed as one of float, then rounded, and as one of double but for float's error.
template <class M, class Use, class Float, class Double>
void check_in_place(tally& count, const Use& use, Index rows, Index cols, const Float& by,
                    const Double& exact_by) {
  M b = numbers(rows, cols).cast<typename M::Scalar>();
  MatrixXf wide = b.template cast<float>();
  MatrixXd exact = wide.template cast<double>();
  use.change(b, by);
  use.change(wide, by);
  use.change(exact, exact_by);
  check(count, use.name, b, wide, exact);
}
template <class M, class Uses, class Float, class Double>
void check_uses(tally& count, const Uses& uses, Index rows, Index cols, const Float& by,
                const Double& exact_by) {
  std::apply([&](const auto&... use) { (check_in_place<M>(count, use, rows, cols, by, exact_by), ...); },
             uses);
}

const auto reflections_on_the_left = std::tuple(
    named{"Q b", [](auto& b, const auto& qr) { b.applyOnTheLeft(qr.householderQ()); }},
    named{"Q^T b", [](auto& b, const auto& qr) { b.applyOnTheLeft(qr.householderQ().adjoint()); }},
    named{"transposed", [](auto& b, const auto& qr) { b.applyOnTheLeft(qr.householderQ().transpose()); }},
    named{"= Q b", [](auto& b, const auto& qr) { b = qr.householderQ() * b; }},
    named{"= Q^T b", [](auto& b, const auto& qr) { b = qr.householderQ().transpose() * b; }},
    named{"a column", [](auto& b, const auto& qr) { b.col(1).applyOnTheLeft(qr.householderQ().adjoint()); }},
    named{"columns", [](auto& b, const auto& qr) { b.rightCols(3).applyOnTheLeft(qr.householderQ()); }});
const auto reflections_on_the_right = std::tuple(
    named{"b Q", [](auto& b, const auto& qr) { b.applyOnTheRight(qr.householderQ()); }},
    named{"b Q^T", [](auto& b, const auto& qr) { b.applyOnTheRight(qr.householderQ().adjoint()); }},
    named{"= b Q", [](auto& b, const auto& qr) { b = b * qr.householderQ(); }},
    named{"rows", [](auto& b, const auto& qr) { b.topRows(2).applyOnTheRight(qr.householderQ()); }},
    named{"transposed columns",
          [](auto& b, const auto& qr) { b.transpose().applyOnTheLeft(qr.householderQ()); }});
template <class... Uses>
constexpr std::uint64_t number_of = (std::tuple_size_v<std::remove_cvref_t<Uses>> + ...);
constexpr std::uint64_t reflection_uses =
    number_of<decltype(reflections_on_the_left), decltype(reflections_on_the_right)>;

template <class M> void check_reflections(tally& count, Index n) {
  const MatrixXf a = factor(n);
  const HouseholderQR<MatrixXf> qr(a);
  const HouseholderQR<MatrixXd> exact_qr(a.cast<double>());
  check_uses<M>(count, reflections_on_the_left, n, 5, qr, exact_qr);
  check_uses<M>(count, reflections_on_the_right, 5, n, qr, exact_qr);
}

const auto rotations_of_rows =
    std::tuple(named{"rows", [](auto& b, const auto& by) { b.applyOnTheLeft(0, 2, by); }},
               named{"rows back", [](auto& b, const auto& by) { b.applyOnTheLeft(1, 2, by.adjoint()); }});
const auto rotations_of_columns =
    std::tuple(named{"columns", [](auto& b, const auto& by) { b.applyOnTheRight(3, 1, by); }});

template <class T> void check_rotations(tally& count) {
  using M = Matrix<T, Dynamic, Dynamic>;
  for (const float angle : {0.3f, 1.5f, -2.0f}) {
    const JacobiRotation<float> rotation(std::cos(angle), std::sin(angle));
    const JacobiRotation<double> wide(rotation.c(), rotation.s());
    check_uses<M>(count, rotations_of_rows, 4, 9, rotation, wide);
    check_uses<M>(count, rotations_of_columns, 9, 4, rotation, wide);
    // By a rotation of T, whose two numbers are floats, too.
    const JacobiRotation<T> narrow_rotation(T(rotation.c()), T(rotation.s()));
    const JacobiRotation<float> same(static_cast<float>(narrow_rotation.c()),
                                     static_cast<float>(narrow_rotation.s()));
    if constexpr (narrow::narrow_float<T>)
      check_in_place<M>(count,
                        named{"by its own",
                              [&]<class B>(B& b, const auto& by) {
                                if constexpr (std::same_as<typename B::Scalar, T>)
                                  b.applyOnTheLeft(0, 2, narrow_rotation);
                                else
                                  b.applyOnTheLeft(0, 2, by);
                              }},
                        4, 9, same, JacobiRotation<double>(same.c(), same.s()));
  }
}
template <class T>
constexpr std::uint64_t rotation_uses =
    3 * (number_of<decltype(rotations_of_rows), decltype(rotations_of_columns)> +
         (narrow::narrow_float<T> ? 1 : 0));

struct moves {
  PermutationMatrix<Dynamic> p, q;
  Transpositions<Dynamic> swaps;
};
const auto uses_of_moves =
    std::tuple(named{"P b", [](auto& b, const moves& by) { b = by.p * b; }},
               named{"P^-1 b", [](auto& b, const moves& by) { b = by.p.inverse() * b; }},
               named{"b Q", [](auto& b, const moves& by) { b = b * by.q; }},
               named{"P b in place", [](auto& b, const moves& by) { b.applyOnTheLeft(by.p); }},
               named{"b Q in place", [](auto& b, const moves& by) { b.applyOnTheRight(by.q); }},
               named{"P^T b Q", [](auto& b, const moves& by) { b = by.p.transpose() * b * by.q; }},
               named{"swapped", [](auto& b, const moves& by) { b = by.swaps * b; }},
               named{"swapped back", [](auto& b, const moves& by) { b = by.swaps.inverse() * b; }},
               named{"swapped columns", [](auto& b, const moves& by) { b = b * by.swaps; }});
constexpr std::uint64_t permutation_uses = number_of<decltype(uses_of_moves)>;

template <class T> void check_permutations(tally& count) {
  const FullPivLU<MatrixXf> lu(numbers(6, 6));
  moves by{lu.permutationP(), lu.permutationQ(), Transpositions<Dynamic>(6)};
  by.swaps.indices() << 3, 1, 5, 4, 4, 5;
  check_uses<Matrix<T, Dynamic, Dynamic>>(count, uses_of_moves, 6, 6, by, by);
}

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

  const MatrixXd turned = a.cast<double>().transpose().partialPivLu().solve(wide);
  b = PartialPivLU<MatrixXf>(a).transpose().solve(start);
  near("LU of floats, transposed", b, turned, 0.5 + 1e-3);
  b = start;
  b = PartialPivLU<MatrixXf>(a).adjoint().solve(b);
  near("LU of floats, its adjoint, of itself", b, turned, 0.5 + 1e-3);
  const M narrow_a = a.cast<T>();
  const MatrixXd turned_narrow = narrow_a.template cast<double>().transpose().partialPivLu().solve(wide);
  if (!(turned_narrow.array().abs() < 1e3).all())
    return;  // of formats in which a is no longer well conditioned
  b = narrow_a.lu().transpose().solve(start);
  near("LU, transposed", b, turned_narrow, 0.5 + 1e-3);
  b = narrow_a.householderQr().adjoint().solve(start);
  near("QR, its adjoint", b, turned_narrow, 0.5 + 1e-3);
  const Matrix<typename T::carrier, Dynamic, Dynamic> carried = narrow_a.lu().transpose().solve(start);
  near("LU, transposed, not rounded", carried.template cast<T>(), turned_narrow, 0.5 + 1e-3);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("reflections are applied in float and rounded once",
                        "[.exhaustive][eigen][transformations]", formats) {
  tally count;
  for (const Index n : {1, 4, 7}) check_reflections<Matrix<TestType, Dynamic, Dynamic>>(count, n);
  check_reflections<Matrix<TestType, Dynamic, Dynamic, RowMajor>>(count, 6);
  count.require(2 * 5 * reflection_uses * (1 + 4 + 7 + 6));
}

TEST_CASE("reflections by blocks are, too", "[.exhaustive][eigen][transformations]") {
  tally count;
  check_reflections<Matrix<narrow::fp16, Dynamic, Dynamic>>(count, 60);
  count.require(2 * 5 * reflection_uses * 60);
}

TEMPLATE_LIST_TEST_CASE("reflections of a narrow decomposition", "[.exhaustive][eigen][transformations]",
                        floating_formats) {
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

TEMPLATE_LIST_TEST_CASE("rotations are computed in float and rounded once",
                        "[.exhaustive][eigen][transformations]", formats) {
  if constexpr (!narrow::narrow_fixed<TestType> || sizeof(TestType) < 4) {
    tally count;
    check_rotations<TestType>(count);
    count.require(2 * 36 * rotation_uses<TestType>);
  }
}

TEMPLATE_LIST_TEST_CASE("permutations and transpositions move coefficients",
                        "[.exhaustive][eigen][transformations]", formats) {
  tally count;
  check_permutations<TestType>(count);
  count.require(2 * 36 * permutation_uses);
}

TEMPLATE_LIST_TEST_CASE("solves round once", "[.exhaustive][eigen][transformations]", formats) {
  tally count;
  check_solves<TestType>(count);
  count.require_at_least(8 * 18);
}
