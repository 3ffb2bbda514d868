#include "training/model_file.hpp"

#include <optional>
#include <sstream>

#include "formats/formats.hpp"

namespace narrow_train {
namespace {

constexpr file_kind kind_of_file{"model", 1};

template <class Get> std::string list(const pixel_scaling& pixels, Get get) {
  std::string all;
  for (const channel_scaling& channel : pixels) {
    if (!all.empty()) all += ',';
    all += text(get(channel));
  }
  return all;
}

/// The settings of a file, each of which is taken once.
class told_settings {
 public:
  explicit told_settings(std::vector<setting> all) : rest_(std::move(all)) {}

  std::string take(const std::string& name) {
    const auto found = std::ranges::find(rest_, name, &setting::name);
    if (found == rest_.end()) throw std::runtime_error("does not say its " + name);
    const std::string value = found->value;
    rest_.erase(found);
    return value;
  }
  template <class T> T number(const std::string& name, T low, T high) {
    return number_in<T>(name, take(name), low, high);
  }
  std::vector<double> numbers(const std::string& name, double low, double high) {
    std::istringstream parts(take(name));
    std::vector<double> all;
    for (std::string part; std::getline(parts, part, ',');) all.push_back(number_in(name, part, low, high));
    return all;
  }
  /// The one of some items that has this name.
  template <class Items> const auto& named(const std::string& name, const Items& items) {
    const std::string value = take(name);
    for (const auto& item : items)
      if (item.name == value) return item;
    throw unknown(name, value);
  }
  template <class Meaning, std::size_t Count>
  Meaning choice(const std::string& name, const option_values<Meaning, Count>& values) {
    const std::string value = take(name);
    for (const auto& [text, meaning] : values)
      if (text == value) return meaning;
    throw unknown(name, value);
  }
  [[nodiscard]] const std::vector<setting>& rest() const { return rest_; }

 private:
  static std::runtime_error unknown(const std::string& name, const std::string& value) {
    return std::runtime_error("has an unknown " + name + ": " + value);
  }
  template <class T> static T number_in(const std::string& name, const std::string& value, T low, T high) {
    T x{};
    const char* const end = value.data() + value.size();
    const auto [stop, failure] = std::from_chars(value.data(), end, x);
    if (failure != std::errc() || stop != end || !(x >= low && x <= high)) throw unknown(name, value);
    return x;
  }

  std::vector<setting> rest_;
};

std::vector<setting> settings_of(const model_description& about) {
  const training_settings& t = about.settings;
  std::vector<setting> all{
      {"--formats", std::string(t.format)},
      {"--seed", text(about.seed)},
      {"--model", std::string(t.network->name)},
      {"--batch", text(t.batch)},
      {"--accumulate", name_of(accumulations, t.products.sums)},
      {"height", text(about.shape.height)},
      {"width", text(about.shape.width)},
      {"channels", text(about.shape.channels)},
      {"classes", text(about.classes)},
      {"pixel-means", list(about.pixels, [](const channel_scaling& c) { return c.mean; })},
      {"pixel-scales", list(about.pixels, [](const channel_scaling& c) { return c.scale; })},
  };
  if (t.products.quantised)
    for (setting& choice : inference_choices(t.recipes)) all.push_back(std::move(choice));
  return all;
}

/// A model's description and format, from its settings.
void describe(model_file& file) {
  told_settings told(file.contents.settings);
  model_description& about = file.about;
  training_settings& t = about.settings;
  constexpr int max_size = 65536;
  file.kind = &told.named("--formats", formats());
  about.seed = told.number<std::uint64_t>("--seed", 0, std::numeric_limits<std::uint64_t>::max());
  t.network = &told.named("--model", models());
  t.batch = told.number("--batch", 1, max_size);
  t.products.sums = told.choice("--accumulate", accumulations);
  about.shape.height = told.number("height", 1, max_size);
  about.shape.width = told.number("width", 1, max_size);
  about.shape.channels = told.number("channels", 1, max_size);
  about.classes = told.number("classes", 1, 256);
  const auto means = told.numbers("pixel-means", -1e9, 1e9), scales = told.numbers("pixel-scales", 0, 1e9);
  const auto channels = static_cast<std::size_t>(about.shape.channels);
  if (means.size() != channels || scales.size() != channels)
    throw std::runtime_error("does not say the means and scales of " + text(channels) + " channels");
  for (std::size_t i = 0; i < channels; ++i) about.pixels.push_back({means[i], scales[i]});
  for (const setting& s : told.rest())
    if (!file.kind->quantised || !take_inference_choice(t.recipes, s))
      throw std::runtime_error("was written with " + s.name + ' ' + s.value +
                               ", which means nothing to this program");
  t = file.kind->adapted(t);
}

std::string text_of(const image_shape& shape, int classes) {
  return text(shape.height) + " x " + text(shape.width) + " x " + text(shape.channels) + " in " +
         text(classes) + " classes";
}

}  // namespace

std::filesystem::path model_path(const training_settings& settings, std::uint64_t seed) {
  return settings.exports / (name_of_run(settings, seed) + ".model");
}

std::uint64_t write_model(const std::filesystem::path& path, const model_description& about,
                          const std::vector<saved_part>& tensors) {
  return write_sections(path, kind_of_file, settings_of(about), tensors);
}

model_file read_model(const std::filesystem::path& path) {
  model_file file;
  file.contents = read_sections(path, kind_of_file);
  naming(path, [&] { describe(file); });
  return file;
}

void load_model(const model_file& file, const std::vector<saved_part>& tensors) {
  naming(file.contents.path, [&] {
    for (const section& s : file.contents.sections)
      if (std::ranges::find(tensors, s.name, &saved_part::name) == tensors.end())
        throw std::runtime_error("has " + s.name + ", which its network has not");
  });
  load_sections(file.contents, tensors);
}

void require_fit(const model_file& file, const dataset& images, std::string_view name_of_images) {
  const model_description& about = file.about;
  if (about.shape == images.shape && about.classes == images.classes) return;
  throw data_error(file.contents.path.string() + " is for images of " + text_of(about.shape, about.classes) +
                   ", not for " + std::string(name_of_images) + ": " + text_of(images.shape, images.classes));
}

}  // namespace narrow_train
