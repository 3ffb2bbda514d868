// What the training helpers take for an array: contiguous ranges, and with eigen.hpp any dense Eigen
// expression.
#pragma once

#include <span>

#include "../matrix_view.hpp"

namespace narrow::inline NARROW_ABI {

/// The shape of an array, and the order in which its elements are handed on one after another.
struct array_layout {
  /// How elements follow one another.
  enum class sequence { flat, by_rows, by_columns };

  sequence order = sequence::flat;  ///< flat: a range, which has a length but no shape
  std::ptrdiff_t rows = 0;          ///< or the length of a range
  std::ptrdiff_t cols = 1;          ///< 1 for a range

  constexpr std::size_t size() const { return static_cast<std::size_t>(rows * cols); }

  /// The position of element (i, j) in the order of this layout.
  constexpr std::ptrdiff_t place(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return order == sequence::by_columns ? j * rows + i : i * cols + j;
  }

  /// Whether corresponding elements have equal positions in both; a range corresponds in any order.
  constexpr bool same_places(const array_layout& other) const {
    return order == other.order || order == sequence::flat || other.order == sequence::flat || rows <= 1 ||
           cols <= 1;
  }

  /// A range has the shape of any matrix of its size.
  constexpr bool same_shape(const array_layout& other) const {
    return order == sequence::flat || other.order == sequence::flat
               ? size() == other.size()
               : rows == other.rows && cols == other.cols;
  }

  /// The shape, for messages.
  detail::extents shape() const {
    return order == sequence::flat ? detail::extents(rows) : detail::extents(rows, cols);
  }

  friend bool operator==(const array_layout&, const array_layout&) = default;
};

/// Whether an array of `size` elements can have this layout. Computed by division: the product of rows and
/// columns that were read from a file may overflow.
constexpr bool is_layout_of(const array_layout& layout, std::ptrdiff_t size) {
  using sequence = array_layout::sequence;
  const auto [order, rows, cols] = layout;
  const bool ordered =
      order == sequence::by_rows || order == sequence::by_columns || (order == sequence::flat && cols == 1);
  return ordered && rows >= 0 && cols >= 0 &&
         (rows == 0 || cols == 0 ? size == 0 : size % rows == 0 && size / rows == cols);
}

namespace detail {
/// The fields of a layout in a saved state, see `saved_state`.
template <class Field, class Layout> void layout_fields(Field& field, Layout& layout) {
  field("order", layout.order);
  field("rows", layout.rows);
  field("cols", layout.cols);
}
}  // namespace detail

/// The names of a function and of the two arrays of which it reads one into the other, for the message where
/// their shapes do not match.
struct array_roles {
  std::string_view function;     ///< with its namespace
  std::string_view source;       ///< the array that is read
  std::string_view destination;  ///< the array that is written
};

namespace detail {

template <class X> struct range_access {};

template <sized_array X> struct range_access<X> {
  using value_type = std::ranges::range_value_t<X>;

  class input {
   public:
    /// Refers to the array.
    explicit input(const X& x) : elements_(std::ranges::data(x), std::ranges::size(x)) {}
    /// The shape, and the order of the elements.
    array_layout layout() const { return {array_layout::sequence::flat, std::ssize(elements_), 1}; }
    std::span<const value_type> elements() const { return elements_; }

   private:
    std::span<const value_type> elements_;
  };

  class output {
   public:
    template <class Range> output(Range& x, const array_layout& source, const array_roles& roles) {
      if constexpr (requires { x.resize(source.size()); })
        x.resize(source.size());
      else
        check_shapes(std::ranges::size(x) == source.size(), roles.function, roles.source, source.shape(),
                     roles.destination, std::ranges::size(x));
      elements_ = {std::ranges::data(x), std::ranges::size(x)};
    }
    std::span<value_type> elements() const { return elements_; }
    void commit() const {}

   private:
    std::span<value_type> elements_;
  };
};

}  // namespace detail

/// How the training helpers reach the elements of an X: the one point to specialise for other array types.
///
///   value_type
///   input(x)           has a `layout()`, and the `elements()` as a span in its order. Copies nothing where x
///                      lies in memory like that.
///   output(x, layout,  gives x the shape of the layout if x can be resized; if it cannot and differs, throws
///          roles)      std::invalid_argument naming both shapes. Its `elements()`, a span in the order of
///                      the layout, are to be written, then `commit()` called.
///
/// An output may be made of the array that an input still reads.
template <class X> struct array_access : detail::range_access<X> {};

/// What `array_access` can read: contiguous sized ranges, and with eigen.hpp dense Eigen expressions.
template <class X>
concept readable_array = requires {
  typename array_access<std::remove_cvref_t<X>>::input;
};

/// The type of the elements that `array_access` reads.
template <readable_array X> using array_value_t = typename array_access<std::remove_cvref_t<X>>::value_type;

/// What `array_access` reads as elements of type T.
template <class X, class T>
concept array_of = readable_array<X> && std::same_as<array_value_t<X>, T>;

/// What `array_access` can write elements of type T to.
template <class X, class T>
concept writable_array_of =
    array_of<X, T> && std::constructible_from < typename array_access<std::remove_cvref_t<X>>::output,
        std::remove_reference_t<X>
&, const array_layout&, const array_roles& > ;

namespace detail {

/// The matrix that elements in the order of a layout are; a range is a matrix of one row.
template <class T> matrix_view<T> as_matrix(std::span<T> elements, const array_layout& layout) {
  using order = array_layout::sequence;
  if (layout.order == order::flat) return {elements.data(), layout.cols, layout.rows, layout.rows, 1};
  return layout.order == order::by_rows
             ? matrix_view<T>{elements.data(), layout.rows, layout.cols, layout.cols, 1}
             : matrix_view<T>{elements.data(), layout.rows, layout.cols, 1, layout.rows};
}

template <readable_array X> auto read_array(const X& x) { return typename array_access<X>::input(x); }

template <class X> auto write_array(X& x, const array_layout& source, const array_roles& roles) {
  return typename array_access<std::remove_cvref_t<X>>::output(x, source, roles);
}

}  // namespace detail

}  // namespace narrow
