// Parts of vectors in memory where there are no masks of bytes, a base of such an instruction set's
// `instructions`; included in its namespace, inside its target region. No include guard, on purpose.

struct parts_in_memory {
  template <class Vector> static void read_part(Vector& to, const void* from, index bytes) {
    std::memset(&to, 0, sizeof to);
    std::memcpy(&to, from, static_cast<std::size_t>(bytes));
  }
  template <class Vector> static void write_part(void* to, const Vector& from, index bytes) {
    std::memcpy(to, &from, static_cast<std::size_t>(bytes));
  }
};
