// sqrt and fma of the floating formats against the oracle.
#include "arithmetic.hpp"

using namespace test;

TEMPLATE_LIST_TEST_CASE("sqrt of every code is the exact root rounded once in every mode",
                        "[round][arithmetic]", floating_formats) {
  const auto& t = oracle::table_of<TestType>();
  tally count;
  for (std::uint64_t code = 0; code < t.of.codes(); ++code) {
    const auto right = oracle::square_root(t, t.of.decode(code));
    for_each_policy<TestType>([&]<class U>() {
      const U root = sqrt(from_code<U>(code));
      count.expect(oracle::matches(right, root),
                   [&] { return text(name_of<U>(), "sqrt", code, "gives", root.bits()); });
    });
  }
  count.require(t.of.codes() * policy_count<TestType>);
}

TEMPLATE_LIST_TEST_CASE("fma gives the exact result rounded once in every mode", "[round][arithmetic]",
                        floating_formats) {
  const auto& t = oracle::table_of<TestType>();
  generator random(2024);
  const auto edges = edge_codes(t.of);
  const auto pairs = sample_pairs(t.of, 40'000, random);
  tally count;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::uint64_t a = pairs[i].first, b = pairs[i].second;
    const oracle::operand product = oracle::product(t.of.decode(a), t.of.decode(b));
    // Anything, an edge, or what nearly cancels the product.
    std::uint64_t c = i % 3 == 1 ? edges[below(random, edges.size())] : below(random, t.of.codes());
    if (i % 3 == 2 && product.what == oracle::kind::number) {
      const auto at = oracle::rounded(t, product).below + below(random, 3);
      c = t.codes[std::min(at, t.codes.size() - 1)];
      if (!product.negative) c += t.of.sign();
    }
    const auto right = oracle::rounded(t, oracle::sum(product, t.of.decode(c)));
    for_each_policy<TestType>([&]<class U>() {
      const U result = fma(from_code<U>(a), from_code<U>(b), from_code<U>(c));
      count.expect(oracle::matches(right, result),
                   [&] { return text(name_of<U>(), a, '*', b, '+', c, "gives", result.bits()); });
    });
  }
  count.require(pairs.size() * policy_count<TestType>);
}
