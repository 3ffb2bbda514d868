// The main program of a fuzz target without libFuzzer: runs the files that it is given, or those of folders,
// and what is left of each when it is cut short.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// How many pieces the lengths are that an input is cut to.
constexpr std::size_t pieces = 16;

std::size_t run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    std::cerr << "cannot read " << path << '\n';
    std::exit(2);
  }
  for (std::size_t i = 1; i <= pieces; ++i) {
    const std::vector<std::uint8_t> bytes(
        text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.size() * i / pieces));
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  return pieces;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t inputs = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      inputs += run(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) inputs += run(entry.path());
  }
  std::cout << inputs << " inputs\n";
  return inputs != 0 ? 0 : 1;  // a corpus that is not found proves nothing
}
