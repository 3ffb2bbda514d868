// Products of small fixed-point matrices, whose sizes are known when the program is compiled, and inner
// products of such vectors: what the kernels give for the same numbers in matrices of sizes known only at run
// time.
#include <narrow/eigen.hpp>
#include <random>

#include "catch.hpp"
#include "every_isa.hpp"
#include "exhaustive.hpp"
#include "filled.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;

template <class M> M samples(std::mt19937& engine) {
  using T = typename M::Scalar;
  return test::filled<M>([&] {
    return engine() % 4 == 0 ? std::numeric_limits<T>::lowest()
                             : T::from_bits(static_cast<typename T::bits_type>(
                                   static_cast<std::int32_t>(engine()) >> (32 - T::word_length)));
  });
}

struct counts {
  at compared = 0, different = 0;

  template <class M, class N> void compare(const M& got, const N& right) {
    for (at j = 0; j < got.cols(); ++j)
      for (at i = 0; i < got.rows(); ++i, ++compared) different += got(i, j).bits() != right(i, j).bits();
  }
};

template <class T, int Rows, int Depth, int Cols> void check(counts& all, std::mt19937& engine) {
  using result = Eigen::Matrix<T, Rows, Cols, Rows == 1 && Cols != 1 ? Eigen::RowMajor : Eigen::ColMajor>;
  using left = Eigen::Matrix<T, Rows, Depth, Depth == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
  using right = Eigen::Matrix<T, Depth, Cols, Depth == 1 && Cols != 1 ? Eigen::RowMajor : Eigen::ColMajor>;
  using square = Eigen::Matrix<T, Rows, Rows>;
  using dynamic = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const left a = samples<left>(engine);
  const right b = samples<right>(engine);
  const result c = samples<result>(engine);
  const square s = samples<square>(engine);
  const Eigen::Matrix<T, Cols, Depth> turned = b.transpose();
  const dynamic many_a = a, many_b = b, many_c = c, many_s = s;
  const auto compare = [&](const auto& compute) {
    result got = c;
    dynamic expected = many_c;
    compute(got, a, b, s);
    compute(expected, many_a, many_b, many_s);
    all.compare(got, expected);
  };
  compare([](auto& to, auto& x, auto& y, auto&) { to = x * y; });
  compare([](auto& to, auto& x, auto& y, auto&) { to.noalias() += x * y; });
  compare([](auto& to, auto& x, auto& y, auto&) { to -= x * y; });
  compare([](auto& to, auto& x, auto& y, auto&) { to = -x * y; });
  compare([](auto& to, auto& x, auto& y, auto&) { to = T(0.5f) * x * y; });
  compare([](auto& to, auto&, auto&, auto& z) { to = z * to; });
  compare([](auto& to, auto&, auto&, auto& z) { to += z.transpose() * to; });
  compare([](auto& to, auto& x, auto& y, auto&) { to.row(0) = x.row(x.rows() - 1) * y; });
  result got = a * turned.transpose();
  all.compare(got, dynamic(many_a * many_b));
  const Eigen::Matrix<T, 1, 1> of_row(a.row(0).dot(b.col(0)));
  all.compare(of_row, dynamic::Constant(1, 1, many_a.row(0).dot(many_b.col(0).transpose())));
}

using formats = test::some_of<
    std::tuple<fixed<8, 4>, fixed<16, 8>, fixed<16, 15, rounding::toward_zero>, fixed<5, 0, rounding::upward>,
               fixed<16, 3, rounding::nearest_even, overflow::wrap>, fixed<16, 0>, fixed<24, 8>,
               fixed<8, 7, rounding::to_odd>>,
    1, 4>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("small products of fixed-point numbers are those of the kernels", "[eigen][small]",
                        formats) {
  using T = TestType;
  at compared = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    std::mt19937 engine(1);
    counts all;
    for (int round = 0; round < 20; ++round) {
      check<T, 1, 1, 1>(all, engine);
      check<T, 2, 2, 1>(all, engine);
      check<T, 3, 3, 3>(all, engine);
      check<T, 4, 2, 5>(all, engine);
      check<T, 1, 8, 3>(all, engine);
      check<T, 8, 8, 8>(all, engine);
    }
    CHECK(all.different == 0);
    compared += all.compared;
  });
  REQUIRE(compared == at(test::isa_count()) * 20 * (9 * (1 + 2 + 9 + 20 + 3 + 64) + 6));
}
