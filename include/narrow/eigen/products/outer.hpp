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

/// Stores a program's numbers, one for each coefficient of dst, or adds them to it.
template <bool Added, class Dst, class Program> bool store_outer(Dst& dst, const Program& program) {
  constexpr traversal order = storage_order_of<Dst>;
  const auto store = [&](const auto& p, const auto& shape) -> bool {
    if constexpr (Dst::InnerStrideAtCompileTime == 1)
      return kernel::store_program(p, dst.data(), dst.outerStride(), shape);
    else
      return kernel::spread_program(p, dst.data(), {dst.outerStride(), dst.innerStride()},
                                    kernel::line_shape{shape.lines, shape.length});
  };
  return in_shape_along<false, order>(dst, false, [&](const auto& shape) -> bool {
    if constexpr (Added)
      return store(
          kernel::lane_binary<kernel::lane_sum, lane_program_type<Dst, order>, Program>{
              lane_program_t<Dst>::template make<order>(dst), program},
          shape);
    else
      return store(program, shape);
  });
}

/// dst = alpha l r + beta dst, of the size that dst has. False, and nothing is done, for other beta than 0
/// and 1, where dst shares memory with an operand, and without a kernel. The program is made of the operands
/// themselves: expressions of them would be copied in memory first, which takes longer than a small product.
template <class Dst, class L, class R>
requires outer_product<Dst, L, R>
bool multiply_outer(Dst& dst, const L& l, const R& r, double alpha, double beta) {
  using namespace kernel;
  const auto& a = stripped<L>::expression(l);
  const auto& b = stripped<R>::expression(r);
  const extent written(view_of_direct(dst));
  if ((beta != 0 && beta != 1) || dst.rows() != a.rows() || dst.cols() != b.cols() ||
      written.overlaps(extent(view_of_direct(a))) || written.overlaps(extent(view_of_direct(b))))
    return false;
  constexpr traversal order = storage_order_of<Dst>;
  using left = decltype(lane_broadcast<by_columns, order>(a));
  using right = decltype(lane_broadcast<by_rows, order>(b));
  using products = lane_binary<lane_product, left, right>;
  const products program{lane_broadcast<by_columns, order>(a), lane_broadcast<by_rows, order>(b)};
  const auto factor = static_cast<float>(alpha * stripped<L>::factor(l) * stripped<R>::factor(r));
  const auto store = [&](const auto& some) {
    return beta == 0 ? store_outer<false>(dst, some) : store_outer<true>(dst, some);
  };
  if (factor == 1) return store(program);
  return store(lane_binary<lane_product, lane_constant, products>{{factor}, program});
}

}  // namespace narrow::detail
