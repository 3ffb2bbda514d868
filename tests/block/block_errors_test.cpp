// What tensors and their functions refuse: each a std::invalid_argument that names the values.
#include <span>

#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

template <class F> void expect_refusal(F f, std::initializer_list<const char*> parts) {
  const std::string message = refusal(f);
  for (const char* part : parts) {
    INFO(message << " should contain " << part);
    CHECK(contains(message, part));
  }
}

}  // namespace

TEST_CASE("shapes that are none", "[block][errors]") {
  std::vector<float> v(12);
  expect_refusal([] { block_tensor<bfp<8>> t(-1, 4); }, {"narrow::block_tensor", "-1 x 4", "negative"});
  expect_refusal([] { block_tensor<int8> t(3, -2); }, {"3 x -2"});
  block_tensor<bfp<8, per_row>> t(3, 4);
  expect_refusal([&] { t.resize(4, -4); }, {"4 x -4"});
  expect_refusal([&] { t.assign(matrix_view<const float>{v.data(), -3, 4, 4, 1}); }, {"-3 x 4"});
  REQUIRE(t.rows() == 3);
  REQUIRE(t.cols() == 4);
  expect_refusal([&] { (void)quantize<bfp<8>>(v, 3, 5); }, {"12 elements", "3 lines of 5"});
  expect_refusal([&] { (void)quantize<bfp<8>>(v, -3, 4); }, {"-3 x 4"});
}

TEST_CASE("more elements than can be counted", "[block][errors]") {
  constexpr place most = std::numeric_limits<place>::max();
  for (const place rows : {place{1} << 33, most}) {
    CHECK_THROWS_AS((block_tensor<bfp<8>>(rows, place{1} << 31)), std::length_error);
    CHECK_THROWS_AS((fixed_tensor(rows, place{1} << 31, {8, 4})), std::length_error);
  }
  CHECK_THROWS_WITH((block_tensor<bfp<8>>(most, 2)), "narrow::block_tensor: the shape " +
                                                         std::to_string(most) + " x 2 must have at most " +
                                                         std::to_string(most) + " elements");
}

TEST_CASE("shapes that do not match", "[block][errors]") {
  std::vector<float> v(12), short_one(11);
  const block_tensor<bfp<8>> a(3, 4), b(3, 2), d(4, 2);
  const auto c = row_major(v, 3, 2);
  expect_refusal([&] { gemm(a, b, c); }, {"narrow::gemm", "A is 3 x 4", "B is 3 x 2"});
  expect_refusal([&] { gemm(a, d, row_major(v, 3, 3)); }, {"narrow::gemm", "A B is 3 x 2", "C is 3 x 3"});
  expect_refusal([&] { gemm(transposed(a), d, c); }, {"A is 4 x 3", "B is 4 x 2"});
  expect_refusal([&] { gemm(a, row_major(v, 3, 4), c); }, {"A is 3 x 4", "B is 3 x 4"});
  expect_refusal([&] { gemm(row_major(v, 3, 2), a, c); }, {"A is 3 x 2", "B is 3 x 4"});
  expect_refusal([&] { gemv(a, std::span(v).first(3), std::span(v).first(3)); },
                 {"narrow::gemv", "A is 3 x 4", "x is 3"});
  expect_refusal([&] { gemv(a, std::span(v).first(4), std::span(v).first(5)); },
                 {"narrow::gemv", "A is 3 x 4", "y is 5"});
  expect_refusal([&] { dequantize(a, short_one); },
                 {"narrow::dequantize", "the tensor is 3 x 4", "to is 11"});
  expect_refusal([&] { a.dequantize(row_major(v, 4, 3)); }, {"the tensor is 3 x 4", "to is 4 x 3"});
}

TEST_CASE("stored tensors that no assignment gives", "[block][errors]") {
  const auto says_of = [](auto tensor, int mantissa, auto scale, const char* what) {
    using tensor_type = decltype(tensor);
    using element = typename tensor_type::element_type;
    using scale_type = typename tensor_type::scale_type;
    element q;
    if constexpr (std::integral<element>)
      q = static_cast<element>(mantissa);
    else
      q = element::from_bits(static_cast<typename element::bits_type>(mantissa));
    tensor.resize(1, 1);
    const std::string message =
        refusal([&] { tensor.assign_stored(1, 1, {q}, {static_cast<scale_type>(scale)}); });
    INFO(message);
    return message.find(what) != message.npos;
  };
  const block_tensor<bfp<8>> power_of_two;
  CHECK(says_of(power_of_two, -128, 1.0f, "the mantissa -128 must be at most 127 in magnitude"));
  for (const float scale : {3.0f, 0x1p122f, 0.0f, -1.0f, 0x3p-149f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()})
    CHECK(says_of(power_of_two, 1, scale, "must be a power of two from 2^-149 to 2^121"));
  CHECK(says_of(power_of_two, 1, 3e-30f, "the scale 3e-30"));
  CHECK(says_of(power_of_two, 127, 0x1p121f, "nothing was thrown"));
  CHECK(says_of(power_of_two, 127, 0x1p-149f, "nothing was thrown"));

  const block_tensor<narrow::int8> real;
  for (const float scale : {0.1f, 3e38f, -1.0f, 0.0f, std::numeric_limits<float>::infinity()})
    CHECK(says_of(real, 1, scale, "must be positive, of at most 17 bits and at most 2.679"));
  CHECK(says_of(real, 1, 0.125f, "nothing was thrown"));

  const block_tensor<mx<narrow::int8>> integers;
  CHECK(says_of(integers, -128, 1.0f, "the mantissa -2 must be at most 1.984375 in magnitude"));
  CHECK(says_of(integers, -127, 1.0f, "nothing was thrown"));
}

