// Quantising what was dequantised changes no value.
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

/// quantise, dequantise, quantise, dequantise: the second pass changes no value.
template <class F> void check_round_trip(tally& count, int passes) {
  generator random(2024);
  for (int pass = 0; pass < passes; ++pass)
    for (const extent& size : extents)
      for (int kind = 0; kind < kinds_of_values; ++kind) {
        const auto values = values_of_kind(kind, static_cast<std::size_t>(size.rows * size.cols), random);
        const auto once = dequantized(quantize<F>(values, size.rows, size.cols));
        const auto twice = dequantized(quantize<F>(once, size.rows, size.cols));
        const bool same = std::memcmp(once.data(), twice.data(), once.size() * sizeof(float)) == 0;
        count.expect(same, [&] { return text(name_of<F>(), "kind", kind, "first value", values[0]); });
      }
}
inline constexpr std::uint64_t round_trips = std::size(extents) * kinds_of_values;

}  // namespace

TEST_CASE("quantising what was dequantised changes no value", "[block]") {
  tally count;
  for_each_max_format<rounding::nearest_even>([&]<class F>() { check_round_trip<F>(count, 20); });
  count.require(max_formats * 20 * round_trips);
}

TEST_CASE("nor under any other rounding", "[block]") {
  tally count;
  for_each_type<rounding_modes>([&]<class Round>() {
    check_round_trip<bfp<2, per_row, Round>>(count, 50);
    check_round_trip<bfp<16, per_tensor, Round>>(count, 50);
    check_round_trip<basic_int8<tile<2, 3>, Round>>(count, 50);
  });
  count.require(std::tuple_size_v<rounding_modes> * 3 * 50 * round_trips);
}

TEST_CASE("int8: no scale is changed by a second pass, from the smallest float to the largest", "[block]") {
  tally count;
  generator random(2024);
  const auto check = [&]<class Round>(std::uint32_t bits, const Round&) {
    const std::vector<float> values = {std::bit_cast<float>(bits)};
    const auto first = quantize<basic_int8<per_tensor, Round>>(values, 1, 1);
    const auto second = quantize<basic_int8<per_tensor, Round>>(dequantized(first), 1, 1);
    count.expect(first(0, 0) == second(0, 0), [&] { return text(name_of<Round>(), values[0], first(0, 0)); });
  };
  for (std::uint32_t bits = 0; bits < 0x7f80'0000u;
       bits += 1 + static_cast<std::uint32_t>(random() % 40'000)) {
    check(bits, rounding::nearest_even{});
    check(bits, rounding::toward_zero{});
    check(bits % 70'000, rounding::nearest_even{});
    check(bits % 70'000, rounding::upward{});
  }
  count.require_at_least(4 * 100'000);
}
