// Few numbers, which are computed where they stand in the program: the bits that the kernels give for the
// same expressions of matrices whose sizes are known only at run time, for numbers of every kind; and sums of
// at most 16 numbers, in the order in which they are documented to be added up. On every instruction set, in
// any floating-point environment. Compiled once more for this processor, as odr.few_lanes_native.
#include <narrow/eigen.hpp>
#include <random>

#include "catch.hpp"
#include "coefficient_bits.hpp"
#include "compared.hpp"
#include "every_isa.hpp"
#include "filled.hpp"
#include "float_control.hpp"
#include "policies.hpp"
#include "shape.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
using test::bits_of;
using test::environment;

/// Numbers of every kind: half of them ordinary ones, the others any codes, of which some are NaNs,
/// signalling ones, too, infinities and subnormal numbers.
template <class T> T any_number(std::mt19937& engine) {
  const auto code = static_cast<std::uint32_t>(engine());
  if (engine() % 2 == 0) return T(static_cast<float>(static_cast<std::int32_t>(code)) * 0x1p-30f);
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<float>(engine() % 4 == 0 ? code | 0x7f80'0000u : code);
  else
    return T::from_bits(static_cast<typename T::bits_type>(code >> 7));
}
template <class M> M any_numbers(at rows, at cols, std::mt19937& engine) {
  return M::NullaryExpr(rows, cols, [&] { return any_number<typename M::Scalar>(engine); });
}

template <class T> using dynamic = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

struct counts {
  at compared = 0, different = 0;

  template <class M, class N> void compare(const M& got, const N& right) {
    for (at j = 0; j < got.cols(); ++j)
      for (at i = 0; i < got.rows(); ++i, ++compared) different += bits_of(got(i, j)) != bits_of(right(i, j));
  }
};

/// What `compute(destination, a, b, f, s)` assigns: few numbers in matrices or vectors, and as many in
/// matrices of which only the program that runs knows how many they are.
template <class few> void compare_with_many(counts& all, at rows, at cols, const environment& in) {
  using T = typename few::Scalar;
  using few_floats = typename Eigen::internal::plain_matrix_type<
      Eigen::CwiseUnaryOp<Eigen::internal::scalar_cast_op<T, float>, const few>>::type;
  std::mt19937 engine(static_cast<unsigned>(rows * 16 + cols));
  for (int round = 0; round < 25; ++round) {
    const auto a = any_numbers<few>(rows, cols, engine);
    auto b = any_numbers<few>(rows, cols, engine);
    auto f = any_numbers<few_floats>(rows, cols, engine);
    T s = any_number<T>(engine);
    if constexpr (int(few::SizeAtCompileTime) == Eigen::Dynamic) {
      // NaNs meet numbers here: which of two NaNs a kernel of AVX-512 keeps is its compiler's choice.
      if (s != s) s = T(0.75f);
      b = (a.array() != a.array()).select(T(0.75f), b);
      f = (a.array() != a.array()).select(0.75f, f);
    }
    const dynamic<T> many_a = a, many_b = b;
    const dynamic<float> many_f = f;
    const auto check = [&](const auto& compute) {
      few got = b;
      dynamic<T> right = b;
      in.run([&] { compute(got, a, b, f); });
      compute(right, many_a, many_b, many_f);
      all.compare(got, right);
    };
    check([](auto& c, auto& x, auto& y, auto&) { c = x.cwiseProduct(x) + y.cwiseAbs(); });
    check([](auto& c, auto& x, auto&, auto&) { c = -x; });
    check([](auto& c, auto& x, auto&, auto&) { c = x.cwiseAbs().cwiseMax(x); });
    check([](auto& c, auto& x, auto& y, auto&) { c = (x - y).cwiseMin(y); });
    check([&](auto& c, auto& x, auto& y, auto&) { c = (x.array() < y.array()).select(x, s * y); });
    check([&](auto& c, auto& x, auto&, auto&) { c -= x / s; });
    check([](auto& c, auto& x, auto& y, auto&) { c.array() /= x.array() * y.array(); });
    check([](auto& c, auto&, auto&, auto& z) { c = z.template cast<T>(); });
    check([](auto& c, auto& x, auto&, auto& z) { c = (x.template cast<float>() + z).template cast<T>(); });
    // Numbers that lie apart, and what lies between them, computed of such that lie side by side or apart.
    const auto check_apart = [&](const auto& compute) {
      constexpr at step = 2, other_step = 3;
      const at outer = step * b.innerSize() + 1, other_outer = other_step * b.innerSize();
      const T between(7.f);
      std::vector<T> memory(static_cast<std::size_t>(outer * b.outerSize()), between),
          other_memory(static_cast<std::size_t>(other_outer * b.outerSize()), between);
      Eigen::Map<few, 0, Eigen::Stride<Eigen::Dynamic, step>> got(memory.data(), rows, cols, {outer, step});
      Eigen::Map<few, 0, Eigen::Stride<Eigen::Dynamic, other_step>> other(other_memory.data(), rows, cols,
                                                                          {other_outer, other_step});
      other = a;
      dynamic<T> right = b;
      compute(right, many_a);
      const auto compare_of = [&](const auto& x) {
        got = b;
        in.run([&] { compute(got, x); });
        all.compare(got, right);
      };
      compare_of(a);
      compare_of(other);
      got.setConstant(between);
      all.different += std::count(memory.begin(), memory.end(), between) != std::ssize(memory);
    };
    check_apart([](auto& c, auto& x) { c -= x; });
    check_apart([](auto& c, auto& x) { c = x.cwiseAbs() - x; });
    // Floats are not rounded.
    few_floats got = f;
    dynamic<float> right = f;
    in.run([&] { got = a.template cast<float>(); });
    right = many_a.template cast<float>();
    all.compare(got, right);
    in.run([&] { got -= (a * s).template cast<float>(); });
    right -= (many_a * s).template cast<float>();
    all.compare(got, right);
  }
}

using formats = test::some_of<std::tuple<fp16, bf16>, 1>;
using test::shape;
using shapes = test::some_of<std::tuple<shape<3, 1>, shape<1, 4>, shape<7, 1>, shape<4, 4>, shape<1, 1>,
                                        shape<2, 1>, shape<2, 2>, shape<3, 3>>,
                             0, 1, 2, 3>;

/// Vectors of as many numbers, and of more.
constexpr at longest = 18;

template <class T> counts compare_shapes(const environment& in = {}) {
  counts all;
  test::for_each_shape<shapes>([&]<int Rows, int Cols>() {
    using few = Eigen::Matrix<T, Rows, Cols, Rows == 1 && Cols != 1 ? Eigen::RowMajor : Eigen::ColMajor>;
    compare_with_many<few>(all, Rows, Cols, in);
  });
  for (at n = 1; n <= longest; ++n) compare_with_many<Eigen::Matrix<T, Eigen::Dynamic, 1>>(all, n, 1, in);
  return all;
}

/// The sum of numbers, each added to the one of so many lanes that has its turn; then each lane to the one
/// half as many further.
float sum_in_lanes(const std::vector<float>& numbers, std::size_t lanes) {
  std::vector<float> sums(lanes, 0.0f);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    volatile const float sum = sums[i % lanes] + numbers[i];
    sums[i % lanes] = sum;
  }
  for (; lanes > 1; lanes /= 2)
    for (std::size_t l = 0; l < lanes / 2; ++l) {
      volatile const float sum = sums[l] + sums[l + lanes / 2];
      sums[l] = sum;
    }
  return sums[0];
}
/// Of at most 16 numbers two sums of eight lanes are the same as one of 16.
std::size_t lanes_of(const std::string& isa) {
#if defined(__x86_64__)
  return isa == "portable" ? 1 : 16;
#else
  return isa == "portable" ? 1 : 4;
#endif
}

