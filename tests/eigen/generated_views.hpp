// Views of expressions, generated: every view, and every view of a view, of sources in both storage orders,
// stored in every kind of destination. What they must be comes from index arithmetic on doubles, without
// Eigen.
#pragma once

#include <narrow/eigen.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "every_isa.hpp"
#include "policies.hpp"
#include "tally.hpp"

namespace test {

using Eigen::Index;

/// A matrix of doubles, computed from (row, column) when it is made.
class grid {
 public:
  template <class Value> grid(Index rows, Index cols, const Value& value) : rows_(rows), cols_(cols) {
    values_.reserve(static_cast<std::size_t>(rows * cols));
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) values_.push_back(static_cast<double>(value(i, j)));
  }

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  double operator()(Index i, Index j) const { return values_[static_cast<std::size_t>(i * cols_ + j)]; }
  /// The coefficients counted through column by column, as Eigen's `reshaped` does.
  double by_columns(Index k) const { return (*this)(k % rows_, k / rows_); }

  /// Whether the numbers are equal; NaNs are equal to each other.
  bool operator==(const grid& other) const {
    return rows_ == other.rows_ && cols_ == other.cols_ &&
           std::ranges::equal(values_, other.values_,
                              [](double a, double b) { return a == b || (a != a && b != b); });
  }

  template <class Function> grid map(const Function& f) const {
    return {rows_, cols_, [&](Index i, Index j) { return f((*this)(i, j)); }};
  }
  grid part(Index row, Index col, Index rows, Index cols) const {
    return {rows, cols, [&](Index i, Index j) { return (*this)(row + i, col + j); }};
  }

 private:
  Index rows_, cols_;
  std::vector<double> values_;
};

inline grid one_number(double x) {
  return {1, 1, [&](Index, Index) { return x; }};
}
inline grid less_one(const grid& g) {
  return g.map([](double x) { return x - 1; });
}
inline grid product(const grid& a, const grid& b) {
  return {a.rows(), b.cols(), [&](Index i, Index j) {
            double sum = 0;
            for (Index k = 0; k < a.cols(); ++k) sum += a(i, k) * b(k, j);
            return sum;
          }};
}
inline grid total(const grid& g) {
  double sum = 0;
  for (Index i = 0; i < g.rows(); ++i)
    for (Index j = 0; j < g.cols(); ++j) sum += g(i, j);
  return one_number(sum);
}
/// A column whose products with others are sums and differences of their numbers.
inline grid alternating(Index rows, double magnitude) {
  return {rows, 1, [&](Index i, Index) { return i % 3 == 2 ? -magnitude : magnitude; }};
}

// A view: of(x) is Eigen's, expected(g) what it shows of the numbers g. Shapes follow what is looked at, so
// that views of views exist.

struct first_half {
  Index first, count;
  explicit first_half(Index length) : first(length / 3), count((length + 1) / 2) {}
};

#define NARROW_TEST_VIEW(name, eigen, numbers)                      \
  struct name {                                                     \
    static constexpr const char* text = #name;                      \
    template <class X> static auto of(const X& x) { return eigen; } \
    static grid expected(const grid& g) {                           \
      const Index m = g.rows(), n = g.cols();                       \
      const first_half rows(m), cols(n);                            \
      (void)m, (void)n, (void)rows, (void)cols;                     \
      return numbers;                                               \
    }                                                               \
  };
NARROW_TEST_VIEW(one_row, x.row(x.rows() / 2), g.part(m / 2, 0, 1, n))
NARROW_TEST_VIEW(one_column, x.col(x.cols() / 2), g.part(0, n / 2, m, 1))
NARROW_TEST_VIEW(inner_block,
                 x.block(first_half(x.rows()).first, first_half(x.cols()).first, first_half(x.rows()).count,
                         first_half(x.cols()).count),
                 g.part(rows.first, cols.first, rows.count, cols.count))
NARROW_TEST_VIEW(fixed_block, (x.template block<1, 1>(x.rows() - 1, x.cols() - 1)),
                 g.part(m - 1, n - 1, 1, 1))
NARROW_TEST_VIEW(top_rows, x.topRows(first_half(x.rows()).count), g.part(0, 0, rows.count, n))
NARROW_TEST_VIEW(bottom_rows, x.bottomRows(first_half(x.rows()).count),
                 g.part(m - rows.count, 0, rows.count, n))
NARROW_TEST_VIEW(middle_rows, x.middleRows(first_half(x.rows()).first, first_half(x.rows()).count),
                 g.part(rows.first, 0, rows.count, n))
