// Narrow scalars in and out of text.
#include <iomanip>
#include <sstream>
#include <vector>

#include "oracle.hpp"
#include "policies.hpp"
#include "tally.hpp"

using namespace test;
using namespace narrow;

namespace {

template <class T> std::string written(T x, int precision = 6) {
  std::ostringstream out;
  out << std::setprecision(precision) << x;
  return out.str();
}

}  // namespace

TEST_CASE("scalars stream out as their carrier does, flags and all", "[io]") {
  REQUIRE(written(fp16(1.5)) == "1.5");
  REQUIRE(written(fp16(0.1)) == "0.0999756");
  REQUIRE(written(bf16(3.14159)) == "3.14062");
  REQUIRE(written(fixed<8, 4>(-2.0625)) == "-2.0625");
  REQUIRE(written(fp16(65504)) == "65504");
  REQUIRE(written(std::numeric_limits<fp16>::infinity()) == "inf");
  REQUIRE(written(-std::numeric_limits<fp16>::infinity()) == "-inf");
  REQUIRE(written(std::numeric_limits<fp16>::quiet_NaN()) == "nan");
  // A mantissa of 31 bits needs the digits of double.
  REQUIRE(written(fixed<32, 16>::from_bits(0x7fff'ffff), 17) == "32767.999984741211");
  std::ostringstream out;
  out << std::fixed << std::setprecision(3) << std::showpos << std::setw(9) << std::setfill('*') << fp16(1.5)
      << '|' << std::scientific << bf16(1.5) << '|' << std::hexfloat << fp16(0.75);
  REQUIRE(out.str() == "***+1.500|+1.500e+00|+0x1.8p-1");
  std::wostringstream wide;
  wide << fp16(0.5);
  REQUIRE(wide.str() == L"0.5");
}

TEST_CASE("reading rounds once and leaves the scalar alone on failure", "[io]") {
  std::istringstream in("1.5 0.1 -65504 65519 65520 1e-8 2.00097656250001 none");
  fp16 x;
  const auto next = [&] {
    in >> x;
    return static_cast<float>(x);
  };
  REQUIRE(next() == 1.5f);
  REQUIRE(next() == static_cast<float>(fp16(0.1)));
  REQUIRE(next() == -65504.0f);
  REQUIRE(next() == 65504.0f);
  in >> x;
  REQUIRE(isinf(x));
  REQUIRE(next() == 0.0f);
  REQUIRE(next() == 2.001953125f);  // a hair above the midpoint of 2 and its successor
  REQUIRE(in.good());
  in >> x;
  REQUIRE(in.fail());
  REQUIRE(x == 2.001953125f);

  std::istringstream many("1 2,3");
  fixed<8, 4> a, b;
  char comma = 0;
  int c = 0;
  many >> a >> b >> comma >> c;
  REQUIRE(a == 1);
  REQUIRE(b == 2);
  REQUIRE(comma == ',');
  REQUIRE(c == 3);
  std::istringstream large("1000 -1000");
  large >> a >> b;
  REQUIRE(a == 7.9375);
  REQUIRE(b == -8);
  std::wistringstream wide(L"0.25");
  wide >> x;
  REQUIRE(x == 0.25f);
}

TEMPLATE_LIST_TEST_CASE("max_digits10 digits bring every finite code back", "[io]", floating_formats) {
  constexpr auto f = oracle::format_of<TestType>;
  tally count;
  std::stringstream stream;
  stream << std::setprecision(std::numeric_limits<TestType>::max_digits10);
  std::uint64_t finite = 0;
  for (std::uint64_t code = 0; code < f.codes(); ++code) {
    const auto x = TestType::from_bits(static_cast<typename TestType::bits_type>(code));
    if (!isfinite(x)) continue;
    ++finite;
    stream.str("");
    stream.clear();
    stream << x;
    TestType y{};
    stream >> y;
    count.expect(y.bits() == code, [&] { return text(name_of<TestType>(), code, stream.str(), y.bits()); });
  }
  REQUIRE(finite > f.codes() / 2);
  count.require(finite);
}

TEMPLATE_LIST_TEST_CASE("fixed: max_digits10 digits bring every number back", "[io][fixed]", fixed_formats) {
  constexpr std::int64_t end = std::int64_t{1} << (TestType::word_length - 1),
                         step = std::max<std::int64_t>(1, end / 10'007);
  tally count;
  std::uint64_t numbers = 0;
  for (std::int64_t mantissa = -end; mantissa < end; mantissa += step, ++numbers) {
    const auto x = TestType::from_bits(static_cast<typename TestType::bits_type>(mantissa));
    std::stringstream stream(written(x, std::numeric_limits<TestType>::max_digits10));
    TestType y{};
    stream >> y;
    count.expect(y.bits() == x.bits(), [&] { return text(name_of<TestType>(), stream.str()); });
  }
  count.require(numbers);
}

#ifdef __cpp_lib_format
TEST_CASE("std::format takes the carrier's specifications", "[io]") {
  REQUIRE(std::format("{}", fp16(1.5)) == "1.5");
  REQUIRE(std::format("{:>8.3f}|{:e}", bf16(0.25), fixed<8, 4>(1)) == "   0.250|1.000000e+00");
}
#endif
