// The operations that an instruction set must have, over vectors of 128 bits, in plain C++: for any
// processor.
#pragma once

#include <cmath>
#include <cstring>

#include <narrow/format/catalog.hpp>
#include <narrow/simd/lanes.hpp>

namespace test {

struct plain_instructions {
  using integers [[gnu::vector_size(16)]] = std::int32_t;
  using floats [[gnu::vector_size(16)]] = float;
  using doubles [[gnu::vector_size(16)]] = double;

  static bool any_of(integers x) { return (x[0] | x[1] | x[2] | x[3]) != 0; }
  static bool any_without(integers x, integers bits, floats numbers) {
    return any_of(((x & bits) == 0) & (numbers != 0));
  }
  static bool any_nan(floats x, floats y) { return any_of((x != x) | (y != y)); }
  static bool any_unequal(floats x, floats y) { return any_of(x != y); }
  template <int Size> static void store_lower(void* to, integers x) {
    for (int l = 0; l < 4; ++l) {
      const std::int32_t lane = x[l];  // little-endian
      std::memcpy(static_cast<unsigned char*>(to) + l * Size, &lane, Size);
    }
  }
  template <int Size> static integers load_signed(const void* from) {
    constexpr int above = 32 - 8 * Size;
    integers x = load_lower<Size>(from);
    for (int l = 0; l < 4; ++l)
      x[l] = static_cast<std::int32_t>(static_cast<std::uint32_t>(x[l]) << above) >> above;
    return x;
  }
  template <int Size> static integers load_lower(const void* from) {
    integers x = {};
    for (int l = 0; l < 4; ++l) {
      std::int32_t lane = 0;
      std::memcpy(&lane, static_cast<const unsigned char*>(from) + l * Size, Size);
      x[l] = lane;
    }
    return x;
  }
  template <class Vector> static void read_part(Vector& to, const void* from, std::ptrdiff_t bytes) {
    std::memset(&to, 0, sizeof to);
    std::memcpy(&to, from, static_cast<std::size_t>(bytes));
  }
  template <class Vector> static void write_part(void* to, const Vector& from, std::ptrdiff_t bytes) {
    std::memcpy(to, &from, static_cast<std::size_t>(bytes));
  }
  static floats multiply_add(floats acc, floats a, floats b) {
    for (int l = 0; l < 4; ++l) acc[l] = std::fma(a[l], b[l], acc[l]);
    return acc;
  }
  static doubles multiply_add(doubles acc, doubles a, doubles b) {
    for (int l = 0; l < 2; ++l) acc[l] = std::fma(a[l], b[l], acc[l]);
    return acc;
  }
  static integers multiply_add(integers acc, integers a, integers b) {
    std::int16_t x[8], y[8];
    std::memcpy(x, &a, sizeof a);
    std::memcpy(y, &b, sizeof b);
    for (int l = 0; l < 4; ++l) {
      const auto sum = std::int64_t{x[2 * l]} * y[2 * l] + std::int64_t{x[2 * l + 1]} * y[2 * l + 1];
      acc[l] = static_cast<std::int32_t>(static_cast<std::uint32_t>(acc[l] + sum));  // wraps
    }
    return acc;
  }
  static integers multiply_add(integers acc, std::uint32_t a, integers b) {
    return multiply_add(acc, integers{} + static_cast<std::int32_t>(a), b);
  }
  static floats square_root(floats x) {
    for (int l = 0; l < 4; ++l) x[l] = std::sqrt(x[l]);
    return x;
  }
  static doubles square_root(doubles x) {
    for (int l = 0; l < 2; ++l) x[l] = std::sqrt(x[l]);
    return x;
  }
  template <std::float_round_style Style> static floats to_integers(floats x) {
    for (int l = 0; l < 4; ++l)
      x[l] = Style == std::round_toward_zero       ? std::trunc(x[l])
             : Style == std::round_toward_infinity ? std::ceil(x[l])
             : Style == std::round_to_nearest      ? std::nearbyint(x[l])
                                                   : std::floor(x[l]);
    return x;
  }
  static floats quick_reciprocal_root(floats x) { return 1 / square_root(x); }
  static floats permuted(floats x, integers places) {
    floats result = {};
    for (int l = 0; l < 4; ++l) result[l] = x[places[l] & 3];
    return result;
  }
  static integers int8_to_int16(const void* from) {
    std::int16_t x[8];
    for (int l = 0; l < 8; ++l) x[l] = static_cast<const std::int8_t*>(from)[l];
    integers result;
    std::memcpy(&result, x, sizeof x);
    return result;
  }
  static floats load_fp16(const void* from) {
    floats x = {};
    for (int l = 0; l < 4; ++l) {
      std::uint16_t code;
      std::memcpy(&code, static_cast<const unsigned char*>(from) + 2 * l, sizeof code);
      x[l] = static_cast<float>(narrow::fp16::from_bits(code));
    }
    return x;
  }
  static void store_fp16(void* to, floats x) {
    for (int l = 0; l < 4; ++l) {
      const std::uint16_t code = narrow::fp16(x[l]).bits();
      std::memcpy(static_cast<unsigned char*>(to) + 2 * l, &code, sizeof code);
    }
  }
  static integers to_int64(doubles x) {
    const std::int64_t lanes[] = {static_cast<std::int64_t>(x[0]), static_cast<std::int64_t>(x[1])};
    integers result;
    std::memcpy(&result, lanes, sizeof lanes);
    return result;
  }
};

}  // namespace test
