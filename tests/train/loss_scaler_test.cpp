// The reference machines below restate the rules of GradScaler and Megatron-LM as those programs have them.
#include "narrow/train/loss_scaler.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "catch.hpp"
#include "narrow/narrow.hpp"
#include "refusal.hpp"
#include "train/saved_state.hpp"
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace {

using narrow::fp16;
using narrow::loss_scaler;
using narrow::loss_scaler_options;
using narrow_test::refused;
using narrow_test::saved;
using narrow_test::with_field;

const float infinity = std::bit_cast<float>(0x7f800000u);
const std::array not_numbers = {infinity, -infinity, std::bit_cast<float>(0x7fc00000u),
                                std::bit_cast<float>(0xff800001u), std::bit_cast<float>(0x7fffffffu)};

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

enum class gradients { finite, infinite };

bool unscale(loss_scaler& scaler, gradients kind, std::string_view layer = {}) {
  const std::array<float, 2> grads = {1, kind == gradients::finite ? 2 : infinity};
  std::array<float, 2> out{};
  return scaler.unscale(grads, out, layer);
}

void step(loss_scaler& scaler, gradients kind, std::string_view layer = {}) {
  unscale(scaler, kind, layer);
  scaler.update();
}

void steps(loss_scaler& scaler, int n, gradients kind) {
  for (int i = 0; i < n; ++i) step(scaler, kind);
}

std::string message_of(const loss_scaler_options& options) {
  return test::refusal([&] { loss_scaler scaler(options); });
}

}  // namespace

TEST_CASE("a default scaler starts as GradScaler does") {
  const loss_scaler scaler;
  CHECK(scaler.scale() == 65536);
  CHECK(scaler.options().growth_factor == 2);
  CHECK(scaler.options().backoff_factor == 0.5);
  CHECK(scaler.options().growth_interval == 2000);
  CHECK(scaler.options().hysteresis == 1);
  CHECK(scaler.steps() == 0);
  CHECK(scaler.skipped() == 0);
  CHECK_FALSE(scaler.overflowed());
  CHECK_FALSE(scaler.at_floor());
}

TEST_CASE("the scale follows a trajectory computed by hand") {
  loss_scaler scaler({.init_scale = 1024, .growth_factor = 3, .backoff_factor = 0.25, .growth_interval = 3});
  using enum gradients;
  struct row {
    gradients kind;
    float scale_after;
  };
  const row rows[] = {
      {finite, 1024},  {finite, 1024},  {finite, 3072},  // three clean steps: times 3
      {finite, 3072},  {infinite, 768},                  // a quarter, and the interval starts again
      {finite, 768},   {finite, 768},   {finite, 2304},  //
      {infinite, 576}, {infinite, 144}, {infinite, 36},  //
      {finite, 36},    {finite, 36},    {infinite, 9},   // two clean steps are not three
      {finite, 9},     {finite, 9},     {finite, 27},    //
      {finite, 27},    {finite, 27},    {finite, 81},
  };
  for (const auto& [kind, scale_after] : rows) {
    step(scaler, kind);
    CHECK(scaler.scale() == scale_after);
  }
  CHECK(scaler.steps() == std::size(rows));
  CHECK(scaler.skipped() == 5);
}

TEST_CASE("the default interval is 2000 clean steps") {
  loss_scaler scaler;
  steps(scaler, 1999, gradients::finite);
  CHECK(scaler.scale() == 65536);
  step(scaler, gradients::finite);
  CHECK(scaler.scale() == 131072);
}

