// Expressions that are computed as programs of lanes have the bits of float arithmetic, each result rounded
// once: on every instruction set, at every length, in any floating-point environment.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <narrow/eigen.hpp>

#include "any_codes.hpp"
#include "catch.hpp"
#include "coefficient_bits.hpp"
#include "every_isa.hpp"
#include "exhaustive.hpp"
#include "float_control.hpp"

namespace {

using test::any_codes;
using test::bits_of;
using test::environment;
using test::same;
template <class T, int Order = Eigen::ColMajor> using matrix = test::matrix_in_order<T, Order>;
/// A format of two bytes and one of a byte.
using formats = test::some_of<narrow::all_formats, 1>;

using namespace narrow;
using at = Eigen::Index;
/// Assigns expressions of a, b and x in an environment, and checks every coefficient against the same
/// arithmetic on plain floats, in the usual one. How many these were.
template <class S> at check_forms(at rows, at cols, const environment& in = {}) {
  const auto a = any_codes<S>(rows, cols, 1), b = any_codes<S>(rows, cols, 2);
  const auto x = any_codes<float>(rows, cols, 3);
  at checked = 0;
  const auto check = [&]<class Dst>(const char* name, Dst start, const auto& assign, const auto& right) {
    Dst got = start;
    in.run([&] { assign(got); });
    at different = 0;
    for (at j = 0; j < cols; ++j)
      for (at i = 0; i < rows; ++i) {
        const auto expected =
            static_cast<typename Dst::Scalar>(right(static_cast<float>(a(i, j)), static_cast<float>(b(i, j)),
                                                    x(i, j), static_cast<float>(start(i, j))));
        different += !same<typename Dst::Scalar>(got(i, j), expected);
      }
    INFO(name << ", " << rows << " x " << cols);
    CHECK(different == 0);
    checked += rows * cols;
  };
  const matrix<S> none = matrix<S>::Zero(rows, cols);
  const auto larger = [](float p, float q) { return p < q ? q : p; };
  const auto smaller = [](float p, float q) { return q < p ? q : p; };
  check(
      "sum", none, [&](auto& to) { to = a + b; }, [](float p, float q, float, float) { return p + q; });
  check(
      "difference", none, [&](auto& to) { to = a - 0.3f * b; },
      [](float p, float q, float, float) { return p - 0.3f * q; });
  check(
      "product", none, [&](auto& to) { to = a.cwiseProduct(b) + a; },
      [](float p, float q, float, float) { return p * q + p; });
  check(
      "quotient", none, [&](auto& to) { to = a.cwiseQuotient(b); },
      [](float p, float q, float, float) { return p / q; });
  check(
      "signs", none, [&](auto& to) { to = (-a).cwiseAbs() - b.cwiseAbs2(); },
      [](float p, float q, float, float) { return std::abs(-p) - q * q; });
  check(
      "root", none, [&](auto& to) { to = a.cwiseAbs().cwiseSqrt() - b; },
      [](float p, float q, float, float) { return std::sqrt(std::abs(p)) - q; });
  check(
      "of one matrix", none,
      [&](auto& to) { to = (a.array() < S(0)).select(a * 0.3f, (a.cwiseAbs2() - 2 * a).cwiseMin(S(1))); },
      [&](float p, float, float, float) { return p < 0 ? p * 0.3f : smaller(p * p - 2 * p, 1); });
  check(
      "cube", none, [&](auto& to) { to = (a + b).array().cube(); },
      [](float p, float q, float, float) { return (p + q) * (p + q) * (p + q); });
  check(
      "squares as powers", none, [&](auto& to) { to = (a + b).array().pow(2); },
      [](float p, float q, float, float) { return (p + q) * (p + q); });
  check(
      "powers", none, [&](auto& to) { to = a.array().abs().pow(b.array()); },
      [](float p, float q, float, float) { return std::pow(std::abs(p), q); });
  check(
      "inverse", none, [&](auto& to) { to = (a - b).cwiseInverse(); },
      [](float p, float q, float, float) { return 1 / (p - q); });
  check(
      "integers below", none, [&](auto& to) { to = (a * 0.75f).array().floor() + b.array().floor(); },
      [](float p, float q, float, float) { return std::floor(p * 0.75f) + std::floor(q); });
  check(
      "integers above", none, [&](auto& to) { to = (a * 0.75f).array().ceil(); },
      [](float p, float, float, float) { return std::ceil(p * 0.75f); });
  check(
      "integers away", none, [&](auto& to) { to = (a * 0.5f).array().round() - b.array().round(); },
      [](float p, float q, float, float) { return std::round(p * 0.5f) - std::round(q); });
  check(
      "nearest integers", none, [&](auto& to) { to = (a * 0.5f).array().rint() - b.array().rint(); },
      [](float p, float q, float, float) { return std::rint(p * 0.5f) - std::rint(q); });
#if !EIGEN_VERSION_AT_LEAST(4, 0, 0)
  check(
      "sign", none, [&](auto& to) { to = (a - b).array().sign(); },
      [](float p, float q, float, float) {
        return std::isnan(p - q) ? p - q : static_cast<float>((p - q > 0) - (p - q < 0));
      });
#endif
  check(
      "joined conditions", none,
      [&](auto& to) {
        to = ((a.array() < b.array() && !(b.array() <= S(1))) || a.array() == S(0)).select(a, b * 2);
      },
      [](float p, float q, float, float) { return (p < q && !(q <= 1)) || p == 0 ? p : q * 2; });
  check(
      "tests", none,
      [&](auto& to) {
        to = (a.array().isNaN() || b.array().isInf()).select(S(1), a.array().isFinite().select(a, b * 2));
      },
      [](float p, float q, float, float) {
        return std::isnan(p) || std::isinf(q) ? 1 : std::isfinite(p) ? p : q * 2;
      });
  check(
      "extremes", none, [&](auto& to) { to = (3 * a).cwiseMax(b).cwiseMin(S(1.5f)); },
      [&](float p, float q, float, float) { return smaller(larger(3 * p, q), static_cast<float>(S(1.5f))); });
  check(
      "only other signs", none,
      [&](auto& to) { to = (a.array() <= b.array()).select(-a, b.cwiseAbs()).cwiseMax(S(0.375f)); },
      [&](float p, float q, float, float) { return larger(p <= q ? -p : std::abs(q), 0.375f); });
  check(
      "no more than a float", none,
      [&](auto& to) { to = a.template cast<float>().cwiseMin(0.1f).template cast<S>(); },
      [&](float p, float, float, float) { return smaller(p, 0.1f); });
  check(
      "choice", none, [&](auto& to) { to = (a.array() < b.array()).select(b, a + a); },
      [](float p, float q, float, float) { return p < q ? q : p + p; });
  check(
      "not greater", none, [&](auto& to) { to = (a.array() <= b.array()).select(a + b, b); },
      [](float p, float q, float, float) { return p <= q ? p + q : q; });
  check(
      "equal", none, [&](auto& to) { to = (a.array() == b.array()).select(a, b + b); },
      [](float p, float q, float, float) { return p == q ? p : q + q; });
  check(
      "unequal", none, [&](auto& to) { to = (a.array() != S(0)).select(a * 2, b); },
      [](float p, float q, float, float) { return p != 0 ? p * 2 : q; });
  check(
      "conditions as numbers", none,
      [&](auto& to) { to = (a.array() < b.array()).template cast<S>() * b.array(); },
      [](float p, float q, float, float) { return (p < q ? 1 : 0) * q; });
  check(
      "conditions as floats", matrix<float>(x),
      [&](auto& to) {
        to = (a.array() <= b.array()).template cast<float>() - a.template cast<float>().array();
      },
      [](float p, float q, float, float) { return (p <= q ? 1 : 0) - p; });
  check(
      "exp", none, [&](auto& to) { to = (a - b).array().exp(); },
      [](float p, float q, float, float) { return static_cast<float>(std::exp(double{p - q})); });
  check(
      "tanh", none, [&](auto& to) { to = S(0.5f) * a.array().tanh(); },
      [](float p, float, float, float) { return 0.5f * static_cast<float>(std::tanh(double{p})); });
  check(
      "logistic into float", matrix<float>(x),
      [&](auto& to) { to = a.array().logistic().template cast<float>(); },
      [](float p, float, float, float) { return static_cast<float>(1 / (1 + std::exp(-double{p}))); });
  check(
      "from float", none, [&](auto& to) { to = (x * 0.1f).template cast<S>(); },
      [](float, float, float r, float) { return r * 0.1f; });
  check(
      "into float", matrix<float>(x), [&](auto& to) { to = (a + b).template cast<float>() * 0.1f; },
      [](float p, float q, float, float) { return (p + q) * 0.1f; });
  check(
      "added", none, [&](auto& to) { to += a; }, [](float p, float, float, float old) { return old + p; });
  check(
      "taken away", a, [&](auto& to) { to -= 0.1f * b; },
      [](float, float q, float, float old) { return old - 0.1f * q; });
  check(
      "multiplied", a, [&](auto& to) { to.array() *= b.array(); },
      [](float, float q, float, float old) { return old * q; });
  check(
      "from the master copy", matrix<float>(x), [&](auto& to) { to -= 0.25f * a.template cast<float>(); },
      [](float p, float, float, float old) { return old - 0.25f * p; });
  return checked;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("programs of lanes have the bits of floats, rounded once", "[eigen][lanes]",
                        formats) {
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const auto& [rows, cols] :
         {std::pair{1, 1}, {2, 3}, {5, 3}, {16, 1}, {1, 17}, {31, 1}, {33, 1}, {67, 3}, {300, 7}})
      checked += check_forms<TestType>(rows, cols);
  });
  REQUIRE(checked >= at(test::isa_count()) * 5000);
}

