// The most that this processor can do: loops of nothing but the instruction in question, timed beside what
// they bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <narrow/narrow.hpp>

#include "operation.hpp"

namespace narrow_bench {

struct limit {
  std::string name;
  std::function<void()> run;
  double per_call;  // in the unit of the row
};

/// Multiply-adds in registers, 2 FLOP each; where the instruction is not there, the next best, whose name
/// says so.
limit compute_limit(arithmetic kind);
/// Reading so many bytes, again and again, does the work of the row.
limit read_limit(std::size_t bytes, const work& amount);
/// Moving so many bytes by memcpy, reading and writing counted together, does.
limit copy_limit(std::size_t bytes, const work& amount);

/// Conversions of fp16 and bf16 that give the right bits, in intrinsics; elsewhere what copy_limit says.
enum class direction { from_float, to_float };
limit conversion_limit(std::size_t n, direction way, const narrow::fp16&, const work& amount);
limit conversion_limit(std::size_t n, direction way, const narrow::bf16&, const work& amount);
template <class T> limit conversion_limit(std::size_t n, direction, const T&, const work& amount) {
  return copy_limit(n * (sizeof(float) + sizeof(T)), amount);
}

/// Finding the largest magnitude of n floats, and then rounding them to integers of so many bytes, in
/// intrinsics; where these are not there, and beyond the caches, reading the floats twice and writing the
/// integers.
limit quantizing_limit(std::size_t n, std::size_t element_size, const work& amount);

/// The arithmetic that the products of a format can be computed in.
template <narrow::narrow_scalar T> constexpr arithmetic arithmetic_of() {
  if constexpr (narrow::narrow_fixed<T>) {
    return T::word_length <= 8    ? arithmetic::int8
           : T::word_length <= 16 ? arithmetic::int16
                                  : arithmetic::fp64;
  } else {
    using layout = typename T::layout;
    using multiplier = narrow::bf16::layout;
    return layout::exponent_bits <= multiplier::exponent_bits &&
                   layout::mantissa_bits <= multiplier::mantissa_bits
               ? arithmetic::bf16
           : narrow::kernel::splits_in_bf16<T>() ? arithmetic::fp16
                                                 : arithmetic::fp32;
  }
}
template <narrow::block_format T> constexpr arithmetic arithmetic_of() {
  using element = typename T::element_type;
  if constexpr (narrow::narrow_scalar<element>)
    return arithmetic_of<element>();
  else
    return sizeof(element) == 1 ? arithmetic::int8 : arithmetic::int16;
}

}  // namespace narrow_bench
