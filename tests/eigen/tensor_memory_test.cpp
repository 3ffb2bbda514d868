// What a matrix in a block format takes in memory, and what assigning to it takes beside that.
#include <stdexcept>

#define EIGEN_RUNTIME_NO_MALLOC  // Eigen asks before each allocation of its own
#define eigen_assert(condition) \
  ((condition) ? static_cast<void>(0) : throw std::logic_error("eigen_assert: " #condition))
#include "allocation_counter.hpp"
#include "tensor_formats.hpp"

using test::usage;

namespace {

/// Runs `action` while Eigen may not allocate.
template <class Action> void without_allocations_of_eigen(Action action) {
  struct guard {
    guard() { Eigen::internal::set_is_malloc_allowed(false); }
    ~guard() { Eigen::internal::set_is_malloc_allowed(true); }
  } forbidden;
  action();
}

template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
constexpr std::size_t rows = 300, cols = 400, n = rows * cols, a_little = 4096;

}  // namespace

TEST_CASE("A vector of matrices that grows moves them", "[tensor]") {
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<matrix<narrow::bfp<8>>>);
  STATIC_REQUIRE(std::is_nothrow_move_assignable_v<matrix<narrow::bfp<8>>>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<matrix<narrow::dynamic_fixed>>);
  std::vector<matrix<narrow::int8>> list(1, matrix<narrow::int8>(test::numbers(rows, cols)));
  const auto memory = list.front().mantissas().data();
  list.reserve(list.capacity() + 1);
  REQUIRE(list.front().mantissas().data() == memory);
}

TEST_CASE("A matrix holds one element for each coefficient and one scale for each block", "[tensor]") {
  const Eigen::MatrixXf x = test::numbers(rows, cols);
  const auto bytes = [&](auto m) { return usage([&] { return decltype(m)(x); }).kept; };
  REQUIRE(bytes(matrix<narrow::bfp<8>>()) == n + sizeof(float));
  REQUIRE(bytes(matrix<narrow::bfp<4>>()) == n + sizeof(float));
  REQUIRE(bytes(matrix<narrow::bfp<12>>()) == 2 * n + sizeof(float));
  REQUIRE(bytes(matrix<narrow::bfp<8, narrow::per_row>>()) == n + rows * sizeof(float));
  REQUIRE(bytes(matrix<narrow::bfp<8, narrow::per_column>>()) == n + cols * sizeof(float));
  REQUIRE(bytes(matrix<narrow::bfp<8, narrow::tile<24, 24>>>()) == n + 13 * 17 * sizeof(float));
  REQUIRE(bytes(matrix<narrow::int8>()) == n + sizeof(float));
  REQUIRE(bytes(matrix<narrow::dynamic_fixed>()) == n);
}

TEST_CASE("Cheap expressions are quantised without a copy in float", "[tensor]") {
  using M = matrix<narrow::bfp<8>>;
  constexpr std::size_t many_rows = 3 * rows, many = many_rows * cols;
  STATIC_REQUIRE(many > narrow::detail::max_dequantized);  // of fewer, floats stay in the caches
  const Eigen::MatrixXf x = test::numbers(many_rows, cols), y = test::numbers(many_rows, cols, 2);
  M m = x;
  const M other = y;
  const auto check = [&](auto assign) {
    without_allocations_of_eigen([&] {
      const usage u([&] {
        assign();
        return 0;
      });
      REQUIRE(u.most <= many + a_little);  // the new elements, beside the old ones
      REQUIRE(u.kept == 0);
    });
  };
  check([&] { m = x; });
  check([&] { m = x + y; });
  check([&] { m = 0.5f * x - y / 3; });
  check([&] { m = m.transpose().transpose() + other; });
  check([&] { m += x; });
  check([&] { m *= 2; });
  check([&] { m = x.cwiseMax(0); });
  check([&] { m = x.cast<double>().cast<float>(); });
  check([&] { m.row(3) = x.row(2); });
  check([&] { m.setZero(); });
  // The counters count: this one needs the matrix of exponentials.
  REQUIRE_THROWS_AS(check([&] { m = x.array().exp().matrix(); }), std::logic_error);
}
