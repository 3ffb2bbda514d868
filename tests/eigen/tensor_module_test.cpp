// Contractions, convolutions and reductions of Eigen's unsupported tensors against sums of the same terms in
// double, and their random numbers against the moments that they should have.
// Exhaustive, since their headers take long to compile.
#include <narrow/eigen.hpp>

#include <cstring>
#include <unsupported/Eigen/CXX11/Tensor>

#include "../samples.hpp"
#include "../tally.hpp"

using namespace test;
using namespace narrow;

namespace {

using pair = Eigen::IndexPair<int>;

/// Small multiples of 1/8.
template <class X> void fill(X& x, generator& random) {
  using T = typename X::Scalar;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] = T((static_cast<float>(below(random, 31)) - 15) / 8);
}

/// Multiples of 1/8 between 1 and 2.
template <class X> void fill_positive(X& x, generator& random) {
  using T = typename X::Scalar;
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = T(1 + static_cast<float>(below(random, 8)) / 8);
}

template <class T, int Rank, int Layout>
Eigen::Tensor<double, Rank, Layout> wide(const Eigen::Tensor<T, Rank, Layout>& x) {
  return x.template cast<double>();
}

/// Whether each number is the exact one, rounded once.
template <class T, int Rank, int Layout>
bool is_rounded(const Eigen::Tensor<T, Rank, Layout>& x, const Eigen::Tensor<double, Rank, Layout>& exact) {
  bool same = x.size() == exact.size();
  for (Eigen::Index i = 0; same && i < x.size(); ++i) same = x.data()[i] == T(exact.data()[i]);
  return same;
}

template <class T, int Layout> void check(tally& count) {
  generator random(8);
  Eigen::Tensor<T, 2, Layout> a(7, 50), b(50, 4);
  Eigen::Tensor<T, 3, Layout> c(5, 50, 3);
  fill(a, random);
  fill(b, random);
  fill(c, random);
  const auto expect = [&](const auto& x, const auto& exact, const char* what) {
    count.expect(is_rounded(x, exact), [&] { return std::string(what) + name_of<T>(); });
  };
  using two = Eigen::Tensor<T, 2, Layout>;
  using exact_two = Eigen::Tensor<double, 2, Layout>;
  using exact_three = Eigen::Tensor<double, 3, Layout>;
  const Eigen::array<pair, 1> inner{pair(1, 0)}, second{pair(1, 1)};
  expect(two(a.contract(b, inner)), exact_two(wide(a).contract(wide(b), inner)), "a b");
  expect(Eigen::Tensor<T, 3, Layout>(a.contract(c, second)), exact_three(wide(a).contract(wide(c), second)),
         "of three dimensions");
  const two product = a.contract(b, inner);
  expect(two(a.contract(b, inner) + product), exact_two(wide(product) + wide(product)), "in an expression");

  const Eigen::array<int, 1> last{1};
  const Eigen::array<int, 2> ends{0, 2};
  expect(Eigen::Tensor<T, 1, Layout>(a.sum(last)), Eigen::Tensor<double, 1, Layout>(wide(a).sum(last)),
         "sum of rows");
  expect(Eigen::Tensor<T, 1, Layout>(c.sum(ends)), Eigen::Tensor<double, 1, Layout>(wide(c).sum(ends)),
         "sum of two");
  expect(Eigen::Tensor<T, 0, Layout>(c.sum()), Eigen::Tensor<double, 0, Layout>(wide(c).sum()), "sum");
  expect(Eigen::Tensor<T, 1, Layout>(c.mean(ends)),
         Eigen::Tensor<double, 1, Layout>(wide(c).template cast<float>().mean(ends).template cast<double>()),
         "mean");
  expect(Eigen::Tensor<T, 0, Layout>(b.maximum()), Eigen::Tensor<double, 0, Layout>(wide(b).maximum()),
         "maximum");

  two large(3, 2000);  // T has not all partial sums, or too small numbers
  fill_positive(large, random);
  expect(two(large.cumsum(1)), exact_two(wide(large).cumsum(1)), "running sums");
  expect(two(large.cumsum(1, true)), exact_two(wide(large).cumsum(1, true)),
         "running sums without the last term");
  two few(7, 4);
  for (Eigen::Index i = 0; i < few.size(); ++i) few.data()[i] = T(i % 3 == 0 ? 0.5 : 1.5);
  expect(two(few.cumprod(0)), exact_two(wide(few).cumprod(0)), "running products");
  const Eigen::Tensor<T, 1, Layout> kernel =
      a.chip(3, 0).slice(Eigen::array<Eigen::Index, 1>{0}, Eigen::array<Eigen::Index, 1>{9});
  expect(Eigen::Tensor<T, 3, Layout>(c.convolve(kernel, last)),
         exact_three(wide(c).convolve(wide(kernel), last)), "convolution");
  two square(400, 400);
  Eigen::Tensor<T, 3, Layout> cube(50, 5, 50);
  fill_positive(square, random);
  fill_positive(cube, random);
  expect(Eigen::Tensor<T, 0, Layout>(square.trace()), Eigen::Tensor<double, 0, Layout>(wide(square).trace()),
         "trace");
  expect(Eigen::Tensor<T, 1, Layout>(cube.trace(ends)),
         Eigen::Tensor<double, 1, Layout>(wide(cube).trace(ends)), "trace of two dimensions");
}

