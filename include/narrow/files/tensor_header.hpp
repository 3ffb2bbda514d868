// The header of safetensors files: JSON, but only what stands there, so that it is read and written here,
// without a library of JSON, which a library of headers alone would ask every user to install.
#pragma once

#include <charconv>
#include <map>

#include "bytes.hpp"

namespace narrow::inline NARROW_ABI {

/// A tensor in a safetensors file: its name, the file's name of its type, its shape, and where its bytes are,
/// from the first one after the header.
struct safetensors_entry {
  std::string name;                ///< by which `safetensors_reader::read` finds it
  std::string type;                ///< as the file has it, for example "BF16"
  std::vector<std::size_t> shape;  ///< empty for a single number
  std::uint64_t begin = 0;         ///< its first byte
  std::uint64_t end = 0;           ///< the byte after its last one
};

namespace detail {

/// What the header says.
struct tensor_header {
  std::map<std::string, std::string> metadata;
  std::vector<safetensors_entry> entries;
};

inline constexpr std::string_view metadata_key = "__metadata__";

/// One object of JSON, of which each value is an object of a tensor, or of texts for `metadata_key`.
class tensor_header_parser : header_scanner {
 public:
  tensor_header_parser(std::string_view text, const byte_reader& from)
      : header_scanner(text, from, " \t\n\r") {}

  tensor_header parse() {
    tensor_header result;
    bool has_metadata = false;
    for_each_member([&](std::string key) {
      if (key != metadata_key) {
        result.entries.push_back(entry(std::move(key)));
        return;
      }
      if (std::exchange(has_metadata, true)) refuse_key(key);
      for_each_member([&](std::string name) {
        if (!result.metadata.emplace(name, string()).second) refuse_key(name);
      });
    });
    expect_end();
    return result;
  }

 private:
  /// Calls f(key) before each value of an object, which f reads.
  template <class F> void for_each_member(const F& f) {
    expect('{');
    if (skip('}')) return;
    do {
      std::string key = string();
      expect(':');
      f(std::move(key));
    } while (skip(','));
    expect('}');
  }

  safetensors_entry entry(std::string name) {
    safetensors_entry result;
    result.name = std::move(name);
    bool has_type = false, has_shape = false, has_offsets = false;
    for_each_member([&](const std::string& key) {
      bool* const seen = key == "dtype"          ? &has_type
                         : key == "shape"        ? &has_shape
                         : key == "data_offsets" ? &has_offsets
                                                 : nullptr;
      if (seen == nullptr || std::exchange(*seen, true)) refuse_key(key);
      if (seen == &has_type) {
        result.type = string();
      } else if (seen == &has_shape) {
        for (const std::uint64_t n : numbers()) result.shape.push_back(static_cast<std::size_t>(n));
      } else {
        const auto offsets = numbers();
        if (offsets.size() != 2 || offsets[0] > offsets[1])
          from_.refuse("the data_offsets of \"" + result.name + "\" must be a begin and an end");
        result.begin = offsets[0];
        result.end = offsets[1];
      }
    });
    if (!has_type || !has_shape || !has_offsets)
      from_.refuse("tensor \"" + result.name + "\" must have dtype, shape and data_offsets");
    return result;
  }

  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> result;
    expect('[');
    if (skip(']')) return result;
    do {
      skip_spaces();
      std::uint64_t n = 0;
      const char *const begin = text_.data() + at_, *const last = text_.data() + text_.size();
      const auto [end, error] = std::from_chars(begin, last, n);
      if (error == std::errc::result_out_of_range || n > std::numeric_limits<std::size_t>::max())
        from_.refuse("its header has a number beyond " + std::to_string(8 * sizeof(std::size_t)) + " bits");
      const bool leads_with_zero = end - begin > 1 && *begin == '0';
      if (error != std::errc{} || leads_with_zero) refuse("a number");
      at_ += static_cast<std::size_t>(end - begin);
      result.push_back(n);
    } while (skip(','));
    expect(']');
    return result;
  }

  std::string string() {
    expect('"');
    std::string result;
    for (;; ++at_) {
      if (at_ == text_.size() || static_cast<unsigned char>(text_[at_]) < ' ') refuse("the end of a string");
      if (text_[at_] == '"') break;
      if (text_[at_] == '\\')
        append_escaped(result);
      else
        result += text_[at_];
    }
    ++at_;
    return result;
  }
  /// What a backslash and what follows it stand for; leaves the place at the last character of that.
  void append_escaped(std::string& to) {
    constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    if (++at_ == text_.size()) refuse("the end of a string");
    if (const auto i = letters.find(text_[at_]); i != letters.npos) {
      to += meant[i];
      return;
    }
    std::uint32_t unit = utf16_unit();
    constexpr std::uint32_t high = 0xd800, low = 0xdc00, last = 0xdfff;  // surrogates
    if (low <= unit && unit <= last) refuse("a character");
    if (high <= unit && unit < low) {
      if (text_.substr(at_ + 1, 1) != "\\") refuse("a character");
      at_ += 2;
      const std::uint32_t second = utf16_unit();
      if (second < low || second > last) refuse("a character");
      unit = 0x10000 + ((unit - high) << 10) + (second - low);
    }
    append_utf8(to, unit);
  }
  std::uint32_t utf16_unit() {
    constexpr std::size_t digits = 4;
    std::uint32_t unit = 0;
    if (at_ >= text_.size() || text_[at_] != 'u' || text_.size() - at_ <= digits)
      refuse("an escaped character");
    const char* const begin = text_.data() + at_ + 1;
    if (std::from_chars(begin, begin + digits, unit, 16).ptr != begin + digits) refuse("four digits");
    at_ += digits;
    return unit;
  }
  static void append_utf8(std::string& to, std::uint32_t c) {
    constexpr std::uint32_t bits = 6, rest = 0x80;
    const auto put = [&](std::uint32_t lead, std::uint32_t following) {
      to += static_cast<char>(lead | c >> (bits * following));
      while (following-- > 0) to += static_cast<char>(rest | (c >> (bits * following) & 0x3f));
    };
    if (c < 0x80)
      put(0, 0);
    else if (c < 0x800)
      put(0xc0, 1);
    else if (c < 0x10000)
      put(0xe0, 2);
    else
      put(0xf0, 3);
  }
};

/// Text between quotes; bytes beyond ASCII stay as they are.
inline std::string json_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ')
      result += std::string("\\u00") + digits[byte >> 4] + digits[byte & 0xf];
    else
      result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return result + '"';
}

inline std::string header_text(const tensor_header& header) {
  std::string text = "{";
  const auto separate = [&] {
    if (text.back() != '{') text += ',';
  };
  if (!header.metadata.empty()) {
    text += json_string(metadata_key) + ":{";
    for (const auto& [name, value] : header.metadata) {
      separate();
      text += json_string(name) + ':' + json_string(value);
    }
    text += '}';
  }
  for (const safetensors_entry& entry : header.entries) {
    separate();
    text += json_string(entry.name) + ":{\"dtype\":" + json_string(entry.type) + ",\"shape\":[";
    for (std::size_t i = 0; i < entry.shape.size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(entry.shape[i]);
    text += "],\"data_offsets\":[" + std::to_string(entry.begin) + ',' + std::to_string(entry.end) + "]}";
  }
  return text + '}';
}

}  // namespace detail

}  // namespace narrow
