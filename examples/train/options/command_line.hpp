// What the programs say where CLI11 gives up.
#pragma once

#include <CLI/CLI.hpp>
#include <iostream>
#include <string_view>

namespace narrow_train {

/// The help that was asked for, or one line on what is wrong; the exit code of the program.
inline int answer(const CLI::App& app, const CLI::ParseError& e, std::string_view program) {
  if (e.get_exit_code() == 0) return app.exit(e);
  std::cerr << program << ": " << e.what() << " (--help lists the options)\n";
  return 2;
}

}  // namespace narrow_train
