// Products of matrices whose sizes are small and known when the program is compiled: to one kernel
// (kernel/product/small.hpp).
#pragma once

#include "../../kernel/product.hpp"
#include "../expressions/lane_programs.hpp"
#include "../tensors/product.hpp"
#include "strip_factor.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Whether n, a size at compile time, is known and small.
constexpr bool is_small(int n) { return 1 <= n && n <= 8; }

/// Numbers of X, which lie from `from` on, for a small product.
template <class X, class T> auto small_matrix_of(const X& x, T* from) {
  constexpr auto order = X::IsRowMajor ? kernel::line_order::rows : kernel::line_order::columns;
  if constexpr (always_without_gaps<X>)
    return kernel::small_matrix<T, order, line_length_of<X>>{from};
  else
    return kernel::small_matrix<T, order>{from, x.outerStride()};
}

/// The wide values of an operand that does not lie in memory.
template <class X> struct small_values {
  static plain_like<coefficient_t<X>, X> of(const X& x) { return x; }
};

/// An operand of a small product in memory: where it is, or in a copy of its wide values.
template <class X> class small_operand {
  static constexpr bool in_place = direct_access<X> && !never_adjacent<X>;
  using plain = plain_like<coefficient_t<X>, X>;
  using stored = std::conditional_t<in_place, const X&, const plain>;

 public:
  explicit small_operand(const X& x) : values_(values(x)) {}

  bool adjacent() const { return values_.innerStride() == 1 || values_.innerSize() <= 1; }
  auto matrix() const { return small_matrix_of(values_, values_.data()); }

 private:
  static decltype(auto) values(const X& x) {
    if constexpr (in_place)
      return (x);
    else
      return small_values<X>::of(x);
  }

  stored values_;
};

template <class Dst, class L, class R>
concept small_float_product =
    lane_destination<Dst> && !tensor_product<L, R> && dense_expression<L> && dense_expression<R> &&
    is_small(L::RowsAtCompileTime) && is_small(L::ColsAtCompileTime) && is_small(R::RowsAtCompileTime) &&
    is_small(R::ColsAtCompileTime) && is_small(Dst::RowsAtCompileTime) && is_small(Dst::ColsAtCompileTime) &&
    lane_number<coefficient_t<typename stripped<L>::type>> &&
    lane_number<coefficient_t<typename stripped<R>::type>>;

/// dst = alpha l r + beta dst. False, and nothing is done, where there is no kernel or where the numbers of a
/// line do not lie side by side.
template <class Dst, class L, class R>
requires small_float_product<Dst, L, R>
[[gnu::always_inline]] inline bool multiply_small(Dst& dst, const L& l, const R& r, double alpha,
                                                  double beta) {
  const small_operand<typename stripped<L>::type> a(stripped<L>::expression(l));
  const small_operand<typename stripped<R>::type> b(stripped<R>::expression(r));
  if (!a.adjacent() || !b.adjacent() || (dst.innerStride() != 1 && dst.innerSize() > 1)) return false;
  const auto factor = static_cast<float>(alpha * stripped<L>::factor(l) * stripped<R>::factor(r));
  const auto c = small_matrix_of(dst, dst.data());
  constexpr int rows = L::RowsAtCompileTime, depth = L::ColsAtCompileTime, cols = R::ColsAtCompileTime;
  if constexpr (Dst::IsRowMajor)  // C^T = B^T A^T lies by columns
    return kernel::multiply_small<cols, depth, rows>(transposed(b.matrix()), transposed(a.matrix()),
                                                     transposed(c), factor, static_cast<float>(beta));
  else
    return kernel::multiply_small<rows, depth, cols>(a.matrix(), b.matrix(), c, factor,
                                                     static_cast<float>(beta));
}

}  // namespace narrow::detail
