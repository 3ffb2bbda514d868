// gemm, gemv and the views of ranges as matrices.
#include <narrow/prepacked.hpp>

#include "../every_isa.hpp"
#include "../tally.hpp"
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

enum class order { rows, columns };

/// A matrix in memory of its own: `order`, and `padding` elements after each line, which no kernel may touch.
template <class T> struct matrix {
  std::ptrdiff_t rows, cols, leading;
  order lines;
  std::vector<T> data;

  matrix(std::ptrdiff_t r, std::ptrdiff_t c, order o, std::ptrdiff_t padding, T fill)
      : rows(r),
        cols(c),
        leading((o == order::rows ? c : r) + padding),
        lines(o),
        data(static_cast<std::size_t>(leading * (o == order::rows ? r : c)), fill) {}

  matrix_view<T> view() {
    return lines == order::rows ? row_major(data, rows, cols, leading)
                                : column_major(data, rows, cols, leading);
  }
  T& operator()(std::ptrdiff_t i, std::ptrdiff_t j) {
    return data[static_cast<std::size_t>(lines == order::rows ? i * leading + j : j * leading + i)];
  }
  bool is_padding(std::size_t i) const {
    return static_cast<std::ptrdiff_t>(i) % leading >= (lines == order::rows ? cols : rows);
  }
};

template <class T> void randomize(matrix<T>& m, generator& random) {
  for (std::ptrdiff_t i = 0; i < m.rows; ++i)
    for (std::ptrdiff_t j = 0; j < m.cols; ++j) m(i, j) = random_number<T>(random);
}

/// What the memory around the numbers holds: of no effect, and the same afterwards.
template <class T> T guard() {
  if constexpr (narrow_fixed<T>) return std::numeric_limits<T>::max();
  return std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN()
                                               : std::numeric_limits<T>::max();
}

template <class T> bool same(T a, T b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Checks C = alpha A B + beta C for one shape in one layout.
template <class A, class B, class C>
void check_product(tally& count, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, unsigned layout,
                   double alpha, double beta, generator& random) {
  const auto pick = [&](unsigned bit) { return (layout >> bit & 1) != 0 ? order::columns : order::rows; };
  const std::ptrdiff_t padding = (layout >> 3 & 1) != 0 ? 3 : 0;
  matrix<A> a(m, k, pick(0), padding, guard<A>());
  matrix<B> b(k, n, pick(1), padding, guard<B>());
  matrix<C> c(m, n, pick(2), padding, guard<C>());
  randomize(a, random);
  randomize(b, random);
  if (beta != 0) randomize(c, random);
  matrix<C> before = c;
  gemm(a.view(), b.view(), c.view(), alpha, beta);

  using meeting = detail::accumulation_traits<A, B>;
  const auto describe = [&] {
    return text(name_of<A>(), name_of<B>(), name_of<C>(), std::to_string(m), 'x', std::to_string(k), 'x',
                std::to_string(n), "layout", layout, "alpha", alpha, "beta", beta);
  };
  for (std::ptrdiff_t i = 0; i < m; ++i)
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      exact_sum exact;
      for (std::ptrdiff_t p = 0; p < k; ++p) exact.add(exact_value(a(i, p)), exact_value(b(p, j)));
      mpq_class value = exact.value * mpq_class(alpha), magnitude = exact.magnitude * abs(mpq_class(alpha));
      if (beta != 0) {
        value += mpq_class(beta) * exact_value(before(i, j));
        magnitude += abs(mpq_class(beta) * exact_value(before(i, j)));
      }
      if constexpr (narrow_fixed<A> && std::same_as<A, B>) {  // exact, then rounded once
        if constexpr (narrow_fixed<C>)
          count.expect(oracle::matches(oracle::rounded(C::fraction_length, value), c(i, j)), describe);
        else
          count.expect(within(c(i, j), value, mpq_class(abs(value) * gamma<C>(1))), describe);
      } else {
        // In the wide type, with five roundings of alpha, beta and what they multiply and add.
        using wide = typename meeting::sum;
        const mpq_class bound = gamma<wide>(static_cast<std::size_t>(k) + 5) * magnitude;
        if constexpr (narrow_scalar<C>) {  // that, rounded once more: between the roundings of both ends
          const auto rounded_to = [&](const mpq_class& x) {
            return narrow_cast<C>(x.get_d(), rounding::nearest_even{}, typename C::overflow_policy{});
          };
          count.expect(rounded_to(mpq_class(value - bound)) <= c(i, j) &&
                           c(i, j) <= rounded_to(mpq_class(value + bound)),
                       describe);
        } else {  // float may be narrower than what the sum is in
          count.expect(within(c(i, j), value, mpq_class(bound + (abs(value) + bound) * gamma<C>(1))),
                       describe);
        }
      }
    }
  for (std::size_t i = 0; i < c.data.size(); ++i)
    if (c.is_padding(i)) count.expect(same(c.data[i], guard<C>()), describe);
}

