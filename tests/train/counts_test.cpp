// Counts near 2^64: none wraps. And shapes whose number of elements would.
#include <limits>
#include <sstream>
#include <vector>

#include "catch.hpp"
#include "narrow/narrow.hpp"
#include "tally.hpp"
#include "train/saved_state.hpp"

namespace {

using narrow::exponent_histogram;
using narrow_test::refused;
using narrow_test::saved;
using narrow_test::with_field;

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
const float infinity = std::bit_cast<float>(0x7f800000u);
const float not_a_number = std::bit_cast<float>(0x7fc00000u);

/// So many ones and twos, zeros, infinities and NaNs.
exponent_histogram histogram_of(std::uint64_t ones, std::uint64_t twos, std::uint64_t zeros,
                                std::uint64_t infinities, std::uint64_t nans) {
  exponent_histogram sample;
  sample.add(std::vector<float>{1, 2, 0, infinity, not_a_number});
  std::string text = with_field(saved(sample), "zeros", std::to_string(zeros));
  text = with_field(text, "infinities", std::to_string(infinities));
  text = with_field(text, "nans", std::to_string(nans));
  const std::string bins = "bins 2 0 1 1 1 ";
  text.replace(text.find(bins), bins.size(),
               "bins 2 0 " + std::to_string(ones) + " 1 " + std::to_string(twos) + " ");
  std::istringstream in(text);
  exponent_histogram result;
  in >> result;
  return result;
}

/// a + b for counts, by long double, which has 64 bits.
std::uint64_t added(std::uint64_t a, std::uint64_t b) {
  const long double sum = static_cast<long double>(a) + static_cast<long double>(b);
  return sum >= 0x1p64L ? most : static_cast<std::uint64_t>(sum);
}

const std::vector<std::uint64_t> counts{1, 5, most / 2, most / 2 + 1, most / 2 + 2, most - 5, most - 1, most};

}  // namespace

TEST_CASE("the counts of a histogram end at 2^64 - 1") {
  test::tally tally;
  for (const std::uint64_t a : counts)
    for (const std::uint64_t b : counts) {
      const auto describe = [&] { return test::text(a, b); };
      exponent_histogram x = histogram_of(a, b, a, b, a);
      const exponent_histogram y = histogram_of(b, b, b, a, a);
      tally.expect(
          x.count(0) == a && x.count(1) == b && x.zeros() == a && x.infinities() == b && x.nans() == a,
          describe);
      tally.expect(x.nonfinite() == added(a, b), describe);
      tally.expect(x.total() == added(added(added(a, b), added(a, b)), a), describe);
      const long double all = static_cast<long double>(a) + static_cast<long double>(b);
      const auto share = static_cast<double>(static_cast<long double>(a) / all);
      tally.expect(std::abs(x.share_below(1) - share) <= 0x1p-51, describe);
      tally.expect(std::abs(x.share_above(1) - (1 - share)) <= 0x1p-51, describe);
      tally.expect(x.share_below(2) == 1 && x.share_above(0) == 1, describe);

      x += y;
      tally.expect(x.count(0) == added(a, b) && x.count(1) == added(b, b) && x.zeros() == added(a, b) &&
                       x.infinities() == added(a, b) && x.nans() == added(a, a),
                   describe);
      x.add(std::vector<float>{1, 1, 1, 2, 2, 2, 0, 0, 0, infinity, infinity, not_a_number, not_a_number});
      tally.expect(x.count(0) == added(added(a, b), 3) && x.count(1) == added(added(b, b), 3) &&
                       x.zeros() == added(added(a, b), 3) && x.infinities() == added(added(a, b), 2) &&
                       x.nans() == added(added(a, a), 2),
                   describe);
      exponent_histogram restored;
      std::istringstream in(saved(x));
      in >> restored;
      tally.expect(restored == x, describe);
      std::ostringstream picture;
      x.print(picture);
      tally.expect(picture.str().find("100.00 %") == std::string::npos, describe);
    }
  tally.require(10 * counts.size() * counts.size());

  exponent_histogram doubled = histogram_of(1, 1, 1, 1, 1);
  for (int i = 0; i < 70; ++i) doubled += doubled;
  CHECK(doubled.count(0) == most);
  CHECK(doubled.total() == most);
  CHECK(doubled.share_below(1) == 0.5);
}

TEST_CASE("counts of 2^64 are no saved state") {
  exponent_histogram histogram;
  histogram.add(std::vector<float>{1});
  const std::string text = saved(histogram), beyond = "18446744073709551616";
  for (const char* field : {"zeros", "infinities", "nans"})
    CHECK(refused(with_field(text, field, beyond), histogram));
  std::string bins = text;
  CHECK(refused(bins.replace(bins.find("bins 1 0 1 "), 11, "bins 1 0 " + beyond + " "), histogram));
}

