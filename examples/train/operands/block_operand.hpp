// Matrices in a format that the command line chooses, as operands of products.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <variant>

#include "files/saved_state.hpp"
#include "operands/coded_matrix.hpp"
#include "operands/recipe.hpp"
#include "tensor/tensor.hpp"

namespace narrow_train {

/// fp8 for the forward pass and for gradients; what does not fit saturates.
using forward_fp8 =
    narrow::floating<4, 3, narrow::specials::fn, narrow::rounding::nearest_even, narrow::overflow::saturate>;
using gradient_fp8 = narrow::floating<5, 2, narrow::specials::ieee, narrow::rounding::nearest_even,
                                      narrow::overflow::saturate>;

/// Numbers that share scales in blocks: integers as wide as the format needs, or floats.
using block_matrix =
    std::variant<narrow::block_view<std::int8_t, float>, narrow::block_view<std::int16_t, float>,
                 narrow::block_view<std::int32_t, float>, narrow::block_view<float, float>,
                 narrow::block_view<forward_fp8, float>, narrow::block_view<gradient_fp8, float>>;

/// A matrix in some format, stored by columns. Its state is all that is stored but its shape, which `load`
/// keeps.
class block_operand : public saved_state {
 public:
  /// Takes the shape of the values, and the values, rounded. `clips`, if there are any, are what the scales
  /// are chosen by in place of the largest magnitudes: one, or one for each of scale_count().
  virtual void assign(const Eigen::Ref<const fp32_matrix>& values, std::span<const float> clips = {}) = 0;
  /// The assignment as a part of narrow::assign_together, until which values and clips must live; null for
  /// formats that cannot take part.
  virtual std::unique_ptr<narrow::assignment_in_parts> assignment(narrow::matrix_view<const float> /*values*/,
                                                                  std::span<const float> /*clips*/) {
    return nullptr;
  }
  virtual void read(fp32_matrix& values) const = 0;
  [[nodiscard]] fp32_matrix values() const {
    fp32_matrix result;
    read(result);
    return result;
  }
  [[nodiscard]] virtual block_matrix view() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual std::size_t scale_count() const = 0;

  /// Ends a training step, for formats whose scale depends on the steps before: what was assigned last
  /// becomes one.
  virtual void advance() {}
  /// What the next `assign` depends on, beside its values.
  virtual void save_scaling(std::ostream&) const {}
  virtual void load_scaling(std::istream&) {}
  /// What `assign` depends on in inference, where there are no steps.
  virtual void save_held_scale(std::ostream&) const {}
  virtual void load_held_scale(std::istream&) {}

  /// The bits of the numbers, with their scales where the format has some.
  [[nodiscard]] virtual coded_matrix coded() const = 0;
  /// Takes over what `coded` gave of an operand of this format and shape. Throws std::exception for anything
  /// else.
  virtual void restore(const coded_matrix& numbers) = 0;
};

/// An empty matrix in a format. Stochastic rounding draws from the calling thread's stream (narrow::seed).
/// `layer` is for formats that change.
std::unique_ptr<block_operand> make_operand(const operand_format& format, sharing scales,
                                            const std::shared_ptr<const layer_format>& layer);

/// The numbers of an operand, as a matrix with so many rows.
void read(const block_matrix& numbers, Eigen::Index rows, fp32_matrix& values);

/// use(T{}) for the rounding policy T that was chosen.
template <class Use> auto with_rounding(rounding_choice r, Use use) {
  return r == rounding_choice::nearest ? use(narrow::rounding::nearest_even{})
                                       : use(narrow::rounding::stochastic{});
}

/// The values of `assign` as the library takes them.
inline narrow::matrix_view<const float> view_of(const Eigen::Ref<const fp32_matrix>& m) {
  return {m.data(), m.rows(), m.cols(), 1, m.outerStride()};
}
inline narrow::matrix_view<float> view_of(fp32_matrix& m) {
  return {m.data(), m.rows(), m.cols(), 1, m.rows()};
}

/// Elements stored by columns that all share one scale, which must live as long as the view.
template <class Element>
narrow::block_view<Element, float> one_block(const Element* elements, Eigen::Index rows, Eigen::Index cols,
                                             const float& scale) {
  return {{elements, rows, cols, 1, rows}, {&scale, 1, 1, 1, 1}, rows, cols};
}

}  // namespace narrow_train
