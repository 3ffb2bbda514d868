// Arrays of several dimensions as files have them, and what can be written to a file and read from one.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../matrix_view.hpp"
#include "stored_type.hpp"

namespace narrow::inline NARROW_ABI {

/// An array of any number of dimensions, its elements with the last index running fastest.
template <class T> struct shaped_array {
  std::vector<std::size_t> shape;  ///< how many elements each dimension has; empty for a single number
  std::vector<T> values;           ///< as many as the product of the shape
};

namespace detail {

using extent_list = std::vector<std::size_t>;

/// "(3, 4)", as numpy writes a shape.
inline std::string shape_text(const extent_list& shape) {
  std::string text = "(";
  for (const std::size_t n : shape) text += std::to_string(n) + ", ";
  if (shape.size() == 1) text.pop_back();
  if (shape.size() > 1) text.resize(text.size() - 2);
  return text + ")";
}

/// How many elements of so many bytes an array has; nothing where their bytes are more than can be.
inline std::optional<std::size_t> element_count(const extent_list& shape, std::size_t size) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  std::size_t count = 1;
  for (const std::size_t n : shape)
    if (n > most) return {};
  if (std::find(shape.begin(), shape.end(), std::size_t{0}) != shape.end()) return 0;
  for (const std::size_t n : shape) {
    if (n > most / size / count) return {};
    count *= n;
  }
  return count;
}

/// How X, a matrix or a range, is an array in a file. A specialisation has
///   element                   the type of the elements
///   visit(x, f)               calls f(shape, matrix_view), whose rows one after another are the elements
/// and if one can be read
///   refusal(x, shape)         why x cannot have this shape; empty if it can
///   assign(x, shape, values)  sets x to the elements, of which there are as many as the shape says
template <class X> struct stored_array {};

template <class T>
requires storable<std::remove_const_t<T>>
struct stored_array<matrix_view<T>> {
  using element = std::remove_const_t<T>;
  template <class F> static void visit(const matrix_view<T>& x, const F& f) {
    f({static_cast<std::size_t>(x.rows), static_cast<std::size_t>(x.cols)}, matrix_view<const T>(x));
  }
  static std::string refusal(const matrix_view<T>& x,
                             const extent_list& shape) requires(!std::is_const_v<T>) {
    const extent_list own{static_cast<std::size_t>(x.rows), static_cast<std::size_t>(x.cols)};
    return shape == own ? "" : "a view of shape " + shape_text(own);
  }
  static void assign(const matrix_view<T>& x, const extent_list&, const std::vector<element>& values) {
    auto next = values.begin();
    for (std::ptrdiff_t i = 0; i < x.rows; ++i)
      for (std::ptrdiff_t j = 0; j < x.cols; ++j) x(i, j) = *next++;
  }
};

/// Ranges have one dimension; a vector gets the size of what is read.
template <sized_array X>
requires(storable<std::ranges::range_value_t<X>> &&
         !requires(const X& x) { x.rows(); }) struct stored_array<X> {
  using element = std::ranges::range_value_t<X>;
  template <class F> static void visit(const X& x, const F& f) {
    const auto n = std::ranges::size(x);
    f({n}, matrix_view<const element>{std::ranges::data(x), 1, static_cast<std::ptrdiff_t>(n), 0, 1});
  }
  static constexpr bool grows = requires(X & x, std::vector<element> v) { x = std::move(v); };
  static std::string refusal(const X& x, const extent_list& shape) requires(
      !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<X>>>) {
    if (shape.size() == 1 && (grows || shape[0] == std::ranges::size(x))) return "";
    return grows ? "a vector" : "a range of " + std::to_string(std::ranges::size(x)) + " elements";
  }
  static void assign(X& x, const extent_list&, std::vector<element> values) {
    if constexpr (grows)
      x = std::move(values);
    else
      std::copy(values.begin(), values.end(), std::ranges::data(x));
  }
};

template <storable T> struct stored_array<shaped_array<T>> {
  using element = T;
  template <class F> static void visit(const shaped_array<T>& x, const F& f) {
    const auto n = static_cast<std::ptrdiff_t>(x.values.size());
    f(x.shape, matrix_view<const T>{x.values.data(), 1, n, 0, 1});
  }
  static std::string refusal(const shaped_array<T>&, const extent_list&) { return ""; }
  static void assign(shaped_array<T>& x, const extent_list& shape, std::vector<T> values) {
    x = {shape, std::move(values)};
  }
};

}  // namespace detail

/// What can be written to a file: a matrix_view, a contiguous range, which is an array of one dimension, a
/// shaped_array, and in narrow/eigen.hpp every dense expression, of elements that are `storable`.
template <class X>
concept file_source = storable<typename detail::stored_array<std::remove_cvref_t<X>>::element>;

/// What can be read from a file. Vectors, shaped_array and matrices of dynamic size take the shape that is
/// there, others have to have it.
template <class X>
concept file_destination = file_source<X> &&
    requires(std::remove_cvref_t<X>& x, const detail::extent_list& shape,
             std::vector<typename detail::stored_array<std::remove_cvref_t<X>>::element> values) {
  { detail::stored_array<std::remove_cvref_t<X>>::refusal(x, shape) } -> std::same_as<std::string>;
  detail::stored_array<std::remove_cvref_t<X>>::assign(x, shape, std::move(values));
};

}  // namespace narrow
