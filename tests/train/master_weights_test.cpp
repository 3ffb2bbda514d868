#include "narrow/train/master_weights.hpp"

#include <bit>
#include <random>
#include <sstream>
#include <vector>

#include "catch.hpp"
#include "narrow/eigen.hpp"
#include "train/saved_state.hpp"

namespace {

using narrow::fp16;
using narrow::master_weights;
using narrow::rounding::stochastic;

std::vector<float> random_weights(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> result;
  for (int i = 0; i < n; ++i) result.push_back(static_cast<float>(random()) * 0x1p-31f - 1);
  return result;
}

template <class F> bool same_codes(std::span<const F> a, std::span<const F> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](F x, F y) { return x.bits() == y.bits(); });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the view is the rounded master copy", "", narrow::all_formats) {
  using F = TestType;
  const auto initial = random_weights(1000, 1);
  master_weights<F> weights(initial);
  CHECK(std::equal(initial.begin(), initial.end(), weights.master().begin(), weights.master().end()));
  CHECK(weights.size() == 1000);
  CHECK(weights.master_bytes() == 4000);
  CHECK(weights.weights_bytes() == 1000 * sizeof(F));
  const auto mismatches = [&](auto round) {
    int count = weights.weights().size() != initial.size();
    for (std::size_t i = 0; i < initial.size(); ++i) {
      const auto expected = narrow::narrow_cast<F>(weights.master()[i], narrow::at_element(round, i));
      count += weights.weights()[i].bits() != expected.bits();
    }
    return count;
  };
  CHECK(mismatches(narrow::rounding::nearest_even{}) == 0);
  weights.round(narrow::rounding::upward{});
  CHECK(mismatches(narrow::rounding::upward{}) == 0);
  CHECK(mismatches(narrow::rounding::nearest_even{}) > 0);
  weights.round(stochastic{7, 123456789012});
  CHECK(mismatches(stochastic{7, 123456789012}) == 0);
  CHECK(mismatches(stochastic{8, 123456789012}) > 0);

  weights.update([](std::span<float> master) {
    for (float& w : master) w *= 0.5f;
  });
  CHECK(weights.master()[5] == initial[5] * 0.5f);
  CHECK(mismatches(narrow::rounding::nearest_even{}) == 0);
  weights.update([](std::span<float> master) { master[0] = 3; }, stochastic{9});
  CHECK(mismatches(stochastic{9}) == 0);

  std::stringstream stream(narrow_test::saved(weights));
  master_weights<F> restored;
  stream >> restored;
  CHECK(std::equal(weights.master().begin(), weights.master().end(), restored.master().begin()));
  CHECK(same_codes(weights.weights(), restored.weights()));
}

TEST_CASE("a saved state says what its codes mean, without policies") {
  using narrow::specials;
  const auto begins = [](const auto& weights, const std::string& type) {
    return narrow_test::saved(weights).starts_with("narrow::master_weights<" + type + "> {");
  };
  CHECK(begins(master_weights<fp16>(), "floating<5,10,ieee>"));
  CHECK(begins(master_weights<narrow::fp8_e4m3fn>(), "floating<4,3,fn>"));
  CHECK(begins(master_weights<narrow::fp8_e5m2fnuz>(), "floating<5,2,fnuz>"));
  CHECK(begins(master_weights<narrow::fp4_e2m1>(), "floating<2,1,none>"));
  CHECK(begins(master_weights<narrow::floating<5, 10, specials::ieee, stochastic>>(), "floating<5,10,ieee>"));
  CHECK(begins(master_weights<narrow::fixed<8, 4>>(), "fixed<8,4>"));
  CHECK(begins(master_weights<narrow::fixed<8, 4, stochastic, narrow::overflow::wrap>>(), "fixed<8,4>"));
}

TEST_CASE("updates below half a unit of the narrow weight accumulate in the master copy") {
  master_weights<fp16> weights(std::vector<float>{1});
  fp16 alone = 1;
  for (int i = 0; i < 1024; ++i) {
    weights.update([](std::span<float> master) { master[0] += 0x1p-12f; });
    alone += fp16(0x1p-12f);
  }
  CHECK(weights.weights()[0] == 1.25f);
  CHECK(alone == 1);
}

TEST_CASE("until round the view is that of before") {
  master_weights<fp16> weights(std::vector<float>{1, 2});
  weights.master()[0] = 5;
  CHECK(weights.weights()[0] == 1);
  weights.round();
  CHECK(weights.weights()[0] == 5);
}