struct shape_of {
  std::ptrdiff_t m, n, k;
};

/// Around the edges of any tile: all m and n up to 20 with some k, and thin ones.
std::vector<shape_of> shapes(generator& random) {
  std::vector<shape_of> result;
  for (std::ptrdiff_t m = 1; m <= 20; ++m)
    for (std::ptrdiff_t n = 1; n <= 20; ++n)
      result.push_back({m, n, static_cast<std::ptrdiff_t>(below(random, 12))});
  for (std::ptrdiff_t m = 1; m <= 4; ++m)
    for (const std::ptrdiff_t n : {1, 2, 3, 33, 70})
      for (const std::ptrdiff_t k : {0, 1, 2, 40}) {
        result.push_back({m, n, k});
        result.push_back({n, m, k});
      }
  return result;
}

template <class A, class B, class C> void check_shapes() {
  generator random(2024);
  tally count;
  unsigned layout = 0;
  const std::pair<double, double> factors[] = {{1, 0},     {1, 1}, {-1, 1}, {0.5, -2},
                                               {0.3, 0.7}, {0, 1}, {2, 0}};
  std::size_t which = 0;
  for (const auto& [m, n, k] : shapes(random)) {
    const auto [alpha, beta] = factors[which++ % std::size(factors)];
    check_product<A, B, C>(count, m, n, k, layout++ % 16, alpha, beta, random);
  }
  count.require_at_least(400 * 100);
}

/// Checks C = alpha A B + beta C.
template <class A, class B, class C> struct product_of {
  static void check() { check_shapes<A, B, C>(); }
};
template <class Products> void check_products() {
  for_each_type<Products>([]<class Product>() { Product::check(); });
}

using floating_products = some_of<
    std::tuple<product_of<fp16, fp16, fp16>, product_of<fp16, fp16, float>, product_of<bf16, bf16, bf16>,
               product_of<fp8_e4m3fn, fp8_e4m3fn, fp16>, product_of<fp4_e2m1, fp4_e2m1, float>,
               product_of<floating<8, 10>, floating<8, 10>, floating<8, 10>>>,
    0, 1, 2, 3, 5>;
using mixed_products = some_of<
    std::tuple<product_of<fp16, float, float>, product_of<float, bf16, bf16>,
               product_of<fp16, double, double>, product_of<fixed<8, 4>, fp16, float>,
               product_of<fixed<32, 16>, fp16, float>, product_of<fixed<8, 4>, fixed<16, 8>, fixed<16, 8>>>,
    0, 2, 3, 5>;
using fixed_products = some_of<
    std::tuple<
        product_of<fixed<8, 4>, fixed<8, 4>, fixed<8, 4>>,
        product_of<fixed<8, 4>, fixed<8, 4>, with_policies<fixed<8, 4>, rounding::downward, overflow::wrap>>,
        product_of<fixed<16, 8>, fixed<16, 8>, fixed<32, 16>>,
        product_of<fixed<32, 16>, fixed<32, 16>, fixed<32, 16>>,
        product_of<fixed<32, 31>, fixed<32, 31>, fixed<32, 31>>,
        product_of<fixed<16, 8>, fixed<16, 8>, float>, product_of<fixed<32, 16>, fixed<32, 16>, double>>,
    0, 1, 2, 3, 6>;

}  // namespace