TEST_CASE("a count of steps that leaves no room for more is no saved state") {
  test::tally tally;
  const auto check = [&]<class T>(const T& object, std::initializer_list<const char*> fields) {
    for (const char* field : fields)
      for (const std::uint64_t count : {most, most - 1, most / 2, most / 4 + 1025}) {
        const std::string text = with_field(saved(object), field, std::to_string(count));
        tally.expect(text != saved(object), [&] { return test::text(field, "is not there"); });
        tally.expect(refused(text, object), [&] { return test::text(field, count); });
      }
  };
  const std::vector<float> gradient{1, -2, 3}, overflowing{1, infinity};
  std::vector<float> out;

  narrow::loss_scaler scaler;
  scaler.unscale(overflowing, out, "layer");
  scaler.update();
  scaler.unscale(gradient, out, "layer");
  check(scaler, {"steps", "skipped", "unscaled"});
  const std::string one_overflow = "overflows_by_layer 1 5:layer 1";
  std::string text = saved(scaler);
  REQUIRE(text.find(one_overflow) != std::string::npos);
  CHECK(refused(text.replace(text.find(one_overflow), one_overflow.size(),
                             "overflows_by_layer 1 5:layer 18446744073709551615"),
                scaler));

  narrow::precision_switch formats;
  static_cast<void>(formats.observe("layer", gradient, gradient, 1));
  check(formats, {"steps", "skipped_losses", "observed", "skipped", "switches", "last_step"});

  narrow::muppet_switch muppet;
  muppet.observe("layer", gradient);
  check(muppet, {"epochs", "observed", "skipped", "last_epoch"});

  narrow::adaptive_clip clip;
  clip.observe(gradient);
  check(clip, {"steps"});

  narrow::cost_model model;
  check(model, {"steps"});
  tally.require((3 + 6 + 4 + 1 + 1) * 4 * 2);
}

TEST_CASE("sums of what layers and channels counted end at 2^64 - 1") {
  const std::vector<float> gradient{1, -2, 3, 1000};
  narrow::adaptive_clip clip({.granularity = narrow::clip_granularity::per_channel});
  clip.observe(narrow::row_major(gradient, 2, 2));
  std::string text = saved(clip);
  const auto at = text.find("clipped 2 ");
  REQUIRE(at != std::string::npos);
  text.replace(at, text.find(" }") - at, "clipped 2 18446744073709551615 3");
  std::istringstream in(text);
  in >> clip;
  CHECK(clip.clipped_by_channel()[0] == most);
  CHECK(clip.clipped() == most);
}

TEST_CASE("shapes of more elements than can be counted are refused") {
  constexpr std::ptrdiff_t half = std::ptrdiff_t{1} << 32,
                           longest = std::numeric_limits<std::ptrdiff_t>::max();
  const std::pair<std::ptrdiff_t, std::ptrdiff_t> shapes[] = {
      {half, half},       {half, 2 * half},           {longest, 2},         {2, longest},
      {longest, longest}, {3 * half, longest / half}, {half / 2, 2 * half}, {longest / 2 + 1, 2}};
  std::vector<float> four(4);
  std::vector<narrow::fp16> halves(4);
  test::tally tally;
  for (const auto& shape : shapes) {
    const std::ptrdiff_t r = shape.first, c = shape.second;
    const auto check = [&](const char* what, auto use) {
      bool thrown = false;
      try {
        use();
      } catch (const std::logic_error&) {  // std::invalid_argument and std::length_error
        thrown = true;
      }
      tally.expect(thrown, [&] { return test::text(what, r, c); });
    };
    check("row_major", [&] { static_cast<void>(narrow::row_major(four, r, c)); });
    check("column_major", [&] { static_cast<void>(narrow::column_major(four, r, c)); });
    check("quantize", [&] { static_cast<void>(narrow::quantize<narrow::bfp<8>>(four, r, c)); });
    check("quantize of fp16", [&] { static_cast<void>(narrow::quantize<narrow::int8>(halves, r, c)); });
    check("quantize of a view", [&] {
      static_cast<void>(narrow::quantize<narrow::int8>(narrow::matrix_view<float>{four.data(), r, c, 0, 0}));
    });
    check("block_tensor", [&] { narrow::block_tensor<narrow::bfp<8>> t(r, c); });
    check("block_tensor in tiles", [&] { narrow::block_tensor<narrow::bfp<8, narrow::tile<8, 8>>> t(r, c); });
    check("fixed_tensor", [&] { narrow::fixed_tensor t(r, c, narrow::fixed_format{8, 4}); });
  }
  tally.require(std::size(shapes) * 8);
}
