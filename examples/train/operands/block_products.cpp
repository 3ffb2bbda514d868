#include "operands/block_products.hpp"

#include <istream>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <vector>

namespace narrow_train {
namespace {

template <class T>
concept fp8 = std::same_as<T, forward_fp8> || std::same_as<T, gradient_fp8>;

/// Operands whose elements meet in a product of some recipe.
template <class A, class B>
concept meet = std::same_as<A, B> ||(fp8<A>&& fp8<B>);

/// use(a, b) with the two as what they are.
template <class Use> void with_operands(const block_matrix& a, const block_matrix& b, Use use) {
  std::visit(
      [&]<class A, class B>(const narrow::block_view<A, float>& x, const narrow::block_view<B, float>& y) {
        if constexpr (meet<A, B>)
          use(x, y);
        else
          throw std::logic_error("no recipe has products of such operands");
      },
      a, b);
}

/// out = a b, from sums of 32 bits that saturate: those under one scale each, before they are scaled and
/// added.
template <class A, class B>
void multiply_saturating(const A& a, const B& b, const narrow::matrix_view<float>& out) {
  const std::ptrdiff_t depth = a.cols();
  std::vector<float> memory(static_cast<std::size_t>(out.rows * out.cols));
  const narrow::matrix_view<float> part{memory.data(), out.rows, out.cols, 1, out.rows};
  std::ptrdiff_t k = 0, terms = 0;
  do {
    terms = depth == 0 ? 0 : std::min(a.constant_cols(k), b.transposed().constant_cols(k));
    narrow::gemm(a.block(0, k, out.rows, terms), b.block(k, 0, terms, out.cols), part);
    for (std::ptrdiff_t j = 0; j < out.cols; ++j)
      for (std::ptrdiff_t i = 0; i < out.rows; ++i) {
        constexpr double largest = std::numeric_limits<std::int32_t>::max();
        const auto limit = depth == 0 ? 0.0f : static_cast<float>(largest * a.scale(i, k) * b.scale(k, j));
        const float sum = std::clamp(part(i, j), -limit, limit);
        out(i, j) = k == 0 ? sum : out(i, j) + sum;
      }
    k += terms;
  } while (k < depth);
}

/// Products of two operands.
class multiplier {
 public:
  explicit multiplier(recipe::product_output output) : output_(output) {}

  /// out = a b.
  template <class A, class B> void operator()(const A& a, const B& b, narrow::matrix_view<float> out) const {
    if constexpr (std::integral<typename A::element_type>)
      if (output_ == recipe::product_output::saturating) return multiply_saturating(a, b, out);
    narrow::gemm(a, b, out);
  }