NARROW_TEST_VIEW(left_columns, x.leftCols(first_half(x.cols()).count), g.part(0, 0, m, cols.count))
NARROW_TEST_VIEW(middle_columns, x.middleCols(first_half(x.cols()).first, first_half(x.cols()).count),
                 g.part(0, cols.first, m, cols.count))
NARROW_TEST_VIEW(transposed, x.transpose(), grid(n, m, [&](Index i, Index j) { return g(j, i); }))
NARROW_TEST_VIEW(reversed, x.reverse(), grid(m, n, [&](Index i, Index j) { return g(m - 1 - i, n - 1 - j); }))
NARROW_TEST_VIEW(rows_reversed, x.rowwise().reverse(),
                 grid(m, n, [&](Index i, Index j) { return g(i, n - 1 - j); }))
NARROW_TEST_VIEW(columns_reversed, x.colwise().reverse(),
                 grid(m, n, [&](Index i, Index j) { return g(m - 1 - i, j); }))
NARROW_TEST_VIEW(main_diagonal, x.diagonal(),
                 grid(std::min(m, n), 1, [&](Index i, Index) { return g(i, i); }))
NARROW_TEST_VIEW(replicated, x.replicate(2, 3),
                 grid(2 * m, 3 * n, [&](Index i, Index j) { return g(i % m, j % n); }))
NARROW_TEST_VIEW(reshaped, x.reshaped(x.cols(), x.rows()),
                 grid(n, m, [&](Index i, Index j) { return g.by_columns(j * n + i); }))
NARROW_TEST_VIEW(picked, x(Eigen::seq(x.rows() - 1, 0, Eigen::fix<-1>), Eigen::seq(0, x.cols() - 1, 2)),
                 grid(m, (n + 1) / 2, [&](Index i, Index j) { return g(m - 1 - i, 2 * j); }))
NARROW_TEST_VIEW(as_array, x.array().matrix(), g)
#undef NARROW_TEST_VIEW

using views = std::tuple<one_row, one_column, inner_block, fixed_block, top_rows, bottom_rows, middle_rows,
                         left_columns, middle_columns, transposed, reversed, rows_reversed, columns_reversed,
                         main_diagonal, replicated, reshaped, picked, as_array>;

/// A factor that makes numbers which a narrow floating format does not hold, but float does: a view that
/// rounded what it looks at would be found in a float destination. An operation on `fixed` gives a number of
/// that format.
template <class S> inline constexpr float odd_factor = narrow::narrow_fixed<S> ? 2 : 1 + 0x1p-12f;

// A source: an expression of a matrix m of the format S, of the numbers x.

#define NARROW_TEST_SOURCE(name, eigen, number)                                        \
  struct name {                                                                        \
    static constexpr const char* text = #name;                                         \
    template <class S, class M> static decltype(auto) of(const M& m) { return eigen; } \
    template <class S> static grid expected(const grid& g) {                           \
      return g.map([](double x) { return number; });                                   \
    }                                                                                  \
  };
NARROW_TEST_SOURCE(plain_source, (m), x)
NARROW_TEST_SOURCE(sum_source, m + m, x + x)
NARROW_TEST_SOURCE(scaled_source, odd_factor<S>* m, double{odd_factor<S>} * x)
NARROW_TEST_SOURCE(abs_source, m.cwiseAbs(), std::abs(x))
NARROW_TEST_SOURCE(relu_source, m.cwiseMax(typename M::Scalar(0)), std::max(x, 0.0))
#undef NARROW_TEST_SOURCE

using sources = std::tuple<plain_source, sum_source, scaled_source, abs_source, relu_source>;

template <class S, int Order> using matrix_in = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Order>;

template <class S> inline constexpr bool is_int8 = false;
template <class Block, class Round> inline constexpr bool is_int8<narrow::basic_int8<Block, Round>> = true;
/// The scale of int8 is the largest magnitude / 127: with this one it is 1, and integers are exact.
template <class S> inline constexpr int exact_magnitude = is_int8<S> ? 127 : 1;

template <class M> grid numbers_of(const M& m) {
  return {m.rows(), m.cols(), [&](Index i, Index j) { return static_cast<double>(m.coeff(i, j)); }};
}

template <class M> M matrix_of(const grid& g) {
  M m(g.rows(), g.cols());
  for (Index i = 0; i < g.rows(); ++i)
    for (Index j = 0; j < g.cols(); ++j) m(i, j) = static_cast<typename M::Scalar>(g(i, j));
  return m;
}

/// What a matrix M holds after it was assigned the numbers g: each rounded, or in a block format what a
/// matrix of these numbers becomes.
template <class M> grid stored(const grid& g) {
  if constexpr (std::same_as<M, typename M::PlainObject>)
    return g.map([](double x) { return static_cast<double>(static_cast<typename M::Scalar>(x)); });
  else
    return numbers_of(M(matrix_of<typename M::PlainObject>(g)));
}

