// Products of integers of 17 to 32 bits: exact sums, and what becomes of them.
#include <gmpxx.h>

#include <narrow/narrow.hpp>
#include <random>
#include <vector>

#include "catch.hpp"
#include "exact_integers.hpp"
#include "tally.hpp"

using namespace narrow;
using detail::int128;
using test::tally;

namespace {

using place = std::ptrdiff_t;

mpz_class exact(int128 x) { return test::exact_integer(x); }

enum class pattern { lowest, highest, carrying, any };

/// Mantissas of a word length: at its ends, about the carries of digits of 16 bits, or anywhere.
template <class T> std::vector<T> mantissas(place n, int wl, pattern which, unsigned seed) {
  const std::int64_t end = std::int64_t{1} << (wl - 1);
  const std::int64_t carrying[] = {
      0x7fff,     0x8000,      0x8001,      -0x7fff, -0x8000, -0x8001, 0x17fff, -0x18000, 0x7fff8000,
      0x7fff7fff, -0x7fff8000, -0x7fff8001, end - 1, -end,    1,       -1,      0};
  std::mt19937_64 random(seed);
  std::vector<T> result(static_cast<std::size_t>(n));
  for (T& x : result) {
    const std::int64_t anywhere = static_cast<std::int64_t>(random()) >> (64 - wl);
    const std::int64_t edge = std::clamp(carrying[random() % std::size(carrying)], -end, end - 1);
    x = static_cast<T>(which == pattern::lowest     ? -end
                       : which == pattern::highest  ? end - 1
                       : which == pattern::carrying ? edge
                                                    : anywhere);
  }
  return result;
}

enum class layout { by_rows, by_columns, spread };

/// A matrix that lies in one of these ways, and its elements.
template <class T> struct matrix {
  std::vector<T> stored;
  matrix_view<const T> view;

  matrix(place rows, place cols, layout lies, int wl, pattern which, unsigned seed)
      : stored(mantissas<T>(rows * cols * (lies == layout::spread ? 2 : 1), wl, which, seed)) {
    view = {stored.data(), rows, cols, 1, rows};
    if (lies == layout::by_rows) view = {stored.data(), rows, cols, cols, 1};
    if (lies == layout::spread) view = {stored.data(), rows, cols, 2, 2 * rows};
  }
};

struct product_case {
  place rows, depth, cols;
  int a_wl, b_wl;
  pattern a, b;
  layout a_lies, b_lies;
};

template <class A, class B> void check(tally& count, const product_case& p) {
  const matrix<A> a(p.rows, p.depth, p.a_lies, p.a_wl, p.a, 1);
  const matrix<B> b(p.depth, p.cols, p.b_lies, p.b_wl, p.b, 2);
  std::vector<int128> sums(static_cast<std::size_t>(p.rows * p.cols));
  std::vector<int> stored(sums.size());
  kernel::integer_product<A, B>(a.view, b.view,
                                {std::int64_t{1} << (p.a_wl - 1), std::int64_t{1} << (p.b_wl - 1)},
                                [&](auto, place row, place col, const auto& tile) {
                                  for (place i = 0; i < tile.rows; ++i)
                                    for (place j = 0; j < tile.cols; ++j) {
                                      const auto at = static_cast<std::size_t>((row + i) * p.cols + col + j);
                                      sums[at] = tile(i, j);
                                      ++stored[at];
                                    }
                                });
  for (place i = 0; i < p.rows; ++i)
    for (place j = 0; j < p.cols; ++j) {
      mpz_class right = 0;
      for (place k = 0; k < p.depth; ++k) {
        const mpz_class factor(static_cast<long>(a.view(i, k)));
        const long other = b.view(k, j);
        if (other < 0)
          mpz_submul_ui(right.get_mpz_t(), factor.get_mpz_t(), static_cast<unsigned long>(-other));
        else
          mpz_addmul_ui(right.get_mpz_t(), factor.get_mpz_t(), static_cast<unsigned long>(other));
      }
      const auto at = static_cast<std::size_t>(i * p.cols + j);
      count.expect(stored[at] == 1 && exact(sums[at]) == right, [&] {
        return std::to_string(p.rows) + " x " + std::to_string(p.depth) + " x " + std::to_string(p.cols) +
               ", WL " + std::to_string(p.a_wl) + " and " + std::to_string(p.b_wl) + ", at " +
               std::to_string(i) + ", " + std::to_string(j) + ": " + exact(sums[at]).get_str() + ", not " +
               right.get_str();
      });
    }
}

constexpr pattern patterns[] = {pattern::lowest, pattern::highest, pattern::carrying, pattern::any};
constexpr layout layouts[] = {layout::by_rows, layout::by_columns, layout::spread};

/// Every pair of patterns, in a few shapes and all layouts.
template <class A, class B> void check_widths(tally& count, int a_wl, int b_wl) {
  unsigned next = 0;
  for (const pattern a : patterns)
    for (const pattern b : patterns)
      for (const auto& [rows, depth, cols] : {std::array<place, 3>{15, 129, 17}, {9, 1, 120}, {40, 2, 30}}) {
        const layout left = layouts[next % 3], right = layouts[next / 3 % 3];
        ++next;
        check<A, B>(count, {rows, depth, cols, a_wl, b_wl, a, b, left, right});
      }
}

}  // namespace

