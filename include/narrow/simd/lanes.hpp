// What an instruction set must have: a struct `instructions` of static functions over its vectors. Everything
// else in its namespace is written over that: lanes.inl, then the kernels of all rooms (vector_kernels.inl).
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include "../config.hpp"
#include "../kernel/elementwise/code_maps.hpp"
#include "../kernel/elementwise/float_pairs.hpp"
#include "../kernel/elementwise/quick_functions.hpp"
#include "../kernel/elementwise/short_lines.hpp"
#include "../kernel/elementwise/softmax.hpp"
#include "../kernel/product/small.hpp"
#include "region.hpp"
#include "words.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Refuses a struct `instructions` that lacks something, by its name. An instruction set has
///
///   integers, floats, doubles          whole vectors, all as large as one another: of 16, 32 or 64 bytes
///   any_of(integers)                   whether a lane of 32 bits is not zero
///   any_without(integers, bits, f)     whether a lane of 32 bits has none of these bits, of those whose float
///                                      in f is not zero
///   any_nan(floats, floats)            whether a lane of either is NaN
///   any_unequal(floats, floats)        whether the numbers of a lane differ, or one of them is NaN
///   store_lower<Size>(to, integers)    the lower Size bytes of each lane of 32 bits, side by side; 1, 2 or 4
///   load_lower<Size>(from)             integers of Size bytes in lanes of 32 bits, zeros above them
///   load_signed<Size>(from)            integers of Size bytes in lanes of 32 bits, their signs above them
///   read_part(vector&, from, bytes)    the first bytes, fewer than all, of a vector or an array as large as
///                                      one, and zeros after them; nothing beyond is read
///   write_part(to, vector, bytes)      the first bytes, fewer than all; nothing beyond is written
///   multiply_add(acc, a, b)            of floats and of doubles: acc + a b, rounded once; of integers: adds
///                                      the products of int16, two to each lane, to whichever it may be
///   multiply_add(acc, word, integers)  adds, in each lane, its two int16 times the two of the word
///   square_root(x)                     of floats and of doubles, rounded once
///   to_integers<Style>(x)              floats rounded to integers; a std::float_round_style, ties to even
///   quick_reciprocal_root(x)           1 / square_root(x) of normal floats, within two units
///   permuted(floats, integers)         the floats of those lanes, as many of an integer's lowest bits as count
///   int8_to_int16(from)                as many int8 as there are lanes of 16 bits, in such lanes
///   load_fp16(from)                    as many codes of fp16 as floats
///   store_fp16(to, floats)             to nearest, ties to even
///   first_lane(integers)               the first lane of 32 bits that is not zero, or how many there are; each
///                                      lane has all of its bits or none. May be left out
///   look_up_codes(from, table)         as many floats as codes of 8 bits: the upper halves that a table of 128 has
///                                      of their lower 7 bits, with the upper one as the sign; the first is zero.
///                                      May be left out
///   to_int64(doubles)                  integers of at most 2^53 in lanes of 64 bits
///
/// parts.inl has read_part and write_part for a processor without masks of bytes.
template <class Instructions> consteval bool check_instructions() {
#define NARROW_NEEDS(operation, ...)                                                                       \
  {                                                                                                        \
    constexpr bool is_there =                                                                              \
        requires(typename Instructions::integers i, typename Instructions::floats f,                       \
                 typename Instructions::doubles d, const void* from, void* to, index n, std::uint32_t w) { \
      __VA_ARGS__;                                                                                         \
    };                                                                                                     \
    static_assert(is_there,                                                                                \
                  "narrow: an instruction set must have instructions::" operation ", see simd/lanes.hpp"); \
  }                                                                                                        \
  static_assert(true)
  static_assert(sizeof(typename Instructions::integers) == sizeof(typename Instructions::floats) &&
                    sizeof(typename Instructions::integers) == sizeof(typename Instructions::doubles),
                "narrow: the vectors of an instruction set are all as large as one another");
  NARROW_NEEDS("any_of", { Instructions::any_of(i) } -> std::same_as<bool>);
  NARROW_NEEDS("any_without", { Instructions::any_without(i, i, f) } -> std::same_as<bool>);
  NARROW_NEEDS("any_nan", { Instructions::any_nan(f, f) } -> std::same_as<bool>);
  NARROW_NEEDS("any_unequal", { Instructions::any_unequal(f, f) } -> std::same_as<bool>);
  NARROW_NEEDS("store_lower", Instructions::template store_lower<1>(to, i),
               Instructions::template store_lower<2>(to, i), Instructions::template store_lower<4>(to, i));
  NARROW_NEEDS("load_lower", i = Instructions::template load_lower<1>(from),
               i = Instructions::template load_lower<2>(from),
               i = Instructions::template load_lower<4>(from));
  NARROW_NEEDS("load_signed", i = Instructions::template load_signed<1>(from),
               i = Instructions::template load_signed<2>(from),
               i = Instructions::template load_signed<4>(from));
  NARROW_NEEDS("read_part", Instructions::read_part(i, from, n));
  NARROW_NEEDS("write_part", Instructions::write_part(to, i, n));
  NARROW_NEEDS("multiply_add of floats", f = Instructions::multiply_add(f, f, f));
  NARROW_NEEDS("multiply_add of doubles", d = Instructions::multiply_add(d, d, d));
  NARROW_NEEDS("multiply_add of int16", i = Instructions::multiply_add(i, i, i));
  NARROW_NEEDS("multiply_add of a word of int16", i = Instructions::multiply_add(i, w, i));
  NARROW_NEEDS("square_root", f = Instructions::square_root(f), d = Instructions::square_root(d));
  NARROW_NEEDS("to_integers", f = Instructions::template to_integers<std::round_toward_zero>(f),
               f = Instructions::template to_integers<std::round_to_nearest>(f),
               f = Instructions::template to_integers<std::round_toward_infinity>(f),
               f = Instructions::template to_integers<std::round_toward_neg_infinity>(f));
  NARROW_NEEDS("quick_reciprocal_root", f = Instructions::quick_reciprocal_root(f));
  NARROW_NEEDS("permuted", f = Instructions::permuted(f, i));
  NARROW_NEEDS("int8_to_int16", i = Instructions::int8_to_int16(from));
  NARROW_NEEDS("load_fp16", f = Instructions::load_fp16(from));
  NARROW_NEEDS("store_fp16", Instructions::store_fp16(to, f));
  NARROW_NEEDS("to_int64", i = Instructions::to_int64(d));
#undef NARROW_NEEDS
  return true;
}

}  // namespace narrow::kernel