/// Sums of vectors x and y of n numbers; also where they lie apart.
template <class T, int N> void check_sums(counts& all, at n, std::size_t lanes, const environment& in) {
  using vector = Eigen::Matrix<T, N, 1>;
  std::mt19937 engine(static_cast<unsigned>(n));
  for (int round = 0; round < 20; ++round) {
    vector x(n), y(n);
    Eigen::Matrix<T, 3, N> rows(3, n);
    std::vector<float> numbers, products, squares, quotients, magnitudes, choices;
    const T s(0.75f);
    for (at i = 0; i < n; ++i) {
      // Of different sizes, so that the order makes a difference; all -0 in some rounds.
      x(i) = round < 2 ? T(-0.0f) : T(static_cast<float>(static_cast<std::int32_t>(engine())) * 0x1p-28f);
      y(i) = round < 1 ? T(1.0f) : T(static_cast<float>(static_cast<std::int32_t>(engine())) * 0x1p-34f);
      const auto a = static_cast<float>(x(i)), b = static_cast<float>(y(i));
      volatile const float product = a * b, difference = a - b;
      volatile const float square = difference * difference;
      numbers.push_back(a);
      products.push_back(float{product});
      squares.push_back(float{square});
      volatile const float quotient = a / b, rest = b - static_cast<float>(s);
      quotients.push_back(float{quotient});
      magnitudes.push_back(std::abs(float{rest}));
      choices.push_back(a < b ? a : -b);
    }
    rows.row(1) = x.transpose();
    const auto expect = [&](float got, const std::vector<float>& of) {
      ++all.compared;
      all.different += bits_of(got) != bits_of(sum_in_lanes(of, lanes));
    };
    const auto expect_rounded = [&](T got, const std::vector<float>& of) {
      ++all.compared;
      all.different += bits_of(got) != bits_of(T(sum_in_lanes(of, lanes)));
    };
    float sum = 0, dot = 0, row = 0, squared = 0, divided = 0, apart = 0, chosen = 0, strided = 0;
    T rounded = 0, norm = 0;
    in.run([&] {
      sum = narrow::sum(x);
      dot = narrow::dot(x, y);
      row = narrow::dot(rows.row(1), y);
      squared = narrow::sum((x - y).cwiseAbs2());
      divided = narrow::sum(x.cwiseQuotient(y));
      apart = narrow::sum((y.array() - s).abs());
      chosen = narrow::sum((x.array() < y.array()).select(x, -y));
      strided = narrow::sum((rows.row(1) - y.transpose()).cwiseAbs2());
      rounded = x.dot(y);
      norm = (x - y).squaredNorm();
    });
    expect(sum, numbers);
    expect(dot, products);
    expect(row, products);
    expect(squared, squares);
    expect(strided, squares);
    expect(divided, quotients);
    expect(apart, magnitudes);
    expect(chosen, choices);
    expect_rounded(rounded, products);
    expect_rounded(norm, squares);
  }
}

