// The largest and the smallest coefficient of narrow floats, and where it lies, are those of plain floats
// taken one after the other, column by column: of zeros the first one, of NaNs as Eigen propagates them.
#include <bit>
#include <cmath>
#include <narrow/eigen.hpp>
#include <random>

#include "any_codes.hpp"
#include "catch.hpp"
#include "coefficient_bits.hpp"
#include "every_isa.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
using test::any_codes;
using test::same;

/// Which numbers a matrix has: of any kind, or of those that its formats may have.
enum class numbers { any_code, no_nan, zeros_of_both_signs, only_nan };

template <class T, int Order> auto matrix_of(numbers kind, at rows, at cols, unsigned seed) {
  auto m = any_codes<T, Order>(rows, cols, seed);
  for (at i = 0; i < m.size(); ++i) {
    T& x = m.data()[i];
    const bool is_nan = x != x;
    if (kind == numbers::no_nan && is_nan) x = T(static_cast<float>(i % 7));
    if (kind == numbers::zeros_of_both_signs) x = T(x.bits() % 2 == 0 ? 0.0f : -0.0f);
    if (kind == numbers::only_nan) x = std::numeric_limits<T>::quiet_NaN();
  }
  return m;
}

/// An extreme and its place as they are found one by one: which of two numbers is kept.
template <int NaNs, bool Largest> struct one_by_one {
  static bool better(float x, float kept) { return Largest ? kept < x : x < kept; }
  static float kept(float before, float x) {
    const bool old_nan = before != before, new_nan = x != x;
    if (NaNs == Eigen::PropagateNaN && (old_nan || new_nan)) return old_nan ? before : x;
    if (NaNs == Eigen::PropagateNumbers && (old_nan || new_nan)) return old_nan ? x : before;
    return better(x, before) ? x : before;
  }
  static bool moves_to(float x, float before) {
    const bool old_nan = before != before, new_nan = x != x;
    if (NaNs == Eigen::PropagateNaN) return new_nan || better(x, before);
    if (NaNs == Eigen::PropagateNumbers) return old_nan || (!new_nan && better(x, before));
    return better(x, before);
  }
};

/// What the extremes of an expression are compared with: floats, one by one.
class extremes_check {
 public:
  template <int NaNs, bool Largest, class X, class Right> void one(const X& x, const Right& right) {
    using T = typename X::Scalar;
    using rule = one_by_one<NaNs, Largest>;
    float kept = right(0, 0), rounded = static_cast<float>(T(kept));
    at row = 0, col = 0;
    for (at j = 0; j < x.cols(); ++j)
      for (at i = 0; i < x.rows(); ++i) {
        if (i + j == 0) continue;
        kept = rule::kept(kept, right(i, j));
        const auto next = static_cast<float>(T(right(i, j)));
        if (rule::moves_to(next, rounded)) {
          rounded = next;
          row = i;
          col = j;
        }
      }
    at got_row = -1, got_col = -1;
    T got, got_placed;
    if constexpr (Largest) {
      got = x.template maxCoeff<NaNs>();
      got_placed = x.template maxCoeff<NaNs>(&got_row, &got_col);
    } else {
      got = x.template minCoeff<NaNs>();
      got_placed = x.template minCoeff<NaNs>(&got_row, &got_col);
    }
    different += !same(got, T(kept));
    different += !same(got_placed, T(rounded));
    different += got_row != row || got_col != col;
    checked += 3;
  }
  template <class X, class Right> void all(const X& x, const Right& right) {
    one<Eigen::PropagateFast, true>(x, right);
    one<Eigen::PropagateFast, false>(x, right);
    one<Eigen::PropagateNaN, true>(x, right);
    one<Eigen::PropagateNaN, false>(x, right);
    one<Eigen::PropagateNumbers, true>(x, right);
    one<Eigen::PropagateNumbers, false>(x, right);
    lines(x, right);
  }
  /// Of each row and each column.
  template <class X, class Right> void lines(const X& x, const Right& right) {
    using T = typename X::Scalar;
    using largest = one_by_one<Eigen::PropagateFast, true>;
    using smallest = one_by_one<Eigen::PropagateFast, false>;
    const Eigen::Matrix<T, 1, Eigen::Dynamic> of_columns = x.colwise().maxCoeff(),
                                              least_of_columns = x.colwise().minCoeff();
    const Eigen::Matrix<T, Eigen::Dynamic, 1> of_rows = x.rowwise().maxCoeff(),
                                              least_of_rows = x.rowwise().minCoeff();
    for (at j = 0; j < x.cols(); ++j) {
      float most = right(0, j), least = most;
      for (at i = 1; i < x.rows(); ++i) {
        most = largest::kept(most, right(i, j));
        least = smallest::kept(least, right(i, j));
      }
      different += !same(of_columns(j), T(most));
      different += !same(least_of_columns(j), T(least));
    }
    for (at i = 0; i < x.rows(); ++i) {
      float most = right(i, 0), least = most;
      for (at j = 1; j < x.cols(); ++j) {
        most = largest::kept(most, right(i, j));
        least = smallest::kept(least, right(i, j));
      }
      different += !same(of_rows(i), T(most));
      different += !same(least_of_rows(i), T(least));
    }
    checked += 2 * (x.rows() + x.cols());
  }