/// Where one of several numbers is NaN, all of them are stored in another way.
TEMPLATE_TEST_CASE("programs of lanes have these bits of numbers without NaN, too", "[eigen][lanes]", bf16,
                   fp8_e4m3fn) {
  using S = TestType;
  constexpr at n = 67;
  matrix<S> a(n, 1), b(n, 1);
  for (at i = 0; i < n; ++i) {
    a(i) = S(static_cast<float>(i % 13) * 0.25f - 1.5f);
    b(i) = S(static_cast<float>(i % 7) * 0.5f - 1.5f);
  }
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    const matrix<S> sum = a + b, held = a.template cast<float>().cwiseMin(0.1f).template cast<S>(),
                    larger = a.cwiseMax(-b);
    at different = 0;
    for (at i = 0; i < n; ++i) {
      const auto p = static_cast<float>(a(i)), q = static_cast<float>(b(i));
      different += !same(sum(i), S(p + q));
      different += !same(held(i), S(std::min(p, 0.1f)));
      different += !same(larger(i), S(std::max(p, -q)));
    }
    CHECK(different == 0);
  });
}

TEMPLATE_LIST_TEST_CASE("programs of lanes do not depend on the floating-point environment", "[eigen][lanes]",
                        formats) {
  test::for_each_environment([](const environment& in) {
    INFO(in);
    check_forms<TestType>(19, 2, in);
    CHECK(in.is_kept());
  });
}

