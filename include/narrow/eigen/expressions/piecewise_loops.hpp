// Loops over the pieces of an expression: one stores them in a matrix, the other hands them to a reduction.
#pragma once

#include "piecewise.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// An explicit cast to the type of the destination is the rounding of the assignment.
template <class To, class X> const X& without_cast_to(const X& x) { return x; }
template <class To, casts_to<To> Op, class X>
const auto& without_cast_to(const Eigen::CwiseUnaryOp<Op, X>& x) {
  return x.nestedExpression();
}

template <class To, class X>
using uncast = std::remove_cvref_t<decltype(without_cast_to<To>(std::declval<const X&>()))>;

template <class To>
concept drawn_scalar = narrow_scalar<To> && draws_per_element<typename To::round_policy>;

/// Formats to which functions are rounded once.
template <class To>
concept rounds_functions = narrow_float<To> && !drawn_scalar<To> && To::layout::width <= 16;
template <class Op> using function_of_functor_t = typename function_of_functor<Op>::type;
template <class X> inline constexpr bool ends_in_function = false;
template <class Op, class X>
inline constexpr bool ends_in_function<Eigen::CwiseUnaryOp<Op, X>> =
    !std::is_void_v<function_of_functor_t<Op>>;
template <class X>
inline constexpr bool ends_in_function<Eigen::ArrayWrapper<X>> = ends_in_function<std::remove_cv_t<X>>;
template <class X>
inline constexpr bool ends_in_function<Eigen::MatrixWrapper<X>> = ends_in_function<std::remove_cv_t<X>>;

/// What is assigned to numbers of type To with a function as its last operation.
template <class To, class Op, class X> auto with_last_function(const Eigen::CwiseUnaryOp<Op, X>& x) {
  using function = function_of_functor_t<Op>;
  constexpr int bits = bits_of_ties<To>();
  if constexpr (std::same_as<typename To::round_policy, rounding::nearest_even>)
    return x.nestedExpression().unaryExpr(
        last_function<function, bits, typename X::Scalar, function_before_rounding>());
  else
    return x.nestedExpression().unaryExpr(
        last_function<function, bits, typename X::Scalar, function_before_other_rounding>());
}
template <class To, class X> auto with_last_function(const Eigen::ArrayWrapper<X>& x);
template <class To, class X> auto with_last_function(const Eigen::MatrixWrapper<X>& x) {
  return with_last_function<To>(x.nestedExpression());
}
template <class To, class X> auto with_last_function(const Eigen::ArrayWrapper<X>& x) {
  return with_last_function<To>(x.nestedExpression());
}

template <class To, class Combine, class X>
concept rounds_last_function =
    std::is_void_v<Combine> && rounds_functions<To> && ends_in_function<uncast<To, X>>;
/// What dst = Combine(dst, x), or dst = x for void, computes from its numbers, rounded once to To.
template <class To, class Combine, class X> decltype(auto) rounded_last(const X& x) {
  if constexpr (rounds_last_function<To, Combine, X>)
    return with_last_function<To>(without_cast_to<To>(x));
  else
    return without_cast_to<To>(x);
}
template <class To, class Combine, class X>
using rounded_last_t = std::remove_cvref_t<decltype(rounded_last<To, Combine>(std::declval<const X&>()))>;

/// Whether dst = Combine(dst, x), or dst = x for void, is the floats of x, or computed from these, rounded
/// once. Fixed-point numbers are only converted: what is computed of them is exact.
template <class Combine, class Dst, class X>
concept rounds_floats = (narrow_or_float<Dst> && (narrow_or_float<X> || std::is_void_v<Combine>)) ||
                        (narrow_fixed<typename Dst::Scalar> && std::is_void_v<Combine> &&
                         (std::same_as<typename X::Scalar, float> || direct_access<X>));

/// Whether dst = x leaves every code as it is: nothing to compute.
template <class Dst, class X>
concept moves_codes =
    narrow_scalar<typename Dst::Scalar> && std::same_as<typename Dst::Scalar, coefficient_t<X>>;

/// Whether dst = Combine(dst, x), or dst = x for void, can be stored piece by piece, and is more than a copy.
template <class Combine, class Dst, class X>
concept stored_in_pieces = direct_access<Dst> && piecewise_expression<X> && rounds_floats<Combine, Dst, X> &&
                           (narrow_scalar<typename Dst::Scalar> || piecewise_t<X>::any_narrow) &&
                           (!std::is_void_v<Combine> ||
                            (piecewise_t<X>::orders != 0 && !moves_codes<Dst, X>)) &&
                           (Dst::MaxSizeAtCompileTime == Eigen::Dynamic ||
                            Dst::MaxSizeAtCompileTime >= min_piecewise_size);

