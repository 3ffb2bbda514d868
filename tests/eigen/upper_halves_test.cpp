// Kernels leave the upper halves of vector registers unused: instructions of 128 bits, with which a program
// around them computes, wait for registers of which these are in use (Zen 3: 60 ns). As g++ and clang compile
// it with -O2.
#include <narrow/eigen.hpp>

#include "catch.hpp"
#include "every_isa.hpp"

#if defined(__x86_64__)
#include <cpuid.h>

namespace {

using namespace narrow;
using at = Eigen::Index;
template <class T> using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T> using rows_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T> using column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
using formats = std::tuple<bf16, fp8_e4m3fn, fixed<8, 4>>;

/// Whether XGETBV tells which registers are in use.
bool tells_use() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned osxsave = 1u << 27, xgetbv1 = 1u << 2;
  return __get_cpuid_count(1, 0, &a, &b, &c, &d) != 0 && (c & osxsave) != 0 &&
         __get_cpuid_count(13, 1, &a, &b, &c, &d) != 0 && (a & xgetbv1) != 0;
}
/// Of any register.
[[gnu::always_inline]] inline bool upper_halves_in_use() {
  unsigned in_use = 0, high = 0;
  constexpr unsigned of_ymm = 1u << 2, of_zmm = 1u << 6;
  asm volatile("xgetbv" : "=a"(in_use), "=d"(high) : "c"(1));
  return (in_use & (of_ymm | of_zmm)) != 0;
}

at checked = 0;

/// What leaves them in use would, too, if it is called for the second time.
template <class Run> [[gnu::noinline]] void check(const char* name, at n, Run run) {
  run();
  asm volatile("vzeroupper");
  run();
  const bool in_use = upper_halves_in_use();
  ++checked;
  asm volatile("vzeroupper");
  if (!in_use) return;
  INFO(name << " of " << n);
  CHECK_FALSE(in_use);
}

template <class T> void check_all(at n) {
  const auto number = [](at i) { return T(static_cast<float>(i % 7 - 3) * 0.25f); };
  matrix<T> a(n, n), b(n, n), c(n, n);
  for (at i = 0; i < n * n; ++i) {
    a.data()[i] = number(i);
    b.data()[i] = number(i + 2);
  }
  rows_of<T> r = a;
  column<T> x = a.col(0), y = x, z = x;
  Eigen::VectorXf f = x.template cast<float>(), g = f;
  T one{};
  float sum = 0;

  check("a sum", n, [&] { z = x + y; });
  check("a sum in place", n, [&] { z += x; });
  check("a factor", n, [&] { z = 0.3f * x; });
  check("extremes", n, [&] { z = x.cwiseMax(y).cwiseMin(number(1)); });
  check("a choice", n, [&] { z = (x.array() < y.array()).select(x, y); });
  check("a quotient", n, [&] { z = x.cwiseQuotient(y); });
  check("rows", n, [&] { c.row(0) = a.row(n - 1) + b.row(0); });
  check("a diagonal", n, [&] { c.diagonal() += a.diagonal(); });
  check("columns and one", n, [&] { c = a.colwise() + x; });
  check("rows and one", n, [&] { c = a.rowwise() - x.transpose(); });
  check("turned", n, [&] { c = a.transpose(); });
  check("of both orders", n, [&] { c = a + r; });
  check("reversed", n, [&] { z = x.reverse() + y; });
  check("to floats", n, [&] { f = x.template cast<float>(); });
  check("added to floats", n, [&] { f += x.template cast<float>(); });
  check("from floats", n, [&] { z = g.template cast<T>(); });
  check("total", n, [&] { one = x.sum(); });
  check("totals of columns", n, [&] { z = a.colwise().sum().transpose(); });
  check("totals of rows", n, [&] { z = a.rowwise().sum(); });
  check("norm", n, [&] { one = x.squaredNorm(); });
  check("most", n, [&] { one = x.maxCoeff(); });
  check("where most", n, [&] {
    at place = 0;
    one = x.minCoeff(&place);
  });
  check("most of columns", n, [&] { z = a.colwise().maxCoeff().transpose(); });
  check("dot", n, [&] { one = x.dot(y); });
  check("dot of rows", n, [&] { one = a.row(0).dot(b.row(n - 1)); });
  check("dot in float", n, [&] { sum += static_cast<float>(narrow::dot(x, y)); });
  check("matrix by vector", n, [&] { z.noalias() = a * x; });
  check("rows by vector", n, [&] { z.noalias() = r * x; });
  check("added rows by vector", n, [&] { z.noalias() += r * x; });
  check("matrix by matrix", n, [&] { c.noalias() = a * b; });
  check("rows by matrix", n, [&] { c.noalias() = r * b; });
  check("transposed by matrix", n, [&] { c.noalias() = a.transpose() * b; });
  check("matrix by half of the columns", n,
        [&] { c.leftCols(n / 2 + 1).noalias() = a * b.leftCols(n / 2 + 1); });
  check("outer product", n, [&] { c.noalias() = x * y.transpose(); });
  check("product in float", n, [&] { f.noalias() = a * x; });
  if constexpr (narrow_float<T>) {
    check("exp", n, [&] { z = x.array().exp(); });
    check("tanh", n, [&] { z = x.array().tanh(); });
    check("log", n, [&] { z = x.array().log(); });
    check("softmax", n, [&] { z = softmax(x); });
  }
  REQUIRE(std::isfinite(sum));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("kernels leave the upper halves of registers unused", "[eigen][.exhaustive]",
                        formats) {
  if (!tells_use()) {
    WARN("this processor does not tell which registers are in use");
    return;
  }
  checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const at n : {1, 3, 7, 8, 9, 16, 17, 40, 70}) check_all<TestType>(n);
  });
  REQUIRE(checked >= at(test::isa_count()) * 9 * 35);
}

#endif