TEMPLATE_LIST_TEST_CASE("all rows and all columns are added up as one of them is", "[eigen][lanes]",
                        formats) {
  using S = TestType;
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    // Lines of less than a vector and of many, side by side in more than one and in none.
    for (const auto& [rows, cols] :
         {std::pair{1, 1}, {3, 40}, {40, 3}, {37, 150}, {150, 37}, {5, 600}, {2, 4100}}) {
      const matrix<S> a = matrix<S>::Random(rows, cols), b = matrix<S>::Random(rows, cols);
      INFO(rows << " x " << cols);
      const Eigen::Matrix<S, Eigen::Dynamic, 1> sums = a.rowwise().sum(), of_sums = (a + b).rowwise().sum(),
                                                squares = (2 * a).rowwise().squaredNorm();
      const Eigen::Matrix<S, 1, Eigen::Dynamic> across = a.transpose().rowwise().sum().transpose(),
                                                below = a.colwise().sum(), twice = 2 * b.colwise().sum();
      const Eigen::VectorXf wide = a.rowwise().sum().template cast<float>();
      at different = 0;
      for (at i = 0; i < rows; ++i) {
        different += !same(sums(i), S(narrow::sum(a.row(i)))) +
                     !same(of_sums(i), S(narrow::sum((a + b).row(i)))) +
                     !same(squares(i), S(narrow::sum((2 * a).row(i).cwiseAbs2()))) +
                     !same(wide(i), narrow::sum(a.row(i)));
        checked += 4;
      }
      for (at j = 0; j < cols; ++j) {
        different += !same(across(j), S(narrow::sum(a.col(j)))) + !same(below(j), S(narrow::sum(a.col(j)))) +
                     !same(twice(j), S(2 * narrow::sum(b.col(j))));
        checked += 3;
      }
      CHECK(different == 0);
    }
  });
  REQUIRE(checked == at(test::isa_count()) * (4 * 238 + 3 * 4931));
}

