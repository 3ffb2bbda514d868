// Functions of matrices: each coefficient is the function of that number, which functions_test.cpp compares
// with MPFR, on every instruction set, at every length, under every rounding mode that draws no numbers.
#include <narrow/eigen.hpp>

#include "../policies.hpp"
#include "catch.hpp"
#include "coefficient_bits.hpp"
#include "every_isa.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
template <class T> using column = Eigen::Array<T, Eigen::Dynamic, 1>;

/// Every step-th code of T, all where they are few.
template <class T> column<T> codes(int step = 37) {
  constexpr int bits = T::layout::width;
  if (bits <= 8) step = 1;
  column<T> x(((1 << bits) + step - 1) / step);
  for (at i = 0; i < x.size(); ++i) x(i) = T::from_bits(static_cast<typename T::bits_type>(i * step));
  return x;
}

/// How many coefficients are not the function of theirs.
template <class Result, class T, class OfNumber>
at count_different(const Result& result, const column<T>& x, const OfNumber& of_number) {
  at different = 0;
  for (at i = 0; i < x.size(); ++i) different += !test::same<T>(result(i), of_number(x(i)));
  return different;
}

#define CHECK_RESULT(name, result) \
  CHECK(count_different(column<T>(result), x, [](T number) { return name(number); }) == 0);
#define CHECK_FUNCTION(name) CHECK_RESULT(name, x.name())
#define CHECK_OF_ARRAY(name) CHECK_RESULT(name, name(x))

/// Functions that networks use, of which Eigen has none but for these two.
template <class T> void check_network_functions(const column<T>& x) {
  CHECK_FUNCTION(erf)
  CHECK_FUNCTION(erfc)
  CHECK_OF_ARRAY(softplus)
  CHECK_OF_ARRAY(silu)
  CHECK_OF_ARRAY(gelu)
  CHECK_OF_ARRAY(gelu_tanh)
}
template <class T> void check_functions(const column<T>& x) {
  INFO(format_name<T>());
  NARROW_ELEMENTARY_FUNCTIONS(CHECK_FUNCTION)
  CHECK_FUNCTION(sqrt)
  check_network_functions(x);
}

/// In modes that are computed in another way than to nearest even, which is the same one for all functions;
/// in twos, too, which are computed in a third way.
template <class T> void check_mode() {
  const column<T> x = codes<T>();
  INFO(format_name<T>());
  CHECK_FUNCTION(exp)
  CHECK_FUNCTION(cos)
  CHECK_FUNCTION(erfc)
  CHECK_OF_ARRAY(gelu)
  at different = 0;
  for (at i = 0; i + 1 < x.size(); i += 11) {
    const Eigen::Array<T, 2, 1> two = x.template segment<2>(i), of_two = two.exp();
    for (at e = 0; e < 2; ++e) different += !test::same<T>(of_two(e), exp(two(e)));
  }
  CHECK(different == 0);
}
#undef CHECK_OF_ARRAY
#undef CHECK_FUNCTION
#undef CHECK_RESULT

using rounding_modes =
    test::some_of<std::tuple<rounding::nearest_even, rounding::toward_zero, rounding::upward,
                             rounding::downward, rounding::nearest_away, rounding::to_odd>,
                  0, 1>;
using all_kinds = std::tuple<fp16, bf16, fp8_e4m3fn, fp8_e5m2fnuz, fp4_e2m1>;
using formats = test::some_of<all_kinds, 0, 2>;
using one_format = test::some_of<all_kinds, 0>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("functions of matrices are those of their numbers", "[eigen][functions]", formats) {
  std::size_t modes = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    check_functions<TestType>(codes<TestType>());
    test::for_each_type<rounding_modes>([&]<class Round>() {
      check_mode<test::with_policies<TestType, Round, typename TestType::overflow_policy>>();
      ++modes;
    });
  });
  REQUIRE(modes == test::isa_count() * std::tuple_size_v<rounding_modes>);
}

TEMPLATE_LIST_TEST_CASE("a function is the last operation of a cast, of floats, of rows",
                        "[eigen][functions]", one_format) {
  using T = TestType;
  const column<T> x = codes<T>();
  const column<float> wide = x.template cast<float>();
  const column<T> of_floats = wide.tanh().template cast<T>(), cast = x.tanh().template cast<T>();
  const Eigen::Array<T, 1, Eigen::Dynamic> row = x.transpose().tanh();
  at different = 0;
  for (at i = 0; i < x.size(); ++i) {
    const T right = tanh(x(i));
    for (const T got : {of_floats(i), cast(i), row(i)}) different += !test::same<T>(got, right);
  }
  CHECK(different == 0);
}

TEMPLATE_LIST_TEST_CASE("functions of matrices of all codes are those of their numbers",
                        "[eigen][functions][.exhaustive]", formats) {
  std::size_t sets = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    check_functions<TestType>(codes<TestType>(1));
    ++sets;
  });
  REQUIRE(sets == test::isa_count());
}

TEMPLATE_LIST_TEST_CASE("functions of networks are rounded to float within an expression, and of floats",
                        "[eigen][functions]", one_format) {
  using T = TestType;
  const column<T> x = codes<T>();
  const column<float> wide = x.template cast<float>(), of_wide = gelu(wide);
  const column<T> twice = gelu(x) * T(2), difference = x.erf() - silu(x);
  at different = 0;
  for (at i = 0; i < x.size(); ++i) {
    namespace functions = detail::functions;
    using kernel::function_of;
    different += !test::same<float>(of_wide(i), function_of<functions::gelu>(wide(i)));
    different += !test::same<T>(twice(i), T(2 * of_wide(i)));
    different += !test::same<T>(
        difference(i), T(function_of<functions::erf>(wide(i)) - function_of<functions::silu>(wide(i))));
  }
  CHECK(different == 0);
}

// Of 8 bits, they are looked up where there are many.
TEMPLATE_LIST_TEST_CASE("functions of matrices of any size and of blocks", "[eigen][functions]", formats) {
  using T = TestType;
  const column<T> x = codes<T>(), all = x.exp(), of_all = gelu(x);
  test::for_each_isa([&](const std::string& isa) {
    at different = 0, compared = 0;
    for (const at n : {1, 16, 31, 32, 33, 63, 64, 65, 100, 129, 255}) {
      const at size = std::min(n, x.size()), first = std::min(n % 7, x.size() - size);
      const column<T> some = x.segment(first, size).exp();
      Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic> matrix = T(2) * x.head(size).replicate(1, 2);
      matrix.bottomRows(size - size / 3) =
          gelu(x.head(size).replicate(1, 2).bottomRows(size - size / 3).eval());
      for (at i = 0; i < size; ++i, ++compared) {
        different += !test::same<T>(some(i), all(first + i));
        const T right = i < size / 3 ? T(2) * x(i) : of_all(i);
        different += !test::same<T>(matrix(i, 0), right) + !test::same<T>(matrix(i, 1), right);
      }
    }
    INFO(isa);
    CHECK(different == 0);
    CHECK(compared >= 11);
  });
}
