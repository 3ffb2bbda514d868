// The name of a format, for tables, messages and files.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "block/format.hpp"
#include "block/mx.hpp"
#include "format/catalog.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A text that ends in "T = ..." and a bracket.
template <class T> constexpr std::string_view text_with_type() { return {__PRETTY_FUNCTION__}; }

/// T as the compiler writes it, with all namespaces and template arguments.
template <class T> std::string qualified_name() {
  constexpr std::string_view before = "T = ";
  const std::string_view text = text_with_type<T>();
  const auto first = text.find(before) + before.size();
  return std::string(text.substr(first, text.find_first_of(";]", first) - first));
}

/// T as it is written in namespace narrow.
template <class T> std::string type_name() {
  static constexpr std::string_view known = "per_tensor";
  const std::string qualified = qualified_name<per_tensor>();
  const std::string narrow = qualified.substr(0, qualified.size() - known.size());
  std::string name = qualified_name<T>();
  const auto begins_name = [&](std::size_t at) {
    return at == 0 || name[at - 1] == '<' || name[at - 1] == ' ';
  };
  for (std::size_t at = 0; (at = name.find(narrow, at)) != name.npos;)
    if (begins_name(at))
      name.erase(at, narrow.size());
    else
      at += narrow.size();
  for (std::size_t at = 0; (at = name.find(", ", at)) != name.npos;) name.erase(at + 1, 1);
  return name;
}

constexpr std::string_view name_of(specials s) {
  constexpr std::string_view names[] = {"ieee", "fn", "fnuz", "none"};  // in the order of `specials`
  return names[static_cast<int>(s)];
}

/// How a type is written; specialised for the formats, and for what else has arguments of its own.
template <class T> struct format_naming {
  static std::string name() { return type_name<T>(); }
};
template <int Bits> struct format_naming<exponent::min<Bits>> {
  static std::string name() {
    return "exponent::min<" + (Bits == 0 ? std::string() : std::to_string(Bits)) + ">";
  }
};
template <int Bits> struct format_naming<exponent::avg<Bits>> {
  static std::string name() {
    return "exponent::avg<" + (Bits == 0 ? std::string() : std::to_string(Bits)) + ">";
  }
};

struct template_argument {
  std::string name;
  bool is_default;
};
template <class T, class Default> template_argument argument() {
  return {format_naming<T>::name(), std::same_as<T, Default>};
}

/// name<first, arguments...> without the default arguments at the end.
inline std::string instance_name(std::string name, const std::string& first,
                                 std::initializer_list<template_argument> arguments) {
  std::string list = first, defaults;
  for (const template_argument& a : arguments) {
    defaults += (list.empty() && defaults.empty() ? "" : ", ") + a.name;
    if (!a.is_default) list += std::exchange(defaults, {});
  }
  return list.empty() ? name : name + "<" + list + ">";
}

template <int E, int M, specials Specials, class Round, class Overflow>
struct format_naming<floating<E, M, Specials, Round, Overflow>> {
  static std::string name() {
    return instance_name("floating", std::to_string(E) + "," + std::to_string(M),
                         {{"specials::" + std::string(name_of(Specials)), Specials == specials::ieee},
                          argument<Round, rounding::nearest_even>(),
                          argument<Overflow, overflow::ieee>()});
  }
};
template <int WL, int FL, class Round, class Overflow> struct format_naming<fixed<WL, FL, Round, Overflow>> {
  static std::string name() {
    return instance_name(
        "fixed", std::to_string(WL) + "," + std::to_string(FL),
        {argument<Round, rounding::nearest_even>(), argument<Overflow, overflow::saturate>()});
  }
};
template <int M, class Block, class Round, class Exponent>
struct format_naming<bfp<M, Block, Round, Exponent>> {
  static std::string name() {
    return instance_name("bfp", std::to_string(M),
                         {argument<Block, per_tensor>(), argument<Round, rounding::nearest_even>(),
                          argument<Exponent, exponent::max>()});
  }
};
template <class Block, class Round> struct format_naming<basic_int8<Block, Round>> {
  static std::string name() {
    return instance_name("basic_int8", "",
                         {argument<Block, per_tensor>(), argument<Round, rounding::nearest_even>()});
  }
};
template <> struct format_naming<int8> {
  static std::string name() { return "int8"; }
};

}  // namespace detail

/// T as it is written in namespace narrow, without default arguments: "fp16", "fixed<8,4>", "bfp<8,
/// per_row>", "mx<fp8_e4m3fn>", "dynamic_fixed", "floating<4,2, specials::ieee, rounding::stochastic>",
/// "float".
///
/// Formats of the catalogue have their names there; any type can be asked for.
template <class T> std::string format_name() {
  constexpr std::string_view listed = detail::catalog_name<T>;
  return listed.empty() ? detail::format_naming<T>::name() : std::string(listed);
}

namespace detail {
template <class Element, class Block, class Round> struct format_naming<mx<Element, Block, Round>> {
  static std::string name() {
    return instance_name("mx", format_name<Element>(),
                         {argument<Block, tile<1, 32>>(), argument<Round, rounding::nearest_even>()});
  }
};
}  // namespace detail

}  // namespace narrow::inline NARROW_ABI
