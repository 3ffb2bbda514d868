// Expressions of fixed-point numbers that are computed as programs of lanes have the numbers of the
// operators, each result rounded once: for every number, on every instruction set, at every length.
#include <narrow/eigen.hpp>
#include <random>

#include "catch.hpp"
#include "every_isa.hpp"
#include "exhaustive.hpp"
#include "float_control.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
template <class T> using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Numbers written beside a matrix: ordinary ones, ties and their neighbours, those of so many digits that
/// their product with a number fits no double, and those beyond every format.
constexpr double literals[] = {0.1,
                               double(0.1f),
                               1e-9,
                               -0.3,
                               3,
                               0.5,
                               -0.5,
                               0.0625,
                               0.015625,
                               1.5,
                               1 / 3.0,
                               127.3,
                               32767.9,
                               32768,
                               65536,
                               -65535,
                               1e300,
                               -1e300,
                               5e-324,
                               -1e-30,
                               0,
                               0.3f,
                               -0.0,
                               0x1.fffffffffffffp-2,
                               0x1.0000000000001p-1,
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};

/// All numbers of T, each with some of others; n of them, in turn from the one or the other end.
template <class T> class operands {
 public:
  operands(at n, std::uint32_t first, const test::environment& in) : a(n), b(n), in_(in) {
    std::mt19937 engine(first);
    for (at i = 0; i < n; ++i) {
      a(i) = T::from_bits(static_cast<typename T::bits_type>(first + static_cast<std::uint32_t>(i)));
      b(i) = T::from_bits(static_cast<typename T::bits_type>(engine()));
    }
  }
  /// What is assigned is what `right` makes of the numbers one by one.
  template <class Assign, class Right>
  void check(const char* name, const Assign& assign, const Right& right) {
    vector<T> got = b;
    in_.run([&] { assign(got); });
    at different = 0;
    for (at i = 0; i < a.size(); ++i) different += got(i).bits() != T(right(a(i), b(i))).bits();
    INFO(name << ", " << a.size());
    CHECK(different == 0);
    checked += a.size();
  }

  vector<T> a, b;
  at checked = 0;

 private:
  const test::environment& in_;
};

template <class T> at check_operations(at n, std::uint32_t first, const test::environment& in = {}) {
  operands<T> x(n, first, in);
  const auto &a = x.a, &b = x.b;
  x.check(
      "sum", [&](auto& to) { to = a + b; }, [](T p, T q) { return p + q; });
  x.check(
      "difference", [&](auto& to) { to = a - b; }, [](T p, T q) { return p - q; });
  x.check(
      "product", [&](auto& to) { to = a.cwiseProduct(b); }, [](T p, T q) { return p * q; });
  x.check(
      "square", [&](auto& to) { to = (a.array().square() - b.array()).matrix(); },
      [](T p, T q) { return p * p - q; });
  x.check(
      "negative", [&](auto& to) { to = -a; }, [](T p, T) { return -p; });
  x.check(
      "magnitude", [&](auto& to) { to = (a - b).cwiseAbs(); }, [](T p, T q) { return abs(p - q); });
  x.check(
      "largest", [&](auto& to) { to = a.cwiseMax(b); }, [](T p, T q) { return p < q ? q : p; });
  x.check(
      "smallest", [&](auto& to) { to = a.cwiseMin(T(0.5f)); },
      [](T p, T) { return T(0.5f) < p ? T(0.5f) : p; });
  x.check(
      "less", [&](auto& to) { to = (a.array() < b.array()).select(a, -b); },
      [](T p, T q) { return p < q ? p : -q; });
  x.check(
      "not greater", [&](auto& to) { to = (a.array() <= b.array()).select(a, b + b); },
      [](T p, T q) { return p <= q ? p : q + q; });
  x.check(
      "equal", [&](auto& to) { to = (a.array() == b.array()).select(b + b, a); },
      [](T p, T q) { return p == q ? q + q : p; });
  x.check(
      "unequal", [&](auto& to) { to = (a.array() != T(0)).select(a - b, b); },
      [](T p, T q) { return p != T(0) ? p - q : q; });
  x.check(
      "relu", [&](auto& to) { to = (3 * a.array() + 1).max(T(0)).matrix(); },
      [](T p, T) { return std::max(T(3 * p + 1), T(0)); });
  x.check(
      "added", [&](auto& to) { to += a; }, [](T p, T q) { return q + p; });
  x.check(
      "taken away", [&](auto& to) { to -= 0.1 * a; }, [](T p, T q) { return q - detail::literal(0.1) * p; });
  x.check(
      "multiplied", [&](auto& to) { to.array() *= a.array(); }, [](T p, T q) { return q * p; });
  x.check(
      "divided", [&](auto& to) { to.array() /= a.array(); }, [](T p, T q) { return q / p; });
  x.check(
      "divided by one number", [&](auto& to) { to /= T(0.75f); }, [](T, T q) { return q / T(0.75f); });
  x.check(
      "log2", [&](auto& to) { to = a.array().log2(); }, [](T p, T) { return log2(p); });
  x.check(
      "rsqrt", [&](auto& to) { to = a.array().rsqrt(); }, [](T p, T) { return rsqrt(p); });
  x.check(
      "logistic", [&](auto& to) { to = a.array().logistic(); }, [](T p, T) { return logistic(p); });
  x.check(
      "cube", [&](auto& to) { to = a.array().cube(); }, [](T p, T) { return p * p * p; });
  x.check(
      "floor", [&](auto& to) { to = a.array().floor(); }, [](T p, T) { return Eigen::numext::floor(p); });
  x.check(
      "ceil", [&](auto& to) { to = a.array().ceil(); }, [](T p, T) { return Eigen::numext::ceil(p); });
  x.check(
      "round", [&](auto& to) { to = a.array().round(); }, [](T p, T) { return Eigen::numext::round(p); });
  x.check(
      "rint", [&](auto& to) { to = a.array().rint(); }, [](T p, T) { return Eigen::numext::rint(p); });
  const Eigen::VectorXf wide = a.template cast<float>() * 0.25f;
  at different = 0;
  for (at i = 0; i < n; ++i) different += wide(i) != static_cast<float>(a(i)) * 0.25f;
  CHECK(different == 0);
  for (const double f : literals) {
    const detail::literal l(f);
    x.check(
        "factor", [&](auto& to) { to = f * a; }, [&](T p, T) { return l * p; });
    x.check(
        "addend", [&](auto& to) { to = (a.array() + f).matrix(); }, [&](T p, T) { return p + l; });
    x.check(
        "quotient by it", [&](auto& to) { to = (a.array() / f).matrix(); }, [&](T p, T) { return p / l; });
    x.check(
        "its quotient", [&](auto& to) { to = (f / a.array()).matrix(); }, [&](T p, T) { return l / p; });
    x.check(
        "taken from it", [&](auto& to) { to = (a.array() - f).matrix(); }, [&](T p, T) { return p - l; });
    x.check(
        "taken from", [&](auto& to) { to = (f - a.array()).matrix(); }, [&](T p, T) { return l - p; });
  }
  return x.checked;
}

