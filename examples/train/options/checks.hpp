// What options must be together.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

#include "options/option_row.hpp"
#include "options/options.hpp"

namespace narrow_train {

/// Whether the command line has the option.
inline bool is_given(const CLI::App& app, const char* name) { return !app.get_option(name)->empty(); }

/// Throws CLI::ValidationError, which names the option and its value, where options contradict each other or
/// one of them has no effect. `asked`: what `app` has read, by the rows of `groups`.
void require_consistent(const CLI::App& app, const options& asked, std::span<const option_group> groups);

}  // namespace narrow_train
