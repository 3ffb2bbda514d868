// What quantising in blocks is compared with: exact rationals, and scales found by trying one after another.
#pragma once

#include "../kernel/product_oracle.hpp"

namespace test {

using place = std::ptrdiff_t;

// ---- formats

template <class F> struct format_facts;
template <int M, class Block, class Round, class Exponent>
struct format_facts<narrow::bfp<M, Block, Round, Exponent>> {
  using exponent = Exponent;
  static constexpr int width = M;
  static constexpr bool power_of_two = true;
};
template <class Block, class Round> struct format_facts<narrow::basic_int8<Block, Round>> {
  using exponent = narrow::exponent::max;
  static constexpr int width = 8;
  static constexpr bool power_of_two = false;
};
template <class F> inline constexpr int limit_of = (1 << (format_facts<F>::width - 1)) - 1;

using granularities = std::tuple<narrow::per_tensor, narrow::per_row, narrow::per_column, narrow::tile<1, 4>,
                                 narrow::tile<3, 1>, narrow::tile<2, 3>, narrow::tile<16, 16>>;

// Rows and columns that share a scale, by the definition of each granularity.
template <class Block> struct sharing;
template <> struct sharing<narrow::per_tensor> {
  static bool same(place, place, place, place) { return true; }
};
template <> struct sharing<narrow::per_row> {
  static bool same(place i, place, place k, place) { return i == k; }
};
template <> struct sharing<narrow::per_column> {
  static bool same(place, place j, place, place l) { return j == l; }
};
template <int R, int C> struct sharing<narrow::tile<R, C>> {
  static bool same(place i, place j, place k, place l) { return i / R == k / R && j / C == l / C; }
};

// ---- numbers

inline mpq_class power(int exponent) {
  return exponent >= 0 ? mpq_class(oracle::power_of_two(exponent))
                       : mpq_class(1) / oracle::power_of_two(-exponent);
}

/// A finite float, from its bits.
inline mpq_class rational(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const int field = static_cast<int>(bits >> 23 & 0xff);
  const long significand = static_cast<long>(bits & 0x7f'ffff) | (field != 0 ? 1L << 23 : 0L);
  const mpq_class magnitude = mpq_class(significand) * power((field != 0 ? field : 1) - 150);
  return bits >> 31 != 0 ? mpq_class(-magnitude) : magnitude;
}
inline bool is_nan(float x) { return (std::bit_cast<std::uint32_t>(x) & 0x7fff'ffff) > 0x7f80'0000; }
inline bool is_finite(float x) { return (std::bit_cast<std::uint32_t>(x) & 0x7f80'0000) != 0x7f80'0000; }

/// The integers that |x| may become: one, or under stochastic rounding two.
template <class Round> std::pair<mpz_class, mpz_class> rounded_integers(const mpq_class& x) {
  const auto where = oracle::rounded(0, x);
  if (where.where == oracle::position::on) return {where.whole, where.whole};
  if constexpr (std::same_as<Round, narrow::rounding::stochastic>) {
    return {where.whole, where.whole + 1};
  } else {
    const bool up = oracle::choose(Round{}, where.where, where.negative, mpz_class(where.whole % 2) == 0) ==
                    oracle::neighbour::upper;
    const mpz_class chosen = where.whole + (up ? 1 : 0);
    return {chosen, chosen};
  }
}

/// The largest integer that a magnitude, of either sign, may become.
template <class Round> mpz_class farthest_integer(const mpq_class& magnitude) {
  return std::max(rounded_integers<Round>(magnitude).second,
                  rounded_integers<Round>(mpq_class(-magnitude)).second);
}

// ---- scales

/// The smallest step 2^e at which no magnitude up to `largest` exceeds the limit after rounding.
template <class Round> mpq_class smallest_step_that_fits(const mpq_class& largest, int width) {
  const mpz_class limit = oracle::power_of_two(width - 1) - 1;
  int e = -149;
  while (e < 129 - width && largest > power(e + width + 1)) ++e;  // far too small
  while (e < 129 - width && farthest_integer<Round>(mpq_class(largest / power(e))) > limit) ++e;
  return power(e);
}

/// The largest step 2^e of which `magnitude` is at least 2^(bits - 1).
inline mpq_class step_that_keeps(const mpq_class& magnitude, int bits, int width) {
  int e = 129 - width;
  while (e > -149 && magnitude < power(e + bits - 1)) --e;
  return power(e);
}

/// The scale of a block of finite numbers, by the exponent policy.
template <class Round>
mpq_class scale_by(narrow::exponent::max, const std::vector<mpq_class>& values, int width) {
  mpq_class largest = 0;
  for (const auto& x : values) largest = std::max(largest, mpq_class(abs(x)));
  return sgn(largest) == 0 ? power(-149) : smallest_step_that_fits<Round>(largest, width);
}
template <class Round, int Bits>
mpq_class scale_by(narrow::exponent::min<Bits>, const std::vector<mpq_class>& values, int width) {
  mpq_class smallest = 0;
  for (const auto& x : values)
    if (sgn(x) != 0 && (sgn(smallest) == 0 || abs(x) < smallest)) smallest = abs(x);
  return sgn(smallest) == 0 ? power(-149)
                            : step_that_keeps(smallest, Bits == 0 ? (width + 1) / 2 : Bits, width);
}
template <class Round, int Bits>
mpq_class scale_by(narrow::exponent::avg<Bits>, const std::vector<mpq_class>& values, int width) {
  mpq_class sum = 0;
  for (const auto& x : values) sum += abs(x);
  if (sgn(sum) == 0) return power(-149);
  return step_that_keeps(sum / static_cast<unsigned long>(values.size()), Bits == 0 ? (width + 1) / 2 : Bits,
                         width);
}

/// max / 127 rounded down to 17 significant bits; where that is no float, as a power of two.
template <class Round> mpq_class int8_scale(const std::vector<mpq_class>& values) {
  mpq_class largest = 0;
  for (const auto& x : values) largest = std::max(largest, mpq_class(abs(x)));
  if (sgn(largest) == 0) return power(-149);
  const mpq_class exact = largest / 127;
  int unit = 128;  // of the last of 17 bits
  while (unit > -400 && exact < power(unit + 16)) --unit;
  if (unit < -149) return smallest_step_that_fits<Round>(largest, 8);
  const mpq_class scaled = exact / power(unit);
  return mpz_class(scaled.get_num() / scaled.get_den()) * power(unit);
}

template <class F, class Round> mpq_class scale_of_block(const std::vector<float>& block) {
  std::vector<mpq_class> finite;
  for (const float x : block)
    if (is_finite(x)) finite.push_back(rational(x));
  if constexpr (format_facts<F>::power_of_two)
    return scale_by<Round>(typename format_facts<F>::exponent{}, finite, format_facts<F>::width);
  else
    return int8_scale<Round>(finite);
}

// ---- elements

/// Whether q is what x becomes in steps of `scale`; for stochastic rounding, under the draw of the element.
template <class F, class Round>
bool right_mantissa(float x, const mpq_class& scale, long q, const Round& round, std::uint64_t element) {
  const long limit = limit_of<F>;
  const bool negative = std::bit_cast<std::uint32_t>(x) >> 31 != 0;
  if (is_nan(x)) return q == 0;
  if (!is_finite(x)) return q == (negative ? -limit : limit);
  const mpq_class quotient = rational(x) / scale;
  const auto signed_limited = [&](const mpz_class& magnitude) {
    const long kept = magnitude > limit ? limit : magnitude.get_si();
    return negative ? -kept : kept;
  };
  const auto [lower, upper] = rounded_integers<Round>(quotient);
  if constexpr (std::same_as<Round, narrow::rounding::stochastic>) {
    const std::uint64_t at = round.offset() + element;
    const std::uint32_t draw =
        narrow::detail::random_bits({round.seed(), at}, static_cast<std::uint32_t>(at));
    const mpq_class fraction = (abs(quotient) - lower) * power(32) + draw - power(32);  // up: at least 0
    // What is no power of two is divided to the nearest multiple of 2^-30.
    if (!format_facts<F>::power_of_two && abs(fraction) < 8)
      return q == signed_limited(lower) || q == signed_limited(upper);
    return q == signed_limited(fraction >= 0 && lower != upper ? upper : lower);
  } else {
    return q == signed_limited(lower) && lower == upper;
  }
}

// ---- inputs

/// The kinds of values that blocks are made of.
inline constexpr int kinds_of_values = 10;

inline float value_of_kind(int kind, std::size_t number, std::size_t size, generator& random) {
  const auto r = static_cast<std::uint32_t>(random());
  const auto from_bits = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const auto finite = [&](std::uint32_t bits) {
    return from_bits((bits & 0x7f80'0000) == 0x7f80'0000 ? bits & 0xbfff'ffff : bits);
  };
  const auto around_one = [&] { return std::ldexp(static_cast<float>(static_cast<std::int32_t>(r)), -30); };
  switch (kind) {
    case 0:
      return around_one();
    case 1:  // any exponent
      return finite(r);
    case 2:  // subnormal
      return from_bits(r & 0x807f'ffff);
    case 3:  // subnormal with few bits
      return from_bits(r & 0x8000'03ff);
    case 4:  // constant
      return -0.7f;
    case 5:  // zeros of both signs
      return from_bits(r & 0x8000'0000);
    case 6:  // a single huge outlier
      return number == size / 2 ? std::ldexp(1.7f, 100) : around_one();
    case 7:  // not all of them numbers
      return r % 5 == 0   ? from_bits(0x7f80'0000 | (r & 0x8000'0000))
             : r % 5 == 1 ? from_bits(0x7fc0'0000 | (r & 0x803f'ffff))
                          : around_one();
    case 8:  // half integers around powers of two: ties, and largest magnitudes that round up
      return std::ldexp(static_cast<float>(static_cast<std::int32_t>(1u << (r % 17)) * 2 +
                                           static_cast<std::int32_t>(r >> 8 & 7) - 3),
                        static_cast<int>(r >> 12 & 3) - 2);
    default:  // near the top of float's range
      return from_bits((r & 0x80ff'ffff) | 0x7e80'0000);
  }
}

/// A matrix of one kind of values, row by row.
inline std::vector<float> values_of_kind(int kind, std::size_t size, generator& random) {
  std::vector<float> result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = value_of_kind(kind, i, size, random);
  return result;
}

/// How often each of them is tried.
inline constexpr int repetitions = 4;

struct extent {
  place rows, cols;
};
inline constexpr extent extents[] = {{1, 1}, {5, 7}, {4, 9}, {1, 11}, {8, 1}};

/// check.operator()<F>() for formats under exponent::max with every granularity.
template <class Round, class Check> void for_each_max_format(Check check) {
  for_each_type<granularities>([&]<class Block>() {
    check.template operator()<narrow::bfp<4, Block, Round>>();
    check.template operator()<narrow::bfp<12, Block, Round>>();
    check.template operator()<narrow::basic_int8<Block, Round>>();
  });
}
inline constexpr std::uint64_t max_formats = 3 * std::tuple_size_v<granularities>;

/// All values, row by row.
template <class F> std::vector<float> dequantized(const narrow::block_tensor<F>& t) {
  std::vector<float> values(static_cast<std::size_t>(t.size()));
  narrow::dequantize(t, values);
  return values;
}

/// Numbers around 2^exponent, of many magnitudes.
inline std::vector<float> numbers_around(int exponent, place count, generator& random) {
  std::vector<float> result(static_cast<std::size_t>(count));
  for (float& x : result)
    x = std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())),
                   exponent - 31 - static_cast<int>(below(random, 6)));
  return result;
}

// ---- the check

/// The same matrix in memory by rows or by columns.
inline std::vector<float> in_columns(const std::vector<float>& rows_first, const extent& size) {
  std::vector<float> result(rows_first.size());
  for (place i = 0; i < size.rows; ++i)
    for (place j = 0; j < size.cols; ++j)
      result[static_cast<std::size_t>(j * size.rows + i)] =
          rows_first[static_cast<std::size_t>(i * size.cols + j)];
  return result;
}

template <class F> long mantissa(const narrow::block_tensor<F>& t, place i, place j) {
  return t.view().elements(i, j);
}

/// Checks scales, mantissas, values and count of a tensor that `values`, given row by row, were quantised to.
template <class F, class Round>
void check_tensor(tally& count, const narrow::block_tensor<F>& t, const std::vector<float>& values,
                  const extent& size, const Round& round) {
  using block = typename F::block_type;
  const auto at = [&](place i, place j) { return values[static_cast<std::size_t>(i * size.cols + j)]; };
  const auto describe = [&](const char* what, place i, place j) {
    return text(name_of<F>(), name_of<Round>(), what, "of", static_cast<std::uint64_t>(size.rows), "x",
                static_cast<std::uint64_t>(size.cols), "at", i, j, "value", at(i, j), "mantissa",
                static_cast<double>(mantissa(t, i, j)), "scale", t.view().scale(i, j));
  };
  std::size_t nonfinite = 0;
  for (const float x : values) nonfinite += is_finite(x) ? 0 : 1;
  count.expect(t.nonfinite() == nonfinite && t.rows() == size.rows && t.cols() == size.cols,
               [&] { return describe("shape or count of nonfinite", 0, 0); });
  std::vector<bool> done(values.size());
  for (place i = 0; i < size.rows; ++i)
    for (place j = 0; j < size.cols; ++j) {
      if (done[static_cast<std::size_t>(i * size.cols + j)]) continue;
      std::vector<float> members;
      std::vector<std::pair<place, place>> places;
      for (place k = i; k < size.rows; ++k)
        for (place l = 0; l < size.cols; ++l)
          if (sharing<block>::same(i, j, k, l)) {
            done[static_cast<std::size_t>(k * size.cols + l)] = true;
            members.push_back(at(k, l));
            places.emplace_back(k, l);
          }
      const mpq_class scale = scale_of_block<F, Round>(members);
      for (const auto& member : places) {
        const place k = member.first, l = member.second;  // no structured binding: clang 14 captures none
        const double stored = t.view().scale(k, l);       // no float, which a processor may flush
        const long q = mantissa(t, k, l);
        count.expect(narrow::detail::is_finite(stored) && mpq_class(stored) == scale,
                     [&] { return describe("scale", k, l); });
        count.expect(
            right_mantissa<F>(at(k, l), scale, q, round, narrow::detail::element_index(k, l, size.cols)),
            [&] { return describe("mantissa", k, l); });
        const float value = t(k, l);
        count.expect(is_finite(value) && rational(value) == q * scale,
                     [&] { return describe("value", k, l); });
      }
    }
}

template <class Round> Round policy(std::uint64_t seed) {
  if constexpr (std::same_as<Round, narrow::rounding::stochastic>)
    return narrow::rounding::stochastic(seed, 77);
  else
    return Round{};
}

/// Quantises every kind of values in every shape and both orders, and checks the results.
template <class F, class Round = typename F::round_policy> void check_format(tally& count) {
  generator random(2024);
  for (const extent& size : extents)
    for (int number = 0; number < repetitions * kinds_of_values; ++number) {
      const int kind = number % kinds_of_values;
      const auto values = values_of_kind(kind, static_cast<std::size_t>(size.rows * size.cols), random);
      const auto round = policy<Round>(random());
      check_tensor(count, narrow::quantize<F>(values, size.rows, size.cols, round), values, size, round);
      const auto columns = in_columns(values, size);
      check_tensor(count, narrow::quantize<F>(narrow::column_major(columns, size.rows, size.cols), round),
                   values, size, round);
    }
}

/// How many cases `check_format` counts.
inline constexpr std::uint64_t cases_of_format =
    2 * repetitions * kinds_of_values * (5 + 3 * (1 + 35 + 36 + 11 + 8));

}  // namespace test
