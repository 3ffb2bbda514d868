// Doubles, long doubles and wide integers in block formats: each is the exact quotient rounded once, and the
// scale is that of the exact magnitudes. Against GMP's rationals, on every instruction set.
#include "block_oracle.hpp"
#include "every_isa.hpp"
#include "exact_integers.hpp"

using namespace test;
namespace rounding = narrow::rounding;

namespace {

// ---- numbers

mpq_class exact(double x) { return mpq_class(x); }
mpq_class exact(long double x) {
  int exponent = 0;
  const auto significand = static_cast<long double>(std::frexp(x, &exponent));
  const auto upper = static_cast<double>(significand);  // the rest has fewer bits than a double
  const auto lower = static_cast<double>(significand - upper);
  return (mpq_class(upper) + mpq_class(lower)) * power(exponent);
}
mpq_class exact(std::int32_t x) { return mpq_class(x); }
mpq_class exact(std::int64_t x) { return mpq_class(test::exact_integer(x)); }
mpq_class exact(std::uint64_t x) { return mpq_class(test::exact_integer(x)); }
mpq_class exact(narrow::fixed<32, 20> x) { return mpq_class(static_cast<double>(x)); }

template <class T> bool is_number(T x) {
  if constexpr (std::floating_point<T>)
    return std::isfinite(x);
  else
    return true;
}
template <class T> bool is_not_a_number(T x) {
  if constexpr (std::floating_point<T>)
    return std::isnan(x);
  else
    return false;
}
template <class T> bool is_negative(T x) {
  if constexpr (std::floating_point<T>)
    return std::signbit(x);
  else
    return x < T(0);
}

const mpq_class& largest_float() {
  static const mpq_class result(double{std::numeric_limits<float>::max()});
  return result;
}

/// The exponent of the leading bit, or one more.
int about_log2(const mpq_class& x) {
  return static_cast<int>(mpz_sizeinbase(x.get_num_mpz_t(), 2)) -
         static_cast<int>(mpz_sizeinbase(x.get_den_mpz_t(), 2)) + 1;
}

// ---- formats

enum class kept { largest, smallest, mean };  // of what a scale is to keep bits

/// What the expected results follow from.
struct facts {
  int width;  // of a mantissa, sign included
  bool power_of_two = true;
  kept of = kept::largest;
  int bits = 0;
};
template <class F> struct facts_of;
template <int M, class Block, class Round>
struct facts_of<narrow::bfp<M, Block, Round, narrow::exponent::max>> {
  static constexpr facts value{M};
};
template <int M, class Block, class Round, int Bits>
struct facts_of<narrow::bfp<M, Block, Round, narrow::exponent::min<Bits>>> {
  static constexpr facts value{M, true, kept::smallest, Bits == 0 ? (M + 1) / 2 : Bits};
};
template <int M, class Block, class Round, int Bits>
struct facts_of<narrow::bfp<M, Block, Round, narrow::exponent::avg<Bits>>> {
  static constexpr facts value{M, true, kept::mean, Bits == 0 ? (M + 1) / 2 : Bits};
};
template <class Block, class Round> struct facts_of<narrow::basic_int8<Block, Round>> {
  static constexpr facts value{8, false};
};

template <class Round> mpq_class step_that_fits(const mpq_class& largest, int width) {
  const mpz_class limit = oracle::power_of_two(width - 1) - 1;
  int e = std::max(-149, about_log2(largest) - width - 2);  // where it does not fit, or the smallest
  while (e < 129 - width && farthest_integer<Round>(mpq_class(largest / power(e))) > limit) ++e;
  return power(std::min(e, 129 - width));
}

/// The scale of a block of finite numbers, none of them beyond float's range.
template <class Round> mpq_class expected_scale(const facts& f, const std::vector<mpq_class>& magnitudes) {
  mpq_class largest = 0, smallest = 0, sum = 0;
  for (const auto& x : magnitudes) {
    largest = std::max(largest, x);
    if (sgn(x) != 0 && (sgn(smallest) == 0 || x < smallest)) smallest = x;
    sum += x;
  }
  if (sgn(largest) == 0) return power(-149);
  const auto keeping = [&](const mpq_class& x) {
    int e = std::min(129 - f.width, std::max(-149, about_log2(x) + 2 - f.bits));
    while (e > -149 && x < power(e + f.bits - 1)) --e;
    return power(e);
  };
  if (f.of == kept::smallest) return keeping(smallest);
  if (f.of == kept::mean) return keeping(sum / static_cast<unsigned long>(magnitudes.size()));
  if (f.power_of_two) return step_that_fits<Round>(largest, f.width);
  const mpq_class step = largest / 127;
  int unit = about_log2(step) + 1;  // of the last of 17 bits
  while (step < power(unit + 16)) --unit;
  if (unit < -149) return step_that_fits<Round>(largest, 8);
  const mpq_class scaled = step / power(unit);
  return mpz_class(scaled.get_num() / scaled.get_den()) * power(unit);
}

/// |x| between two neighbours that are `lower` and `upper`, or at the lower one; whether it becomes the upper
/// one.
template <class Round>
bool goes_up(const mpq_class& magnitude, const mpq_class& lower, const mpq_class& upper, bool negative,
             bool lower_is_even, const Round& round, std::uint64_t element) {
  if (magnitude == lower) return false;
  if constexpr (std::same_as<Round, rounding::stochastic>) {
    const std::uint64_t at = round.offset() + element;
    const std::uint32_t draw =
        narrow::detail::random_bits({round.seed(), at}, static_cast<std::uint32_t>(at));
    const mpq_class fraction = (magnitude - lower) / (upper - lower) * power(32);
    return mpz_class(fraction.get_num() / fraction.get_den()) + draw >= oracle::power_of_two(32);
  } else {
    const int side = cmp(mpq_class(2 * magnitude), mpq_class(lower + upper));
    const auto where = side < 0   ? oracle::position::low_half
                       : side > 0 ? oracle::position::high_half
                                  : oracle::position::middle;
    return oracle::choose(Round{}, where, negative, lower_is_even) == oracle::neighbour::upper;
  }
}

/// The integer from -limit to limit that x becomes in steps of `scale`.
template <class T, class Round>
long expected_mantissa(T x, const mpq_class& scale, const mpz_class& lowest, const mpz_class& highest,
                       const Round& round, std::uint64_t element) {
  if (is_not_a_number(x)) return 0;
  const bool negative = is_negative(x);
  const mpz_class limit = negative ? mpz_class(-lowest) : highest;
  mpz_class result = limit;
  if (is_number(x)) {
    const mpq_class quotient = abs(exact(x)) / scale;
    const mpz_class whole = quotient.get_num() / quotient.get_den();
    result = whole + (goes_up(quotient, whole, mpq_class(whole + 1), negative, mpz_class(whole % 2) == 0,
                              round, element)
                          ? 1
                          : 0);
    result = std::min(result, limit);
  }
  return negative ? -result.get_si() : result.get_si();
}

// ---- inputs

constexpr int kinds_of_doubles = 12;

double finite_double(std::uint64_t bits) {
  constexpr std::uint64_t exponent = 0x7ff0'0000'0000'0000;
  return std::bit_cast<double>((bits & exponent) == exponent ? bits & ~(std::uint64_t{1} << 62) : bits);
}
double next(double x, int ulps) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) +
                               static_cast<std::uint64_t>(std::int64_t{ulps}));
}

