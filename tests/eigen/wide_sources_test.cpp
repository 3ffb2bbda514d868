// Expressions of doubles and of wider numbers, assigned to matrices in block formats: what a tensor holds
// that was assigned the same numbers from memory, which has an exact oracle of its own.
#include <vector>

#include "tensor_formats.hpp"

using namespace test;
using Eigen::Dynamic;
namespace rounding = narrow::rounding;

namespace {

/// What a tensor like that of M holds after it was assigned numbers from memory, row by row.
template <class M, class X, class... How>
typename M::Tensor tensor_from_memory(const X& x, const How&... how) {
  using T = typename X::Scalar;
  const Eigen::Matrix<T, Dynamic, Dynamic, Eigen::RowMajor> values = x;
  typename M::Tensor result(
      0, 0, M::IsRowMajor ? narrow::storage_order::row_major : narrow::storage_order::column_major);
  result.assign(narrow::matrix_view<const T>{values.data(), values.rows(), values.cols(), values.cols(), 1},
                how...);
  return result;
}

/// Numbers that rounding to float first would show: the next doubles to what floats are.
template <class T>
Eigen::Matrix<T, Dynamic, Dynamic> wide_numbers(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  const auto near = [](T x) {
    if constexpr (std::floating_point<T>)
      return std::nextafter(x, T(9));
    else
      return static_cast<T>(x + 1);
  };
  std::srand(seed);
  Eigen::Matrix<T, Dynamic, Dynamic> result(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < cols; ++j) {
      const int quarters = std::rand() % 1023 - 511;
      if constexpr (std::floating_point<T>)
        result(i, j) = near(static_cast<T>(quarters) / 4);
      else
        result(i, j) = near(static_cast<T>(static_cast<T>(quarters) << 33));
    }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Expressions of doubles are rounded once", "[.exhaustive][tensor][wide]",
                        tensor_formats) {
  using M = typename TestType::template matrix<>;
  using V = typename TestType::template matrix<Dynamic, 1>;
  tally count;
  const auto check_of = [&]<class T>(std::type_identity<T>) {
    const auto a = wide_numbers<T>(5, 7, 1), b = wide_numbers<T>(5, 7, 2);
    const auto check = [&](const char* name, const auto& x) {
      const M constructed(x);
      M assigned;
      assigned = x;
      const auto expected = tensor_from_memory<M>(x);
      count.expect(same(constructed.tensor(), expected),
                   [&] { return text(name_of<M>(), name_of<T>(), name); });
      count.expect(same(assigned.tensor(), expected), [&] { return text(name_of<M>(), name_of<T>(), name); });
    };
    check("matrix", a);
    check("transpose", a.transpose());
    check("block", a.block(1, 2, 3, 4));
    check("sum", a + b);
    check("factor", T(3) * a - b / T(3));
    check("coefficient-wise", a.cwiseProduct(b).cwiseAbs());
    check("product", a * b.transpose());
    check("reversed", a.reverse());
    check("reduction", a.rowwise().sum());
    check("what is computed once", a.array().cube().matrix());
    if constexpr (std::floating_point<T>) check("exponential", (a / T(90)).array().exp().matrix());

    V turned;
    turned = a.row(2);
    count.expect(same(turned.tensor(), tensor_from_memory<V>(a.row(2).transpose())),
                 [&] { return text(name_of<M>(), name_of<T>(), "turned"); });

    M parts = M::Zero(5, 7);
    parts.block(1, 2, 3, 4) = a.block(0, 0, 3, 4);
    typename M::Tensor expected = tensor_from_memory<M>(Eigen::MatrixXf::Zero(5, 7).eval());
    const Eigen::Matrix<T, Dynamic, Dynamic> part = a.block(0, 0, 3, 4);
    expected.write(1, 2, narrow::matrix_view<const T>{part.data(), 3, 4, 1, 3});
    count.expect(same(parts.tensor(), expected), [&] { return text(name_of<M>(), name_of<T>(), "part"); });
  };
  check_of(std::type_identity<double>{});
  check_of(std::type_identity<long double>{});
  check_of(std::type_identity<std::int64_t>{});
  count.require(2 * (11 + 11 + 10) + 3 * 2);
}

TEMPLATE_LIST_TEST_CASE("Expressions of doubles are clipped and rounded by other policies once",
                        "[.exhaustive][tensor][wide]", tensor_formats) {
  using M = typename TestType::template matrix<>;
  tally count;
  const auto a = wide_numbers<double>(5, 7, 3), b = wide_numbers<double>(5, 7, 4);
  const auto check = [&](const char* name, const auto& x) {
    const auto by = [&](const auto& round) {
      M m;
      m.quantize(x, round);
      count.expect(same(m.tensor(), tensor_from_memory<M>(x, round)),
                   [&] { return text(name_of<M>(), name); });
      if constexpr (!std::same_as<typename M::Tensor, narrow::fixed_tensor>) {
        const float clip = 50.3f;
        m.quantize(x, clip, round);
        count.expect(same(m.tensor(), tensor_from_memory<M>(x, round, std::span<const float>(&clip, 1))),
                     [&] { return text(name_of<M>(), name, "clipped"); });
      }
    };
    by(rounding::nearest_even{});
    by(rounding::upward{});
    by(rounding::to_odd{});
    by(rounding::stochastic{5, 7});
  };
  check("matrix", a);
  check("sum", a + b);
  check("exponential", (a / 90).array().exp().matrix());
  count.require(3 * 4 * (std::same_as<typename M::Tensor, narrow::fixed_tensor> ? 1 : 2));
}