TEST_CASE("the scale has GradScaler's bits after every step") {
  struct factors {
    double growth, backoff;
    int interval;
    unsigned one_overflow_in;
  };
  const factors runs[] = {
      {2, 0.5, 5, 9}, {1.1, 0.7, 3, 8}, {1.001, 0.9999, 1, 4}, {7.3, 1e-3, 4, 30}, {2, 0.5, 2, 100}};
  std::mt19937 random(17);
  int compared = 0, refused_growths = 0;
  for (const auto& run : runs) {
    loss_scaler scaler(
        {.growth_factor = run.growth, .backoff_factor = run.backoff, .growth_interval = run.interval});
    float scale = 65536;
    int tracker = 0;
    int mismatches = 0;
    for (int i = 0; i < 20000; ++i) {
      const bool overflow = random() % run.one_overflow_in == 0;
      step(scaler, overflow ? gradients::infinite : gradients::finite);
      if (overflow) {
        scale = static_cast<float>(static_cast<double>(scale) * run.backoff);
        tracker = 0;
      } else if (++tracker == run.interval) {
        const double grown = static_cast<double>(scale) * run.growth;
        if (grown < 0x1.ffffffp127)  // rounds to a finite float
          scale = static_cast<float>(grown);
        else
          ++refused_growths;
        tracker = 0;
      }
      mismatches += bits(scaler.scale()) != bits(scale);
      if (scale < 0x1p-120f) break;  // the floor is another test
      ++compared;
    }
    CHECK(mismatches == 0);
  }
  CHECK(compared > 60000);
  CHECK(refused_growths > 100);
}

TEST_CASE("growth beyond float or max_scale is refused and the interval starts again") {
  loss_scaler at_top({.init_scale = 0x1p127f, .growth_interval = 2});
  step(at_top, gradients::finite);
  CHECK(saved(at_top).find(" growth_tracker 1 ") != std::string::npos);
  step(at_top, gradients::finite);
  CHECK(at_top.scale() == 0x1p127f);
  CHECK(saved(at_top).find(" growth_tracker 0 ") != std::string::npos);

  loss_scaler limited({.init_scale = 8, .growth_interval = 1, .max_scale = 40});
  step(limited, gradients::finite);
  step(limited, gradients::finite);
  CHECK(limited.scale() == 32);
  step(limited, gradients::finite);
  CHECK(limited.scale() == 32);
}

TEST_CASE("hysteresis lets the first overflows pass") {
  loss_scaler scaler({.init_scale = 1024, .growth_interval = 3, .hysteresis = 3});
  const auto scale_after = [&](gradients kind) {
    step(scaler, kind);
    return scaler.scale();
  };
  using enum gradients;
  CHECK(scale_after(infinite) == 1024);
  CHECK(scale_after(finite) == 1024);
  CHECK(scale_after(infinite) == 1024);  // clean steps short of an interval give nothing back
  CHECK(scale_after(infinite) == 512);
  CHECK(scale_after(infinite) == 256);
  CHECK(scale_after(finite) == 256);
  CHECK(scale_after(finite) == 256);
  CHECK(scale_after(finite) == 512);
  CHECK(scale_after(infinite) == 512);  // an interval gives all back
  CHECK(scale_after(infinite) == 512);
  CHECK(scale_after(infinite) == 256);
  CHECK(scaler.skipped() == 7);
}

TEST_CASE("hysteresis follows Megatron-LM") {
  std::mt19937 random(5);
  for (const int hysteresis : {1, 2, 5}) {
    loss_scaler scaler(
        {.init_scale = 0x1p20f, .growth_interval = 4, .min_scale = 4, .hysteresis = hysteresis});
    float scale = 0x1p20f;
    int growth_tracker = 0, hysteresis_tracker = hysteresis, mismatches = 0;
    for (int i = 0; i < 5000; ++i) {
      const bool overflow = random() % 5 == 0;
      step(scaler, overflow ? gradients::infinite : gradients::finite);
      if (overflow) {
        growth_tracker = 0;
        if (--hysteresis_tracker <= 0) scale = std::fmax(scale * 0.5f, 4.0f);
      } else if (++growth_tracker == 4) {
        growth_tracker = 0;
        hysteresis_tracker = hysteresis;
        if (scale < 0x1p127f) scale *= 2;
      }
      mismatches += bits(scaler.scale()) != bits(scale);
    }
    CHECK(mismatches == 0);
  }
}