/// A matrix of one kind, around where the format of these facts decides.
std::vector<double> doubles_of_kind(int kind, std::size_t size, const facts& f, generator& random) {
  const auto any = [&] { return static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63; };
  const auto sign = [&] { return random() % 2 == 0 ? 1.0 : -1.0; };
  const auto nearby = [&] { return static_cast<int>(below(random, 5)) - 2; };  // ulps
  std::vector<double> x(size);
  // Of exponents that floats have, subnormal ones among them.
  const double top = std::ldexp(1.0 + std::abs(any()), static_cast<int>(below(random, 276)) - 149);
  const double limit = std::ldexp(1.0, f.width - 1) - 1;
  const auto scale = [&](double largest) {
    return expected_scale<rounding::nearest_even>(f.of == kept::largest ? f : facts{f.width},
                                                  {mpq_class(largest)})
        .get_d();
  };
  switch (kind) {
    case 0:
      for (double& a : x) a = any();
      break;
    case 1:  // near ties and integers
    case 2:  // the same where floats are subnormal
    {
      const double largest =
          kind == 1 ? top : std::ldexp(top, -149 - std::ilogb(top) + static_cast<int>(below(random, 20)));
      const double step = scale(largest);
      for (double& a : x)
        a = sign() *
            next(step * 0.5 * static_cast<double>(below(random, static_cast<std::uint32_t>(2 * limit)) + 1),
                 nearby());
      x[below(random, static_cast<std::uint32_t>(size))] = largest;
      break;
    }
    case 3:  // near the largest magnitude that a scale reaches
    {
      const double step = scale(top);
      const double factors[] = {limit, limit + 0.5, limit + 1, limit - 0.5, limit / 2};
      for (double& a : x) a = sign() * any() * step;
      x[0] = sign() * next(step * factors[below(random, 5)], nearby());
      break;
    }
    case 4:  // any exponent
      for (double& a : x) a = finite_double(random());
      break;
    case 5:  // below 2^-144
      for (double& a : x) a = any() * 0x1p-144;
      break;
    case 6:  // below them, where doubles are subnormal
      for (double& a : x)
        a = std::bit_cast<double>(random() & 0x800f'ffff'ffff'ffff) * (random() % 4 == 0 ? 0x1p900 : 1);
      break;
    case 7:  // around the end of float's range, and beyond
      for (double& a : x)
        a = sign() * std::ldexp(1 + std::abs(any()), 120 + static_cast<int>(below(random, 16)));
      x[size / 2] = next(double{std::numeric_limits<float>::max()}, nearby());
      break;
    case 8:  // not all of them numbers
      for (double& a : x) {
        const std::uint64_t r = random();
        a = r % 5 == 0   ? std::bit_cast<double>(0x7ff0'0000'0000'0000 | (r & 0x8000'0000'0000'0000))
            : r % 5 == 1 ? std::bit_cast<double>(0x7ff0'0000'0000'0001 | r)
                         : any();
      }
      break;
    case 9:  // one far larger
      for (double& a : x) a = any() * 0x1p-30;
      x[size / 3] = 1e300;
      break;
    case 10:  // constant: the mean and the smallest are the largest
      std::fill(x.begin(), x.end(),
                next(std::ldexp(1.0, static_cast<int>(below(random, 40)) - 160), nearby()));
      break;
    default:  // zeros of both signs
      for (double& a : x) a = sign() * 0.0;
      break;
  }
  return x;
}

// ---- the check

template <class F, class T>
std::vector<std::pair<place, place>> members(const extent& size, place i, place j) {
  std::vector<std::pair<place, place>> result;
  for (place k = i; k < size.rows; ++k)
    for (place l = 0; l < size.cols; ++l)
      if (sharing<typename F::block_type>::same(i, j, k, l)) result.emplace_back(k, l);
  return result;
}

/// The magnitudes that scales follow from.
template <class T>
std::vector<mpq_class> magnitudes_in(const std::vector<T>& values, const extent& size,
                                     const std::vector<std::pair<place, place>>& block) {
  std::vector<mpq_class> result;
  for (const auto& [k, l] : block) {
    const T x = values[static_cast<std::size_t>(k * size.cols + l)];
    if (is_number(x)) result.push_back(std::min(mpq_class(abs(exact(x))), largest_float()));
  }
  return result;
}

struct expected_tensor {
  std::vector<double> scales;  // of the block of each element, exact
  std::vector<long> mantissas;
  std::size_t nonfinite = 0;
};

template <class F, class T, class Round>
expected_tensor expected_of(const std::vector<T>& values, const extent& size, const Round& round) {
  constexpr facts f = facts_of<F>::value;
  const mpz_class limit = oracle::power_of_two(f.width - 1) - 1;
  expected_tensor result{std::vector<double>(values.size()), std::vector<long>(values.size())};
  std::vector<bool> done(values.size());
  for (place i = 0; i < size.rows; ++i)
    for (place j = 0; j < size.cols; ++j) {
      if (done[static_cast<std::size_t>(i * size.cols + j)]) continue;
      const auto block = members<F, T>(size, i, j);
      const mpq_class scale = expected_scale<Round>(f, magnitudes_in(values, size, block));
      for (const auto& [k, l] : block) {
        const auto at = static_cast<std::size_t>(k * size.cols + l);
        done[at] = true;
        result.scales[at] = scale.get_d();
        result.mantissas[at] = expected_mantissa(values[at], scale, mpz_class(-limit), limit, round,
                                                 narrow::detail::element_index(k, l, size.cols));
        result.nonfinite += is_number(values[at]) ? 0 : 1;
      }
    }
  return result;
}

template <class F, class T>
void compare(tally& count, const narrow::block_tensor<F>& t, const expected_tensor& expected,
             const std::vector<T>& values, const extent& size, const std::string& how) {
  std::size_t at = 0;
  bool right = t.rows() == size.rows && t.cols() == size.cols && t.nonfinite() == expected.nonfinite;
  std::string where = right ? "" : "shape or count";
  for (place i = 0; right && i < size.rows; ++i)
    for (place j = 0; right && j < size.cols; ++j, ++at) {
      const auto scale = static_cast<float>(t.view().scale(i, j));
      right = double{scale} == expected.scales[at] && mantissa(t, i, j) == expected.mantissas[at];
      if (!right)
        where = text(i, j, static_cast<double>(values[at]), "scale", scale, "not", expected.scales[at],
                     "mantissa", static_cast<double>(mantissa(t, i, j)), "not",
                     static_cast<double>(expected.mantissas[at]));
    }
  count.expect(right, [&] { return text(name_of<F>(), name_of<T>(), how, where); });
}

/// From a range, from a function of (row, column), by columns, and in parts; on every instruction set.
template <class F, class T, class Round>
void check_values(tally& count, const std::vector<T>& values, const extent& size, const Round& round) {
  const auto expected = expected_of<F>(values, size, round);
  const std::string name = name_of<Round>();
  std::vector<T> columns(values.size());
  for (place i = 0; i < size.rows; ++i)
    for (place j = 0; j < size.cols; ++j)
      columns[static_cast<std::size_t>(j * size.rows + i)] =
          values[static_cast<std::size_t>(i * size.cols + j)];
  for_each_isa([&](const std::string& isa) {
    compare(count, narrow::quantize<F>(values, size.rows, size.cols, round), expected, values, size,
            name + isa);
    compare(count, narrow::quantize<F>(narrow::column_major(columns, size.rows, size.cols), round), expected,
            values, size, name + isa + " by columns");
    narrow::block_tensor<F> computed;
    computed.assign(
        size.rows, size.cols,
        [&](place i, place j) { return values[static_cast<std::size_t>(i * size.cols + j)]; }, round);
    compare(count, computed, expected, values, size, name + isa + " computed");
  });
}

constexpr std::uint64_t ways = 3;

using roundings = std::tuple<rounding::nearest_even, rounding::nearest_away, rounding::toward_zero,
                             rounding::upward, rounding::downward, rounding::to_odd, rounding::stochastic>;
constexpr std::size_t rounding_count = std::tuple_size_v<roundings>;

/// So many matrices of each kind, every other one rounded by another policy.
template <class F> void check_doubles(tally& count, int matrices, const extent& size, std::uint64_t seed) {
  generator random(seed);
  for (int number = 0; number < matrices; ++number)
    for (int kind = 0; kind < kinds_of_doubles; ++kind) {
      const auto values =
          doubles_of_kind(kind, static_cast<std::size_t>(size.rows * size.cols), facts_of<F>::value, random);
      const auto which = static_cast<std::size_t>(number + kind) % rounding_count;
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        const std::uint64_t draws = random();
        ((which == I ? check_values<F>(count, values, size, policy<std::tuple_element_t<I, roundings>>(draws))
                     : void()),
         ...);
      }
      (std::make_index_sequence<rounding_count>{});
    }
}

