// The learning rate of the example trainer over a run, against closed forms.
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "training/schedule.hpp"

using namespace narrow_train;

namespace {

schedule_settings settings_of(std::string_view name) {
  schedule_settings settings;
  for (const schedule_kind& kind : schedules())
    if (kind.name == name) settings.kind = &kind;
  REQUIRE(settings.kind->name == name);
  return settings;
}

constexpr run_length length{0.5f, 10, 7};
constexpr std::uint64_t steps = 70;

}  // namespace

TEST_CASE("decay: a geometric series by epochs", "[train][schedule]") {
  auto settings = settings_of("decay");
  CHECK(schedule_settings{}.kind == settings.kind);
  settings.decay = 0.75f;
  const auto rates = make_schedule(settings, length);
  for (std::uint64_t t = 0; t < steps; ++t)
    CHECK(double{rates->rate(t)} == Approx(0.5 * std::pow(0.75, t / 7)).epsilon(1e-6));
}

TEST_CASE("step: a tenth at half and at three quarters, wherever in an epoch", "[train][schedule]") {
  auto settings = settings_of("step");
  const auto rates = make_schedule(settings, length);
  for (std::uint64_t t = 0; t < steps; ++t)
    CHECK(double{rates->rate(t)} == Approx(t < 35 ? 0.5 : t < 53 ? 0.05 : 0.005).epsilon(1e-6));

  settings.milestones = {0.1, 0.2, 0.9};
  settings.factor = 0.5f;
  const auto others = make_schedule(settings, length);
  for (std::uint64_t t = 0; t < steps; ++t)
    CHECK(others->rate(t) == (t < 7 ? 0.5f : t < 14 ? 0.25f : t < 63 ? 0.125f : 0.0625f));

  settings.milestones = {};
  CHECK(make_schedule(settings, length)->rate(steps - 1) == 0.5f);
}

TEST_CASE("cosine: from the whole rate to nothing, step by step", "[train][schedule]") {
  const auto rates = make_schedule(settings_of("cosine"), length);
  const double quarter = std::acos(-1.0) / 2 / double{steps};
  CHECK(rates->rate(0) == 0.5f);
  CHECK(double{rates->rate(35)} == Approx(0.25));
  CHECK(rates->rate(steps) == 0);
  for (std::uint64_t t = 0; t < steps; ++t) {
    const double c = std::cos(quarter * static_cast<double>(t));  // half the angle: cos^2
    CHECK(double{rates->rate(t)} == Approx(0.5 * c * c).epsilon(1e-5));
    CHECK(rates->rate(t) > rates->rate(t + 1));
  }
}

TEST_CASE("plateau: lower after more epochs than patience without a lower loss", "[train][schedule]") {
  auto settings = settings_of("plateau");
  settings.patience = 1;
  settings.factor = 0.5f;
  const auto rates = make_schedule(settings, length);
  struct epoch {
    float loss, rate_after;
  };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const epoch epochs[]{{2, 0.5f},   {1, 0.5f},          {1.5f, 0.5f},   {0.99995f, 0.25f},  // hardly lower
                       {1, 0.25f},  {0.9998f, 0.25f},   {1, 0.25f},     {nan, 0.125f},
                       {2, 0.125f}, {0.9998f, 0.0625f}, {0.5f, 0.0625f}};
  std::uint64_t t = 0;
  for (const auto& [loss, rate_after] : epochs) {
    rates->epoch_done(loss);
    CHECK(rates->rate(++t) == rate_after);
  }

  // Its state: the copy goes on as it does, at any point.
  const auto original = make_schedule(settings, length);
  for (const auto& e : epochs) {
    std::stringstream saved;
    original->save(saved);
    const auto copy = make_schedule(settings, length);
    copy->load(saved);
    const float loss = e.loss;
    original->epoch_done(loss);
    copy->epoch_done(loss);
    CHECK(copy->rate(0) == original->rate(0));
    std::ostringstream a, b;
    original->save(a);
    copy->save(b);
    CHECK(a.str() == b.str());
  }
  std::istringstream cut("abc");
  CHECK_THROWS_AS(original->load(cut), std::runtime_error);
}

TEST_CASE("warm-up: every schedule rises along a straight line at first", "[train][schedule]") {
  for (const schedule_kind& kind : schedules()) {
    INFO(std::string(kind.name));
    auto settings = settings_of(kind.name);
    const auto plain = make_schedule(settings, length);
    settings.warmup = 1.5;
    const auto rates = make_schedule(settings, length);
    for (std::uint64_t t = 0; t < steps; ++t) {
      const double share = std::min(1.0, static_cast<double>(t + 1) / 10.5);
      CHECK(double{rates->rate(t)} == Approx(share * double{plain->rate(t)}).epsilon(1e-6));
    }
    CHECK(rates->rate(10) == plain->rate(10));
    for (int epoch = 0; epoch < 4; ++epoch) rates->epoch_done(1);
    for (int epoch = 0; epoch < 4; ++epoch) plain->epoch_done(1);
    CHECK(rates->rate(30) == plain->rate(30));
  }
}