TEST_CASE("Sums of products of 17 to 32 bits are exact", "[kernel][wide]") {
  tally count;
  for (const int wl : {17, 24, 25, 26, 27, 31, 32}) check_widths<std::int32_t, std::int32_t>(count, wl, wl);
  check_widths<std::int32_t, std::int32_t>(count, 17, 32);
  check_widths<std::int32_t, std::int32_t>(count, 32, 18);
  count.require(9 * 16 * (15 * 17 + 9 * 120 + 40 * 30));
}

TEST_CASE("Integers of different widths multiply exactly", "[kernel][wide]") {
  tally count;
  for (const int wl : {17, 24, 32}) {
    check_widths<std::int32_t, std::int8_t>(count, wl, 8);
    check_widths<std::int8_t, std::int32_t>(count, 8, wl);
    check_widths<std::int32_t, std::int16_t>(count, wl, 16);
    check_widths<std::int16_t, std::int32_t>(count, 16, wl);
  }
  count.require(12 * 16 * (15 * 17 + 9 * 120 + 40 * 30));
}

TEST_CASE("Sums are exact however the depth is cut", "[kernel][wide]") {
  tally count;
  for (const place depth : {3, 7, 8, 9, 127, 128, 255, 257, 1023, 1024, 1025, 2049})
    for (const int wl : {20, 24, 26, 32})
      for (const pattern p : {pattern::lowest, pattern::any})
        check<std::int32_t, std::int32_t>(
            count, {7, depth, 25, wl, wl, p, pattern::lowest, layout::by_rows, layout::by_rows});
  count.require(12 * 4 * 2 * 7 * 25);
}

TEST_CASE("Sums of more than 65536 terms are exact", "[kernel][wide]") {
  tally count;
  for (const int wl : {17, 24, 32})
    for (const pattern p : {pattern::lowest, pattern::highest})
      check<std::int32_t, std::int32_t>(
          count, {6, 70'000, 20, wl, wl, pattern::lowest, p, layout::by_rows, layout::by_columns});
  check<std::int16_t, std::int32_t>(
      count, {6, 70'000, 20, 16, 32, pattern::lowest, pattern::lowest, layout::by_columns, layout::by_rows});
  count.require(7 * 6 * 20);
}

TEST_CASE("Products with vectors are exact", "[kernel][wide]") {
  tally count;
  for (const int wl : {17, 24, 32})
    for (const layout lies : layouts)
      for (const pattern p : patterns) {
        check<std::int32_t, std::int32_t>(count, {1, 1100, 130, wl, wl, p, pattern::lowest, lies, lies});
        check<std::int32_t, std::int32_t>(count, {130, 1100, 1, wl, wl, pattern::carrying, p, lies, lies});
        check<std::int8_t, std::int32_t>(count, {1, 300, 130, 8, wl, p, pattern::any, lies, lies});
        check<std::int32_t, std::int8_t>(count, {130, 300, 1, wl, 8, p, pattern::any, lies, lies});
        check<std::int32_t, std::int32_t>(count, {1, 500, 1, wl, wl, p, pattern::lowest, lies, lies});
      }
  count.require(3 * 3 * 4 * (4 * 130 + 1));
}

TEST_CASE("Blocks of sums, and threads that share them, give all sums", "[kernel][wide]") {
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    tally count;
    check<std::int32_t, std::int32_t>(
        count, {300, 1100, 13, 32, 32, pattern::any, pattern::any, layout::by_columns, layout::by_rows});
    check<std::int32_t, std::int32_t>(
        count, {13, 1100, 300, 24, 24, pattern::any, pattern::any, layout::by_rows, layout::by_columns});
    check<std::int32_t, std::int32_t>(
        count, {40, 30, 2500, 32, 32, pattern::any, pattern::any, layout::by_rows, layout::by_rows});
    count.require(2 * 300 * 13 + 40 * 2500);
  }
  set_num_threads(1);
}

TEST_CASE("Wide sums become the nearest floats", "[kernel][wide]") {
  tally count;
  const auto check_float = [&](int128 x) {
    // 24 bits of the magnitude, ties to even.
    const mpz_class whole = exact(x), magnitude = abs(whole);
    const auto bits = sgn(magnitude) == 0 ? std::size_t{0} : mpz_sizeinbase(magnitude.get_mpz_t(), 2);
    mpz_class right = magnitude;
    if (bits > 24) {
      const mpz_class unit = mpz_class(1) << static_cast<unsigned long>(bits - 24);
      const mpz_class rest = magnitude % unit, kept = magnitude / unit;
      const bool up = 2 * rest > unit || (2 * rest == unit && kept % 2 != 0);
      right = (kept + (up ? 1 : 0)) * unit;
    }
    const double got = detail::nearest_float(x);
    count.expect(mpz_class(got) == (sgn(whole) < 0 ? mpz_class(-right) : right),
                 [&] { return whole.get_str() + " gives " + std::to_string(got); });
  };
  std::mt19937_64 random(3);
  for (int bit = 0; bit < 98; ++bit)
    for (const std::int64_t near : {-1, 0, 1})
      for (int half = 0; half < 64; ++half) {
        const int128 one = int128{1} << bit;
        const int128 x = one + (half < 25 ? one >> half : 0) + (half < 40 ? one >> 24 : 0) + near;
        check_float(x);
        check_float(-x);
        const auto low = static_cast<std::int64_t>(random());
        check_float((int128{low} << 34 | static_cast<std::int64_t>(random() >> 30)) >> (98 - bit));
      }
  count.require(98 * 3 * 64 * 3);
}
