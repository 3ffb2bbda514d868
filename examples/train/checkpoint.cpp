#include "checkpoint.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdio>

namespace narrow_train {
namespace {

constexpr file_kind checkpoint_file{"narrow checkpoint 1\n", "checkpoint"};

void require_same(const std::vector<setting>& saved, const std::vector<setting>& asked) {
  const auto find = [](const std::vector<setting>& in, const std::string& name) -> const setting* {
    const auto found = std::ranges::find(in, name, &setting::name);
    return found == in.end() ? nullptr : &*found;
  };
  for (const setting& a : asked) {
    const setting* s = find(saved, a.name);
    if (s == nullptr) throw std::runtime_error("was written without " + a.name + ", not with " + a.value);
    if (*s != a) throw std::runtime_error("was written with " + a.name + ' ' + s->value + ", not " + a.value);
  }
  for (const setting& s : saved)
    if (find(asked, s.name) == nullptr)
      throw std::runtime_error("was written with " + s.name + ' ' + s.value + ", not without");
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                      const std::vector<saved_part>& parts) {
  write_sections(path, checkpoint_file, settings, parts);
}

void read_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                     const std::vector<saved_part>& parts) {
  const section_file file = read_sections(path, checkpoint_file);
  naming(path, [&] { require_same(file.settings, settings); });
  load_sections(file, parts);
}

std::string digest(const dataset& images) {
  uLong crc = crc32_z(0, nullptr, 0);
  crc = crc32_z(crc, images.labels.data(), images.labels.size());
  crc = crc32_z(crc, images.pixels.data(), images.pixels.size());
  char text[9];
  std::snprintf(text, sizeof text, "%08lx", static_cast<unsigned long>(crc));
  return text;
}

}  // namespace narrow_train
