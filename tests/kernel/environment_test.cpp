// The floating-point control register: no result depends on it, and no function leaves it changed.
#include <cfenv>
#include <set>
#include <span>

#include "../float_control.hpp"
#include "exhaustive.hpp"
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

/// Results as bits, each with what computed it.
class record {
 public:
  template <narrow_scalar T> void add(const char* what, T x) {
    put(what, static_cast<std::uint64_t>(x.bits()));
  }
  void add(const char* what, float x) { put(what, std::bit_cast<std::uint32_t>(x)); }
  void add(const char* what, double x) { put(what, std::bit_cast<std::uint64_t>(x)); }
  void add(const char* what, std::partial_ordering x) { put(what, x < 0 ? 1 : x == 0 ? 2 : x > 0 ? 3 : 4); }
  template <class T> void add(const char* what, const std::vector<T>& v) {
    for (const T x : v) add(what, x);
  }
  std::size_t size() const { return results_.size(); }

  /// What computed the results that differ, without repetition.
  std::string differences(const record& other) const {
    std::set<std::string> names;
    for (std::size_t i = 0; i < size(); ++i)
      if (results_[i] != other.results_[i]) names.insert(results_[i].first);
    std::string list;
    for (const auto& name : names) list += name + "; ";
    return list;
  }

 private:
  void put(const char* what, std::uint64_t bits) { results_.emplace_back(what, bits); }
  std::vector<std::pair<std::string, std::uint64_t>> results_;
};

/// Operands of which many are subnormal, in the format and in float.
struct operands {
  std::vector<bf16> tiny, normal;
  std::vector<fp16> half;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<fixed<32, 16>> steps;

  operands() {
    generator random(2024);
    for (int i = 0; i < 400; ++i) {
      const auto r = random();
      tiny.push_back(
          bf16::from_bits(static_cast<std::uint16_t>((r & 0x80ff) | 1)));  // subnormal, or just above
      normal.push_back(random_number<bf16>(random));
      half.push_back(fp16::from_bits(static_cast<std::uint16_t>(r >> 16 & 0x8fff)));
      floats.push_back(
          std::bit_cast<float>(static_cast<std::uint32_t>(i % 2 != 0 ? r & 0x80ff'ffff : r & 0xbfff'ffff)));
      doubles.push_back(
          std::bit_cast<double>(i % 2 != 0 ? r & 0x800f'ffff'ffff'ffff : r & 0xbfff'ffff'ffff'ffff));
      steps.push_back(random_number<fixed<32, 16>>(random));
    }
  }
};

template <class To, class From> std::vector<To> converted(const std::vector<From>& from) {
  std::vector<To> to(from.size());
  convert(from, to);
  return to;
}

template <class C, class T> std::vector<C> multiplied(const std::vector<T>& v, double alpha, double beta) {
  std::vector<C> c(400, C(1.25f));
  gemm(row_major(v, 20, 20), column_major(v, 20, 20), row_major(c, 20, 20), alpha, beta);
  return c;
}

/// One of everything that computes.
record everything(const operands& x) {
  record result;
  result.add("converted<float>(tiny)", converted<float>(x.tiny));
  result.add("converted<double>(tiny)", converted<double>(x.tiny));
  result.add("converted<fp16>(tiny)", converted<fp16>(x.tiny));
  result.add("converted<fp16>(floats)", converted<fp16>(x.floats));
  result.add("converted<bf16>(floats)", converted<bf16>(x.floats));
  result.add("converted<bf16>(doubles)", converted<bf16>(x.doubles));
  result.add("converted<fixed<32, 16>>(floats)", converted<fixed<32, 16>>(x.floats));
  result.add("converted<double>(steps)", converted<double>(x.steps));
  result.add("converted<float>(steps)", converted<float>(x.steps));
  for (const auto* v : {&x.tiny, &x.normal}) {
    result.add("dot(*v, normal)", dot(*v, x.normal));
    result.add("dot(*v, half)", dot(*v, x.half));
    result.add("dot(*v, doubles)", dot(*v, x.doubles));
    result.add("sum(*v)", sum(*v));
    result.add("mean(*v)", mean(*v));
    result.add("norm(*v)", norm(*v));
    result.add("mean(std::span(*v).first(1))", mean(std::span(*v).first(1)));
  }
  result.add("norm(std::span(half).first(3))", norm(std::span(x.half).first(3)));
  result.add("mean(steps)", mean(x.steps));
  result.add("norm(steps)", norm(x.steps));
  result.add("static_cast<double>(dot(steps, steps))", static_cast<double>(dot(x.steps, x.steps)));
  result.add("static_cast<float>(sum(steps))", static_cast<float>(sum(x.steps)));
  result.add("multiplied<float>(tiny, 1, 0)", multiplied<float>(x.tiny, 1, 0));
  result.add("multiplied<bf16>(normal, 0.3, 0.7)", multiplied<bf16>(x.normal, 0.3, 0.7));
  result.add("multiplied<float>(normal, 0x1p-140, 0)", multiplied<float>(x.normal, 0x1p-140, 0));
  result.add("multiplied<double>(steps, 0.3, 0.7)", multiplied<double>(x.steps, 0.3, 0.7));
  result.add("multiplied<fixed<32, 16>>(steps, 1, 1)", multiplied<fixed<32, 16>>(x.steps, 1, 1));
  for (std::size_t i = 1; i < x.tiny.size(); ++i) {
    const bf16 a = x.tiny[i], b = x.tiny[i - 1], c = x.normal[i];
    result.add("a + b", a + b);
    result.add("a - c", a - c);
    result.add("b * c", b * c);
    result.add("a / b", a / b);
    result.add("sqrt(abs(a))", sqrt(abs(a)));
    result.add("fma(a, c, b)", fma(a, c, b));
    result.add("a + 3", a + 3);
    result.add("a <=> b", a <=> b);
    result.add("a <=> floats[i]", a <=> x.floats[i]);
    result.add("doubles[i] <=> b", x.doubles[i] <=> b);
    result.add("bf16(floats[i])", bf16(x.floats[i]));
    result.add("static_cast<float>(a)", static_cast<float>(a));
    result.add("narrow_cast<bf16>(doubles[i], rounding::upward{})",
               narrow_cast<bf16>(x.doubles[i], rounding::upward{}));
    result.add("-a", -a);
  }
  return result;
}

}  // namespace

