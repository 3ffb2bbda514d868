// Products with a tensor among the operands, and inner products of two.
#pragma once

#include "matrix.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Whether tensors of formats F and G multiply on their integers; void stands for an operand that is no
/// tensor.
template <class F, class G>
inline constexpr bool multiply_as_tensors = (block_format<F> && (block_format<G> || std::is_void_v<G>)) ||
                                            (std::is_void_v<F> && block_format<G>);

template <class L, class R>
concept tensor_product =
    dense_expression<L> && dense_expression<R> && multiply_as_tensors<stripped_format<L>, stripped_format<R>>;

/// Formats whose matrices have one scale, whichever part of one is multiplied.
template <class Format> inline constexpr bool is_one_block = false;
template <block_format Format>
inline constexpr bool is_one_block<Format> = std::same_as<typename Format::block_type, per_tensor>;

/// A tensor, or a view that picks and turns its elements, times a factor.
template <class X, side, class> class tensor_operand {
 public:
  static constexpr bool has_one_scale = is_one_block<stripped_format<X>>;

  explicit tensor_operand(const X& x) : x_(stripped<X>::expression(x)), factor_(stripped<X>::factor(x)) {}
  auto view() const { return tensor_access<typename stripped<X>::type>::view(x_); }
  double factor() const { return factor_; }
  const kernel::panel_store* panels() const { return panels_below<typename stripped<X>::type>::of(x_); }

 private:
  const typename stripped<X>::type& x_;
  double factor_;
};

/// Any other expression, quantised as the operand of format Partner beside it.
template <class X, side Side, class Partner>
requires std::is_void_v<stripped_format<X>>
class tensor_operand<X, Side, Partner> {
  using plain = Eigen::Matrix<coefficient_t<X>, Eigen::Dynamic, Eigen::Dynamic,
                              X::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor>;
  using format = typename partner<Partner, Side>::type;

 public:
  static constexpr bool has_one_scale = detail::has_one_scale<Side, typename format::block_type>;

  explicit tensor_operand(const X& x)
      : tensor_(0, 0, X::IsRowMajor ? storage_order::row_major : storage_order::column_major) {
    const coefficients<plain, X> of_x(x);
    of_x.visit([&](const auto& values) { tensor_.assign(of_x.rows, of_x.cols, values); });
  }
  auto view() const { return tensor_.view(); }
  static double factor() { return 1; }
  static const kernel::panel_store* panels() { return nullptr; }

 private:
  block_tensor<format> tensor_;
};

template <class L, class R> class tensor_factors {
 public:
  tensor_factors(const L& l, const R& r) : a_(l), b_(r) {}

  template <class To> void multiply(matrix_view<To> c, double alpha, double beta) const {
    const double factor = alpha * a_.factor() * b_.factor();
    if constexpr (std::same_as<stripped_format<L>, dynamic_fixed>)
      gemm(a_.view(), b_.view(), c, factor, beta);
    else
      kernel::gemm<scales_of_terms(left::has_one_scale, right::has_one_scale)>(
          a_.view(), b_.view(), c, factor, beta, typename policy_of<To>::type{}, {a_.panels(), b_.panels()});
  }

 private:
  using left = tensor_operand<L, side::left, stripped_format<R>>;
  using right = tensor_operand<R, side::right, stripped_format<L>>;
  left a_;
  right b_;
};

/// A vector in blocks, or what picks and turns numbers of one.
template <class X>
requires block_format<format_below<X>> &&
    (X::RowsAtCompileTime == 1 || X::ColsAtCompileTime == 1) auto block_line_of(const X& x) {
  constexpr auto kind = X::RowsAtCompileTime == 1 ? kernel::line_kind::row : kernel::line_kind::column;
  return kernel::first_line<kind>(tensor_access<X>::view(x));
}
/// Vectors whose inner product is computed in integers.
template <class L, class R>
concept block_vectors = requires(const L& l, const R& r, float& sum) {
  kernel::try_dot(block_line_of(l), block_line_of(r), sum);
};

}  // namespace narrow::detail
