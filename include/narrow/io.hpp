// Narrow scalars in and out of text, in the form that their built-in carrier has.
#pragma once

#include <istream>
#include <ostream>
#if __has_include(<format>)
#include <format>
#endif

#include "format/operators.hpp"

namespace narrow::inline NARROW_ABI {

/// Writes x as its carrier, `float` (`double` where WL > 24), with the stream's flags and precision.
template <class Char, class Traits, narrow_scalar T>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, T x) {
  return out << static_cast<carrier_t<T>>(x);
}

/// Reads a double and rounds it once more; on failure sets the stream's failbit and leaves `x` as it was.
template <class Char, class Traits, narrow_scalar T>
std::basic_istream<Char, Traits>& operator>>(std::basic_istream<Char, Traits>& in, T& x) {
  double value = 0;
  if (in >> value) x = static_cast<T>(value);
  return in;
}

}  // namespace narrow

#ifdef __cpp_lib_format
/// Formats x as its carrier, with the format specifications of that.
template <narrow::narrow_scalar T, class Char>
struct std::formatter<T, Char> : std::formatter<narrow::carrier_t<T>, Char> {
  template <class Context> auto format(T x, Context& context) const {
    return std::formatter<narrow::carrier_t<T>, Char>::format(static_cast<narrow::carrier_t<T>>(x), context);
  }
};
#endif
