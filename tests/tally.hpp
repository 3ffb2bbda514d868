// Many comparisons, one assertion.
#pragma once

#include <cxxabi.h>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <typeinfo>

#include "catch.hpp"

namespace test {

/// Counts cases and mismatches and keeps the first mismatch: an assertion per case would take most of the
/// time.
class tally {
 public:
  /// `describe()` is called for the first mismatch alone.
  template <class Describe> void expect(bool match, Describe describe) {
    ++cases_;
    if (!match && mismatches_++ == 0) first_ = describe();
  }

  std::uint64_t cases() const { return cases_; }
  std::uint64_t mismatches() const { return mismatches_; }

  /// Ends the test: no mismatch, and as many cases as there should have been.
  void require(std::uint64_t cases) const {
    INFO("first mismatch: " << first_);
    REQUIRE(mismatches_ == 0);
    REQUIRE(cases_ == cases);
  }
  void require_at_least(std::uint64_t cases) const {
    INFO("first mismatch: " << first_);
    REQUIRE(mismatches_ == 0);
    REQUIRE(cases_ >= cases);
  }

 private:
  std::uint64_t cases_ = 0, mismatches_ = 0;
  std::string first_;
};

/// All arguments streamed into one string, separated by spaces; integers in hexadecimal.
template <class... Args> std::string text(const Args&... args) {
  std::ostringstream out;
  out << std::hex << std::showbase;
  out.precision(21);
  const auto put = [&](const auto& arg) {
    if constexpr (sizeof(arg) == 1)
      out << static_cast<unsigned>(arg) << ' ';  // not as a character
    else
      out << arg << ' ';
  };
  (put(args), ...);
  return out.str();
}

template <class T> std::string name_of() {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : typeid(T).name();
}

}  // namespace test
