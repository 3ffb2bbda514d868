// Products of matrices in memory, of any sizes, that their kernel takes without a plan, and of those just too
// large for that: every shape, layout and form, on every instruction set, against the products of integers,
// which are exact in any order.
#include <cfenv>
#include <limits>
#include <narrow/eigen.hpp>

#include "catch.hpp"
#include "every_isa.hpp"
#include "exhaustive.hpp"
#include "tally.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
using test::tally;

constexpr int by_columns = Eigen::ColMajor, by_rows = Eigen::RowMajor;
template <class T, int Order> using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
template <class T> using column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T> using row = Eigen::Matrix<T, 1, Eigen::Dynamic>;

using all_formats = std::tuple<fp16, bf16, float>;
using formats = test::some_of<all_formats, 0>;
using formats_of_lines = test::some_of<all_formats, 0, 1>;  // bf16 has a way of its own

/// Whose sums of up to a hundred products every format holds.
Eigen::MatrixXd integers(at rows, at cols, at seed) {
  return Eigen::MatrixXd::NullaryExpr(
      rows, cols, [=](at i, at j) { return static_cast<double>((7 * i + 5 * j + i * j + seed) % 3 - 1); });
}

class checked {
 public:
  checked(tally& results, std::string name) : results_(results), name_(std::move(name)) {}

  template <class C> void operator()(const char* form, const C& got, const Eigen::MatrixXd& wanted) const {
    const bool match =
        got.rows() == wanted.rows() && got.cols() == wanted.cols() && got.template cast<double>() == wanted;
    results_.expect(match, [&] { return name_ + ": " + form; });
  }

 private:
  tally& results_;
  std::string name_;
};

std::string shape(at m, at k, at n) {
  return std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n);
}

constexpr int vector_forms = 11;
/// Forms of A x, in a matrix of this order, and of x^T A^T.
template <class T, class S, int Order>
void check_vectors(tally& results, const std::string& isa, at m, at k) {
  const checked check(results, isa + ", " + shape(m, k, 1));
  const Eigen::MatrixXd a = integers(m, k, 1), x = integers(k, 1, 2), c = integers(m, 1, 3), product = a * x;
  const matrix<T, Order> large = integers(m + 3, k + 2, 4).cast<T>(), narrow_a = a.cast<T>();
  const column<S> narrow_x = x.cast<S>();
  const column<T> narrow_c = c.cast<T>();

  column<T> y = narrow_a * narrow_x;
  check("A x", y, product);
  y = narrow_c;
  y.noalias() += narrow_a * narrow_x;
  check("c + A x", y, c + product);
  y = narrow_c;
  y -= narrow_a * narrow_x * 2.f;
  check("c - 2 A x", y, c - 2 * product);
  y = narrow_c + narrow_a * narrow_x;
  check("c + A x in an expression", y, c + product);
  y.noalias() = large.block(1, 1, m, k) * narrow_x;
  check("a block times x", y, large.block(1, 1, m, k).template cast<double>() * x);
  y = narrow_a * (narrow_x - narrow_x.reverse());
  check("A (x - reversed x)", y, a * (x - x.reverse()));
  const row<T> z = narrow_x.transpose() * narrow_a.transpose();
  check("x^T A^T", z, product.transpose());
  const column<float> wide = narrow_a * narrow_x;
  check("A x as floats", wide, product);
  column<T> spread = column<T>::Zero(2 * m);
  Eigen::Map<column<T>, 0, Eigen::InnerStride<2>> places(spread.data(), m);
  places = narrow_a * narrow_x;
  check("A x with gaps", places, product);
  column<S> twice(2 * k);
  Eigen::Map<column<S>, 0, Eigen::InnerStride<2>> gaps(twice.data(), k);
  gaps = narrow_x;
  y = narrow_a * gaps;
  check("A times x with gaps", y, product);
  // The result lies where x does, or begins within it.
  column<T> shared = integers(m + k, 1, 5).cast<T>();
  const Eigen::MatrixXd before = shared.template cast<double>();
  shared.segment(k / 2, m) = narrow_a * shared.head(k);
  check("A x over x", shared.segment(k / 2, m), a * before.topRows(k));
}

