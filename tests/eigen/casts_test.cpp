// Casts to narrow formats, and from them, are one rounding of the number that is cast, wherever they stand in
// an expression and however the numbers lie; what is right is taken from the exact oracle.
#include <cmath>
#include <narrow/eigen.hpp>
#include <random>

#include "catch.hpp"
#include "coefficient_bits.hpp"
#include "every_isa.hpp"
#include "oracle.hpp"
#include "policies.hpp"
#include "tally.hpp"

using namespace test;

namespace {

template <class T> using array = Eigen::Array<T, Eigen::Dynamic, 1>;
template <class T> using spread = Eigen::Map<array<T>, 0, Eigen::InnerStride<2>>;

/// Numbers of From for which a rounding to S is hard: the middle of two neighbours in S, a little more and a
/// little less, what S has no number for, and any.
template <class From, class S> From hard_number(std::mt19937_64& random) {
  const auto& numbers = oracle::table_of<S>().numbers;
  const std::size_t place = random() % (numbers.size() - 1);
  const double sign = random() % 2 == 0 ? 1 : -1, middle = (numbers[place] + numbers[place + 1]) / 2;
  if constexpr (std::integral<From>) {
    using limits = std::numeric_limits<From>;
    const auto nudge = static_cast<double>(random() % 3) - 1;
    switch (random() % 4) {
      case 0:
        return static_cast<From>(random());
      case 1:
        return random() % 2 == 0 ? limits::min() : limits::max();
      case 2:
        return static_cast<From>(random() % 256);
      default: {
        const double x = sign * middle + nudge;
        const auto least = static_cast<double>(limits::min()), most = static_cast<double>(limits::max());
        return x >= least && x < most ? static_cast<From>(x) : From{};
      }
    }
  } else {
    switch (random() % 5) {
      case 0:
        return static_cast<From>(sign * middle);
      case 1:
        return static_cast<From>(std::nextafter(sign * middle, 0.0));
      case 2:
        return static_cast<From>(std::nextafter(sign * middle, sign * HUGE_VAL));
      case 3:
        return static_cast<From>(
            sign * std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 330) - 230));
      default:
        return static_cast<From>(0 * sign);
    }
  }
}

template <class From, class S> void check_casts(const std::string& isa, tally& result) {
  std::mt19937_64 random(7);
  for (const Eigen::Index n : {1, 2, 7, 8, 15, 16, 17, 31, 33, 100, 1000}) {
    array<From> from(n), doubled(2 * n);
    for (From& x : from) x = hard_number<From, S>(random);
    const auto check = [&](const char* how, const auto& got, bool negated) {
      for (Eigen::Index i = 0; i < n; ++i) {
        const auto right = oracle::rounded(oracle::table_of<S>(), oracle::datum_of(from(i)));
        const S code = negated ? -got(i) : got(i);
        result.expect(oracle::matches(right, code), [&] {
          return text(isa, name_of<S>(), how, static_cast<long double>(from(i)), static_cast<float>(got(i)));
        });
      }
    };
    array<S> to = from.template cast<S>();
    check("alone", to, false);
    to = -from.template cast<S>();  // -0 for an integer 0
    if constexpr (!std::integral<From>) check("in an expression", to, true);
    to = from.template cast<S>() * S(1);
    check("in a product", to, false);
    spread<From>(doubled.data(), n) = from;
    to = spread<From>(doubled.data(), n).template cast<S>();
    check("from numbers with gaps", to, false);
    array<S> room = array<S>::Zero(2 * n);
    spread<S>(room.data(), n) = from.template cast<S>();
    check("to numbers with gaps", spread<S>(room.data(), n), false);
    Eigen::Array<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix(n, 3);
    matrix.setZero();
    matrix.block(0, 1, n, 1) = from.template cast<S>();
    check("to a column of rows", matrix.col(1), false);
  }
}

/// Numbers of S as ints, doubles and conditions.
template <class S> void check_casts_from(const std::string& isa, tally& result) {
  std::mt19937_64 random(11);
  for (const Eigen::Index n : {1, 3, 8, 16, 17, 40, 333}) {
    array<S> x(n), y(n);
    for (S& code : x) code = S::from_bits(static_cast<typename S::bits_type>(random()));
    for (S& code : y) code = S::from_bits(static_cast<typename S::bits_type>(random()));
    const array<double> doubles = x.template cast<double>();
    const array<bool> above = x > y, unlike = x.isNaN() || x != y;
    const auto fits = [](float a) { return std::abs(a) < 0x1p30f; };
    const array<S> small =
        x.unaryExpr([&](const S& a) { return fits(static_cast<float>(a)) ? a : S(-1.5f); });
    const array<int> integers = small.template cast<int>(), halves = (small * S(0.5f)).template cast<int>();
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto a = static_cast<float>(x(i)), b = static_cast<float>(y(i)), s = static_cast<float>(small(i));
      const bool good = (std::isnan(a) ? std::isnan(doubles(i)) : doubles(i) == double{a}) &&
                        above(i) == (a > b) && unlike(i) == (std::isnan(a) || a != b) &&
                        integers(i) == static_cast<int>(s) && halves(i) == static_cast<int>(s * 0.5f);
      result.expect(good, [&] { return text(isa, name_of<S>(), a, b, doubles(i), integers(i), halves(i)); });
    }
  }
}

using narrow_formats = some_of<narrow::all_formats, 0, 3>;

}  // namespace

TEST_CASE("a cast to a narrow format is one rounding", "[casts]") {
  tally result;
  for_each_isa([&](const std::string& isa) {
    for_each_type<narrow_formats>([&]<class S>() {
      check_casts<double, S>(isa, result);
      check_casts<float, S>(isa, result);
      check_casts<int, S>(isa, result);
      check_casts<short, S>(isa, result);
      check_casts<unsigned char, S>(isa, result);
      check_casts<long, S>(isa, result);
    });
  });
  constexpr std::uint64_t numbers = 1230, integer_kinds = 4, other_kinds = 2;
  result.require(isa_count() * std::tuple_size_v<narrow_formats> * numbers *
                 (5 * integer_kinds + 6 * other_kinds));
}

TEST_CASE("narrow numbers are cast to integers and doubles, and compared into conditions", "[casts]") {
  tally result;
  for_each_isa([&](const std::string& isa) {
    for_each_type<narrow_formats>([&]<class S>() { check_casts_from<S>(isa, result); });
  });
  result.require(isa_count() * std::tuple_size_v<narrow_formats> * 418);
}
