// Fuzz target: the states of training helpers. What is read is written as the same text that it is read from
// again, and goes on with its work; what is refused leaves the helper as it was.
#include <limits>
#include <span>
#include <sstream>

#include "input.hpp"

using namespace narrow;

namespace {

template <class Helper> std::string written(const Helper& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

const std::vector<float> gradient{0.5f, -1.25f, 3e-5f, 0, 1e30f, -0.75f};

// A few steps of work from a state that was read, whatever it holds.
void work(adaptive_clip& x) { x.observe(gradient); }
void work(cost_model& x) {
  const layer_cost costs{1e6, 8, 1e4, 25};
  x.step(std::span(&costs, 1));
  static_cast<void>(x.costs());
}
void work(exponent_histogram& x) {
  x.add(gradient);
  x += x;
}
void work(loss_scaler& x) {
  std::vector<float> unscaled;
  for (const float factor : {1.0f, std::numeric_limits<float>::infinity()}) {
    std::vector<float> scaled(gradient);
    scaled[1] *= factor;
    x.unscale(scaled, unscaled, "layer");
    x.update();
  }
}
void work(master_weights<fp16>& x) {
  x.update([](std::span<float> weights) {
    for (float& weight : weights) weight *= 2;
  });
}
void work(muppet_switch& x) {
  for (int epoch = 0; epoch < 4; ++epoch) {
    x.observe("dense0", gradient);
    x.update();
  }
}
void work(precision_switch& x) {
  for (int step = 0; step < 30; ++step) x.observe("dense0", gradient, gradient, 1.0 / (1 + step));
}

template <class Helper> void check(const std::string& text) {
  Helper x;
  const std::string before = written(x);
  std::istringstream in(text);
  try {
    in >> x;
  } catch (const std::runtime_error&) {
    fuzz::require(in.fail(), [] { return "a refusal without failbit"; });
    fuzz::require(written(x) == before, [&] { return "refused, but changed: " + text; });
    return;
  }
  const std::string once = written(x);
  Helper y;
  std::istringstream again(once);
  again >> y;
  fuzz::require(written(y) == once, [&] { return "read as another state: " + once; });
  try {
    work(y);
  } catch (const std::logic_error&) {  // of another shape, or in the middle of a step
  }
  const std::string worked = written(y);
  std::istringstream last(worked);
  last >> x;  // what works can be saved
  fuzz::require(written(x) == worked, [&] { return "worked to what is another state: " + worked; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::string text = in.text();
  // The text itself says of which helper it is; the others refuse it.
  check<adaptive_clip>(text);
  check<cost_model>(text);
  check<exponent_histogram>(text);
  check<loss_scaler>(text);
  check<master_weights<fp16>>(text);
  check<muppet_switch>(text);
  check<precision_switch>(text);
  return 0;
}
