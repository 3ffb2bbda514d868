// Vectors of an instruction set by content and width, and functions on them; included once in its namespace,
// inside its target region, after its struct `instructions` (see lanes.hpp). No include guard, on purpose.
//
// Functions that are not inlined take vectors by reference, here and in what is written over these: g++
// leaves the upper halves of registers in use where a function has vectors for arguments and gives none, and
// the next instruction of 128 bits, in the program around it, may wait for them (60 ns on a Zen 3).

static_assert(check_instructions<instructions>());

inline constexpr int vector_bytes = sizeof(instructions::integers);
inline constexpr int lanes32 = vector_bytes / 4, lanes64 = vector_bytes / 8;  // of a whole vector

using float_vector [[gnu::vector_size(vector_bytes)]] = float;
using double_vector [[gnu::vector_size(vector_bytes)]] = double;
using int8_vector [[gnu::vector_size(vector_bytes)]] = std::int8_t;
using int16_vector [[gnu::vector_size(vector_bytes)]] = std::int16_t;
using uint16_vector [[gnu::vector_size(vector_bytes)]] = std::uint16_t;
using int32_vector [[gnu::vector_size(vector_bytes)]] = std::int32_t;
using uint32_vector [[gnu::vector_size(vector_bytes)]] = std::uint32_t;
using int64_vector [[gnu::vector_size(vector_bytes)]] = std::int64_t;
// As many lanes as a whole vector of numbers of 64 bits has.
using half_float_vector [[gnu::vector_size(vector_bytes / 2)]] = float;
using half_int32_vector [[gnu::vector_size(vector_bytes / 2)]] = std::int32_t;
using half_uint32_vector [[gnu::vector_size(vector_bytes / 2)]] = std::uint32_t;
// As many lanes as a whole vector of numbers of 32 bits has.
using half_int16_vector [[gnu::vector_size(vector_bytes / 2)]] = std::int16_t;
using half_uint16_vector [[gnu::vector_size(vector_bytes / 2)]] = std::uint16_t;

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

template <class Lanes> inline bool any_of(const Lanes& x) {
  return instructions::any_of(reinterpret_cast<instructions::integers>(x));
}
inline bool any_without(const uint32_vector& x, const uint32_vector& bits, const float_vector& numbers) {
  return instructions::any_without(reinterpret_cast<instructions::integers>(x),
                                   reinterpret_cast<instructions::integers>(bits),
                                   reinterpret_cast<instructions::floats>(numbers));
}
template <int Size, class Lanes> inline void store_lower(void* to, const Lanes& x) {
  instructions::store_lower<Size>(to, reinterpret_cast<instructions::integers>(x));
}
template <int Size> inline instructions::integers load_lower(const void* from) {
  return instructions::load_lower<Size>(from);
}
/// As many codes of 16 bits as there are lanes of 32, in their upper halves, and zeros below.
template <class Lanes> inline Lanes load_upper(const void* from) {
  return lanes_as<Lanes>(load_lower<2>(from)) << 16;
}
/// As many bytes as there are lanes of 32 bits, in the upper halves of 16 bits, and zeros below.
template <class Halves> inline Halves load_upper_bytes(const void* from) {
  using bytes [[gnu::vector_size(sizeof(Halves) / 2)]] = std::uint8_t;
  bytes x;
  std::memcpy(&x, from, sizeof x);
  return __builtin_convertvector(x, Halves) << 8;
}
/// The upper halves of lanes of 32 bits, side by side.
template <class Lanes> inline void store_upper(void* to, const Lanes& x) { store_lower<2>(to, x >> 16); }
template <class Vector> inline void read_part(Vector& to, const void* from, index bytes) {
  instructions::read_part(to, from, bytes);
}
template <class Vector> inline void write_part(void* to, const Vector& from, index bytes) {
  instructions::write_part(to, from, bytes);
}

