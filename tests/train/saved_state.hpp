// What every saved state must stand: restoring, foreign streams, and an end after every byte.
#pragma once

#include <concepts>
#include <iomanip>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>

#include "catch.hpp"

namespace narrow_test {

template <class T> std::string saved(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

/// Whether reading `text` into a copy of `before` throws std::runtime_error, sets failbit and changes
/// nothing.
template <class T> bool refused(const std::string& text, const T& before) {
  T object = before;
  std::istringstream in(text);
  try {
    in >> object;
  } catch (const std::runtime_error&) {
    return in.fail() && saved(object) == saved(before);
  }
  return false;
}

/// Decimal points and thousands separators that no number in a saved state may have.
struct odd_numbers : std::numpunct<char> {
  char do_thousands_sep() const override { return '\''; }
  std::string do_grouping() const override { return "\1"; }
};

/// `before` is any object of the type in another state.
template <class T> void check_saved_state(const T& x, const T& before) {
  const std::string text = saved(x);
  REQUIRE(text != saved(before));

  std::size_t accepted = 0;
  for (std::size_t length = 0; length < text.size(); ++length)
    if (!refused(text.substr(0, length), before)) ++accepted;
  CHECK(accepted == 0);
  CHECK(refused("x" + text, before));
  CHECK(refused("narrow::something_else { }", before));

  std::stringstream stream;
  stream.imbue(std::locale(std::locale::classic(), new odd_numbers));
  stream << std::hex << std::showbase << std::uppercase << std::setfill('*') << std::setw(200) << x << "\n\t "
         << before << " rest";
  CHECK(stream.str() == text + "\n\t " + saved(before) + " rest");
  T first = before, second = x;
  stream >> std::noskipws >> first >> second;
  CHECK(saved(first) == text);
  CHECK(saved(second) == saved(before));
  if constexpr (std::equality_comparable<T>) CHECK((first == x && second == before));
  std::string rest;
  stream >> std::skipws >> rest;
  CHECK(rest == "rest");

  // The library's own message comes, not that of the stream.
  std::istringstream throwing("x" + text);
  throwing.exceptions(std::ios_base::failbit | std::ios_base::eofbit);
  T unread = before;
  CHECK_THROWS_WITH(throwing >> unread, Catch::Contains("is missing"));
  CHECK(throwing.exceptions() == (std::ios_base::failbit | std::ios_base::eofbit));
  CHECK(saved(unread) == saved(before));

  std::istringstream broken(text);
  broken.setstate(std::ios_base::badbit);
  T untouched = before;
  CHECK_THROWS_AS(broken >> untouched, std::runtime_error);
  CHECK(saved(untouched) == saved(before));
}

/// `text` with the value of one field replaced.
inline std::string with_field(std::string text, const std::string& name, const std::string& value) {
  const auto at = text.find(" " + name + " ") + name.size() + 2;
  const auto end = text.find(' ', at);
  return text.replace(at, end - at, value);
}

}  // namespace narrow_test
