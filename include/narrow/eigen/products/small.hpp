// Products of matrices whose sizes are small and known when the program is compiled: to one kernel
// (kernel/product/small.hpp).
#pragma once

#include "../../kernel/product.hpp"
#include "../expressions/lane_programs.hpp"
#include "../expressions/piecewise_loops.hpp"
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
concept small_product =
    !tensor_product<L, R> && dense_expression<L> && dense_expression<R> && is_small(L::RowsAtCompileTime) &&
    is_small(L::ColsAtCompileTime) && is_small(R::RowsAtCompileTime) && is_small(R::ColsAtCompileTime) &&
    is_small(Dst::RowsAtCompileTime) && is_small(Dst::ColsAtCompileTime);

template <class Dst, class L, class R>
concept small_float_product = small_product<Dst, L, R> && lane_destination<Dst> &&
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

/// Fixed-point formats of which a few products, so many at most, are added up sooner than a kernel is called,
/// exactly in 64 bits.
inline constexpr int max_few_products = 128;
template <class T>
concept few_in_integers = narrow_fixed<T> && T::word_length <= 16 && !drawn_scalar<T>;

template <class T, class... X>
concept matrices_in_memory_of = ((direct_access<X> && std::same_as<typename X::Scalar, T>)&&...);
template <class L, class R>
inline constexpr int products_of = int(L::SizeAtCompileTime) * int(R::ColsAtCompileTime);
template <class Dst, class L, class R>
concept small_fixed_product = small_product<Dst, L, R> && few_in_integers<typename Dst::Scalar> &&
                              matrices_in_memory_of < typename Dst::Scalar,
        Dst, typename stripped<L>::type,
typename stripped<R>::type > &&(products_of<L, R> <= max_few_products);

/// The same in integers. False, and nothing is done, for other factors than 1 and -1.
template <class Dst, class L, class R>
requires small_fixed_product<Dst, L, R>
bool multiply_small(Dst& dst, const L& l, const R& r, double alpha, double beta) {
  using T = typename Dst::Scalar;
  constexpr Eigen::Index rows = L::RowsAtCompileTime, depth = L::ColsAtCompileTime,
                         cols = R::ColsAtCompileTime;
  const double factor = alpha * stripped<L>::factor(l) * stripped<R>::factor(r);
  if ((factor != 1 && factor != -1) || (beta != 0 && beta != 1)) return false;
  const auto& a = stripped<L>::expression(l);
  const auto& b = stripped<R>::expression(r);
  constexpr std::int64_t unit = std::int64_t{1} << T::fraction_length;
  T results[std::size_t{rows * cols}];  // stored when all are computed: dst may be an operand
  for (Eigen::Index j = 0; j < cols; ++j)
    for (Eigen::Index i = 0; i < rows; ++i) {
      std::int64_t sum = 0;
      for (Eigen::Index p = 0; p < depth; ++p)
        sum += std::int64_t{a.coeff(i, p).bits()} * b.coeff(p, j).bits();
      if (factor < 0) sum = -sum;
      if (beta != 0) sum += unit * dst.coeff(i, j).bits();
      results[i + j * rows] = rounded_fixed<T>(sum, T::fraction_length);
    }
  for (Eigen::Index j = 0; j < cols; ++j)
    for (Eigen::Index i = 0; i < rows; ++i) dst.coeffRef(i, j) = results[i + j * rows];
  return true;
}

}  // namespace narrow::detail
