// Numbers that are only copied keep their codes: lines that become columns, short parts of lines, which may
// overlap, lines from their last number to the first, and lines that change places.
#include <narrow/eigen.hpp>

#include "catch.hpp"
#include "every_isa.hpp"
#include "exhaustive.hpp"
#include "tally.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
template <class T, int Order> using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
constexpr int by_columns = Eigen::ColMajor, by_rows = Eigen::RowMajor;

/// Codes of any numbers, NaNs among them, by their places.
template <class T, int Order> matrix<T, Order> codes(at rows, at cols) {
  matrix<T, Order> m(rows, cols);
  for (at i = 0; i < rows; ++i)
    for (at j = 0; j < cols; ++j)
      m(i, j) = T::from_bits(static_cast<typename T::bits_type>(131 * i + 7 * j + i * j));
  return m;
}
template <class A, class B> bool same(const A& a, const B& b) {
  bool result = a.rows() == b.rows() && a.cols() == b.cols();
  for (at i = 0; result && i < a.rows(); ++i)
    for (at j = 0; j < a.cols(); ++j) result = result && a(i, j).bits() == b(i, j).bits();
  return result;
}

const at sizes[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 33, 64, 100};
using formats =
    test::some_of<std::tuple<fp16, fp8_e4m3fn, bf16, fixed<16, 8>, fixed<32, 16>, fp8_e5m2>, 0, 1>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Lines that become columns keep their codes, and nothing beside them changes",
                        "[eigen]", formats) {
  using T = TestType;
  test::tally results;
  for (const at rows : sizes)
    for (const at cols : sizes) {
      const auto expect = [&](const char* form, bool match) {
        results.expect(match, [&] { return form + std::to_string(rows) + " x " + std::to_string(cols); });
      };
      const auto a = codes<T, by_columns>(rows, cols);
      const auto b = codes<T, by_rows>(cols, rows);
      matrix<T, by_rows> c = a;
      expect("in the other order, ", same(c, a));
      matrix<T, by_columns> d = a.transpose();
      expect("transposed, ", same(d.transpose(), a));
      c = b.transpose();
      expect("transposed by rows, ", same(c, b.transpose()));
      d = codes<T, by_columns>(cols + 3, rows + 2);
      const auto before = d.eval();
      d.block(2, 1, cols, rows).noalias() = a.transpose();
      bool match = same(d.block(2, 1, cols, rows), a.transpose());
      d.block(2, 1, cols, rows) = before.block(2, 1, cols, rows);
      expect("into a block, ", match && same(d, before));
    }
  results.require(4 * std::size(sizes) * std::size(sizes));
}

TEMPLATE_LIST_TEST_CASE("Parts of lines of every length are moved as a whole, those that overlap, too",
                        "[eigen]", formats) {
  using T = TestType;
  test::tally results;
  constexpr at size = 70;
  const auto a = codes<T, by_columns>(size, 2);
  for (at n = 0; n <= size; ++n)
    for (const at by : {at{0}, at{1}, at{3}, n / 2, size - n}) {
      if (n + by > size) continue;
      const auto expect = [&](const char* form, const auto& got, at to, at from) {
        bool match = true;
        for (at i = 0; i < size; ++i) {
          const bool moved = i >= to && i < to + n;
          match = match && got(i, 0).bits() == a(moved ? i - to + from : i, 0).bits();
        }
        results.expect(match, [&] { return form + std::to_string(n) + " by " + std::to_string(by); });
      };
      auto m = a;
      m.col(0).segment(0, n) = m.col(0).segment(by, n);
      expect("up, ", m, 0, by);
      m = a;
      m.col(0).segment(by, n) = m.col(0).segment(0, n);
      expect("down, ", m, by, 0);
      m = a;
      m.col(1).segment(by, n) = m.col(0).segment(0, n);
      m.col(0).segment(by, n) = m.col(1).segment(by, n);
      expect("by way of another column, ", m, by, 0);
    }
  results.require_at_least(3 * 4 * size);
}

