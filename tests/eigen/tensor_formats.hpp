// What the tests of matrices in block formats share: the formats, and tensors to compare with. Tensors have
// tests of their own, with an exact oracle; here the question is whether Eigen's code reaches them.
#pragma once

#include <Eigen/Dense>
#include <narrow/eigen.hpp>

#include "exhaustive.hpp"
#include "tally.hpp"

namespace test {

template <class S, int Order> struct in_order {
  using format = S;
  static constexpr int order = Order;
  template <int R = Eigen::Dynamic, int C = Eigen::Dynamic>
  using matrix = Eigen::Matrix<S, R, C,
                               R == 1 && C != 1 ? int(Eigen::RowMajor)
                               : C == 1         ? int(Eigen::ColMajor)
                                                : Order>;
};

/// A format of every kind and granularity, in one order or the other.
using tensor_formats = some_of<std::tuple<in_order<narrow::bfp<8>, Eigen::ColMajor>,
                                          in_order<narrow::bfp<12, narrow::per_row>, Eigen::RowMajor>,
                                          in_order<narrow::bfp<4, narrow::per_column>, Eigen::RowMajor>,
                                          in_order<narrow::bfp<16, narrow::tile<2, 3>>, Eigen::ColMajor>,
                                          in_order<narrow::int8, Eigen::RowMajor>,
                                          in_order<narrow::mx<narrow::fp8_e4m3fn>, Eigen::ColMajor>,
                                          in_order<narrow::dynamic_fixed, Eigen::ColMajor>>,
                               1, 5>;

template <class M> using plain = typename M::PlainObject;

/// Numbers that do not change from run to run, none of them special.
template <class Scalar = float> auto numbers(Eigen::Index rows, Eigen::Index cols, unsigned seed = 1) {
  std::srand(seed);
  return (Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>::Random(rows, cols) * Scalar(3)).eval();
}

/// What a tensor in the format and order of M holds after it was assigned `values`.
template <class M, class X> typename M::Tensor tensor_of(const X& values) {
  const plain<M> x = values;
  typename M::Tensor result(
      0, 0, M::IsRowMajor ? narrow::storage_order::row_major : narrow::storage_order::column_major);
  result.assign(narrow::detail::view_of_direct(x));
  return result;
}

inline bool same(const narrow::fixed_tensor& a, const narrow::fixed_tensor& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && a.mantissas() == b.mantissas();
}
template <class Format>
bool same(const narrow::block_tensor<Format>& a, const narrow::block_tensor<Format>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && std::ranges::equal(a.mantissas(), b.mantissas()) &&
         std::ranges::equal(a.scales(), b.scales());
}

/// Whether m holds what a tensor assigned `values` holds.
template <class M, class X> bool holds(const M& m, const X& values) {
  return same(m.tensor(), tensor_of<M>(values));
}

}  // namespace test
