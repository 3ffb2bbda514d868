#include "layers/tensor_watch.hpp"

#include <algorithm>
#include <cmath>
#include <narrow/train/kolmogorov_smirnov.hpp>

#include "operands/block_operand.hpp"

namespace narrow_train {
namespace {

constexpr int value_bins = 64;
constexpr Eigen::Index groups_shown = 8;              // channels, samples
constexpr Eigen::Index sample_size = 1 << 16;         // of the Kolmogorov-Smirnov distances
constexpr std::uint64_t longest_statistic = 1 << 12;  // numbers

using matrix_part = Eigen::Ref<const fp32_matrix, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// Counts in bins of equal width from -largest to largest.
std::vector<double> histogram(const matrix_part& m, double largest) {
  std::vector<double> counts(value_bins);
  if (!(largest > 0)) return counts;
  for (Eigen::Index j = 0; j < m.cols(); ++j)
    for (Eigen::Index i = 0; i < m.rows(); ++i) {
      if (!std::isfinite(m(i, j))) continue;
      const double bin = std::floor(double{m(i, j)} / largest * (value_bins / 2)) + value_bins / 2;
      ++counts[static_cast<std::size_t>(std::clamp(bin, 0.0, double{value_bins - 1}))];
    }
  return counts;
}

/// Up to `sample_size` elements, evenly spaced by an odd number: channels, of which there is mostly an even
/// number, take turns.
Eigen::VectorXf sample_of(const fp32_matrix& m) {
  const Eigen::Index step = (m.size() + sample_size - 1) / sample_size | 1;
  return Eigen::Map<const Eigen::VectorXf, 0, Eigen::InnerStride<>>(m.data(), (m.size() + step - 1) / step,
                                                                    Eigen::InnerStride<>(step));
}

/// Root mean square of m minus what int8 makes of it, over that of m.
double int8_error(const fp32_matrix& m, sharing scales, std::span<const float> clips = {}) {
  const auto rounded =
      make_operand({.kind = operand_kind::int8, .rounding = rounding_choice::nearest}, scales, nullptr);
  rounded->assign(m, clips);
  const double all = m.cast<double>().squaredNorm();
  return all > 0 ? std::sqrt((m - rounded->values()).cast<double>().squaredNorm() / all) : 0;
}

}  // namespace

void tensor_watch::begin(look wanted, int epoch, std::uint64_t step, float loss_scale, float flush_below) {
  wanted_ = wanted;
  epoch_ = epoch;
  step_ = step;
  loss_scale_ = loss_scale;
  threshold_ = flush_below * loss_scale;
  scaled_ = {};
}

void tensor_watch::weights(const std::string& layer, const fp32_matrix& weights,
                           const fp32_matrix& gradient) {
  if (wanted_ != look::everything) return;
  add(layer, "weights", weights);
  add(layer, "weight_gradients", gradient);
}

void tensor_watch::add(const std::string& layer, const std::string& tensor, std::string name,
                       std::vector<double> values, int first_bin) {
  statistics_.push_back({epoch_, step_, layer, tensor, std::move(name), first_bin, std::move(values)});
}

void tensor_watch::add(const std::string& layer, const std::string& tensor, const fp32_matrix& m) {
  narrow::exponent_histogram counts;
  counts.add(m);
  const auto nonfinite = static_cast<double>(counts.nonfinite());
  add(layer, tensor, "zeros", {static_cast<double>(counts.zeros())});
  add(layer, tensor, "nonfinite", {nonfinite});
  add(layer, tensor, "largest", {counts.max_abs()});
  std::vector<double> exponents;
  int first = 0;
  auto left = static_cast<double>(counts.total() - counts.zeros()) - nonfinite;
  for (int e = counts.max_abs() > 0 ? std::ilogb(counts.max_abs()) : 0; left > 0; --e) {
    exponents.push_back(static_cast<double>(counts.count(e)));
    left -= exponents.back();
    first = e;
  }
  std::ranges::reverse(exponents);
  add(layer, tensor, "exponents", std::move(exponents), first);
}

void tensor_watch::add_gradient(const std::string& layer, const fp32_matrix& scaled, Eigen::Index channels,
                                std::span<const float> clips) {
  const std::string tensor = "activation_gradients";
  const fp32_matrix dy = scaled / loss_scale_;
  add(layer, tensor, dy);

  const auto by_channel = dy.reshaped(channels, dy.size() / channels);
  narrow::exponent_histogram counts;
  counts.add(dy);
  const double largest = counts.max_abs();
  add(layer, tensor, "values", histogram(dy, largest));
  for (Eigen::Index k = 0; k < std::min(channels, groups_shown); ++k)
    add(layer, tensor, "values_channel_" + std::to_string(k), histogram(by_channel.row(k), largest));
  for (Eigen::Index n = 0; n < std::min(dy.cols(), groups_shown); ++n)
    add(layer, tensor, "values_sample_" + std::to_string(n), histogram(dy.col(n), largest));

  const Eigen::VectorXf sample = sample_of(dy);
  const auto gaussian = narrow::fit_gaussian(sample);
  add(layer, tensor, "ks_gaussian", {narrow::kolmogorov_smirnov(sample, gaussian)});
  if (gaussian.deviation > 0)
    add(layer, tensor, "ks_inverted_t",
        {narrow::kolmogorov_smirnov(sample, narrow::fit_inverted_t(sample, gaussian.deviation))});

  // These are errors of the gradient as it is quantised, times the loss scale, which cancels.
  const fp32_matrix channels_apart = scaled.reshaped(channels, scaled.size() / channels);
  add(layer, tensor, "error_global", {int8_error(channels_apart, sharing::tensor)});
  add(layer, tensor, "error_gvq", {int8_error(channels_apart, sharing::row)});
  if (!clips.empty()) {
    const bool one = clips.size() == 1;
    add(layer, tensor, one ? "error_mcs" : "error_both",
        {int8_error(channels_apart, one ? sharing::tensor : sharing::row, clips)});
  }
}

void tensor_watch::save(std::ostream& out) const {
  const auto write_text = [&out](const std::string& text) {
    write_number(out, static_cast<std::uint64_t>(text.size()));
    out << text;
  };
  write_number(out, static_cast<std::uint64_t>(statistics_.size()));
  for (const statistic& s : statistics_) {
    write_number(out, s.epoch);
    write_number(out, s.step);
    for (const std::string* text : {&s.layer, &s.tensor, &s.name}) write_text(*text);
    write_number(out, s.first_bin);
    write_number(out, static_cast<std::uint64_t>(s.values.size()));
    write_numbers(out, std::span<const double>(s.values));
  }
}

void tensor_watch::load(std::istream& in) {
  const auto read_size = [&in] {
    const auto size = read_number<std::uint64_t>(in);
    if (size > longest_statistic)
      throw std::runtime_error("has a statistic of " + std::to_string(size) + " numbers");
    return static_cast<std::size_t>(size);
  };
  statistics_.clear();
  for (auto left = read_number<std::uint64_t>(in); left > 0; --left) {
    statistic s;
    s.epoch = read_number<int>(in);
    s.step = read_number<std::uint64_t>(in);
    for (std::string* text : {&s.layer, &s.tensor, &s.name}) {
      text->resize(read_size());
      read_numbers(in, std::span<char>(*text));
    }
    s.first_bin = read_number<int>(in);
    s.values.resize(read_size());
    read_numbers(in, std::span<double>(s.values));
    statistics_.push_back(std::move(s));
  }
}

}  // namespace narrow_train
