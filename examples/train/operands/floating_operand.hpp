// Operands in narrow floats.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <istream>
#include <limits>
#include <ostream>
#include <vector>

#include "operands/block_operand.hpp"

namespace narrow_train {

/// Numbers rounded to F, as floats: what products of F with sums in fp32 see, for any F.
template <class F> class rounded_operand final : public block_operand {
 public:
  explicit rounded_operand(rounding_choice rounding) : rounding_(rounding) {}

  void assign(const Eigen::Ref<const fp32_matrix>& values, std::span<const float>) override {
    values_ = values;
    const std::span<float> elements(values_.data(), static_cast<std::size_t>(values_.size()));
    codes_.resize(elements.size());
    with_rounding(rounding_, [&](auto policy) { narrow::convert(elements, codes_, policy); });
    narrow::convert(codes_, elements);
  }
  void read(fp32_matrix& values) const override { values = values_; }
  block_matrix view() const override {
    return one_block(values_.data(), values_.rows(), values_.cols(), one_);
  }
  std::size_t bytes() const override { return codes_.size() * sizeof(F); }
  std::size_t scale_count() const override { return 1; }
  void save(std::ostream& out) const override { write_matrix(out, values_); }
  void load(std::istream& in) override {
    fp32_matrix loaded;
    read_matrix(in, loaded, values_.rows(), values_.cols());
    assign(loaded, {});
  }
  coded_matrix coded() const override {
    return narrow_train::coded(codes_.data(), values_.rows(), values_.cols());
  }
  void restore(const coded_matrix& numbers) override {
    numbers.expect(format_of_number<F>::value, values_.rows(), values_.cols(), 0);
    decode(numbers.codes, codes_.data());
    narrow::convert(codes_, std::span<float>(values_.data(), codes_.size()));
  }

 private:
  static constexpr float one_ = 1;

  rounding_choice rounding_;
  std::vector<F> codes_;
  fp32_matrix values_;
};

/// fp8 with one scale, from the largest magnitudes of the steps before: "delayed scaling", as Transformer
/// Engine (NVIDIA, 2022) has it. What has become larger since saturates.
///
/// Scale  a power of two, so that it costs no rounding: the smallest at which the largest magnitude of the last
///        `history` steps is at most F's largest number; that of the numbers themselves in the first step.
template <class F> class scaled_operand final : public block_operand {
 public:
  static constexpr std::size_t history = 1024;  // steps

  explicit scaled_operand(rounding_choice rounding) : rounding_(rounding) {}

  void assign(const Eigen::Ref<const fp32_matrix>& values, std::span<const float> clips) override {
    last_ = values.size() == 0 ? 0 : values.cwiseAbs().maxCoeff<Eigen::PropagateNumbers>();
    float largest = last_;
    if (!clips.empty())
      largest = clips.front();
    else if (!largest_.empty())
      largest = *std::max_element(largest_.begin(), largest_.end());
    scale_ = scale_for(largest);
    rows_ = values.rows();
    scaled_ = values * (1 / scale_);
    const std::span<const float> elements(scaled_.data(), static_cast<std::size_t>(scaled_.size()));
    codes_.resize(elements.size());
    with_rounding(rounding_, [&](auto policy) { narrow::convert(elements, codes_, policy); });
  }
  void read(fp32_matrix& values) const override {
    values.resize(rows_, cols());
    narrow::convert(codes_, std::span<float>(values.data(), codes_.size()));
    values *= scale_;
  }
  block_matrix view() const override { return one_block(codes_.data(), rows_, cols(), scale_); }
  std::size_t bytes() const override { return codes_.size() * sizeof(F) + sizeof scale_; }
  std::size_t scale_count() const override { return 1; }

  void advance() override {
    if (!(last_ > 0 && last_ <= std::numeric_limits<float>::max())) return;  // nothing to learn from
    largest_.push_front(last_);
    if (largest_.size() > history) largest_.pop_back();
  }
  void save(std::ostream& out) const override {
    save_scaling(out);
    write_number(out, scale_);
    write_numbers(out, std::span<const F>(codes_));
  }
  void load(std::istream& in) override {
    scaled_operand loaded(*this);
    loaded.load_scaling(in);
    loaded.scale_ = read_number<float>(in);
    read_numbers(in, std::span<F>(loaded.codes_));
    *this = std::move(loaded);
  }
  void save_scaling(std::ostream& out) const override {
    write_number(out, static_cast<std::uint64_t>(largest_.size()));
    for (const float x : largest_) write_number(out, x);
  }
  void load_scaling(std::istream& in) override {
    const auto size = read_number<std::uint64_t>(in);
    if (size > history) throw std::runtime_error("has " + std::to_string(size) + " largest magnitudes");
    largest_.clear();
    while (largest_.size() < size) largest_.push_back(read_number<float>(in));
  }

  // The file keeps the largest magnitude of the last steps, or 0 where there were none.
  void save_held_scale(std::ostream& out) const override {
    write_number(out, largest_.empty() ? 0.0f : *std::max_element(largest_.begin(), largest_.end()));
  }
  void load_held_scale(std::istream& in) override {
    const auto largest = read_number<float>(in);
    if (!(largest >= 0 && largest <= std::numeric_limits<float>::max()))
      throw std::runtime_error("has a largest magnitude of " + std::to_string(largest));
    largest_.clear();
    if (largest > 0) largest_.push_back(largest);
  }
  coded_matrix coded() const override {
    coded_matrix result = narrow_train::coded(codes_.data(), rows_, cols());
    result.scales.push_back(scale_);
    return result;
  }
  void restore(const coded_matrix& numbers) override {
    numbers.expect(format_of_number<F>::value, rows_, cols(), 1);
    const float scale = numbers.scales.front();
    if (!(scale > 0 && scale <= std::numeric_limits<float>::max()))
      throw std::runtime_error("has a scale of " + std::to_string(scale));
    scale_ = scale;
    decode(numbers.codes, codes_.data());
  }

 private:
  [[nodiscard]] Eigen::Index cols() const {
    return rows_ == 0 ? 0 : static_cast<Eigen::Index>(codes_.size()) / rows_;
  }
  static float scale_for(float largest) {
    if (!(largest > 0 && largest <= std::numeric_limits<float>::max())) return 1;
    const auto most = static_cast<float>(std::numeric_limits<F>::max());
    int exponent = std::ilogb(largest) - std::ilogb(most);
    if (std::ldexp(largest, -exponent) > most) ++exponent;
    return std::ldexp(1.0f, std::clamp(exponent, -126, 126));
  }

  rounding_choice rounding_;
  std::deque<float> largest_;  // of the last steps, the latest first
  float last_ = 0, scale_ = 1;
  Eigen::Index rows_ = 0;
  fp32_matrix scaled_;  // scratch
  std::vector<F> codes_;
};

/// `operand_format::make_floating` for an operand class.
template <class Operand> std::unique_ptr<block_operand> make_floating(rounding_choice rounding) {
  return std::make_unique<Operand>(rounding);
}

}  // namespace narrow_train
