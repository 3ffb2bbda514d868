// Products of factors that are packed once: the bits of the products that pack them anew.
#include <cstring>
#include <thread>
#include <vector>

#include <narrow/narrow.hpp>

#include "catch.hpp"
#include "every_isa.hpp"
#include "policies.hpp"
#include "refusal.hpp"
#include "samples.hpp"
#include "tally.hpp"

using namespace test;
using namespace narrow;

namespace {

using place = std::ptrdiff_t;

struct product_shape {
  place m, n, k;
};
/// None, gemv both ways, few rows, few columns, the edges of tiles, and more than one block of the depth.
const product_shape shapes[] = {{2, 3, 0},     {1, 1, 9},     {1, 40, 70},   {40, 1, 70},  {3, 5, 31},
                                {8, 70, 64},   {70, 8, 64},   {33, 17, 65},  {16, 33, 96}, {32, 48, 64},
                                {64, 66, 200}, {70, 65, 300}, {4, 40, 2100}, {66, 2, 2100}};

enum class content { plain, one_special, any };
constexpr content contents[] = {content::plain, content::one_special, content::any};

/// Numbers near 1, of which perhaps one is subnormal or not finite, or any codes at all.
template <class T> std::vector<T> numbers(place n, content what, generator& random) {
  std::vector<T> result(static_cast<std::size_t>(n));
  const auto any_code = [&] {
    if constexpr (narrow_scalar<T>)
      return T::from_bits(static_cast<typename T::bits_type>(random()));
    else
      return static_cast<T>(std::ldexp(static_cast<double>(below(random, 1000)) - 500, -9));
  };
  for (T& x : result)
    x = what == content::any ? any_code() : T(static_cast<float>(below(random, 129)) / 64 - 1);
  if (n > 0 && what == content::one_special)
    if constexpr (narrow_float<T>)
      result[static_cast<std::size_t>(below(random, static_cast<std::uint64_t>(n)))] =
          below(random, 2) != 0 ? T::from_bits(1) : std::numeric_limits<T>::quiet_NaN();
  return result;
}

template <class T> matrix_view<T> in_order(std::vector<T>& x, place rows, place cols, bool by_columns) {
  return by_columns ? column_major(x, rows, cols) : row_major(x, rows, cols);
}
template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Every instruction set, one after the other, with the same objects: then those that are less than the first
/// one are never given its panels.
template <class A, class B, class C> void check_matrices(double alpha = 1, double beta = 0) {
  tally count;
  generator random(28);
  std::uint64_t expected = 0;
  for (const product_shape& shape : shapes)
    for (const content what : contents)
      for (const unsigned layout : {0u, 1u, 2u, 4u, 7u}) {
        if (what == content::any && layout % 3 != 0) continue;
        const place m = shape.m, n = shape.n, k = shape.k;  // which lambdas can capture
        auto a = numbers<A>(m * k, what, random);
        auto b = numbers<B>(k * n, what, random);
        const auto before = numbers<C>(m * n, content::plain, random);
        const auto left = in_order(a, m, k, (layout & 1) != 0);
        const auto right = in_order(b, k, n, (layout & 2) != 0);
        const auto left_once = prepacked(left), left_turned = prepacked(left.transposed()).transposed();
        const auto right_once = prepacked(right);
        for_each_isa([&](const std::string& isa) {
          const auto product = [&](const auto& x, const auto& y) {
            std::vector<C> c = before;
            seed(7);  // of what stochastic rounding draws
            gemm(x, y, in_order(c, m, n, (layout & 4) != 0), alpha, beta);
            return c;
          };
          const std::vector<C> wanted = product(left, right);
          for (int pass = 0; pass < 2; ++pass) {  // panels are packed, and found again
            const std::vector<C> got[] = {product(left_once, right), product(left, right_once),
                                          product(left_once, right_once), product(left_turned, right)};
            for (int form = 0; form < 4; ++form, ++expected)
              count.expect(same(got[form], wanted), [&] {
                return text(detail::shape(m, k), "times", detail::shape(k, n), isa, "contents",
                            static_cast<int>(what), "layout", layout, "form", form, "pass", pass);
              });
          }
        });
      }
  count.require(expected);
}

/// Tensors with tensors and with numbers, which are quantised.
template <class Format, class Other> void check_tensors() {
  tally count;
  generator random(29);
  std::uint64_t expected = 0;
  for (const product_shape& shape : shapes)
    for (const bool by_columns : {false, true}) {
      const place m = shape.m, n = shape.n, k = shape.k;
      auto a = numbers<float>(m * k, content::any, random), b = numbers<float>(k * n, content::any, random);
      const auto left = quantize<Format>(in_order(a, m, k, by_columns));
      const auto right = quantize<Other>(in_order(b, k, n, !by_columns));
      const auto values = in_order(b, k, n, by_columns);
      const auto left_once = prepacked(left);
      const auto right_once = prepacked(right);
      for_each_isa([&](const std::string& isa) {
        const auto product = [&](const auto& x, const auto& y) {
          std::vector<float> c(static_cast<std::size_t>(m * n), 0.5f);
          gemm(x, y, in_order(c, m, n, by_columns), 2, 1);
          return c;
        };
        const auto wanted = product(left, right), of_values = product(left, values);
        const auto turned = [&] {
          std::vector<float> c(static_cast<std::size_t>(m * n), 0.5f);
          gemm(transposed(right), left_once.transposed(), in_order(c, m, n, by_columns).transposed(), 2, 1);
          return c;
        };
        for (int pass = 0; pass < 2; ++pass) {
          const bool matches[] = {same(product(left_once, right), wanted),
                                  same(product(left, right_once), wanted),
                                  same(product(left_once, right_once), wanted),
                                  same(product(left_once, values), of_values), same(turned(), wanted)};
          for (int form = 0; form < 5; ++form, ++expected)
            count.expect(matches[form], [&] {
              return text(detail::shape(m, k), "times", detail::shape(k, n), isa, "form", form, "pass", pass);
            });
        }
      });
    }
  count.require(expected);
}

template <class A, class B> struct pair {
  using left = A;
  using right = B;
};
using pairs =
    some_of<std::tuple<pair<fp16, fp16>, pair<bf16, bf16>, pair<fixed<8, 4>, fixed<8, 4>>,
                       pair<fixed<16, 8>, fixed<16, 8>>, pair<fp8_e4m3fn, fp8_e4m3fn>,
                       pair<fixed<32, 16>, fixed<32, 16>>, pair<float, bf16>, pair<fp16, float>,
                       pair<fp8_e5m2, fp8_e5m2>, pair<fp4_e2m1, fp4_e2m1>, pair<fixed<12, 6>, fixed<12, 6>>,
                       pair<fixed<4, 2>, fixed<4, 2>>, pair<floating<8, 14>, floating<8, 14>>>,
            0, 1, 2, 3>;

using tensor_formats = some_of<
    std::tuple<pair<bfp<8>, bfp<8>>, pair<bfp<8, tile<16, 32>>, bfp<8>>, pair<mx<fp8_e4m3fn>, bfp<8>>,
               pair<bfp<8, per_column>, bfp<8>>, pair<int8, int8>, pair<bfp<8, per_row>, bfp<8, per_column>>,
               pair<bfp<13>, bfp<13>>, pair<bfp<16, tile<7, 5>>, bfp<16>>, pair<mx<fp4_e2m1>, mx<fp4_e2m1>>>,
    0, 1, 3>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("prepacked matrices: the same bits", "[product]", pairs) {
  using A = typename TestType::left;
  using B = typename TestType::right;
  using C = std::conditional_t<narrow_scalar<A>, A, B>;
  check_matrices<A, B, C>();
  check_matrices<A, B, float>(0.5, -2);
}

TEST_CASE("prepacked matrices: results are rounded by their policy, under the same index", "[product]") {
  using fixed_noise = fixed<8, 4, rounding::stochastic>;
  using noise = floating<5, 10, specials::ieee, rounding::stochastic>;
  check_matrices<fixed_noise, fixed_noise, fixed_noise>();
  check_matrices<noise, noise, noise>(1, 1);
}

TEMPLATE_LIST_TEST_CASE("prepacked tensors: the same bits", "[product]", tensor_formats) {
  check_tensors<typename TestType::left, typename TestType::right>();
}

TEST_CASE("prepacked: the same bits on any number of threads, and in several at once", "[product]") {
  generator random(30);
  tally count;
  for (const product_shape& shape : {product_shape{300, 200, 160}, {1500, 40, 97}, {33, 900, 513}}) {
    const place m = shape.m, n = shape.n, k = shape.k;
    auto a = numbers<bf16>(m * k, content::plain, random), b = numbers<bf16>(k * n, content::plain, random);
    const auto left = row_major(a, m, k);
    const auto right = column_major(b, k, n);
    std::vector<bf16> wanted(static_cast<std::size_t>(m * n));
    gemm(left, right, row_major(wanted, m, n));
    for (const int workers : {1, 2, 5}) {
      set_num_threads(workers);
      const auto once = prepacked(left), other = prepacked(right);
      std::vector<std::vector<bf16>> got(6, std::vector<bf16>(wanted.size()));
      std::vector<std::thread> callers;
      for (std::size_t i = 0; i < got.size(); ++i)
        callers.emplace_back([&, i] {
          if (i % 2 == 0)
            gemm(once, right, row_major(got[i], m, n));
          else
            gemm(left, other, row_major(got[i], m, n));
        });
      for (std::thread& t : callers) t.join();
      for (const auto& c : got)
        count.expect(same(c, wanted), [&] { return text(detail::shape(m, n), "threads", workers); });
    }
  }
  set_num_threads(1);
  count.require(3 * 3 * 6);
}

TEST_CASE("prepacked: panels are packed once, and kept by copies", "[product]") {
  generator random(31);
  auto a = numbers<fixed<8, 4>>(70 * 90, content::any, random),
       b = numbers<fixed<8, 4>>(90 * 50, content::any, random);
  std::vector<fixed<8, 4>> wanted(70 * 50), got(70 * 50);
  auto once = prepacked(column_major(a, 70, 90));
  REQUIRE(once.panel_bytes() == 0);
  const auto right = row_major(b, 90, 50);
  gemm(column_major(a, 70, 90), right, row_major(wanted, 70, 50));
  std::fill(a.begin(), a.end(), fixed<8, 4>(0));  // the copy stays
  gemm(once, right, row_major(got, 70, 50));
  REQUIRE(same(got, wanted));
  const std::size_t bytes = once.panel_bytes();
  if (isa_name() != "portable") REQUIRE(bytes >= 70 * 90);
  for (const place n : {50, 48, 33}) gemm(once, right.block(0, 0, 90, n), row_major(got, 70, n));
  REQUIRE(once.panel_bytes() == bytes);

  auto copy = once;
  const auto moved = std::move(once);
  copy = *&copy;
  REQUIRE(copy.view().data == moved.view().data);
  REQUIRE(copy.panel_bytes() == bytes);
  once = prepacked(row_major(b, 90, 50));  // it can be used again
  REQUIRE(once.rows() == 90);
  gemm(copy, once, row_major(got, 70, 50));
  REQUIRE(same(got, wanted));
  gemm(moved, right, row_major(got, 70, 50));
  REQUIRE(same(got, wanted));
}

TEST_CASE("prepacked: vectors, and how it is computed", "[product]") {
  generator random(32);
  auto a = numbers<fp16>(40 * 30, content::any, random), x = numbers<fp16>(30, content::plain, random);
  std::vector<fp16> wanted(40), got(40);
  const auto matrix = row_major(a, 40, 30);
  gemv(matrix, x, wanted);
  gemv(prepacked(matrix), x, got);
  REQUIRE(same(got, wanted));
  const auto other = column_major(x, 30, 1);
  REQUIRE(explain(prepacked(matrix), other) == explain(matrix, other));
}

TEST_CASE("prepacked: what does not fit is refused", "[product]") {
  std::vector<fp16> a(12), b(12), c(16);
  const auto once = prepacked(row_major(a, 3, 4));
  REQUIRE(refusal([&] { gemm(once, row_major(b, 3, 4), row_major(c, 3, 4)); }) ==
          "narrow::gemm: shapes do not match: A is 3 x 4, B is 3 x 4");
  REQUIRE(refusal([&] { gemm(once, row_major(b, 4, 3), row_major(c, 4, 4)); }) ==
          "narrow::gemm: shapes do not match: A B is 3 x 3, C is 4 x 4");
  REQUIRE(refusal([&] {
            (void)prepacked(matrix_view<fp16>{a.data(), -3, 4, 4, 1});
          }) == "narrow::prepacked: the shape -3 x 4 must not be negative");
  const auto tensor = prepacked(quantize<bfp<8>>(std::vector<float>(12), 3, 4));
  REQUIRE(refusal([&] { gemm(tensor, tensor, row_major(c, 3, 4)); }) ==
          "narrow::gemm: shapes do not match: A is 3 x 4, B is 3 x 4");
}
