// Matrices as the bits of their numbers, and those packed for a file.
#pragma once

#include <bit>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.hpp"

namespace narrow_train {

/// How a number is made of its bits.
struct number_format {
  enum class kind : std::uint8_t {
    floating,  // float<E, M>: sign, exponent, `fraction` bits of mantissa
    fixed,     // fixed<WL, FL>: two's complement, `fraction` bits after the point
    scaled     // two's complement times the scale of a block
  };
  kind what;
  std::uint8_t bits;      // 1 to 32
  std::uint8_t fraction;  // scaled: 0

  bool operator==(const number_format&) const = default;
  /// "float<5, 10>", "fixed<14, 10>", "scaled<8>".
  [[nodiscard]] std::string text() const;
};

template <class T> struct format_of_number;
template <> struct format_of_number<float> {
  static constexpr number_format value{number_format::kind::floating, 32, 23};
};
template <int E, int M, narrow::specials Specials, class Round, class Overflow>
struct format_of_number<narrow::floating<E, M, Specials, Round, Overflow>> {
  static constexpr number_format value{number_format::kind::floating, 1 + E + M, M};
};
template <int WL, int FL, class Round, class Overflow>
struct format_of_number<narrow::fixed<WL, FL, Round, Overflow>> {
  static constexpr number_format value{number_format::kind::fixed, WL, FL};
};

/// The bits of numbers, and the scales of their blocks where they have any.
struct coded_matrix {
  number_format format{};
  Eigen::Index rows = 0, cols = 0;
  std::vector<std::uint32_t> codes;  // by columns; bits that the format has not are 0
  std::vector<float> scales;

  /// The size of the codes, packed.
  [[nodiscard]] std::uint64_t packed_bytes() const;
  /// Throws std::runtime_error unless it is of this format and shape, and has so many scales.
  void expect(const number_format& expected, Eigen::Index expected_rows, Eigen::Index expected_cols,
              std::size_t expected_scales) const;
};

/// The low bits of a two's complement number, and the number again.
constexpr std::uint32_t low_bits(std::int32_t x, int bits) {
  return static_cast<std::uint32_t>(x) & (~std::uint32_t{0} >> (32 - bits));
}
constexpr std::int32_t signed_number(std::uint32_t code, int bits) {
  const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
  return static_cast<std::int32_t>((code ^ sign) - sign);
}

/// (rows x cols) numbers, stored by columns.
template <class T> coded_matrix coded(const T* numbers, Eigen::Index rows, Eigen::Index cols) {
  coded_matrix result{format_of_number<T>::value, rows, cols, {}, {}};
  result.codes.reserve(static_cast<std::size_t>(rows * cols));
  for (const T& x : std::span(numbers, static_cast<std::size_t>(rows * cols)))
    if constexpr (std::is_same_v<T, float>)
      result.codes.push_back(std::bit_cast<std::uint32_t>(x));
    else
      result.codes.push_back(
          low_bits(static_cast<std::int32_t>(x.bits()), int{format_of_number<T>::value.bits}));
  return result;
}

/// The numbers again; as many as there are codes.
template <class T> void decode(std::span<const std::uint32_t> codes, T* numbers) {
  for (const std::uint32_t code : codes)
    if constexpr (std::is_same_v<T, float>)
      *numbers++ = std::bit_cast<float>(code);
    else
      *numbers++ = T::from_bits(static_cast<typename T::bits_type>(code));
}

/// Codes of `bits` bits each, one behind the other, the lowest bit first; the last byte is filled up with
/// zeros.
std::string packed(std::span<const std::uint32_t> codes, int bits);
/// `count` of them again. The bytes are as many as `packed` gives.
std::vector<std::uint32_t> unpacked(std::string_view bytes, std::size_t count, int bits);

/// Kind, bits and fraction of the format (u8 each), rows, columns and number of the scales (u32 each), the
/// scales, the codes packed.
void write_coded(std::ostream& out, const coded_matrix& m);
/// Reads what write_coded wrote of a matrix (rows x cols). Throws std::runtime_error for another one, and
/// where the stream ends before.
coded_matrix read_coded(std::istream& in, Eigen::Index rows, Eigen::Index cols);

}  // namespace narrow_train
