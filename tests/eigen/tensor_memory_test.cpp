// What a matrix in a block format takes in memory, and what assigning to it takes beside that.
#include <cstdlib>
#include <new>
#include <stdexcept>

#define EIGEN_RUNTIME_NO_MALLOC  // Eigen asks before each allocation of its own
#define eigen_assert(condition) \
  ((condition) ? static_cast<void>(0) : throw std::logic_error("eigen_assert: " #condition))
#include "tensor_formats.hpp"

namespace {

std::size_t held = 0, peak = 0;  // bytes from operator new: vectors, and nothing of Eigen

}  // namespace

void* operator new(std::size_t size) {
  auto* block = static_cast<std::size_t*>(std::malloc(size + 2 * sizeof(std::size_t)));
  if (block == nullptr) throw std::bad_alloc();
  *block = size;
  held += size;
  peak = std::max(peak, held);
  return block + 2;
}
void operator delete(void* p) noexcept {
  if (p == nullptr) return;
  auto* block = static_cast<std::size_t*>(p) - 2;
  held -= *block;
  std::free(block);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

/// Bytes that `make` leaves allocated, and the most that it needed.
struct usage {
  std::size_t kept, most;

  template <class Make> explicit usage(Make make) : kept(0), most(0) {
    const std::size_t before = held;
    peak = held;
    [[maybe_unused]] const auto result = make();
    kept = held - before;
    most = peak - before;
  }
};

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
  const Eigen::MatrixXf x = test::numbers(rows, cols), y = test::numbers(rows, cols, 2);
  M m = x;
  const M other = y;
  const auto check = [&](auto assign) {
    without_allocations_of_eigen([&] {
      const usage u([&] {
        assign();
        return 0;
      });
      REQUIRE(u.most <= n + a_little);  // the new elements, beside the old ones
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
