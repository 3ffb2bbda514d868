// A line for each computation of a fixed set, on each instruction set of this processor: `group item isa
// hash`, where the hash is of the bits of the result. Two versions of the library compute the same where
// their lines are the same.
//
// Nothing here uses other names than the public ones, so that these files compile against older versions,
// too.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <ranges>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <narrow/narrow.hpp>

#include "policies.hpp"

namespace bits {

using test::for_each_type;
using index = std::ptrdiff_t;

/// FNV-1a of 64 bits.
class digest {
 public:
  /// Of one number, the bytes from the lowest one up, in whichever order they lie in memory.
  template <class T> void bits_of(const T& x) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(std::span(&x, 1));
    if constexpr (std::endian::native == std::endian::little)
      add(bytes);
    else
      add(std::views::reverse(bytes));
  }
  /// The bits of a number, but of a NaN nothing else than that it is one: its sign and payload depend on the
  /// order of the operands, which is the compiler's choice.
  template <class T> void value(const T& x) {
    if constexpr (requires { x != x; })
      if (x != x) return bits_of('n');
    if constexpr (std::same_as<T, long double>)  // whose padding is indeterminate
      value(static_cast<double>(x));
    else
      bits_of(x);
  }
  template <class Word, int FractionLength> void value(const narrow::fixed_sum<Word, FractionLength>& sum) {
    bits_of(sum.mantissa());
  }
  template <class Range> void all_bits(const Range& x) {
    for (const auto& element : x) bits_of(element);
  }
  template <class Range> void values(const Range& x) {
    for (const auto& element : x) value(element);
  }
  template <class T> void values(const narrow::matrix_view<T>& m) {
    for (index i = 0; i < m.rows; ++i)
      for (index j = 0; j < m.cols; ++j) value(m(i, j));
  }
  void text(const std::string& x) { all_bits(x); }

  std::uint64_t result() const { return hash_; }