/// use(order, line, first, n) for all pieces of a matrix. Its lines are those of the order, together if there
/// are no gaps between them; where they are short and many, those across.
template <class Use>
void for_pieces_of(Eigen::Index rows, Eigen::Index cols, traversal order, bool gapless, const Use& use) {
  constexpr Eigen::Index short_line = 32;  // costs more for being called than for its coefficients
  Eigen::Index lines = order == by_columns ? cols : rows, length = order == by_columns ? rows : cols;
  if (gapless) {
    length *= lines;
    lines = 1;
  } else if (length < short_line && length < lines) {
    std::swap(lines, length);
    order = order == by_columns ? by_rows : by_columns;
  }
  for (Eigen::Index line = 0; line < lines; ++line)
    for (Eigen::Index first = 0; first < length; first += piece_size)
      use(order, line, first, std::min(piece_size, length - first));
}

/// Whether nothing depends on that the row-major indices do not go on from one column to the next: draws do.
template <class Dst> bool counts_in_order(const Dst& dst) {
  return !drawn_scalar<typename Dst::Scalar> || Dst::IsRowMajor || dst.outerSize() == 1;
}

/// dst = values, which are computed in pieces; each coefficient is rounded under its row-major index.
template <class Dst, class Values, class Round>
void store_pieces(Dst& dst, Values& values, const Round& round) {
  using To = typename Dst::Scalar;
  const auto places = view_of_direct(dst);
  piece_buffer buffer;
  To together[piece_size];
  const auto store_piece = [&](traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    const auto [place, stride] = line_from(places, order, line, first);
    To* const to = stride == 1 ? place : together;
    const auto result = values.get(order, line, first, n);
    if constexpr (std::same_as<To, float>) {
      Eigen::Map<piece>(to, n) = result;
    } else {
      const auto along = static_cast<std::uint64_t>(first), across = static_cast<std::uint64_t>(line),
                 cols = static_cast<std::uint64_t>(places.cols);
      const std::uint64_t index = order == by_rows ? across * cols + along : along * cols + across,
                          step = order == by_rows ? 1 : cols;
      const float* floats = buffer.values;
      if constexpr (std::same_as<std::remove_const_t<decltype(result)>, piece_view>)
        floats = result.data();
      else
        Eigen::Map<piece>(buffer.values, n) = result;
      convert(floats, to, static_cast<std::size_t>(n), round, index, step);
    }
    if (stride != 1)
      for (Eigen::Index i = 0; i < n; ++i) place[i * stride] = together[i];
  };
  constexpr traversal order = storage_order_of<Dst>;
  for_pieces_of(places.rows, places.cols, order,
                counts_in_order(dst) && values.gapless(order) && without_gaps(dst), store_piece);
}

/// Floats side by side in memory.
template <class X>
concept floats_in_lines =
    direct_access<X> && std::same_as<typename X::Scalar, float> && X::InnerStrideAtCompileTime == 1;

/// dst = Combine(dst, x), or dst = x for void. False, and nothing is done, if dst is small.
template <class Combine, class Dst, class X, class Round>
bool assign_in_pieces(Dst& dst, const X& x, const Round& round) {
  if (dst.size() < min_piecewise_size) return false;
  if constexpr (std::is_void_v<Combine>) {
    if constexpr (floats_in_lines<X> && narrow_scalar<typename Dst::Scalar> &&
                  Dst::InnerStrideAtCompileTime == 1 && storage_order_of<Dst> == storage_order_of<X>)
      if (without_gaps(dst) && without_gaps(x) && counts_in_order(dst)) {
        convert(x.data(), dst.data(), static_cast<std::size_t>(dst.size()), round, 0, 1);
        return true;
      }
    piecewise<X> values(x);
    store_pieces(dst, values, round);
  } else {
    piecewise_operation<Combine, piecewise<Dst>, piecewise<X>> values(dst, x);
    store_pieces(dst, values, round);
  }
  return true;
}

/// Computed pieces of narrow numbers, which can be read one after the other.
template <class X>
concept read_in_pieces =
    piecewise_expression<X> && narrow_float<typename X::Scalar> && piecewise_t<X>::orders != 0;

/// use(values) for all pieces of x, in memory. False, and nothing is done, if x is small.
template <read_in_pieces X, class Use> bool for_pieces(const X& x, const Use& use) {
  if (x.size() < min_piecewise_size) return false;
  piecewise_t<X> values(x);
  piece_buffer buffer;
  constexpr traversal order = piecewise_t<X>::orders & by_columns ? by_columns : by_rows;
  for_pieces_of(x.rows(), x.cols(), order, values.gapless(order),
                [&](traversal direction, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
                  Eigen::Map<piece>(buffer.values, n) = values.get(direction, line, first, n);
                  use(piece_view(buffer.values, n));
                });
  return true;
}

}  // namespace narrow::detail