template <class> struct bfp_of_all_widths;
template <std::size_t... I> struct bfp_of_all_widths<std::index_sequence<I...>> {
  using type = std::tuple<narrow::bfp<static_cast<int>(I) + 2>...>;
};
using whole_matrices = decltype(std::tuple_cat(bfp_of_all_widths<std::make_index_sequence<15>>::type{},
                                               std::tuple<narrow::int8>{}));
template <class Round, class Exponent> using bfp_by = narrow::bfp<8, narrow::per_tensor, Round, Exponent>;
using nearest = rounding::nearest_even;
using other_formats =
    std::tuple<narrow::bfp<8, narrow::per_row>, narrow::bfp<8, narrow::per_column>,
               narrow::bfp<12, narrow::tile<2, 3>>, narrow::bfp<4, narrow::tile<16, 16>>,
               narrow::basic_int8<narrow::per_row>, narrow::basic_int8<narrow::per_column>,
               narrow::basic_int8<narrow::tile<2, 3>>, narrow::basic_int8<narrow::tile<16, 16>>,
               bfp_by<nearest, narrow::exponent::min<>>, bfp_by<nearest, narrow::exponent::min<7>>,
               bfp_by<nearest, narrow::exponent::avg<>>, bfp_by<nearest, narrow::exponent::avg<1>>,
               narrow::bfp<2, narrow::tile<2, 3>, nearest, narrow::exponent::avg<>>,
               narrow::bfp<16, narrow::per_row, nearest, narrow::exponent::avg<>>,
               narrow::bfp<16, narrow::per_column, nearest, narrow::exponent::min<>>>;

