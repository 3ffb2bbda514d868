#include "training/training.hpp"

namespace narrow_train {
namespace {

/// f(field) for every field of a point of the curve.
template <class Point, class F> void for_each_field(Point& p, F f) {
  f(p.epoch);
  f(p.step);
  f(p.loss);
  f(p.accuracy);
  f(p.rate);
  f(p.scale);
  f(p.skipped);
  f(p.nonfinite);
  f(p.seconds);
  f(p.lost);
}

void save(std::ostream& out, const training_result& result) {
  write_number(out, static_cast<std::uint64_t>(result.activation_bytes));
  write_number(out, static_cast<std::uint64_t>(result.diverged.size()));
  out << result.diverged;
  write_number(out, static_cast<std::uint64_t>(result.curve.size()));
  for (const curve_point& p : result.curve)
    for_each_field(p, [&](const auto& field) { write_number(out, field); });
}

void load(std::istream& in, training_result& result, int epochs) {
  result.activation_bytes = static_cast<std::size_t>(read_number<std::uint64_t>(in));
  result.diverged.clear();
  for (auto left = read_number<std::uint64_t>(in); left > 0; --left) result.diverged += read_number<char>(in);
  const auto size = read_number<std::uint64_t>(in);
  if (size > static_cast<std::uint64_t>(epochs))
    throw std::runtime_error(std::to_string(size) + " epochs, --epochs asks for " + std::to_string(epochs));
  result.curve.assign(static_cast<std::size_t>(size), {});
  int epoch = 0;
  for (curve_point& p : result.curve) {
    for_each_field(p, [&](auto& field) { field = read_number<std::remove_cvref_t<decltype(field)>>(in); });
    if (p.epoch != ++epoch) throw std::runtime_error("epochs that do not follow one another");
  }
}

}  // namespace

std::filesystem::path checkpoint_path(const training_settings& settings, std::uint64_t seed) {
  return settings.checkpoints / (name_of_run(settings, seed) + std::string(checkpoint_extension));
}

saved_part part_of(training_result& result, const training_settings& settings) {
  return {"curve", [&result](std::ostream& out) { save(out, result); },
          [&result, epochs = settings.epochs](std::istream& in) { load(in, result, epochs); }};
}

bool continues(const training_settings& settings, std::uint64_t seed) {
  if (settings.checkpoints.empty() || settings.start == run_start::beginning) return false;
  std::error_code failure;
  return std::filesystem::exists(checkpoint_path(settings, seed), failure) || failure;
}

std::optional<training_result> resumable(const training_settings& settings, const train_and_test& data,
                                         std::uint64_t seed) {
  if (!continues(settings, seed)) return std::nullopt;
  training_result result;
  result.other_build = read_checkpoint(checkpoint_path(settings, seed), description(settings, data, seed),
                                       {part_of(result, settings)}, settings.others);
  return result;
}

}  // namespace narrow_train
