#include "checkpoint.hpp"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace narrow_train {
namespace {

constexpr std::string_view magic = "narrow checkpoint 1\n";
constexpr std::string_view settings_name = "settings", end_name = "end";

struct section {
  std::string name, contents;
};

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

std::string contents_of(const saved_part& part) {
  std::ostringstream out;
  part.save(out);
  return std::move(out).str();
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
  if (!bytes.starts_with(magic.substr(0, bytes.size())))
    throw std::runtime_error("is no checkpoint of this program");
  cursor file(bytes);
  file.take(magic.size());
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

std::vector<section> read_file(const std::filesystem::path& path, const std::vector<setting>& settings) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) throw std::runtime_error("cannot be opened");
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw std::runtime_error("is not readable");
  auto all = sections_of(bytes);
  require_same(settings_of(all.front().contents), settings);
  return all;
}

void load(const saved_part& part, const std::string& contents) {
  std::istringstream in(contents);
  part.load(in);
  if (in.peek() != std::istringstream::traits_type::eof())
    throw std::runtime_error("is longer than it should be");
}

/// Calls f, and names the file in what it throws.
template <class F> void naming(const std::filesystem::path& path, F&& f) {
  try {
    f();
  } catch (const std::runtime_error& e) {
    throw data_error(path.string() + ' ' + e.what());
  }
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                      const std::vector<saved_part>& parts) {
  std::string bytes(magic);
  bytes += packed(settings_name, as_text(settings));
  for (const saved_part& part : parts) bytes += packed(part.name, contents_of(part));
  bytes += packed(end_name, {});

  const std::string target = path.string(), partial = target + ".partial";
  const auto fail = [](const std::string& name) {
    throw data_error("cannot write " + name + ": " + std::strerror(errno));
  };
  std::FILE* const file = std::fopen(partial.c_str(), "wb");
  if (file == nullptr) fail(partial);
  // On the disk before it takes the place of the last one: a power failure must leave one of them.
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0 &&
                 fsync(fileno(file)) == 0;
  written = std::fclose(file) == 0 && written;
  if (written && std::rename(partial.c_str(), target.c_str()) == 0) return;
  const int reason = errno;
  std::remove(partial.c_str());
  errno = reason;
  fail(written ? target : partial);
}

void read_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                     const std::vector<saved_part>& parts) {
  naming(path, [&] {
    const auto saved = read_file(path, settings);
    std::vector<const section*> found;
    std::vector<std::string> before;
    for (const saved_part& part : parts) {
      const auto place = std::ranges::find(saved, part.name, &section::name);
      if (place == saved.end()) throw std::runtime_error("has no " + part.name);
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

std::string digest(const dataset& images) {
  uLong crc = crc32_z(0, nullptr, 0);
  crc = crc32_z(crc, images.labels.data(), images.labels.size());
  crc = crc32_z(crc, images.pixels.data(), images.pixels.size());
  char text[9];
  std::snprintf(text, sizeof text, "%08lx", static_cast<unsigned long>(crc));
  return text;
}

}  // namespace narrow_train