// ---- other types than double

/// As long doubles, nearer still to where something is decided, and further away than doubles go.
std::vector<long double> long_doubles_of_kind(int kind, std::size_t size, const facts& f, generator& random) {
  std::vector<long double> result;
  for (const double x : doubles_of_kind(kind, size, f, random)) {
    constexpr long double ends[] = {-std::numeric_limits<long double>::infinity(),
                                    std::numeric_limits<long double>::infinity()};
    long double wide = x;
    if (const auto which = below(random, 3); which < 2 && wide != 0) wide = std::nextafter(wide, ends[which]);
    if (kind == 4 && below(random, 8) == 0) wide = std::ldexp(wide, below(random, 2) == 0 ? 9000 : -9000);
    result.push_back(wide);
  }
  return result;
}

template <class T> T integer(generator& random) {
  const auto any = static_cast<std::uint64_t>(random());
  const std::uint64_t power = std::uint64_t{1} << below(random, 64),
                      near = static_cast<std::uint64_t>(below(random, 5)) - 2;
  if constexpr (narrow::narrow_scalar<T>)
    return T::from_bits(static_cast<typename T::bits_type>(any));
  else
    return static_cast<T>(below(random, 2) == 0 ? any >> below(random, 64) : power + near);
}

/// Of one magnitude, so that most of them count.
template <class T> std::vector<T> integers(std::size_t size, generator& random) {
  std::vector<T> result;
  const int cut = static_cast<int>(below(random, 56));
  for (std::size_t i = 0; i < size; ++i) {
    T x = integer<T>(random);
    if constexpr (!narrow::narrow_scalar<T>)
      if (below(random, 4) != 0) x = static_cast<T>(x >> cut);
    result.push_back(x);
  }
  return result;
}

