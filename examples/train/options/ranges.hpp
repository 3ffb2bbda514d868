// What values options take, beyond what their types say.
#pragma once

#include <CLI/CLI.hpp>

namespace narrow_train {

/// The decimal numbers x with low <= x <= high that are no smaller than floats get.
CLI::Validator between(double low, double high);
/// The decimal numbers x with low < x <= high.
CLI::Validator above(double low, double high);
/// A number, as large as anybody asks for.
inline constexpr double unlimited = 1e9;

/// A whole number of 64 bits, in decimal digits.
CLI::Validator seed_number();
/// What make_scaler takes.
CLI::Validator scale_choice();
/// Makes a number of "2^-24"; other texts stay as they are.
CLI::Validator power_of_two();

}  // namespace narrow_train
