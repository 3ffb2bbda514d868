// What the library says when it refuses something.
#pragma once

#include <stdexcept>
#include <string>

namespace test {

/// The message of the std::invalid_argument that f throws.
template <class F> std::string refusal(const F& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace test
