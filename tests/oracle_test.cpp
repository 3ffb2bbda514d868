// The oracle itself, against numbers worked out by hand.
#include "oracle.hpp"

#include "fixed_oracle.hpp"
#include "policies.hpp"
#include "samples.hpp"
#include "tally.hpp"

using namespace oracle;
namespace rounding = narrow::rounding;
namespace overflow = narrow::overflow;

namespace {

constexpr format fp4{2, 1, narrow::specials::none};
constexpr format half{5, 10, narrow::specials::ieee};

outcome of_number(const table& t, long double x) { return rounded(t, datum_of(x)); }

template <class Round, class Overflow = overflow::ieee> std::uint64_t code(const table& t, long double x) {
  const codes result = encode<Round, Overflow>(t, of_number(t, x));
  REQUIRE(result[0] == result[1]);
  return result[0];
}

std::vector<std::uint64_t> in_every_mode(const table& t, long double x) {
  return {code<rounding::nearest_even>(t, x), code<rounding::nearest_away>(t, x),
          code<rounding::toward_zero>(t, x),  code<rounding::upward>(t, x),
          code<rounding::downward>(t, x),     code<rounding::to_odd>(t, x)};
}

using all = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("oracle: the table of fp4 is 0 .5 1 1.5 2 3 4 6 and, were there more, 8", "[oracle]") {
  const table t(fp4);
  REQUIRE(t.numbers == std::vector<double>{0, 0.5, 1, 1.5, 2, 3, 4, 6, 8});
  REQUIRE(t.codes == all{0, 1, 2, 3, 4, 5, 6, 7});
  REQUIRE(t.even(0));
  REQUIRE(!t.even(7));
  REQUIRE(t.even(8));
}

TEST_CASE("oracle: codes of the standards", "[oracle]") {
  REQUIRE(half.decode(0x3c00).magnitude == 1);
  REQUIRE(half.decode(0xc000).magnitude == 2);
  REQUIRE(half.decode(0xc000).negative);
  REQUIRE(half.decode(0x7bff).magnitude == 65504);
  REQUIRE(half.decode(0x0001).magnitude == 0x1p-24L);
  REQUIRE(half.decode(0x7c00).what == kind::infinite);
  REQUIRE(half.decode(0xfc01).what == kind::nan);
  REQUIRE(half.decode(0x8000).what == kind::zero);
  const format e4m3fn{4, 3, narrow::specials::fn}, e4m3fnuz{4, 3, narrow::specials::fnuz},
      bf16{8, 7, narrow::specials::ieee};
  REQUIRE(e4m3fn.decode(0x7e).magnitude == 448);
  REQUIRE(e4m3fn.decode(0xff).what == kind::nan);
  REQUIRE(e4m3fnuz.decode(0x7f).magnitude == 240);
  REQUIRE(e4m3fnuz.decode(0x80).what == kind::nan);
  REQUIRE(e4m3fnuz.decode(0x08).magnitude == 0x1p-7L);
  REQUIRE(bf16.decode(0x0001).magnitude == 0x1p-133L);
  REQUIRE(table(half).numbers.back() == 65536);
  REQUIRE(table(e4m3fn).numbers.back() == 480);
  REQUIRE(table(bf16).numbers.back() == 0x1p128);
}

TEST_CASE("oracle: the six modes about 2, 2.5 and 3 in fp4", "[oracle]") {
  const table t(fp4);
  // Codes of 2 and 3: 4 (even) and 5; negative: 12 and 13. In order: even, away, zero, up, down, odd.
  REQUIRE(in_every_mode(t, 2) == all{4, 4, 4, 4, 4, 4});
  REQUIRE(in_every_mode(t, 2.25) == all{4, 4, 4, 5, 4, 5});
  REQUIRE(in_every_mode(t, 2.5) == all{4, 5, 4, 5, 4, 5});
  REQUIRE(in_every_mode(t, 2.5 + 0x1p-40) == all{5, 5, 4, 5, 4, 5});
  REQUIRE(in_every_mode(t, -2.5) == all{12, 13, 12, 12, 13, 13});
  REQUIRE(in_every_mode(t, 3.5) == all{6, 6, 5, 6, 5, 5});  // between 3 (5) and 4 (6)
  REQUIRE(in_every_mode(t, 0.25) == all{0, 1, 0, 1, 0, 1});
  REQUIRE(in_every_mode(t, -0.25) == all{8, 9, 8, 8, 9, 9});
  REQUIRE(encode<rounding::stochastic, overflow::ieee>(t, of_number(t, 2.25)) == codes{4, 5});
  REQUIRE(encode<rounding::stochastic, overflow::ieee>(t, of_number(t, 2)) == codes{4, 4});
}

TEST_CASE("oracle: overflow in every mode, IEEE 754-2019 section 7.4", "[oracle]") {
  const table t(half);
  REQUIRE(in_every_mode(t, 65519) == all{0x7bff, 0x7bff, 0x7bff, 0x7c00, 0x7bff, 0x7bff});
  REQUIRE(in_every_mode(t, 65520) == all{0x7c00, 0x7c00, 0x7bff, 0x7c00, 0x7bff, 0x7bff});
  REQUIRE(in_every_mode(t, -65520) == all{0xfc00, 0xfc00, 0xfbff, 0xfbff, 0xfc00, 0xfbff});
  REQUIRE(in_every_mode(t, 1e9) == all{0x7c00, 0x7c00, 0x7bff, 0x7c00, 0x7bff, 0x7bff});
  REQUIRE(code<rounding::nearest_even, overflow::saturate>(t, 1e9) == 0x7bff);
  const table fn(format{4, 3, narrow::specials::fn});
  REQUIRE(code<rounding::nearest_even>(fn, 464) == 0x7e);
  REQUIRE(fn.of.decode(code<rounding::nearest_even>(fn, 465)).what == kind::nan);
  REQUIRE(code<rounding::to_odd>(fn, 450) == 0x7e);
  REQUIRE(code<rounding::nearest_even>(table(fp4), 1e9) == 7);
}

TEST_CASE("oracle: exact arithmetic sees one bit in two hundred", "[oracle]") {
  const table t(half);
  const datum one = datum_of(1.0), tiny = datum_of(0x1p-200), half_step = datum_of(0x1p-11);
  const operand nearly = sum(sum(one, half_step), tiny);
  REQUIRE(rounded(t, sum(one, half_step)).where == position::middle);
  REQUIRE(rounded(t, nearly).where == position::high_half);
  REQUIRE(rounded(t, sum(sum(one, half_step), negated(tiny))).where == position::low_half);
  REQUIRE(rounded(t, sum(nearly, negated(tiny))).where == position::middle);
  const outcome zero = rounded(t, sum(nearly, negated(nearly)));
  REQUIRE(zero.what == kind::zero);
  REQUIRE(zero.cancelled);
  REQUIRE(encode<rounding::downward, overflow::ieee>(t, zero)[0] == 0x8000);
  REQUIRE(encode<rounding::upward, overflow::ieee>(t, zero)[0] == 0);
  REQUIRE(quotient(t, one, datum_of(3)).where == position::low_half);  // 0.0101..., ten bits kept, then 0101
  REQUIRE(quotient(t, datum_of(3), datum_of(2)).where == position::on);
  REQUIRE(square_root(t, datum_of(2)).where == position::low_half);  // 1.0110101000 | 00100...
  REQUIRE(square_root(t, datum_of(4)).where == position::on);
  REQUIRE((exact(0x1.fffffffffffffffep16383L) > 0));
  REQUIRE((exact(1 + 0x1p-63L) - exact(1.0L) == exact(0x1p-63L)));
  REQUIRE((exact(0x1p-16445L) * exact(0x1p16383L) == exact(0x1p-62L)));
}

TEST_CASE("oracle: fixed-point mantissas", "[oracle]") {
  const auto mantissas_of = []<class Round, class Overflow>(Round, Overflow, double x) {
    return encode<Round, Overflow>(8, rounded(4, operand(datum_of(x))))[0];
  };
  REQUIRE(mantissas_of(rounding::nearest_even{}, overflow::saturate{}, 2.5 / 16) == 2);
  REQUIRE(mantissas_of(rounding::nearest_even{}, overflow::saturate{}, -3.5 / 16) == -4);
  REQUIRE(mantissas_of(rounding::downward{}, overflow::saturate{}, -3.1 / 16) == -4);
  REQUIRE(mantissas_of(rounding::upward{}, overflow::wrap{}, 127.1 / 16) == -128);
  REQUIRE(mantissas_of(rounding::nearest_even{}, overflow::wrap{}, -129.0 / 16) == 127);
  REQUIRE(mantissas_of(rounding::nearest_even{}, overflow::saturate{}, -1e9) == -128);
  REQUIRE((square_root(4, mpq_class(2)).whole == 22));  // 22.6
  REQUIRE(square_root(4, mpq_class(2)).where == position::high_half);
  REQUIRE((oracle::quotient(4, mpq_class(1), mpq_class(3)).whole == 5));  // 5.33
  REQUIRE((oracle::value(narrow::fixed<8, 4>::from_bits(-24)) == mpq_class(-3, 2)));
}

TEST_CASE("a tally counts and keeps the first mismatch", "[oracle]") {
  test::tally count;
  count.expect(true, [] { return std::string("not kept"); });
  count.expect(false, [] { return std::string("first"); });
  count.expect(false, [] { return std::string("second"); });
  REQUIRE(count.cases() == 3);
  REQUIRE(count.mismatches() == 2);
  REQUIRE(test::text(255, std::uint8_t{16}, "x") == "0xff 0x10 x ");
}

TEST_CASE("samples: edges and pairs", "[oracle]") {
  const auto edges = test::edge_codes(half);
  for (const std::uint64_t code : {0x0000u, 0x0001u, 0x03ffu, 0x0400u, 0x3bffu, 0x3c00u, 0x3c01u, 0x7bffu,
                                   0x7c00u, 0x7c01u, 0xfbffu, 0x8001u})
    REQUIRE(std::find(edges.begin(), edges.end(), code) != edges.end());
  REQUIRE(test::all_pairs(fp4).size() == 256);
  test::generator random(1);
  const auto pairs = test::sample_pairs(half, 1000, random);
  REQUIRE(pairs.size() == edges.size() * edges.size() + 1000);
  for (const auto& [a, b] : pairs) REQUIRE((a < 65536 && b < 65536));
}
