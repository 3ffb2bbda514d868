// Up to 8 bytes of memory as a number, in which the first byte is the lowest one, as in memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "../kernel/shapes.hpp"

namespace narrow::inline NARROW_ABI::kernel {

template <class Word> inline std::uint64_t word_at(const unsigned char* from) {
  Word x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
template <class Word> inline void put_word(unsigned char* to, std::uint64_t x) {
  const auto low = static_cast<Word>(x);
  std::memcpy(to, &low, sizeof low);
}

// Words that overlap have what no word has by itself.

/// So many bytes, at most 8, and zeros above them.
inline std::uint64_t read_word(const unsigned char* from, index bytes) {
  if (bytes == 8) return word_at<std::uint64_t>(from);
  if (bytes >= 4)
    return word_at<std::uint32_t>(from) | word_at<std::uint32_t>(from + bytes - 4) << (8 * (bytes - 4));
  if (bytes >= 2)
    return word_at<std::uint16_t>(from) | word_at<std::uint8_t>(from + bytes - 1) << (8 * (bytes - 1));
  return bytes == 1 ? *from : 0;
}
inline void write_word(unsigned char* to, std::uint64_t x, index bytes) {
  if (bytes == 8) {
    put_word<std::uint64_t>(to, x);
  } else if (bytes >= 4) {
    put_word<std::uint32_t>(to, x);
    put_word<std::uint32_t>(to + bytes - 4, x >> (8 * (bytes - 4)));
  } else if (bytes >= 2) {
    put_word<std::uint16_t>(to, x);
    put_word<std::uint8_t>(to + bytes - 1, x >> (8 * (bytes - 1)));
  } else if (bytes == 1) {
    *to = static_cast<unsigned char>(x);
  }
}

}  // namespace narrow::kernel
