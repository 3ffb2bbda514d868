// Programs of lanes that map codes of 8 bits to such codes: of one matrix and constants. There are so few
// codes that a table of all of them is sooner made, and looked up, than many numbers are computed.
#pragma once

#include "fixed.hpp"
#include "functions.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// What stands for a part of a program that reads something else, or numbers of two types.
struct no_codes {};

/// What a part of a program reads: numbers of type `number`, void for constants, no_codes for anything else,
/// and
///
///   first(part)       where the first of them are, as lane_numbers
///   same(part, x)     whether all of them are those numbers
///   of(part, codes)   the part, of these codes
template <class Part> struct codes_read { using number = no_codes; };
template <class T> struct codes_read<lane_numbers<T>> {
  using number = T;
  using numbers = lane_numbers<T>;
  static numbers first(const numbers& x) { return x; }
  static bool same(const numbers& x, const numbers& y) {
    return x.from == y.from && x.line_step == y.line_step;
  }
  static numbers of(const numbers&, const T* codes) { return {codes, 0}; }
};
struct constants_read {
  using number = void;
  static bool same(const auto&, const auto&) { return true; }
  template <class Part> static const Part& of(const Part& x, const auto*) { return x; }
};
template <> struct codes_read<lane_constant> : constants_read {};
template <class T> struct codes_read<lane_single<T>> : constants_read {};
template <> struct codes_read<lane_mantissa> : constants_read {};
template <> struct codes_read<lane_factor> : constants_read {};
template <> struct codes_read<lane_addend> : constants_read {};
template <> struct codes_read<lane_dividend> : constants_read {};
template <> struct codes_read<lane_divisor> : constants_read {};

template <class A, class B> struct number_of_both { using type = no_codes; };
template <class T> struct number_of_both<T, T> { using type = T; };
template <class T> struct number_of_both<T, void> { using type = T; };
template <class T> struct number_of_both<void, T> { using type = T; };
template <> struct number_of_both<void, void> { using type = void; };

template <class A, class B> struct codes_read_by_both {
  using number =
      typename number_of_both<typename codes_read<A>::number, typename codes_read<B>::number>::type;
  static auto first(const A& a, const B& b) {
    if constexpr (std::is_void_v<typename codes_read<A>::number>)
      return codes_read<B>::first(b);
    else
      return codes_read<A>::first(a);
  }
  static bool same(const A& a, const B& b, const auto& x) {
    return codes_read<A>::same(a, x) && codes_read<B>::same(b, x);
  }
};
template <class Op, class A> struct codes_read<lane_unary<Op, A>> {
  using part = lane_unary<Op, A>;
  using number = typename codes_read<A>::number;
  static auto first(const part& x) { return codes_read<A>::first(x.a); }
  static bool same(const part& x, const auto& y) { return codes_read<A>::same(x.a, y); }
  static part of(const part& x, const auto* codes) { return {codes_read<A>::of(x.a, codes)}; }
};
template <class Op, class A, class B> struct codes_read<lane_binary<Op, A, B>> {
  using part = lane_binary<Op, A, B>;
  using both = codes_read_by_both<A, B>;
  using number = typename both::number;
  static auto first(const part& x) { return both::first(x.a, x.b); }
  static bool same(const part& x, const auto& y) { return both::same(x.a, x.b, y); }
  static part of(const part& x, const auto* codes) {
    return {codes_read<A>::of(x.a, codes), codes_read<B>::of(x.b, codes)};
  }
};
template <class C, class A, class B> struct codes_read<lane_choice<C, A, B>> {
  using part = lane_choice<C, A, B>;
  using values = lane_binary<lane_sum, A, B>;
  using both = codes_read_by_both<C, values>;
  using number = typename both::number;
  static auto first(const part& x) { return both::first(x.condition, values{x.a, x.b}); }
  static bool same(const part& x, const auto& y) { return both::same(x.condition, values{x.a, x.b}, y); }
  static part of(const part& x, const auto* codes) {
    return {codes_read<C>::of(x.condition, codes), codes_read<A>::of(x.a, codes),
            codes_read<B>::of(x.b, codes)};
  }
};

/// The numbers of 8 bits that a program maps to such ones of type T; no_codes where it does not, or only
/// copies them.
template <class Program, class T> struct mapped_number { using type = no_codes; };
template <class Program, class T>
requires(narrow_scalar<typename codes_read<Program>::number> &&
         sizeof(typename codes_read<Program>::number) == 1 && narrow_scalar<T> && sizeof(T) == 1 &&
         !std::same_as<Program,
                       lane_numbers<typename codes_read<Program>::number>>) struct mapped_number<Program, T> {
  using type = typename codes_read<Program>::number;
};
template <class Program, class T> using mapped_number_t = typename mapped_number<Program, T>::type;
template <class Program, class T>
inline constexpr bool maps_codes = !std::same_as<mapped_number_t<Program, T>, no_codes>;

/// Whether a program takes so long that its table is worth keeping: functions, which read no constants.
template <class Program> inline constexpr bool is_function = false;
template <class Function, int Bits, class T>
inline constexpr bool
    is_function<lane_unary<lane_function_before_rounding<Function, Bits>, lane_numbers<T>>> = true;
template <class Function, class T>
inline constexpr bool is_function<lane_unary<lane_fixed<lane_function<Function>, T>, lane_numbers<T>>> = true;

/// All codes of 8 bits as numbers of T; places beyond the codes of a format, which are not asked for, are
/// zeros.
template <narrow_scalar T> constexpr std::array<T, 256> every_code() {
  std::array<T, 256> every{};
  for (std::size_t code = 0; code < every.size(); ++code) {
    const auto number = T::from_bits(static_cast<typename T::bits_type>(code));
    if (static_cast<std::uint8_t>(number.bits()) == code) every[code] = number;
  }
  return every;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
