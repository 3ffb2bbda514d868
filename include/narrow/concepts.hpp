// Names of the formats, and the concepts that tell them apart. Everything else includes this file.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "integers.hpp"

namespace narrow::inline NARROW_ABI {

/// How a floating format spends its top encodings.
///
///   ieee  top exponent: infinity and NaN, as IEEE 754-2019 section 3.4
///   fn    "finite, NaN": no infinity; only the all-ones magnitude is NaN (OCP OFP8 E4M3)
///   fnuz  "finite, NaN, unsigned zero": no infinity; the code of -0 is the one NaN; bias one larger
///   none  every code is a finite number (OCP MX FP6 and FP4)
enum class specials { ieee, fn, fnuz, none };

namespace rounding {
struct nearest_even;
}
namespace overflow {
struct ieee;
struct saturate;
}  // namespace overflow

template <int E, int M, specials Specials = specials::ieee, class Round = rounding::nearest_even,
          class Overflow = overflow::ieee>
class floating;

template <int WL, int FL, class Round = rounding::nearest_even, class Overflow = overflow::saturate>
class fixed;

namespace detail {
template <class T> inline constexpr bool is_floating = false;
template <int E, int M, specials S, class R, class O>
inline constexpr bool is_floating<floating<E, M, S, R, O>> = true;

template <class T> inline constexpr bool is_fixed = false;
template <int WL, int FL, class R, class O> inline constexpr bool is_fixed<fixed<WL, FL, R, O>> = true;
}  // namespace detail

/// Any `floating<...>` that is neither cv-qualified nor a reference.
template <class T>
concept narrow_float = detail::is_floating<T>;

/// Any `fixed<...>` that is neither cv-qualified nor a reference.
template <class T>
concept narrow_fixed = detail::is_fixed<T>;

/// A number that is stored narrow: any `floating<...>` or `fixed<...>`.
template <class T>
concept narrow_scalar = narrow_float<T> || narrow_fixed<T>;

/// The format whose codes a number type of the compiler's or another library's has, as its member `type`: for
/// _Float16 and __bf16, which std::float16_t and std::bfloat16_t are, for Eigen::half and Eigen::bfloat16 in
/// narrow/eigen.hpp, and for what a program specialises it for.
template <class T> struct foreign_format {};
#if defined(NARROW_FLOAT16)
template <> struct foreign_format<NARROW_FLOAT16> { using type = floating<5, 10>; };
#endif
#if defined(NARROW_STORED_FLOAT16)
template <> struct foreign_format<NARROW_STORED_FLOAT16> { using type = floating<5, 10>; };
#endif
#if defined(NARROW_BFLOAT16)
template <> struct foreign_format<NARROW_BFLOAT16> { using type = floating<8, 7>; };
#endif
/// That format.
template <class T> using foreign_format_t = typename foreign_format<T>::type;

/// A number type of the compiler's or another library's, from which narrow scalars are constructed:
/// implicitly the format that has its codes, explicitly all others. The other way there is the conversion of
/// narrow scalars to their carrier.
template <class T>
concept foreign_scalar = narrow_float<foreign_format_t<T>> && std::is_trivially_copyable_v<T> &&
                         sizeof(T) == sizeof(foreign_format_t<T>);

/// The built-in arithmetic types, the ones that mix with narrow scalars implicitly. Not a compiler's own:
/// __int128, __float128, std::float16_t.
template <class T>
concept builtin_arithmetic =
    (std::integral<T> && sizeof(T) <= sizeof(std::uint64_t)) || std::is_same_v<std::remove_cv_t<T>, float> ||
    std::is_same_v<std::remove_cv_t<T>, double> || std::is_same_v<std::remove_cv_t<T>, long double>;

namespace detail {
/// An unscoped enumeration: its enumerators are the integers that they stand for, as they are beside a float.
template <class T>
concept unscoped_enumeration =
    std::is_enum_v<T> && std::convertible_to<T, float> && builtin_arithmetic<std::underlying_type_t<T>>;

/// What the operators and functions of narrow scalars take beside a narrow scalar.
template <class T>
concept arithmetic_operand = builtin_arithmetic<T> || unscoped_enumeration<T>;

/// What converts to a narrow scalar implicitly. 128-bit integers convert, but are no operands: the exact
/// product with one is beyond what the operators compute in.
template <class T>
concept arithmetic_value = arithmetic_operand<T> || std::same_as<T, int128> || std::same_as<T, uint128>;

template <class T> struct number_type { using type = T; };
template <unscoped_enumeration T> struct number_type<T> { using type = std::underlying_type_t<T>; };
/// The arithmetic type as which a value enters an operation: for an enumerator that of its integer.
template <class T> using number_t = typename number_type<T>::type;
}  // namespace detail

/// The built-in type that holds every value of T, to which T converts: float, or double for `fixed` with WL
/// > 24.
template <narrow_scalar T> using carrier_t = typename T::carrier;

}  // namespace narrow
