// Memory of numbers that other types have, too: of the compiler's and of other libraries' types, of codes.
#pragma once

#include <new>
#include <span>

#include "format/fixed.hpp"
#include "format/floating.hpp"
#include "matrix_view.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// The codes that a type has: two types with one of these have the same numbers. `void`: any codes.
template <class T> struct codes_of {};
template <std::integral T>
requires(!std::same_as<T, bool>) struct codes_of<T> {
  using type = void;
};
template <foreign_scalar T> struct codes_of<T> { using type = typename foreign_format_t<T>::layout; };
template <narrow_float T> struct codes_of<T> { using type = typename T::layout; };
template <narrow_fixed T> struct codes_of<T> { using type = fixed<T::word_length, T::fraction_length>; };
template <class T> using codes_of_t = typename codes_of<std::remove_cv_t<T>>::type;

template <class A, class B>
concept same_codes = requires {
  typename codes_of_t<A>;
  typename codes_of_t<B>;
}
&&(std::same_as<codes_of_t<A>, codes_of_t<B>> || std::is_void_v<codes_of_t<A>> ||
   std::is_void_v<codes_of_t<B>>);

/// A range of which something is left when it is gone, or which is no temporary; no matrix.
template <class R>
concept lasting_array = sized_array<R> && std::ranges::borrowed_range<R> && !requires(R & x) {
  x.rows();
};

/// `To`, const where From is.
template <class To, class From> using const_as = std::conditional_t<std::is_const_v<From>, const To, To>;

/// The same address as one of numbers of another type.
template <class To, class From> const_as<To, From>* address_as(From* numbers) {
  // What a compiler may not look into may have written to all memory, and may have ended the life of the
  // numbers that were there and begun that of others with the same codes.
  asm volatile("" : "+r"(numbers) : : "memory");
  return reinterpret_cast<const_as<To, From>*>(numbers);
}

}  // namespace detail

/// Types of one size and alignment with the same codes, so that memory of numbers of the one can be seen as
/// numbers of the other: narrow formats that differ in their policies, the types of `foreign_scalar`, and
/// integers, the values of which are the codes then.
template <class To, class From>
concept viewable_as =
    detail::same_codes<From, To> && sizeof(To) == sizeof(From) &&
    alignof(To) == alignof(From) && std::is_trivially_copyable_v<To>&& std::is_trivially_copyable_v<From>;

/// The numbers of a range, in its own memory, as numbers of the type To, see `viewable_as`.
///
/// Aliasing  C++ lets a program access a number by its own type alone, and compilers rely on it. The numbers
///           are of type To from this call on, as after std::start_lifetime_as_array of C++23: what was
///           written by their former type before is read by the new one. To read or write them by the former
///           one again, call `view_as` for that, with what this call gave.
/// Special   codes stay as they are, signalling NaNs, too. Integers in the place of a format's codes have to
///           be such: 0 where the format has no bits, those of `fixed` within its word length.
/// Cost      none, nor does anything move; but compilers forget here what they knew of the memory's contents.
template <class To, detail::lasting_array R>
requires viewable_as<To, std::ranges::range_value_t<R>>
auto view_as(R&& range) {
  auto* const data = detail::address_as<To>(std::ranges::data(range));
  return std::span(data, std::ranges::size(range));
}
/// Those of a matrix, in its shape.
template <class To, class From>
requires viewable_as<To, std::remove_const_t<From>> matrix_view<detail::const_as<To, From>> view_as(
    const matrix_view<From>& m) {
  return {detail::address_as<To>(m.data), m.rows, m.cols, m.row_stride, m.col_stride};
}

}  // namespace narrow
