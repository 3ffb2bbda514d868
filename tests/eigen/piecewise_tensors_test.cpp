// Matrices in block formats in coefficient-wise expressions: they give the bits that the floats in them give.
#include <bit>

#include "tensor_formats.hpp"

using namespace test;
using Eigen::Index;

namespace {

/// The numbers of m, read one at a time.
template <class M> plain<M> one_by_one(const M& m) {
  plain<M> result(m.rows(), m.cols());
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j) result(i, j) = m(i, j);
  return result;
}

template <class A, class B> bool same_bits(const A& a, const B& b) {
  using bits = std::conditional_t<sizeof(typename A::Scalar) == 4, std::uint32_t, std::uint64_t>;
  bool same = a.rows() == b.rows() && a.cols() == b.cols();
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j)
      same = same && std::bit_cast<bits>(a(i, j)) == std::bit_cast<bits>(b(i, j));
  return same;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Tensors in expressions are the floats that they hold", "[tensor][piecewise]",
                        tensor_formats) {
  using M = typename TestType::template matrix<>;
  using T = typename M::Scalar;
  using by_columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using by_rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  tally count;
  const std::pair<Index, Index> shapes[] = {{1, 50}, {50, 1}, {7, 9}, {33, 300}, {300, 33}, {70, 65}};
  for (const auto& shape : shapes) {
    const Index rows = shape.first, cols = shape.second;
    const M a = numbers<T>(rows, cols), b = T(0.01) * numbers<T>(rows, cols, 2);
    const plain<M> x = one_by_one(a), y = one_by_one(b);
    const by_rows z = numbers<T>(rows, cols, 3);
    const Index r = rows / 3, c = cols / 3, height = rows - r, width = cols - c;
    const auto check = [&](const char* name, const auto& form) {
      const by_columns expected = form(x, y), columns = form(a, b);
      const by_rows lines = form(a, b);
      const auto what = [&] {
        return std::string(name) + ", " + std::to_string(rows) + " x " + std::to_string(cols);
      };
      count.expect(same_bits(columns, expected), what);
      count.expect(same_bits(lines, expected), what);
      const M stored = form(a, b);
      count.expect(holds(stored, expected), what);
    };
    check("sum", [](const auto& p, const auto& q) { return p + q; });
    check("with floats", [&](const auto& p, const auto&) { return p * T(2.5) - z; });
    check("transposed", [](const auto& p, const auto& q) { return p.transpose() - q.transpose(); });
    check("block", [&](const auto& p, const auto& q) {
      return p.block(r, c, height, width).cwiseProduct(q.block(0, 0, height, width));
    });
    check("turned block", [&](const auto& p, const auto& q) {
      return p.transpose().block(c, r, width, height) + q.block(r, c, height, width).transpose();
    });
    check("row", [&](const auto& p, const auto& q) { return p.row(r) + q.row(0); });
    check("column", [&](const auto& p, const auto& q) { return p.col(c) + q.col(0); });
    check("bias", [&](const auto& p, const auto&) { return p.colwise() + z.col(0); });
    check("its own bias", [&](const auto& p, const auto& q) { return p.rowwise() + q.row(r); });
    check("scaled rows", [&](const auto& p, const auto&) { return z.col(c).asDiagonal() * p; });
    check("greater", [](const auto& p, const auto& q) { return p.cwiseMax(T(0.25)).cwiseMin(q); });
    check("array",
          [](const auto& p, const auto& q) { return (p.array() / T(3) + q.array().square()).matrix(); });
    check("selection", [](const auto& p, const auto& q) { return (p.array() > T(0)).select(p, q); });
    check("reversed", [](const auto& p, const auto& q) { return p.reverse() + q; });

    by_columns sum = z, expected = z;
    sum += a;
    expected += x;
    sum.array() *= b.array();
    expected.array() *= y.array();
    count.expect(same_bits(sum, expected), [] { return "compound assignment"; });
    M changed = a;
    changed = changed.cwiseProduct(changed) + b;
    count.expect(holds(changed, plain<M>(x.cwiseProduct(x) + y)), [] { return "what is assigned to"; });
  }
  count.require(std::size(shapes) * (14 * 3 + 2));
}

TEST_CASE("Numbers beyond float's normal range, and no numbers, in expressions of tensors",
          "[tensor][piecewise]") {
  using M = Eigen::Matrix<narrow::mx<narrow::fp8_e4m3fn>, Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::MatrixXf values = numbers(40, 64);
  values.col(0) *= 0x1p-126f;
  values.row(5) *= 0x1p-135f;
  values(7, 3) = std::numeric_limits<float>::infinity();
  const M a = values;
  const Eigen::MatrixXf got = a + a;
  tally count;
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 64; ++j) {
      const float x = a(i, j), y = x + x;
      count.expect(std::bit_cast<std::uint32_t>(got(i, j)) == std::bit_cast<std::uint32_t>(y) ||
                       (y != y && got(i, j) != got(i, j)),
                   [&] { return std::to_string(i) + ", " + std::to_string(j); });
    }
  count.require(40 * 64);
}