using floating_matrices = std::tuple<matrix<fp16, Eigen::ColMajor>, matrix<bf16, Eigen::RowMajor>,
                                     matrix<fp8_e4m3fn, Eigen::ColMajor>>;
using some_floating_matrices = test::some_of<floating_matrices, 1>;
using fixed_matrices = std::tuple<matrix<fixed<12, 6>, Eigen::RowMajor>>;
using some_matrices = test::some_of<decltype(std::tuple_cat(floating_matrices{}, fixed_matrices{})), 0, 3>;

TEMPLATE_LIST_TEST_CASE("programs of lanes go along lines", "[eigen][lanes]", some_floating_matrices) {
  using M = TestType;
  using S = typename M::Scalar;
  constexpr int order = M::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor;
  constexpr at rows = 37, cols = 45;
  const M a = any_codes<S, order>(rows, cols, 1);
  const Eigen::Matrix<S, Eigen::Dynamic, 1> column = any_codes<S>(rows, 1, 2);
  const Eigen::Matrix<S, 1, Eigen::Dynamic> row = any_codes<S, Eigen::RowMajor>(1, cols, 3);
  const M across = any_codes<S, order>(cols, rows, 4);
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    const auto expect = [&](const M& got, const auto& right) {
      at different = 0;
      for (at i = 0; i < rows; ++i)
        for (at j = 0; j < cols; ++j) different += !same(got(i, j), S(right(i, j)));
      CHECK(different == 0);
    };
    const auto wide = [](const auto& m, auto... i) { return static_cast<float>(m(i...)); };
    expect(a.colwise() + column, [&](at i, at j) { return wide(a, i, j) + wide(column, i); });
    expect(a.rowwise() - row, [&](at i, at j) { return wide(a, i, j) - wide(row, j); });
    M whole = a;
    whole.block(2, 3, 30, 40) = 2 * a.block(1, 1, 30, 40) - a.block(4, 5, 30, 40);
    expect(whole, [&](at i, at j) {
      const bool inside = i >= 2 && i < 32 && j >= 3 && j < 43;
      return inside ? 2 * wide(a, i - 1, j - 2) - wide(a, i + 2, j + 2) : wide(a, i, j);
    });
    expect(a + column.replicate(1, cols), [&](at i, at j) { return wide(a, i, j) + wide(column, i); });
    expect(row.replicate(rows, 1) - a, [&](at i, at j) { return wide(row, j) - wide(a, i, j); });
    expect(a - (2 * row.head(cols / 3)).replicate(rows, 3),
           [&](at i, at j) { return wide(a, i, j) - 2 * wide(row, j % (cols / 3)); });
    expect(column.asDiagonal() * a, [&](at i, at j) { return wide(a, i, j) * wide(column, i); });
    expect((a + a) * row.asDiagonal(),
           [&](at i, at j) { return (wide(a, i, j) + wide(a, i, j)) * wide(row, j); });
    expect(a.colwise() - (column + column),
           [&](at i, at j) { return wide(a, i, j) - (wide(column, i) + wide(column, i)); });
    expect((a.transpose().colwise() + (2 * row).transpose()).transpose(),
           [&](at i, at j) { return wide(a, i, j) + 2 * wide(row, j); });
    expect((column * 3).asDiagonal() * a, [&](at i, at j) { return wide(a, i, j) * (wide(column, i) * 3); });
    expect(a + a.reverse(), [&](at i, at j) { return wide(a, i, j) + wide(a, rows - 1 - i, cols - 1 - j); });
    expect(2 * a.rowwise().reverse(), [&](at i, at j) { return 2 * wide(a, i, cols - 1 - j); });
    expect(a - a.colwise().reverse(), [&](at i, at j) { return wide(a, i, j) - wide(a, rows - 1 - i, j); });
    expect(a.colwise() + 2 * column.reverse(),
           [&](at i, at j) { return wide(a, i, j) + 2 * wide(column, rows - 1 - i); });
    expect((across.reverse() + across).transpose(),
           [&](at i, at j) { return wide(across, cols - 1 - j, rows - 1 - i) + wide(across, j, i); });
    // Lines across memory.
    whole = a;
    whole.row(3) = 2 * a.row(4) + a.row(5);
    whole.col(2) = 3 * a.col(1) - a.col(0);
    whole.col(7).array() *= across.row(1).transpose().array();
    expect(whole, [&](at i, at j) {
      if (j == 2) return 3 * wide(a, i, 1) - wide(a, i, 0);
      if (j == 7) return (i == 3 ? 2 * wide(a, 4, 7) + wide(a, 5, 7) : wide(a, i, 7)) * wide(across, 1, i);
      return i == 3 ? 2 * wide(a, 4, j) + wide(a, 5, j) : wide(a, i, j);
    });
    expect(a + 2 * across.transpose(), [&](at i, at j) { return wide(a, i, j) + 2 * wide(across, j, i); });
    expect((a.transpose() - across).transpose(),
           [&](at i, at j) { return wide(a, i, j) - wide(across, j, i); });
    expect(a.colwise() + across.row(2).transpose(),
           [&](at i, at j) { return wide(a, i, j) + wide(across, 2, i); });
    expect(a.rowwise() - across.col(4).transpose(),
           [&](at i, at j) { return wide(a, i, j) - wide(across, j, 4); });
    // Every third number of what is in memory, and every one.
    for (const at step : {3, 1}) {
      using apart = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
      M to = M::Zero(rows, cols);
      const apart steps(a.outerStride(), step);
      const at n = (a.innerSize() - 1) / step + 1, lines = a.outerSize();
      const at some_rows = order == Eigen::RowMajor ? lines : n,
               some_cols = order == Eigen::RowMajor ? n : lines;
      const Eigen::Map<const M, 0, apart> from(a.data(), some_rows, some_cols, steps);
      Eigen::Map<M, 0, apart>(to.data(), some_rows, some_cols, steps) = from + from;
      expect(to, [&](at i, at j) {
        const at along = order == Eigen::RowMajor ? j : i;
        return along % step == 0 ? 2 * wide(a, i, j) : 0;
      });
      float sum = 0;
      for (at i = 0; i < some_rows; ++i)
        for (at j = 0; j < some_cols; ++j) sum += from(i, j) < S(0) ? 1.0f : 0.0f;
      CHECK((from.array() < S(0)).template cast<float>().sum() == sum);
      CHECK(static_cast<float>((from.array() < S(0)).count()) == sum);
    }
  });
}

