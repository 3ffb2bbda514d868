// Parts of vectors of at most 16 bytes where there are no masks of bytes, a base of such an instruction set's
// `instructions`; included in its namespace, inside its target region. No include guard, on purpose.
//
// They go through registers: a processor waits where it reads a vector from memory that was just written in
// smaller parts. And always inline, since a call takes as long as what is done.

struct parts_in_memory {
  template <class Vector>
  [[gnu::always_inline]] static void read_part(Vector& to, const void* from, index bytes) {
    static_assert(sizeof to <= sizeof(two_words));
    const auto* const x = static_cast<const unsigned char*>(from);
    const two_words words =
        bytes <= 8 ? two_words{read_word(x, bytes), 0}
                   : two_words{read_word(x, 8), read_word(x + bytes - 8, 8) >> (8 * (16 - bytes))};
    std::memcpy(&to, &words, sizeof to);
  }
  template <class Vector>
  [[gnu::always_inline]] static void write_part(void* to, const Vector& from, index bytes) {
    static_assert(sizeof from <= sizeof(two_words));
    auto* const x = static_cast<unsigned char*>(to);
    two_words words = {};
    std::memcpy(&words, &from, sizeof from);
    if (bytes <= 8) return write_word(x, words[0], bytes);
    write_word(x, words[0], 8);
    write_word(x + bytes - 8, words[0] >> (8 * (bytes - 8)) | words[1] << (8 * (16 - bytes)), 8);
  }

 private:
  using two_words [[gnu::vector_size(16)]] = std::uint64_t;
};
