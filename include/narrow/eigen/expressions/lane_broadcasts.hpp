// Vectors that meet every row or column of a matrix in a program of lanes: broadcast ones, and diagonals.
#pragma once

#include "lane_views.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// A vector for every line of a program: along the lines its numbers follow one another, across them it has
/// one for each. It is read where it lies, or computed before the program runs.
template <traversal Along, traversal Order, class V> auto lane_broadcast(const V& v) {
  using held = plain_like<float, V>;
  if constexpr (direct_access<V> && Order == Along && V::InnerStrideAtCompileTime == 1)
    return kernel::lane_line<typename V::Scalar>{v.data()};
  else if constexpr (direct_access<V> && Order == Along)
    return lane_leaf<V::InnerStrideAtCompileTime>(v.data(), 0, v.innerStride());
  else if constexpr (direct_access<V>)
    return kernel::lane_number_per_line<typename V::Scalar>{v.data(), v.innerStride()};
  else if constexpr (Order == Along)
    return kernel::lane_held<held>{held(v), 0};
  else
    return kernel::lane_held_per_line<held>{held(v)};
}
template <class V>
concept lane_vector = lane_expression<V> &&
    (direct_access<V> ||
     (std::same_as<lane_number_of<V>, float> && (narrow_float<scalar_of<V>> || dequantizes<V>)));
/// What expressions with a broadcast have: no two of their lines can be one.
template <class X, class... Below> struct lane_lines_apart {
  using number = lane_number_of<X>;
  static constexpr int orders = (0 | ... | int(lane_program_t<Below>::orders));
  template <traversal> static bool gapless(const auto&) { return false; }
  template <traversal> static constexpr bool always_gapless = false;
};

/// `m.colwise() + v`, `m.rowwise() + v`.
template <class V, int Rows, int Cols>
requires(broadcast_shape<V, Rows, Cols>&& lane_vector<V>) struct lane_program<Eigen::Replicate<V, Rows, Cols>>
    : lane_lines_apart<V> {
  static constexpr traversal along = broadcast_lines<V, Rows>;
  static constexpr bool computes_first = detail::computes_first<V>, dequantizes = detail::dequantizes<V>;

  template <traversal Order> static auto make(const Eigen::Replicate<V, Rows, Cols>& x) {
    return lane_broadcast<along, Order>(x.nestedExpression());
  }
};

/// `v.replicate(1, n)`, `r.replicate(n, 1)`, of which only the program's run knows how often v follows
/// itself: its first line is computed before.
template <class V, int Rows, int Cols>
requires(!broadcast_shape<V, Rows, Cols> && bool(V::IsVectorAtCompileTime) && lane_vector<V> &&
         std::same_as<lane_number_of<V>, float>) struct lane_program<Eigen::Replicate<V, Rows, Cols>>
    : lane_lines_apart<V> {
  static constexpr bool is_column = V::ColsAtCompileTime == 1;
  static constexpr bool computes_first = detail::computes_first<V>, dequantizes = detail::dequantizes<V>;
  using held = Eigen::Matrix<float, is_column ? Eigen::Dynamic : 1, is_column ? 1 : Eigen::Dynamic>;

  template <traversal Order> static auto make(const Eigen::Replicate<V, Rows, Cols>& x) {
    if constexpr (is_column == (Order == by_columns))
      return kernel::lane_held<held>{first_line(x), 0};
    else
      return kernel::lane_held_per_line<held>{first_line(x)};
  }

 private:
  static held first_line(const Eigen::Replicate<V, Rows, Cols>& x) {
    const auto& v = x.nestedExpression();
    held line(is_column ? x.rows() : 1, is_column ? 1 : x.cols());
    if (x.size() == 0) return line;
    for (Eigen::Index i = 0; i < line.size(); i += v.size())
      line.segment(i, v.size()) = v.matrix().template cast<float>();
    return line;
  }
};

/// `v.asDiagonal() * m`, `m * v.asDiagonal()`.
template <class L, class R>
concept diagonal_in_lanes =
    (diagonal_expression<L> || diagonal_expression<R>)&&some_narrow_float<L, R>&& lane_expressions<
        typename diagonal_product<L, R>::matrix_type,
        typename diagonal_product<
            L, R>::diagonal_type>&& lane_vector<typename diagonal_product<L, R>::diagonal_type>;
template <class L, class R, int Options>
requires diagonal_in_lanes<L, R>
struct lane_program<Eigen::Product<L, R, Options>>
    : lane_lines_apart<typename diagonal_product<L, R>::matrix_type,
                       typename diagonal_product<L, R>::matrix_type> {
  using parts = diagonal_product<L, R>;
  using matrix = typename parts::matrix_type;
  static constexpr traversal along = parts::on_the_left ? by_columns : by_rows;
  static constexpr bool computes_first =
      detail::computes_first<matrix> || detail::computes_first<typename parts::diagonal_type>;
  static constexpr bool dequantizes =
      detail::dequantizes<matrix> || detail::dequantizes<typename parts::diagonal_type>;

  template <traversal Order> static auto make(const Eigen::Product<L, R, Options>& x) {
    using factors = decltype(lane_broadcast<along, Order>(parts::diagonal(x.lhs(), x.rhs())));
    return kernel::lane_binary<kernel::lane_product, lane_program_type<matrix, Order>, factors>{
        lane_program_t<matrix>::template make<Order>(parts::matrix(x.lhs(), x.rhs())),
        lane_broadcast<along, Order>(parts::diagonal(x.lhs(), x.rhs()))};
  }
};

}  // namespace narrow::detail
