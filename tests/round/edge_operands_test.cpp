// The operations of Berkeley TestFloat in every format, those of more than 16 bits among them, and in every
// rounding mode, on the operands that it tries, against exact rationals.
#include <compare>

#include "../rational_oracle.hpp"
#include "arithmetic.hpp"
#include "edge_operands.hpp"

using namespace test;

namespace {

struct added {
  template <class T> static T apply(T a, T b) { return a + b; }
  static oracle::outcome exact(const oracle::ladder& t, const oracle::operand& a, const oracle::operand& b) {
    return oracle::rounded(t, oracle::sum(a, b));
  }
};
struct subtracted {
  template <class T> static T apply(T a, T b) { return a - b; }
  static oracle::outcome exact(const oracle::ladder& t, const oracle::operand& a, const oracle::operand& b) {
    return oracle::rounded(t, oracle::sum(a, oracle::negated(b)));
  }
};
struct multiplied {
  template <class T> static T apply(T a, T b) { return a * b; }
  static oracle::outcome exact(const oracle::ladder& t, const oracle::operand& a, const oracle::operand& b) {
    return oracle::rounded(t, oracle::product(a, b));
  }
};
struct divided {
  template <class T> static T apply(T a, T b) { return a / b; }
  static oracle::outcome exact(const oracle::ladder& t, const oracle::operand& a, const oracle::operand& b) {
    return oracle::quotient(t, a, b);
  }
};
using operations = std::tuple<added, subtracted, multiplied, divided>;

/// compute.operator()<U>() is `right`, for T under every rounding mode and overflow rule U.
template <class T, class Compute, class... Args>
void check(tally& count, const oracle::outcome& right, const Compute& compute, const Args&... args) {
  for_each_policy<T>([&]<class U>() {
    const U result = compute.template operator()<U>();
    count.expect(oracle::matches_on_ladder(right, result),
                 [&] { return text(name_of<U>(), args..., "gives", result.bits()); });
  });
}

template <class T> oracle::operand operand_of(std::uint64_t code) {
  return oracle::format_of<T>.decode(code);
}

template <class T> void check_pairs(tally& count, const std::vector<code_pair>& pairs) {
  const oracle::ladder& t = oracle::ladder_of<T>();
  for (const code_pair& pair : pairs) {
    const std::uint64_t a = pair.first, b = pair.second;
    for_each_type<operations>([&]<class Op>() {
      check<T>(
          count, Op::exact(t, operand_of<T>(a), operand_of<T>(b)),
          [&]<class U>() { return Op::apply(from_code<U>(a), from_code<U>(b)); }, name_of<Op>(), a, b);
    });
  }
}

template <class T> void check_roots(tally& count, const code_list& codes) {
  for (const std::uint64_t code : codes)
    check<T>(
        count, oracle::square_root(oracle::ladder_of<T>(), operand_of<T>(code)),
        [&]<class U>() { return sqrt(from_code<U>(code)); }, "sqrt", code);
}

/// a * b + c, where every other c is next to what cancels the product.
template <class T> void check_fma(tally& count, edge_operands& operands, std::uint64_t triples) {
  const oracle::ladder& t = oracle::ladder_of<T>();
  for (std::uint64_t i = 0; i < triples; ++i) {
    const std::uint64_t a = i % 3 == 0 ? operands.one_of(operands.few()) : operands.any(),
                        b = i % 3 == 1 ? operands.one_of(operands.few()) : operands.any();
    std::uint64_t c = i % 5 == 0 ? operands.one_of(operands.few()) : operands.any();
    const oracle::operand product = oracle::product(operand_of<T>(a), operand_of<T>(b));
    if (i % 2 == 0 && product.what == oracle::kind::number) {
      c = std::min(oracle::rounded(t, product).below + below(operands.random(), 3), t.codes.back());
      if (!product.negative) c += t.of.sign();
    }
    check<T>(
        count, oracle::rounded(t, oracle::sum(product, operand_of<T>(c))),
        [&]<class U>() { return fma(from_code<U>(a), from_code<U>(b), from_code<U>(c)); }, "fma", a, b, c);
  }
}

/// Of the only operand: each exponent of the longer list with each mantissa, and as many random codes.
template <class T> code_list single_operands(edge_operands& operands) {
  constexpr auto f = oracle::format_of<T>;
  code_list result;
  for (const std::uint64_t field : operands.outer_fields())
    for (const std::uint64_t mantissa : operands.mantissas())
      for (const std::uint64_t sign : {std::uint64_t{0}, f.sign()}) {
        result.push_back(sign + (field << f.mantissa_bits) + mantissa);
        result.push_back(operands.any());
      }
  return result;
}

}  // namespace

TEST_CASE("operands of Berkeley TestFloat: as many as its tables have", "[round][edges]") {
  edge_operands floats(oracle::format_of<narrow::floating<8, 23>>, 1),
      halves(oracle::format_of<narrow::fp16>, 1);
  REQUIRE(floats.mantissas().size() == 88);         // f32NumP2
  REQUIRE(2 * floats.inner_fields().size() == 22);  // f32NumQIn
  REQUIRE(2 * floats.outer_fields().size() == 50);  // f32NumQOut
  REQUIRE(floats.pairs().size() == 46464);          // the tests of f32_add at level 1
  REQUIRE(2 * halves.inner_fields().size() == 22);
  REQUIRE(halves.pairs().size() == 46464);
}

TEMPLATE_LIST_TEST_CASE("+ - * / of TestFloat's operands are the exact results, rounded once",
                        "[round][edges]", edge_floating_formats) {
  edge_operands operands(oracle::format_of<TestType>, 2024);
  const auto pairs = operands.pairs();
  tally count;
  check_pairs<TestType>(count, pairs);
  count.require(pairs.size() * std::tuple_size_v<operations> * policy_count<TestType>);
}

TEMPLATE_LIST_TEST_CASE("sqrt and fma of TestFloat's operands are the exact results, rounded once",
                        "[round][edges]", edge_floating_formats) {
  edge_operands operands(oracle::format_of<TestType>, 2024);
  const auto codes = single_operands<TestType>(operands);
  constexpr std::uint64_t triples = 40'000;
  tally count;
  check_roots<TestType>(count, codes);
  check_fma<TestType>(count, operands, triples);
  count.require((codes.size() + triples) * policy_count<TestType>);
}

TEMPLATE_LIST_TEST_CASE("a million of TestFloat's operands of each operation", "[round][edges][.exhaustive]",
                        edge_floating_formats) {
  constexpr std::uint64_t millions = 1'000'000;
  edge_operands operands(oracle::format_of<TestType>, 7);
  std::vector<code_pair> pairs;
  for (std::uint64_t i = 0; i < millions; ++i) pairs.emplace_back(operands.any(), operands.any());
  tally count;
  check_pairs<TestType>(count, pairs);
  check_fma<TestType>(count, operands, millions);
  count.require(millions * (std::tuple_size_v<operations> + 1) * policy_count<TestType>);
}
