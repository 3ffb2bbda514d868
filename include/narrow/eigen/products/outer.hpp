// Products of a column and a row: as coefficient-wise expressions of the two broadcast, since each
// coefficient is a single product.
#pragma once

#include "../expressions/lane_broadcasts.hpp"
#include "../tensors/product.hpp"
#include "extent.hpp"
#include "strip_factor.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class Dst, class X>
concept outer_operand = direct_access<X> && std::same_as<typename X::Scalar, typename Dst::Scalar>;
template <class Dst, class L, class R>
concept outer_product =
    !tensor_product<L, R> && int(L::ColsAtCompileTime) == 1 && int(R::RowsAtCompileTime) == 1 &&
    int(L::RowsAtCompileTime) != 1 && int(R::ColsAtCompileTime) != 1 && narrow_float<typename Dst::Scalar> &&
    lane_destination<Dst> && outer_operand<Dst, typename stripped<L>::type> &&
    outer_operand<Dst, typename stripped<R>::type>;

/// dst = alpha l r + beta dst, of the size that dst has. False, and nothing is done, for other beta than 0
/// and 1, and where dst shares memory with an operand.
template <class Dst, class L, class R>
requires outer_product<Dst, L, R>
bool multiply_outer(Dst& dst, const L& l, const R& r, double alpha, double beta) {
  using column = typename stripped<L>::type;
  using row = typename stripped<R>::type;
  using T = typename Dst::Scalar;
  const column& a = stripped<L>::expression(l);
  const row& b = stripped<R>::expression(r);
  const extent written(view_of_direct(dst));
  if ((beta != 0 && beta != 1) || dst.rows() != a.rows() || dst.cols() != b.cols() ||
      written.overlaps(extent(view_of_direct(a))) || written.overlaps(extent(view_of_direct(b))))
    return false;
  const auto product = Eigen::Replicate<column, 1, Dst::ColsAtCompileTime>(a, 1, b.cols())
                           .cwiseProduct(Eigen::Replicate<row, Dst::RowsAtCompileTime, 1>(b, a.rows(), 1));
  const double factor = alpha * stripped<L>::factor(l) * stripped<R>::factor(r);
  if (beta == 0)
    call_dense_assignment_loop(dst, factor * product, Eigen::internal::assign_op<T, T>());
  else
    call_dense_assignment_loop(dst, factor * product, Eigen::internal::add_assign_op<T, T>());
  return true;
}

}  // namespace narrow::detail
