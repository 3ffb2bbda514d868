// What goes from rank to rank arrives bit for bit, and what does not fit is refused where it arrives.
#include <cstring>
#include <narrow/eigen.hpp>
#include <narrow/mpi.hpp>
#include <random>
#include <vector>

#include "policies.hpp"
#include "refusal.hpp"
#include "tally.hpp"

namespace {

using namespace narrow;
using test::refusal, test::says;

int next() { return (mpi::rank() + 1) % mpi::ranks(); }
int previous() { return (mpi::rank() + mpi::ranks() - 1) % mpi::ranks(); }

/// Passes x on to the next rank, and takes what the one before sends: even ranks send first, so that nobody
/// waits in a ring.
template <class X> void pass(const X& x, X& taken) {
  if (mpi::ranks() == 1) {
    taken = x;
  } else if (mpi::rank() % 2 == 0) {
    mpi::send(x, next(), 5);
    mpi::receive(taken, previous(), 5);
  } else {
    X copy = x;
    const int from = mpi::receive(taken, previous(), 5);
    REQUIRE(from == previous());
    mpi::send(copy, next(), 5);
  }
}

template <class T> bool same_bits(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

/// Numbers that all ranks can make of the number of any of them.
Eigen::MatrixXf matrix_of(int rank) {
  std::mt19937 random(static_cast<unsigned>(rank + 7));
  std::normal_distribution<float> normal;
  return Eigen::MatrixXf::NullaryExpr(5 + rank, 9, [&] { return normal(random); });
}

TEMPLATE_LIST_TEST_CASE("Ranges and matrices of every scalar arrive bit for bit", "[mpi]",
                        test::scalar_formats) {
  using T = TestType;
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using by_rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  test::tally tally;
  const auto compare = [&](const auto& taken, const auto& expected) {
    REQUIRE(taken.size() == expected.size());
    for (Eigen::Index j = 0; j < expected.cols(); ++j)
      for (Eigen::Index i = 0; i < expected.rows(); ++i)
        tally.expect(same_bits<T>(taken(i, j), expected(i, j)), [&] { return test::text(i, j); });
  };
  const matrix own = matrix_of(mpi::rank()).cast<T>(), expected = matrix_of(previous()).cast<T>();
  matrix taken;
  pass(own, taken);
  compare(taken, expected);

  std::vector<T> numbers(own.data(), own.data() + own.size()), taken_numbers;
  pass(numbers, taken_numbers);
  REQUIRE(taken_numbers.size() == static_cast<std::size_t>(expected.size()));
  for (std::size_t i = 0; i < taken_numbers.size(); ++i)
    tally.expect(same_bits(taken_numbers[i], expected.data()[i]), [&] { return test::text(i); });

  by_rows other_order;  // takes what lies the other way
  const int root = mpi::ranks() - 1;
  const matrix of_root = matrix_of(root).cast<T>();
  if (mpi::rank() == root) other_order = of_root;
  mpi::broadcast(other_order, root);
  compare(other_order, of_root);
  tally.require(static_cast<std::uint64_t>(2 * expected.size() + of_root.size()));
}

using block_formats = std::tuple<bfp<8>, bfp<4, per_row>, bfp<16, tile<3, 4>>, bfp<12, per_column>, int8,
                                 basic_int8<per_row>, mx<fp8_e4m3fn>, mx<fp4_e2m1>, mx<int8>>;

TEMPLATE_LIST_TEST_CASE("Tensors of block formats arrive as mantissas and scales", "[mpi]", block_formats) {
  using F = TestType;
  using matrix = Eigen::Matrix<F, Eigen::Dynamic, Eigen::Dynamic>;
  const auto same = [](const auto& a, const auto& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() &&
           std::ranges::equal(std::as_bytes(a.mantissas()), std::as_bytes(b.mantissas())) &&
           std::ranges::equal(std::as_bytes(a.scales()), std::as_bytes(b.scales()));
  };
  const matrix own = matrix_of(mpi::rank()), expected = matrix_of(previous());
  block_tensor<F> taken;
  pass(own.tensor(), taken);
  block_tensor<F> in_order(0, 0, storage_order::row_major);
  const Eigen::MatrixXf values = matrix_of(previous());
  in_order.assign(matrix_view<const float>{values.data(), values.rows(), values.cols(), 1, values.rows()});
  if (mpi::ranks() > 1) CHECK(same(taken, in_order));  // one alone takes a copy of its own

  matrix from_root = own;  // matrices of Eigen are of column-major tensors
  mpi::broadcast(from_root, 0);
  CHECK(same(from_root.tensor(), matrix(matrix_of(0)).tensor()));
  CHECK(same(expected.tensor(), matrix(matrix_of(previous())).tensor()));
}

TEST_CASE("Fixed point chosen at run time brings its format along", "[mpi]") {
  Eigen::MatrixXf values = matrix_of(mpi::rank());
  fixed_tensor own(0, 0, fixed_format(5 + 4 * (mpi::rank() % 6), 3)), taken(0, 0, fixed_format(9, 2));
  own.assign(matrix_view<const float>{values.data(), values.rows(), values.cols(), 1, values.rows()});
  pass(own, taken);
  values = matrix_of(previous());
  fixed_tensor expected(0, 0, fixed_format(5 + 4 * (previous() % 6), 3));
  expected.assign(matrix_view<const float>{values.data(), values.rows(), values.cols(), 1, values.rows()});
  if (mpi::ranks() > 1) CHECK(taken.format() == expected.format());
  REQUIRE(taken.rows() == expected.rows());
  for (Eigen::Index i = 0; i < values.rows(); ++i)
    for (Eigen::Index j = 0; j < values.cols() && mpi::ranks() > 1; ++j)
      REQUIRE(taken.mantissa(i, j) == expected.mantissa(i, j));
}

TEST_CASE("A message that does not fit is refused, and the next one is met at its beginning", "[mpi]") {
  if (mpi::ranks() == 1) return;
  if (mpi::rank() == 0) {
    mpi::send(std::vector<fp16>(40, fp16(1)), 1);
    mpi::send(Eigen::MatrixXf(Eigen::MatrixXf::Ones(3, 4)), 1);
    mpi::send(std::vector<float>{1, 2, 3}, 1);
  } else if (mpi::rank() == 1) {
    std::vector<bf16> numbers{bf16(7)};
    CHECK(refusal([&] { mpi::receive(numbers, 0); }) ==
          "narrow::mpi: what was sent is 40 x 1 of fp16, what is to receive it is of bf16");
    CHECK(numbers == std::vector<bf16>{bf16(7)});
    Eigen::Matrix3f square = Eigen::Matrix3f::Zero();
    CHECK(says(refusal([&] { mpi::receive(square, 0); }), {"3 x 4", "3 x 3"}));
    std::vector<float> three;
    mpi::receive(three, 0);
    CHECK(three == std::vector<float>{1, 2, 3});
  }
}

TEST_CASE("A broadcast that some rank cannot take is refused on all", "[mpi]") {
  if (mpi::ranks() == 1) return;
  std::string message;
  if (mpi::rank() == mpi::ranks() - 1) {
    Eigen::Matrix3f x = Eigen::Matrix3f::Zero();
    message = refusal([&] { mpi::broadcast(x); });
    CHECK(x == Eigen::Matrix3f::Zero());
  } else {
    Eigen::MatrixXf x = Eigen::MatrixXf::Ones(2, 5);
    message = refusal([&] { mpi::broadcast(x); });
    CHECK(x == Eigen::MatrixXf::Ones(2, 5));
  }
  CHECK(says(message, {"rank " + std::to_string(mpi::ranks() - 1), "2 x 5", "3 x 3"}));

  std::vector<float> x{1};
  const int root = mpi::rank() == 0 ? 0 : 1;
  CHECK(says(refusal([&] { mpi::broadcast(x, root); }), {"disagree", "what rank 0 has", "what rank 1 has"}));
  mpi::broadcast(x, 0);  // and all go on
}

TEST_CASE("Stored tensors that no assignment gives are refused", "[mpi]") {
  block_tensor<bfp<8>> x(2, 2);
  using bytes = std::vector<std::int8_t>;
  CHECK(says(refusal([&] { x.assign_stored(2, 2, bytes(3), {1.f}); }), {"3 mantissas"}));
  CHECK(says(refusal([&] { x.assign_stored(2, 2, bytes(4), {}); }), {"0 scales"}));
  CHECK(says(refusal([&] { x.assign_stored(2, 2, bytes{1, 2, 3, -128}, {1.f}); }), {"-128"}));
  for (const float scale : {3.f, 0.f, -1.f, std::numeric_limits<float>::infinity()})
    CHECK(says(refusal([&] { x.assign_stored(2, 2, bytes(4), {scale}); }), {"power of two"}));
  x.assign_stored(2, 2, bytes{1, 2, 3, -127}, {0x1p-149f});
  CHECK(x(1, 1) == -127 * 0x1p-149f);
  fixed_tensor f(2, 2);
  CHECK(says(refusal([&] { f.assign_stored(2, 2, fixed_format(5, 2), bytes{1, 2, 3, 16}); }), {"16"}));
  CHECK(says(refusal([&] { f.assign_stored(2, 2, fixed_format(9, 2), bytes(4)); }), {"9 bits"}));
}

}  // namespace
