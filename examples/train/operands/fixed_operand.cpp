#include "operands/fixed_operand.hpp"

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
  void save(std::ostream& out) const override { write_matrix(out, values_); }
  void load(std::istream& in) override {
    fp32_matrix loaded;
    read_matrix(in, loaded, values_.rows(), values_.cols());
    values_ = std::move(loaded);
  }
  coded_matrix coded() const override {
    return narrow_train::coded(values_.data(), values_.rows(), values_.cols());
  }
  void restore(const coded_matrix& numbers) override {
    numbers.expect(format_of_number<float>::value, values_.rows(), values_.cols(), 0);
    decode(numbers.codes, values_.data());
  }

 private:
  static constexpr float one_ = 1;
  fp32_matrix values_;
};

/// Integers of WL bits, two's complement, times 2^-FL; the layer's word length, and its fraction length or
/// one that follows from the data. Numbers of less than 2^-110 are lost to that.
class fixed_operand final : public block_operand {
 public:
  fixed_operand(const operand_format& format, std::shared_ptr<const layer_format> layer)
      : kind_(format.kind), rounding_(format.rounding), layer_(std::move(layer)) {}

  void assign(const Eigen::Ref<const fp32_matrix>& values, std::span<const float> clips) override {
    const int wl = layer_->word_length;
    word_length_ = wl;
    rows_ = values.rows();
    cols_ = values.cols();
    if (plain()) {
      values_ = values;
      scale_ = 1;
      return;
    }
    if (kind_ == operand_kind::fixed) {
      fraction_length_ = layer_->fraction_length;
      integers_.format({wl, fraction_length_});
      round(values);
    } else {
      if (!clips.empty()) {
        fraction_length_ = wl - 1 - std::ilogb(clips.front());
      } else if (kind_ == operand_kind::words || scaled_for_ != wl) {
        fraction_length_ = fraction_length_for(values, wl);
        scaled_for_ = (values.array() == 0).all() ? 0 : wl;  // zeros say nothing of what follows them
      }
      integers_.format({wl, 0});
      values_ = values * std::ldexp(1.0f, fraction_length_);
      round(values_);
    }
    scale_ = std::ldexp(1.0f, -fraction_length_);
  }

  void read(fp32_matrix& values) const override {
    if (plain()) {
      values = values_;
      return;
    }
    values.resize(rows_, cols_);
    std::visit(
        [&](const auto& m) {
          const Eigen::Map<const matrix<typename std::remove_cvref_t<decltype(m)>::value_type>> mantissas(
              m.data(), values.rows(), values.cols());
          values = mantissas.template cast<float>() * scale_;
        },
        integers_.mantissas());
  }

  block_matrix view() const override {
    if (plain()) return one_block(values_.data(), rows_, cols_, scale_);
    return std::visit(
        [&](const auto& m) {
          narrow::block_view view = one_block(m.data(), rows_, cols_, scale_);
          view.largest = std::int64_t{1} << (word_length_ - 1);
          return block_matrix(view);
        },
        integers_.mantissas());
  }

  std::size_t bytes() const override {
    if (plain()) return bytes_of(values_);
    return std::visit([](const auto& m) { return m.size() * sizeof m[0]; }, integers_.mantissas()) +
           sizeof scale_;
  }
  std::size_t scale_count() const override { return 1; }

  void save(std::ostream& out) const override {
    save_scaling(out);
    if (plain()) return write_matrix(out, values_);
    write_number(out, integers_.format().wl);
    for (Eigen::Index j = 0; j < cols_; ++j)
      for (Eigen::Index i = 0; i < rows_; ++i) write_number(out, integers_.mantissa(i, j));
  }
  void load(std::istream& in) override {
    fixed_operand loaded(*this);
    loaded.load_scaling(in);
    if (loaded.plain()) {
      read_matrix(in, loaded.values_, rows_, cols_);
      loaded.scale_ = 1;
    } else {
      matrix<double> mantissas(rows_, cols_);
      const auto wl = read_number<int>(in);
      for (double& m : mantissas.reshaped()) m = read_number<std::int32_t>(in);
      loaded.take(wl, [&](auto i, auto j) { return mantissas(i, j); });
    }
    integers_.format(loaded.integers_.format());  // which an assignment does not change
    *this = std::move(loaded);
  }