  at different = 0, checked = 0;
};

template <class T, int Order> at check_extremes(numbers kind, at rows, at cols) {
  const auto a = matrix_of<T, Order>(kind, rows, cols, 1), b = matrix_of<T, Order>(kind, rows, cols, 2);
  const auto wide = [](const auto& m, at i, at j) { return static_cast<float>(m(i, j)); };
  extremes_check check;
  check.all(a, [&](at i, at j) { return wide(a, i, j); });
  check.all(-a, [&](at i, at j) { return -wide(a, i, j); });
  check.all((a - b).cwiseAbs(), [&](at i, at j) { return std::abs(wide(a, i, j) - wide(b, i, j)); });
  check.all(3 * a.bottomRows(rows - rows / 2), [&](at i, at j) { return 3 * wide(a, rows / 2 + i, j); });
  check.all(a.row(rows / 2), [&](at, at j) { return wide(a, rows / 2, j); });
  check.all(a.col(cols / 2) + b.col(0), [&](at i, at) { return wide(a, i, cols / 2) + wide(b, i, 0); });
  check.all(a.template cast<float>(), [&](at i, at j) { return wide(a, i, j); });
  CHECK(check.different == 0);
  return check.checked;
}

using formats = test::some_of<narrow::all_formats, 0, 3>;  // with infinities, and without
/// Whether matrices of T lie in both orders, which costs as much again.
template <class T> inline constexpr bool in_both_orders = test::is_exhaustive || std::same_as<T, fp16>;
using one_format = test::some_of<narrow::all_formats, 0>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("extremes are those of floats, one by one", "[eigen][lanes]", formats) {
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    for (const auto kind :
         {numbers::any_code, numbers::no_nan, numbers::zeros_of_both_signs, numbers::only_nan})
      for (const auto& [rows, cols] :
           {std::pair{1, 1}, {5, 3}, {1, 17}, {33, 1}, {8, 7}, {16, 12}, {67, 9}, {3, 150}}) {
        INFO(isa << ", numbers " << static_cast<int>(kind) << ", " << rows << " x " << cols);
        checked += check_extremes<TestType, Eigen::ColMajor>(kind, rows, cols);
        if constexpr (in_both_orders<TestType>)
          if (rows > 1 && cols > 1) checked += check_extremes<TestType, Eigen::RowMajor>(kind, rows, cols);
      }
  });
  REQUIRE(checked >= at(test::isa_count()) * 4000);
}

using block_formats = std::tuple<int8, bfp<8, tile<4, 3>>, bfp<12, per_column>>;

TEMPLATE_LIST_TEST_CASE("extremes of matrices in blocks are those of their floats", "[eigen][lanes]",
                        block_formats) {
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    for (const auto& [rows, cols] :
         {std::pair{1, 1}, {5, 3}, {1, 17}, {33, 1}, {16, 12}, {67, 9}, {3, 150}}) {
      INFO(isa << ", " << rows << " x " << cols);
      const Eigen::MatrixXf x =
          matrix_of<fp16, Eigen::ColMajor>(numbers::no_nan, rows, cols, 1)
              .unaryExpr([](const fp16& f) { return fp16(std::fmod(float(f), 100.0f)); })
              .template cast<float>();
      const Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic> m = x;
      const Eigen::MatrixXf right = m;
      extremes_check check;
      check.all(m, right);
      check.all(m.cwiseAbs() * 2.0f, right.cwiseAbs() * 2.0f);
      check.all(m.row(rows / 2), right.row(rows / 2));
      const Eigen::MatrixXf turned = right.transpose();
      check.all(m.transpose(), turned);
      CHECK(check.different == 0);
      checked += check.checked;
    }
  });
  REQUIRE(checked >= at(test::isa_count()) * 1000);
}

template <narrow_fixed T> auto any_mantissas(at rows, at cols, unsigned seed) {
  std::mt19937 engine(seed);
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> m(rows, cols);
  for (T& x : m.reshaped())
    x = T::from_bits(
        static_cast<typename T::bits_type>(static_cast<std::int32_t>(engine()) >> (32 - T::word_length)));
  return m;
}

using fixed_formats = test::some_of<
    std::tuple<fixed<8, 4>, fixed<16, 0>, fixed<24, 23, rounding::upward, overflow::wrap>, fixed<32, 8>>, 0,
    2>;
