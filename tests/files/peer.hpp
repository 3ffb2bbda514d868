// Files that Python reads and writes: see peer.py.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../catch.hpp"

namespace test {

/// A folder that is gone with this object.
struct folder {
  std::filesystem::path path;

  explicit folder(const std::string& name) : path(std::filesystem::absolute(name + ".files")) {
    std::filesystem::create_directories(path);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path); }

  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

/// The command that runs a Python with numpy; empty where there is none.
inline const std::string& python_with_numpy() {
  static const std::string found = [] {
    for (const std::string python : {"python3", "/usr/bin/python3"})
      if (std::system((python + " -c 'import numpy' 2> /dev/null").c_str()) == 0) return python;
    return std::string();
  }();
  return found;
}

/// What peer.py prints of these commands, line by line.
inline std::vector<std::string> answers(const folder& in, const std::string& commands) {
  std::ofstream(in / "commands") << commands;
  const auto script = std::filesystem::path(__FILE__).parent_path() / "peer.py";
  const std::string command = python_with_numpy() + " -B '" + script.string() + "' '" + in / "commands" +
                              "' > '" + in / "answers" + '\'';
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream file(in / "answers");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// The bytes of numbers in hexadecimal, as peer.py has them.
template <class T> std::string hexadecimal(const std::vector<T>& values) {
  std::string text;
  for (const T& x : values) {
    const auto bytes = std::bit_cast<std::array<unsigned char, sizeof(T)>>(x);
    for (const unsigned char byte : bytes) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 0xf];
    }
  }
  return text.empty() ? "-" : text;
}

}  // namespace test

/// The rest of a test case that needs Python with numpy.
#define NEEDS_NUMPY()                                                                      \
  if (test::python_with_numpy().empty()) {                                                 \
    WARN("left out: no python3 that has numpy; Debian's package is called python3-numpy"); \
    return;                                                                                \
  }
