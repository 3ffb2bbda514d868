// How the example trainer measures its own steps.
#include <sstream>

#include "catch.hpp"
#include "report/step_times.hpp"
#include "tensor/stopwatch.hpp"

using namespace narrow_train;

TEST_CASE("every format's step is timed, and what it consists of", "[train][steps]") {
  const std::vector<int> widths{32, 24, 300};
  const dataset batch = random_images(widths, 8);
  CHECK(batch.count() == 8);
  CHECK(batch.image(7).size() == 32);
  CHECK(batch.classes == 300);
  const model network = dense_layers(widths);
  CHECK(network.layers.size() == 2);  // and the last, which every network has

  training_settings settings;
  settings.network = &network;
  settings.step.rate = settings.optimizer->usual_rate;
  std::vector<const format*> kinds;
  for (const format& f : formats()) kinds.push_back(&f);
  const auto times = time_steps(settings, batch, kinds, 3);
  REQUIRE(times.size() == kinds.size());
  std::ostringstream table;
  print_times(table, times);
  for (const step_time& t : times) {
    INFO(std::string(t.format));
    CHECK(t.products > 0);
    CHECK((t.conversions > 0 || t.format == "fp32"));
    CHECK(t.whole > 0);
    CHECK(t.of_fp32 > 0);
    const bool switches = t.format == "muppet" || t.format.starts_with("marvin");
    CHECK(t.modelled.has_value() == switches);
    if (switches) CHECK(*t.modelled == Approx(64.0 / 40));  // at 8 bits, and a backward pass in 32
    CHECK(table.str().find("\n" + std::string(t.format) + " ") != std::string::npos);
  }
}

TEST_CASE("work is timed by kind", "[train][steps]") {
  seconds_of_work().fill(0);
  int done = 0;
  timed(work::conversions, [&] { ++done; });
  CHECK(done == 1);
  CHECK(seconds_of_work()[static_cast<std::size_t>(work::products)] == 0);
  CHECK(seconds_of_work()[static_cast<std::size_t>(work::conversions)] >= 0);
}