  coded_matrix coded() const override {
    if (plain()) return narrow_train::coded(values_.data(), rows_, cols_);
    coded_matrix result{
        {number_format::kind::scaled, static_cast<std::uint8_t>(word_length_), 0}, rows_, cols_, {}, {}};
    for (Eigen::Index j = 0; j < cols_; ++j)
      for (Eigen::Index i = 0; i < rows_; ++i)
        result.codes.push_back(low_bits(integers_.mantissa(i, j), word_length_));
    if (kind_ == operand_kind::fixed)
      result.format = {number_format::kind::fixed, result.format.bits,
                       static_cast<std::uint8_t>(fraction_length_)};
    else
      result.scales.push_back(scale_);
    return result;
  }
  /// The word length may be any: it is what the layer's was.
  void restore(const coded_matrix& numbers) override {
    const number_format& f = numbers.format;
    if (kind_ == operand_kind::held_words && f == format_of_number<float>::value) {
      numbers.expect(f, rows_, cols_, 0);
      word_length_ = layer_format::full_precision;
      scale_ = 1;
      values_.resize(rows_, cols_);
      decode(numbers.codes, values_.data());
      return;
    }
    if (kind_ == operand_kind::fixed) {
      numbers.expect({number_format::kind::fixed, f.bits, f.fraction}, rows_, cols_, 0);
      fraction_length_ = narrow::fixed_format(f.bits, f.fraction).fl;  // throws
    } else {
      numbers.expect({number_format::kind::scaled, f.bits, 0}, rows_, cols_, 1);
      const float scale = numbers.scales.front();
      if (!std::isnormal(scale) || scale != std::ldexp(1.0f, std::ilogb(scale)))
        throw std::runtime_error("has a scale of " + std::to_string(scale));
      fraction_length_ = -std::ilogb(scale);
      static_cast<void>(narrow::fixed_format(f.bits, 0));  // throws
    }
    word_length_ = f.bits;
    if (plain()) throw std::runtime_error("has words of " + std::to_string(word_length_) + " bits");
    take(word_length_, [&](auto i, auto j) {
      return signed_number(numbers.codes[static_cast<std::size_t>(i + j * rows_)], word_length_);
    });
  }

  void save_scaling(std::ostream& out) const override {
    for (const int x : {word_length_, scaled_for_, fraction_length_}) write_number(out, x);
  }
  void load_scaling(std::istream& in) override {
    const auto wl = read_number<int>(in), scaled_for = read_number<int>(in), fl = read_number<int>(in);
    for (const int length : {wl, scaled_for})
      if (length != 0) static_cast<void>(narrow::fixed_format(length, 0));  // throws
    if (fl < -200 || fl > 200) throw std::runtime_error("has the fraction length " + std::to_string(fl));
    word_length_ = wl;
    scaled_for_ = scaled_for;
    fraction_length_ = fl;
  }

  // A power of two that is kept: numbers that are assigned next have it.
  void save_held_scale(std::ostream& out) const override {
    if (kind_ == operand_kind::held_words) save_scaling(out);
  }
  void load_held_scale(std::istream& in) override {
    if (kind_ == operand_kind::held_words) load_scaling(in);
  }

 private:
  [[nodiscard]] bool plain() const {
    return kind_ == operand_kind::held_words && word_length_ == layer_format::full_precision;
  }

  /// mantissa(i, j) of words of `wl` bits; the fraction length is known.
  template <class Mantissa> void take(int wl, Mantissa mantissa) {
    const int fl = kind_ == operand_kind::fixed ? fraction_length_ : 0;
    integers_.format({wl, fl});
    const double step = std::ldexp(1.0, -fl);
    integers_.assign(rows_, cols_, [&](auto i, auto j) { return mantissa(i, j) * step; });
    scale_ = std::ldexp(1.0f, -fraction_length_);
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
  fp32_matrix values_;  // where they are fp32; else scratch
  Eigen::Index rows_ = 0, cols_ = 0;
  int word_length_ = 0, fraction_length_ = 0;  // of the last `assign`
  int scaled_for_ = 0;  // held_words: the word length that the scale was chosen for, or 0
  float scale_ = 1;
};

}  // namespace

std::unique_ptr<block_operand> make_fixed_operand(const operand_format& format,
                                                  const std::shared_ptr<const layer_format>& layer) {
  if (format.kind == operand_kind::fp32) return std::make_unique<plain_operand>();
  return std::make_unique<fixed_operand>(format, layer);
}

}  // namespace narrow_train