constexpr int matrix_forms = 5;
template <class T, class S, int OrderA, int OrderB, int OrderC>
void check_matrices(tally& results, const std::string& isa, at m, at k, at n) {
  const checked check(results, isa + ", " + shape(m, k, n));
  const Eigen::MatrixXd a = integers(m, k, 1), b = integers(k, n, 2), c = integers(m, n, 3), product = a * b;
  const matrix<T, OrderA> narrow_a = a.cast<T>();
  const matrix<S, OrderB> narrow_b = b.cast<S>();
  const matrix<T, OrderC> narrow_c = c.cast<T>();

  matrix<T, OrderC> y = narrow_a * narrow_b;
  check("A B", y, product);
  y = narrow_c;
  y.noalias() += 2.f * narrow_a * narrow_b;
  check("C + 2 A B", y, c + 2 * product);
  matrix<T, OrderC> large = matrix<T, OrderC>::Zero(m + 1, n + 1);
  large.topLeftCorner(m, n).noalias() = narrow_a * narrow_b;
  check("A B in a block", large.topLeftCorner(m, n), product);
  check("and nothing beside it", large.row(m), Eigen::MatrixXd::Zero(1, n + 1));
  const column<T> added = narrow_c.col(0);
  y = (narrow_a * narrow_b).colwise() + added;
  check("c added to every column of A B", y, product.colwise() + c.col(0));
}

const at sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 48, 64, 65, 100};

}  // namespace

TEMPLATE_LIST_TEST_CASE("Products of a matrix and a vector of any sizes are those of their integers", "",
                        formats_of_lines) {
  using S = std::conditional_t<std::same_as<TestType, float>, bf16, TestType>;
  tally results;
  std::uint64_t shapes = 0;
  const auto check = [&](const std::string& isa, at m, at k) {
    check_vectors<TestType, S, by_columns>(results, isa, m, k);
    check_vectors<TestType, S, by_rows>(results, isa, m, k);
    ++shapes;
  };
  test::for_each_isa([&](const std::string& isa) {
    for (const at m : sizes)
      for (const at k : sizes) check(isa, m, k);
    check(isa, 255, 64);
    check(isa, 656, 100);  // too large a matrix for the kernel
    check(isa, 4097, 3);
  });
  results.require(2 * vector_forms * shapes);
}

TEMPLATE_LIST_TEST_CASE("Products of small matrices of any sizes are those of their integers", "", formats) {
  using T = TestType;
  using S = std::conditional_t<std::same_as<TestType, float>, fp16, TestType>;
  tally results;
  std::uint64_t shapes = 0;
  const auto check = [&](const std::string& isa, at m, at k, at n) {
    check_matrices<T, S, by_columns, by_columns, by_columns>(results, isa, m, k, n);
    check_matrices<T, S, by_rows, by_columns, by_columns>(results, isa, m, k, n);
    check_matrices<T, S, by_columns, by_rows, by_columns>(results, isa, m, k, n);
    check_matrices<T, S, by_rows, by_rows, by_rows>(results, isa, m, k, n);
    ++shapes;
  };
  test::for_each_isa([&](const std::string& isa) {
    for (const at m : {2, 3, 4, 8, 15, 16, 20, 33})
      for (const at k : {1, 2, 4, 5, 16, 17})
        for (const at n : {2, 3, 4, 7, 16, 31, 32, 48}) check(isa, m, k, n);
    check(isa, 300, 1, 70);
    check(isa, 70, 4, 1100);
    check(isa, 1100, 3, 300);  // too many results for the kernel
    // Thin ones, in parts.
    check(isa, 3, 3, 1500);
    check(isa, 1500, 3, 3);
    check(isa, 8, 8, 1025);
    check(isa, 1025, 8, 8);
    check(isa, 1030, 7, 5);
    check(isa, 2, 4, 2051);
    check(isa, 5, 48, 300);
    check(isa, 300, 63, 7);
    // Rows of a vector and of two, the terms of which are in parts.
    check(isa, 50, 90, 6);
    check(isa, 40, 65, 13);
    check(isa, 70, 100, 15);
  });
  results.require(4 * matrix_forms * shapes);
}