TEST_CASE("gemm of floating formats: within the bound, rounded once", "[kernel][gemm]") {
  check_products<floating_products>();
}

TEST_CASE("gemm of mixed types meets in float, or in double where one needs it", "[kernel][gemm][long]") {
  check_products<mixed_products>();
}

TEST_CASE("fixed: gemm is exact until the one rounding", "[kernel][gemm][fixed][long]") {
  check_products<fixed_products>();
}

TEST_CASE("what gemm stores is what it would give as float, rounded once", "[kernel][gemm]") {
  generator random(2024);
  for (const auto& [m, n, k] :
       {shape_of{1, 1, 50}, shape_of{7, 9, 50}, shape_of{30, 2, 50}, shape_of{1, 40, 50}}) {
    matrix<fp16> a(m, k, order::rows, 0, 0), b(k, n, order::rows, 0, 0), c(m, n, order::rows, 0, 0);
    matrix<float> wide(m, n, order::rows, 0, 0);
    randomize(a, random);
    randomize(b, random);
    gemm(a.view(), b.view(), c.view());
    gemm(a.view(), b.view(), wide.view());
    std::size_t different = 0, inexact = 0;
    for (std::ptrdiff_t i = 0; i < m * n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      different += !same(c.data[at], fp16(wide.data[at]));
      inexact += c.data[at] != wide.data[at];
    }
    REQUIRE(different == 0);
    REQUIRE(inexact > 0);
  }
}

namespace {

struct counting {
  static inline std::uint64_t asked = 0;
  static bool away(const rounding::tail& t) {
    ++asked;
    return rounding::nearest_even::away(t);
  }
  static constexpr bool overflows_to_infinity(sign) { return true; }
};

template <class C>
std::uint64_t roundings_of_gemm(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, double alpha,
                                double beta) {
  using T = std::conditional_t<narrow_fixed<C>, fixed<16, 8>, fp16>;
  matrix<T> a(m, k, order::rows, 0, 1.5f), b(k, n, order::rows, 0, 0.5f);
  matrix<C> c(m, n, order::rows, 0, C(1));
  counting::asked = 0;
  gemm(a.view(), b.view(), c.view(), alpha, beta);
  return counting::asked;
}

}  // namespace

TEST_CASE("each coefficient of a product is rounded exactly once", "[kernel][gemm]") {
  using F = floating<5, 10, specials::ieee, counting>;
  using Q = fixed<16, 8, counting>;
  for (const auto& [m, n, k] :
       {shape_of{1, 1, 1}, shape_of{5, 6, 7}, shape_of{20, 2, 3}, shape_of{1, 19, 4}, shape_of{9, 1, 9}}) {
    const auto coefficients = static_cast<std::uint64_t>(m * n);
    REQUIRE(roundings_of_gemm<F>(m, n, k, 1, 0) == coefficients);
    REQUIRE(roundings_of_gemm<F>(m, n, k, 0.3, 0.7) == coefficients);
    REQUIRE(roundings_of_gemm<Q>(m, n, k, 1, 0) == coefficients);
    REQUIRE(roundings_of_gemm<Q>(m, n, k, 0.3, 0.7) == coefficients);
  }
}

