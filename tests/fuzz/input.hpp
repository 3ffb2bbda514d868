// What fuzz targets share: numbers out of the bytes of an input, and the end of the program where something
// disagrees, which is how libFuzzer learns of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <narrow/narrow.hpp>

namespace fuzz {

/// The bytes of an input, from the first to the last. Where there are no more, numbers are zero.
class input {
 public:
  input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}

  template <class T> T number() {
    T result{};
    take(&result, sizeof result);
    return result;
  }
  /// A number less than `end`, which is at most 256.
  std::size_t below(std::size_t end) { return number<std::uint8_t>() % end; }
  std::size_t left() const { return left_; }

  /// Numbers of all bytes that are left, but at most so many of them.
  template <class T> std::vector<T> numbers(std::size_t most) {
    std::vector<T> result(std::min(most, left_ / sizeof(T)));
    take(result.data(), result.size() * sizeof(T));
    return result;
  }
  std::string text() {
    std::string result(reinterpret_cast<const char*>(at_), left_);
    left_ = 0;
    return result;
  }

 private:
  void take(void* to, std::size_t size) {
    const std::size_t there = std::min(size, left_);
    if (there == 0) return;
    std::memcpy(to, at_, there);
    at_ += there;
    left_ -= there;
  }

  const std::uint8_t* at_;
  std::size_t left_;
};

/// Ends the program with what `describe` says unless `holds`.
template <class Describe> void require(bool holds, const Describe& describe) {
  if (holds) return;
  const std::string text = describe();
  std::fprintf(stderr, "fuzz: %s\n", text.c_str());
  std::abort();
}

/// Calls use(name) with each instruction set of this processor in use, and leaves the best one in use.
template <class Use> void for_each_isa(const Use& use) {
  using narrow::kernel::dispatch;
  std::size_t best = 0;
  for (std::size_t i = 0; i < narrow::kernel::instruction_set_count(); ++i) {
    if (!dispatch::instance().supports(i)) continue;
    best = i;
    narrow::use_isa(dispatch::name_of(i));
    use(std::string(dispatch::name_of(i)));
  }
  narrow::use_isa(dispatch::name_of(best));
}

/// Calls one.operator()<Type>() for the type at this place of the list.
template <class... Types, class Use> void with_type(std::size_t place, const Use& use) {
  std::size_t i = 0;
  (void)(... || (i++ == place % sizeof...(Types) && (use.template operator()<Types>(), true)));
}

template <class T> bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace fuzz
