// Text to narrow scalars and back, against rationals: what is read is rounded once, what is written is the
// shortest text that comes back.
#include <array>
#include <charconv>
#include <sstream>
#include <string>
#include <vector>

#include "fixed_oracle.hpp"
#include "policies.hpp"
#include "samples.hpp"
#include "tally.hpp"

using namespace test;
using namespace narrow;

namespace {

/// d 10^exponent as text, in one of several notations.
struct decimal_text {
  mpz_class digits;
  int exponent;

  std::string scientific() const { return digits.get_str() + "e" + std::to_string(exponent); }
  /// The point among the digits or after zeros.
  std::string pointed() const {
    std::string text = mpz_class(abs(digits)).get_str();
    if (exponent > 0) text.append(static_cast<std::size_t>(exponent), '0');
    if (exponent < 0) {
      const auto fraction = static_cast<std::size_t>(-exponent);
      if (text.size() <= fraction) text.insert(0, fraction + 1 - text.size(), '0');
      text.insert(text.size() - fraction, ".");
    }
    return (sgn(digits) < 0 ? "-" : "") + text;
  }
};

mpz_class power_of_ten(int exponent) {
  mpz_class result;
  mpz_ui_pow_ui(result.get_mpz_t(), 10, static_cast<unsigned long>(exponent));
  return result;
}

mpq_class value_of(const decimal_text& x) {
  mpq_class result(x.digits);
  if (x.exponent < 0)
    result /= power_of_ten(-x.exponent);
  else
    result *= power_of_ten(x.exponent);
  return result;
}

/// A binary fraction, all digits of it.
decimal_text exactly(const mpq_class& x) {
  const auto places = static_cast<int>(mpz_sizeinbase(x.get_den().get_mpz_t(), 2)) - 1;
  const mpq_class scaled = x * power_of_ten(places);
  return {scaled.get_num(), -places};
}

/// A number and its neighbours in the 300th place and in the 40th one, all of which have one double.
std::vector<decimal_text> around(const mpq_class& x) {
  std::vector<decimal_text> result{exactly(x)};
  for (const int places : {300, 40})
    for (const int side : {-1, 1}) {
      const decimal_text exact = exactly(x);
      result.push_back({exact.digits * power_of_ten(places) + side, exact.exponent - places});
    }
  return result;
}

template <narrow_float T> auto seen(const mpq_class& x) {
  if (sgn(x) == 0) return oracle::outcome{oracle::kind::zero};
  const mpq_class magnitude = abs(x);
  return oracle::locate(oracle::table_of<T>(), sgn(x) < 0,
                        [&](double c) { return cmp(magnitude, mpq_class(c)); });
}
template <narrow_fixed T> auto seen(const mpq_class& x) { return oracle::rounded(T::fraction_length, x); }

template <narrow_scalar T> T streamed(const std::string& text) {
  T x = T::from_bits(0);
  std::istringstream(text) >> x;
  return x;
}

/// What from_chars has of all of a text; nothing where it is out of range.
template <narrow_scalar T> std::optional<T> read(const std::string& text) {
  T x = T::from_bits(1);
  const auto [end, error] = from_chars(text.data(), text.data() + text.size(), x);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return T::from_bits(0);
  if (error == std::errc::result_out_of_range && x.bits() == 1) return {};
  return x;
}

/// Between numbers of T and beyond its largest ones, where roundings differ.
template <narrow_float T> std::vector<mpq_class> places(generator& random) {
  const auto& t = oracle::table_of<T>();
  std::vector<mpq_class> result;
  const auto add = [&](std::size_t i) {
    const mpq_class low(t.numbers[i]), high(t.numbers[i + 1]);
    result.push_back(low);
    result.push_back((low + high) / 2);
  };
  for (const std::size_t i :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, t.beyond() / 2, t.beyond() - 2, t.beyond() - 1})
    add(i);
  for (int i = 0; i < 25; ++i) add(static_cast<std::size_t>(below(random, t.beyond())));
  result.push_back(mpq_class(t.numbers.back()) * 3);
  return result;
}
template <narrow_fixed T> std::vector<mpq_class> places(generator& random) {
  const std::int64_t end = std::int64_t{1} << (T::word_length - 1);
  const mpq_class half(1, oracle::power_of_two(T::fraction_length + 1));
  std::vector<mpq_class> result;
  const auto add = [&](std::int64_t mantissa) {
    result.push_back(mpq_class(static_cast<long>(2 * mantissa)) * half);
    result.push_back(mpq_class(static_cast<long>(2 * mantissa + 1)) * half);
  };
  for (const std::int64_t mantissa : {std::int64_t{0}, std::int64_t{1}, end - 2, end - 1, end, 3 * end})
    add(mantissa);
  for (int i = 0; i < 25; ++i) add(static_cast<std::int64_t>(below(random, static_cast<std::uint64_t>(end))));
  return result;
}

