#include "block_operand.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace narrow_train {
namespace {

template <class Format> class operand final : public block_operand {
 public:
  void assign(const fp32_matrix& values) override {
    tensor_.assign(narrow::column_major(std::span(values.data(), static_cast<std::size_t>(values.size())),
                                        values.rows(), values.cols()));
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
    loaded.assign(
        narrow::column_major(std::span(std::as_const(values).data(), static_cast<std::size_t>(values.size())),
                             values.rows(), values.cols()),
        narrow::rounding::nearest_even{}, largest);
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

void multiply(const block_matrix& a, const block_matrix& b, fp32_matrix& out) {
  std::visit(
      [&](const auto& x, const auto& y) {
        out.resize(x.rows(), y.cols());
        timed(work::products, [&] {
          narrow::gemm(x, y,
                       narrow::column_major(std::span(out.data(), static_cast<std::size_t>(out.size())),
                                            out.rows(), out.cols()));
        });
      },
      a, b);
}

block_matrix transposed(const block_matrix& m) {
  return std::visit([](const auto& view) { return block_matrix(view.transposed()); }, m);
}

}  // namespace narrow_train
