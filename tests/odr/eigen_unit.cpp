// What eigen.hpp promises with the same bits whatever the flags, under equal EIGEN_MAX_ALIGN_BYTES.
//
// Left out is what Eigen computes in float under the user's flags: decompositions and triangular solves of
// floating formats.
#include <narrow/eigen.hpp>

#include <Eigen/Dense>

#include "computations.hpp"

namespace {

using Eigen::Dynamic, Eigen::Index;
using narrow::fixed;
using odr::add, odr::finite, odr::for_each_type, odr::hash, odr::recorder;

using formats = std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, fixed<8, 4>, fixed<16, 8>>;

template <class T, int Order = Eigen::ColMajor> using matrix = Eigen::Matrix<T, Dynamic, Dynamic, Order>;

template <class Matrix> Matrix filled(Index rows, Index cols, std::uint64_t skip) {
  using T = typename Matrix::Scalar;
  const auto values = finite<T>(static_cast<std::size_t>(rows * cols), skip);
  Matrix result(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) result(i, j) = values[static_cast<std::size_t>(i * cols + j)];
  return result;
}

template <class Derived> void add_all(hash& h, const Eigen::DenseBase<Derived>& m) {
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j) add(h, m.coeff(i, j));
}

template <class T, int OrderA, int OrderB> void products(const std::string& name, recorder& record) {
  for (const Index depth : {1, 3, 40, 300})
    record(name + " products of depth " + std::to_string(depth), [&](hash& h) {
      const auto a = filled<matrix<T, OrderA>>(9, depth, 0);
      const auto b = filled<matrix<T, OrderB>>(depth, 11, 5);
      matrix<T> c = a * b;
      add_all(h, c);
      c.noalias() += a * b;
      c -= 0.5f * a * b;
      add_all(h, c);
      add_all(h, Eigen::VectorX<T>(a * b.col(0)));
      add_all(h, matrix<T>(a.lazyProduct(b)));
      add_all(h, matrix<T>(b.transpose() * a.transpose()));
      add_all(h, matrix<T>(a.topRows(5) * b.middleCols(2, 3)));
      if constexpr (narrow::narrow_float<T>) add_all(h, Eigen::MatrixXf(a * b));
    });
}

template <class T, int Size> void fixed_sizes(const std::string& name, recorder& record) {
  record(name + " of fixed size " + std::to_string(Size), [](hash& h) {
    using square = Eigen::Matrix<T, Size, Size>;
    const auto a = filled<square>(Size, Size, 0), b = filled<square>(Size, Size, 5);
    square c = a * b;
    c.noalias() += a.transpose() * b;
    add_all(h, c);
    add(h, T(a.row(0).dot(b.row(0))));
    add(h, T(c.sum()));
  });
}

/// Between many ends, so that a product that is fused with a sum shows.
template <class T> void spaced(const std::string& name, recorder& record) {
  record(name + " LinSpaced", [](hash& h) {
    const auto ends = filled<Eigen::VectorX<T>>(100, 1, 0);
    for (Index i = 0; i + 1 < ends.size(); ++i)
      add_all(h, Eigen::VectorX<T>(Eigen::VectorX<T>::LinSpaced(100 + i, ends(i), ends(i + 1))));
  });
}

template <class T> void sums(const std::string& name, recorder& record) {
  record(name + " sums", [](hash& h) {
    for (const Index n : {1, 7, 64, 1000}) {
      const auto a = filled<Eigen::VectorX<T>>(n, 1, 0), b = filled<Eigen::VectorX<T>>(n, 1, 5);
      add(h, T(a.dot(b)));
      add(h, T(a.sum()));
      add(h, T(a.squaredNorm()));
      add(h, T(Eigen::Map<const Eigen::VectorX<T>, 0, Eigen::InnerStride<2>>(a.data(), n / 2).sum()));
      add(h, narrow::sum(a));
      add(h, narrow::norm(a));
    }
    const auto m = filled<matrix<T>>(13, 17, 0);
    add_all(h, Eigen::RowVectorX<T>(m.colwise().sum()));
    add_all(h, Eigen::VectorX<T>(m.rowwise().sum()));
  });
}

template <class T> void coefficients(const std::string& name, recorder& record) {
  record(name + " coefficient-wise", [](hash& h) {
    const auto a = filled<matrix<T>>(31, 33, 0), b = filled<matrix<T>>(31, 33, 5);
    matrix<T> c = a + b;
    add_all(h, c);
    c = a.cwiseProduct(b);
    add_all(h, c);
    // Products that a compiler could fuse with what they are added to: in pieces, and one by one.
    const auto difference = a.cwiseProduct(b) - a;
    c = difference.reverse();
    add_all(h, c);
    if constexpr (narrow::narrow_float<T>) {
      const auto same = [](const auto& x) { return x; };
      add_all(h, Eigen::MatrixXf(difference.reverse().template cast<float>()));
      add_all(h, Eigen::MatrixXf(difference.unaryExpr(same).template cast<float>()));
      add_all(h, Eigen::MatrixXf((a.cwiseAbs2() - b).reverse().template cast<float>()));
    }
    c.array() = (a.array() * T(3) + b.array()).max(T(0));
    add_all(h, c);
    c -= a;
    add_all(h, c);
    c = a.transpose().transpose();
    add_all(h, c);
    add_all(h, a.template cast<float>().template cast<narrow::bf16>().eval());
  });
}

}  // namespace

odr::results UNIT();

odr::results UNIT() {
  recorder record;
  for_each_type<formats>("format ", [&]<class T>(const std::string& name) {
    products<T, Eigen::ColMajor, Eigen::ColMajor>(name, record);
    products<T, Eigen::RowMajor, Eigen::ColMajor>(name + ", row major,", record);
    fixed_sizes<T, 1>(name, record);
    fixed_sizes<T, 3>(name, record);
    fixed_sizes<T, 8>(name, record);
    sums<T>(name, record);
    spaced<T>(name, record);
    coefficients<T>(name, record);
  });
  return std::move(record).results();
}
