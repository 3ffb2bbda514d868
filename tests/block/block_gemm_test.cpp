// gemm and gemv of tensors: operands of other kinds, alpha and beta, narrow results, nothing to do.
#include "../every_isa.hpp"
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  const auto equal = [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

template <class A, class B> std::vector<float> multiplied(const A& a, const B& b, place m, place n) {
  std::vector<float> c(static_cast<std::size_t>(m * n), nan_value);
  gemm(a, b, row_major(c, m, n));
  return c;
}

template <class T> std::vector<T> numbers_as(const std::vector<float>& x) { return {x.begin(), x.end()}; }

/// The other operand is a matrix of T: it is quantised with the same width and rounding, a scale per line.
template <class F, class Left, class Right, class T> void check_mixed(tally& count) {
  generator random(2024);
  for (const product_shape& shape : {product_shape{1, 1, 1}, {3, 4, 5}, {1, 6, 9}, {6, 1, 9}, {7, 5, 20}}) {
    const place m = shape.m, n = shape.n, k = shape.k;
    const auto a = numbers_around(0, m * k, random), b = numbers_around(3, k * n, random);
    const auto left = numbers_as<T>(a), right = numbers_as<T>(b);
    const auto tensor_a = quantize<F>(a, m, k), tensor_b = quantize<F>(b, k, n);
    const auto line_a = quantize<Left>(left, m, k);
    const auto line_b = quantize<Right>(right, k, n);
    const auto describe = [&] { return text(name_of<F>(), name_of<T>(), static_cast<std::uint64_t>(k)); };
    count.expect(same(multiplied(tensor_a, row_major(right, k, n), m, n), multiplied(tensor_a, line_b, m, n)),
                 describe);
    count.expect(same(multiplied(row_major(left, m, k), tensor_b, m, n), multiplied(line_a, tensor_b, m, n)),
                 describe);
    count.expect(
        same(multiplied(transposed(quantize<F>(in_columns(a, {m, k}), k, m)), row_major(right, k, n), m, n),
             multiplied(transposed(quantize<F>(in_columns(a, {m, k}), k, m)), line_b, m, n)),
        describe);
  }
}

}  // namespace

TEST_CASE("a matrix of numbers is quantised as the tensor beside it", "[block]") {
  tally count;
  check_mixed<bfp<8>, bfp<8, per_row>, bfp<8, per_column>, float>(count);
  check_mixed<bfp<12, tile<2, 3>>, bfp<12, per_row>, bfp<12, per_column>, fp16>(count);
  check_mixed<int8, basic_int8<per_row>, basic_int8<per_column>, double>(count);
  check_mixed<bfp<6, per_tensor, rounding::toward_zero>, bfp<6, per_row, rounding::toward_zero>,
              bfp<6, per_column, rounding::toward_zero>, float>(count);
  check_mixed<bfp<6, per_tensor, rounding::nearest_even, exponent::avg<2>>,
              bfp<6, per_row, rounding::nearest_even, exponent::avg<2>>,
              bfp<6, per_column, rounding::nearest_even, exponent::avg<2>>, bf16>(count);
  count.require(5 * 5 * 3);
}

TEST_CASE("a matrix beside a stochastic tensor takes one ticket", "[block]") {
  using F = bfp<4, per_tensor, rounding::stochastic>;
  generator random(2024);
  const auto a = numbers_around(0, 12, random), b = numbers_around(0, 20, random);
  const auto tensor = quantize<F>(a, 3, 4, rounding::stochastic(1));
  seed(7);
  const auto c = multiplied(tensor, row_major(b, 4, 5), 3, 5);
  REQUIRE(thread_stream().ticket == 1);
  seed(7);
  const rounding::stochastic round;
  const auto right = quantize<bfp<4, per_column, rounding::stochastic>>(b, 4, 5, round);
  REQUIRE(same(c, multiplied(tensor, right, 3, 5)));
}

namespace {

/// C as T from C before: alpha and beta as floats, each operation rounded to float, then once to T.
template <class T> void check_factors(tally& count) {
  generator random(2024);
  for (const product_shape& shape : {product_shape{1, 1, 1}, {3, 4, 5}, {1, 6, 9}, {5, 3, 0}})
    for (const double alpha : {1.0, -1.0, 0.5, 0.1, 0.0})
      for (const double beta : {0.0, 1.0, -2.0, 0.3}) {
        const place m = shape.m, n = shape.n, k = shape.k;
        const auto a = quantize<bfp<9>>(numbers_around(0, m * k, random), m, k);
        const auto b = quantize<bfp<9>>(numbers_around(2, k * n, random), k, n);
        std::vector<T> before = numbers_as<T>(numbers_around(1, m * n, random)), c = before;
        if (beta == 0) std::fill(c.begin(), c.end(), std::numeric_limits<T>::quiet_NaN());
        gemm(a, b, row_major(c, m, n), alpha, beta);
        const factor left = factor_of(a, false), right = factor_of(b, false);
        for (place i = 0; i < m; ++i)
          for (place j = 0; j < n; ++j) {
            const auto at = static_cast<std::size_t>(i * n + j);
            mpq_class value = product_coefficient(left, right, i, j).value.value;
            if (alpha != 1)
              value = nearest_float(mpq_class(rational(static_cast<float>(alpha)) * value)).value;
            if (beta != 0) {
              const mpq_class old =
                  rational(static_cast<float>(beta)) * rational(static_cast<float>(before[at]));
              value = nearest_float(mpq_class(nearest_float(old).value + value)).value;
            }
            bool match = false;
            if constexpr (std::same_as<T, float>) {
              match = rational(c[at]) == value;
            } else {  // zeros aside: their sign is not a matter of rounding
              const mpf_class x(value, oracle::real_bits);
              const oracle::operand exact(sgn(value) == 0 ? oracle::kind::zero : oracle::kind::number,
                                          sgn(value) < 0, abs(x));
              match = sgn(value) == 0 ? static_cast<float>(c[at]) == 0
                                      : oracle::matches(oracle::rounded(oracle::table_of<T>(), exact), c[at]);
            }
            count.expect(match,
                         [&] { return text(name_of<T>(), alpha, beta, k, static_cast<float>(c[at])); });
          }
      }
}

}  // namespace