template <narrow_scalar T> bool is_finite_result(const std::array<std::uint64_t, 2>& codes) {
  return oracle::format_of<T>.decode(codes[0]).what != oracle::kind::infinite &&
         oracle::format_of<T>.decode(codes[0]).what != oracle::kind::nan;
}

/// Whether `x` has no number of T, rounded without an end of the range.
template <narrow_float T> bool is_out_of_range(const mpq_class& x) {
  const auto& t = oracle::table_of<T>();
  const mpq_class next_exponent(std::ldexp(1.0, std::ilogb(t.numbers[t.beyond() - 1]) + 1));
  if (abs(x) >= next_exponent) return true;
  return !is_finite_result<T>(
      oracle::encode<typename T::round_policy, narrow::overflow::ieee>(t, seen<T>(x)));
}
template <narrow_fixed T> bool is_out_of_range(const mpq_class& x) {
  // As a number of more bits.
  const auto right =
      oracle::encode<typename T::round_policy, narrow::overflow::saturate>(T::word_length + 20, seen<T>(x));
  const std::int64_t end = std::int64_t{1} << (T::word_length - 1);
  return right[0] >= end || right[0] < -end;
}

template <narrow_scalar T> void read_around(tally& count) {
  generator random(7);
  for (const mpq_class& place : places<T>(random))
    for (const decimal_text& text : around(place))
      for (const int sign : {1, -1}) {
        const decimal_text signed_text{text.digits * sign, text.exponent};
        const mpq_class x = value_of(signed_text);
        const auto right = seen<T>(x);
        for (const std::string& written : {signed_text.scientific(), signed_text.pointed()}) {
          count.expect(oracle::matches(right, streamed<T>(written)),
                       [&] { return name_of<T>() + " >> " + written; });
          const auto result = read<T>(written);
          count.expect(is_out_of_range<T>(x) ? !result : result && oracle::matches(right, *result),
                       [&] { return name_of<T>() + " from_chars " + written; });
        }
      }
}

template <class T>
using rules = std::tuple<with_policies<T, rounding::nearest_even, overflow::saturate>,
                         with_policies<T, rounding::upward, overflow::saturate>,
                         with_policies<T, rounding::to_odd, overflow::saturate>>;

template <narrow_scalar T> std::string shortest(T x) {
  char text[64];
  const auto [end, error] = to_chars(text, std::end(text), x);
  return error == std::errc{} ? std::string(text, end) : "does not fit";
}

/// The digits of text, without zeros at either end.
std::string significant(std::string text) {
  text = text.substr(0, text.find('e'));
  std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
  const auto first = text.find_first_not_of('0');
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of('0') + 1 - first);
}

/// Whether one of the two numbers of n digits beside x is read as x.
template <narrow_scalar T> bool has_text_of(std::size_t n, const mpq_class& x, T number) {
  int exponent = -200;  // of the last digit
  mpq_class unit(1, power_of_ten(-exponent));
  const mpz_class end = power_of_ten(static_cast<int>(n));
  const auto tens = static_cast<int>(std::floor(std::log10(std::abs(x.get_d()))));
  exponent = tens + 1 - static_cast<int>(n);
  unit = value_of({1, exponent});
  const mpq_class scaled = abs(x) / unit;
  const mpz_class low = scaled.get_num() / scaled.get_den();
  for (const mpz_class& digits : {low, mpz_class(low + 1)}) {
    const mpq_class candidate = digits * unit * sgn(x);
    if (sgn(candidate) != 0 && !is_out_of_range<T>(candidate) && oracle::matches(seen<T>(candidate), number))
      return true;
  }
  return false;
}

template <narrow_scalar T> mpq_class exact_value(T x) { return mpq_class(static_cast<double>(x)); }