/// Whether looking up codes of T takes less time than a few operations on them: by instructions of 512 bits,
/// and by those of 256 where integers are not all there is to them.
template <class T> inline constexpr bool has_quick_tables = vector_bytes == 64;
template <narrow_float T> inline constexpr bool has_quick_tables<T> = vector_bytes >= 32;
/// The numbers of a table of 256 that these codes are the places of.
template <class Code> inline void look_up_codes(const Code* from, Code* to, index n, const Code* table) {
  for (index i = 0; i < n; ++i) to[i] = table[from[i]];
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

template <int Size> struct words_of { using type [[gnu::vector_size(Size)]] = std::uint64_t; };
/// Two vectors as one, of as many lanes as there are I.
template <class Lanes, int... I>
inline auto joined(const Lanes& low, const Lanes& high, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(low, high, I...);
}

/// Elements of a and of b in turn, those of the lower or the upper half of each Block of them.
template <int Block, bool Upper, class Elements, int... I>
inline Elements in_turn(const Elements& a, const Elements& b, std::integer_sequence<int, I...>) {
  constexpr int count = sizeof...(I);
  return __builtin_shufflevector(
      a, b, (I / Block * Block + I % Block / 2 + (Upper ? Block / 2 : 0) + I % 2 * count)...);
}

/// Integers of 64 bits without their upper halves, and again after them.
template <int... L>
inline int32_vector lower_halves(const int64_vector& x, std::integer_sequence<int, L...>) {
  const auto halves = lanes_as<int32_vector>(x);
  return __builtin_shufflevector(halves, halves, (2 * L % int{sizeof...(L)})...);
}
/// The first n lanes of integers as elements, which have their lower bits: where compilers convert such
/// vectors, they may do so lane by lane.
template <class Element, class Lanes> inline void write_lower(void* to, const Lanes& x, index n) {
  constexpr index lanes = sizeof x / sizeof x[0];
  using elements [[gnu::vector_size(lanes32 * sizeof(Element))]] = Element;
  elements lower;
  if constexpr (sizeof x[0] == sizeof(std::int64_t))
    store_lower<sizeof(Element)>(&lower, lower_halves(x, std::make_integer_sequence<int, lanes32>{}));
  else if (n >= lanes)
    return store_lower<sizeof(Element)>(to, x);
  else
    store_lower<sizeof(Element)>(&lower, x);
  if (n >= lanes)
    std::memcpy(to, &lower, lanes * sizeof(Element));
  else
    write_part(to, lower, n * index{sizeof(Element)});
}

template <class Vector, int... L>
inline auto half_lanes(const Vector& x, int first, std::integer_sequence<int, L...>) {
  return first == 0 ? __builtin_shufflevector(x, x, L...)
                    : __builtin_shufflevector(x, x, (int{sizeof...(L)} + L)...);
}
inline constexpr auto half_of_lanes = std::make_integer_sequence<int, lanes32 / 2>{};

// So many bytes of a vector as the program is compiled for, in moves of their own sizes: what was just stored
// a processor hands on to a load that lies within it, but not from or to a move with a mask.

/// The first Bytes, and zeros after them.
template <int Bytes, int Size> inline typename words_of<Size>::type first_bytes(const unsigned char* from) {
  typename words_of<Size>::type x;
  if constexpr (Bytes >= Size) {
    std::memcpy(&x, from, Size);
  } else if constexpr (Size == 16) {
    x[0] = read_word(from, std::min(Bytes, 8));
    x[1] = Bytes > 8 ? read_word(from + 8, Bytes - 8) : 0;
  } else {
    constexpr int half = Size / 2;
    const auto low = first_bytes<std::min(Bytes, half), half>(from);
    typename words_of<half>::type high = {};
    if constexpr (Bytes > half) high = first_bytes<Bytes - half, half>(from + half);
    x = joined(low, high, std::make_integer_sequence<int, Size / 8>{});
  }
  return x;
}
/// Stores the first Bytes.
template <int Bytes, class Words> inline void put_first_bytes(unsigned char* to, const Words& x) {
  constexpr int size = sizeof x;
  if constexpr (Bytes >= size) {
    std::memcpy(to, &x, sizeof x);
  } else if constexpr (size == 16) {
    write_word(to, x[0], std::min(Bytes, 8));
    if constexpr (Bytes > 8) write_word(to + 8, x[1], Bytes - 8);
  } else {
    constexpr int half = size / 2;
    typename words_of<half>::type low, high;
    std::memcpy(&low, &x, sizeof low);
    std::memcpy(&high, reinterpret_cast<const unsigned char*>(&x) + half, sizeof high);
    put_first_bytes<std::min(Bytes, half)>(to, low);
    if constexpr (Bytes > half) put_first_bytes<Bytes - half>(to + half, high);
  }
}

/// Floats as doubles, integers in twice as many bits.
template <class Wide, class Lanes> inline Wide wider(const Lanes& x) {
  return __builtin_convertvector(x, Wide);
}

// The smaller and the larger number in each lane; where one of them is NaN, the second one.
template <class Lanes> inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }
template <class Lanes> inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

/// A product that is not to be fused with the addition that follows, whatever the flags.
template <class Lanes> inline Lanes uncontracted(Lanes product) {
  asm("" : NARROW_VECTOR_OPERAND(product));
  return product;
}

/// A vector's lanes two by two, each and the one half a vector further, until one is left.
template <class Both, class Lanes, int... L>
inline auto folded(Both both, Lanes x, std::integer_sequence<int, L...>) {
  constexpr int half = sizeof...(L);
  if constexpr (half == 1)
    return both(x[0], x[1]);
  else
    return folded(both,
                  both(__builtin_shufflevector(x, x, L...), __builtin_shufflevector(x, x, (L + half)...)),
                  std::make_integer_sequence<int, half / 2>{});
}
template <class Both, class Lanes> inline auto folded(Both both, Lanes x) {
  return folded(both, x, std::make_integer_sequence<int, lanes32 / 2>{});
}

// What is made of two lanes; not lambdas, which g++ takes for functions of another target.
struct added {
  template <class Lanes> Lanes operator()(Lanes a, Lanes b) const { return a + b; }
};
struct multiplied {
  template <class Lanes> Lanes operator()(Lanes a, Lanes b) const { return a * b; }
};
struct smaller_one {
  template <class Lanes> Lanes operator()(Lanes a, Lanes b) const { return smaller(a, b); }
};
struct larger_one {
  template <class Lanes> Lanes operator()(Lanes a, Lanes b) const { return larger(a, b); }
};

inline float total_of_floats(float_vector x) { return folded(added{}, x); }

/// Elements of a and b in turn, those of the lower or the upper half of each 128 bits.
template <class Elements, bool Upper, class Vector> inline Vector interleaved(Vector a, Vector b) {
  constexpr int count = sizeof(Elements) / sizeof(Elements{}[0]);
  return reinterpret_cast<Vector>(
      in_turn<16 * count / vector_bytes, Upper>(reinterpret_cast<Elements>(a), reinterpret_cast<Elements>(b),
                                                std::make_integer_sequence<int, count>{}));
}
