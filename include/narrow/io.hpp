// Narrow scalars in and out of text, in the form that their built-in carrier has.
#pragma once

#include <istream>
#include <ostream>
#include <string>
#if !defined(__GLIBCXX__)  // there <istream> has the facets, without the rest of what takes long to compile
#include <locale>
#endif
#if __has_include(<format>)
#include <format>
#endif

#include "charconv.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// The characters of a stream, each of which is kept where it is passed.
template <class Char, class Traits> class recording_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Char;
  using difference_type = std::ptrdiff_t;
  using pointer = const Char*;
  using reference = Char;

  recording_iterator() = default;
  recording_iterator(std::basic_streambuf<Char, Traits>* from, std::basic_string<Char, Traits>* to)
      : at_(from), passed_(to) {}

  Char operator*() const { return *at_; }
  recording_iterator& operator++() {
    passed_->push_back(*at_);
    ++at_;
    return *this;
  }
  friend bool operator==(const recording_iterator& a, const recording_iterator& b) {
    return a.at_.equal(b.at_);
  }

 private:
  std::istreambuf_iterator<Char, Traits> at_{};
  std::basic_string<Char, Traits>* passed_ = nullptr;
};

/// Reads what std::istream reads as a double, and the number that its text is.
template <class Char, class Traits> class number_reader {
  using iterator = recording_iterator<Char, Traits>;
  struct facet : std::num_get<Char, iterator> {};

 public:
  /// Nothing where `state` says that there was no number.
  static std::optional<unpacked<std::uint64_t>> read(std::basic_istream<Char, Traits>& in,
                                                     std::ios_base::iostate& state) {
    std::basic_string<Char, Traits> passed;
    double value = 0;
    facet().get(iterator(in.rdbuf(), &passed), iterator(), in, state, value);
    if ((state & std::ios_base::failbit) != 0) {
      // Also where the number is too large for a double, which then is the largest one.
      if (std::abs(value) < std::numeric_limits<double>::max()) return {};
      state &= ~std::ios_base::failbit;
    }
    const std::string text = in_c_locale(passed, in.getloc());
    return read_number(text.data(), text.data() + text.size(), std::chars_format::general).value;
  }

 private:
  static std::string in_c_locale(const std::basic_string<Char, Traits>& text, const std::locale& locale) {
    const auto& characters = std::use_facet<std::ctype<Char>>(locale);
    const auto& punctuation = std::use_facet<std::numpunct<Char>>(locale);
    std::string result;
    for (const Char c : text)
      if (c == punctuation.decimal_point())
        result += '.';
      else if (const char plain = characters.narrow(c, 0); plain != '+' || !result.empty())
        if (c != punctuation.thousands_sep() || punctuation.grouping().empty()) result += plain;
    return result;
  }
};

}  // namespace detail

/// Writes x as its carrier, `float` (`double` where WL > 24), with the stream's flags and precision.
template <class Char, class Traits, narrow_scalar T>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, T x) {
  return out << static_cast<carrier_t<T>>(x);
}

/// Reads what would be read as a double, and rounds the number of that text once by T's policies, however
/// many digits it has; on failure sets the stream's failbit and leaves `x` as it was. A number too large for
/// T is no failure, but becomes what T's overflow makes of it, by overflow::wrap of its first 64 bits.
template <class Char, class Traits, narrow_scalar T>
std::basic_istream<Char, Traits>& operator>>(std::basic_istream<Char, Traits>& in, T& x) {
  const typename std::basic_istream<Char, Traits>::sentry ready(in);
  if (!ready) return in;
  auto state = std::ios_base::goodbit;
  if (const auto number = detail::number_reader<Char, Traits>::read(in, state))
    x = T(*number, typename T::round_policy{}, typename T::overflow_policy{});
  in.setstate(state);
  return in;
}

/// What {fmt} formats in place of x, with all of its specifications: its carrier.
template <narrow_scalar T> constexpr carrier_t<T> format_as(T x) { return static_cast<carrier_t<T>>(x); }

/// x as a number of nlohmann::json, and of classes like it: its carrier, exactly.
template <class Json, narrow_scalar T>
requires requires(Json& json, carrier_t<T> value) {
  json = value;
  json.template get<double>();
}
void to_json(Json& json, T x) { json = static_cast<carrier_t<T>>(x); }
/// The number that `json` holds as a double, which was rounded to one when its text was read, rounded to T.
template <class Json, narrow_scalar T>
requires requires(const Json& json) { json.template get<double>(); }
void from_json(const Json& json, T& x) { x = T(json.template get<double>()); }

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