 private:
  template <class Bytes> void add(const Bytes& bytes) {
    for (const std::byte byte : bytes) hash_ = (hash_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

/// The instruction sets that this processor has. Not amx where the sanitizer of uninitialised memory watches,
/// which does not see what tiles store.
inline const std::vector<std::string>& instruction_sets() {
  static const auto found = [] {
    std::vector<std::string> result;
    for (const char* name : {"portable", "avx2", "avx_vnni", "avx512", "avx512_vnni", "avx512_vbmi",
                             "avx512_bf16", "amx", "neon", "neon_dot", "neon_bf16", "neon_i8mm"}) {
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
      if (std::string_view(name) == "amx") continue;
#endif
#endif
      try {
        narrow::use_isa(name);
        result.emplace_back(name);
      } catch (const std::invalid_argument&) {
      }
    }
    return result;
  }();
  return found;
}

/// One line for each instruction set with the hash of what compute(digest&) adds.
template <class Compute> void report(const char* group, const std::string& item, const Compute& compute) {
  for (const std::string& isa : instruction_sets()) {
    narrow::use_isa(isa);
    narrow::seed(1);  // of what policies draw
    digest hash;
    compute(hash);
    std::printf("%s %s %s %016llx\n", group, item.c_str(), isa.c_str(),
                static_cast<unsigned long long>(hash.result()));
  }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int below(int end) { return static_cast<int>((*this)() % static_cast<std::uint64_t>(end)); }

 private:
  std::uint64_t state_;
};

/// What the numbers of an array are like.
enum class kind {
  ordinary,  // between -4 and 4
  spread,    // of all magnitudes from 2^-40 to 2^40
  short_,    // of few bits, so that there are ties in every format, and doubles next to them
  special,   // with infinities, NaNs, zeros and subnormals among them
  tiny,      // subnormal floats, and what is below them
  huge,      // near the end of float's range
  zero
};
inline constexpr kind all_kinds[] = {kind::ordinary, kind::spread, kind::short_, kind::special,
                                     kind::tiny,     kind::huge,   kind::zero};

/// Exact on every machine: an integer times a power of two.
inline double number(kind of, generator& random) {
  const auto fraction = static_cast<double>(static_cast<std::int64_t>(random()) >> 10);  // of 53 bits
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (of) {
    case kind::ordinary:
      return std::ldexp(fraction, -51);
    case kind::spread:
      return std::ldexp(fraction, random.below(81) - 93);
    case kind::short_: {
      const int bits = 2 + random.below(25), beside = random.below(6);
      const auto odd = static_cast<std::int64_t>(random() >> (64 - bits)) | 1;
      const std::int64_t magnitude = odd * (1 << 22) + (beside < 2 ? 2 * beside - 1 : 0);
      const int exponent = -20 - bits - random.below(6);
      return std::ldexp(static_cast<double>(random.below(2) != 0 ? magnitude : -magnitude), exponent);
    }
    case kind::special:
      switch (random.below(16)) {
        case 0:
          return random.below(2) != 0 ? infinity : -infinity;
        case 1:
          return std::numeric_limits<double>::quiet_NaN();
        case 2:
          return random.below(2) != 0 ? 0.0 : -0.0;
        case 3:
          return std::ldexp(fraction, -190);
        case 4:
          return std::ldexp(fraction, 74);
        default:
          return std::ldexp(fraction, -52);
      }
    case kind::tiny:
      return std::ldexp(fraction, random.below(40) - 210);
    case kind::huge:
      return std::ldexp(fraction, random.below(6) + 71);
    default:
      return 0;
  }
}

/// The number as a T; integers, which have an end, are zero for what lies beyond it.
template <class T> T as(double x) {
  if constexpr (std::integral<T>) {
    using limits = std::numeric_limits<T>;
    const double end = std::ldexp(1.0, limits::digits);  // which is the largest number or one more
    return -end < x && x < end && (limits::is_signed || x >= 0) ? static_cast<T>(x) : T{0};
  } else {
    return static_cast<T>(x);
  }
}

/// How a matrix lies in memory.
enum class layout { by_rows, by_columns, padded_rows, sparse_columns, reversed };
inline constexpr layout all_layouts[] = {layout::by_rows, layout::by_columns, layout::padded_rows,
                                         layout::sparse_columns, layout::reversed};

template <class T> struct matrix {
  std::vector<T> memory;
  narrow::matrix_view<T> view;

  matrix(index rows, index cols, layout lies)
      : memory(static_cast<std::size_t>(2 * (rows + 3) * (cols + 3))) {
    T* const first = memory.data() + 1;
    switch (lies) {
      case layout::by_rows:
        view = {first, rows, cols, cols, 1};
        break;
      case layout::by_columns:
        view = {first, rows, cols, 1, rows};
        break;
      case layout::padded_rows:
        view = {first, rows, cols, cols + 3, 1};
        break;
      case layout::sparse_columns:
        view = {first, rows, cols, 2, 2 * rows + 1};
        break;
      case layout::reversed:
        view = {first + rows * cols, rows, cols, -cols, -1};
        break;
    }
  }
  matrix(index rows, index cols, layout lies, kind of, std::uint64_t seed) : matrix(rows, cols, lies) {
    generator random(seed);
    for (index i = 0; i < rows; ++i)
      for (index j = 0; j < cols; ++j) view(i, j) = as<T>(number(of, random));
  }
};

template <class T> std::vector<T> array(std::size_t n, kind of, std::uint64_t seed) {
  generator random(seed);
  std::vector<T> result(n);
  for (T& x : result) x = as<T>(number(of, random));
  return result;
}

/// A rounding mode, stochastic ones with a seed of their own.
template <class Round> Round policy() {
  if constexpr (std::same_as<Round, narrow::rounding::stochastic>)
    return Round(20240229, 7);
  else
    return Round{};
}

// Names that do not depend on the namespaces of a version.

template <class T> struct name_of;
template <class T> std::string name() { return name_of<T>::text(); }

#define BITS_NAME(type, words)                  \
  template <> struct name_of<type> {            \
    static std::string text() { return words; } \
  };
BITS_NAME(float, "float")
BITS_NAME(double, "double")
BITS_NAME(long double, "long_double")
BITS_NAME(std::int8_t, "int8_t")
BITS_NAME(std::int32_t, "int32_t")
BITS_NAME(std::uint64_t, "uint64_t")
BITS_NAME(narrow::rounding::nearest_even, "nearest_even")
BITS_NAME(narrow::rounding::nearest_away, "nearest_away")
BITS_NAME(narrow::rounding::toward_zero, "toward_zero")
BITS_NAME(narrow::rounding::upward, "upward")
BITS_NAME(narrow::rounding::downward, "downward")
BITS_NAME(narrow::rounding::to_odd, "to_odd")
BITS_NAME(narrow::rounding::stochastic, "stochastic")
BITS_NAME(narrow::overflow::ieee, "ieee")
BITS_NAME(narrow::overflow::saturate, "saturate")
BITS_NAME(narrow::overflow::wrap, "wrap")
BITS_NAME(narrow::per_tensor, "per_tensor")
BITS_NAME(narrow::per_row, "per_row")
BITS_NAME(narrow::per_column, "per_column")
BITS_NAME(narrow::exponent::max, "max")
BITS_NAME(narrow::dynamic_fixed, "dynamic_fixed")
#undef BITS_NAME
template <int Bits> struct name_of<narrow::exponent::min<Bits>> {
  static std::string text() { return "min" + std::to_string(Bits); }
};
template <int Bits> struct name_of<narrow::exponent::avg<Bits>> {
  static std::string text() { return "avg" + std::to_string(Bits); }
};
template <int Rows, int Cols> struct name_of<narrow::tile<Rows, Cols>> {
  static std::string text() { return "tile" + std::to_string(Rows) + "x" + std::to_string(Cols); }
};
template <int E, int M, narrow::specials S, class Round, class Overflow>
struct name_of<narrow::floating<E, M, S, Round, Overflow>> {
  static std::string text() {
    return "e" + std::to_string(E) + "m" + std::to_string(M) + "_" + std::to_string(static_cast<int>(S)) +
           "/" + name<Round>() + "/" + name<Overflow>();
  }
};
template <int WL, int FL, class Round, class Overflow>
struct name_of<narrow::fixed<WL, FL, Round, Overflow>> {
  static std::string text() {
    return "fixed<" + std::to_string(WL) + "," + std::to_string(FL) + ">/" + name<Round>() + "/" +
           name<Overflow>();
  }
};
template <int M, class Block, class Round, class Exponent>
struct name_of<narrow::bfp<M, Block, Round, Exponent>> {
  static std::string text() {
    return "bfp<" + std::to_string(M) + ">/" + name<Block>() + "/" + name<Round>() + "/" + name<Exponent>();
  }
};
template <class Block, class Round> struct name_of<narrow::basic_int8<Block, Round>> {
  static std::string text() { return "int8/" + name<Block>() + "/" + name<Round>(); }
};
template <class Element, class Block, class Round> struct name_of<narrow::mx<Element, Block, Round>> {
  static std::string text() { return "mx<" + name<Element>() + ">/" + name<Block>() + "/" + name<Round>(); }
};

// The formats.

/// All formats of the catalogue, and fixed point of every size.
using scalars = test::scalar_formats;

using granularities = std::tuple<narrow::per_tensor, narrow::per_row, narrow::per_column, narrow::tile<2, 3>,
                                 narrow::tile<24, 24>, narrow::tile<1, 32>, narrow::tile<32, 1>>;
using mx_elements = std::tuple<narrow::fp8_e5m2, narrow::fp8_e4m3fn, narrow::fp6_e3m2, narrow::fp6_e2m3,
                               narrow::fp4_e2m1, narrow::int8>;

template <class> struct mx_in_tiles;
template <class... Element> struct mx_in_tiles<std::tuple<Element...>> {
  using type = std::tuple<narrow::mx<Element>...>;
};
/// Of each kind of element, one granularity; `format::with<Block>` makes the others.
using block_formats = decltype(std::tuple_cat(std::tuple<narrow::bfp<2>, narrow::bfp<5>, narrow::bfp<8>,
                                                         narrow::bfp<12>, narrow::bfp<16>, narrow::int8>{},
                                              mx_in_tiles<mx_elements>::type{}));

// The groups, each in a source file of its own.
void scalars_of_all_formats();
void conversions_from_wide();
void conversions_from_floating();
void conversions_from_fixed();
void quantizations();
void quantizations_of_wide();
void floating_products();
void fixed_products();
void block_products();
void sums();
void floating_matrices();
void fixed_matrices();
void block_matrices();
void training_states();

}  // namespace bits