TEST_CASE("the scale stays at its floor and says so") {
  loss_scaler scaler({.init_scale = 6, .growth_interval = 1, .min_scale = 2});
  step(scaler, gradients::infinite);
  CHECK(scaler.scale() == 3);
  CHECK_FALSE(scaler.at_floor());
  step(scaler, gradients::infinite);
  CHECK(scaler.scale() == 2);
  CHECK(scaler.at_floor());
  steps(scaler, 10, gradients::infinite);
  CHECK(scaler.scale() == 2);
  CHECK(scaler.skipped() == 12);
  step(scaler, gradients::finite);
  CHECK(scaler.scale() == 4);
  CHECK_FALSE(scaler.at_floor());

  loss_scaler collapsing;
  steps(collapsing, 1000, gradients::infinite);
  CHECK(collapsing.scale() == 0x1p-126f);
  CHECK(collapsing.at_floor());
  std::vector<float> out;
  CHECK(collapsing.unscale(std::vector<float>{0x1p-126f}, out));
  CHECK(out[0] == 1);
}

TEST_CASE("a static scale never moves and still reports overflows") {
  loss_scaler scaler = narrow::static_scale(1000);
  std::vector<float> out;
  for (int i = 0; i < 10001; ++i) {
    const bool finite = scaler.unscale(std::vector<float>{i % 3 == 0 ? infinity : 1.0f}, out);
    if (finite == (i % 3 == 0)) FAIL("step " << i);
    scaler.update();
  }
  CHECK(scaler.scale() == 1000);
  CHECK(scaler.skipped() == 3334);
  CHECK(out[0] == static_cast<float>(1.0 / 1000.0));
  CHECK(narrow::static_scale(1).scale() == 1);
  CHECK_THROWS_WITH(narrow::static_scale(0), Catch::StartsWith("narrow::static_scale: scale is 0"));
  CHECK_THROWS_AS(narrow::static_scale(infinity), std::invalid_argument);
}

TEST_CASE("unscaling multiplies by the reciprocal rounded to float") {
  for (const float scale : {1.0f, 65536.0f, 3.0f, 1e-3f, 12345.678f, 0x1p127f, 0x1p-126f}) {
    loss_scaler scaler = narrow::static_scale(scale);
    const auto inverse = static_cast<float>(1.0 / static_cast<double>(scale));
    std::mt19937 random(3);
    std::vector<float> grads(3000), out;
    for (float& g : grads) {  // no result is subnormal, which the reference under -ffast-math would flush
      const auto word = static_cast<std::uint32_t>(random());
      const std::uint32_t exponent = 127 + (word >> 8) % 60 - 30;
      g = std::bit_cast<float>((word & 0x807fffffu) | exponent << 23);
      if (!(std::fabs(g * inverse) > 0x1p-126f)) g = 0;
    }
    CHECK(scaler.unscale(grads, out));
    REQUIRE(out.size() == grads.size());
    int mismatches = 0;
    for (std::size_t i = 0; i < grads.size(); ++i) mismatches += bits(out[i]) != bits(grads[i] * inverse);
    CHECK(mismatches == 0);

    std::vector<float> in_place = grads;
    CHECK(scaler.unscale(in_place, in_place));
    CHECK(in_place == out);
  }
}

TEMPLATE_LIST_TEST_CASE("every code of a format unscales to its value, and finite means finite", "",
                        narrow::all_formats) {
  using T = TestType;
  loss_scaler scaler({.init_scale = 4});
  std::vector<T> all;
  int wrong = 0, infinite = 0;
  for (std::uint32_t code = 0; code < (1u << T::layout::width); ++code) {
    const T x = T::from_bits(static_cast<typename T::bits_type>(code));
    all.push_back(x);
    std::array<float, 1> out{};
    const bool finite = scaler.unscale(std::span(&all.back(), 1), out);
    wrong += finite != isfinite(x);
    infinite += !finite;
    // 2^-126 and above: bf16's subnormals divided by 4 are subnormal floats, checked under flush-to-zero
    // below.
    if (finite && (x >= 0x1p-124f || x <= -0x1p-124f))
      wrong += bits(out[0]) != bits(static_cast<float>(x) * 0.25f);
  }
  CHECK(wrong == 0);
  CHECK((infinite > 0) == T::layout::has_nan);
  std::vector<float> out;
  CHECK(scaler.unscale(all, out) == !T::layout::has_nan);
  CHECK(out.size() == all.size());
}

