// The one place where Eigen's assignments to and from narrow matrices are taken over.
//
// Eigen (Core/AssignEvaluator.h, 3.4 and 5) sends `dst = src`, `dst += src`, ... from call_assignment to
// Assignment<Dst, Src, Functor>::run. Sources with kernels or routines of their own are caught there:
//   A * B, X + A * B          products/dense.hpp (Assignment, assignment_from_xpr_op_product): kernel/product.hpp
//   inverses, solutions       solvers/ (Assignment): Eigen's routines on wide copies
// Any other dense source comes to call_dense_assignment_loop below, which computes it in the first of these
// ways that is possible:
//   1. line by line           expressions/copies.hpp: codes move as they are, or change places
//   2. as a program of lanes  expressions/lane_programs.hpp and its like: one loop, loads to store; of casts
//                             to integers and doubles, and conditions, expressions/lane_casts.hpp
//   3. in pieces              expressions/piecewise_loops.hpp: kernels convert, Eigen's packets compute
//   4. with one draw each     coefficient by coefficient, for stochastic rounding
//   5. by Eigen's own loop    over the evaluators of expressions/, with the functors of assign_functors.hpp
#pragma once

#include "expressions/copies.hpp"
#include "expressions/fixed_programs.hpp"
#include "expressions/lane_casts.hpp"
#include "expressions/lane_pieces.hpp"
#include "expressions/piecewise_loops.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {
template <class Dst, class Functor>
concept assigns_drawn = assigns_narrow<Functor> && drawn_scalar<typename Dst::Scalar>;
/// With arithmetic in float: of an expression, or with what is there already. Codes that only move across
/// lines, as those of the transpose of a constant matrix do, are left to Eigen's own loop.
template <class Dst, class Src, class Functor>
concept assigns_computed = assigns_narrow<Functor> && some_narrow_float<Dst, Src> &&
    (sets_value<Functor> ? computed_narrow_float<Src> && !moves_across_lines<Dst, Src> : true);

template <class Dst, class Src, class Functor>
using assigned_values = rounded_last_t<typename Dst::Scalar, typename combination<Functor>::type, Src>;

template <class Dst, class Src, class Functor>
concept assigns_in_pieces = requires {
  typename combination<Functor>::type;
}
&&stored_in_pieces<typename combination<Functor>::type, Dst, assigned_values<Dst, Src, Functor>>;

/// What a program computes of src where that is assigned to numbers of type To: what is rounded last, if that
/// is not what only a cast makes floats of.
template <class To, class Combine, class Src> decltype(auto) values_in_lanes(const Src& src) {
  if constexpr (lane_expressions_of<widened_t<To>, rounded_last_t<To, Combine, Src>>)
    return rounded_last<To, Combine>(src);
  else
    return (src);
}
template <class To, class Combine, class Src>
using values_in_lanes_t =
    std::remove_cvref_t<decltype(values_in_lanes<To, Combine>(std::declval<const Src&>()))>;
template <class Dst, class Src, class Functor>
concept assigns_in_lanes = requires {
  typename combination<Functor>::type;
}
&&assigned_in_lanes<typename combination<Functor>::type, Dst,
                    values_in_lanes_t<typename Dst::Scalar, typename combination<Functor>::type, Src>>;

template <class Dst, class Src, class Functor>
concept assigns_last_function =
    rounds_last_function<typename Dst::Scalar, typename combination<Functor>::type, Src>;

/// Few numbers, narrow ones or computed of such, which a program computes where it stands.
template <class Dst, class Src, class Functor>
concept assigns_few = is_few(Dst::SizeAtCompileTime) && assigns_in_lanes<Dst, Src, Functor> &&
                      !moves_codes<Dst, Src> &&
                      (narrow_float<scalar_of<Dst>> ||
                       piecewise_t<assigned_values<Dst, Src, Functor>>::any_narrow);

/// Floats computed of fixed-point numbers.
template <class Dst, class Src, class Functor>
concept assigns_of_fixed = std::same_as < scalar_of<Dst>,
float > &&assigns_in_lanes<Dst, Src, Functor>&& reads_fixed<lane_program_type<Src, storage_order_of<Dst>>>;

template <class Dst, class Src, class Functor>
concept assigned_here = moves_lines<Dst, Src, Functor> || swaps_lines<Dst, Src, Functor> ||
                        assigns_drawn<Dst, Functor> || assigns_computed<Dst, Src, Functor> ||
                        assigns_few<Dst, Src, Functor> || assigns_in_pieces<Dst, Src, Functor> ||
                        stores_without_rounding<Dst, Src, Functor> ||
                        (narrow_fixed<typename Dst::Scalar>&& assigns_in_lanes<Dst, Src, Functor>) ||
                        assigns_of_fixed<Dst, Src, Functor>;

/// dst(i, j) = functor of dst(i, j) and from(i, j), under the draw of the row-major index of (i, j), whatever
/// the storage order.
template <class Functor, class Dst, class From, class Round>
void assign_drawn(Dst& dst, const From& from, const Round& round) {
  Eigen::internal::evaluator<Dst> to(dst);
  const Eigen::Index rows = dst.rows(), cols = dst.cols();
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < cols; ++j)
      Functor::assign(to.coeffRef(i, j), from.coeff(i, j), round.at(element_index(i, j, cols)));
}

