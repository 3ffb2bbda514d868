// Products of integer matrices: float holds every sum, so that the one right result is the exact one, rounded
// once.
#pragma once

#include "counting.hpp"
#include "exhaustive.hpp"
#include "tally.hpp"

namespace test {

// The ways to store a product.
inline constexpr auto store_plain = [](auto& c, const auto& x) { c = x; };
inline constexpr auto store_added = [](auto& c, const auto& x) { c += x; };
inline constexpr auto store_subtracted = [](auto& c, const auto& x) { c -= x; };
inline constexpr auto store_noalias = [](auto& c, const auto& x) { c.noalias() = x; };
inline constexpr auto store_noalias_added = [](auto& c, const auto& x) { c.noalias() += x; };
inline constexpr auto store_noalias_subtracted = [](auto& c, const auto& x) { c.noalias() -= x; };

/// Runs `f(name, store, keep, gain)` for each way, or for half of them: it leaves keep c + gain x.
template <bool All = true, class F> void for_each_store(F f) {
  f("c = x", store_plain, 0, 1);
  f("c += x", store_added, 1, 1);
  f("c.noalias() -= x", store_noalias_subtracted, 1, -1);
  if constexpr (All) {
    f("c -= x", store_subtracted, 1, -1);
    f("c.noalias() = x", store_noalias, 0, 1);
    f("c.noalias() += x", store_noalias_added, 1, 1);
  }
}
inline constexpr int store_count = 6;
inline constexpr int some_of_stores_count = is_exhaustive ? store_count : 3;

/// Stores `x()` in c in every way: c must be the exact result rounded once, with one rounding for each
/// coefficient.
template <bool All = true, class C, class X>
void check_stores(tally& result, const std::string& name, C& c, const X& x, const Eigen::MatrixXd& exact) {
  using S = typename C::Scalar;
  const Eigen::MatrixXd before = integers(exact.rows(), exact.cols(), 99);
  for_each_store<All>([&](const char* way, auto store, int keep, int gain) {
    c = before.template cast<S>();
    const long count = roundings([&] { store(c, x()); });
    const Eigen::MatrixXd expected = rounded_to<S>(keep * before + gain * exact), got = as_double(c);
    const long stored = (expected.array() != 0).count();
    result.expect(
        got == expected && (count == stored || !std::is_same_v<typename S::round_policy, counting_nearest>),
        [&] {
          std::ostringstream out;
          out << name << ", " << way << ": " << count << " roundings for " << stored << " coefficients, got\n"
              << got << "\nexpected\n"
              << expected;
          return out.str();
        });
  });
}

/// In half of the ways, in the exhaustive tests in all: where a form differs from others in its operands, not
/// in where it is stored.
template <class C, class X>
void check_some_of_stores(tally& result, const std::string& name, C& c, const X& x,
                          const Eigen::MatrixXd& exact) {
  check_stores<is_exhaustive>(result, name, c, x, exact);
}

}  // namespace test
