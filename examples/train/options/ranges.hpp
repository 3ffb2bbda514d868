// What values options take, beyond what their types say.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

#include "training/settings.hpp"

namespace narrow_train {

/// 010, which some would read as 8.
inline bool has_leading_zero(const std::string& text) {
  const std::size_t first = text.find_first_not_of("+-");
  return first != text.npos && first + 1 < text.size() && text[first] == '0' && text[first + 1] >= '0' &&
         text[first + 1] <= '9';
}

enum class lower_end { included, excluded };

/// The decimal numbers between two that are no smaller than floats get.
inline CLI::Validator numbers(double low, lower_end end, double high) {
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        double x = 0;
        const bool number = CLI::detail::lexical_cast(text, x) && std::isfinite(x);
        if (number && has_leading_zero(text))
          return text + " is not written as a decimal number: it begins with 0";
        if (number && x != 0 && static_cast<float>(x) == 0)
          return text + " is too small: no float other than 0";
        if (number && x <= high && (x > low || (x == low && end == lower_end::included))) return {};
        std::ostringstream message;
        message << text << " is not " << (end == lower_end::included ? "from " : "above ") << low
                << (end == lower_end::included ? " to " : " and at most ") << high;
        return message.str();
      },
      "");
}

/// low <= x <= high.
inline CLI::Validator between(double low, double high) { return numbers(low, lower_end::included, high); }
/// low < x <= high.
inline CLI::Validator above(double low, double high) { return numbers(low, lower_end::excluded, high); }

/// As large a number as anybody asks for.
inline constexpr double unlimited = 1e9;

/// A whole number of 64 bits, in decimal digits.
inline CLI::Validator seed_number() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        std::uint64_t number = 0;
        const char* const end = text.data() + text.size();
        const auto [rest, failure] = std::from_chars(text.data(), end, number);
        if (failure == std::errc{} && rest == end && !has_leading_zero(text)) return {};
        return text + " is not a whole number from 0 to " +
               std::to_string(std::numeric_limits<std::uint64_t>::max());
      },
      "");
}

/// What make_scaler takes.
inline CLI::Validator scale_choice() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        try {
          static_cast<void>(make_scaler(text));
          return {};
        } catch (const std::invalid_argument& e) {
          return e.what();
        }
      },
      "");
}

/// Makes a number of "2^-24"; other texts stay as they are.
inline CLI::Validator power_of_two() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        int exponent = 0;
        if (!text.starts_with("2^")) return {};
        if (!CLI::detail::lexical_cast(text.substr(2), exponent) || exponent < -149 || exponent > 127)
          return text + " is not from 2^-149 to 2^127";
        std::ostringstream number;
        number.precision(9);
        number << std::ldexp(1.0, exponent);
        text = number.str();
        return {};
      },
      "");
}

}  // namespace narrow_train
