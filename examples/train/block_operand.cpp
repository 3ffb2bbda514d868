#include "block_operand.hpp"

#include <stdexcept>

namespace narrow_train {
namespace {

template <class Format> class operand final : public block_operand {
 public:
  void assign(const Eigen::Ref<const fp32_matrix>& values, std::span<const float> clips) override {
    const narrow::matrix_view<const float> from{values.data(), values.rows(), values.cols(), 1,
                                                values.outerStride()};
    tensor_.assign(from, typename Format::round_policy{}, clips);
  }
  void read(fp32_matrix& values) const override {
    values.resize(tensor_.rows(), tensor_.cols());
    tensor_.dequantize(narrow::column_major(std::span(values.data(), static_cast<std::size_t>(values.size())),
                                            values.rows(), values.cols()));
  }
  block_matrix view() const override { return tensor_.view(); }
  std::size_t bytes() const override {
    return tensor_.mantissas().size_bytes() + tensor_.scales().size_bytes();
  }
  std::size_t scale_count() const override { return tensor_.scales().size(); }

 private:
  narrow::block_tensor<Format> tensor_{0, 0, narrow::storage_order::column_major};
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

template <class Use> auto with_rounding(rounding_choice r, Use use) {
  return r == rounding_choice::nearest ? use(type<narrow::rounding::nearest_even>{})
                                       : use(type<narrow::rounding::stochastic>{});
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

template <class Block, class Round, class Exponent> std::unique_ptr<block_operand> make_bfp(int mantissa) {
  switch (mantissa) {
    case 4:
      return std::make_unique<operand<narrow::bfp<4, Block, Round, Exponent>>>();
    case 8:
      return std::make_unique<operand<narrow::bfp<8, Block, Round, Exponent>>>();
    case 12:
      return std::make_unique<operand<narrow::bfp<12, Block, Round, Exponent>>>();
    case 16:
      return std::make_unique<operand<narrow::bfp<16, Block, Round, Exponent>>>();
  }
  throw std::invalid_argument("mantissas of " + std::to_string(mantissa) + " bits: must be 4, 8, 12 or 16");
}

}  // namespace

std::unique_ptr<block_operand> make_operand(const block_recipe& recipe, rounding_choice rounding,
                                            sharing scales) {
  return with_sharing(scales, [&]<class Block>(type<Block>) {
    return with_rounding(rounding, [&]<class Round>(type<Round>) -> std::unique_ptr<block_operand> {
      if (recipe.scale == block_recipe::scale_kind::real)
        return std::make_unique<operand<narrow::basic_int8<Block, Round>>>();
      return with_exponent(recipe.exponent, [&]<class Exponent>(type<Exponent>) {
        return make_bfp<Block, Round, Exponent>(recipe.mantissa);
      });
    });
  });
}

}  // namespace narrow_train
