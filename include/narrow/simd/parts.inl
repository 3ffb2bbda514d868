// Parts of vectors where there are no masks of bytes, a base of such an instruction set's `instructions`;
// included in its namespace, inside its target region. No include guard, on purpose.
//
// A processor waits where it reads a vector from memory that was just written in smaller parts. So what fits
// 16 bytes goes through registers, in words that overlap; in them the first byte is the lowest one, as in
// memory.

struct parts_in_memory {
  template <class Vector> static void read_part(Vector& to, const void* from, index bytes) {
    if constexpr (sizeof to <= sizeof(two_words)) {
      const auto* const x = static_cast<const unsigned char*>(from);
      const two_words words =
          bytes < 8 ? two_words{read_word(x, bytes), 0}
          : bytes == 8
              ? two_words{read<std::uint64_t>(x), 0}
              : two_words{read<std::uint64_t>(x), read<std::uint64_t>(x + bytes - 8) >> (8 * (16 - bytes))};
      std::memcpy(&to, &words, sizeof to);
    } else {
      std::memset(&to, 0, sizeof to);
      std::memcpy(&to, from, static_cast<std::size_t>(bytes));
    }
  }
  template <class Vector> static void write_part(void* to, const Vector& from, index bytes) {
    if constexpr (sizeof from <= sizeof(two_words)) {
      auto* const x = static_cast<unsigned char*>(to);
      two_words words = {};
      std::memcpy(&words, &from, sizeof from);
      if (bytes < 8) return write_word(x, words[0], bytes);
      std::memcpy(x, &words, 8);
      if (bytes > 8) {
        const std::uint64_t last = words[0] >> (8 * (bytes - 8)) | words[1] << (8 * (16 - bytes));
        std::memcpy(x + bytes - 8, &last, 8);
      }
    } else {
      std::memcpy(to, &from, static_cast<std::size_t>(bytes));
    }
  }

 private:
  using two_words [[gnu::vector_size(16)]] = std::uint64_t;

  template <class Word> static Word read(const unsigned char* from) {
    Word x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
  template <class Word> static void write(unsigned char* to, std::uint64_t x) {
    const auto low = static_cast<Word>(x);
    std::memcpy(to, &low, sizeof low);
  }
  /// Fewer than 8 bytes.
  static std::uint64_t read_word(const unsigned char* from, index bytes) {
    if (bytes >= 4)
      return read<std::uint32_t>(from) | std::uint64_t{read<std::uint32_t>(from + bytes - 4)}
                                             << (8 * (bytes - 4));
    if (bytes >= 2)
      return read<std::uint16_t>(from) | std::uint64_t{read<std::uint8_t>(from + bytes - 1)}
                                             << (8 * (bytes - 1));
    return bytes == 1 ? *from : 0;
  }
  static void write_word(unsigned char* to, std::uint64_t x, index bytes) {
    if (bytes >= 4) {
      write<std::uint32_t>(to, x);
      write<std::uint32_t>(to + bytes - 4, x >> (8 * (bytes - 4)));
    } else if (bytes >= 2) {
      write<std::uint16_t>(to, x);
      write<std::uint8_t>(to + bytes - 1, x >> (8 * (bytes - 1)));
    } else if (bytes == 1) {
      *to = static_cast<unsigned char>(x);
    }
  }
};
