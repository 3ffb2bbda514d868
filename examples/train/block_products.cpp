#include "block_products.hpp"

namespace narrow_train {

block_products::block_products(const block_recipe& recipe, const std::optional<window_grid>& grid)
    : grid_(grid),
      x_(make_operand(recipe, recipe.activations, recipe.sample_scales)),
      dy_(make_operand(recipe, recipe.gradients, recipe.sample_scales)),
      batch_x_(make_operand(recipe, recipe.activations, sharing::tensor)),
      batch_dy_(make_operand(recipe, recipe.gradients, sharing::tensor)) {}

block_matrix block_products::laid_out(const block_operand& samples, Eigen::Index rows) {
  return std::visit(
      [&](auto view) {
        // The same numbers in columns of `rows`; as many of them share a scale as made up one column.
        const std::ptrdiff_t pieces = rows == 0 ? 1 : view.rows() / rows;
        view.elements = {view.elements.data, rows, view.cols() * pieces, 1, rows};
        view.tile_rows = rows;
        view.tile_cols *= pieces;
        return block_matrix(view);
      },
      samples.view());
}

block_matrix block_products::windows_of(const block_operand& samples) {
  return std::visit(
      [&]<class Element>(narrow::block_view<Element, float> view) {
        const Eigen::Map<const matrix<Element>> images(view.elements.data, view.rows(), view.cols());
        auto& columns = [this]() -> matrix<Element>& {
          if constexpr (sizeof(Element) == 1)
            return bytes_;
          else
            return words_;
        }();
        image_to_columns(*grid_, images, columns);
        view.elements = {columns.data(), columns.rows(), columns.cols(), 1, columns.rows()};
        view.tile_rows = columns.rows();
        view.tile_cols *= grid_->count();
        return block_matrix(view);
      },
      samples.view());
}

void block_products::forward(const block_operand& weights, const fp32_matrix& x, fp32_matrix& sums) {
  timed(work::conversions, [&] { x_->assign(x); });
  multiply(weights.view(), grid_ ? windows_of(*x_) : x_->view(), sums);
}

void block_products::weight_gradient(const fp32_matrix& dy, const fp32_matrix& x, fp32_matrix& gradient) {
  timed(work::conversions, [&] {
    batch_x_->assign(x);
    batch_dy_->assign(dy);
  });
  const block_matrix columns = grid_ ? windows_of(*batch_x_) : batch_x_->view();
  const Eigen::Index outputs = grid_ ? dy.rows() / grid_->count() : dy.rows();
  multiply(laid_out(*batch_dy_, outputs), transposed(columns), gradient);
}

void block_products::input_gradient(const block_operand& weights, const fp32_matrix& dy,
                                    fp32_matrix& dcolumns) {
  timed(work::conversions, [&] { dy_->assign(dy); });
  const Eigen::Index outputs = grid_ ? dy.rows() / grid_->count() : dy.rows();
  multiply(transposed(weights.view()), laid_out(*dy_, outputs), dcolumns);
}

block_products::scale_counts block_products::scales() const {
  return {x_->scale_count(), dy_->scale_count(), batch_x_->scale_count(), batch_dy_->scale_count()};
}

}  // namespace narrow_train
