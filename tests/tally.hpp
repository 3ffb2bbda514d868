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

  /// Cases that were compared together, and match.
  void add_matches(std::uint64_t cases) { cases_ += cases; }
  /// What another tally has counted.
  void add(const tally& other) {
    cases_ += other.cases_;
    if (mismatches_ == 0) first_ = other.first_;
    mismatches_ += other.mismatches_;
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

/// A part of a description. Not templates on purpose: descriptions are many and hardly ever made.
struct word {
  std::string text;
  word(const char* s) : text(s) {}
  word(std::string s) : text(std::move(s)) {}
  word(char c) : text(1, c) {}
  word(std::uint64_t x);
  word(long double x);
  template <std::integral T> word(T x) : word(static_cast<std::uint64_t>(x)) {}
  template <class T>
  requires(std::convertible_to<T, long double> && !std::integral<T>) word(T x)
      : word(static_cast<long double>(x)) {}
};
[[gnu::noinline]] inline word::word(std::uint64_t x) {
  std::ostringstream out;
  out << std::hex << std::showbase << x;
  text = out.str();
}
[[gnu::noinline]] inline word::word(long double x) {
  std::ostringstream out;
  out.precision(21);
  out << x;
  text = out.str();
}

[[gnu::noinline]] inline std::string joined(std::initializer_list<word> words) {
  std::string result;
  for (const word& w : words) result += w.text + ' ';
  return result;
}

/// A description of all arguments: integers in hexadecimal, other numbers in decimal.
template <class... Args> std::string text(const Args&... args) { return joined({word(args)...}); }

template <class T> std::string name_of() {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : typeid(T).name();
}

}  // namespace test