TEST_CASE("stochastic products: by row-major index, whatever the storage order", "[kernel][gemm]") {
  using S = with_policies<fp16, rounding::stochastic, overflow::ieee>;
  generator random(2024);
  for (const auto& [m, n] :
       {std::pair<std::ptrdiff_t, std::ptrdiff_t>{13, 9}, {1, 30}, {30, 1}, {30, 3}, {3, 30}}) {
    const std::ptrdiff_t k = 20;
    matrix<fp16> a(m, k, order::rows, 0, 0), b(k, n, order::columns, 0, 0);
    randomize(a, random);
    randomize(b, random);
    matrix<S> rows(m, n, order::rows, 0, 0), columns(m, n, order::columns, 2, 0);
    matrix<float> wide(m, n, order::rows, 0, 0);
    gemm(a.view(), b.view(), wide.view());
    seed(5);
    gemm(a.view(), b.view(), rows.view());
    REQUIRE(thread_stream().ticket == 1);
    seed(5);
    gemm(a.view(), b.view(), columns.view());
    seed(5);
    const rounding::stochastic round;
    std::size_t different = 0;
    for (std::ptrdiff_t i = 0; i < m; ++i)
      for (std::ptrdiff_t j = 0; j < n; ++j) {
        different += !same(rows(i, j), columns(i, j));
        const fp16 right = narrow_cast<fp16>(wide(i, j), round.at(static_cast<std::uint64_t>(i * n + j)));
        different += right.bits() != rows(i, j).bits();
      }
    REQUIRE(different == 0);
  }
}

TEST_CASE("gemm with nothing to sum gives beta C; nothing to store is nothing to do", "[kernel][gemm]") {
  std::vector<fp16> none, c = {1, 2, 3, 4, 5, 6};
  gemm(row_major(none, 2, 0), row_major(none, 0, 3), row_major(c, 2, 3), 1, 0.5);
  REQUIRE(c == std::vector<fp16>{0.5, 1, 1.5, 2, 2.5, 3});
  gemm(row_major(none, 2, 0), row_major(none, 0, 3), row_major(c, 2, 3));
  REQUIRE(c == std::vector<fp16>(6, 0));
  gemm(row_major(none, 0, 2), row_major(c, 2, 3), row_major(none, 0, 3));
  gemm(row_major(c, 3, 2), row_major(none, 2, 0), row_major(none, 3, 0));
  gemm(row_major(none, 0, 0), row_major(none, 0, 0), row_major(none, 0, 0));
  REQUIRE(c == std::vector<fp16>(6, 0));
}

/// Products (0, k) (k, n) and (n, k) (k, 0), prepacked, too.
template <class A, class B> void check_empty_products(tally& count) {
  for (const std::ptrdiff_t k : {1, 16, 64, 512})
    for (const std::ptrdiff_t n : {0, 1, 2, 16, 64, 512}) {
      std::vector<A> none, left(static_cast<std::size_t>(n * k));
      std::vector<B> nothing, right(static_cast<std::size_t>(k * n));
      std::vector<float> c;
      const auto check = [&](const auto& a, const auto& b) {
        gemm(a, b, row_major(c, a.rows, b.cols));
        gemm(prepacked(a), b, row_major(c, a.rows, b.cols), 2, 1);
        gemm(a, prepacked(b), column_major(c, a.rows, b.cols));
        count.expect(c.empty() && explain(a, b).find("plain C++") != std::string::npos,
                     [&] { return explain(a, b); });
      };
      check(row_major(none, 0, k), row_major(right, k, n));
      check(row_major(none, 0, k), column_major(right, k, n));
      check(row_major(left, n, k), row_major(nothing, k, 0));
      check(column_major(left, n, k), row_major(nothing, k, 0));
    }
}

TEST_CASE("products without rows or columns end at once on every instruction set", "[kernel][gemm]") {
  tally count;
  for_each_isa([&](const std::string&) {
    check_empty_products<fp16, fp16>(count);
    check_empty_products<bf16, bf16>(count);
    check_empty_products<fp8_e4m3fn, bf16>(count);
    check_empty_products<fixed<8, 4>, fixed<8, 4>>(count);
    check_empty_products<fixed<16, 8>, fixed<8, 4>>(count);
    check_empty_products<fixed<32, 16>, fixed<32, 16>>(count);
  });
  count.require(isa_count() * 6 * 4 * 6 * 4);
  // Nor do they take as long as their extents are.
  const std::ptrdiff_t many = std::ptrdiff_t{1} << 40;
  std::vector<bf16> none;
  std::vector<float> c;
  gemm(row_major(none, many, 0), row_major(none, 0, 0), row_major(c, many, 0));
  gemm(row_major(none, 0, many), row_major(none, many, 0), row_major(c, 0, 0));
}