TEMPLATE_LIST_TEST_CASE("Reversed and exchanged lines keep their codes, and nothing beside them changes",
                        "[eigen]", formats) {
  using T = TestType;
  test::tally results;
  const auto check_order = [&]<int Order>(std::integral_constant<int, Order>) {
    using M = matrix<T, Order>;
    for (const at rows : sizes)
      for (const at cols : sizes) {
        // a(i, j) of a part of a larger matrix becomes what `of` says, and all else what it was.
        const M a = codes<T, Order>(rows + 2, cols + 3), b = codes<T, Order>(rows + 2, 2 * cols + 3);
        const auto expect = [&](const char* form, const M& got, const M& before, at first, const auto& of) {
          bool match = true;
          for (at i = 0; i < before.rows(); ++i)
            for (at j = 0; j < before.cols(); ++j) {
              const bool is_inside = i >= 1 && i <= rows && j >= first && j < first + cols;
              const T right = is_inside ? of(i - 1, j - first) : before(i, j);
              match = match && got(i, j).bits() == right.bits();
            }
          results.expect(match, [&] { return form + std::to_string(rows) + " x " + std::to_string(cols); });
        };
        const auto part = [&](auto& m, at first) { return m.block(1, first, rows, cols); };
        const auto check = [&](const char* form, const auto& reversed, const auto& of) {
          M m = a;
          part(m, 2) = reversed(part(b, 1));
          expect(form, m, a, 2, [&](at i, at j) { return of(part(b, 1), i, j); });
          // Exchanged, with the destination as the other part of one matrix.
          m = b;
          auto left = part(m, 1), right = part(m, cols + 2);
          auto view = reversed(right);
          left.swap(view);
          M after = b;
          for (at i = 0; i < rows; ++i)
            for (at j = 0; j < cols; ++j) after(i + 1, j + 1) = of(part(b, cols + 2), i, j);
          // What was on the left is now on the right, from where the same view shows it.
          const M shown = reversed(part(m, cols + 2));
          bool match = same(shown, part(b, 1));
          for (at i = 0; i < rows; ++i)
            for (at j = 0; j < cols; ++j) after(i + 1, cols + 2 + j) = m(i + 1, cols + 2 + j);
          match = match && same(m, after);
          results.expect(match, [&] {
            return std::string("exchanged, ") + form + std::to_string(rows) + " x " + std::to_string(cols);
          });
        };
        check(
            "as it is, ", [](auto m) { return m; }, [](const auto& m, at i, at j) { return m(i, j); });
        check(
            "reversed, ", [](auto m) { return m.reverse(); },
            [&](const auto& m, at i, at j) { return m(rows - 1 - i, cols - 1 - j); });
        check(
            "columns reversed, ", [](auto m) { return m.colwise().reverse(); },
            [&](const auto& m, at i, at j) { return m(rows - 1 - i, j); });
        check(
            "rows reversed, ", [](auto m) { return m.rowwise().reverse(); },
            [&](const auto& m, at i, at j) { return m(i, cols - 1 - j); });
        M m = b;
        m.reverseInPlace();
        bool match = true;
        for (at i = 0; i < b.rows(); ++i)
          for (at j = 0; j < b.cols(); ++j)
            match = match && m(i, j).bits() == b(b.rows() - 1 - i, b.cols() - 1 - j).bits();
        results.expect(match, [] { return std::string("reversed in place"); });
      }
  };
  check_order(std::integral_constant<int, by_columns>{});
  check_order(std::integral_constant<int, by_rows>{});
  results.require(2 * 9 * std::size(sizes) * std::size(sizes));
}

using formats_of_bytes = test::some_of<std::tuple<fp8_e4m3fn, fp8_e5m2, fp8_e4m3fnuz, fp6_e3m2, fp4_e2m1>, 1>;

TEMPLATE_LIST_TEST_CASE("Codes chosen by conditions are those of single numbers", "[eigen]",
                        formats_of_bytes) {
  using T = TestType;
  constexpr at all = at{1} << T::layout::width;
  const auto code = [](at i) { return T::from_bits(static_cast<typename T::bits_type>(i % all)); };
  test::tally results;
  test::for_each_isa([&](const std::string& isa) {
    for (const at n : {at{1}, at{5}, at{17}, at{31}, at{47}, all}) {
      for (at shift = 0; shift < all; shift += n == all ? 1 : 7) {
        const Eigen::Matrix<T, Eigen::Dynamic, 1> a =
            Eigen::Matrix<T, Eigen::Dynamic, 1>::NullaryExpr(n, [&](at i) { return code(i); });
        const Eigen::Matrix<T, Eigen::Dynamic, 1> b =
            Eigen::Matrix<T, Eigen::Dynamic, 1>::NullaryExpr(n, [&](at i) { return code(3 * i + shift); });
        const T zero(0.0f), one(-1.0f);
        const Eigen::Matrix<T, Eigen::Dynamic, 1> least = (a.array() < b.array()).select(a, b),
                                                  kept = (a.array() > zero).select(b, zero),
                                                  other = (a.array() <= b.array()).select(one, a);
        const auto is = [](T got, T chosen) { return got.bits() == T(static_cast<float>(chosen)).bits(); };
        bool match = true;
        for (at i = 0; i < n; ++i)
          match = match && is(least(i), a(i) < b(i) ? a(i) : b(i)) &&
                  is(kept(i), a(i) > zero ? b(i) : zero) && is(other(i), a(i) <= b(i) ? one : a(i));
        results.expect(match,
                       [&] { return isa + ", " + std::to_string(n) + " by " + std::to_string(shift); });
      }
    }
  });
  results.require(test::isa_count() * static_cast<std::uint64_t>(all + 5 * ((all + 6) / 7)));
}
