// The name of a format, for tables, messages and files.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "block/format.hpp"
#include "block/mx.hpp"
#include "format/catalog.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A text of the compiler's in which T stands after "T = ".
template <class T> constexpr std::string_view text_with_type() { return {__PRETTY_FUNCTION__}; }

/// T as the compiler writes it, with all namespaces.
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
  for (std::size_t at = 0; (at = name.find(narrow, at)) != name.npos;)
    if (at == 0 || name[at - 1] == '<' || name[at - 1] == ' ')
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

/// How a type is written; specialised for the formats.
template <class T> struct naming {
  static std::string name() { return type_name<T>(); }
};
/// g++ leaves a default argument out, clang does not: here it stands.
template <template <int> class Template, int N>
requires(!block_format<Template<N>>) struct naming<Template<N>> {
  static std::string name() {
    const std::string another = type_name<Template<N + 1>>();
    return another.substr(0, another.find('<') + 1) + std::to_string(N) + ">";
  }
};

/// The number of the first of the types that T is; how many they are where it is none of them.
template <class T, class... Types> constexpr std::size_t first_same() {
  std::size_t i = 0;
  static_cast<void>(((std::same_as<T, Types> || (++i, false)) || ...));
  return i;
}

/// Template<first, arguments...> with so many of the arguments.
inline std::string instance(std::string text, std::initializer_list<std::string> arguments,
                            std::size_t count) {
  for (const std::string* a = arguments.begin(); a != arguments.begin() + count; ++a)
    text += (text.back() == '<' ? "" : ", ") + *a;
  return text + ">";
}
inline std::string two_numbers(int a, int b) { return std::to_string(a) + "," + std::to_string(b); }

template <int E, int M, specials S, class Round, class Overflow>
struct naming<floating<E, M, S, Round, Overflow>> {
  static std::string name() {
    using format = floating<E, M, S, Round, Overflow>;
    return instance("floating<" + two_numbers(E, M),
                    {"specials::" + std::string(name_of(S)), naming<Round>::name(), naming<Overflow>::name()},
                    first_same<format, floating<E, M>, floating<E, M, S>, floating<E, M, S, Round>>());
  }
};
template <int WL, int FL, class Round, class Overflow> struct naming<fixed<WL, FL, Round, Overflow>> {
  static std::string name() {
    using format = fixed<WL, FL, Round, Overflow>;
    return instance("fixed<" + two_numbers(WL, FL), {naming<Round>::name(), naming<Overflow>::name()},
                    first_same<format, fixed<WL, FL>, fixed<WL, FL, Round>>());
  }
};
template <int M, class Block, class Round, class Exponent> struct naming<bfp<M, Block, Round, Exponent>> {
  static std::string name() {
    using format = bfp<M, Block, Round, Exponent>;
    return instance("bfp<" + std::to_string(M),
                    {naming<Block>::name(), naming<Round>::name(), naming<Exponent>::name()},
                    first_same<format, bfp<M>, bfp<M, Block>, bfp<M, Block, Round>>());
  }
};
template <class Block, class Round> struct naming<basic_int8<Block, Round>> {
  static std::string name() {
    return instance("basic_int8<", {naming<Block>::name(), naming<Round>::name()},
                    first_same<basic_int8<Block, Round>, basic_int8<>, basic_int8<Block>>());
  }
};
template <> inline constexpr std::string_view catalog_name<int8> = "int8";

}  // namespace detail

/// T as it is written in namespace narrow, without the default arguments of formats: "fp16", "fixed<8,4>",
/// "bfp<8, per_row>", "mx<fp8_e4m3fn>", "dynamic_fixed", "floating<4,2, specials::ieee,
/// rounding::stochastic>", "float".
///
/// Formats of the catalogue have their names there. Any type can be asked for; what is no format of the
/// library's, a user's rounding policy among its arguments too, has the spelling of the compiler.
template <class T> std::string format_name() {
  constexpr std::string_view listed = detail::catalog_name<T>;
  return listed.empty() ? detail::naming<T>::name() : std::string(listed);
}

template <class Element, class Block, class Round> struct detail::naming<mx<Element, Block, Round>> {
  static std::string name() {
    return instance("mx<" + format_name<Element>(), {naming<Block>::name(), naming<Round>::name()},
                    first_same<mx<Element, Block, Round>, mx<Element>, mx<Element, Block>>());
  }
};

}  // namespace narrow
