#include "block_products.hpp"

namespace narrow_train {
namespace {

narrow::matrix_view<float> view_of(float* data, Eigen::Index rows, Eigen::Index cols) {
  return {data, rows, cols, 1, rows};
}

/// out = a b.
void multiply(const block_matrix& a, const block_matrix& b, fp32_matrix& out) {
  std::visit(
      [&](const auto& x, const auto& y) {
        out.resize(x.rows(), y.cols());
        timed(work::products, [&] { narrow::gemm(x, y, view_of(out.data(), out.rows(), out.cols())); });
      },
      a, b);
}

block_matrix transposed(const block_matrix& m) {
  return std::visit([](const auto& view) { return block_matrix(view.transposed()); }, m);
}

/// f(group, first, windows) as for_each_layout, the windows with the scales of their images, of which none has more
/// than one.
template <class Images, class F> void for_each_layout(const window_grid& grid, const Images& images, F f) {
  for_each_layout(grid, images.elements.data, images.cols(),
                  [&](int group, Eigen::Index first, Eigen::Index count, const auto& columns) {
                    Images windows = images.block(0, first, images.rows(), count);
                    windows.elements = {columns.data(), columns.rows(), columns.cols(), 1, columns.rows()};
                    windows.tile_rows = columns.rows();
                    windows.tile_cols *= grid.count();
                    windows.first_col *= grid.count();
                    f(group, first, windows);
                  });
}

/// out = weights * windows of the images, as (outputs of an image x batch).
void multiply_windows(const window_grid& grid, const block_matrix& weights, const block_matrix& images,
                      fp32_matrix& out) {
  std::visit(
      [&](const auto& w, const auto& x) {
        out.resize(w.rows() * grid.count(), x.cols());
        timed(work::products, [&] {
          for_each_layout(grid, x, [&](int, Eigen::Index first, const auto& windows) {
            narrow::gemm(w, windows, view_of(out.col(first).data(), w.rows(), windows.cols()));
          });
        });
      },
      weights, images);
}

/// gradient = dy * windows of the images, transposed; dy (outputs x windows of the batch).
void multiply_by_windows(const window_grid& grid, const block_matrix& dy, const block_matrix& images,
                         fp32_matrix& gradient) {
  std::visit(
      [&](const auto& g, const auto& x) {
        timed(work::products, [&] {
          sums_of_groups sums(g.rows(), grid.window_size());
          for_each_layout(grid, x, [&](int group, Eigen::Index first, const auto& windows) {
            const auto some = g.block(0, first * grid.count(), g.rows(), windows.cols());
            auto sum = sums.of(group);
            narrow::gemm(some, windows.transposed(), view_of(sum.data(), sum.rows(), sum.cols()), 1, 1);
          });
          gradient = sums.total();
        });
      },
      dy, images);
}

/// The same numbers under their one scale, in columns of `rows`.
block_matrix of_height(Eigen::Index rows, const block_matrix& m) {
  return std::visit(
      [rows](auto view) {
        const std::ptrdiff_t cols = view.rows() * view.cols() / rows;
        view.elements = {view.elements.data, rows, cols, 1, rows};
        view.tile_rows = rows;
        view.tile_cols = cols;
        return block_matrix(view);
      },
      m);
}

}  // namespace

block_products::block_products(const block_recipe& recipe, const std::optional<window_grid>& grid)
    : grid_(grid),
      x_(make_operand(recipe, recipe.activations, recipe.sample_scales)),
      dy_(make_operand(recipe, recipe.gradients, recipe.sample_scales)) {
  const bool one_scale = recipe.sample_scales == sharing::tensor;
  if (!one_scale || recipe.activations == rounding_choice::stochastic)
    batch_x_ = make_operand(recipe, recipe.activations, sharing::tensor);
  if (!one_scale) batch_dy_ = make_operand(recipe, recipe.gradients, sharing::tensor);
  if (grid) turned_weights_ = make_operand(recipe, rounding_choice::nearest, recipe.weight_scales);
}

void block_products::forward(const block_operand& weights, const fp32_matrix& x, fp32_matrix& sums) {
  timed(work::conversions, [&] { x_->assign(x); });
  if (grid_)
    multiply_windows(*grid_, weights.view(), x_->view(), sums);
  else
    multiply(weights.view(), x_->view(), sums);
}

void block_products::weight_gradient(const fp32_matrix& dy, const fp32_matrix& x, fp32_matrix& gradient) {
  const Eigen::Index outputs = grid_ ? dy.rows() / grid_->count() : dy.rows();
  timed(work::conversions, [&] {
    if (batch_x_) batch_x_->assign(x);
    if (batch_dy_)
      batch_dy_->assign(Eigen::Map<const fp32_matrix>(dy.data(), outputs, dy.size() / outputs));
    else
      dy_->assign(dy);
  });
  const block_matrix gradients = batch_dy_ ? batch_dy_->view() : of_height(outputs, dy_->view());
  const block_matrix samples = (batch_x_ ? batch_x_ : x_)->view();
  if (grid_)
    multiply_by_windows(*grid_, gradients, samples, gradient);
  else
    multiply(gradients, transposed(samples), gradient);
}

void block_products::input_gradient(const block_operand& weights, const fp32_matrix& dy, fp32_matrix& dx) {
  if (batch_dy_) timed(work::conversions, [&] { dy_->assign(dy); });
  if (!grid_) return multiply(transposed(weights.view()), dy_->view(), dx);
  const int outputs = static_cast<int>(dy.rows()) / grid_->count();
  timed(work::conversions, [&] { turn(weights); });
  multiply_windows(grid_->transposed(outputs), turned_weights_->view(), dy_->view(), dx);
}

void block_products::turn(const block_operand& weights) {
  weights.read(weights_);
  turn_weights(*grid_, weights_, turned_);
  // Under the one scale that the weights have, they are what they were.
  const float largest = std::visit(
      [](const auto& view) {
        return static_cast<float>(view.scale(0, 0) * static_cast<double>(view.largest));
      },
      weights.view());
  const bool one_scale = weights.scale_count() == 1;
  turned_weights_->assign(turned_, std::span(&largest, one_scale ? 1 : 0));
}

block_products::scale_counts block_products::scales() const {
  const auto count = [](const auto& operand, const auto& otherwise) {
    return (operand ? operand : otherwise)->scale_count();
  };
  return {x_->scale_count(), dy_->scale_count(), count(batch_x_, x_), count(batch_dy_, dy_)};
}

}  // namespace narrow_train
