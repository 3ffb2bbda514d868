// Which operands the tests try where all of them would be too many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "oracle.hpp"

namespace test {

using generator = std::mt19937_64;

inline std::uint64_t below(generator& random, std::uint64_t end) { return random() % end; }

/// Codes next to everything special, of both signs: the zeros, the ends of the subnormals, of binades near 1
/// and near the ends of the range, infinity, NaNs.
inline std::vector<std::uint64_t> edge_codes(const oracle::format& f) {
  const std::uint64_t mantissas = std::uint64_t{1} << f.mantissa_bits,
                      fields = std::uint64_t{1} << f.exponent_bits;
  const auto bias = static_cast<std::uint64_t>(f.bias());
  const auto precision = static_cast<std::uint64_t>(f.mantissa_bits);
  std::set<std::uint64_t> result;
  for (const std::uint64_t field :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, bias - precision - 1, bias - 1, bias, bias + 1,
        bias + precision, fields - 3, fields - 2, fields - 1})
    for (const std::uint64_t mantissa : {std::uint64_t{0}, std::uint64_t{1}, mantissas / 2 - 1, mantissas / 2,
                                         mantissas / 2 + 1, mantissas - 2, mantissas - 1})
      if (field < fields && mantissa < mantissas) {
        result.insert(field * mantissas + mantissa);
        result.insert(field * mantissas + mantissa + f.sign());
      }
  return {result.begin(), result.end()};
}

using code_pair = std::pair<std::uint64_t, std::uint64_t>;

/// Every pair of a format's codes.
inline std::vector<code_pair> all_pairs(const oracle::format& f) {
  std::vector<code_pair> result;
  for (std::uint64_t a = 0; a < f.codes(); ++a)
    for (std::uint64_t b = 0; b < f.codes(); ++b) result.emplace_back(a, b);
  return result;
}

/// The edges with each other, then `count` random pairs: a third anything with anything, a third with
/// exponents so near that sums cancel and carry, a third whose product or quotient falls at an end of the
/// range.
inline std::vector<code_pair> sample_pairs(const oracle::format& f, std::uint64_t count, generator& random) {
  const auto edges = edge_codes(f);
  std::vector<code_pair> result;
  for (const auto a : edges)
    for (const auto b : edges) result.emplace_back(a, b);

  const std::int64_t mantissas = std::int64_t{1} << f.mantissa_bits,
                     fields = std::int64_t{1} << f.exponent_bits;
  const auto field_of = [&](std::uint64_t code) {
    return static_cast<std::int64_t>(code % f.sign()) / mantissas;
  };
  const auto with_field = [&](std::int64_t field) {
    const auto code = std::clamp<std::int64_t>(field, 0, fields - 1) * mantissas;
    return static_cast<std::uint64_t>(code) + below(random, static_cast<std::uint64_t>(mantissas)) +
           (below(random, 2) != 0 ? f.sign() : 0);
  };
  const auto around = [&](std::int64_t center, std::int64_t distance) {
    return center - distance +
           static_cast<std::int64_t>(below(random, static_cast<std::uint64_t>(2 * distance + 1)));
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t a = below(random, f.codes());
    std::uint64_t b = below(random, f.codes());
    if (i % 3 == 1) b = with_field(around(field_of(a), f.mantissa_bits + 2));
    if (i % 3 == 2) {
      const std::int64_t end = below(random, 2) != 0 ? around(1, f.mantissa_bits + 2) : around(fields - 2, 1);
      const bool product = below(random, 2) != 0;  // field(a b) = a + b - bias, field(a / b) = a - b + bias
      b = with_field(product ? end + f.bias() - field_of(a) : field_of(a) + f.bias() - end);
    }
    result.emplace_back(a, b);
  }
  return result;
}

}  // namespace test
