// Functions, roots and quotients of fixed-point matrices, which are computed in lanes or looked up, have the
// numbers that the functions of single numbers have: those round the value in double of the C library, and
// know what lies on which side of a tie. On every instruction set.
#include <narrow/eigen.hpp>

#include "catch.hpp"
#include "every_isa.hpp"
#include "exhaustive.hpp"
#include "float_control.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
template <class T> using array = Eigen::Array<T, Eigen::Dynamic, 1>;

struct counts {
  at compared = 0, different = 0;
};

/// Every step-th number of T, from the least one on.
template <class T> array<T> numbers(at step) {
  constexpr at count = at{1} << T::word_length;
  array<T> x((count - 1) / step + 1);
  for (at i = 0; i < x.size(); ++i)
    x(i) = T::from_bits(static_cast<typename T::bits_type>(i * step - count / 2));
  return x;
}

template <class T> counts check(const array<T>& x, const test::environment& in = {}) {
  counts all;
  array<T> got(x.size());
  const array<T> turned = x.reverse();
  const auto compare = [&](const char* name, const auto& compute, const auto& right) {
    in.run([&] { compute(); });
    at different = 0;
    for (at i = 0; i < x.size(); ++i) different += got(i).bits() != T(right(x(i), turned(i))).bits();
    INFO(name);
    CHECK(different == 0);
    all.compared += x.size();
    all.different += different;
  };
#define NARROW_COMPARE(name) \
  compare(                   \
      #name, [&] { got = x.name(); }, [](T p, T) { return name(p); });
  NARROW_ELEMENTARY_FUNCTIONS(NARROW_COMPARE)
  NARROW_COMPARE(erf)
  NARROW_COMPARE(erfc)
  NARROW_COMPARE(sqrt)
#undef NARROW_COMPARE
#define NARROW_COMPARE(name) \
  compare(                   \
      #name, [&] { got = name(x); }, [](T p, T) { return name(p); });
  NARROW_COMPARE(softplus)
  NARROW_COMPARE(silu)
  NARROW_COMPARE(gelu)
  NARROW_COMPARE(gelu_tanh)
#undef NARROW_COMPARE
  compare(
      "inverse", [&] { got = x.inverse(); }, [](T p, T) { return T(1) / p; });
  compare(
      "quotient", [&] { got = x / turned; }, [](T p, T q) { return p / q; });
  compare(
      "quotient by the sum", [&] { got = x / (x + turned); }, [](T p, T q) { return p / (p + q); });
  compare(
      "function of a difference", [&] { got = turned * (x - turned).tanh(); },
      [](T p, T q) { return q * tanh(p - q); });
  return all;
}
constexpr at comparisons = 20 + 3 + 4 + 4;

using formats =
    test::some_of<std::tuple<fixed<8, 4>, fixed<16, 8>, fixed<16, 15>, fixed<16, 11, rounding::toward_zero>,
                             fixed<12, 0, rounding::nearest_away>, fixed<8, 7>, fixed<16, 0>, fixed<16, 12>,
                             fixed<10, 9>, fixed<8, 2, rounding::upward>, fixed<16, 3, rounding::downward>,
                             fixed<13, 11, rounding::to_odd>,
                             fixed<8, 4, rounding::nearest_even, overflow::wrap>, fixed<2, 1>>,
                  1, 3>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("functions of fixed-point matrices are those of their numbers", "[eigen][lanes]",
                        formats) {
  using T = TestType;
  at compared = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    const array<T> all = numbers<T>(T::word_length > 8 ? 61 : 1);
    for (const array<T>& x : {all, array<T>(all.head(std::min<at>(all.size(), 21)))}) {
      const counts some = check(x);
      CHECK(some.different == 0);
      CHECK(some.compared == comparisons * x.size());
      compared += some.compared;
    }
  });
  REQUIRE(compared >= at(test::isa_count()) * comparisons * 8);
}

TEMPLATE_LIST_TEST_CASE("functions of every number in fixed-point matrices are those of single ones",
                        "[eigen][lanes][.exhaustive]", formats) {
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    const counts all = check(numbers<TestType>(1));
    CHECK(all.different == 0);
    CHECK(all.compared == comparisons << TestType::word_length);
  });
}

// Of formats of at most 12 bits they are computed in float, of longer ones in double.
TEMPLATE_TEST_CASE("quotients of pairs of numbers are those of single ones", "[eigen][lanes]", (fixed<8, 4>),
                   (fixed<8, 7, rounding::nearest_away>), (fixed<8, 0, rounding::toward_zero>),
                   (fixed<8, 3, rounding::upward>), (fixed<8, 5, rounding::downward>),
                   (fixed<8, 6, rounding::to_odd>), (fixed<12, 11>), (fixed<12, 4, rounding::to_odd>),
                   (fixed<13, 12>)) {
  using T = TestType;
  const array<T> x = numbers<T>(1), below = numbers<T>(T::word_length > 8 ? 37 : 1);
  at compared = 0, different = 0;
  std::vector<array<T>> right;
  for (const T q : below) right.push_back(x.unaryExpr([q](T p) { return p / q; }));
  test::for_each_isa([&](const std::string&) {
    for (at k = 0; k < below.size(); ++k) {
      const array<T> got = x / array<T>::Constant(x.size(), below(k)).eval();
      for (at i = 0; i < x.size(); ++i)
        different += got(i).bits() != right[static_cast<std::size_t>(k)](i).bits();
      compared += x.size();
    }
  });
  CHECK(different == 0);
  REQUIRE(compared >= at(test::isa_count()) * 65536);
}

TEST_CASE("functions of fixed-point matrices do not depend on the environment", "[eigen][lanes]") {
  test::for_each_environment([&](const test::environment& in) {
    INFO(in);
    CHECK(check(numbers<fixed<16, 8>>(997), in).different == 0);
    CHECK(in.is_kept());
  });
}
