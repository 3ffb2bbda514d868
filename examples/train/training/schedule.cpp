#include "training/schedule.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace narrow_train {
namespace {

class decay final : public schedule {
 public:
  decay(const schedule_settings& settings, const run_length& run) : factor_(settings.decay), run_(run) {}

  [[nodiscard]] float rate(std::uint64_t done) const override {
    float rate = run_.rate;
    for (auto epoch = done / run_.steps_per_epoch; epoch > 0; --epoch) rate *= factor_;
    return rate;
  }

 private:
  float factor_;
  run_length run_;
};

double total_steps(const run_length& run) {
  return static_cast<double>(run.epochs) * static_cast<double>(run.steps_per_epoch);
}

class step final : public schedule {
 public:
  step(const schedule_settings& settings, const run_length& run)
      : milestones_(settings.milestones), factor_(settings.factor), run_(run) {}

  [[nodiscard]] float rate(std::uint64_t done) const override {
    double rate = double{run_.rate};
    for (const double milestone : milestones_)
      if (static_cast<double>(done) >= milestone * total_steps(run_)) rate *= double{factor_};
    return static_cast<float>(rate);
  }

 private:
  std::vector<double> milestones_;
  float factor_;
  run_length run_;
};

class cosine final : public schedule {
 public:
  cosine(const schedule_settings&, const run_length& run) : run_(run) {}

  [[nodiscard]] float rate(std::uint64_t done) const override {
    const double share = static_cast<double>(done) / total_steps(run_);
    return static_cast<float>(double{run_.rate} * (1 + std::cos(std::numbers::pi * share)) / 2);
  }

 private:
  run_length run_;
};

class plateau final : public schedule {
 public:
  plateau(const schedule_settings& settings, const run_length& run)
      : factor_(settings.factor), patience_(settings.patience), rate_(run.rate) {}

  [[nodiscard]] float rate(std::uint64_t) const override { return rate_; }

  void epoch_done(float loss) override {
    constexpr float improved = 0.9999f;
    if (loss < best_ * improved) {  // false for NaN
      best_ = loss;
      waited_ = 0;
    } else if (++waited_ > patience_) {
      rate_ *= factor_;
      waited_ = 0;
    }
  }

  void save(std::ostream& out) const override {
    write_number(out, rate_);
    write_number(out, best_);
    write_number(out, std::int32_t{waited_});
  }
  void load(std::istream& in) override {
    rate_ = read_number<float>(in);
    best_ = read_number<float>(in);
    waited_ = read_number<std::int32_t>(in);
  }

 private:
  float factor_;
  int patience_;
  float rate_;
  float best_ = std::numeric_limits<float>::infinity();
  int waited_ = 0;  // epochs since the loss was last lower than ever
};

/// Another schedule, after a rise.
class warmup final : public schedule {
 public:
  warmup(std::unique_ptr<schedule> after, double steps) : after_(std::move(after)), steps_(steps) {}

  [[nodiscard]] float rate(std::uint64_t done) const override {
    const double share = static_cast<double>(done + 1) / steps_;
    const float rate = after_->rate(done);
    return share < 1 ? static_cast<float>(share * double{rate}) : rate;
  }
  void epoch_done(float loss) override { after_->epoch_done(loss); }
  void save(std::ostream& out) const override { after_->save(out); }
  void load(std::istream& in) override { after_->load(in); }

 private:
  std::unique_ptr<schedule> after_;
  double steps_;
};

template <class Schedule>
std::unique_ptr<schedule> make(const schedule_settings& settings, const run_length& run) {
  return std::make_unique<Schedule>(settings, run);
}

}  // namespace

std::span<const schedule_kind> schedules() {
  static constexpr std::array all{
      schedule_kind{"decay", "times --lr-decay after each epoch", {.decay = true}, make<decay>},
      schedule_kind{"step",
                    "times --lr-factor at the --milestones",
                    {.milestones = true, .factor = true, .epochs = true},
                    make<step>},
      schedule_kind{"cosine", "half a cosine, to zero at the end", {.epochs = true}, make<cosine>},
      schedule_kind{"plateau",
                    "times --lr-factor where the training loss does not fall",
                    {.factor = true, .patience = true},
                    make<plateau>},
  };
  return all;
}

std::unique_ptr<schedule> make_schedule(const schedule_settings& settings, const run_length& run) {
  auto made = settings.kind->make(settings, run);
  if (settings.warmup <= 0) return made;
  return std::make_unique<warmup>(std::move(made),
                                  settings.warmup * static_cast<double>(run.steps_per_epoch));
}

}  // namespace narrow_train