TEST_CASE("what a tensor stores, another takes", "[block]") {
  generator random(5);
  tally count;
  const auto check = [&]<class F>(block_tensor<F>) {
    for (int e = -150; e < 128; ++e) {
      std::vector<float> x(16);
      for (float& v : x) v = std::ldexp(static_cast<float>(random() >> 40) - 0x1p23f, e - 23);
      block_tensor<F> from, to;
      from.assign(row_major(x, 4, 4));
      to.assign_stored(4, 4, {from.mantissas().begin(), from.mantissas().end()},
                       {from.scales().begin(), from.scales().end()});
      bool same = true;
      for (std::ptrdiff_t i = 0; i < 16; ++i) same &= to(i / 4, i % 4) == from(i / 4, i % 4);
      count.expect(same, [&] { return std::to_string(e); });
    }
  };
  check(block_tensor<bfp<2>>{});
  check(block_tensor<bfp<8, per_row>>{});
  check(block_tensor<bfp<16, per_tensor, rounding::upward, exponent::min<>>>{});
  check(block_tensor<basic_int8<per_column>>{});
  check(block_tensor<mx<narrow::int8>>{});
  count.require(5 * 278);
}

TEST_CASE("parts that reach beyond the tensor", "[block][errors]") {
  constexpr place most = std::numeric_limits<place>::max();
  const std::vector<float> v(12, 1.0f);
  block_tensor<bfp<8>> t(3, 4);
  expect_refusal([&] { t.write(2, 0, row_major(v, 2, 4)); },
                 {"narrow::block_tensor", "2 x 4 values at (2, 0)", "3 x 4"});
  expect_refusal([&] { t.write(0, 3, row_major(v, 1, 2)); }, {"1 x 2 values at (0, 3)"});
  expect_refusal([&] { t.write(-1, 0, row_major(v, 1, 1)); }, {"(-1, 0)"});
  expect_refusal([&] { t.write(0, -1, row_major(v, 1, 1)); }, {"(0, -1)"});
  expect_refusal([&] { t.write(most, 0, row_major(v, 1, 1)); }, {"3 x 4"});
  expect_refusal([&] { t.write(0, most, row_major(v, 1, 1)); }, {"3 x 4"});
  expect_refusal([&] { t.write({0, 0, most, 1}, [](place, place) { return 1.0f; }); }, {"3 x 4"});
  for (const auto q : t.mantissas()) REQUIRE(q == 0);
  t.write(3, 4, row_major(v, 0, 0));
  t.write(0, 4, row_major(v, 3, 0));
}

TEST_CASE("clipping values", "[block][errors]") {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> v = {1, -2, 3, 4, -5, 100};
  block_tensor<bfp<8, per_row>> t(1, 1);
  const auto assign = [&](std::vector<float> clips) {
    t.assign(row_major(v, 3, 2), rounding::nearest_even{}, clips);
  };
  expect_refusal([&] { assign({1, 2}); }, {"narrow::block_tensor", "2 clipping values for 3 blocks"});
  expect_refusal([&] { assign({1, 2, 3, 4}); }, {"4 clipping values for 3 blocks"});
  expect_refusal([&] { assign({-0.5f}); }, {"clipping value -0.5"});
  expect_refusal([&] { assign({1, inf, 2}); }, {"clipping value inf"});
  expect_refusal([&] { assign({nan}); }, {"clipping value", "nan"});
  REQUIRE(t.rows() == 1);  // nothing was assigned

  assign({4});
  REQUIRE(t.scales()[0] == 0x1p-4f);
  REQUIRE(t.scales()[2] == 0x1p-4f);
  REQUIRE(t(0, 1) == -2);
  REQUIRE(t(2, 1) == 127 * 0x1p-4f);
  assign({4, 8, 128});
  REQUIRE(t.scales()[1] == 0x1p-3f);
  REQUIRE(t.scales()[2] == 2);
  assign({-0.0f});
  REQUIRE(t.scales()[0] == 0x1p-149f);
  REQUIRE(t.nonfinite() == 0);
  block_tensor<int8> u;
  u.assign(row_major(v, 3, 2), rounding::nearest_even{}, std::vector<float>{12.7f});
  REQUIRE(std::abs(u.scales()[0] - 0.1f) < 1e-6f);
  REQUIRE(mantissa(u, 2, 1) == 127);
  REQUIRE(mantissa(u, 0, 0) == 10);
}
