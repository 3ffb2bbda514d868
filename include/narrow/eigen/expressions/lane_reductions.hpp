// Sums, inner products and counts that end programs of lanes.
#pragma once

#include "lane_broadcasts.hpp"
#include "lane_conditions.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Sums of longer vectors have kernels of their own.
inline constexpr Eigen::Index max_short_vector = 256;

template <class... V>
concept vectors_in_lanes = ((direct_access<V> && bool(V::IsVectorAtCompileTime) &&
                             lane_number<typename V::Scalar>)&&...) &&
                           some_narrow_float<V...>;

template <class V> auto vector_shape(const V& x) {
  if constexpr (is_few(V::SizeAtCompileTime))
    return kernel::fixed_shape<1, V::SizeAtCompileTime>{};
  else
    return kernel::one_line{x.size()};
}

/// A vector as a program, along it.
template <class V> using vector_program_type = lane_program_type<V, storage_order_of<V>>;
template <class V> [[gnu::always_inline]] inline auto vector_program(const V& x) {
  return lane_program_t<V>::template make<storage_order_of<V>>(x);
}

/// The inner product of vectors that are short. False, if it has to be computed in another way (see
/// kernel::sum_program).
template <class L, class R>
requires vectors_in_lanes<L, R>
[[gnu::always_inline]] inline auto dot_in_lanes(const L& l, const R& r, float& sum) {
  const auto of_short = [&]() __attribute__((always_inline)) {
    return kernel::sum_program(
        kernel::lane_binary<kernel::lane_product, vector_program_type<L>, vector_program_type<R>>{
            vector_program(l), vector_program(r)},
        vector_shape(l), sum);
  };
  if constexpr (is_few(L::SizeAtCompileTime) && is_few(R::SizeAtCompileTime))
    return of_short();
  else
    return l.size() <= max_short_vector && of_short();
}
/// The sum of a vector that is short.
template <class V>
requires vectors_in_lanes<V>
[[gnu::always_inline]] inline auto vector_sum_in_lanes(const V& x, float& sum) {
  const auto of_short = [&]() __attribute__((always_inline)) {
    return kernel::sum_program(vector_program(x), vector_shape(x), sum);
  };
  if constexpr (is_few(V::SizeAtCompileTime))
    return of_short();
  else
    return x.size() <= max_short_vector && of_short();
}

/// Matrices in memory, the coefficients of which lie in the same order.
template <class L, class R>
concept matrices_of_one_order = direct_access<L> && direct_access<R> && storage_order_of<L>
== storage_order_of<R>;

template <class L, class R>
concept matrices_in_lanes = matrices_of_one_order<L, R> && some_narrow_float<L, R> &&
    lane_number<typename L::Scalar> && lane_number<typename R::Scalar>;

/// A kernel for large matrices takes longer to begin, and adds up each line by itself, which takes long where
/// these are short.
inline constexpr Eigen::Index max_small_matrix = 4096, max_short_line = 256;

/// A matrix without gaps as a vector.
template <class X> auto as_vector(const X& x) {
  return Eigen::Map<const Eigen::Matrix<typename X::Scalar, Eigen::Dynamic, 1>>(x.data(), x.size());
}

/// The sum of the products of corresponding coefficients. False, if it has to be computed in another way.
template <class L, class R>
requires matrices_in_lanes<L, R>
bool matrix_dot_in_lanes(const L& l, const R& r, float& sum) {
  constexpr traversal order = storage_order_of<L>;
  constexpr bool always_joined = always_without_gaps<L> && always_without_gaps<R>;
  const bool joined = without_gaps(l) && without_gaps(r);
  if constexpr (!is_few(L::SizeAtCompileTime)) {
    if (joined) return dot_in_lanes(as_vector(l), as_vector(r), sum);
    if (l.size() > max_small_matrix && l.innerSize() > max_short_line) return false;
  }
  using products =
      kernel::lane_binary<kernel::lane_product, lane_program_type<L, order>, lane_program_type<R, order>>;
  return in_shape_along<always_joined, order>(l, joined, [&](const auto& shape) {
    return kernel::sum_program(
        products{lane_program_t<L>::template make<order>(l), lane_program_t<R>::template make<order>(r)},
        shape, sum);
  });
}

/// The order of the lines along which an expression alone is evaluated, without a destination; a vector is
/// one line where its order does not matter.
template <class X>
inline constexpr traversal lane_order = lane_program_t<X>::orders& by_rows ||
                                                (lane_program_t<X>::orders == 0 && X::RowsAtCompileTime == 1)
                                            ? by_rows
                                            : by_columns;
template <class X> kernel::line_shape lines_of(const X& x) {
  return lane_order<X> == by_columns ? kernel::line_shape{x.cols(), x.rows()}
                                     : kernel::line_shape{x.rows(), x.cols()};
}

/// The lines of x for a reduction, in which they are one where they follow one another.
template <class X> [[gnu::always_inline]] inline kernel::line_shape reduced_shape(const X& x) {
  return lane_program_t<X>::template gapless<lane_order<X>>(x) ? kernel::line_shape{1, x.size()}
                                                               : lines_of(x);
}

/// use(program, shape) for a reduction of x. False,
/// and nothing is done, if that has to be computed in another way.
template <class X, class Use> bool reduce_in_lanes(const X& x, const Use& use) {
  if constexpr (reduced_in_lanes<X>) {
    return use(lane_program_t<X>::template make<lane_order<X>>(x), reduced_shape(x));
  } else {
    return false;
  }
}

/// The sum of x. False, if it has to be computed in another way.
template <class X> [[gnu::always_inline]] inline bool sum_in_lanes(const X& x, float& sum) {
  if constexpr (reduced_in_lanes<X>) {
    constexpr traversal order = lane_order<X>;
    using program = lane_program_t<X>;
    return in_shape_along<program::template always_gapless<order>, order>(
        x, program::template gapless<order>(x),
        [&](const auto& shape) {  // a call, which the loop around it is better without
          return kernel::sum_program(program::template make<order>(x), shape, sum);
        });
  } else {
    return false;
  }
}

/// How many coefficients of a comparison hold. False, if it has to be computed in another way.
template <lane_condition X> bool count_in_lanes(const X& x, Eigen::Index& count) {
  return reduce_in_lanes(x, [&](const auto& program, const kernel::line_shape& shape) {
    return kernel::count_program(program, shape, count);
  });
}

/// The sums of all rows or columns of x, as those of single ones are. False, if they have to be computed in
/// another way.
template <Eigen::DirectionType Direction, class X> bool line_sums_in_lanes(const X& x, float* sums) {
  if constexpr (narrow_float<scalar_of<X>> && lane_expressions<X>) {
    constexpr bool down = Direction == Eigen::Vertical, along = down == (lane_order<X> == by_columns);
    constexpr Eigen::Index max_in_memory = 4096;  // of more, parts are added up first
    using program = lane_program_t<X>;
    if (x.size() == 0 || (direct_access<X> && (down ? x.rows() : x.cols()) > max_in_memory)) return false;
    if constexpr (along)
      return kernel::sums_of_lines(program::template make<lane_order<X>>(x), lines_of(x), sums);
    else
      return kernel::sums_across(program::template make<lane_order<X>>(x), lines_of(x), sums);
  } else {
    return false;
  }
}

}  // namespace narrow::detail
