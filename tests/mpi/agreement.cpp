// The training helpers on several ranks.
#include <narrow/mpi.hpp>
#include <narrow/narrow.hpp>
#include <random>

#include "catch.hpp"
#include "refusal.hpp"

namespace {

using namespace narrow;
using test::refusal, test::says;

TEST_CASE("A loss scaler takes note of what overflowed on other ranks", "[mpi]") {
  loss_scaler scaler({.init_scale = 1024});
  for (int step = 0; step < 6; ++step) {
    std::vector<float> gradient(8, 1);
    const bool overflows = step % 3 == 1 && mpi::rank() == step % mpi::ranks();
    if (overflows) gradient[2] = std::numeric_limits<float>::infinity();
    scaler.unscale(gradient, gradient, "layer " + std::to_string(mpi::rank()));
    mpi::agree(scaler);
    CHECK(scaler.overflowed() == (step % 3 == 1));
    scaler.update();
    mpi::require_equal(scaler, "the loss scaler");
  }
  CHECK(scaler.skipped() == 2);
  CHECK(scaler.scale() == 256);
  CHECK(scaler.overflows_by_layer().count("layer " + std::to_string(4 % mpi::ranks())) == 1);
}

TEST_CASE("Helpers take the state of one rank, or must be equal", "[mpi]") {
  adaptive_clip clip;
  std::mt19937 random(static_cast<unsigned>(mpi::rank()));
  std::normal_distribution<float> normal;
  std::vector<float> gradient(500);
  for (int step = 0; step < 3; ++step) {
    for (float& x : gradient) x = normal(random);
    clip.observe(gradient);
  }
  if (mpi::ranks() > 1)
    CHECK(says(refusal([&] { mpi::require_equal(clip, "the clip"); }), {"the clip", "digest", "rank"}));
  const adaptive_clip own = clip;
  mpi::broadcast(clip, mpi::ranks() - 1);
  mpi::require_equal(clip, "the clip");
  if (mpi::rank() == mpi::ranks() - 1) CHECK(clip == own);

  precision_switch precision;
  mpi::broadcast(precision);
  mpi::require_equal(precision, "the precisions");
}

}  // namespace
