// Operands with scales from the data: block floating point and int8. See fixed_operand.cpp for those of a layer's own
// format, floating_operand.hpp for narrow floats.
#include "block_operand.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fixed_operand.hpp"

namespace narrow_train {
namespace {

template <class Format> class operand final : public block_operand {
 public:
  void assign(const Eigen::Ref<const fp32_matrix>& values, std::span<const float> clips) override {
    tensor_.assign(view_of(values), typename Format::round_policy{}, clips);
  }
  void read(fp32_matrix& values) const override {
    values.resize(tensor_.rows(), tensor_.cols());
    tensor_.dequantize(view_of(values));
  }
  block_matrix view() const override { return tensor_.view(); }
  std::size_t bytes() const override {
    return tensor_.mantissas().size_bytes() + tensor_.scales().size_bytes();
  }
  std::size_t scale_count() const override { return tensor_.scales().size(); }

  void save(std::ostream& out) const override {
    write_number(out, static_cast<std::uint64_t>(tensor_.mantissas().size()));
    write_number(out, static_cast<std::uint64_t>(tensor_.scales().size()));
    write_numbers(out, tensor_.mantissas());
    write_numbers(out, tensor_.scales());
  }

  void load(std::istream& in) override {
    expect_size(in, tensor_.mantissas().size(), "mantissas");
    expect_size(in, tensor_.scales().size(), "scales");
    std::vector<typename Format::element_type> mantissas(tensor_.mantissas().size());
    std::vector<float> scales(tensor_.scales().size());
    read_numbers(in, std::span(mantissas));
    read_numbers(in, std::span(scales));
    // A tensor takes values, not mantissas. Each is a mantissa times its scale, exact in fp32, and a scale is
    // what the largest mantissa times it asks for.
    const auto view = tensor_.view();
    const auto scale_of = [&](std::ptrdiff_t row, std::ptrdiff_t column) {
      const auto block = row / view.tile_rows * view.scales.cols + column / view.tile_cols;
      return scales[static_cast<std::size_t>(block)];
    };
    fp32_matrix values(tensor_.rows(), tensor_.cols());
    for (Eigen::Index j = 0; j < values.cols(); ++j)
      for (Eigen::Index i = 0; i < values.rows(); ++i)
        values(i, j) =
            static_cast<float>(mantissas[static_cast<std::size_t>(i + j * values.rows())]) * scale_of(i, j);
    std::vector<float> largest(scales);
    for (float& x : largest) x *= static_cast<float>(Format::limit);
    tensor loaded(0, 0, narrow::storage_order::column_major);
    loaded.assign(view_of(std::as_const(values)), narrow::rounding::nearest_even{}, largest);
    if (!std::ranges::equal(loaded.mantissas(), mantissas) || !std::ranges::equal(loaded.scales(), scales))
      throw std::runtime_error("has numbers that its format has not");
    tensor_ = std::move(loaded);
  }

 private:
  using tensor = narrow::block_tensor<Format>;

  tensor tensor_{0, 0, narrow::storage_order::column_major};
};

// One choice after another becomes a template parameter.

template <class T> struct type { using name = T; };

template <class Use> auto with_sharing(sharing s, Use use) {
  switch (s) {
    case sharing::tensor:
      return use(type<narrow::per_tensor>{});
    case sharing::column:
      return use(type<narrow::per_column>{});
    case sharing::row:
      return use(type<narrow::per_row>{});
    case sharing::tile:
      return use(type<narrow::tile<tile_size, tile_size>>{});
  }
  throw std::invalid_argument("unknown sharing");
}

template <class Use> auto with_exponent(exponent_choice e, Use use) {
  switch (e) {
    case exponent_choice::max:
      return use(type<narrow::exponent::max>{});
    case exponent_choice::min:
      return use(type<narrow::exponent::min<>>{});
    case exponent_choice::avg:
      return use(type<narrow::exponent::avg<>>{});
  }
  throw std::invalid_argument("unknown exponent policy");
}

using operand_pointer = std::unique_ptr<block_operand>;

template <class Block, class Round, class Exponent> operand_pointer make_bfp(int mantissa) {
  constexpr int narrowest = 2;
  operand_pointer made;
  [&]<int... I>(std::integer_sequence<int, I...>) {  // TEMPORARY four
    static_cast<void>(
        ((mantissa == narrowest + I &&
          (made = std::make_unique<operand<narrow::bfp<narrowest + I, Block, Round, Exponent>>>())) ||
         ...));
  }
  (std::integer_sequence<int, 2, 6, 10, 14>{});
  if (!made)
    throw std::invalid_argument("mantissas of " + std::to_string(mantissa) + " bits: must be 2 to 16");
  return made;
}

}  // namespace

operand_pointer make_operand(const operand_format& format, sharing scales,
                             const std::shared_ptr<const layer_format>& layer) {
  switch (format.kind) {
    case operand_kind::fp32:
    case operand_kind::fixed:
    case operand_kind::words:
    case operand_kind::held_words:
      return make_fixed_operand(format, layer);
    case operand_kind::floating:
      return format.make_floating(format.rounding);
    case operand_kind::bfp:
    case operand_kind::int8:
      break;
  }
  return with_sharing(scales, [&]<class Block>(type<Block>) {
    return with_rounding(format.rounding, [&]<class Round>(Round) -> operand_pointer {
      if (format.kind == operand_kind::int8)
        return std::make_unique<operand<narrow::basic_int8<Block, Round>>>();
      return with_exponent(format.exponent, [&]<class Exponent>(type<Exponent>) {
        return make_bfp<Block, Round, Exponent>(format.mantissa);
      });
    });
  });
}

}  // namespace narrow_train
