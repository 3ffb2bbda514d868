#include "files/section_file.hpp"

#include <zlib.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "files/whole_file.hpp"

namespace narrow_train {
namespace {

constexpr std::string_view settings_name = "settings", end_name = "end";

std::uint32_t checksum(std::string_view bytes) {
  uLong crc = crc32_z(0, nullptr, 0);
  crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return static_cast<std::uint32_t>(crc);
}

std::string packed(std::string_view name, std::string_view contents) {
  std::ostringstream out;
  write_number(out, static_cast<std::uint32_t>(name.size()));
  out << name;
  write_number(out, static_cast<std::uint64_t>(contents.size()));
  out << contents;
  write_number(out, checksum(out.view()));
  return std::move(out).str();
}

std::string as_text(const std::vector<setting>& settings) {
  std::string text;
  for (const setting& s : settings) text += s.name + ' ' + s.value + '\n';
  return text;
}

/// Takes numbers and bytes from the front of a file's text.
class cursor {
 public:
  explicit cursor(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw std::runtime_error("ends too early");
    const auto taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return taken;
  }
  template <class T> T number() {
    T x = 0;
    const auto bytes = take(sizeof(T));
    for (std::size_t i = sizeof(T); i-- > 0;)
      x = static_cast<T>(x << 8 | T{static_cast<unsigned char>(bytes[i])});
    return x;
  }

 private:
  std::string_view rest_;
};

section take_section(cursor& file) {
  const auto start = file.rest();
  const auto name = file.take(file.number<std::uint32_t>());
  const auto contents = file.take(file.number<std::uint64_t>());
  const auto sum = checksum(start.substr(0, start.size() - file.rest().size()));
  if (file.number<std::uint32_t>() != sum) throw std::runtime_error("is damaged: a checksum is wrong");
  return {std::string(name), std::string(contents)};
}

std::vector<section> sections_of(std::string_view bytes) {
  cursor file(bytes);
  std::vector<section> all;
  for (;;) {
    section next = take_section(file);
    if (next.name == end_name) break;
    all.push_back(std::move(next));
  }
  if (!file.empty()) throw std::runtime_error("is longer than it should be");
  if (all.empty() || all.front().name != settings_name) throw std::runtime_error("does not say its settings");
  return all;
}

std::vector<setting> settings_of(const std::string& text) {
  std::istringstream lines(text);
  std::vector<setting> all;
  for (std::string line; std::getline(lines, line);) {
    const auto space = std::min(line.find(' '), line.size());
    all.push_back({line.substr(0, space), line.substr(std::min(space + 1, line.size()))});
  }
  return all;
}

/// Reads the first line, and no more than a line of this kind can have.
void check_first_line(std::istream& file, const file_kind& kind) {
  const std::string title = kind.title(), name(kind.name);
  constexpr std::size_t most_digits = 9;
  std::string line;
  for (char c = 0; line.size() < title.size() + most_digits + 1 && c != '\n' && file.get(c);) line += c;
  const bool whole = line.ends_with('\n');
  if (whole) line.pop_back();
  const std::string version = line.substr(std::min(title.size(), line.size()));
  if (!title.starts_with(line.substr(0, title.size())) || version.size() > most_digits ||
      !std::ranges::all_of(version, [](char c) { return c >= '0' && c <= '9'; }) ||
      (whole && version.empty()))
    throw std::runtime_error("is no " + name + " of this program");
  if (!whole) throw std::runtime_error("ends too early");
  if (line + '\n' != kind.first_line())
    throw std::runtime_error("is no " + name + " of version " + std::to_string(kind.version) +
                             ", which this program reads, but one of version " + version);
}

/// A whole file, but its first line; of a foreign one no more than that is read.
std::string bytes_of_file(const std::filesystem::path& path, const file_kind& kind) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) throw std::runtime_error("cannot be opened");
  check_first_line(file, kind);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw std::runtime_error("is not readable");
  return bytes;
}

void load(const saved_part& part, const std::string& contents) {
  std::istringstream in(contents);
  part.load(in);
  if (in.peek() != std::istringstream::traits_type::eof())
    throw std::runtime_error("is longer than it should be");
}

}  // namespace

std::string contents_of(const saved_part& part) {
  std::ostringstream out;
  part.save(out);
  return std::move(out).str();
}

std::uint64_t write_sections(const std::filesystem::path& path, const file_kind& kind,
                             const std::vector<setting>& settings, const std::vector<saved_part>& parts) {
  std::string bytes = kind.first_line();
  bytes += packed(settings_name, as_text(settings));
  for (const saved_part& part : parts) bytes += packed(part.name, contents_of(part));
  bytes += packed(end_name, {});

  return write_file(path, bytes);
}

section_file read_sections(const std::filesystem::path& path, const file_kind& kind) {
  return naming(path, [&] {
    const std::string bytes = bytes_of_file(path, kind);
    section_file file;
    file.path = path;
    file.size = kind.first_line().size() + bytes.size();
    file.sections = sections_of(bytes);
    file.settings = settings_of(file.sections.front().contents);
    file.sections.erase(file.sections.begin());
    return file;
  });
}

void load_sections(const section_file& file, const std::vector<saved_part>& parts) {
  naming(file.path, [&] {
    std::vector<const section*> found;
    std::vector<std::string> before;
    for (const saved_part& part : parts) {
      const auto place = std::ranges::find(file.sections, part.name, &section::name);
      if (place == file.sections.end()) throw std::runtime_error("has no " + part.name);
      found.push_back(&*place);
      before.push_back(contents_of(part));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) try {
        load(parts[i], found[i]->contents);
      } catch (const std::exception& e) {
        const std::string reason = "has unusable " + parts[i].name + ": " + e.what();
        for (std::size_t k = 0; k <= i; ++k) load(parts[k], before[k]);
        throw std::runtime_error(reason);
      }
  });
}

}  // namespace narrow_train
