#include "training/precision_policy.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <narrow/eigen.hpp>
#include <narrow/train/muppet_switch.hpp>
#include <ostream>

#include "files/saved_state.hpp"

namespace narrow_train {
namespace {

void skip_line_end(std::istream& in) {
  if (in.get() != '\n') throw std::runtime_error("has something else where a line should end");
}

/// Kummer et al., MARViN (2021): each layer's <WL, FL> by narrow::precision_switch, gradients normalised.
class marvin final : public precision_policy {
 public:
  marvin(const narrow::precision_switch_options& options, const narrow::cost_model_options& model)
      : switch_(options) {
    costs_ = costs_in_fp32_ = narrow::cost_model(model);
  }

  std::vector<factor> before_update(std::span<switched_layer> layers, double loss) override {
    std::vector<double> lookbacks;
    for (const auto& layer : layers) lookbacks.push_back(lookback_of(layer));
    count(layers, lookbacks);

    std::vector<factor> factors;
    for (auto& layer : layers) {
      const auto format = switch_.observe(layer.name, layer.master, layer.gradient, loss);
      const narrow::layer_precision& now = switch_.layer(layer.name);
      const bool first = now.observed == 1,
                 changed = format.wl != layer.format.word_length || format.fl != layer.format.fraction_length;
      layer.format = {format.wl, format.fl};
      if (first || changed)
        changes_.push_back({switch_.steps(), layer.name, layer.format, now.lookback, now.switch_diversity,
                            now.resolution, loss});
      factors.push_back(inverse(now.gradient_norm));
    }
    return factors;
  }
  [[nodiscard]] float unswitched_factor(const fp32_matrix& gradient) const override {
    return inverse(gradient.cast<double>().norm()).value_or(1.0f);
  }
  void epoch_done() override {}

  void save(std::ostream& out) const override {
    out << switch_ << '\n';
    save_past(out);
  }
  void load(std::istream& in) override {
    in >> switch_;
    skip_line_end(in);
    load_past(in);
  }

 private:
  static factor inverse(double norm) {
    return norm > 0 && std::isfinite(norm) ? factor(static_cast<float>(1 / norm)) : std::nullopt;
  }
  [[nodiscard]] double lookback_of(const switched_layer& layer) const {
    const auto known = switch_.layers();
    return std::ranges::find(known, layer.name) == known.end() ? switch_.options().min_lookback
                                                               : switch_.layer(layer.name).lookback;
  }

  narrow::precision_switch switch_;
};

/// Rajagopal et al., MuPPET (2020): one word length for all layers, from the gradients of each epoch's last
/// batch.
class muppet final : public precision_policy {
 public:
  explicit muppet(const narrow::cost_model_options& model) {
    costs_ = costs_in_fp32_ = narrow::cost_model(model);
  }

  std::vector<factor> before_update(std::span<switched_layer> layers, double loss) override {
    ++steps_;
    count(layers, std::vector<double>(layers.size(), 0));
    last_.clear();
    for (auto& layer : layers) {
      last_.emplace_back(layer.name, layer.gradient);
      if (layer.format.word_length == switch_.word_length() && steps_ > 1) continue;
      layer.format.word_length = switch_.word_length();
      changes_.push_back({steps_, layer.name, layer.format, 0, switch_.diversity(), 0, loss});
    }
    return std::vector<factor>(layers.size(), 1.0f);
  }
  [[nodiscard]] float unswitched_factor(const fp32_matrix&) const override { return 1; }
  void epoch_done() override {
    for (const auto& [name, gradient] : last_) switch_.observe(name, gradient);
    if (!last_.empty()) switch_.update();
    last_.clear();
  }

  void save(std::ostream& out) const override {
    out << switch_ << '\n';
    write_number(out, steps_);
    save_past(out);
  }
  void load(std::istream& in) override {
    in >> switch_;
    skip_line_end(in);
    steps_ = read_number<std::uint64_t>(in);
    load_past(in);
  }

 private:
  narrow::muppet_switch switch_;
  std::uint64_t steps_ = 0;
  std::vector<std::pair<std::string, fp32_matrix>> last_;  // gradients of the last step
};

}  // namespace

void precision_policy::count(std::span<const switched_layer> layers, std::span<const double> lookbacks) {
  std::vector<narrow::layer_cost> step, in_fp32;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const int wl = layers[i].format.word_length;
    step.push_back({layers[i].operations, wl, static_cast<double>(layers[i].master.size()), lookbacks[i]});
    in_fp32.push_back({layers[i].operations, layer_format::full_precision, step.back().weights, 0});
    // MARViN's longest words are integers, MuPPET's stand for fp32, as do words without a lookback.
    ++(wl <= 8 ? words_.bytes : wl <= 16 ? words_.halves : lookbacks[i] > 0 ? words_.wide : words_.fp32);
  }
  costs_.step(step);
  costs_in_fp32_.step(in_fp32);
}

void precision_policy::save_past(std::ostream& out) const {
  out << costs_ << '\n' << costs_in_fp32_ << '\n';
  for (const auto count : {words_.bytes, words_.halves, words_.wide, words_.fp32}) write_number(out, count);
  write_number(out, static_cast<std::uint64_t>(changes_.size()));
  for (const format_change& c : changes_) {
    write_number(out, c.step);
    write_number(out, static_cast<std::uint64_t>(c.layer.size()));
    write_numbers(out, std::span<const char>(c.layer));
    write_number(out, c.format.word_length);
    write_number(out, c.format.fraction_length);
    for (const double x : {c.lookback, c.diversity, c.loss}) write_number(out, x);
    write_number(out, c.resolution);
  }
}

void precision_policy::load_past(std::istream& in) {
  for (auto* costs : {&costs_, &costs_in_fp32_}) {
    in >> *costs;
    skip_line_end(in);
  }
  for (auto* count : {&words_.bytes, &words_.halves, &words_.wide, &words_.fp32})
    *count = read_number<std::uint64_t>(in);
  changes_.clear();
  for (auto count = read_number<std::uint64_t>(in); count > 0; --count) {
    format_change c{};
    c.step = read_number<std::uint64_t>(in);
    constexpr std::uint64_t max_length = 1000;
    c.layer.resize(std::min(read_number<std::uint64_t>(in), max_length));
    read_numbers(in, std::span(c.layer));
    c.format.word_length = read_number<int>(in);
    c.format.fraction_length = read_number<int>(in);
    for (auto* x : {&c.lookback, &c.diversity, &c.loss}) *x = read_number<double>(in);
    c.resolution = read_number<int>(in);
    changes_.push_back(std::move(c));
  }
}

std::unique_ptr<precision_policy> make_policy(recipe::precision kind,
                                              const narrow::precision_switch_options& options, int batch) {
  narrow::cost_model_options model;
  model.batch_size = batch;
  model.max_lookback = options.max_lookback;
  model.max_resolution = options.max_resolution;
  switch (kind) {
    case recipe::precision::constant:
      return nullptr;
    case recipe::precision::marvin:
      return std::make_unique<marvin>(options, model);
    case recipe::precision::muppet:
      return std::make_unique<muppet>(model);
  }
  throw std::invalid_argument("unknown precision policy");
}

}  // namespace narrow_train
