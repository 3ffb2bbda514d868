// Vectors of any width, included once in the namespace of each instruction set, inside its target region. No
// include guard, on purpose.

template <class To, class From> inline To lanes_as(const From& x) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &x, sizeof result);
  return result;
}

template <class Vector, class Number> inline Vector vector_at(const Number* from) {
  Vector x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

/// Floats as doubles, integers in twice as many bits.
template <class Wide, class Lanes> inline Wide wider(const Lanes& x) {
  return __builtin_convertvector(x, Wide);
}

/// Of numbers.
template <class Lanes> inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }
template <class Lanes> inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

/// A product that is not to be fused with the addition that follows, whatever the flags.
template <class Lanes> inline Lanes apart(Lanes product) {
  asm("" : NARROW_VECTOR_OPERAND(product));
  return product;
}

/// The first n lanes; zeros in the others.
template <class Vector> inline Vector read(const void* from, index n) {
  if (n >= index{sizeof(Vector) / sizeof(Vector{}[0])}) return vector_at<Vector>(from);
  Vector x;
  read_part(x, from, n * index{sizeof x[0]});
  return x;
}
template <class Vector> inline void write(void* to, const Vector& x, index n) {
  if (n >= index{sizeof x / sizeof x[0]})
    std::memcpy(to, &x, sizeof x);
  else
    write_part(to, x, n * index{sizeof x[0]});
}