/// Whether random numbers lie where they should, and have their mean and mean square but for the rounding of
/// each and, of so many, nine standard deviations.
template <class T> void check_random(tally& count) {
  constexpr double number = 1 << 16, step = static_cast<double>(std::numeric_limits<T>::epsilon());
  Eigen::Tensor<T, 1> x(static_cast<Eigen::Index>(number));
  const auto expect_moments = [&](double mean, double square, double deviation, const char* what) {
    const Eigen::Tensor<double, 0> m = wide(x).mean(), s = wide(x).square().mean();
    const double bound = 9 * deviation / std::sqrt(number) + step;
    count.expect(std::abs(m() - mean) < bound && std::abs(s() - square) < bound,
                 [&] { return text(what, name_of<T>(), m(), s()); });
  };
  x.setRandom();
  const Eigen::Tensor<double, 0> least = wide(x).minimum(), largest = wide(x).maximum();
  count.expect(least() >= 0 && largest() < 1,
               [&] { return text("range", name_of<T>(), least(), largest()); });
  expect_moments(0.5, 1. / 3, std::sqrt(1. / 12), "uniform");
  x = x.random(Eigen::internal::NormalRandomGenerator<T>(7));
  expect_moments(0, 1, std::sqrt(2), "normal");
  const Eigen::Tensor<T, 1> again = x.random(Eigen::internal::NormalRandomGenerator<T>(7));
  count.expect(std::memcmp(again.data(), x.data(), x.size() * sizeof(T)) == 0,
               [] { return "the same seed, other numbers of " + name_of<T>(); });
}

}  // namespace

TEST_CASE("contractions and reductions of tensors are wide and rounded once", "[.exhaustive][eigen]") {
  tally count;
  check<fp16, Eigen::ColMajor>(count);
  check<fp16, Eigen::RowMajor>(count);
  check<bf16, Eigen::ColMajor>(count);
  check<fixed<12, 6>, Eigen::RowMajor>(count);
  count.require(4 * 14);
  Eigen::Tensor<bf16, 2> ones(2, 4096);
  ones.setConstant(bf16(1));
  const Eigen::array<pair, 1> inner{pair(1, 1)};
  const Eigen::Tensor<bf16, 2> product = ones.contract(ones, inner);
  REQUIRE(product(1, 0) == 4096);
  const Eigen::Tensor<bf16, 0> sum = ones.sum(), mean = ones.mean();
  REQUIRE((sum() == 8192 && mean() == 1));
}

TEST_CASE("random numbers of tensors are those of float, rounded", "[.exhaustive][eigen]") {
  tally count;
  check_random<fp16>(count);
  check_random<bf16>(count);
  check_random<fp8_e4m3fn>(count);
  check_random<fixed<16, 8>>(count);
  count.require(4 * 4);
}
