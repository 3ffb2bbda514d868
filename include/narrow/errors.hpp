// How an error leaves the library: the one header that throws and catches. Compiled with -fno-exceptions, an
// error prints its message and ends the program.
//
// Source files of one program may differ in that flag, and the linker merges the inline functions that they
// share. So no function differs by it. What needs exceptions is defined in each file that has them, used or
// not, and declared weak in the others; whether it is there is asked when the program runs. Where any file
// has exceptions, errors are thrown from all of them, as those of the standard library are.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "config.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// The exceptions that the library throws.
enum class error { invalid_argument, length_error, logic_error, out_of_range, runtime_error };
template <class Exception> inline constexpr error error_of = error::logic_error;
template <> inline constexpr error error_of<std::invalid_argument> = error::invalid_argument;
template <> inline constexpr error error_of<std::length_error> = error::length_error;
template <> inline constexpr error error_of<std::out_of_range> = error::out_of_range;
template <> inline constexpr error error_of<std::runtime_error> = error::runtime_error;

/// A reference to a function object, which must outlive it.
struct action {
  void (*run)(const void* context);
  const void* context;

  template <class F>
  explicit action(const F& f) : run([](const void* x) { (*static_cast<const F*>(x))(); }), context(&f) {}
};

[[noreturn, gnu::weak]] void raise(error what, const std::string& message);
/// The exception that `f` throws; null if it throws none.
[[gnu::weak]] std::exception_ptr caught(const action& f);
/// The message of the std::invalid_argument that `f` throws, if it throws one.
[[gnu::weak]] std::optional<std::string> caught_refusal(const action& f);

#if defined(__cpp_exceptions)
void raise(error what, const std::string& message) {
  switch (what) {
    case error::invalid_argument:
      throw std::invalid_argument(message);
    case error::length_error:
      throw std::length_error(message);
    case error::out_of_range:
      throw std::out_of_range(message);
    case error::runtime_error:
      throw std::runtime_error(message);
    case error::logic_error:
      break;
  }
  throw std::logic_error(message);
}
std::exception_ptr caught(const action& f) {
  try {
    f.run(f.context);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}
std::optional<std::string> caught_refusal(const action& f) {
  try {
    f.run(f.context);
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return std::nullopt;
}
#endif

/// The weak function, or null where no file of the program defines it. (g++ warns of a comparison of the
/// function itself with null in files that define it.)
template <class F> F* if_there(F* function) { return function; }

/// The beginning of a message on what the calling thread attempts; null where it attempts nothing that may
/// fail. Without exceptions nobody can catch an error and add this to it.
inline const char*& present_attempt() {
  thread_local const char* attempt = nullptr;
  return attempt;
}

/// Throws `Exception` with this message. Without exceptions in the program, prints the message to stderr and
/// aborts.
template <class Exception> [[noreturn, gnu::cold, gnu::noinline]] void fail(const std::string& message) {
  if (const auto by_exception = if_there(raise)) by_exception(error_of<Exception>, message);
  const char* const attempt = present_attempt();
  std::fprintf(stderr, "%s%s\n", attempt != nullptr ? attempt : "", message.c_str());
  std::abort();
}

/// Calls f(), and returns the exception that it throws, for another thread to rethrow; null if it throws
/// none.
template <class F> std::exception_ptr attempt(const F& f) {
  if (const auto catching = if_there(caught)) return catching(action(f));
  f();
  return nullptr;
}

/// Calls f(), and returns the message where that refuses an argument. Without exceptions in the program the
/// message is printed after `attempted`, and the program ends.
template <class F> std::optional<std::string> refusal_of(const std::string& attempted, const F& f) {
  if (const auto catching = if_there(caught_refusal)) return catching(action(f));
  present_attempt() = attempted.c_str();
  f();
  present_attempt() = nullptr;
  return std::nullopt;
}

}  // namespace narrow::detail