TEST_CASE("gradients in double and in fixed point") {
  loss_scaler scaler = narrow::static_scale(8);
  std::vector<float> out;
  CHECK(scaler.unscale(std::vector<double>{8, -24, 1e-3}, out));
  CHECK(out == std::vector<float>{1, -3, 1e-3f / 8});
  CHECK_FALSE(scaler.unscale(std::vector<double>{1, 1e300}, out));  // not a float
  using q4 = narrow::fixed<8, 4>;
  CHECK(scaler.unscale(std::vector<q4>{q4(1.5), q4(-8)}, out));
  CHECK(out == std::vector<float>{0.1875f, -1});
  using q30 = narrow::fixed<32, 30>;
  CHECK(scaler.unscale(std::vector<q30>{q30::from_bits(1), q30(-2)}, out));
  CHECK(out == std::vector<float>{0x1p-33f, -0.25f});
}

TEST_CASE("infinities and NaNs are seen at every place") {
  int cases = 0, wrong = 0;
  for (const std::size_t size : std::initializer_list<std::size_t>{1, 2, 7, 16, 33, 1023, 1024, 1025, 2100})
    for (std::size_t place = 0; place < size; ++place)
      for (const float x : not_numbers) {
        loss_scaler scaler;
        std::vector<float> grads(size, std::numeric_limits<float>::max()), out;
        wrong += !scaler.unscale(grads, out) || scaler.overflowed();
        grads[place] = x;
        wrong += scaler.unscale(grads, out) || !scaler.overflowed();
        wrong += narrow::detail::is_finite(out[place]);
        scaler.update();
        wrong += scaler.skipped() != 1 || scaler.overflowed();
        ++cases;
      }
  CHECK(wrong == 0);
  CHECK(cases == 5 * (1 + 2 + 7 + 16 + 33 + 1023 + 1024 + 1025 + 2100));
}

TEST_CASE("no gradients at all are finite") {
  loss_scaler scaler({.growth_interval = 1});
  std::vector<float> out(3);
  CHECK(scaler.unscale(std::vector<fp16>{}, out));
  CHECK(out.empty());
  CHECK(scaler.unscale(std::span<const float>{}, std::span<float>{}));
  scaler.update();
  CHECK(scaler.scale() == 131072);
}

#if defined(__SSE__)
TEST_CASE("flush-to-zero of the caller changes no bit and is there afterwards") {
  const unsigned control = _mm_getcsr();
  const std::vector<float> grads = {0x1p-126f, 0x1.8p-149f, std::bit_cast<float>(1u), -0x1p-148f, 0x1p-125f};
  loss_scaler scaler = narrow::static_scale(0.5f), quarter = narrow::static_scale(4);
  std::vector<float> doubled, quartered;
  _mm_setcsr(control | 0x8040);  // FTZ and DAZ
  CHECK(scaler.unscale(grads, doubled));
  CHECK(quarter.unscale(grads, quartered));
  const unsigned after = _mm_getcsr();
  _mm_setcsr(control);
  CHECK((after & 0x8040u) == 0x8040u);
  const auto codes = [](const std::vector<float>& values) {
    std::vector<std::uint32_t> result;
    for (const float x : values) result.push_back(bits(x));
    return result;
  };
  CHECK(codes(doubled) == std::vector<std::uint32_t>{0x01000000, 4, 2, 0x80000004, 0x01800000});
  CHECK(codes(quartered) == std::vector<std::uint32_t>{0x00200000, 0, 0, 0x80000000, 0x00400000});
}
#endif

TEST_CASE("a step is skipped if any array of it overflowed") {
  loss_scaler scaler;
  CHECK(unscale(scaler, gradients::finite));
  CHECK_FALSE(unscale(scaler, gradients::infinite));
  CHECK(unscale(scaler, gradients::finite));  // of this array alone
  CHECK(scaler.overflowed());
  CHECK(scaler.scale() == 65536);  // only update moves it
  scaler.update();
  CHECK(scaler.scale() == 32768);
  CHECK(scaler.skipped() == 1);
  CHECK(scaler.steps() == 1);
}

