// Eigen's matrices and arrays in files: see files/.
#pragma once

#include "../files/arrays.hpp"
#include "expression_traits.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class X>
concept dense_in_file = std::derived_from<X, Eigen::DenseBase<X>> && storable<typename X::Scalar>;

/// A dense expression is an array of two dimensions; a vector of one. A matrix of a block format is written
/// as the floats that it stands for.
template <dense_in_file X> struct stored_array<X> {
  using element = typename X::Scalar;
  template <class F> static void visit(const X& x, const F& f) {
    const auto extent = [](Eigen::Index n) { return static_cast<std::size_t>(n); };
    const extent_list shape = X::IsVectorAtCompileTime ? extent_list{extent(x.size())}
                                                       : extent_list{extent(x.rows()), extent(x.cols())};
    if constexpr (direct_access<X>) {
      f(shape, matrix_view<const element>(view_of_direct(x)));
    } else {
      const typename X::PlainObject values = x;
      f(shape, matrix_view<const element>(view_of_direct(values)));
    }
  }

  struct size {
    Eigen::Index rows, cols;
  };
  /// Of one dimension is a column, or a row of a row vector; of none a single number.
  static std::optional<size> size_of(const extent_list& shape) {
    if (shape.size() > 2) return {};
    constexpr bool is_row = X::RowsAtCompileTime == 1 && X::ColsAtCompileTime != 1;
    const auto n = [&](std::size_t i) { return i < shape.size() ? static_cast<Eigen::Index>(shape[i]) : 1; };
    if (shape.size() == 1 && is_row) return size{1, n(0)};
    return size{n(0), n(1)};
  }
  static constexpr bool grows = requires(X & x) { x.resize(1, 1); }
  &&std::same_as<X, typename X::PlainObject>;
  static bool fits(Eigen::Index n, Eigen::Index own, int fixed, int most) {
    if (!grows) return n == own;
    return (fixed == Eigen::Dynamic || n == fixed) && (most == Eigen::Dynamic || n <= most);
  }
  static std::string refusal(const X& x, const extent_list& shape) requires has_flag<X, Eigen::LvalueBit> {
    const auto n = size_of(shape);
    if (n && fits(n->rows, x.rows(), X::RowsAtCompileTime, X::MaxRowsAtCompileTime) &&
        fits(n->cols, x.cols(), X::ColsAtCompileTime, X::MaxColsAtCompileTime))
      return "";
    const auto extent = [](Eigen::Index own, int fixed) {
      return grows && fixed == Eigen::Dynamic ? "any" : std::to_string(own);
    };
    return "a matrix of " + extent(x.rows(), X::RowsAtCompileTime) + " x " +
           extent(x.cols(), X::ColsAtCompileTime);
  }
  static void assign(X& x, const extent_list& shape, const std::vector<element>& values) {
    using by_rows = Eigen::Array<element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const size n = *size_of(shape);
    if constexpr (grows) x.resize(n.rows, n.cols);
    x = Eigen::Map<const by_rows>(values.data(), n.rows, n.cols).matrix();
  }
};

}  // namespace narrow::detail
