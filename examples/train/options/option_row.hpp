// The rows that the command line is a table of: an option's name, where its value goes, its help, what values
// it takes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operands/recipe.hpp"
#include "training/settings.hpp"

namespace narrow_train {

/// Adds an option to the parser that writes to one place. The place must outlive the parser.
using binding = std::function<CLI::Option*(CLI::App&, const char* name, const std::string& help)>;

/// In which recipes an option has an effect.
struct recipes_with {
  std::function<bool(const recipe&)> effect;
  const char* description;  // of them, for the message where no format of the run has such a recipe
};

struct option_row {
  const char* name;
  binding into;
  std::string help;
  std::optional<recipes_with> only = std::nullopt;
};

struct option_group {
  const char* title;
  std::vector<option_row> rows;
};

/// A number, a text or a path, which every one of `checks` must accept, one after another.
template <class T> binding value(T& place, const std::vector<CLI::Validator>& checks = {}) {
  return [&place, checks](CLI::App& app, const char* name, const std::string& help) {
    CLI::Option* const option = app.add_option(name, place, help);
    for (const CLI::Validator& check : checks) option->check(check);
    return option;
  };
}

/// Several of them, separated by commas.
template <class T> binding list(std::vector<T>& place, const std::vector<CLI::Validator>& checks = {}) {
  return [&place, checks](CLI::App& app, const char* name, const std::string& help) {
    return value(place, checks)(app, name, help)->delimiter(',');
  };
}

/// An option without a value, which sets the place to `meaning`.
template <class Place, class Meaning> binding flag(Place& place, Meaning meaning) {
  return [&place, meaning](CLI::App& app, const char* name, const std::string& help) {
    return app.add_flag_function(
        name,
        [&place, meaning](std::int64_t count) {
          if (count > 0) place = meaning;
        },
        help);
  };
}

/// One of some values by its name. Help tells no default.
template <class Place, class Meaning, std::size_t Count>
binding choice_without_default(Place& place, const option_values<Meaning, Count>& values) {
  return [&place, &values](CLI::App& app, const char* name, const std::string& help) {
    std::vector<std::string> names;
    for (const auto& [text, meaning] : values) names.emplace_back(text);
    const auto take = [&place, &values](const std::string& chosen) {
      for (const auto& [text, meaning] : values)
        if (text == chosen) place = meaning;
    };
    return app.add_option_function<std::string>(name, take, help)
        ->check(CLI::IsMember(names).description(""));
  };
}

/// One of some values by its name; the default is what the place holds.
template <class Meaning, std::size_t Count>
binding choice(Meaning& place, const option_values<Meaning, Count>& values) {
  return [&place, &values](CLI::App& app, const char* name, const std::string& help) {
    return choice_without_default(place, values)(app, name, help)->default_str(name_of(values, place));
  };
}

/// The item of a list such as models() that has this name, which must be there.
template <class Item> const Item* find(std::span<const Item> items, std::string_view name) {
  return &*std::ranges::find(items, name, &Item::name);
}

template <class Item> std::vector<std::string> names(std::span<const Item> items) {
  std::vector<std::string> all;
  for (const Item& item : items) all.emplace_back(item.name);
  return all;
}

/// One of the items by its name.
template <class Item> binding item(const Item*& place, std::span<const Item> items) {
  return [&place, items](CLI::App& app, const char* name, const std::string& help) {
    const auto take = [&place, items](const std::string& chosen) { place = find(items, chosen); };
    return app.add_option_function<std::string>(name, take, help)
        ->check(CLI::IsMember(names(items)).description(""))
        ->default_str(std::string(place->name));
  };
}

/// Some of the items by their names, separated by commas.
template <class Item> binding item_list(std::vector<const Item*>& place, std::span<const Item> items) {
  return [&place, items](CLI::App& app, const char* name, const std::string& help) {
    std::string usual;
    for (const Item* chosen : place) usual += (usual.empty() ? "" : ",") + std::string(chosen->name);
    const auto take = [&place, items](const std::vector<std::string>& chosen) {
      place.clear();
      for (const std::string& text : chosen) place.push_back(find(items, text));
    };
    return app.add_option_function<std::vector<std::string>>(name, take, help)
        ->delimiter(',')
        ->check(CLI::IsMember(names(items)).description(""))
        ->default_str('[' + usual + ']');
  };
}

/// "a | b | c", for help.
template <class Item> std::string choices(std::span<const Item> items) {
  return CLI::detail::join(names(items), " | ");
}

/// "a (what it is) | b (what it is)", for help.
template <class Item> std::string described(std::span<const Item> items) {
  std::string text;
  for (const Item& item : items)
    text += (text.empty() ? "" : " | ") + std::string(item.name) + " (" + std::string(item.description) + ')';
  return text;
}

}  // namespace narrow_train