TEST_CASE("a scale that is set counts clean steps anew") {
  const std::vector<float> clean{1.0f};
  std::vector<float> out;
  loss_scaler scaler({.init_scale = 8, .growth_interval = 3, .min_scale = 2, .max_scale = 1024});
  const auto step = [&] {
    scaler.unscale(clean, out);
    CHECK(out[0] == 1 / scaler.scale());
    scaler.update();
    return scaler.scale();
  };
  CHECK(step() == 8);
  CHECK(step() == 8);
  scaler.set_scale(64);
  CHECK(scaler.scale() == 64);
  CHECK(step() == 64);
  CHECK(step() == 64);
  CHECK(step() == 128);
  CHECK(scaler.steps() == 5);

  for (const float wrong : {1.0f, 2048.0f, 0.0f, -4.0f, std::numeric_limits<float>::quiet_NaN()})
    CHECK_THROWS_WITH(scaler.set_scale(wrong), Catch::Matchers::Contains("scale"));
  CHECK(scaler.scale() == 128);
  scaler.unscale(clean, out);
  CHECK_THROWS_AS(scaler.set_scale(4), std::logic_error);
  CHECK(scaler.scale() == 128);
}

TEST_CASE("update without gradients is an error and changes nothing") {
  loss_scaler scaler;
  CHECK_THROWS_AS(scaler.update(), std::logic_error);
  step(scaler, gradients::infinite);
  const std::string before = saved(scaler);
  CHECK_THROWS_WITH(scaler.update(),
                    "narrow::loss_scaler::update: no gradients were unscaled since the last update");
  CHECK(saved(scaler) == before);
}

TEST_CASE("the report names the layers that overflowed, once a step") {
  using enum gradients;
  loss_scaler scaler;
  CHECK(scaler.overflows_by_layer().empty());
  CHECK(scaler.last_overflow().step == 0);

  unscale(scaler, finite, "conv1");
  unscale(scaler, infinite, "fc 1");
  unscale(scaler, infinite, "fc 1");  // weights and bias of one layer are one overflow of it
  unscale(scaler, infinite, "fc2");
  scaler.update();
  CHECK(scaler.last_overflow() == loss_scaler::overflow_record{1, {"fc 1", "fc2"}});

  step(scaler, finite, "fc2");
  CHECK(scaler.last_overflow().step == 1);
  CHECK(scaler.last_overflow().step != scaler.steps());

  step(scaler, infinite, "fc2");
  step(scaler, infinite);
  CHECK(scaler.last_overflow() == loss_scaler::overflow_record{4, {""}});
  using counts = std::map<std::string, std::uint64_t, std::less<>>;
  CHECK(scaler.overflows_by_layer() == counts{{"", 1}, {"fc 1", 1}, {"fc2", 2}});
}

TEST_CASE("options out of range are named with their value and range") {
  const auto nan = static_cast<double>(std::bit_cast<float>(0x7fc00000u));
  CHECK(message_of({.growth_factor = 0.5}) ==
        "narrow::loss_scaler: growth_factor is 0.5, must be in [1, 3.4028234663852886e+38]");
  CHECK(message_of({.growth_factor = nan}).find("growth_factor is nan") != std::string::npos);
  CHECK(message_of({.growth_factor = static_cast<double>(infinity)}).find("growth_factor is inf") !=
        std::string::npos);
  CHECK(message_of({.backoff_factor = 0}) ==
        "narrow::loss_scaler: backoff_factor is 0, must be in [1.1754943508222875e-38, 1]");
  CHECK(message_of({.backoff_factor = 1.5}).find("backoff_factor is 1.5") != std::string::npos);
  CHECK(message_of({.growth_interval = 0}) ==
        "narrow::loss_scaler: growth_interval is 0, must be in [1, 2147483647]");
  CHECK(message_of({.hysteresis = -2}) ==
        "narrow::loss_scaler: hysteresis is -2, must be in [1, 2147483647]");
  CHECK(message_of({.min_scale = 0}).find("min_scale is 0, ") != std::string::npos);
  CHECK(message_of({.min_scale = 8, .max_scale = 4}) ==
        "narrow::loss_scaler: min_scale is 8, must be in [1.1754943508222875e-38, 4]");
  CHECK(message_of({.max_scale = infinity}).find("max_scale is inf") != std::string::npos);
  // Of several options the one that bounds the others is named.
  CHECK(message_of({.max_scale = -1}).find("max_scale is -1") != std::string::npos);
  CHECK(message_of({.max_scale = std::bit_cast<float>(0x7fc00000u)}).find("max_scale is nan") !=
        std::string::npos);
  CHECK(message_of({.growth_interval = std::numeric_limits<int>::min()})
            .find("growth_interval is -2147483648") != std::string::npos);
  CHECK(message_of({.init_scale = 3, .min_scale = 4, .max_scale = 8}) ==
        "narrow::loss_scaler: init_scale is 3, must be in [4, 8]");
  CHECK(message_of({.init_scale = 9, .min_scale = 4, .max_scale = 8}).find("init_scale is 9") !=
        std::string::npos);
  CHECK(message_of({.init_scale = std::bit_cast<float>(0x7fc00000u)}).find("init_scale is nan") !=
        std::string::npos);
}