TEST_CASE("random rounding depends on row and column, not on the storage order") {
  using col_major = Eigen::MatrixXf;
  using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using half_col_major = Eigen::Matrix<fp16, Eigen::Dynamic, Eigen::Dynamic>;
  using half_row_major = Eigen::Matrix<fp16, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto values = random_weights(35, 4);
  const row_major by_rows = Eigen::Map<const row_major>(values.data(), 5, 7);
  const col_major by_columns = by_rows;
  const stochastic round{21, 1000};
  const master_weights<fp16> a(by_rows, round), b(by_columns, round), range(values, round);
  const Eigen::Map<const half_row_major> view_a(a.weights().data(), 5, 7);
  const Eigen::Map<const half_col_major> view_b(b.weights().data(), 5, 7);
  CHECK(Eigen::Map<const col_major>(b.master().data(), 5, 7) == by_columns);
  CHECK(view_a == view_b);
  CHECK(same_codes(a.weights(), range.weights()));
  const master_weights<fp16> other_seed(by_columns, stochastic{22, 1000});
  CHECK(view_b != Eigen::Map<const half_col_major>(other_seed.weights().data(), 5, 7));

  const col_major column = by_columns.col(2);
  const master_weights<fp16> c(column, round), c_range(std::span(column.data(), 5), round);
  CHECK(same_codes(c.weights(), c_range.weights()));

  // The shape is part of the saved state.
  std::stringstream stream(narrow_test::saved(b));
  master_weights<fp16> restored;
  stream >> restored;
  restored.round(stochastic{5});
  CHECK(same_codes(restored.weights(), master_weights<fp16>(by_columns, stochastic{5}).weights()));
  const master_weights<fp16> from_rows(by_rows, stochastic{5});
  CHECK(Eigen::Map<const half_col_major>(restored.weights().data(), 5, 7) ==
        Eigen::Map<const half_row_major>(from_rows.weights().data(), 5, 7));
}

TEST_CASE("a format that rounds stochastically by itself draws from the thread's stream") {
  using random_half = narrow::floating<5, 10, narrow::specials::ieee, stochastic>;
  const auto initial = random_weights(100, 5);
  narrow::seed(3);
  const master_weights<random_half> first(initial), second(initial);
  CHECK_FALSE(same_codes(first.weights(), second.weights()));
  narrow::seed(3);
  CHECK(same_codes(first.weights(), master_weights<random_half>(initial).weights()));
}

TEST_CASE("master weights of nothing") {
  master_weights<fp16> none, empty(std::vector<float>{}), matrix(Eigen::MatrixXf(0, 3));
  none.round();
  matrix.round(stochastic{1});
  CHECK(none.size() == 0);
  CHECK(empty.weights().empty());
  std::stringstream stream(narrow_test::saved(matrix));
  stream >> none;
  CHECK(narrow_test::saved(none) == narrow_test::saved(matrix));
}

TEST_CASE("weights that were moved elsewhere") {
  master_weights<fp16> from(Eigen::MatrixXf::Ones(4, 3));
  const master_weights<fp16> to(std::move(from));
  from.round(stochastic{1});
  CHECK(from.weights().empty());
  CHECK(to.size() == 12);
}

TEST_CASE("the saved state of weights") {
  auto initial = random_weights(6, 6);
  initial[2] = std::bit_cast<float>(0x7fc12345u);  // a payload
  initial[3] = std::bit_cast<float>(0xff800000u);
  initial[4] = std::bit_cast<float>(0x80000001u);
  master_weights<fp16> weights(initial, stochastic{1});
  weights.master()[0] = 0x1.234568p-3f;  // not rounded yet
  const master_weights<fp16> before(random_weights(3, 7));
  narrow_test::check_saved_state(weights, before);

  const std::string text = narrow_test::saved(weights);
  master_weights<narrow::bf16> other_format;
  std::istringstream in(text);
  CHECK_THROWS_AS(in >> other_format, std::runtime_error);
  CHECK(other_format.size() == 0);
  using narrow_test::refused;
  using narrow_test::with_field;
  for (const auto& [field, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"order", "3"},
                                                                  {"order", "-1"},
                                                                  {"rows", "5"},
                                                                  {"rows", "-6"},
                                                                  {"cols", "0"},
                                                                  {"cols", "2"},
                                                                  {"rows", "9223372036854775807"},
                                                                  {"master", "5"},
                                                                  {"master", "999999999999"}}) {
    INFO(field << " " << value);
    CHECK(refused(with_field(text, field, value), before));
  }

  const std::string matrix = narrow_test::saved(master_weights<fp16>(Eigen::MatrixXf::Identity(2, 3)));
  CHECK_FALSE(refused(matrix, before));
  CHECK(refused(with_field(matrix, "cols", "4"), before));
  CHECK(refused(with_field(matrix, "rows", "4"), before));

  using q = narrow::fixed<6, 3>;
  const master_weights<q> fixed(std::vector<float>{-4, 1.5f, -0.125f});
  narrow_test::check_saved_state(fixed, master_weights<q>{});
  const std::string fixed_text = narrow_test::saved(fixed);
  CHECK(fixed_text.find("weights 3 e0 c ff }") != std::string::npos);
  CHECK(
      refused(std::string(fixed_text).replace(fixed_text.find(" e0 ") + 1, 2, "60"), fixed));  // not six bits
  CHECK(refused(std::string(fixed_text).replace(fixed_text.find("3 e0 c ff"), 9, "2 e0 c"), fixed));
  CHECK(refused(fixed_text, master_weights<narrow::fixed<6, 2>>{}));
}
