// Tensors from ranges and back, and their products, for code without a matrix library.
#pragma once

#include "../convert.hpp"
#include "tensor.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {
template <class Range>
inline constexpr bool holds_floats = std::same_as<std::ranges::range_value_t<Range>, float>;
}  // namespace detail

/// A matrix in a block format.
///
/// Shapes    any view: `row_major(range, rows, cols)`, `column_major(...)`; the tensor is stored by rows, or
///           by columns where the view is.
/// Rounding  every element once, by `round` (default: the format's policy) under its row-major index.
/// Special   `nonfinite()` of the result counts NaNs and infinities; see the format.
template <block_format Format, class T, rounding_policy Round = typename Format::round_policy>
[[nodiscard]] block_tensor<Format> quantize(matrix_view<T> values, const Round& round = Round{}) {
  block_tensor<Format> result(
      0, 0,
      values.row_stride == 1 && values.rows > 1 ? storage_order::column_major : storage_order::row_major);
  result.assign(values, round);
  return result;
}

/// A matrix in a block format, from a range whose rows follow one another. Throws std::invalid_argument if it
/// is shorter than rows * cols.
template <block_format Format, sized_array Range, rounding_policy Round = typename Format::round_policy>
[[nodiscard]] block_tensor<Format> quantize(const Range& values, std::ptrdiff_t rows, std::ptrdiff_t cols,
                                            const Round& round = Round{}) {
  return quantize<Format>(row_major(values, rows, cols), round);
}

/// The values of a tensor, row by row. Throws std::invalid_argument naming both sizes if they differ.
template <block_format Format, sized_array Range>
requires detail::holds_floats<Range>
void dequantize(const block_tensor<Format>& tensor, Range&& to) {
  const auto size = static_cast<std::ptrdiff_t>(std::ranges::size(to));
  detail::check_shapes(size == tensor.size(), "narrow::dequantize", "the tensor",
                       detail::extents(tensor.rows(), tensor.cols()), "to", size);
  tensor.dequantize(row_major(to, tensor.rows(), tensor.cols()));
}

/// A tensor read with rows and columns exchanged, as a factor of a product.
template <block_format Format> struct transposed_tensor {
  /// Which must outlive this object.
  const block_tensor<Format>& tensor;
  auto view() const { return tensor.view().transposed(); }
};
/// The tensor as a factor of a product, rows and columns exchanged; nothing is copied.
template <block_format Format> transposed_tensor<Format> transposed(const block_tensor<Format>& tensor) {
  return {tensor};
}

namespace detail {

template <class T> inline constexpr bool is_tensor_factor = false;
template <class F> inline constexpr bool is_tensor_factor<block_tensor<F>> = true;
template <class F> inline constexpr bool is_tensor_factor<transposed_tensor<F>> = true;
template <class E, class S> inline constexpr bool is_tensor_factor<block_view<E, S>> = true;

template <class T> inline constexpr bool is_view_factor = false;
template <class T> inline constexpr bool is_view_factor<matrix_view<T>> = true;

/// The panels that a factor keeps; null if it keeps none.
template <class X> const kernel::panel_store* panels_of_factor(const X& x) {
  if constexpr (requires { x.panels(); })
    return x.panels();
  else
    return nullptr;
}

/// Two factors, of which at least one says in which format the product is.
template <class A, class B>
concept factors_with_tensor = (is_tensor_factor<A> && (is_tensor_factor<B> || is_view_factor<B>)) ||
                              (is_view_factor<A> && is_tensor_factor<B>);

enum class side { left, right };

/// What the other factor of a product is quantised to: the same format and rounding, with a scale for each
/// row on the left, for each column on the right.
template <block_format Format, side Side> struct partner {
  using type = typename Format::template with<std::conditional_t<Side == side::left, per_row, per_column>>;
};
template <block_format Format, side Side>
requires requires { typename Format::template partner<Side>; }
struct partner<Format, Side> {
  using type = typename Format::template partner<Side>;
};
template <class T> struct format_of_factor;
template <class F> struct format_of_factor<block_tensor<F>> { using type = F; };
template <class F> struct format_of_factor<transposed_tensor<F>> { using type = F; };

/// Whether a factor in such blocks has one scale along the terms of each sum.
template <side Side, class Block>
inline constexpr bool has_one_scale =
    std::same_as<Block, per_tensor> ||
    std::same_as<Block, std::conditional_t<Side == side::left, per_row, per_column>>;
template <side Side, class X> inline constexpr bool has_one_scale_of_terms = false;
template <side Side, class F>
inline constexpr bool has_one_scale_of_terms<Side, block_tensor<F>> =
    has_one_scale<Side, typename F::block_type>;
template <side Side, class F>
inline constexpr bool has_one_scale_of_terms<Side, transposed_tensor<F>> =
    has_one_scale<Side == side::left ? side::right : side::left, typename F::block_type>;

constexpr kernel::scales_of_terms scales_of_terms(bool one_on_the_left, bool one_on_the_right) {
  return one_on_the_left && one_on_the_right ? kernel::scales_of_terms::stay
                                             : kernel::scales_of_terms::may_change;
}

/// A factor of a product beside one of format Format, as the kernels see it.
template <side Side, block_format Format, class T> auto tensor_beside(matrix_view<T> values) {
  return quantize<typename partner<Format, Side>::type>(values);
}

}  // namespace detail

