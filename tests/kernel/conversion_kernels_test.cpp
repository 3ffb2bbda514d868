// Conversions and quantising: every instruction set that this processor has against the portable one and
// against scalar conversions.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <narrow/narrow.hpp>

#include "catch.hpp"
#include "every_isa.hpp"
#include "policies.hpp"
#include "tally.hpp"

using namespace test;
using namespace narrow;

namespace {

using place = std::ptrdiff_t;

enum class numbers { any_bits, ties, near_ties, small, wide };
constexpr numbers all_numbers[] = {numbers::any_bits, numbers::ties, numbers::near_ties, numbers::small,
                                   numbers::wide};

/// A number to be rounded to a multiple of `step`.
float number_of(numbers kind, float step, std::mt19937& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  const auto fraction = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-31f;
  const float tie = (static_cast<float>(bits % 600) - 300 + 0.5f) * step;
  switch (kind) {
    case numbers::any_bits:  // NaN and infinity among them
      return bits % 16 == 0 ? std::numeric_limits<float>::infinity() : std::bit_cast<float>(bits);
    case numbers::ties:
      return bits % 8 == 0 ? tie - 0.5f * step : tie;
    case numbers::near_ties:
      return std::nextafter(tie, bits % 2 == 0 ? 2 * tie : 0.0f);
    case numbers::small:
      return bits % 4 == 0 ? std::bit_cast<float>(bits & 0x807f'ffff) : fraction * step;
    case numbers::wide:
      break;
  }
  return std::ldexp(fraction * step, static_cast<int>(random() % 40));
}

enum class layout { dense, gaps, apart };

/// Lines of floats and their elements, perhaps with gaps, one element after the beginning of their memory: by
/// rows, or the floats by columns; `apart`: every other element.
template <class Element> struct lines {
  std::vector<float> from;
  std::vector<Element> to;
  matrix_view<const float> x;
  matrix_view<Element> q;

  lines(place rows, place cols, bool turned, layout how)
      : from(static_cast<std::size_t>(2 * (rows + 3) * (cols + 3))), to(from.size()) {
    const place gap = how == layout::gaps ? 2 : 0, step = how == layout::apart ? 2 : 1;
    x = turned ? matrix_view<const float>{from.data() + 1, rows, cols, step, step * rows + gap}
               : matrix_view<const float>{from.data() + 1, rows, cols, step * cols + gap, step};
    q = {to.data() + 1, rows, cols, step * cols + gap, step};
  }
};

using enum kernel::scale_kind;

template <class Element, class Round>
void check_lines(tally& count, lines<Element>& l, const Round& round, numbers kind, float scale,
                 kernel::scale_kind of, double limit) {
  std::vector<Element> expected;
  for_each_isa([&](const std::string& isa) {
    std::fill(l.to.begin(), l.to.end(), Element{77});
    kernel::quantize(l.x, l.q, scale, of, {-limit, limit}, round, kernel::row_by_row(l.q));
    if (isa == "portable") expected = l.to;
    count.expect(l.to == expected, [&] {
      return text(isa, "scale", scale, l.x.rows, l.x.cols, "strides", l.x.row_stride, l.x.col_stride,
                  "numbers", static_cast<int>(kind));
    });
  });
}

template <class Element>
void check_quantising(tally& count, const std::vector<float>& scales, kernel::scale_kind of, double limit) {
  const auto check = [&](float scale, place rows, place cols, numbers kind) {
    std::mt19937 random(static_cast<unsigned>(cols * 8 + rows));
    std::vector<float> x(lines<Element>(rows, cols, false, layout::dense).from.size());
    for (float& number : x) number = number_of(kind, scale, random);
    for (const bool turned : {false, true})
      for (const layout gaps : {layout::dense, layout::gaps, layout::apart}) {
        lines<Element> l(rows, cols, turned, gaps);
        l.from = x;
        const auto check_rounding = [&](const auto& round) {
          check_lines(count, l, round, kind, scale, of, limit);
        };
        check_rounding(rounding::nearest_even{});
        check_rounding(rounding::toward_zero{});
        check_rounding(rounding::stochastic{2, 7});
        check_rounding(rounding::stochastic{3, (std::uint64_t{1} << 32) - 50});
      }
  };
  for (const float scale : scales)
    for (place cols = 0; cols <= 580; cols += cols < 20 ? 1 : cols < 65 ? 5 : 515)
      for (const place rows : {place{1}, place{3}, place{cols == 65 ? 66 : 2}})
        for (const numbers kind : all_numbers) check(scale, rows, cols, kind);
}

}  // namespace

TEST_CASE("blocks by powers of two are the same bits on every instruction set",
          "[kernel][conversion][long]") {
  tally count;
  const std::vector<float> scales{0x1p-149f, 0x1p-128f, 0x1p-127f, 0x1p-126f,
                                  0x1p-30f,  1.0f,      0x1p60f,   0x1p120f};
  check_quantising<std::int8_t>(count, scales, power_of_two, 127);
  check_quantising<std::int8_t>(count, {0.5f}, power_of_two, 3);
  check_quantising<std::int16_t>(count, scales, power_of_two, 32767);
  check_quantising<std::int32_t>(count, {1.0f}, power_of_two, 2147483647.0);
  check_quantising<std::int32_t>(count, {1.0f}, power_of_two, 16777217.0);
  count.require_at_least(10'000);
}

TEST_CASE("blocks by any scale are the same bits on every instruction set", "[kernel][conversion][long]") {
  tally count;
  std::vector<float> scales{std::numeric_limits<float>::quiet_NaN(),
                            0x1p-149f,
                            0x1p-126f,
                            0x1.fffep-1f,
                            0x1.fffffep0f,
                            0x1.0001p121f};
  std::mt19937 random(11);
  for (int i = 0; i < 20; ++i) {
    const auto bits = static_cast<std::uint32_t>(random()) & 0x7fff'ffff;
    scales.push_back(int8::step::reaching<rounding::nearest_even>(bits % 0x7f80'0000));
    scales.push_back(std::ldexp(1.0f + static_cast<float>(bits >> 8) * 0x1p-23f, static_cast<int>(bits % 8)));
  }
  check_quantising<std::int8_t>(count, scales, real, 127);
  count.require_at_least(10'000);
}

TEST_CASE("numbers next to those at which a draw carries are the same bits on every instruction set",
          "[kernel][conversion]") {
  // Rounding stochastically adds a draw of 32 bits to the fraction; here both together are next to 1.
  tally count;
  std::mt19937 random(19);
  constexpr place rows = 24, cols = 700;
  for (int i = 0; i < 12; ++i) {
    const std::uint64_t seed = random();
    const auto bits = (static_cast<std::uint32_t>(random()) & 0x0fff'ffff) + 0x3800'0000;
    const float clip = std::bit_cast<float>(bits), scale = int8::step::reaching<rounding::stochastic>(bits);
    std::vector<float> from(rows * cols);
    for (place row = 0; row < rows; ++row)
      for (place col = 0; col < cols; ++col) {
        const auto at = static_cast<std::uint64_t>(row * cols + col);
        const std::uint32_t draw =
            detail::random_bits(detail::random_key(seed, at), static_cast<std::uint32_t>(at));
        const double carries = static_cast<double>(random() % 127 + 1) - draw * 0x1p-32;
        auto x = static_cast<float>(carries * double{scale});
        for (auto steps = random() % 4; steps > 0; --steps)
          x = std::nextafter(x, random() % 2 == 0 ? 0 : 2 * x);
        from[static_cast<std::size_t>(row + col * rows)] = random() % 2 == 0 ? x : -x;
      }
    const auto check = [&]<class Format>(block_tensor<Format> tensor) {
      std::vector<std::int8_t> expected;
      for_each_isa([&](const std::string& isa) {
        tensor.assign(matrix_view<const float>{from.data(), rows, cols, 1, rows}, rounding::stochastic(seed),
                      std::span(&clip, 1));
        const std::vector<std::int8_t> got(tensor.mantissas().begin(), tensor.mantissas().end());
        if (isa == "portable") expected = got;
        for (std::size_t k = 0; k < got.size(); ++k)
          count.expect(got[k] == expected[k],
                       [&] { return text(isa, from[k], "over", scale, "gives", got[k]); });
      });
    };
    check(block_tensor<basic_int8<per_tensor, rounding::stochastic>>());
    check(block_tensor<basic_int8<per_row, rounding::stochastic>>(0, 0, storage_order::column_major));
  }
  count.require_at_least(2 * 12 * rows * cols);
}

namespace {

/// Numbers next to which there are two multiples of the scale, exactly in the middle or next to it.
std::vector<float> numbers_around_ties(float scale) {
  std::vector<float> result;
  for (int k = -129; k <= 129; ++k) {
    const float tie = static_cast<float>((k + 0.5) * double{scale});
    for (const float x : {tie, std::nextafter(tie, 1e30f), std::nextafter(tie, -1e30f)}) result.push_back(x);
  }
  return result;
}

/// Whether q is the integer of -127 to 127 next to x / scale, of two the even one.
bool is_nearest(float x, float scale, std::int8_t q) {
  // |x - q scale| is exact in double.
  const double rest = 2 * std::abs(double{x} - q * double{scale});
  const bool is_end = std::abs(int{q}) == 127;
  return rest < double{scale} || (rest == double{scale} && (q % 2 == 0 || is_end)) ||
         (is_end && std::abs(double{x}) > 127.5 * double{scale});
}

float some_scale(std::mt19937& random) {
  const auto bits = (static_cast<std::uint32_t>(random()) & 0x0fff'ffff) + 0x3800'0000;
  return int8::step::reaching<rounding::nearest_even>(bits);
}

}  // namespace

TEST_CASE("every number of a line to the nearest multiple of a scale, exactly", "[kernel][conversion]") {
  tally count;
  std::mt19937 random(12);
  for (int i = 0; i < 300; ++i) {
    const float scale = some_scale(random);
    const std::vector<float> from = numbers_around_ties(scale);
    const auto n = static_cast<place>(from.size());
    for_each_isa([&](const std::string& isa) {
      std::vector<std::int8_t> to(from.size());
      kernel::quantize(matrix_view<const float>{from.data(), 1, n, n, 1},
                       matrix_view<std::int8_t>{to.data(), 1, n, n, 1}, scale, real, {-127, 127},
                       rounding::nearest_even{}, {});
      for (std::size_t e = 0; e < to.size(); ++e)
        count.expect(is_nearest(from[e], scale, to[e]),
                     [&] { return text(isa, from[e], "over", scale, "gave", int{to[e]}); });
    });
  }
  count.require_at_least(100'000);
}

TEST_CASE("every number of a line to the nearest multiple of a scale of its place, exactly",
          "[kernel][conversion]") {
  tally count;
  std::mt19937 random(13);
  for (const place places : {1, 15, 16, 40, 256}) {
    std::vector<float> scales;
    for (place i = 0; i < places; ++i) scales.push_back(some_scale(random));
    std::vector<std::vector<float>> of_places;
    for (const float scale : scales) of_places.push_back(numbers_around_ties(scale));
    const auto lines = static_cast<place>(of_places[0].size());
    std::vector<float> from;
    for (std::size_t line = 0; line < of_places[0].size(); ++line)
      for (const auto& numbers : of_places) from.push_back(numbers[line]);
    for_each_isa([&](const std::string& isa) {
      std::vector<std::int8_t> to(from.size());
      kernel::quantize(matrix_view<const float>{from.data(), places, lines, 1, places},
                       matrix_view<std::int8_t>{to.data(), places, lines, 1, places},
                       kernel::tile_map<const float>{scales.data(), 1, 0, 1, lines}, real, {-127, 127},
                       rounding::nearest_even{}, kernel::element_order{});
      for (std::size_t e = 0; e < to.size(); ++e) {
        const float scale = scales[e % scales.size()];
        count.expect(is_nearest(from[e], scale, to[e]),
                     [&] { return text(isa, from[e], "over", scale, "gave", int{to[e]}); });
      }
    });
  }
  count.require_at_least(100'000);
}

TEST_CASE("largest magnitudes on every instruction set, whatever is not finite", "[kernel][conversion]") {
  tally count;
  for (place cols = 0; cols <= 4 * 16 * 4 + 3; cols += cols < 70 ? 1 : 7)
    for (const place rows : {1, 4})
      for (const layout gaps : {layout::dense, layout::gaps, layout::apart})
        for (int kind = 0; kind < 3; ++kind) {
          std::mt19937 random(static_cast<unsigned>(cols));
          lines<std::int8_t> l(rows, cols, false, gaps);
          for (float& x : l.from) x = number_of(numbers::wide, 1, random);
          for (place bad = 0; bad < kind && cols > 0; ++bad)
            l.from[1 + (gaps == layout::apart ? 2 : 1) * (random() % static_cast<unsigned>(cols))] =
                bad == 0 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
          detail::absmax expected{5};
          std::size_t nonfinite = 0;
          for (place i = 0; i < rows; ++i)
            for (place j = 0; j < cols; ++j) {
              const auto bits = detail::magnitude_bits(l.x(i, j));
              expected.add(bits);
              nonfinite += bits >= detail::binary32::infinity;
            }
          for_each_isa([&](const std::string& isa) {
            detail::absmax got{5};
            const std::size_t found = kernel::gather_magnitudes(l.x, got);
            count.expect(got.bits == expected.bits && found == nonfinite, [&] {
              return text(isa, rows, cols, kind, got.bits, expected.bits, found, nonfinite);
            });
          });
        }
  count.require_at_least(1000);
}

namespace {

/// from -> to as scalar conversions do it, under three policies.
template <class To, class From> void check_conversion(tally& count, const std::vector<From>& from) {
  const auto check = [&](const auto& round) {
    for_each_isa([&](const std::string& isa) {
      std::vector<To> got(from.size());
      convert(from, got, round);
      for (std::size_t i = 0; i < from.size(); ++i) {
        const auto expected = narrow_cast<To>(from[i], at_element(round, i));
        count.expect(got[i].bits() == expected.bits(), [&] {
          return text(isa, "element", i, static_cast<double>(from[i]), "gave", static_cast<double>(got[i]),
                      "not", static_cast<double>(expected));
        });
      }
    });
  };
  check(rounding::nearest_even{});
  check(rounding::toward_zero{});
  check(rounding::stochastic{5, (std::uint64_t{1} << 32) - 1500});
}

template <class From> std::vector<From> some_codes(std::size_t n) {
  std::mt19937 random(13);
  std::vector<From> codes(n);
  for (From& x : codes) {
    x = From::from_bits(static_cast<typename From::bits_type>(random()));
    if (random() % 2 == 0) x = From(number_of(all_numbers[random() % 5], 0x1p-9f, random));
  }
  return codes;
}

}  // namespace

TEST_CASE("one narrow format into another, in pieces of any length", "[kernel][conversion]") {
  tally count;
  const auto check = [&]<class A, class B>(std::type_identity<A>, std::type_identity<B>) {
    for (const std::size_t n : {0u, 1u, 15u, 16u, 17u, 67u, 500u, 2047u, 2048u, 2049u, 4200u}) {
      check_conversion<B>(count, some_codes<A>(n));
      check_conversion<A>(count, some_codes<B>(n));
    }
  };
  check(std::type_identity<fp16>{}, std::type_identity<bf16>{});
  check(std::type_identity<fp16>{}, std::type_identity<fp8_e5m2>{});
  check(std::type_identity<bf16>{}, std::type_identity<fp8_e4m3fn>{});
  check(std::type_identity<fp8_e4m3fnuz>{}, std::type_identity<fp4_e2m1>{});
  check(std::type_identity<floating<8, 10>>{}, std::type_identity<fp16>{});
  check(std::type_identity<floating<4, 16>>{}, std::type_identity<floating<8, 22>>{});
  check(std::type_identity<fixed<16, 8>>{}, std::type_identity<bf16>{});
  check(std::type_identity<fixed<32, 16>>{}, std::type_identity<fixed<8, 4>>{});
  count.require_at_least(100'000);
}

TEST_CASE("double into narrow formats is rounded once", "[kernel][conversion]") {
  tally count;
  const auto check = [&]<class T>(std::type_identity<T>) {
    std::vector<double> from{0.0,
                             -0.0,
                             1e300,
                             -1e300,
                             0x1p-1074,
                             -0x1p-200,
                             std::numeric_limits<double>::infinity(),
                             0x1.fffffefffffffp127,
                             0x1.ffffffp127,
                             0x1.fefffffffffffp127,
                             0x1.ffp127};
    std::mt19937_64 random(14);
    for (int i = 0; i < 4000; ++i) {
      // Next to a tie between two numbers, by less than float tells.
      const auto x = static_cast<double>(T::from_bits(static_cast<typename T::bits_type>(random())));
      const auto y = static_cast<double>(T::from_bits(static_cast<typename T::bits_type>(random())));
      const double near = static_cast<double>(T(x * 1.01)), middle = (x + near) / 2;
      for (const double z : {middle, middle * (1 + 0x1p-50), middle * (1 - 0x1p-50), (x + y) / 2, x})
        if (z == z || i == 3000) from.push_back(z);
    }
    check_conversion<T>(count, from);
    from.push_back(std::numeric_limits<double>::quiet_NaN());
    check_conversion<T>(count, from);
  };
  check(std::type_identity<fp16>{});
  check(std::type_identity<bf16>{});
  check(std::type_identity<fp8_e4m3fn>{});
  check(std::type_identity<fixed<16, 8>>{});
  check(std::type_identity<floating<8, 10>>{});
  check(std::type_identity<floating<6, 21>>{});
  check(std::type_identity<floating<8, 22>>{});
  check(std::type_identity<fixed<22, 3>>{});
  check(std::type_identity<fixed<32, 30>>{});
  count.require_at_least(100'000);
}

TEST_CASE("long lines of every code, and of numbers with few subnormals", "[kernel][conversion]") {
  tally count;
  const auto check = [&]<class T>(std::type_identity<T>) {
    for (const std::size_t n : {511u, 512u, 513u, 543u, 544u, 545u, 1000u}) {
      std::vector<T> codes(n);
      for (std::size_t i = 0; i < n; ++i) codes[i] = T::from_bits(static_cast<typename T::bits_type>(i * 37));
      std::vector<float> expected;
      for_each_isa([&](const std::string& isa) {
        std::vector<float> got(n);
        convert(codes, got);
        if (isa == "portable") expected = got;
        for (std::size_t i = 0; i < n; ++i)
          count.expect(std::bit_cast<std::uint32_t>(got[i]) == std::bit_cast<std::uint32_t>(expected[i]),
                       [&] { return text(isa, "code", std::uint32_t{codes[i].bits()}, "gave", got[i]); });
      });
    }
    std::mt19937 random(15);
    const auto tiny = static_cast<float>(std::numeric_limits<T>::denorm_min());
    for (const std::size_t n : {1023u, 1024u, 1025u, 1039u, 1040u, 1041u, 2500u})
      for (int small = 0; small < 3; ++small) {  // none, one, at the end
        std::vector<float> from(n);
        for (float& x : from) x = number_of(numbers::near_ties, 1, random);
        if (small == 1) from[random() % n] = 0.75f * tiny;
        if (small == 2) from[n - 1] = 0.75f * tiny;
        check_conversion<T>(count, from);
      }
  };
  check(std::type_identity<fp8_e4m3fn>{});
  check(std::type_identity<fp8_e5m2>{});
  check(std::type_identity<fp8_e4m3fnuz>{});
  check(std::type_identity<fp6_e3m2>{});
  check(std::type_identity<fp4_e2m1>{});
  check(std::type_identity<fp16>{});
  check(std::type_identity<bf16>{});
  check(std::type_identity<floating<8, 10>>{});
  check(std::type_identity<floating<5, 12, specials::fn>>{});
  check(std::type_identity<floating<3, 20, specials::none>>{});
  check(std::type_identity<floating<6, 16, specials::fnuz>>{});
  check(std::type_identity<floating<8, 22>>{});
  check(std::type_identity<floating<8, 23>>{});
  count.require_at_least(100'000);
}

TEST_CASE("arrays larger than the caches", "[kernel][conversion][long]") {
  constexpr std::size_t n = (std::size_t{1} << 24) + 4099;
  tally count;
  const auto check = [&]<class From, class To>(const std::vector<From>& from, std::type_identity<To>,
                                               const auto& policy) {
    constexpr std::size_t around = 3;  // elements before and after, which must stay
    const To canary(0.25f);
    std::vector<To> whole(n + 2 * around, canary);
    convert(from, std::span(whole).subspan(around, n), policy);
    for (std::size_t i = 0; i < around; ++i)
      count.expect(whole[i] == canary && whole[n + around + i] == canary, [&] { return text("canary", i); });
    std::vector<To> piece(1000);
    for (std::size_t i = 0; i < n; i += 100'000) {  // pieces are small enough to stay in the caches
      const std::size_t length = std::min(piece.size(), n - i);
      if constexpr (requires { policy.at(i); })
        convert(std::span(from).subspan(i, length), std::span(piece).first(length), policy.at(i));
      else
        convert(std::span(from).subspan(i, length), std::span(piece).first(length), policy);
      count.expect(std::memcmp(piece.data(), whole.data() + around + i, length * sizeof(To)) == 0,
                   [&] { return text(name_of<To>(), "from", i); });
    }
  };
  std::vector<float> floats(n);
  std::mt19937 random(11);
  for (float& x : floats) x = number_of(numbers::wide, 0.001f, random);
  floats[70'000] = std::numeric_limits<float>::quiet_NaN();
  std::vector<fp16> halves(n);
  convert(floats, halves);
  for_each_isa([&](const std::string&) {
    check(floats, std::type_identity<fp16>{}, rounding::nearest_even{});
    check(floats, std::type_identity<fp8_e4m3fn>{}, rounding::nearest_even{});
    check(floats, std::type_identity<bf16>{}, rounding::stochastic(12));
    check(halves, std::type_identity<float>{}, rounding::nearest_even{});
  });
  count.require_at_least(4 * (n / 100'000));
}

TEST_CASE("empty arrays, which may be nowhere in memory, are converted and quantised",
          "[kernel][conversion]") {
  // What is checked is that sanitizers find nothing.
  for_each_isa([&](const std::string&) {
    std::vector<float> floats;
    std::vector<double> doubles;
    for_each_type<std::tuple<fp16, bf16, fp8_e4m3fn, fp6_e2m3, floating<6, 16>, fixed<8, 4>, fixed<16, 8>,
                             fixed<32, 20>>>([&]<class T>() {
      std::vector<T> numbers;
      convert(numbers, floats);
      convert(numbers, doubles);
      convert(floats, numbers);
      convert(doubles, numbers);
      convert(floats, numbers, rounding::stochastic(1));
    });
    for_each_type<std::tuple<bfp<8>, bfp<14, per_column>, int8, basic_int8<per_row>, basic_int8<tile<3, 5>>,
                             mx<fp8_e4m3fn>>>([&]<class Format>() {
      for (const auto& [rows, cols] : {std::pair<place, place>{0, 0}, {0, 7}, {7, 0}}) {
        const auto tensor = quantize<Format>(matrix_view<const float>{nullptr, rows, cols, cols, 1});
        REQUIRE(tensor.rows() == rows);
        dequantize(tensor, floats);
      }
    });
  });
}