TEST_CASE("an output of another size is refused and the step is as it was") {
  loss_scaler scaler;
  std::array<float, 3> out{};
  CHECK_THROWS_WITH(scaler.unscale(std::vector<float>{1, infinity}, out),
                    "narrow::loss_scaler::unscale: shapes do not match: grads is 2, out is 3");
  CHECK_THROWS_AS(scaler.update(), std::logic_error);
}

TEST_CASE("a restored scaler goes on as the saved one would have") {
  using enum gradients;
  loss_scaler_options options{.init_scale = 1000,
                              .growth_factor = 1.7,
                              .backoff_factor = 0.3,
                              .growth_interval = 7,
                              .min_scale = 3,
                              .max_scale = 1e30f,
                              .hysteresis = 2};
  loss_scaler scaler(options), restored(options);
  std::mt19937 random(11);
  int differences = 0;
  for (int i = 0; i < 500; ++i) {
    const auto kind = random() % 4 == 0 ? infinite : finite;
    const std::string layer = "layer " + std::to_string(random() % 3);
    unscale(scaler, kind, layer);
    unscale(restored, kind, layer);
    if (i % 10 == 3) {  // in the middle of a step, and of an interval
      restored = loss_scaler();
      std::stringstream stream(saved(scaler));
      stream >> restored;
    }
    scaler.update();
    restored.update();
    differences += !(scaler == restored) || saved(scaler) != saved(restored);
  }
  CHECK(differences == 0);
  CHECK(scaler.skipped() > 50);
}

TEST_CASE("the saved state of a scaler") {
  loss_scaler scaler({.init_scale = 777, .growth_interval = 5, .hysteresis = 3});
  step(scaler, gradients::infinite, "a layer with spaces } \n and 7:more");
  step(scaler, gradients::finite, "x");
  step(scaler, gradients::infinite);
  unscale(scaler, gradients::infinite, "pending");
  narrow_test::check_saved_state(scaler, loss_scaler{});

  const std::string text = saved(scaler);
  const loss_scaler before({.init_scale = 12});
  int checked = 0;
  for (const auto& [field, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"scale", "0"},
                                                                  {"scale", "7f800000"},
                                                                  {"scale", "7fc00000"},
                                                                  {"scale", "c7800000"},
                                                                  {"scale", "1478000000"},
                                                                  {"scale", "g"},
                                                                  {"scale", "-1"},
                                                                  {"growth_tracker", "5"},
                                                                  {"growth_tracker", "-1"},
                                                                  {"hysteresis_left", "0"},
                                                                  {"hysteresis_left", "4"},
                                                                  {"skipped", "4"},
                                                                  {"steps", "1"},
                                                                  {"steps", "-1"},
                                                                  {"steps", "99999999999999999999"},
                                                                  {"last_overflow_step", "4"},
                                                                  {"growth_interval", "0"},
                                                                  {"growth_interval", "5.0"},
                                                                  {"init_scale", "0"},
                                                                  {"backoff_factor", "4000000000000000"},
                                                                  {"unscaled", "0"},
                                                                  {"overflowing_layers", "99999999999"},
                                                                  {"overflows_by_layer", "1"}}) {
    INFO(field << " " << value);
    REQUIRE(with_field(text, field, value) != text);
    CHECK(refused(with_field(text, field, value), before));
    ++checked;
  }
  CHECK(checked == 23);
}