TEMPLATE_LIST_TEST_CASE("extremes of fixed-point numbers are those of their mantissas", "[eigen][lanes]",
                        fixed_formats) {
  using T = TestType;
  at checked = 0;
  const auto check = [&](const auto& x, const auto& mantissa) {
    auto largest = mantissa(0, 0), smallest = largest;
    for (at j = 0; j < x.cols(); ++j)
      for (at i = 0; i < x.rows(); ++i, ++checked) {
        largest = std::max(largest, mantissa(i, j));
        smallest = std::min(smallest, mantissa(i, j));
      }
    CHECK(x.maxCoeff().bits() == largest);
    CHECK(x.minCoeff().bits() == smallest);
  };
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const auto& [rows, cols] : {std::pair{1, 1}, {5, 3}, {1, 17}, {33, 1}, {67, 9}, {3, 150}}) {
      const auto a = any_mantissas<T>(rows, cols, 1), b = any_mantissas<T>(rows, cols, 2);
      const at half = rows / 2;
      const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = a;
      const auto mantissa = [&](at i, at j) { return a(i, j).bits(); };
      check(a, mantissa);
      check(by_rows, mantissa);
      check(a.bottomRows(rows - half), [&](at i, at j) { return a(half + i, j).bits(); });
      check(a - b, [&](at i, at j) { return (a(i, j) - b(i, j)).bits(); });
      check((a.array() < b.array()).select(a, -b),
            [&](at i, at j) { return (a(i, j) < b(i, j) ? a(i, j) : -b(i, j)).bits(); });
    }
    const Eigen::Matrix<T, 3, 1> few = any_mantissas<T>(3, 1, 3);
    check(few, [&](at i, at) { return few(i).bits(); });
  });
  REQUIRE(checked >= at(test::isa_count()) * 5000);
}

TEMPLATE_LIST_TEST_CASE("extremes of rows and columns are matrices, and factors", "[eigen][lanes]",
                        one_format) {
  using S = TestType;
  using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {5, 3}, {3, 40}, {40, 3}}) {
      INFO(isa << ", " << rows << " x " << cols);
      const auto x = matrix_of<S, Eigen::ColMajor>(numbers::no_nan, rows, cols, 1);
      const Eigen::Matrix<S, Eigen::Dynamic, 1> of_rows = (x + x).rowwise().maxCoeff();
      const Eigen::Matrix<S, 1, Eigen::Dynamic> of_columns = x.colwise().minCoeff();
      const auto check = [&](const matrix& got, const matrix& expected) {
        at different = 0;
        for (at k = 0; k < expected.size(); ++k) different += !same(got(k), expected(k));
        CHECK(different == 0);
        checked += got.size();
      };
      check((x + x).rowwise().maxCoeff(), of_rows);
      check(x.colwise().minCoeff(), of_columns);
      check(x.colwise().minCoeff() * S(0.5f), of_columns * S(0.5f));
      check(matrix::Identity(rows, rows) * (x + x).rowwise().maxCoeff(),
            matrix::Identity(rows, rows) * of_rows);
      matrix sum = of_rows;
      sum -= (x + x).rowwise().maxCoeff();
      check(sum, of_rows - of_rows);
    }
  });
  REQUIRE(checked == at(test::isa_count()) * (3 * (1 + 5 + 3 + 40) + 2 * (1 + 3 + 40 + 3)));
}

TEMPLATE_LIST_TEST_CASE("the place of an extreme is the first of its numbers", "[eigen][lanes]", formats) {
  using S = TestType;
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const at n : {1, 7, 16, 31, 64, 129, 300}) {
      Eigen::Matrix<S, Eigen::Dynamic, 1> x = Eigen::Matrix<S, Eigen::Dynamic, 1>::Constant(n, S(-1.f));
      for (at first = n - 1; first >= 0; --first) {
        x(first) = S(1.5f);  // and so all after it
        at place = -1, of_sum = -1;
        x.maxCoeff(&place);
        (x.array() * x.array() + x.array()).minCoeff(&of_sum);
        CHECK(place == first);
        CHECK(of_sum == 0);
        ++checked;
      }
    }
  });
  REQUIRE(checked == at(test::isa_count()) * 548);
}

TEMPLATE_LIST_TEST_CASE("conditions are counted", "[eigen][lanes]", one_format) {
  using S = TestType;
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const auto& [rows, cols] : {std::pair{1, 1}, {5, 3}, {16, 2}, {37, 4}, {300, 1}}) {
      const auto a = any_codes<S>(rows, cols, 1), b = any_codes<S>(rows, cols, 2);
      at less = 0, not_greater = 0, of_rows = 0;
      for (at j = 0; j < cols; ++j)
        for (at i = 0; i < rows; ++i) {
          const auto p = static_cast<float>(a(i, j)), q = static_cast<float>(b(i, j));
          less += p < q;
          not_greater += p + q <= q;
          of_rows += i > 0 && p != q;
        }
      CHECK((a.array() < b.array()).count() == less);
      CHECK((a.array() + b.array() <= b.array()).count() == not_greater);
      CHECK((a.bottomRows(rows - 1).array() != b.bottomRows(rows - 1).array()).count() == of_rows);
      checked += 3;
    }
  });
  REQUIRE(checked == at(test::isa_count()) * 15);
}