TEST_CASE("no result depends on the floating-point environment, and none changes it",
          "[kernel][environment]") {
  const operands x;
  const record right = [&] {
    const float_control control(plain_control);
    return everything(x);
  }();
  REQUIRE(right.size() > 10'000);
  for (const control_word rounding_mode : {control_word{0}, round_down, round_up, round_to_zero})
    for (const control_word flushing : flushing_modes)
      for (const control_word flags : {control_word{0}, exception_flags}) {
        const float_control control(plain_control | rounding_mode | flushing | flags);
        const control_word before = read_control();  // without bits that this processor has not
        const record result = everything(x);
        const control_word after = read_control();
        write_control(plain_control);
        INFO("control register " << std::hex << before);
        CHECK(result.differences(right) == "");
        // Flags that the test's own float code raises aside: rounding, flushing and masks.
        CHECK((after & ~exception_flags) == (before & ~exception_flags));
      }
}

using some_formats = test::some_of<all_formats, 0, 1, 2, 3>;
TEMPLATE_LIST_TEST_CASE("scalars do not depend on the floating-point environment", "[kernel][environment]",
                        some_formats) {
  using T = TestType;
  std::vector<T> a, b;
  std::vector<double> thirds;
  generator random(7);
  for (int i = 0; i < 3000; ++i) {
    const auto r = random();
    thirds.push_back(i / 3.0);
    a.push_back(T::from_bits(static_cast<typename T::bits_type>(r)));
    // Equal ones, neighbours, numbers of the same size, and any.
    const auto next = static_cast<std::uint64_t>(a.back().bits()) + r % 3;
    b.push_back(i % 4 == 0 ? -a.back()
                           : T::from_bits(static_cast<typename T::bits_type>(i % 4 == 1 ? next : r >> 20)));
  }
  const auto results = [&] {
    std::vector<std::uint64_t> bits;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (const T x : {a[i] + b[i], a[i] - b[i], a[i] * b[i], a[i] / b[i], sqrt(a[i]), T(thirds[i])})
        bits.push_back(x.bits());
    return bits;
  };
  const auto right = [&] {
    const float_control control(plain_control);
    return results();
  }();
  // Against arithmetic on numbers taken apart, which is all of integers.
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto exact = [&]<class Op>(Op) {
      return std::uint64_t{
          T(Op::exact(unpack(a[i]), unpack(b[i]), sign::positive), rounding::nearest_even{}, overflow::ieee{})
              .bits()};
    };
    INFO("a " << a[i].bits() << ", b " << b[i].bits());
    CHECK(right[6 * i] == exact(narrow::detail::plus{}));
    CHECK(right[6 * i + 1] == exact(narrow::detail::minus{}));
    CHECK(right[6 * i + 2] == exact(narrow::detail::times{}));
    CHECK(right[6 * i + 3] == exact(narrow::detail::over{}));
  }
  for (const control_word rounding_mode : {control_word{0}, round_down, round_up, round_to_zero})
    for (const control_word flushing : flushing_modes) {
      const float_control control(plain_control | rounding_mode | flushing);
      CHECK((results() == right));
    }
}

TEST_CASE("products and conversions leave even the exception flags as they were", "[kernel][environment]") {
  const std::vector<fp16> a(20, 0.1f), b(20, 3);
  std::vector<fp16> c(16);
  const float_control control(plain_control);
  gemm(row_major(a, 4, 5), row_major(b, 5, 4), row_major(c, 4, 4), 0.3, 0);
  convert(a, c = a);
  REQUIRE(read_control() == plain_control);
}

TEST_CASE("sums raise the exceptions of their numbers alone", "[kernel][environment]") {
  const std::vector<fp16> a(21, 0.1f), b(21, 3);
  const float_control control(plain_control);
  volatile float kept = dot(a, b);
  kept = norm(a);
  kept = mean(a);
  REQUIRE(kept > 0);
  REQUIRE(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) == 0);
  REQUIRE((read_control() & ~exception_flags) == plain_control);
}
