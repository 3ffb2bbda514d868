#include "fixed_operand.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <narrow/train/muppet_switch.hpp>
#include <ostream>
#include <utility>

namespace narrow_train {
namespace {

/// Numbers as they are.
class plain_operand final : public block_operand {
 public:
  void assign(const Eigen::Ref<const fp32_matrix>& values, std::span<const float>) override {
    values_ = values;
  }
  void read(fp32_matrix& values) const override { values = values_; }
  block_matrix view() const override {
    return one_block(values_.data(), values_.rows(), values_.cols(), one_);
  }
  std::size_t bytes() const override { return bytes_of(values_); }
  std::size_t scale_count() const override { return 1; }

 private:
  static constexpr float one_ = 1;
  fp32_matrix values_;
};

/// Integers of WL bits, two's complement, times 2^-FL; the layer's word length, and its fraction length or one that
/// follows from the data. Numbers of less than 2^-110 are lost to that.
class fixed_operand final : public block_operand {
 public:
  fixed_operand(const operand_format& format, std::shared_ptr<const layer_format> layer)
      : kind_(format.kind), rounding_(format.rounding), layer_(std::move(layer)) {}

  void assign(const Eigen::Ref<const fp32_matrix>& values, std::span<const float> clips) override {
    const int wl = layer_->word_length;
    const bool new_length = std::exchange(word_length_, wl) != wl;
    if (plain()) return plain_.assign(values, {});
    if (kind_ == operand_kind::fixed) {
      fraction_length_ = layer_->fraction_length;
      integers_.format({wl, fraction_length_});
      round(values);
    } else {
      if (!clips.empty())
        fraction_length_ = wl - 1 - std::ilogb(clips.front());
      else if (kind_ == operand_kind::words || new_length)
        fraction_length_ = fraction_length_for(values, wl);
      integers_.format({wl, 0});
      scaled_ = values * std::ldexp(1.0f, fraction_length_);
      round(scaled_);
    }
    scale_ = std::ldexp(1.0f, -fraction_length_);
  }

  void read(fp32_matrix& values) const override {
    if (plain()) return plain_.read(values);
    values.resize(integers_.rows(), integers_.cols());
    std::visit(
        [&](const auto& m) {
          const Eigen::Map<const matrix<typename std::remove_cvref_t<decltype(m)>::value_type>> mantissas(
              m.data(), values.rows(), values.cols());
          values = mantissas.template cast<float>() * scale_;
        },
        integers_.mantissas());
  }

  block_matrix view() const override {
    if (plain()) return plain_.view();
    return std::visit(
        [&](const auto& m) {
          narrow::block_view view = one_block(m.data(), integers_.rows(), integers_.cols(), scale_);
          view.largest = std::int64_t{1} << (word_length_ - 1);
          return block_matrix(view);
        },
        integers_.mantissas());
  }

  std::size_t bytes() const override {
    if (plain()) return plain_.bytes();
    return std::visit([](const auto& m) { return m.size() * sizeof m[0]; }, integers_.mantissas()) +
           sizeof scale_;
  }
  std::size_t scale_count() const override { return 1; }

  void save(std::ostream& out) const override {
    if (kind_ == operand_kind::held_words) out << word_length_ << ' ' << fraction_length_ << '\n';
  }
  void load(std::istream& in) override {
    if (kind_ == operand_kind::held_words) in >> word_length_ >> fraction_length_;
  }

 private:
  [[nodiscard]] bool plain() const {
    return kind_ == operand_kind::held_words && word_length_ == layer_format::full_precision;
  }

  static int fraction_length_for(const Eigen::Ref<const fp32_matrix>& values, int wl) {
    constexpr int widest = 16;  // of muppet_scale
    const int s = narrow::muppet_scale(values, std::min(wl, widest)) + std::max(wl - widest, 0);
    return std::min(s, std::numeric_limits<float>::max_exponent - 2);  // 2^s and 2^-s are normal floats
  }

  void round(const Eigen::Ref<const fp32_matrix>& values) {
    with_rounding(rounding_, [&](auto policy) { integers_.assign(view_of(values), policy); });
  }

  operand_kind kind_;
  rounding_choice rounding_;
  std::shared_ptr<const layer_format> layer_;
  narrow::fixed_tensor integers_{0, 0, narrow::storage_order::column_major};
  plain_operand plain_;
  fp32_matrix scaled_;                         // scratch
  int word_length_ = 0, fraction_length_ = 0;  // of the last `assign`
  float scale_ = 1;
};

}  // namespace

std::unique_ptr<block_operand> make_fixed_operand(const operand_format& format,
                                                  const std::shared_ptr<const layer_format>& layer) {
  if (format.kind == operand_kind::fp32) return std::make_unique<plain_operand>();
  return std::make_unique<fixed_operand>(format, layer);
}

}  // namespace narrow_train
