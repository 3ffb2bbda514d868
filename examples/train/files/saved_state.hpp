// State that a checkpoint keeps, and numbers as the bytes of a file: little-endian on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <istream>
#include <limits>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/tensor.hpp"

namespace narrow_train {

/// What a run needs, beside its parameters, to go on where it was.
class saved_state {
 public:
  virtual ~saved_state() = default;
  virtual void save(std::ostream& out) const = 0;
  /// Takes over what `save` of an object with the same settings wrote, bit for bit. Throws
  /// std::runtime_error for anything else; the object may then hold any state.
  virtual void load(std::istream& in) = 0;

  /// As `save` and `load`, for what inference depends on.
  virtual void save_for_inference(std::ostream&) const {}
  virtual void load_for_inference(std::istream&) {}
};

/// A part of a run's state: its name in the file, and how it is written and read, as `saved_state` has it.
struct saved_part {
  std::string name;
  std::function<void(std::ostream&)> save;
  std::function<void(std::istream&)> load;
};

/// The part that `state`, which must outlive it, is.
inline saved_part part_of(std::string name, saved_state& state) {
  return {std::move(name), [&state](std::ostream& out) { state.save(out); },
          [&state](std::istream& in) { state.load(in); }};
}

/// The bytes of numbers, the lowest of each first.
template <class T> void write_numbers(std::ostream& out, std::span<const T> numbers) {
  static_assert(std::is_trivially_copyable_v<T>);
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
    out.write(reinterpret_cast<const char*>(numbers.data()),
              static_cast<std::streamsize>(numbers.size_bytes()));
  } else {
    for (const T& x : numbers) {
      auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(x);
      std::ranges::reverse(bytes);
      out.write(bytes.data(), sizeof(T));
    }
  }
}
template <class T>
requires std::is_arithmetic_v<T>
void write_number(std::ostream& out, T x) { write_numbers(out, std::span<const T>(&x, 1)); }

/// Throws std::runtime_error where the stream ends before.
template <class T> void read_numbers(std::istream& in, std::span<T> numbers) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::array<char, sizeof(T)> bytes{};
  for (T& x : numbers) {
    if (!in.read(bytes.data(), sizeof(T))) throw std::runtime_error("ends too early");
    if constexpr (std::endian::native != std::endian::little) std::ranges::reverse(bytes);
    std::memcpy(&x, bytes.data(), sizeof(T));
  }
}
template <class T>
requires std::is_arithmetic_v<T> T read_number(std::istream& in) {
  T x{};
  read_numbers(in, std::span<T>(&x, 1));
  return x;
}

/// A size that must be `expected`: of a tensor, say, whose shape follows from the settings.
inline void expect_size(std::istream& in, std::size_t expected, const std::string& what) {
  const auto size = read_number<std::uint64_t>(in);
  if (size != expected)
    throw std::runtime_error("has " + std::to_string(size) + ' ' + what + " instead of " +
                             std::to_string(expected));
}

template <class S> void write_matrix(std::ostream& out, const matrix<S>& m) {
  write_number(out, static_cast<std::uint64_t>(m.rows()));
  write_number(out, static_cast<std::uint64_t>(m.cols()));
  write_numbers(out, std::span<const S>(m.data(), static_cast<std::size_t>(m.size())));
}

/// Reads what write_matrix wrote, (rows x columns). Throws std::runtime_error for another shape.
template <class S> void read_matrix(std::istream& in, matrix<S>& m, Eigen::Index rows, Eigen::Index columns) {
  expect_size(in, static_cast<std::size_t>(rows), "rows");
  expect_size(in, static_cast<std::size_t>(columns), "columns");
  m.resize(rows, columns);
  read_numbers(in, std::span<S>(m.data(), static_cast<std::size_t>(m.size())));
}
/// Reads a matrix of the shape that m has.
template <class S> void read_matrix(std::istream& in, matrix<S>& m) {
  read_matrix(in, m, m.rows(), m.cols());
}

}  // namespace narrow_train
