// Functions of every code, under every rounding mode, against the GNU MPFR library: the exact value, rounded
// once.
#include <mpfr.h>

#include <initializer_list>

#include "round/arithmetic.hpp"

using namespace test;
using namespace narrow;

namespace {

/// A number of MPFR. Results are rounded toward zero, to more bits than the values here need to differ from
/// each other.
class number {
 public:
  number() { mpfr_init2(x_, 128); }
  explicit number(double x) : number() { mpfr_set_d(x_, x, MPFR_RNDZ); }
  number(const number&) = delete;
  number& operator=(const number&) = delete;
  ~number() { mpfr_clear(x_); }
  operator mpfr_ptr() { return x_; }

 private:
  mpfr_t x_;
};

/// The number, or where MPFR has rounded one just beyond it: of 50 bits, and a quarter of the last one's unit
/// more for what was cut off. No number or midpoint of a format has so many bits, or is beyond these powers
/// of two, and every long double holds them: that of PowerPC has the exponents of a double, as MSVC's and
/// ARM's.
oracle::datum datum_of(number& x, bool exact) {
  const bool negative = mpfr_signbit(x) != 0;
  if (mpfr_nan_p(x)) return {oracle::kind::nan, negative, 0};
  if (mpfr_inf_p(x)) return {oracle::kind::infinite, negative, 0};
  if (mpfr_zero_p(x)) {
    if (exact) return {oracle::kind::zero, negative, 0};
    return {oracle::kind::number, negative, std::ldexp(1.0L, -500)};
  }
  mpfr_abs(x, x, MPFR_RNDZ);
  if (mpfr_get_exp(x) > 500) return {oracle::kind::number, negative, std::ldexp(1.0L, 500)};
  if (mpfr_get_exp(x) < -500) return {oracle::kind::number, negative, std::ldexp(1.0L, -500)};
  const bool cut = mpfr_prec_round(x, 50, MPFR_RNDZ) != 0;
  const long double rest = exact && !cut ? 0 : std::ldexp(1.0L, static_cast<int>(mpfr_get_exp(x)) - 52);
  return {oracle::kind::number, negative, mpfr_get_ld(x, MPFR_RNDZ) + rest};
}

using function = void (*)(number& y, number& x);

template <int (*Function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)> void of_mpfr(number& y, number& x) {
  Function(y, x, MPFR_RNDZ);
}

// Those that MPFR has not are composed of roundings each of which makes the result's magnitude smaller.

void rsqrt_by_mpfr(number& y, number& x) {
  mpfr_rec_sqrt(y, x, MPFR_RNDZ);
  if (mpfr_zero_p(static_cast<mpfr_ptr>(x)))
    mpfr_copysign(y, y, x, MPFR_RNDZ);  // IEEE 754-2019 section 9.2.1
}
void lgamma_by_mpfr(number& y, number& x) {
  int sign = 0;
  mpfr_lgamma(y, &sign, x, MPFR_RNDZ);
}
/// y = numerator / (1 + e^exponent)
void divide_by_share(number& y, number& numerator, number& exponent) {
  number power;
  mpfr_exp(power, exponent, MPFR_RNDU);
  mpfr_add_ui(power, power, 1, MPFR_RNDU);
  mpfr_div(y, numerator, power, MPFR_RNDZ);
}
void logistic_by_mpfr(number& y, number& x) {
  number one(1), exponent;
  mpfr_neg(exponent, x, MPFR_RNDU);
  divide_by_share(y, one, exponent);
}
void softplus_by_mpfr(number& y, number& x) {
  const bool large = mpfr_cmp_d(x, 0) > 0;
  number power;
  if (large)
    mpfr_neg(power, x, MPFR_RNDD);
  else
    mpfr_set(power, x, MPFR_RNDD);
  mpfr_exp(power, power, MPFR_RNDD);
  mpfr_log1p(y, power, MPFR_RNDD);
  if (large) mpfr_add(y, y, x, MPFR_RNDD);
}
/// The limit of what x is multiplied by at -infinity is zero, sooner than x goes there.
bool is_limit(number& y, number& x) {
  if (!mpfr_inf_p(static_cast<mpfr_ptr>(x)) || !mpfr_signbit(static_cast<mpfr_ptr>(x))) return false;
  mpfr_set_zero(y, -1);
  return true;
}
void silu_by_mpfr(number& y, number& x) {
  if (is_limit(y, x)) return;
  number exponent;
  mpfr_neg(exponent, x, MPFR_RNDU);
  divide_by_share(y, x, exponent);
}
void gelu_by_mpfr(number& y, number& x) {
  if (is_limit(y, x)) return;
  number root(2), at;
  mpfr_sqrt(root, root, mpfr_signbit(static_cast<mpfr_ptr>(x)) ? MPFR_RNDD : MPFR_RNDU);
  mpfr_neg(at, x, MPFR_RNDU);
  mpfr_div(at, at, root, MPFR_RNDU);
  mpfr_erfc(at, at, MPFR_RNDD);
  mpfr_mul(y, at, x, MPFR_RNDZ);
  mpfr_div_ui(y, y, 2, MPFR_RNDZ);
}
void gelu_tanh_by_mpfr(number& y, number& x) {
  if (is_limit(y, x)) return;
  const bool negative = mpfr_signbit(static_cast<mpfr_ptr>(x)) != 0;
  const mpfr_rnd_t round = negative ? MPFR_RNDA : MPFR_RNDZ, opposite = negative ? MPFR_RNDZ : MPFR_RNDA;
  number cube, pi, factor(2), exponent;
  mpfr_pow_ui(cube, x, 3, round);
  mpfr_mul_ui(cube, cube, 44'715, round);
  mpfr_div_ui(cube, cube, 1'000'000, round);
  mpfr_add(cube, cube, x, round);
  mpfr_const_pi(pi, opposite);
  mpfr_div(factor, factor, pi, round);
  mpfr_sqrt(factor, factor, round);
  mpfr_mul_ui(factor, factor, 2, round);
  mpfr_mul(exponent, factor, cube, round);
  mpfr_neg(exponent, exponent, MPFR_RNDU);
  divide_by_share(y, x, exponent);
}

template <narrow_float T> constexpr std::uint64_t codes() { return oracle::format_of<T>.codes(); }
template <narrow_fixed T> constexpr std::uint64_t codes() { return std::uint64_t{1} << T::word_length; }

template <narrow_float T> auto rounded(const oracle::datum& x) {
  return oracle::rounded(oracle::table_of<T>(), x);
}
template <narrow_fixed T> auto rounded(oracle::datum x) {
  const long double least = std::ldexp(1.0L, -100),
                    most = std::ldexp(1.0L, 100);  // GMP would write all digits
  if (x.what == oracle::kind::number) x.magnitude = std::clamp(x.magnitude, least, most);
  return oracle::rounded(T::fraction_length, oracle::operand(x));
}

/// Of a fixed format that wraps, numbers beyond it tell nothing of the function.
template <class T> constexpr bool is_checked(const oracle::datum& x) {
  if constexpr (narrow_fixed<T>)
    return !std::same_as<typename T::overflow_policy, overflow::wrap> || x.what == oracle::kind::zero ||
           (x.what == oracle::kind::number && x.magnitude < std::ldexp(1.0L, T::word_length));
  return true;
}

/// Checks one function of every `step`-th code, under every policy. How many codes.
template <class T, class Function>
std::uint64_t check_function(tally& count, const char* name, std::uint64_t step, function oracle,
                             Function of) {
  number x, y;
  for (std::uint64_t code = 0; code < codes<T>(); code += step) {
    const auto argument = from_code<T>(code);
    mpfr_set_d(x, detail::widened<double>(argument), MPFR_RNDZ);
    mpfr_clear_flags();
    oracle(y, x);
    const bool is_zero = mpfr_zero_p(static_cast<mpfr_ptr>(x)) && mpfr_zero_p(static_cast<mpfr_ptr>(y));
    const auto value = datum_of(y, is_zero || !mpfr_inexflag_p());
    const auto right = rounded<T>(value);
    for_each_policy<T>([&]<class U>() {
      if (!is_checked<U>(value)) return;
      const U result = of(from_code<U>(code));
      count.expect(oracle::matches(right, result), [&] {
        return text(name_of<U>(), name, code, "gives", result.bits(), static_cast<double>(value.magnitude));
      });
    });
  }
  return (codes<T>() + step - 1) / step;
}

using function_of_two = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/// Checks a function of two arguments, each of these a code of T.
template <class T, class Function>
void check_pairs(tally& count, const char* name, const std::vector<code_pair>& pairs, function_of_two oracle,
                 Function of) {
  number a, b, y;
  const auto set = [](number& to, std::uint64_t code) {
    mpfr_set_d(to, detail::widened<double>(from_code<T>(code)), MPFR_RNDZ);
  };
  for (const code_pair& pair : pairs) {
    set(a, pair.first);
    set(b, pair.second);
    mpfr_clear_flags();
    oracle(y, a, b, MPFR_RNDZ);
    const auto value = datum_of(y, !mpfr_inexflag_p());
    const auto right = rounded<T>(value);
    for_each_policy<T>([&]<class U>() {
      if (!is_checked<U>(value)) return;
      const U result = of(from_code<U>(pair.first), from_code<U>(pair.second));
      count.expect(oracle::matches(right, result), [&] {
        return text(name_of<U>(), name, pair.first, pair.second, "gives", result.bits(),
                    static_cast<double>(value.magnitude));
      });
    });
  }
}

template <class T> std::vector<code_pair> some_pairs(std::uint64_t most) {
  std::vector<code_pair> result;
  generator random(7);
  const bool all = codes<T>() * codes<T>() <= most;
  for (std::uint64_t i = 0; i < (all ? codes<T>() * codes<T>() : most); ++i)
    result.emplace_back(all ? i / codes<T>() : below(random, codes<T>()),
                        all ? i % codes<T>() : below(random, codes<T>()));
  return result;
}
template <class T> void check_functions_of_two(std::uint64_t most) {
  tally count;
  const auto pairs = some_pairs<T>(most);
  check_pairs<T>(count, "pow", pairs, mpfr_pow, []<class U>(U x, U y) { return pow(x, y); });
  check_pairs<T>(count, "atan2", pairs, mpfr_atan2, []<class U>(U y, U x) { return atan2(y, x); });
  check_pairs<T>(count, "hypot", pairs, mpfr_hypot, []<class U>(U x, U y) { return hypot(x, y); });
  count.require_at_least(3 * pairs.size() * policy_count<T> / 2);
}

template <class T> void check_functions(std::uint64_t step) {
  tally count;
  std::uint64_t checked = 0, functions = 0;
#define CHECK_FUNCTION(name, by_mpfr) \
  checked += check_function<T>(count, #name, step, by_mpfr, []<class U>(U x) { return name(x); }), ++functions
#define CHECK_MPFR(name, by_mpfr) CHECK_FUNCTION(name, of_mpfr<by_mpfr>)
  CHECK_MPFR(exp, mpfr_exp);
  CHECK_MPFR(exp2, mpfr_exp2);
  CHECK_MPFR(expm1, mpfr_expm1);
  CHECK_MPFR(log, mpfr_log);
  CHECK_MPFR(log2, mpfr_log2);
  CHECK_MPFR(log10, mpfr_log10);
  CHECK_MPFR(log1p, mpfr_log1p);
  CHECK_MPFR(sqrt, mpfr_sqrt);
  CHECK_MPFR(cbrt, mpfr_cbrt);
  CHECK_MPFR(sin, mpfr_sin);
  CHECK_MPFR(cos, mpfr_cos);
  CHECK_MPFR(tan, mpfr_tan);
  CHECK_MPFR(asin, mpfr_asin);
  CHECK_MPFR(acos, mpfr_acos);
  CHECK_MPFR(atan, mpfr_atan);
  CHECK_MPFR(sinh, mpfr_sinh);
  CHECK_MPFR(cosh, mpfr_cosh);
  CHECK_MPFR(tanh, mpfr_tanh);
  CHECK_MPFR(asinh, mpfr_asinh);
  CHECK_MPFR(acosh, mpfr_acosh);
  CHECK_MPFR(atanh, mpfr_atanh);
  CHECK_MPFR(erf, mpfr_erf);
  CHECK_MPFR(erfc, mpfr_erfc);
  CHECK_MPFR(tgamma, mpfr_gamma);
  CHECK_FUNCTION(lgamma, lgamma_by_mpfr);
  CHECK_FUNCTION(rsqrt, rsqrt_by_mpfr);
  CHECK_FUNCTION(logistic, logistic_by_mpfr);
  CHECK_FUNCTION(softplus, softplus_by_mpfr);
  CHECK_FUNCTION(silu, silu_by_mpfr);
  CHECK_FUNCTION(gelu, gelu_by_mpfr);
  CHECK_FUNCTION(gelu_tanh, gelu_tanh_by_mpfr);
#undef CHECK_MPFR
#undef CHECK_FUNCTION
  REQUIRE(checked == functions * ((codes<T>() + step - 1) / step));
  count.require_at_least(checked * policy_count<T> / 2);
}

/// Those of at most 16 bits in the catalogue, and fixed-point ones.
using formats =
    some_of<decltype(std::tuple_cat(narrow::all_formats{}, std::tuple<fixed<8, 4>, fixed<8, 7>, fixed<12, 6>,
                                                                      fixed<16, 8>, floating<6, 9>>{})),
            0, 3>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("functions are the exact value rounded once", "[math]", formats) {
  check_functions<TestType>(codes<TestType>() <= 256 ? 1 : 97);
}

TEMPLATE_LIST_TEST_CASE("functions of all codes are the exact value rounded once", "[math][.exhaustive]",
                        formats) {
  check_functions<TestType>(1);
}

TEMPLATE_LIST_TEST_CASE("functions of two numbers are the exact value rounded once", "[math]", formats) {
  check_functions_of_two<TestType>(4'000);
}

TEMPLATE_LIST_TEST_CASE("functions of many pairs are the exact value rounded once", "[math][.exhaustive]",
                        formats) {
  check_functions_of_two<TestType>(std::uint64_t{1} << 16);
}