TEMPLATE_TEST_CASE("Products of few rows and columns, or of few terms, in parts are those of their integers",
                   "", fp16, bf16, fp8_e4m3fn, fp8_e5m2, float) {
  using T = TestType;
  using S = std::conditional_t<std::same_as<T, float>, fp16, T>;
  tally results;
  std::uint64_t shapes = 0;
  const auto check = [&](const std::string& isa, at m, at k, at n) {
    const checked check_form(results, isa + ", " + shape(m, k, n));
    const Eigen::MatrixXd a = integers(m, k, 1), b = integers(k, n, 2), product = a * b;
    const auto check_orders = [&]<int A, int B, int C>(std::integer_sequence<int, A, B, C>) {
      const matrix<T, A> narrow_a = a.cast<T>();
      const matrix<S, B> narrow_b = b.cast<S>();
      const matrix<float, C> y = narrow_a * narrow_b;
      check_form("A B", y, product);
    };
    check_orders(std::integer_sequence<int, by_columns, by_columns, by_columns>{});
    check_orders(std::integer_sequence<int, by_columns, by_rows, by_columns>{});
    check_orders(std::integer_sequence<int, by_rows, by_columns, by_rows>{});
    check_orders(std::integer_sequence<int, by_columns, by_rows, by_rows>{});
    ++shapes;
  };
  test::for_each_isa([&](const std::string& isa) {
    for (const auto& [lines, others] : {std::pair<at, at>{4, 4}, {2, 8}, {7, 3}, {8, 8}, {5, 2}}) {
      for (const at terms : {511, 512, 513, 1025, 5000}) check(isa, lines, terms, others);
      for (const at many : {512, 513, 1025, 4100}) {
        check(isa, lines, others, many);
        check(isa, many, lines, others);
      }
    }
    for (const at lines : {9, 33, 63}) {
      check(isa, 5, 2000, lines);
      check(isa, lines, 600, 8);
      check(isa, 200, lines, 3);
    }
  });
  results.require(4 * shapes);
}

TEMPLATE_LIST_TEST_CASE("Small products raise no exceptions that their numbers do not raise", "", formats) {
  using T = TestType;
  tally results;
  test::for_each_isa([&](const std::string& isa) {
    for (const at m : sizes)
      for (const at k : {1, 3, 16, 33}) {
        // A spare lane that multiplied one of these by a zero would find that invalid.
        const T infinity = std::numeric_limits<T>::infinity();
        for (const auto& [of_a, of_x] : {std::pair{infinity, T(1.f)}, {T(1.f), infinity}}) {
          const matrix<T, by_columns> a = matrix<T, by_columns>::Constant(m, k, of_a);
          const matrix<T, by_rows> turned = a;
          const column<T> x = column<T>::Constant(k, of_x);
          column<T> y(m), z(m);
          std::feclearexcept(FE_ALL_EXCEPT);
          y.noalias() = a * x;
          z.noalias() = turned * x;
          const bool raised = std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) != 0;
          results.expect(!raised && y == column<T>::Constant(m, infinity) && z == y,
                         [&] { return isa + ", " + shape(m, k, 1); });
        }
      }
  });
  results.require(2 * std::size(sizes) * 4 * test::isa_count());
}

TEMPLATE_LIST_TEST_CASE("Products of matrices of few numbers raise no exceptions that these do not raise", "",
                        formats) {
  using T = TestType;
  tally results;
  std::uint64_t shapes = 0;
  const T infinity = std::numeric_limits<T>::infinity();
  test::for_each_isa([&](const std::string& isa) {
    for (const at m : {2, 3, 4, 5, 8})
      for (const at k : {1, 2, 3, 4})
        for (const at n : {2, 3, 4, 5, 8}) {
          ++shapes;
          const matrix<T, by_columns> ones = matrix<T, by_columns>::Ones(m, k),
                                      infinite = matrix<T, by_columns>::Constant(m, k, infinity),
                                      result = matrix<T, by_columns>::Constant(m, n, infinity);
          const matrix<T, by_rows> other_ones = matrix<T, by_rows>::Ones(k, n),
                                   other_infinite = matrix<T, by_rows>::Constant(k, n, infinity);
          matrix<T, by_columns> y(m, n), z(m, n);
          std::feclearexcept(FE_ALL_EXCEPT);
          y.noalias() = ones * other_infinite;
          z.noalias() = infinite * other_ones;
          const bool raised = std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) != 0;
          const bool match = y == result && z == result;
          results.expect(!raised && match, [&] { return isa + ", " + shape(m, k, n); });
        }
  });
  results.require(shapes);
}
