// Operands for tests of arithmetic by the rules of Berkeley TestFloat 3e (Hauser, genCases_f32.c and its
// siblings), for every floating format: exponents at the ends of the range, about 1 and at the ends of the
// integers; mantissas of few ones, of few zeros and of one run of ones; sums of such mantissas; and as many
// random ones, of exponents about 1 more than of others.
#pragma once

#include <bit>
#include <cstdint>
#include <set>
#include <vector>

#include "../policies.hpp"
#include "../samples.hpp"

namespace test {

/// Formats that no table holds or that are not in the catalogue; and with those of the catalogue.
using wide_formats =
    std::tuple<narrow::floating<8, 10>, narrow::floating<8, 23>, narrow::floating<8, 18>,
               narrow::floating<6, 21>, narrow::floating<4, 16>, narrow::floating<2, 23>,
               narrow::floating<5, 12, narrow::specials::fn>, narrow::floating<6, 16, narrow::specials::fnuz>,
               narrow::floating<3, 20, narrow::specials::none>>;
using edge_floating_formats = some_of<decltype(std::tuple_cat(wide_formats{}, narrow::all_formats{})), 0>;

using code_list = std::vector<std::uint64_t>;

/// Integers of `bits` bits in all of which one bit differs from the others, or that are one run of ones from
/// the first or to the last bit.
inline code_list patterns(int bits) {
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  std::set<std::uint64_t> result{0, all};
  for (int i = 0; i < bits; ++i) {
    const std::uint64_t one = std::uint64_t{1} << i;
    for (const std::uint64_t pattern : {one, all ^ one, one - 1, all ^ (one - 1)}) result.insert(pattern);
  }
  return {result.begin(), result.end()};
}

class edge_operands {
 public:
  edge_operands(const oracle::format& of, std::uint64_t seed)
      : of_(of), random_(seed), mantissas_(patterns(of.mantissa_bits)) {
    const int precision = of.mantissa_bits + 1;
    inner_ = fields({-precision, -2, -1, 0, 1, 2, precision});
    outer_ = fields({-precision, -4, -3, -2, -1, 0, 1, 2, 3, 4, precision, 29, 30, 31, 32, 61, 62, 63, 64});
    const std::uint64_t all = mantissa_mask();
    for (const std::uint64_t field : inner_)
      for (const std::uint64_t mantissa : std::set<std::uint64_t>{0, 1, all - 1, all})
        for (const std::uint64_t sign : {std::uint64_t{0}, of.sign()})
          few_.push_back(sign + (field << of.mantissa_bits) + mantissa);
  }

  /// TestFloat's lists: exponent fields for operands of two and more, and for the only one; mantissas; the
  /// codes of the former with the mantissas next to the ends.
  const code_list& inner_fields() const { return inner_; }
  const code_list& outer_fields() const { return outer_; }
  const code_list& mantissas() const { return mantissas_; }
  const code_list& few() const { return few_; }

  /// A code, of every eight: three of a field of the list, one of these with any mantissa, three of a field
  /// in a random distance from that of 1, one of these with any mantissa.
  std::uint64_t any() {
    const std::uint64_t which = below(random_, 8);
    const std::uint64_t field = which < 4 ? one_of(outer_) : around_one();
    const bool is_any = which == 3 || which == 7;
    const std::uint64_t mantissa = is_any ? random_() : one_of(mantissas_) + one_of(mantissas_);
    return (below(random_, 2) << (of_.mantissa_bits + of_.exponent_bits)) + (field << of_.mantissa_bits) +
           (mantissa & mantissa_mask());
  }
  std::uint64_t one_of(const code_list& list) {
    return list[static_cast<std::size_t>(below(random_, list.size()))];
  }
  generator& random() { return random_; }

  /// TestFloat's level 1: each of the few with each, and five times as many with random ones and of these.
  std::vector<code_pair> pairs() {
    std::vector<code_pair> result;
    for (const auto a : few_)
      for (const auto b : few_)
        for (const code_pair& pair :
             {code_pair{a, b}, {a, any()}, {any(), b}, {any(), any()}, {any(), any()}, {any(), any()}})
          result.push_back(pair);
    return result;
  }

 private:
  std::uint64_t mantissa_mask() const { return (std::uint64_t{1} << of_.mantissa_bits) - 1; }
  std::uint64_t top_field() const { return (std::uint64_t{1} << of_.exponent_bits) - 1; }
  /// The fields of these exponents and, by theirs, of subnormals, the ends of the range and the specials.
  code_list fields(std::initializer_list<int> exponents) const {
    std::set<std::uint64_t> result{0, 1, top_field() - 1, top_field()};
    if (exponents.size() > 7) result.insert({std::min<std::uint64_t>(2, top_field()), top_field() - 2});
    for (const int exponent : exponents) {
      const int field = exponent + of_.bias();
      if (field > 0 && static_cast<std::uint64_t>(field) < top_field())
        result.insert(static_cast<std::uint64_t>(field));
    }
    return {result.begin(), result.end()};
  }
  std::uint64_t around_one() {
    const auto width = std::uint64_t{1} << below(random_, static_cast<std::uint64_t>(of_.exponent_bits) + 1);
    return (static_cast<std::uint64_t>(of_.bias()) + below(random_, width) - width / 2) & top_field();
  }

  oracle::format of_;
  generator random_;
  code_list mantissas_, inner_, outer_, few_;
};

}  // namespace test