TEST_CASE("gemm does not read C where beta is 0", "[kernel][gemm]") {
  const std::vector<fp16> a = {1, 2}, b = {3, 4};
  std::vector<fp16> c(1, std::numeric_limits<fp16>::quiet_NaN());
  gemm(row_major(a, 1, 2), row_major(b, 2, 1), row_major(c, 1, 1));
  REQUIRE(c[0] == 11);
  c[0] = std::numeric_limits<fp16>::infinity();
  gemm(row_major(a, 1, 2), row_major(b, 2, 1), row_major(c, 1, 1), -1, 0);
  REQUIRE(c[0] == -11);
}

TEST_CASE("NaN and infinity in every position of small products", "[kernel][gemm]") {
  using limits = std::numeric_limits<fp16>;
  generator random(2024);
  tally count;
  for (const auto& [m, n, k] :
       {shape_of{1, 1, 1}, shape_of{1, 1, 5}, shape_of{3, 4, 5}, shape_of{5, 2, 3}, shape_of{1, 9, 4},
        shape_of{9, 1, 4}, shape_of{2, 3, 9}, shape_of{6, 10, 2}}) {
    for (std::ptrdiff_t position = 0; position < m * k + k * n; ++position)
      for (const fp16 special : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) {
        matrix<fp16> a(m, k, order::rows, 0, 0), b(k, n, order::rows, 0, 0), c(m, n, order::rows, 0, 0);
        for (auto* both : {&a, &b})  // zeros, ones and minus ones: infinity times zero is NaN
          for (auto& x : both->data) x = static_cast<int>(below(random, 3)) - 1;
        (position < m * k ? a.data[static_cast<std::size_t>(position)]
                          : b.data[static_cast<std::size_t>(position - m * k)]) = special;
        gemm(a.view(), b.view(), c.view());
        for (std::ptrdiff_t i = 0; i < m; ++i)
          for (std::ptrdiff_t j = 0; j < n; ++j) {
            special_sum right;
            for (std::ptrdiff_t p = 0; p < k; ++p)
              right.add(oracle::decode(a(i, p)), oracle::decode(b(p, j)));
            count.expect(right.matches(c(i, j)), [&] {
              return text("position", position, special.bits(), "at", i, j, "gives", c(i, j).bits());
            });
          }
      }
  }
  count.require_at_least(5000);
}

TEST_CASE("gemv is gemm with one column", "[kernel][gemm]") {
  generator random(2024);
  tally count;
  for (std::ptrdiff_t m = 0; m <= 20; ++m)
    for (std::ptrdiff_t n = 0; n <= 20; ++n)
      for (const order o : {order::rows, order::columns}) {
        matrix<bf16> a(m, n, o, 1, 0);
        randomize(a, random);
        const auto x = random_numbers<bf16>(static_cast<std::size_t>(n), random);
        auto y = random_numbers<float>(static_cast<std::size_t>(m), random), z = y;
        gemv(a.view(), x, y, 0.5, 2);
        gemm(a.view(), column_major(x, n, 1), row_major(z, m, 1), 0.5, 2);
        for (std::size_t i = 0; i < y.size(); ++i)
          count.expect(same(y[i], z[i]), [&] { return text("shape", m, n, "row", i, y[i], z[i]); });
      }
  count.require(210 * 21 * 2);
  std::vector<fp16> a = {1, 2, 3, 4}, x = {5, 6};
  std::vector<fp16> y(2);
  gemv(row_major(a, 2, 2), x, y);
  REQUIRE(y == std::vector<fp16>{17, 39});
  gemv(row_major(a, 2, 2).transposed(), x, std::span(y));
  REQUIRE(y == std::vector<fp16>{23, 34});
}

