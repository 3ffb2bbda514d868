// Dense Eigen expressions as the arrays that the training helpers take and fill.
#pragma once

#include <vector>

#include "../train/array_access.hpp"
#include "expressions/evaluators.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

template <class X> array_layout layout_of(const Eigen::DenseBase<X>& x) {
  using order = array_layout::sequence;
  return {X::IsRowMajor ? order::by_rows : order::by_columns, x.rows(), x.cols()};
}

template <class X>
concept dense_eigen = std::derived_from<X, Eigen::DenseBase<X>>;

/// The type in which a helper reads a coefficient: an expression of narrow floats that is yet to be computed
/// stays wide.
template <class X>
using element_of = std::conditional_t<direct_access<X>, typename X::Scalar, widened_t<typename X::Scalar>>;

}  // namespace detail

/// Expressions that are not in memory, and blocks with gaps, are evaluated into a matrix of their own storage
/// order first. A range has the shape of any matrix with as many coefficients, in that matrix's storage
/// order; a matrix that must grow or shrink for it becomes a column, or a row where it is one at compile
/// time.
template <detail::dense_eigen X> struct array_access<X> {
  /// The type of an element.
  using value_type = detail::element_of<X>;

  /// The coefficients of an expression, in memory: its own, or a copy.
  class input {
   public:
    explicit input(const X& x) : layout_(detail::layout_of(x)) {
      if constexpr (detail::direct_access<X>) {
        if (detail::without_gaps(x)) {
          data_ = x.data();
          return;
        }
      }
      copy_ = x;
      data_ = copy_.data();
    }
    input(const input&) = delete;
    input& operator=(const input&) = delete;

    /// The shape, and the order of the elements.
    const array_layout& layout() const { return layout_; }
    /// The elements, in the order of the layout.
    std::span<const value_type> elements() const { return {data_, layout_.size()}; }

   private:
    array_layout layout_;
    detail::dynamic_like<value_type, X> copy_;
    const value_type* data_ = nullptr;
  };

  /// The coefficients of a matrix, in memory: its own, or a buffer that `commit` stores.
  class output {
   public:
    /// Resizes x. Throws std::invalid_argument naming both shapes if that cannot be done.
    output(X& x, const array_layout& source,
           const array_roles& roles) requires detail::has_flag<X, Eigen::LvalueBit> : x_(x),
                                                                                      layout_(source) {
      const bool flat = source.order == array_layout::sequence::flat;
      const auto fits = [&] {
        return flat ? static_cast<std::size_t>(x.size()) == source.size()
                    : x.rows() == source.rows && x.cols() == source.cols;
      };
      if constexpr (std::derived_from<X, Eigen::PlainObjectBase<X>>) {
        const bool row = flat && X::RowsAtCompileTime == 1;
        const Eigen::Index rows = row ? 1 : source.rows, cols = row ? source.rows : source.cols;
        if (!fits() && allows(rows, X::RowsAtCompileTime, X::MaxRowsAtCompileTime) &&
            allows(cols, X::ColsAtCompileTime, X::MaxColsAtCompileTime))
          x.resize(rows, cols);
      }
      const array_layout own = detail::layout_of(x);
      detail::check_shapes(fits(), roles.function, roles.source, source.shape(), roles.destination,
                           own.shape());
      if (flat) layout_ = own;
      if constexpr (detail::direct_access<X>) {
        if (detail::without_gaps(x) && own.same_places(layout_)) {
          data_ = x.data();
          return;
        }
      }
      buffer_.resize(layout_.size());
      data_ = buffer_.data();
    }
    output(const output&) = delete;
    output& operator=(const output&) = delete;

    std::span<value_type> elements() const { return {data_, layout_.size()}; }

    /// Stores what was written to `elements()`, where that is a buffer.
    void commit() {
      if (buffer_.empty()) return;
      for (std::ptrdiff_t j = 0; j < layout_.cols; ++j)
        for (std::ptrdiff_t i = 0; i < layout_.rows; ++i)
          x_.coeffRef(i, j) = buffer_[static_cast<std::size_t>(layout_.place(i, j))];
    }

   private:
    static constexpr bool allows(Eigen::Index size, int fixed, int limit) {
      return fixed == Eigen::Dynamic ? limit == Eigen::Dynamic || size <= limit : size == fixed;
    }

    X& x_;
    array_layout layout_;
    std::vector<value_type> buffer_;  // used where x has gaps or another order
    value_type* data_ = nullptr;
  };
};

}  // namespace narrow