// Lines that follow one another in memory are evaluated several at a time, but not where what they meet is
// overwritten meanwhile.
TEMPLATE_LIST_TEST_CASE("programs of lanes go along short lines", "[eigen][lanes]", some_matrices) {
  using M = TestType;
  using S = typename M::Scalar;
  constexpr bool by_rows = M::IsRowMajor;
  constexpr int order = by_rows ? Eigen::RowMajor : Eigen::ColMajor;
  using vector_along = Eigen::Matrix<S, by_rows ? 1 : Eigen::Dynamic, by_rows ? Eigen::Dynamic : 1>;
  using vector_across = Eigen::Matrix<S, by_rows ? Eigen::Dynamic : 1, by_rows ? 1 : Eigen::Dynamic>;
  // What is one vector for all lines, and what has a number for each.
  const auto lines_of = [](auto& m) {
    if constexpr (by_rows)
      return m.rowwise();
    else
      return m.colwise();
  };
  const auto places_of = [](auto& m) {
    if constexpr (by_rows)
      return m.colwise();
    else
      return m.rowwise();
  };
  const auto wide = [](const S& x) { return static_cast<float>(x); };
  const auto numbers = [](at rows, at cols, unsigned seed) -> M {
    if constexpr (narrow_float<S>)
      return any_codes<S, order>(rows, cols, seed);
    else
      return M::Random(rows, cols);
  };
  at checked = 0;
  const auto check = [&](at length, at lines) {
    const at rows = by_rows ? lines : length, cols = by_rows ? length : lines;
    const M a = numbers(rows, cols, 1);
    vector_along along(length);
    vector_across across(lines);
    along = Eigen::Map<const vector_along>(numbers(length, 1, 2).data(), length);
    across = Eigen::Map<const vector_across>(numbers(lines, 1, 3).data(), lines);
    INFO(lines << " lines of " << length);
    const auto expect = [&](const M& got, const auto& right) {
      at different = 0;
      for (at i = 0; i < rows; ++i)
        for (at j = 0; j < cols; ++j) {
          const at line = by_rows ? i : j, place = by_rows ? j : i;
          different += !same(got(i, j), S(right(wide(a(i, j)), line, place)));
        }
      CHECK(different == 0);
      checked += rows * cols;
    };
    expect(lines_of(a) + along, [&](float x, at, at place) { return x + wide(along(place)); });
    expect(places_of(a) - across, [&](float x, at line, at) { return x - wide(across(line)); });
    expect(M((lines_of(a) - along).cwiseAbs()),
           [&](float x, at, at place) { return std::abs(wide(S(x - wide(along(place))))); });
    if constexpr (!by_rows)
      expect(along.asDiagonal() * a, [&](float x, at, at place) { return x * wide(along(place)); });
    else
      expect(a * along.asDiagonal(), [&](float x, at, at place) { return x * wide(along(place)); });
    expect(M((lines_of(a) + along) * S(0.5f)), [&](float x, at, at place) {
      const float sum = x + wide(along(place));
      return (narrow_float<S> ? sum : wide(S(sum))) * 0.5f;
    });
    M in_place = a;
    lines_of(in_place) += along;
    expect(in_place, [&](float x, at, at place) { return x + wide(along(place)); });
    in_place = a;
    places_of(in_place) -= across;
    expect(in_place, [&](float x, at line, at) { return x - wide(across(line)); });
    if constexpr (narrow_float<S>) {
      expect(lines_of(a) + (along + along),
             [&](float x, at, at place) { return x + (wide(along(place)) + wide(along(place))); });
      expect(places_of(a) - 2 * across, [&](float x, at line, at) { return x - 2 * wide(across(line)); });
      const auto extremes = places_of(a) - lines_of(a).maxCoeff();
      const vector_across largest = lines_of(a).maxCoeff();
      expect(extremes, [&](float x, at line, at) { return x - wide(largest(line)); });
    }
    // The first line becomes zeros, or NaN, before the others meet it; so does the first number of each.
    in_place = a;
    if constexpr (by_rows)
      in_place.rowwise() -= in_place.row(0);
    else
      in_place.colwise() -= in_place.col(0);
    const auto first = [&](at place) { return wide(by_rows ? a(0, place) : a(place, 0)); };
    expect(in_place, [&](float x, at line, at place) {
      return x - (line == 0 ? first(place) : wide(S(first(place) - first(place))));
    });
  };
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const at length : {1, 2, 3, 5, 6, 8, 9, 12, 13, 16, 17, 23, 24, 25, 31})
      for (const at lines : {1, 2, 7, 64, 700}) check(length, lines);
  });
  constexpr at forms = narrow_float<S> ? 11 : 8;
  REQUIRE(checked == at(test::isa_count()) * forms * 195 * 774);
}

