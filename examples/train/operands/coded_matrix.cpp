#include "operands/coded_matrix.hpp"

#include <stdexcept>

#include "files/saved_state.hpp"

namespace narrow_train {
namespace {

std::uint64_t bytes_for(std::uint64_t count, int bits) {
  return (count * static_cast<std::uint64_t>(bits) + 7) / 8;
}

void expect_shape(std::uint64_t rows, std::uint64_t cols, Eigen::Index expected_rows,
                  Eigen::Index expected_cols) {
  const auto text = [](auto r, auto c) { return std::to_string(r) + " x " + std::to_string(c); };
  if (rows != static_cast<std::uint64_t>(expected_rows) || cols != static_cast<std::uint64_t>(expected_cols))
    throw std::runtime_error("is " + text(rows, cols) + " instead of " + text(expected_rows, expected_cols));
}

}  // namespace

std::string number_format::text() const {
  const auto numbers = [](int a, int b) { return '<' + std::to_string(a) + ", " + std::to_string(b) + '>'; };
  switch (what) {
    case kind::floating:
      return "float" + numbers(bits - 1 - fraction, fraction);
    case kind::fixed:
      return "fixed" + numbers(bits, fraction);
    case kind::scaled:
      return "scaled<" + std::to_string(bits) + '>';
  }
  return "an unknown format";
}

std::uint64_t coded_matrix::packed_bytes() const { return bytes_for(codes.size(), format.bits); }

void coded_matrix::expect(const number_format& expected, Eigen::Index expected_rows,
                          Eigen::Index expected_cols, std::size_t expected_scales) const {
  expect_shape(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols), expected_rows,
               expected_cols);
  if (format != expected)
    throw std::runtime_error("has numbers of " + format.text() + " instead of " + expected.text());
  if (scales.size() != expected_scales)
    throw std::runtime_error("has " + std::to_string(scales.size()) + " scales instead of " +
                             std::to_string(expected_scales));
}

std::string packed(std::span<const std::uint32_t> codes, int bits) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(bytes_for(codes.size(), bits)));
  std::uint64_t waiting = 0;
  int count = 0;  // of the bits that wait
  for (const std::uint32_t code : codes) {
    waiting |= std::uint64_t{code} << count;
    for (count += bits; count >= 8; count -= 8, waiting >>= 8) bytes += static_cast<char>(waiting & 0xff);
  }
  if (count > 0) bytes += static_cast<char>(waiting & 0xff);
  return bytes;
}

std::vector<std::uint32_t> unpacked(std::string_view bytes, std::size_t count, int bits) {
  if (bytes.size() != bytes_for(count, bits)) throw std::invalid_argument("packed numbers of another size");
  std::vector<std::uint32_t> codes;
  codes.reserve(count);
  std::uint64_t waiting = 0;
  int there = 0;  // bits that wait
  for (const char byte : bytes) {
    waiting |= std::uint64_t{static_cast<unsigned char>(byte)} << there;
    for (there += 8; there >= bits && codes.size() < count; there -= bits, waiting >>= bits)
      codes.push_back(static_cast<std::uint32_t>(waiting & (~std::uint64_t{0} >> (64 - bits))));
  }
  return codes;
}

void write_coded(std::ostream& out, const coded_matrix& m) {
  write_number(out, static_cast<std::uint8_t>(m.format.what));
  write_number(out, m.format.bits);
  write_number(out, m.format.fraction);
  for (const auto size : {static_cast<std::uint64_t>(m.rows), static_cast<std::uint64_t>(m.cols),
                          std::uint64_t{m.scales.size()}}) {
    if (size > std::numeric_limits<std::uint32_t>::max())
      throw std::runtime_error("a matrix of " + std::to_string(m.rows) + " x " + std::to_string(m.cols) +
                               " is too large for a file");
    write_number(out, static_cast<std::uint32_t>(size));
  }
  write_numbers(out, std::span(m.scales));
  out << packed(m.codes, m.format.bits);
}

coded_matrix read_coded(std::istream& in, Eigen::Index rows, Eigen::Index cols) {
  const auto kind = read_number<std::uint8_t>(in), bits = read_number<std::uint8_t>(in),
             fraction = read_number<std::uint8_t>(in);
  if (kind > static_cast<std::uint8_t>(number_format::kind::scaled) || bits < 1 || bits > 32 ||
      fraction >= bits)
    throw std::runtime_error("has numbers of an unknown format");
  const auto file_rows = read_number<std::uint32_t>(in), file_cols = read_number<std::uint32_t>(in),
             scales = read_number<std::uint32_t>(in);
  // What follows is allocated: no more than the matrix, whose shape is known, asks for.
  expect_shape(file_rows, file_cols, rows, cols);
  const auto count = static_cast<std::size_t>(rows * cols);
  if (scales > count) throw std::runtime_error("has " + std::to_string(scales) + " scales");
  coded_matrix m{{static_cast<number_format::kind>(kind), bits, fraction}, rows, cols, {}, {}};
  m.scales.resize(scales);
  read_numbers(in, std::span(m.scales));
  std::string bytes(static_cast<std::size_t>(bytes_for(count, bits)), '\0');
  read_numbers(in, std::span(bytes));
  m.codes = unpacked(bytes, count, bits);
  return m;
}

}  // namespace narrow_train