using fixed_formats = test::some_of<
    std::tuple<fixed<8, 4>, fixed<16, 8>, fixed<8, 3, rounding::nearest_away>,
               fixed<16, 15, rounding::toward_zero>, fixed<7, 6, rounding::upward>,
               fixed<12, 0, rounding::downward>, fixed<13, 11, rounding::to_odd>,
               fixed<8, 4, rounding::nearest_even, overflow::wrap>,
               fixed<16, 3, rounding::upward, overflow::wrap>, fixed<2, 1>, fixed<24, 8>, fixed<31, 8>>,
    0, 1, 3, 7>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("programs of lanes over fixed-point numbers have the numbers of the operators",
                        "[eigen][lanes]", fixed_formats) {
  using T = TestType;
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const at n : {1, 3, 8, 17, 33, 67})
      checked += check_operations<T>(n, 0u - static_cast<std::uint32_t>(n) / 2);
    constexpr at many = 600;  // of which those of 8 bits are looked up
    checked += check_operations<T>(std::max(at{1} << std::min(T::word_length, 13), many), 0);
  });
  REQUIRE(checked >= at(test::isa_count()) * 10000);
}

TEMPLATE_LIST_TEST_CASE("programs of lanes over fixed-point numbers do not depend on the environment",
                        "[eigen][lanes]", fixed_formats) {
  at checked = 0;
  test::for_each_environment([&](const test::environment& in) {
    INFO(in);
    checked += check_operations<TestType>(67, 0, in);
    CHECK(in.is_kept());
  });
  REQUIRE(checked >= 67 * 100 * 4);
}

TEST_CASE("which expressions of fixed-point numbers are programs of lanes", "[eigen][lanes]") {
  const vector<fixed<8, 4>> a(3), b(3);
  const vector<fixed<8, 4, rounding::nearest_even, overflow::wrap>> w(3);
  const vector<fixed<32, 8>> l(3);
  const vector<fixed<24, 8>> m(3);
  const vector<fixed<8, 4, rounding::stochastic>> s(3);
  const auto is_program = [](const auto& x) {
    return detail::lane_expression<std::remove_cvref_t<decltype(x)>>;
  };
  CHECK(is_program(0.1f * a + b));
  CHECK(is_program((3 * a.array() + 1).max(fixed<8, 4>(0))));
  CHECK(is_program((a.array() < b.array()).select(a, b)));
  CHECK(is_program(w + w));
  CHECK(is_program(m - m));
  CHECK(!is_program(0.1f * w));
  CHECK(!is_program(m.cwiseProduct(m)));
  CHECK(is_program(a.cwiseQuotient(b)));
  CHECK(is_program(a.array().tanh() + b.array().sqrt()));
  CHECK(is_program((1 / a.array()).cube().floor() / 3));
  CHECK(!is_program(w.cwiseQuotient(w)));
  CHECK(!is_program(w.array().tanh()));
  CHECK(!is_program(l + l));
  CHECK(!is_program(s + s));
}
