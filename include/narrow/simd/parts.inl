// Parts of vectors where there are no masks of bytes, a base of such an instruction set's `instructions`;
// included in its namespace, inside its target region. No include guard, on purpose.
//
// A processor waits where it reads a vector from memory that was just written in smaller parts. So what fits
// 32 bytes goes through registers.

struct parts_in_memory {
  template <class Vector> static void read_part(Vector& to, const void* from, index bytes) {
    if constexpr (sizeof to <= sizeof(two_words)) {
      const auto* const x = static_cast<const unsigned char*>(from);
      const two_words words =
          bytes <= 8 ? two_words{read_word(x, bytes), 0}
                     : two_words{read_word(x, 8), read_word(x + bytes - 8, 8) >> (8 * (16 - bytes))};
      std::memcpy(&to, &words, sizeof to);
    } else if constexpr (sizeof to == 2 * sizeof(two_words)) {
      two_words low = {}, high = {};
      if (bytes < index{sizeof low}) {
        read_part(low, from, bytes);
      } else {
        std::memcpy(&low, from, sizeof low);
        read_part(high, static_cast<const unsigned char*>(from) + sizeof low, bytes - index{sizeof low});
      }
      const auto words = __builtin_shufflevector(low, high, 0, 1, 2, 3);
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
      if (bytes <= 8) return write_word(x, words[0], bytes);
      write_word(x, words[0], 8);
      write_word(x + bytes - 8, words[0] >> (8 * (bytes - 8)) | words[1] << (8 * (16 - bytes)), 8);
    } else if constexpr (sizeof from == 2 * sizeof(two_words)) {
      four_words words;
      std::memcpy(&words, &from, sizeof from);
      const two_words low = __builtin_shufflevector(words, words, 0, 1),
                      high = __builtin_shufflevector(words, words, 2, 3);
      if (bytes < index{sizeof low}) return write_part(to, low, bytes);
      std::memcpy(to, &low, sizeof low);
      write_part(static_cast<unsigned char*>(to) + sizeof low, high, bytes - index{sizeof low});
    } else {
      std::memcpy(to, &from, static_cast<std::size_t>(bytes));
    }
  }

 private:
  using two_words [[gnu::vector_size(16)]] = std::uint64_t;
  using four_words [[gnu::vector_size(32)]] = std::uint64_t;
};