/// About so many of the codes, or all of them if they are fewer; returns how many are finite and not zero.
template <narrow_scalar T> std::uint64_t write_some(tally& count, std::uint64_t about) {
  std::uint64_t codes = 0, numbers = 0;
  if constexpr (narrow_float<T>)
    codes = oracle::format_of<T>.codes();
  else
    codes = std::uint64_t{1} << T::word_length;
  const std::uint64_t step = codes <= about ? 1 : codes / about | 1;
  for (std::uint64_t code = 0; code < codes; code += step) {
    const auto x = T::from_bits(static_cast<typename T::bits_type>(code));
    if (!isfinite(x) || x == 0) continue;
    ++numbers;
    const std::string text = shortest(x);
    const auto back = read<T>(text);
    const std::size_t digits = significant(text).size();
    const bool whole = text.find('.') == text.npos && text.find('e') == text.npos;  // has all of its digits
    const bool is_shortest = digits <= 1 || whole || !has_text_of<T>(digits - 1, exact_value(x), x);
    count.expect(back && back->bits() == x.bits() && is_shortest,
                 [&] { return name_of<T>() + " of code " + std::to_string(code) + ": " + text; });
  }
  return numbers;
}

/// What the library asks of a class of JSON values.
struct json {
  double number = 0;
  json& operator=(double x) {
    number = x;
    return *this;
  }
  template <class T> T get() const { return static_cast<T>(number); }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("text is rounded once, however near it is to a number half-way between two",
                        "[charconv]", scalar_formats) {
  tally count;
  read_around<TestType>(count);
  for_each_type<rules<TestType>>([&]<class T>() { read_around<T>(count); });
  count.require_at_least(4 * 60 * 5 * 2 * 2 * 2);
}

TEMPLATE_LIST_TEST_CASE("to_chars writes the shortest text that comes back", "[charconv]", scalar_formats) {
  tally count;
  const std::uint64_t numbers =
      write_some<TestType>(count, 2000) +
      write_some<with_policies<TestType, rounding::toward_zero, overflow::saturate>>(count, 600);
  REQUIRE(numbers > 3);
  count.require(numbers);
}

TEST_CASE("what is no shorter comes back from all digits: of policies that draw random numbers",
          "[charconv]") {
  using drawn = floating<5, 10, specials::ieee, rounding::stochastic>;
  REQUIRE(shortest(drawn(0.0999755859375)) == "0.0999755859375");
  REQUIRE(shortest(fixed<8, 4, rounding::stochastic>(0.0625)) == "0.0625");
  REQUIRE(shortest(drawn(3)) == "3");
}

TEST_CASE("to_chars has the notations of std::to_chars", "[charconv]") {
  const auto as = [](auto x, auto... format) {
    char text[200];
    const auto [end, error] = to_chars(text, std::end(text), x, format...);
    return error == std::errc{} ? std::string(text, end) : "does not fit";
  };
  using std::chars_format;
  REQUIRE(as(fp16(0.1)) == "0.1");
  REQUIRE(as(fp16(65504)) == "65504");
  REQUIRE(as(fp16(65504), chars_format::scientific) == "6.55e+04");
  REQUIRE(as(bf16(1e38)) == "1e+38");
  REQUIRE(as(bf16(1e38), chars_format::fixed) == "99692099683868690467785529521025843200");
  REQUIRE(as(fp16::from_bits(1)) == "6e-08");
  REQUIRE(as(fp16::from_bits(1), chars_format::fixed) == "0.00000006");
  REQUIRE(as(fixed<8, 4>(-2.0625)) == "-2.06");
  REQUIRE(as(fixed<32, 16>(1.0 / 3)) == "0.33333");
  REQUIRE(as(floating<8, 23>(1e-45)) == "1e-45");
  REQUIRE(as(fp16(0)) == "0");
  REQUIRE(as(-fp16(0)) == "-0");
  REQUIRE(as(-std::numeric_limits<fp16>::infinity()) == "-inf");
  REQUIRE(as(std::numeric_limits<fp8_e4m3fn>::quiet_NaN()) == "nan");
  // Those of std::to_chars for a float that is as short.
  for (const float x : {1.0f, 0.5f, 1024.0f, 1e-4f, 1.5e-5f, 123456.0f, 1234560.0f, -0.25f, 3e20f})
    for (const auto format :
         {chars_format::general, chars_format::fixed, chars_format::scientific, chars_format::hex}) {
      char text[64];
      REQUIRE(as(floating<8, 23>(x), format) ==
              std::string(text, std::to_chars(text, std::end(text), x, format).ptr));
      REQUIRE(as(floating<8, 23>(x), format, 4) ==
              std::string(text, std::to_chars(text, std::end(text), x, format, 4).ptr));
    }
  char text[4];
  REQUIRE(to_chars(text, text + 2, fp16(0.1)).ec == std::errc::value_too_large);
  REQUIRE(to_chars(text, text + 2, fp16(0.1)).ptr == text + 2);
  REQUIRE(to_chars(text, text + 3, fp16(0.1)).ptr == text + 3);
}

TEST_CASE("from_chars has the grammar of std::from_chars", "[charconv]") {
  // Any text of these characters; the numbers are short enough for a double to tell how they are rounded.
  constexpr std::string_view characters = "0011234567899..eE+--infatynXxpP()_ ";
  generator random(3);
  tally count;
  for (int i = 0; i < 40'000; ++i) {
    std::string text;
    const auto size = 1 + below(random, 9);
    constexpr const char* beginnings[] = {"", "", "-", "inf", "nan(", "1e", "-0."};
    text = beginnings[below(random, std::size(beginnings))];
    while (text.size() < size) text += characters[static_cast<std::size_t>(below(random, characters.size()))];
    constexpr std::chars_format formats[] = {std::chars_format::general, std::chars_format::scientific,
                                             std::chars_format::fixed, std::chars_format::hex};
    const auto format = formats[i % 4];
    double expected = 0;
    const auto right = std::from_chars(text.data(), text.data() + text.size(), expected, format);
    bf16 x = 0;
    const auto result = from_chars(text.data(), text.data() + text.size(), x, format);
    const bool same_number =
        result.ec != std::errc{} || right.ec != std::errc{} || std::isnan(expected) || x == bf16(expected);
    count.expect(result.ptr == right.ptr && same_number &&
                     (result.ec == std::errc::invalid_argument) == (right.ec == std::errc::invalid_argument),
                 [&] { return text + ": " + std::to_string(static_cast<float>(x)); });
  }
  count.require(40'000);
}

TEST_CASE("from_chars leaves the number as it was where there is none in range", "[charconv]") {
  const auto refusal = [](auto x, std::string_view text) {
    const auto before = x.bits();
    const auto [end, error] = from_chars(text.data(), text.data() + text.size(), x);
    REQUIRE(x.bits() == before);
    return error;
  };
  const auto out_of_range = std::errc::result_out_of_range, invalid = std::errc::invalid_argument;
  REQUIRE(refusal(fp16(3), "65520") == out_of_range);
  REQUIRE(refusal(fp16(3), "-1e999999999999999999999") == out_of_range);
  REQUIRE(refusal(fp8_e4m3fn(3), "inf") == out_of_range);
  REQUIRE(refusal(fp4_e2m1(3), "nan") == out_of_range);
  REQUIRE(refusal(fixed<8, 4>(3), "8") == out_of_range);
  REQUIRE(refusal(fixed<8, 4>(3), "nan") == out_of_range);
  REQUIRE(refusal(fp16(3), "") == invalid);
  REQUIRE(refusal(fp16(3), "+1") == invalid);
  REQUIRE(refusal(fp16(3), "-") == invalid);
  REQUIRE(refusal(fp16(3), " 1") == invalid);
  REQUIRE(read<fp16>("1e-999999999999999999999") == 0);
  REQUIRE(read<fp16>("0e999999999999999999999") == 0);
  REQUIRE(read<fp16>("65519.999999999999999999999999") == 65504);
  const std::string zeros(20'000, '0');
  REQUIRE(read<fp16>("0." + zeros + "15e20001") == 1.5);
  REQUIRE(read<fp16>("15" + zeros + "e-20001") == 1.5);
  REQUIRE(signbit(*read<fp16>("-0")));
}

TEST_CASE("streams read what they read as a double, in their locale, and round it once", "[charconv][io]") {
  struct points : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::istringstream in("+1.023,5 2,0009765625000000000000000000001 1e999 1.2.3 5");
  in.imbue(std::locale(std::locale::classic(), new points));
  fp16 x;
  in >> x;
  REQUIRE(x == 1023.5f);
  in >> x;
  REQUIRE(x == 2.001953125f);
  in >> x;
  REQUIRE((isinf(x) && in.good()));
  x = 7;
  in >> x;  // digits are not grouped so
  REQUIRE((x == 7 && in.fail()));
  std::wistringstream wide(L"  2.0009765625000000000000000000001");
  wide >> x;
  REQUIRE((x == 2.001953125f && wide.eof() && !wide.fail()));
}

TEST_CASE("a class like nlohmann::json takes and gives scalars; {fmt} takes their carriers", "[charconv]") {
  json j;
  to_json(j, fp16(0.1));
  REQUIRE(j.number == static_cast<double>(fp16(0.1)));
  fixed<8, 4> x = 0;
  from_json(j, x);
  REQUIRE(x == 0.125);
  STATIC_REQUIRE(std::same_as<decltype(format_as(fp16(1))), float>);
  STATIC_REQUIRE(std::same_as<decltype(format_as(fixed<32, 16>(1))), double>);
  REQUIRE(format_as(fixed<32, 16>(0.5)) == 0.5);
}
