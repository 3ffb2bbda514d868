// What numbers are called in files. In memory and in a file they are the same bytes: the codes of a format.
#pragma once

#include <bit>
#include <cstddef>
#include <string>
#include <string_view>

#include "../foreign.hpp"
#include "../format_name.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// The kinds of numbers that file formats tell apart: by the letters of numpy.
enum class number_kind : char { floating = 'f', integer = 'i', natural = 'u' };

/// What a file knows of a type.
struct stored_type {
  number_kind kind;
  std::size_t size;  // in bytes
  /// The type's name in safetensors.
  std::string_view name;
  /// Whether that says all: if not, the numbers are codes, which the file takes for integers.
  bool is_whole_truth;
};

constexpr std::string_view integer_name(bool is_signed, std::size_t size) {
  constexpr std::string_view names[2][4] = {{"U8", "U16", "U32", "U64"}, {"I8", "I16", "I32", "I64"}};
  return names[is_signed ? 1 : 0][std::bit_width(size) - 1];
}

/// Floating layouts that safetensors has a name for; empty for others.
template <class Layout> inline constexpr std::string_view layout_name;
template <> inline constexpr std::string_view layout_name<binary32> = "F32";
template <> inline constexpr std::string_view layout_name<binary16> = "F16";
template <> inline constexpr std::string_view layout_name<bfloat16> = "BF16";
template <> inline constexpr std::string_view layout_name<layout<5, 2, specials::ieee>> = "F8_E5M2";
template <> inline constexpr std::string_view layout_name<layout<4, 3, specials::fn>> = "F8_E4M3";

template <class Layout> constexpr stored_type stored_layout() {
  constexpr std::size_t size = sizeof(typename Layout::bits_type);
  constexpr bool is_numpy_type = std::same_as<Layout, binary32> || is_binary16<Layout>;
  constexpr bool is_named = !layout_name<Layout>.empty();
  return {is_numpy_type ? number_kind::floating : number_kind::natural, size,
          is_named ? layout_name<Layout> : integer_name(false, size), is_named};
}

/// Of each type that can be in a file: floats, doubles, integers, narrow scalars, and number types of others
/// with their codes.
template <class T> struct storing {};
template <> struct storing<float> { static constexpr stored_type type = stored_layout<binary32>(); };
template <> struct storing<double> {
  static constexpr stored_type type{number_kind::floating, sizeof(double), "F64", true};
};
template <std::integral T>
requires(!std::same_as<T, bool> && sizeof(T) <= sizeof(std::uint64_t)) struct storing<T> {
  static constexpr stored_type type{std::signed_integral<T> ? number_kind::integer : number_kind::natural,
                                    sizeof(T), integer_name(std::signed_integral<T>, sizeof(T)), true};
};
template <narrow_float T> struct storing<T> {
  static constexpr stored_type type = stored_layout<typename T::layout>();
  static constexpr bool has(T x) { return T::from_bits(x.bits()).bits() == x.bits(); }
  using format = floating<T::layout::exponent_bits, T::layout::mantissa_bits, T::layout::special_values>;
};
template <foreign_scalar T> struct storing<T> {
  static constexpr stored_type type = storing<foreign_format_t<T>>::type;
};
template <narrow_fixed T> struct storing<T> {
  static constexpr stored_type type{number_kind::integer, sizeof(T), integer_name(true, sizeof(T)), false};
  static constexpr bool has(T x) { return T::from_bits(x.bits()).bits() == x.bits(); }
  using format = fixed<T::word_length, T::fraction_length>;
};

}  // namespace detail

/// What can be an element of an array in a file.
template <class T>
concept storable = requires {
  { detail::storing<T>::type } -> std::convertible_to<detail::stored_type>;
};

namespace detail {

/// The name of T's format without its policies, which a file does not hold.
template <storable T> std::string stored_name() {
  if constexpr (requires { typename storing<T>::format; })
    return format_name<typename storing<T>::format>();
  else if constexpr (foreign_scalar<T>)
    return format_name<foreign_format_t<T>>();
  else
    return format_name<T>();
}

}  // namespace detail

}  // namespace narrow