TEST_CASE("one number beside columns and above rows", "[eigen][lanes]") {
  const Eigen::Matrix<fp16, 1, 1> one(fp16(10));
  for (const at n : {2, 5, 40}) {
    const matrix<fp16> a = any_codes<fp16>(n, 1, 1).cwiseMin(fp16(1)).cwiseMax(fp16(-1));
    const Eigen::Matrix<fp16, Eigen::Dynamic, 1> column = a;
    const Eigen::Matrix<fp16, 1, Eigen::Dynamic> row = a.transpose();
    const matrix<fp16> below = column.rowwise() + one, beside = row.colwise() + one,
                       computed = column.rowwise() + (one + one);
    for (at i = 0; i < n; ++i) {
      const float x = static_cast<float>(column(i));
      CHECK(same<fp16>(below(i, 0), fp16(x + 10)));
      CHECK(same<fp16>(beside(0, i), fp16(x + 10)));
      CHECK(same<fp16>(computed(i, 0), fp16(x + 20)));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("programs of lanes add up", "[eigen][lanes]", formats) {
  using S = TestType;
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const at n : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 1000})
      for (const at cols : {1, 3}) {
        // Small integers, the sums of which are exact in float.
        matrix<S> a(n, cols), b(n, cols);
        double expected = 0, in_block = 0;
        for (at j = 0; j < cols; ++j)
          for (at i = 0; i < n; ++i) {
            a(i, j) = S(static_cast<float>((7 * i + j) % 5 - 2));
            b(i, j) = S(static_cast<float>((3 * i + 2 * j) % 4 - 1));
            const double d = static_cast<double>(a(i, j)) - static_cast<double>(b(i, j));
            expected += d * d;
            in_block += i > 0 ? d : 0;
          }
        INFO(n << " x " << cols);
        CHECK(narrow::sum((a - b).cwiseAbs2()) == expected);
        CHECK(narrow::sum((a - b).bottomRows(n - 1)) == in_block);
        CHECK(narrow::sum(a.bottomRows(n - 1) - b.bottomRows(n - 1)) == in_block);
        const Eigen::MatrixXf wide_a = a.template cast<float>(), wide_b = b.template cast<float>();
        const Eigen::MatrixXf by_column = wide_a.colwise() - wide_b.col(0);
        const Eigen::Matrix<S, 1, Eigen::Dynamic> of_columns = (a - b).colwise().sum(),
                                                  squares = (a.colwise() - b.col(0)).colwise().squaredNorm();
        const Eigen::Matrix<S, Eigen::Dynamic, 1> of_rows = (a - b).rowwise().sum();
        at different = 0;
        for (at j = 0; j < cols; ++j) {
          different += !same(of_columns(j), S((wide_a - wide_b).col(j).sum()));
          different += !same(squares(j), S(by_column.col(j).squaredNorm()));
        }
        for (at i = 0; i < n; ++i) different += !same(of_rows(i), S((wide_a - wide_b).row(i).sum()));
        CHECK(different == 0);
        CHECK((a.array() < b.array()).template cast<float>().sum() ==
              (wide_a.array() < wide_b.array()).template cast<float>().sum());
        CHECK((a.array() < b.array()).count() == (wide_a.array() < wide_b.array()).count());
        // Of matrices in memory, with gaps between their lines too, and of floats.
        CHECK(narrow::sum(a) == wide_a.sum());
        CHECK(narrow::sum(a.bottomRows(n - 1)) == wide_a.bottomRows(n - 1).sum());
        CHECK(narrow::sum(a.cwiseProduct(b)) == wide_a.cwiseProduct(wide_b).sum());
        CHECK(a.template cast<float>().sum() == wide_a.sum());
        CHECK((a.template cast<float>() - wide_b).squaredNorm() == expected);
        // Of what meets sums and extremes of rows and columns, which are wide, too.
        const Eigen::MatrixXf less_sums = wide_a.colwise() - wide_a.rowwise().sum(),
                              less_largest = wide_a.rowwise() - wide_a.colwise().maxCoeff();
        const Eigen::Matrix<S, Eigen::Dynamic, 1>
            deviations = (a.colwise() - a.rowwise().sum()).cwiseAbs2().rowwise().sum(),
            smallest = (a.rowwise() - a.colwise().maxCoeff()).rowwise().minCoeff();
        different = 0;
        for (at i = 0; i < n; ++i)
          different += !same(deviations(i), S(less_sums.row(i).squaredNorm())) +
                       !same(smallest(i), S(less_largest.row(i).minCoeff()));
        CHECK(different == 0);
        CHECK(narrow::sum((a.colwise() - a.rowwise().sum()).cwiseAbs2()) == less_sums.squaredNorm());
        checked += 13;
      }
  });
  REQUIRE(checked == at(test::isa_count()) * 32 * 13);
}