/// Integers that every format holds, and so small that it holds sums of two.
template <class S, int Order> matrix_in<S, Order> small_integers(Index rows, Index cols) {
  std::mt19937 random(1);
  const grid g(rows, cols, [&](Index i, Index j) {
    const int x = static_cast<int>(random() % 7) - 3;
    return is_int8<S> && i + j == 0 ? exact_magnitude<S> : x;
  });
  return matrix_of<typename matrix_in<S, Order>::PlainObject>(g);
}

/// The type that a coefficient is read as.
template <class Scalar> struct read_as { using type = Scalar; };
template <narrow::narrow_scalar Scalar> struct read_as<Scalar> { using type = narrow::carrier_t<Scalar>; };
template <class S> using wide_scalar = typename read_as<typename matrix_in<S, Eigen::ColMajor>::Scalar>::type;

/// One case: its description, and where it is counted. Of one type for all cases, which are many to compile.
struct expectation {
  tally& result;
  std::string format;
  const char *source, *first, *second, *destination;

  [[gnu::noinline]] void operator()(const grid& got, const grid& expected) const {
    result.expect(got == expected, [&] { return text(format, source, first, second, destination); });
  }
};

// A destination: compare(view, expected, expect) stores or reads the view x of the numbers g in some way, and
// calls expect(what there is, what should be).

template <class To> struct assigned {
  template <class S, class X> static void compare(const X& x, const grid& g, const expectation& expect) {
    const matrix_in<typename To::template scalar<S>, To::order> to =
        x.template cast<typename To::template scalar<S>>();
    expect(numbers_of(to), stored<std::remove_cvref_t<decltype(to)>>(g));
  }
};
struct narrow_by_columns {
  template <class S> using scalar = S;
  static constexpr int order = Eigen::ColMajor;
};
struct narrow_by_rows {
  template <class S> using scalar = S;
  static constexpr int order = Eigen::RowMajor;
};
struct wide_by_columns {
  template <class S> using scalar = wide_scalar<S>;
  static constexpr int order = Eigen::ColMajor;
};
struct wide_by_rows {
  template <class S> using scalar = wide_scalar<S>;
  static constexpr int order = Eigen::RowMajor;
};

struct stored_in_block {
  template <class S, class X> static void compare(const X& x, const grid& g, const expectation& expect) {
    using matrix = matrix_in<S, Eigen::RowMajor>;
    using plain = typename matrix::PlainObject;
    const plain around = plain::Constant(x.rows() + 2, x.cols() + 2, exact_magnitude<S>);
    matrix to = around, same = around;
    to.block(1, 1, x.rows(), x.cols()) = x;
    same.block(1, 1, x.rows(), x.cols()) = matrix_of<plain>(g);
    expect(numbers_of(to), numbers_of(same));
    if constexpr (narrow::narrow_scalar<S>)
      expect(numbers_of(to).part(1, 1, x.rows(), x.cols()), stored<matrix>(g));
  }
};
struct evaluated {
  template <class S, class X> static void compare(const X& x, const grid& g, const expectation& expect) {
    const auto value = x.eval();
    expect(numbers_of(value), stored<std::remove_cvref_t<decltype(value)>>(g));
  }
};
struct streamed {
  template <class S, class X> static void compare(const X& x, const grid& g, const expectation& expect) {
    matrix_in<typename X::Scalar, Eigen::RowMajor> to(x.rows(), x.cols() + 1);
    to << x, X::Ones(x.rows(), x.cols()).col(0);
    expect(numbers_of(to.leftCols(x.cols()).eval()), stored<decltype(to)>(g));
  }
};
struct in_difference {
  template <class S, class X> static void compare(const X& x, const grid& g, const expectation& expect) {
    const matrix_in<typename X::Scalar, Eigen::RowMajor> to = x - X::PlainObject::Ones(x.rows(), x.cols());
    expect(numbers_of(to), stored<std::remove_cvref_t<decltype(to)>>(less_one(g)));
  }
};
struct in_product {
  template <class S, class X> static void compare(const X& x, const grid& g, const expectation& expect) {
    using vector = Eigen::Matrix<wide_scalar<S>, Eigen::Dynamic, 1>;
    const grid weights = alternating(g.cols(), 1);
    const vector to = x * matrix_of<vector>(weights);
    expect(numbers_of(to), product(g, weights));
  }
};
struct summed {
  template <class S, class X> static void compare(const X& x, const grid& g, const expectation& expect) {
    using scalar = typename X::Scalar;
    expect(one_number(static_cast<double>(x.sum())), stored<matrix_in<scalar, Eigen::ColMajor>>(total(g)));
  }
};
struct compared {
  template <class S, class X> static void compare(const X& x, const grid& g, const expectation& expect) {
    expect(one_number(x.isApprox(matrix_of<matrix_in<typename X::Scalar, Eigen::ColMajor>>(g))),
           one_number(1));
  }
};