template <class Dst, class Src, class Functor> void assign(Dst& dst, const Src& src, const Functor& functor) {
  using To = typename Dst::Scalar;
  using round_policy = typename policy_of<To>::type;
  const auto in_pieces = [&](const round_policy& round) {
    if constexpr (assigns_in_pieces<Dst, Src, Functor>) {
      using combine = typename combination<Functor>::type;
      const auto& values = rounded_last<To, combine>(src);
      if constexpr (pieces_in_lanes<combine, Dst, std::remove_cvref_t<decltype(values)>>)
        if (assign_pieces_in_lanes<combine>(dst, values, round)) return true;
      return assign_in_pieces<combine>(dst, values, round);
    } else {
      return false;
    }
  };
  if constexpr (assigns_drawn<Dst, Functor>) {
    const auto& values = without_cast_to<To>(src);
    const Eigen::internal::evaluator<std::remove_cvref_t<decltype(values)>> from(values);
    Eigen::internal::resize_if_allowed(dst, src, functor);
    // A ticket for the whole assignment, taken after those of products that the evaluator has computed.
    const round_policy round{};
    if (!in_pieces(round)) assign_drawn<Functor>(dst, from, round);
  } else {
    if constexpr (assigns_in_pieces<Dst, Src, Functor>) Eigen::internal::resize_if_allowed(dst, src, functor);
    if (in_pieces(round_policy{})) return;
    if constexpr (assigns_last_function<Dst, Src, Functor>)
      Eigen::internal::call_dense_assignment_loop(
          dst, rounded_last<To, void>(src).template cast<To>().matrix(), functor);
    else if constexpr (narrow_float<To> && narrow_or_float<uncast<To, Src>>)
      Eigen::internal::call_dense_assignment_loop(dst, without_cast_to<To>(src), functor);
    else
      Eigen::internal::call_dense_assignment_loop(dst, src, functor);
  }
}

/// In the usual floating-point environment.
template <class Dst, class Src, class Functor>
void assign_otherwise(Dst& dst, const Src& src, const Functor& functor) {
  with_float_environment([&] { assign(dst, src, functor); });
}
/// The same, if it is not done yet: of what always is, nothing is compiled.
template <class Done, class Dst, class Src, class Functor>
[[gnu::always_inline]] inline void assign_unless(Done done, Dst& dst, const Src& src,
                                                 const Functor& functor) {
  if constexpr (!std::same_as<Done, std::true_type>)
    if (!done) assign_otherwise(dst, src, functor);
}
template <class Dst, class Src, class Functor>
[[gnu::always_inline]] inline void assign_here(Dst& dst, const Src& src, const Functor& functor) {
  using To = typename Dst::Scalar;
  const auto fit = [&] { Eigen::internal::resize_if_allowed(dst, src, functor); };
  if constexpr (moves_lines<Dst, Src, Functor>) {
    fit();
    move_lines(dst, src);
  } else if constexpr (swaps_lines<Dst, Src, Functor>) {
    swap_lines(dst, src);
  } else if constexpr (stores_without_rounding<Dst, Src, Functor>) {
    assign_unless(store_without_rounding(dst, src, fit), dst, src, functor);
  } else if constexpr (assigns_in_lanes<Dst, Src, Functor>) {
    using combine = typename combination<Functor>::type;
    assign_unless(assign_in_lanes<combine>(dst, values_in_lanes<To, combine>(src), fit), dst, src, functor);
  } else {
    assign_otherwise(dst, src, functor);
  }
}

/// Numbers that do not lie side by side, as those of a row of a matrix by columns. Assigning to them is
/// always inlined: for a function of its own the blocks of the expression would be copied in memory, and a
/// processor waits for each copy, longer than it takes to compute a short row.
template <class Dst>
concept lies_apart = Dst::InnerStrideAtCompileTime != 1;
}  // namespace detail

/// Eigen's assignment loop, found by argument-dependent lookup: here, as at a kernel, the caller's rounding
/// mode and flush-to-zero end. Of the two overloads never both fit: g++ 12 does not end comparing constraints
/// as large as these.
template <class Dst, class Src, class Functor>
requires(!detail::lies_apart<Dst> &&
         detail::assigned_here<Dst, Src, Functor>) void call_dense_assignment_loop(Dst& dst, const Src& src,
                                                                                   const Functor& functor) {
  detail::assign_here(dst, src, functor);
}
template <class Dst, class Src, class Functor>
requires(detail::lies_apart<Dst>&& detail::assigned_here<Dst, Src, Functor>)
    [[gnu::always_inline]] inline void call_dense_assignment_loop(Dst& dst, const Src& src,
                                                                  const Functor& functor) {
  detail::assign_here(dst, src, functor);
}

#if !EIGEN_VERSION_AT_LEAST(4, 0, 0)
/// Eigen 3.4 has an overload for constants, which std::fill_n stores one by one.
template <class Dst>
requires narrow_scalar<typename Dst::Scalar>
void call_dense_assignment_loop(
    Dst& dst,
    const Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<typename Dst::Scalar>, Dst>& src,
    const Eigen::internal::assign_op<typename Dst::Scalar, typename Dst::Scalar>& functor) {
  Eigen::internal::resize_if_allowed(dst, src, functor);
  detail::fill_line(dst.data(), static_cast<std::size_t>(dst.size()), src.functor().m_other);
}
#endif

}  // namespace narrow

#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
namespace Eigen::internal {

/// Eigen 5 stores constants by std::fill_n, one by one.
template <class X>
requires narrow::narrow_scalar<typename X::Scalar>
struct eigen_fill_impl<X, true> : eigen_fill_impl<X, false> {
};

}  // namespace Eigen::internal
#endif
