// What the library says when it refuses something.
#pragma once

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

}  // namespace test