using destinations = std::tuple<assigned<narrow_by_columns>, assigned<narrow_by_rows>,
                                assigned<wide_by_columns>, assigned<wide_by_rows>, stored_in_block, evaluated,
                                streamed, in_difference, in_product, summed, compared>;

/// Checks, of all sources, views and destinations, and of all views of views, of matrices in one storage
/// order, those whose number modulo Share is Remainder.
template <class S, int Order, std::size_t Share, std::size_t Remainder> class view_checks {
 public:
  explicit view_checks(tally& result) : result_(result) {}

  void check(Index rows, Index cols) {
    const auto m = small_integers<S, Order>(rows, cols);
    const grid g = numbers_of(m);
    each<std::tuple_size_v<sources> * view_count * destination_count>([&]<std::size_t Number>() {
      using source = std::tuple_element_t<Number / (view_count * destination_count), sources>;
      using view = std::tuple_element_t<Number / destination_count % view_count, views>;
      using destination = std::tuple_element_t<Number % destination_count, destinations>;
      destination::template compare<S>(
          view::of(source::template of<S>(m)), view::expected(source::template expected<S>(g)),
          {result_, format_, source::text, view::text, "", typeid(destination).name()});
    });
    each<view_count * view_count>([&]<std::size_t Number>() {
      using source = scaled_source;
      using first = std::tuple_element_t<Number / view_count, views>;
      using second = std::tuple_element_t<Number % view_count, views>;
      using destination =
          assigned<std::conditional_t<Order == Eigen::RowMajor, wide_by_rows, wide_by_columns>>;
      destination::template compare<S>(
          second::of(first::of(source::template of<S>(m))),
          second::expected(first::expected(source::template expected<S>(g))),
          {result_, format_, source::text, first::text, second::text, typeid(destination).name()});
    });
  }

 private:
  static constexpr std::size_t view_count = std::tuple_size_v<views>;
  static constexpr std::size_t destination_count = std::tuple_size_v<destinations>;

  /// f.operator()<Number>() for the numbers below Count that are checked.
  template <std::size_t Count, class F> static void each(const F& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f.template operator()<I * Share + Remainder>(), ...);
    }
    (std::make_index_sequence<(Count - Remainder + Share - 1) / Share>{});
  }

  tally& result_;
  const std::string format_ = text(name_of<S>(), Order == Eigen::RowMajor ? "by rows:" : "by columns:");
};

/// The share of all the cases that each format of a list meets. The formats take turns, so that together they
/// meet every case; 1 lets each meet all of them, which takes minutes to compile.
#ifndef NARROW_VIEWS_SHARE
#define NARROW_VIEWS_SHARE 37
#endif

/// One format's share in one storage order, in matrices on both sides of the sizes from which on kernels are
/// called.
template <class S, int Order, std::size_t Turn> void check_shapes(tally& result) {
  view_checks<S, Order, NARROW_VIEWS_SHARE, Turn % NARROW_VIEWS_SHARE> checks(result);
  constexpr Index shapes[][2] = {{5, 7}, {7, 5},   {4, 4},  {2, 9},   {9, 2}, {1, 6},
                                 {6, 1}, {33, 17}, {70, 3}, {12, 12}, {3, 70}};
  for (const auto& [rows, cols] : shapes) checks.check(rows, cols);
}

/// On every instruction set.
template <class S, std::size_t Turn> void check_generated_views() {
  INFO(name_of<S>());
  for_each_isa([](const std::string& isa) {
    INFO(isa);
    tally result;
    check_shapes<S, Eigen::ColMajor, 2 * Turn>(result);
    check_shapes<S, Eigen::RowMajor, 2 * Turn + 1>(result);
    result.require_at_least(700);
  });
}

/// FirstTurn: so many formats stand in the lists before this one.
template <std::size_t FirstTurn, class... S, std::size_t... I>
void check_in_turn(std::type_identity<std::tuple<S...>>, std::index_sequence<I...>) {
  (check_generated_views<S, FirstTurn + I>(), ...);
}
template <class Formats, std::size_t FirstTurn> void check_generated_views_of() {
  check_in_turn<FirstTurn>(std::type_identity<Formats>{},
                           std::make_index_sequence<std::tuple_size_v<Formats>>{});
}

}  // namespace test