TEST_CASE("alpha and beta: each operation in float, narrow results rounded once", "[block]") {
  tally count;
  check_factors<float>(count);
  check_factors<fp16>(count);
  check_factors<with_policies<bf16, rounding::toward_zero, overflow::ieee>>(count);
  count.require(3 * 20 * (1 + 12 + 6 + 15));
}

TEST_CASE("gemv is gemm with one column", "[block]") {
  tally count;
  generator random(2024);
  for (place m = 0; m <= 9; ++m)
    for (place n = 0; n <= 9; ++n) {
      const auto a = quantize<bfp<8, per_row>>(numbers_around(0, m * n, random), m, n);
      const auto x = numbers_around(0, n, random);
      auto y = numbers_around(0, m, random), z = y;
      gemv(a, x, y, 0.5, 2);
      gemm(a, column_major(x, n, 1), column_major(z, m, 1), 0.5, 2);
      count.expect(same(y, z), [&] { return text("gemv", m, n); });
      auto u = numbers_around(0, n, random);
      std::vector<float> v(u);
      const auto w = numbers_as<fp16>(numbers_around(0, m, random));
      gemv(transposed(a), w, u);
      gemm(transposed(a), column_major(w, m, 1), column_major(v, n, 1));
      count.expect(same(u, v), [&] { return text("transposed gemv", m, n); });
    }
  count.require(200);
}

template <class F, class G> void check_empty_products(tally& count) {
  for (const std::ptrdiff_t k : {1, 32, 64, 512})
    for (const std::ptrdiff_t n : {0, 1, 16, 64, 512}) {
      std::vector<float> c;
      const auto check = [&](const block_tensor<F>& a, const block_tensor<G>& b) {
        gemm(a, b, row_major(c, a.rows(), b.cols()));
        gemm(prepacked(a), b, row_major(c, a.rows(), b.cols()), 2, 1);
        gemm(a, prepacked(b), column_major(c, a.rows(), b.cols()));
        count.expect(c.empty() && !explain(a.view(), b.view()).empty(),
                     [&] { return explain(a.view(), b.view()); });
      };
      check(block_tensor<F>(0, k), block_tensor<G>(k, n));
      check(block_tensor<F>(n, k), block_tensor<G>(k, 0));
    }
}

TEST_CASE("products without rows or columns end at once on every instruction set", "[block]") {
  tally count;
  for_each_isa([&](const std::string&) {
    check_empty_products<bfp<8>, bfp<8>>(count);
    check_empty_products<bfp<12>, bfp<8>>(count);
    check_empty_products<bfp<16, tile<24, 24>>, bfp<16, tile<24, 24>>>(count);
    check_empty_products<narrow::int8, basic_int8<per_row>>(count);
    check_empty_products<mx<fp8_e4m3fn>, mx<fp8_e4m3fn>>(count);
  });
  count.require(isa_count() * 5 * 4 * 5 * 2);
}

TEST_CASE("nothing to sum gives beta C; nothing to store is nothing to do", "[block]") {
  for_each_type<granularities>([]<class Block>() {
    using F = bfp<8, Block>;
    const block_tensor<F> none_wide(0, 3), none_high(3, 0), empty;
    std::vector<float> c = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    gemm(none_high, none_wide, row_major(c, 3, 3), 1, 0.5);
    REQUIRE(c == std::vector<float>{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5});
    gemm(none_high, none_wide, row_major(c, 3, 3));
    REQUIRE(c == std::vector<float>(9, 0));
    gemm(transposed(none_wide), transposed(none_high), row_major(c, 3, 3), 1, 1);
    std::vector<float> nothing;
    gemm(none_wide, block_tensor<F>(3, 2), row_major(nothing, 0, 2));
    gemm(block_tensor<F>(2, 3), none_high, row_major(nothing, 2, 0));
    gemm(empty, empty, row_major(nothing, 0, 0));
    gemv(none_high, nothing, c = {1, 2, 3});
    REQUIRE(c == std::vector<float>(3, 0));
    REQUIRE(quantize<F>(nothing, 0, 5).size() == 0);
    REQUIRE(quantize<F>(nothing, 5, 0).nonfinite() == 0);
    dequantize(empty, nothing);
  });
}