TEST_CASE("views: rows, columns, transposes and submatrices", "[kernel][view]") {
  std::vector<int> v = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto r = row_major(v, 2, 3), padded = row_major(v, 2, 3, 5), c = column_major(v, 2, 3);
  REQUIRE(r(1, 2) == 5);
  REQUIRE(padded(1, 2) == 7);
  REQUIRE(c(1, 2) == 5);
  REQUIRE(c(0, 1) == 2);
  REQUIRE(r.transposed()(2, 1) == 5);
  REQUIRE(column_major(v, 3, 2, 4)(2, 1) == 6);
  r(0, 0) = 9;
  REQUIRE(v[0] == 9);
  const std::vector<int>& constant = v;
  STATIC_REQUIRE(std::same_as<decltype(row_major(constant, 1, 1)), matrix_view<const int>>);
  const matrix_view<const int> as_const = r;
  REQUIRE(as_const(0, 0) == 9);
  REQUIRE(row_major(v, 0, 5).rows == 0);
  REQUIRE(row_major(v, 5, 0).cols == 0);
}

TEST_CASE("shapes that do not match are refused, and the message names both", "[kernel][gemm][errors]") {
  std::vector<fp16> v(12), x(3), y(4);
  const auto a = row_major(v, 3, 4), b = row_major(v, 3, 2), c = row_major(v, 3, 2), d = row_major(v, 4, 2);
  const std::string inner = refusal([&] { gemm(a, b, c); });
  REQUIRE(contains(inner, "narrow::gemm"));
  REQUIRE(contains(inner, "A is 3 x 4"));
  REQUIRE(contains(inner, "B is 3 x 2"));
  const std::string outer = refusal([&] { gemm(a, d, d); });
  REQUIRE(contains(outer, "A B is 3 x 2"));
  REQUIRE(contains(outer, "C is 4 x 2"));
  REQUIRE(contains(refusal([&] { gemm(a, d, row_major(v, 3, 3)); }), "C is 3 x 3"));
  const std::string in = refusal([&] { gemv(a, x, x); });
  REQUIRE(contains(in, "narrow::gemv"));
  REQUIRE(contains(in, "A is 3 x 4"));
  REQUIRE(contains(in, "x is 3"));
  const std::string out = refusal([&] { gemv(a, y, y); });
  REQUIRE(contains(out, "A is 3 x 4"));
  REQUIRE(contains(out, "y is 4"));
}

TEST_CASE("views that their range cannot hold are refused", "[kernel][view][errors]") {
  std::vector<fp16> v(10);
  const std::string small = refusal([&] { (void)row_major(v, 3, 4); });
  REQUIRE(contains(small, "narrow::row_major"));
  REQUIRE(contains(small, "10 elements"));
  REQUIRE(contains(small, "3 lines of 4"));
  REQUIRE(contains(refusal([&] { (void)column_major(v, 4, 3); }), "narrow::column_major"));
  const std::string leading = refusal([&] { (void)row_major(v, 2, 4, 3); });
  REQUIRE(contains(leading, "leading dimension 3"));
  REQUIRE(contains(leading, "4"));
  REQUIRE(contains(refusal([&] { (void)row_major(v, -1, 4); }), "-1 x 4"));
  REQUIRE(contains(refusal([&] { (void)row_major(v, 4, -1); }), "4 x -1"));
  REQUIRE(contains(refusal([&] { (void)column_major(v, -1, 4); }), "-1 x 4"));
  REQUIRE(contains(refusal([&] { (void)column_major(v, 4, -1); }), "4 x -1"));
  REQUIRE(contains(refusal([&] { (void)row_major(v, 2, 4, 7); }), "too short"));
  REQUIRE(row_major(v, 2, 4, 6).row_stride == 6);  // the last line needs no padding: 6 + 4 elements
  constexpr std::ptrdiff_t huge = std::numeric_limits<std::ptrdiff_t>::max();
  REQUIRE(contains(refusal([&] { (void)row_major(v, huge, 4, huge); }), "too short"));
  REQUIRE(contains(refusal([&] { (void)row_major(v, huge, 1); }), "too short"));
  REQUIRE(row_major(v, 1, 4, huge).row_stride == huge);
}
