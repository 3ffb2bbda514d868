// The types that the tests of files write, and arrays of them.
#pragma once

#include <narrow/narrow.hpp>

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "../refusal.hpp"
#include "../samples.hpp"

namespace test {

/// A type, what numpy calls it, and what safetensors does.
template <class T> struct in_files {
  using type = T;
  std::string_view numpy, safetensors;
};

/// All kinds of them.
inline constexpr std::tuple stored_types{
    in_files<float>{"<f4", "F32"},
    in_files<double>{"<f8", "F64"},
    in_files<narrow::fp16>{"<f2", "F16"},
    in_files<narrow::bf16>{"<u2", "BF16"},
    in_files<narrow::fp8_e5m2>{"|u1", "F8_E5M2"},
    in_files<narrow::fp8_e4m3fn>{"|u1", "F8_E4M3"},
    in_files<narrow::fp8_e3m4>{"|u1", "U8"},
    in_files<narrow::fp6_e2m3>{"|u1", "U8"},
    in_files<narrow::floating<8, 23>>{"<f4", "F32"},
    in_files<narrow::floating<8, 10>>{"<u4", "U32"},
    in_files<narrow::fixed<8, 4>>{"|i1", "I8"},
    in_files<narrow::fixed<12, 6>>{"<i2", "I16"},
    in_files<narrow::fixed<32, 16, narrow::rounding::stochastic>>{"<i4", "I32"},
    in_files<std::int8_t>{"|i1", "I8"},
    in_files<std::uint16_t>{"<u2", "U16"},
    in_files<std::int32_t>{"<i4", "I32"},
    in_files<std::uint64_t>{"<u8", "U64"}};
inline constexpr std::size_t stored_type_count = std::tuple_size_v<decltype(stored_types)>;

/// Calls f(in_files<T>) for each of them.
template <class F> void for_each_stored_type(const F& f) {
  std::apply([&](const auto&... type) { (f(type), ...); }, stored_types);
}

/// Any codes, NaNs of all kinds among them.
template <class T> std::vector<T> any_elements(std::size_t n, generator& random) {
  std::vector<T> result(n);
  for (T& x : result) {
    const std::uint64_t bits = random();
    if constexpr (narrow::narrow_scalar<T>)
      x = T::from_bits(static_cast<typename T::bits_type>(bits));
    else
      std::memcpy(&x, &bits, sizeof(T));
  }
  return result;
}

template <class T> bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// What f throws as std::runtime_error.
template <class F> std::string failure(const F& f) { return refusal<std::runtime_error>(f); }
/// The same of what may go well, which gives nothing; another exception is told as one.
template <class F> std::string failure_if_any(const F& f) {
  std::string said;
  try {
    said = refusal<std::runtime_error>([&] {
      f();
      throw std::runtime_error("");
    });
  } catch (const std::exception& other) {
    said = std::string("another error: ") + other.what();
  }
  return said;
}

/// Bytes of a file with a few faults.
inline std::string with_faults(std::string bytes, generator& random) {
  constexpr std::string_view pieces[] = {"0",
                                         "999999999999999999999",
                                         "18446744073709551615",
                                         "4611686018427387904",
                                         "4000000000",
                                         "300000000000",
                                         "-",
                                         "\"",
                                         "'",
                                         "\\u",
                                         "\\ud800",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         "(",
                                         ")",
                                         ",",
                                         ":",
                                         "F64",
                                         "<f8",
                                         "True",
                                         "\x93NUMPY"};
  for (auto faults = 1 + below(random, 3); faults-- > 0;) {
    const auto at = static_cast<std::size_t>(below(random, bytes.size() + 1));
    // Most of them near the beginning, where headers are.
    const auto place = below(random, 4) != 0 ? at % std::min<std::size_t>(bytes.size() + 1, 160) : at;
    switch (below(random, 5)) {
      case 0:
        if (place < bytes.size()) bytes[place] = static_cast<char>(random());
        break;
      case 1:
        if (place < bytes.size()) bytes[place] = static_cast<char>(bytes[place] ^ (1 << below(random, 8)));
        break;
      case 2:
        bytes.resize(place);
        break;
      case 3:
        bytes.erase(place, static_cast<std::size_t>(1 + below(random, 6)));
        break;
      default:
        bytes.insert(place, pieces[below(random, std::size(pieces))]);
    }
  }
  return bytes;
}

/// What is said of numbers that are too large for a size.
inline const std::string beyond_sizes = "beyond " + std::to_string(8 * sizeof(std::size_t)) + " bits";

}  // namespace test
