// How long one step of training takes, format against format.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <vector>

#include "formats/formats.hpp"

namespace narrow_train {

/// Medians over the rounds, in seconds.
struct step_time {
  std::string_view format;
  double whole;
  double products, conversions;    // parts of it
  double of_fp32;                  // a step in fp32, of the same rounds
  std::optional<double> modelled;  // see stepper
};

/// Images of widths.front() random pixels and random labels, one batch; widths.back() is the number of
/// classes.
dataset random_images(std::span<const int> widths, int batch);

/// Dense layers from each width to the next, with ReLU between them.
model dense_layers(std::span<const int> widths);

/// Forward, backward and update of the settings' network in each format, in turn with the same in fp32: one
/// step of each in a round, after one that does not count.
std::vector<step_time> time_steps(const training_settings& settings, const dataset& batch,
                                  std::span<const format* const> kinds, int rounds);

void print_times(std::ostream& out, std::span<const step_time> times);

}  // namespace narrow_train
