// The operations that round, each beside its oracle.
#pragma once

#include "../fixed_oracle.hpp"
#include "../policies.hpp"
#include "../samples.hpp"
#include "../tally.hpp"

namespace test {

struct plus {
  static constexpr auto name = "+";
  template <class A, class B> static auto apply(A a, B b) { return a + b; }
  static oracle::outcome exact(const oracle::table& t, const oracle::operand& a, const oracle::operand& b) {
    return oracle::rounded(t, oracle::sum(a, b));
  }
  static oracle::fixed_outcome exact(int fraction_length, const mpq_class& a, const mpq_class& b) {
    return oracle::rounded(fraction_length, mpq_class(a + b));
  }
};
struct minus {
  static constexpr auto name = "-";
  template <class A, class B> static auto apply(A a, B b) { return a - b; }
  static oracle::outcome exact(const oracle::table& t, const oracle::operand& a, const oracle::operand& b) {
    return oracle::rounded(t, oracle::sum(a, oracle::negated(b)));
  }
  static oracle::fixed_outcome exact(int fraction_length, const mpq_class& a, const mpq_class& b) {
    return oracle::rounded(fraction_length, mpq_class(a - b));
  }
};
struct times {
  static constexpr auto name = "*";
  template <class A, class B> static auto apply(A a, B b) { return a * b; }
  static oracle::outcome exact(const oracle::table& t, const oracle::operand& a, const oracle::operand& b) {
    return oracle::rounded(t, oracle::product(a, b));
  }
  static oracle::fixed_outcome exact(int fraction_length, const mpq_class& a, const mpq_class& b) {
    return oracle::rounded(fraction_length, mpq_class(a * b));
  }
};
struct over {
  static constexpr auto name = "/";
  template <class A, class B> static auto apply(A a, B b) { return a / b; }
  static oracle::outcome exact(const oracle::table& t, const oracle::operand& a, const oracle::operand& b) {
    return oracle::quotient(t, a, b);
  }
  static oracle::fixed_outcome exact(int fraction_length, const mpq_class& a, const mpq_class& b) {
    return oracle::quotient(fraction_length, a, b);
  }
};
template <class T> T from_code(std::uint64_t code) {
  return T::from_bits(static_cast<typename T::bits_type>(code));
}

/// a op b of two codes of the floating format T, under every rounding mode and overflow rule.
template <class T, class Op> void check_operation(tally& count, code_pair pair) {
  const auto& t = oracle::table_of<T>();
  const auto right = Op::exact(t, t.of.decode(pair.first), t.of.decode(pair.second));
  for_each_policy<T>([&]<class U>() {
    const U result = Op::apply(from_code<U>(pair.first), from_code<U>(pair.second));
    count.expect(oracle::matches(right, result), [&] {
      return text(name_of<U>(), pair.first, Op::name, pair.second, "gives", result.bits());
    });
  });
}

/// 8-bit formats and narrower: every pair. Wider: the edges and random pairs.
template <class T> std::vector<code_pair> pairs_of() {
  constexpr auto f = oracle::format_of<T>;
  if (f.codes() <= 256) return all_pairs(f);
  generator random(2024);
  return sample_pairs(f, std::same_as<T, narrow::fp16> ? 360'000 : 60'000, random);
}

/// a op b for all those pairs, under every rounding mode and overflow rule.
template <class T, class... Ops> void check_operations() {
  const auto pairs = pairs_of<T>();
  tally count;
  (..., [&]<class Op>(Op) {
    for (const auto& pair : pairs) check_operation<T, Op>(count, pair);
  }(Ops{}));
  count.require(pairs.size() * sizeof...(Ops) * policy_count<T>);
}

}  // namespace test
