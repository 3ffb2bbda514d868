// Parts of vectors in memory where there are no masks of bytes, included once in the namespace of such an
// instruction set, inside its target region, before lanes.inl. No include guard, on purpose.

/// The first bytes, fewer than all, of a vector or an array as large as one, and zeros after them; nothing
/// beyond is read.
template <class Vector> inline void read_part(Vector& to, const void* from, index bytes) {
  std::memset(&to, 0, sizeof to);
  std::memcpy(&to, from, static_cast<std::size_t>(bytes));
}
template <class Vector> inline void write_part(void* to, const Vector& from, index bytes) {
  std::memcpy(to, &from, static_cast<std::size_t>(bytes));
}