/// check.operator()<Round>(round).
template <class Check> void for_each_rounding(generator& random, Check check) {
  for_each_type<roundings>([&]<class Round>() { check.template operator()<Round>(policy<Round>(random())); });
}

template <class F> void check_other_types(tally& count, int matrices, const extent& size) {
  generator random(7);
  const auto n = static_cast<std::size_t>(size.rows * size.cols);
  for (int number = 0; number < matrices; ++number)
    for_each_rounding(random, [&]<class Round>(const Round& round) {
      for (int kind = 0; kind < kinds_of_doubles; ++kind)
        check_values<F>(count, long_doubles_of_kind(kind, n, facts_of<F>::value, random), size, round);
      check_values<F>(count, integers<std::int64_t>(n, random), size, round);
      check_values<F>(count, integers<std::uint64_t>(n, random), size, round);
      check_values<F>(count, integers<std::int32_t>(n, random), size, round);
      check_values<F>(count, integers<narrow::fixed<32, 20>>(n, random), size, round);
    });
}
constexpr std::uint64_t matrices_of_other_types = rounding_count * (kinds_of_doubles + 4);

// ---- clipping values from outside, and parts

template <class F> void check_clips(tally& count, int matrices, const extent& size) {
  generator random(8);
  const facts f = facts_of<F>::value;
  const mpz_class limit = oracle::power_of_two(f.width - 1) - 1;
  for (int number = 0; number < matrices; ++number)
    for_each_rounding(random, [&]<class Round>(const Round& round) {
      for (int kind = 0; kind < kinds_of_doubles; ++kind) {
        const auto values = doubles_of_kind(kind, static_cast<std::size_t>(size.rows * size.cols), f, random);
        float clip = std::bit_cast<float>(static_cast<std::uint32_t>(random() % 0x7f80'0000));
        if (kind == 5 || kind == 6) clip = std::bit_cast<float>(static_cast<std::uint32_t>(random() % 0x400));
        facts clipped = f;
        clipped.of = kept::largest;
        expected_tensor expected;
        const mpq_class scale = expected_scale<Round>(clipped, {mpq_class(clip)});
        expected.scales.assign(values.size(), scale.get_d());
        for (std::size_t i = 0; i < values.size(); ++i) {
          expected.mantissas.push_back(
              expected_mantissa(values[i], scale, mpz_class(-limit), limit, round, i));
          expected.nonfinite += is_number(values[i]) ? 0 : 1;
        }
        for_each_isa([&](const std::string& isa) {
          narrow::block_tensor<F> t;
          t.assign(narrow::row_major(values, size.rows, size.cols), round, std::span<const float>(&clip, 1));
          compare(count, t, expected, values, size, name_of<Round>() + isa + " clipped");
        });
      }
    });
}

/// A number written where there are zeros takes the scale that it needs; where that one is, others are
/// rounded into it.
template <class F> void check_writes(tally& count, int matrices) {
  generator random(9);
  const extent size{3, 4};
  for (int number = 0; number < matrices; ++number)
    for_each_rounding(random, [&]<class Round>(const Round& round) {
      for (int kind = 0; kind < kinds_of_doubles; ++kind) {
        const auto values = doubles_of_kind(kind, 12, facts_of<F>::value, random);
        const auto expected = expected_of<F>(values, size, round);
        const auto largest =
            static_cast<place>(std::max_element(values.begin(), values.end(),
                                                [](double a, double b) {
                                                  return (std::isfinite(a) ? std::abs(a) : 0) <
                                                         (std::isfinite(b) ? std::abs(b) : 0);
                                                }) -
                               values.begin());
        for_each_isa([&](const std::string& isa) {
          narrow::block_tensor<F> t(size.rows, size.cols), parts(size.rows, size.cols);
          t.write(0, 0, narrow::row_major(values, size.rows, size.cols), round);
          compare(count, t, expected, values, size, name_of<Round>() + isa + " written");
          const auto write = [&](place at) {
            parts.write(at / size.cols, at % size.cols,
                        narrow::matrix_view<const double>{&values[static_cast<std::size_t>(at)], 1, 1, 1, 1},
                        round);
          };
          write(largest);
          for (place at = 0; at < 12; ++at)
            if (at != largest) write(at);
          compare(count, parts, expected, values, size, name_of<Round>() + isa + " written one by one");
        });
      }
    });
}

// ---- elements of other kinds

/// Every magnitude that an element of an MX format can be, and whether its last bit is 0.
template <class Element> std::vector<std::pair<mpq_class, bool>> magnitudes_of_elements() {
  using stored = typename narrow::mx<Element>::element_type;
  std::vector<std::pair<mpq_class, bool>> result;
  for (int code = 0; code < 256; ++code) {
    const auto x = static_cast<float>(stored::from_bits(static_cast<typename stored::bits_type>(code)));
    if (is_finite(x) && !std::signbit(x)) result.emplace_back(rational(x), code % 2 == 0);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

template <class Element, class T, class Round>
void check_mx(tally& count, const std::vector<T>& values, const extent& size, const Round& round) {
  using format = narrow::mx<Element>;
  static const auto all = magnitudes_of_elements<Element>();
  const mpq_class largest_element = all.back().first;
  int leading = 8;  // of the largest element
  while (leading > -8 && largest_element < power(leading)) --leading;
  while (largest_element >= power(leading + 1)) ++leading;
  std::vector<mpq_class> expected;
  std::vector<int> exponents;  // 255: the scale is NaN
  for (place i = 0; i < size.rows; ++i)
    for (place j = 0; j < size.cols; ++j) {
      const place first = j / 32 * 32, last = std::min(first + 32, size.cols);
      mpq_class largest = 0;
      bool finite = true;
      for (place k = first; k < last; ++k) {
        const T x = values[static_cast<std::size_t>(i * size.cols + k)];
        finite = finite && is_number(x);
        if (is_number(x)) largest = std::max(largest, std::min(mpq_class(abs(exact(x))), largest_float()));
      }
      int exponent = -127;
      if (sgn(largest) != 0) {
        exponent = about_log2(largest) + 1;
        while (largest < power(exponent)) --exponent;
        exponent = std::clamp(exponent - leading, -127, 127);
      }
      exponents.push_back(finite ? exponent : 255);
      const T x = values[static_cast<std::size_t>(i * size.cols + j)];
      mpq_class element = 0;
      if (finite) {
        const mpq_class magnitude = abs(exact(x)) / power(exponent);
        const auto above =
            std::upper_bound(all.begin(), all.end(), magnitude,
                             [](const mpq_class& m, const auto& entry) { return m < entry.first; });
        element = largest_element;
        if (above != all.end()) {
          const auto lower = above - 1;
          const bool up = goes_up(magnitude, lower->first, above->first, is_negative(x), lower->second, round,
                                  narrow::detail::element_index(i, j, size.cols));
          element = up ? above->first : lower->first;
        }
        if (is_negative(x)) element = -element;
      }
      expected.push_back(element);
    }
  for_each_isa([&](const std::string& isa) {
    const auto t = narrow::quantize<format>(values, size.rows, size.cols, round);
    bool right = true;
    std::string where;
    std::size_t at = 0;
    for (place i = 0; i < size.rows; ++i)
      for (place j = 0; j < size.cols; ++j, ++at) {
        const auto scale = static_cast<float>(t.view().scale(i, j));
        const auto element = static_cast<float>(t.view().elements(i, j));
        const bool same = exponents[at] == 255
                              ? is_nan(scale)
                              : is_finite(scale) && rational(scale) == power(exponents[at]) &&
                                    is_finite(element) && rational(element) == expected[at];
        if (!same && right)
          where = text(i, j, static_cast<double>(values[at]), "scale", scale, "element", element, "not",
                       expected[at].get_d());
        right = right && same;
      }
    count.expect(right, [&] { return text(name_of<format>(), name_of<T>(), name_of<Round>(), isa, where); });
  });
}

template <class T, class Round>
void check_fixed(tally& count, const std::vector<T>& values, const extent& size,
                 const narrow::fixed_format& f, const Round& round) {
  const mpz_class end = oracle::power_of_two(f.wl - 1);
  std::vector<long> expected;
  for (std::size_t i = 0; i < values.size(); ++i)
    expected.push_back(
        expected_mantissa(values[i], power(-f.fl), mpz_class(-end), mpz_class(end - 1), round, i));
  for_each_isa([&](const std::string& isa) {
    narrow::fixed_tensor t(0, 0, f);
    t.assign(narrow::row_major(values, size.rows, size.cols), round);
    std::size_t at = 0, wrong = 0;
    for (place i = 0; i < size.rows; ++i)
      for (place j = 0; j < size.cols; ++j, ++at) wrong += t.mantissa(i, j) != expected[at] ? 1 : 0;
    count.expect(wrong == 0,
                 [&] { return text(f.wl, f.fl, name_of<T>(), name_of<Round>(), isa, wrong, "wrong"); });
  });
}
const narrow::fixed_format formats_at_run_time[] = {{2, 0},   {8, 4},  {12, 11}, {16, 3},
                                                    {24, 20}, {32, 0}, {32, 31}};

// ---- fractions next to their draws

/// Numbers whose fraction and draw together are next to 1, or 1, in steps of `step`: up to `limit` of them,
/// and as large as T's bits allow.
template <class T>
std::vector<T> numbers_next_to_draws(std::size_t size, T step, std::uint64_t limit,
                                     const rounding::stochastic& round, generator& random) {
  std::vector<T> result;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t at = round.offset() + i;
    const std::uint32_t draw =
        narrow::detail::random_bits({round.seed(), at}, static_cast<std::uint32_t>(at));
    const auto fraction = static_cast<std::uint32_t>(0 - draw + below(random, 3) - 1);
    const auto whole = static_cast<T>(random() % limit);
    const T magnitude = (whole + std::ldexp(static_cast<T>(fraction), -32)) * step;
    result.push_back(random() % 2 == 0 ? magnitude : -magnitude);
  }
  return result;
}

template <class F, class T> void check_fractions(tally& count, int matrices, const extent& size) {
  generator random(13);
  const facts f = facts_of<F>::value;
  for (int number = 0; number < matrices; ++number) {
    const rounding::stochastic round(random(), random());
    const std::uint64_t limit = (std::uint64_t{1} << (f.width - 1)) - 1;
    const double step =
        std::ldexp(f.power_of_two ? 1.0 : 65537.0 + 2.0 * static_cast<int>(below(random, 30000)),
                   static_cast<int>(below(random, 200)) - 140);
    auto values = numbers_next_to_draws<T>(static_cast<std::size_t>(size.rows * size.cols),
                                           static_cast<T>(step), limit, round, random);
    values[below(random, static_cast<std::uint32_t>(values.size()))] =
        static_cast<T>(step * static_cast<double>(limit));
    check_values<F>(count, values, size, round);
  }
}

template <class Formats> void check_formats(int matrices, const extent& size, std::uint64_t seed) {
  tally count;
  for_each_type<Formats>([&]<class F>() { check_doubles<F>(count, matrices, size, seed); });
  count.require(ways * isa_count() * kinds_of_doubles * static_cast<std::uint64_t>(matrices) *
                std::tuple_size_v<Formats>);
}

}  // namespace

TEST_CASE("Doubles become block floating point and int8 by one rounding", "[.exhaustive][block][wide]") {
  check_formats<whole_matrices>(7, {9, 13}, 1);
}
TEST_CASE("Doubles in blocks of every shape, and under every exponent, are rounded once",
          "[.exhaustive][block][wide]") {
  check_formats<other_formats>(7, {9, 13}, 2);
}
// Two million for each format; of those below, for which the oracle takes ten minutes, only in
// `quantize_wide_test [millions]`.
TEST_CASE("Millions of doubles become block floating point and int8 by one rounding",
          "[.exhaustive][block][wide]") {
  check_formats<whole_matrices>(651, {16, 16}, 3);
}
TEST_CASE("Millions of doubles in blocks of every shape are rounded once", "[.exhaustive][block][wide]") {
  check_formats<other_formats>(651, {16, 16}, 4);
}

TEST_CASE("Long doubles and wide integers in block formats are rounded once", "[.exhaustive][block][wide]") {
  using few_formats =
      std::tuple<narrow::bfp<2>, narrow::bfp<8, narrow::per_row>, narrow::bfp<16>, narrow::int8,
                 bfp_by<nearest, narrow::exponent::min<>>, bfp_by<nearest, narrow::exponent::avg<>>>;
  tally count;
  constexpr int matrices = 2;
  for_each_type<few_formats>([&]<class F>() { check_other_types<F>(count, matrices, {7, 11}); });
  count.require(ways * isa_count() * matrices * matrices_of_other_types * std::tuple_size_v<few_formats>);
}

TEST_CASE("Doubles under a clipping value from outside, and written to parts, are rounded once",
          "[.exhaustive][block][wide]") {
  using few_formats = std::tuple<narrow::bfp<3>, narrow::bfp<8>, narrow::bfp<16>, narrow::int8>;
  tally clips, writes;
  constexpr int matrices = 3;
  for_each_type<few_formats>([&]<class F>() {
    check_clips<F>(clips, matrices, {7, 11});
    check_writes<F>(writes, matrices);
  });
  const std::uint64_t cases =
      isa_count() * matrices * rounding_count * kinds_of_doubles * std::tuple_size_v<few_formats>;
  clips.require(cases);
  writes.require(2 * cases);
}

namespace {

using elements_of_mx = std::tuple<narrow::fp8_e5m2, narrow::fp8_e4m3fn, narrow::fp6_e3m2, narrow::fp6_e2m3,
                                  narrow::fp4_e2m1, narrow::int8>;

/// So many matrices of each kind, type and rounding.
void check_all_mx(int matrices, const extent& size) {
  tally count;
  generator random(11);
  const auto n = static_cast<std::size_t>(size.rows * size.cols);
  for_each_type<elements_of_mx>([&]<class Element>() {
    for (int number = 0; number < matrices; ++number)
      for_each_rounding(random, [&]<class Round>(const Round& round) {
        for (int kind = 0; kind < kinds_of_doubles; ++kind) {
          const facts like{kind % 2 == 0 ? 5 : 8};
          check_mx<Element>(count, doubles_of_kind(kind, n, like, random), size, round);
          check_mx<Element>(count, long_doubles_of_kind(kind, n, like, random), size, round);
        }
        check_mx<Element>(count, integers<std::int64_t>(n, random), size, round);
      });
  });
  count.require(isa_count() * static_cast<std::uint64_t>(matrices) * rounding_count *
                (2 * kinds_of_doubles + 1) * std::tuple_size_v<elements_of_mx>);
}

void check_all_fixed(int matrices, const extent& size) {
  tally count;
  generator random(12);
  const auto n = static_cast<std::size_t>(size.rows * size.cols);
  for (const auto& format : formats_at_run_time)
    for (int number = 0; number < matrices; ++number)
      for_each_rounding(random, [&]<class Round>(const Round& round) {
        for (int kind = 0; kind < kinds_of_doubles; ++kind) {
          auto doubles = doubles_of_kind(kind, n, facts{16}, random);
          auto wide = long_doubles_of_kind(kind, n, facts{16}, random);
          if (kind < 4) {  // into the range of the format
            const int end = format.wl - 1 - format.fl;
            for (double& x : doubles) x = std::ldexp(x, end - std::ilogb(doubles[0]));
            for (long double& x : wide)
              x = std::ldexp(x, end - std::ilogb(wide[0])) *
                  (1 + std::ldexp(static_cast<long double>(below(random, 9)), -63));
          }
          check_fixed(count, doubles, size, format, round);
          check_fixed(count, wide, size, format, round);
        }
        check_fixed(count, integers<std::int64_t>(n, random), size, format, round);
        check_fixed(count, integers<std::uint64_t>(n, random), size, format, round);
        check_fixed(count, integers<narrow::fixed<32, 20>>(n, random), size, format, round);
      });
  count.require(isa_count() * static_cast<std::uint64_t>(matrices) * rounding_count *
                (2 * kinds_of_doubles + 3) * std::size(formats_at_run_time));
}

}  // namespace

TEST_CASE("Doubles in MX formats are rounded once", "[.exhaustive][block][wide][mx]") {
  check_all_mx(1, {2, 40});
}
TEST_CASE("Millions of doubles in MX formats are rounded once", "[.millions][block][wide][mx]") {
  check_all_mx(75, {8, 40});
}

TEST_CASE("Whatever is wider than float becomes fixed point chosen at run time by one rounding",
          "[.exhaustive][block][wide][fixed]") {
  check_all_fixed(2, {5, 20});
}
TEST_CASE("Millions of doubles become fixed point chosen at run time by one rounding",
          "[.millions][block][wide][fixed]") {
  check_all_fixed(100, {16, 16});
}

TEST_CASE("The first 32 bits of the exact fraction are what a draw is added to",
          "[.exhaustive][block][wide]") {
  using few_formats = std::tuple<narrow::bfp<2>, narrow::bfp<8>, narrow::bfp<16>, narrow::int8>;
  tally blocks, fixed;
  constexpr int matrices = 20;
  const extent size{9, 13};
  for_each_type<few_formats>([&]<class F>() {
    check_fractions<F, double>(blocks, matrices, size);
    check_fractions<F, long double>(blocks, matrices, size);
  });
  blocks.require(2 * ways * isa_count() * matrices * std::tuple_size_v<few_formats>);

  generator random(14);
  for (const auto& format : formats_at_run_time)
    for (int number = 0; number < matrices; ++number) {
      const rounding::stochastic round(random(), random());
      const std::uint64_t limit = std::uint64_t{1} << (format.wl - 1);
      check_fixed(fixed,
                  numbers_next_to_draws<double>(117, std::ldexp(1.0, -format.fl), limit, round, random), size,
                  format, round);
      check_fixed(fixed,
                  numbers_next_to_draws<long double>(117, std::ldexp(1.0L, -format.fl), limit, round, random),
                  size, format, round);
    }
  fixed.require(2 * isa_count() * matrices * std::size(formats_at_run_time));
}