TEST_CASE("spare lanes and codes that are not there raise no exceptions", "[eigen][lanes]") {
  const Eigen::Matrix<fp16, Eigen::Dynamic, 1> a = Eigen::Matrix<fp16, Eigen::Dynamic, 1>::Constant(
                                                   5, fp16(3.f)),
                                               b = a + a;
  Eigen::Matrix<fp16, Eigen::Dynamic, 1> c(5);
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    std::feclearexcept(FE_ALL_EXCEPT);
    c = a.cwiseQuotient(b);
    const float sum = narrow::sum(a.cwiseQuotient(b));
    const Eigen::Array<fp16, Eigen::Dynamic, 1> logarithms = a.array().log(), arcs = a.array().acosh(),
                                                shares = (1 + a.array().log()) / a.array();
    const Eigen::Array<fp8_e5m2, Eigen::Dynamic, 1> many =
                                                        Eigen::Array<fp8_e5m2, Eigen::Dynamic, 1>::Constant(
                                                            1000, fp8_e5m2(2.f)),
                                                    inverse = many.inverse() - many * 4;
    CHECK(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) == 0);
    CHECK(inverse(999) == fp8_e5m2(-7.5f));
    CHECK(c(4) == fp16(0.5f));
    CHECK(sum == 2.5f);
    CHECK(logarithms(4) == log(fp16(3.f)));
    CHECK(arcs(4) == acosh(fp16(3.f)));
    CHECK(shares(4) == fp16((1 + std::log(3.f)) / 3));
  });
}

