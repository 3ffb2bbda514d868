// What the library says when it refuses something.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>

namespace test {

/// The message of the Error that f throws.
template <class Error = std::invalid_argument, class F> std::string refusal(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Whether a message has each of these parts.
inline bool says(const std::string& message, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    if (message.find(part) == message.npos) return false;
  return true;
}

}  // namespace test
