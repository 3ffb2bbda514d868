// Products of small matrices, or of a small one and a vector, in memory: straight to their kernel
// (kernel/product/compact.hpp), since to make a plan would take longer.
#pragma once

#include "../../kernel/product.hpp"
#include "../tensors/product.hpp"
#include "strip_factor.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Numbers in memory that the kernel reads where they lie: not those of 8 bits, which are decoded before.
template <class X>
concept compact_operand = direct_access<X> && kernel::compact_number<coefficient_t<X>> &&
                          sizeof(coefficient_t<X>) > 1;

template <class Dst, class L, class R>
concept compact_product =
    !tensor_product<L, R> && compact_operand<Dst> && compact_operand<typename stripped<L>::type> &&
    compact_operand<typename stripped<R>::type> &&
    kernel::stores_in_lanes<coefficient_t<Dst>, typename policy_of<coefficient_t<Dst>>::type>;

/// The steps from one row to the next and from one column to the next, exchanged if Transposed; each a number
/// of its own (see in_register).
template <bool Transposed, class X> [[gnu::always_inline]] inline kernel::line_steps steps_of(const X& x) {
  const Eigen::Index inner = kernel::in_register(x.innerStride()),
                     outer = kernel::in_register(x.outerStride());
  constexpr bool by_rows = Transposed != bool(X::IsRowMajor);
  return {by_rows ? outer : inner, by_rows ? inner : outer};
}

/// C = alpha A B + beta C; or its transpose, of which the factors are b and a, if Transposed. False, and
/// nothing is done, where that is no task for the kernel.
template <bool Transposed, class A, class B, class C>
[[gnu::always_inline]] inline bool multiply_compact(const A& a, const B& b, C& c, float alpha, float beta) {
  using kernel::in_register;
  const auto [a_row_step, a_term_step] = steps_of<Transposed>(a);
  const auto [b_term_step, b_col_step] = steps_of<Transposed>(b);
  const auto [c_row_step, c_col_step] = steps_of<Transposed>(c);
  if constexpr (int(Transposed ? A::ColsAtCompileTime : A::RowsAtCompileTime) == 1) {
    return kernel::multiply_if_due(kernel::compact_line<coefficient_t<A>, coefficient_t<B>, coefficient_t<C>>{
        in_register(a.data()), in_register(b.data()), in_register(c.data()), a_term_step, b_term_step,
        b_col_step, c_col_step, in_register(a.size()), in_register(c.size()), alpha, beta});
  } else {
    return c_col_step == 1 && kernel::multiply_if_due(
                                  kernel::compact_factors<coefficient_t<A>, coefficient_t<B>>{
                                      in_register(a.data()), in_register(b.data()), a_row_step, a_term_step,
                                      b_term_step, b_col_step, in_register(Transposed ? a.cols() : a.rows()),
                                      in_register(Transposed ? a.rows() : a.cols()),
                                      in_register(Transposed ? b.rows() : b.cols())},
                                  in_register(c.data()), c_row_step, alpha, beta);
  }
}
/// dst = alpha l r + beta dst.
template <class Dst, class L, class R>
requires compact_product<Dst, L, R>
[[gnu::always_inline]] inline bool multiply_compact(Dst& dst, const L& l, const R& r, double alpha,
                                                    double beta) {
  if (dst.rows() != l.rows() || dst.cols() != r.cols()) return false;
  const auto& a = stripped<L>::expression(l);
  const auto& b = stripped<R>::expression(r);
  const auto factor = static_cast<float>(alpha * stripped<L>::factor(l) * stripped<R>::factor(r));
  constexpr bool is_row = L::RowsAtCompileTime == 1, is_column = R::ColsAtCompileTime == 1;
  if constexpr (is_column || (!is_row && !Dst::IsRowMajor))
    return multiply_compact<true>(b, a, dst, factor, static_cast<float>(beta));
  else
    return multiply_compact<false>(a, b, dst, factor, static_cast<float>(beta));
}

}  // namespace narrow::detail