TEST_CASE("what is a program of lanes", "[eigen][lanes]") {
  const matrix<fp16> a(4, 3), b(4, 3);
  const matrix<fp16, Eigen::RowMajor> r(4, 3);
  const auto is_program = [](const auto& x) {
    return detail::lane_expressions<std::remove_cvref_t<decltype(x)>>;
  };
  CHECK(is_program(a + b));
  CHECK(is_program((3 * a.array() + 1).max(fp16(0))));
  CHECK(is_program(a.template cast<float>() * 0.1f));
  CHECK(is_program(a.block(1, 0, 2, 3) - b.topRows(2)));
  CHECK(is_program(a.colwise() + b.col(0)));
  CHECK(is_program(a + r));
  CHECK(is_program(a.array().exp() + b.array().tanh()));
  CHECK(is_program(a.array().sin()));
  CHECK(is_program(a.array().asin()));
  CHECK(is_program(a.cwiseSqrt()));
  CHECK(!is_program(a.unaryExpr([](fp16 x) { return x; })));
  CHECK(is_program(a.reverse()));
  CHECK(!is_program(a.replicate(2, 2)));
}

/// Whether nothing but a program is compiled for dst = x or, of another Combine, dst = Combine(dst, x).
template <class Combine = void, class Dst, class X> constexpr bool is_always_program(Dst& dst, const X& x) {
  return std::same_as<decltype(detail::assign_in_lanes<Combine>(dst, x, [] {})), std::true_type>;
}

TEST_CASE("assignments of floating formats are compiled as programs alone", "[eigen][lanes]") {
  matrix<fp16> a(4, 3), b(4, 3);
  matrix<float> f(4, 3);
  matrix<fixed<8, 4>> c(4, 3);
  CHECK(is_always_program(a, a + b));
  CHECK(is_always_program<Eigen::internal::scalar_sum_op<float, float>>(a, a.cwiseProduct(b)));
  CHECK(is_always_program(f, (a.array() > b.array()).select(a.template cast<float>(), 1.f)));
  auto row = a.row(1);
  CHECK(is_always_program(row, a.row(0).array().exp().matrix()));
  CHECK_FALSE(is_always_program(c, c + c));  // in integers, for which there is no kernel without vectors
}