template <int... N> using numbers_of = std::tuple<std::integral_constant<int, N>...>;
using lengths = test::some_of<numbers_of<1, 2, 3, 4, 5, 7, 8, 9, 12, 14, 16>, 0, 2, 3, 6, 7, 9>;

template <class T> counts check_every_length(std::size_t lanes, const environment& in = {}) {
  counts all;
  test::for_each_type<lengths>([&]<class N>() { check_sums<T, N::value>(all, N::value, lanes, in); });
  for (at n = 1; n <= 16; ++n) check_sums<T, Eigen::Dynamic>(all, n, lanes, in);
  return all;
}

/// Sums of every column, or row, of a matrix against those of one after the other.
template <class T> counts check_sums_of_lines(const environment& in = {}) {
  using sums = Eigen::Matrix<T, 1, Eigen::Dynamic>;
  counts all;
  std::mt19937 engine(7);
  for (at rows = 1; rows <= 5; ++rows)
    for (at cols = 1; cols <= 18; ++cols) {
      const auto a = any_numbers<dynamic<T>>(rows, cols, engine);
      const auto b = any_numbers<dynamic<T>>(rows, cols, engine);
      const dynamic<T> zeros = -dynamic<T>::Zero(rows, cols);
      sums of_columns, of_rows, of_differences, squares, of_zeros;
      in.run([&] {
        of_columns = a.colwise().sum();
        of_rows = a.transpose().rowwise().sum().transpose();
        of_differences = (a.cwiseAbs() - b).colwise().sum();
        squares = (a.colwise() - b.col(0)).colwise().squaredNorm();
        of_zeros = zeros.colwise().sum();
      });
      sums one_by_one(cols), differences(cols), norms(cols);
      for (at j = 0; j < cols; ++j) {
        one_by_one[j] = a.col(j).sum();
        differences[j] = (a.col(j).cwiseAbs() - b.col(j)).sum();
        norms[j] = (a.col(j) - b.col(0)).squaredNorm();
      }
      all.compare(of_columns, one_by_one);
      all.compare(of_rows, one_by_one);
      all.compare(of_differences, differences);
      all.compare(squares, norms);
      all.compare(of_zeros, sums::Zero(cols));
    }
  return all;
}
constexpr at sums_of_lines = 5 * 5 * (18 * 19 / 2);

}  // namespace

TEMPLATE_LIST_TEST_CASE("few numbers have the bits that many have", "[eigen][small]", formats) {
  const at compared =
      test::compared_on_every_isa([](const std::string&) { return compare_shapes<TestType>(); });
  REQUIRE(compared ==
          at(test::isa_count()) * 25 * 15 * (test::size_of_all<shapes> + longest * (longest + 1) / 2));
}

TEMPLATE_LIST_TEST_CASE("sums of at most 16 numbers are added up lane by lane", "[eigen][small]", formats) {
  const at compared = test::compared_on_every_isa(
      [](const std::string& isa) { return check_every_length<TestType>(lanes_of(isa)); });
  REQUIRE(compared >= at(test::isa_count()) * (16 + at(std::tuple_size_v<lengths>)) * 20 * 10);
}

TEMPLATE_LIST_TEST_CASE("sums of few lines are those of each of them", "[eigen][small]", formats) {
  const at compared =
      test::compared_on_every_isa([](const std::string&) { return check_sums_of_lines<TestType>(); });
  REQUIRE(compared == at(test::isa_count()) * sums_of_lines);
}

TEST_CASE("few numbers do not depend on the floating-point environment", "[eigen][small]") {
  test::for_each_environment([](const environment& in) {
    INFO(in);
    CHECK(compare_shapes<bf16>(in).different == 0);
    CHECK(check_sums_of_lines<bf16>(in).different == 0);
    CHECK(check_every_length<bf16>(lanes_of(std::string(isa_name())), in).different == 0);
    CHECK(in.is_kept());
  });
}