 private:
  recipe::product_output output_;
};

/// Numbers that follow one another, by columns.
narrow::matrix_view<float> columns_at(float* data, Eigen::Index rows, Eigen::Index cols) {
  return {data, rows, cols, 1, rows};
}

void multiply(const multiplier& product, const block_matrix& a, const block_matrix& b, fp32_matrix& out) {
  with_operands(a, b, [&](const auto& x, const auto& y) {
    out.resize(x.rows(), y.cols());
    timed(work::products, [&] { product(x, y, view_of(out)); });
  });
}

block_matrix transposed(const block_matrix& m) {
  return std::visit([](const auto& view) { return block_matrix(view.transposed()); }, m);
}

/// f(group, first, windows) as for_each_layout, the windows with the scales of their images, of which none
/// has more than one.
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
void multiply_windows(const multiplier& product, const window_grid& grid, const block_matrix& weights,
                      const block_matrix& images, fp32_matrix& out) {
  with_operands(weights, images, [&](const auto& w, const auto& x) {
    out.resize(w.rows() * grid.count(), x.cols());
    timed(work::products, [&] {
      for_each_layout(grid, x, [&](int, Eigen::Index first, const auto& windows) {
        product(w, windows, columns_at(out.col(first).data(), w.rows(), windows.cols()));
      });
    });
  });
}

/// gradient = dy * windows of the images, transposed; dy (outputs x windows of the batch).
void multiply_by_windows(const multiplier& product, const window_grid& grid, const block_matrix& dy,
                         const block_matrix& images, fp32_matrix& gradient) {
  with_operands(dy, images, [&](const auto& g, const auto& x) {
    timed(work::products, [&] {
      sums_of_groups sums(g.rows(), grid.window_size());
      for_each_layout(grid, x, [&](int group, Eigen::Index first, const auto& windows) {
        static thread_local fp32_matrix part;
        part.resize(g.rows(), windows.rows());
        const auto some = g.block(0, first * grid.count(), g.rows(), windows.cols());
        product(some, windows.transposed(), view_of(part));
        sums.of(group) += part;
      });
      gradient = sums.total();
    });
  });
}

/// The numbers of m, which has one scale, in columns of `rows`.
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

/// How an operand is made that holds for the backward pass what is in its format already.
operand_format for_backward(operand_format format, const recipe& how) {
  format.rounding = rounding_choice::nearest;
  if (how.backward == recipe::backward_products::fp32) format.kind = operand_kind::fp32;
  return format;
}

}  // namespace

layer_operands::layer_operands(const recipe& how, const std::shared_ptr<const layer_format>& layer)
    : backward_(how.backward),
      x_(make_operand(how.activations, how.sample_scales, layer)),
      dy_(make_operand(how.gradients, how.sample_scales, layer)) {
  const bool adaptive = how.clip == gradient_clip::mcs || how.clip == gradient_clip::both;
  const bool by_channel = how.clip == gradient_clip::gvq || how.clip == gradient_clip::both;
  const bool by_sample = how.sample_scales != sharing::tensor;
  if (backward_ == recipe::backward_products::fp32)
    batch_x_ = make_operand(for_backward(how.activations, how), sharing::tensor, layer);
  else if (by_sample)
    batch_x_ = make_operand(how.activations, sharing::tensor, layer);
  if (by_sample || adaptive || by_channel)
    batch_dy_ = make_operand(how.gradients, by_channel ? sharing::row : sharing::tensor, layer);
  if (adaptive) {
    narrow::adaptive_clip_options options;
    options.granularity =
        by_channel ? narrow::clip_granularity::per_channel : narrow::clip_granularity::per_layer;
    clip_.emplace(options);
  }
}

const block_operand& layer_operands::assign_x(const fp32_matrix& x) {
  timed(work::conversions, [&] { x_->assign(x); });
  return *x_;
}

layer_operands::of_batch layer_operands::assign_batch(const fp32_matrix& x, const fp32_matrix& dy,
                                                      Eigen::Index channels, input_gradient wanted) {
  timed(work::conversions, [&] {
    if (batch_x_ && backward_ == recipe::backward_products::fp32) {
      x_->read(values_);
      batch_x_->assign(values_);
    } else if (batch_x_) {
      batch_x_->assign(x);
    }
    if (batch_dy_)
      assign_batch_dy(dy, channels, wanted);
    else
      dy_->assign(dy);
  });
  x_->advance();
  dy_->advance();
  return {(batch_x_ ? batch_x_ : x_)->view(),
          batch_dy_ ? batch_dy_->view() : of_height(channels, dy_->view())};
}

void layer_operands::assign_batch_dy(const fp32_matrix& dy, Eigen::Index channels, input_gradient wanted) {
  const Eigen::Map<const fp32_matrix> by_channel(dy.data(), channels, dy.size() / channels);
  if (clip_) clip_->observe(view_of(by_channel));
  has_dy_ = false;
  if (wanted == input_gradient::wanted) {
    // The largest magnitude of all is known where the clips are, and is the scale's unless some are not
    // finite.
    const float largest = clip_ ? clip_->max_abs() : 0;
    const bool known = clip_ && clip_->nonfinite() == 0;
    const auto by_batch = batch_dy_->assignment(view_of(by_channel), clips());
    const auto by_sample = dy_->assignment(view_of(dy), std::span(&largest, known ? 1 : 0));
    has_dy_ = by_batch && by_sample;
    if (has_dy_) return narrow::assign_together({by_batch.get(), by_sample.get()});
  }
  batch_dy_->assign(by_channel, clips());
}

const block_operand& layer_operands::assign_dy(const fp32_matrix& dy) {
  if (batch_dy_ && !has_dy_) timed(work::conversions, [&] { dy_->assign(dy); });
  return *dy_;
}

void layer_operands::save(std::ostream& out) const {
  for (const auto* operand : {&x_, &dy_, &batch_x_, &batch_dy_})
    if (*operand) (*operand)->save_scaling(out);
  if (clip_) out << *clip_;
}

void layer_operands::load(std::istream& in) {
  for (auto* operand : {&x_, &dy_, &batch_x_, &batch_dy_})
    if (*operand) (*operand)->load_scaling(in);
  if (clip_) in >> *clip_;
}

layer_operands::scale_counts layer_operands::scales() const {
  const auto count = [](const auto& operand, const auto& otherwise) {
    return (operand ? operand : otherwise)->scale_count();
  };
  return {x_->scale_count(), dy_->scale_count(), count(batch_x_, x_), count(batch_dy_, dy_)};
}

block_products::block_products(const recipe& how, const std::optional<window_grid>& grid,
                               const std::shared_ptr<const layer_format>& layer)
    : output_(how.output), grid_(grid), operands_(how, layer) {
  if (grid || how.backward == recipe::backward_products::fp32)
    backward_weights_ = make_operand(for_backward(how.weights, how), how.weight_scales, layer);
}

void block_products::forward(const block_operand& weights, const fp32_matrix& x, fp32_matrix& sums) {
  const multiplier product(output_);
  const block_matrix samples = operands_.assign_x(x).view();
  if (grid_)
    multiply_windows(product, *grid_, weights.view(), samples, sums);
  else
    multiply(product, weights.view(), samples, sums);
}

void block_products::weight_gradient(const fp32_matrix& dy, const fp32_matrix& x, fp32_matrix& gradient,
                                     narrow_train::input_gradient wanted) {
  const multiplier product(output_);
  const auto batch = operands_.assign_batch(x, dy, grid_ ? dy.rows() / grid_->count() : dy.rows(), wanted);
  if (grid_)
    multiply_by_windows(product, *grid_, batch.dy, batch.x, gradient);
  else
    multiply(product, batch.dy, transposed(batch.x), gradient);
}

void block_products::input_gradient(const block_operand& weights, const fp32_matrix& dy, fp32_matrix& dx) {
  const multiplier product(output_);
  const block_matrix gradients = operands_.assign_dy(dy).view(), w = backward_weights(weights);
  if (!grid_) return multiply(product, transposed(w), gradients, dx);
  const int outputs = static_cast<int>(dy.rows()) / grid_->count();
  multiply_windows(product, grid_->transposed(outputs), w, gradients, dx);
}

/// The weights as the input gradient takes them: those of a convolution turned.
block_matrix block_products::backward_weights(const block_operand& weights) {
  if (!backward_weights_) return weights.view();
  timed(work::conversions, [&] {
    weights.read(values_);
    if (grid_) turn_weights(*grid_, values_, turned_);
    // Under the one scale that the weights have, they are what they were.
    const float largest = std::visit(
        [](const auto& view) {
          using element = typename std::remove_cvref_t<decltype(view)>::element_type;
          const double most = std::integral<element> ? static_cast<double>(view.largest)
                                                     : double{std::numeric_limits<element>::max()};
          return static_cast<float>(
              std::min(view.scale(0, 0) * most, double{std::numeric_limits<float>::max()}));
        },
        weights.view());
    const bool one_scale = weights.scale_count() == 1;
    backward_weights_->assign(grid_ ? turned_ : values_, std::span(&largest, one_scale ? 1 : 0));
  });
  return backward_weights_->view();
}

}  // namespace narrow_train