/// C = alpha A B + beta C, where A, B or both are tensors, `transposed(tensor)` included, or both are
/// block_views.
///
/// Shapes    A (m, k), B (k, n), C (m, n). A factor that is a view of numbers is quantised as the other one
///           is, by the same policy, with one scale for each of its rows (A) or columns (B).
/// Rounding  no scale changes along the summed dimension: a coefficient of A B is float(exact integer sum) *
///           (scale of its row * scale of its column), each operation rounded to nearest, so bit for bit the
///           same everywhere; integers never wrap. Tiles: the same for each, added in float in ascending
///           order. A scale for each term, or elements (fp8) of which sums under one scale would be rounded,
///           too: the values are multiplied, adding in float, as bf16 where these are exact and no sum
///           leaves the normal floats. Then alpha and beta, and one rounding if C is narrow. C is not read where beta is 0.
/// Throws    std::invalid_argument naming both shapes if they do not match.
template <class A, class B, class C>
requires detail::factors_with_tensor<A, B>
void gemm(const A& a, const B& b, matrix_view<C> c, double alpha = 1, double beta = 0) {
  if constexpr (detail::is_view_factor<A>) {
    gemm(detail::tensor_beside<detail::side::left, typename detail::format_of_factor<B>::type>(a), b, c,
         alpha, beta);
  } else if constexpr (detail::is_view_factor<B>) {
    gemm(a, detail::tensor_beside<detail::side::right, typename detail::format_of_factor<A>::type>(b), c,
         alpha, beta);
  } else {
    const auto left = a.view();
    const auto right = b.view();
    const auto of_left = detail::extents_of(left), of_right = detail::extents_of(right);
    detail::check_factors("narrow::gemm", of_left, of_right);
    detail::check_result("narrow::gemm", of_left, of_right, detail::extents_of(c));
    constexpr auto scales = detail::scales_of_terms(detail::has_one_scale_of_terms<detail::side::left, A>,
                                                    detail::has_one_scale_of_terms<detail::side::right, B>);
    kernel::gemm<scales>(left, right, c, alpha, beta, typename detail::policy_of<C>::type{},
                         {detail::panels_of_factor(a), detail::panels_of_factor(b)});
  }
}

/// y = alpha A x + beta y for a tensor A (m, n), with the rounding and errors of `gemm`; x (n) is quantised
/// under one scale.
template <class A, sized_array X, sized_array Y>
requires detail::is_tensor_factor<A>
void gemv(const A& a, const X& x, Y&& y, double alpha = 1, double beta = 0) {
  const auto n = static_cast<std::ptrdiff_t>(std::ranges::size(x)),
             m = static_cast<std::ptrdiff_t>(std::ranges::size(y));
  detail::check_vectors("narrow::gemv", detail::extents_of(a.view()), n, m);
  gemm(a, column_major(x, n, 1), column_major(y, m, 1), alpha, beta);
}

}  // namespace narrow
