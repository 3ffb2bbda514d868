// Eigen's expressions of narrow numbers.
#pragma once

#include <Eigen/Dense>
#include <narrow/eigen.hpp>

#include "bits.hpp"

namespace bits {

template <class S, int Order = Eigen::ColMajor>
using eigen_matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Order>;

template <class X> void add(digest& hash, const Eigen::DenseBase<X>& x) {
  for (index i = 0; i < x.rows(); ++i)
    for (index j = 0; j < x.cols(); ++j) hash.value(x.derived().coeff(i, j));
}
template <class S, int Order = Eigen::ColMajor>
eigen_matrix<S, Order> numbers(index rows, index cols, kind of, std::uint64_t seed) {
  const matrix<S> from(rows, cols, layout::by_rows, of, seed);
  eigen_matrix<S, Order> result(rows, cols);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < cols; ++j) result(i, j) = from.view(i, j);
  return result;
}

/// compute(hash, A, B, C) for matrices A, B (m, n) and C (n, m) of several shapes, kinds and orders.
template <class S, int Order, class Compute>
void report_matrices(const std::string& what, const Compute& compute) {
  report("matrix", name<S>() + (Order == Eigen::RowMajor ? "/rows/" : "/columns/") + what, [&](digest& hash) {
    for (const kind of : {kind::ordinary, kind::short_, kind::special})
      for (const auto& [rows, cols] : {std::pair<index, index>{1, 1}, {3, 5}, {17, 33}, {40, 29}})
        compute(hash, numbers<S, Order>(rows, cols, of, 1), numbers<S>(rows, cols, kind::ordinary, 2),
                numbers<S, Order>(cols, rows, kind::ordinary, 3));
  });
}

template <class S, int Order> void expressions_of() {
  using result = eigen_matrix<S, Order>;
  report_matrices<S, Order>("coefficients", [](digest& hash, const auto& A, const auto& B, const auto& C) {
    for (const result& x : {result(A + B), result(A - S(2) * B), result(A.cwiseProduct(B) - A),
                            result(A.cwiseAbs().cwiseMax(B)), result(-A + C.transpose()), result(A / S(3)),
                            result(0.3f * A + B), result((A.array() * 3 + 1).max(S(0)).matrix())})
      add(hash, x);
    result x = A;
    x += B;
    x *= S(1.5);
    x.noalias() -= C.transpose();
    add(hash, x);
  });
  report_matrices<S, Order>("casts", [](digest& hash, const auto& A, const auto& B, const auto&) {
    add(hash, Eigen::MatrixXf(A.template cast<float>() * 0.7f + B.template cast<float>()));
    add(hash, eigen_matrix<narrow::bf16>((A + B).template cast<narrow::bf16>()));
    add(hash, eigen_matrix<narrow::fixed<8, 4>>(A.template cast<narrow::fixed<8, 4>>()));
    add(hash, result((B.template cast<float>() * 1.1f).template cast<S>()));
    add(hash, Eigen::MatrixXd(A.template cast<double>()));
  });
  report_matrices<S, Order>("views", [](digest& hash, const auto& A, const auto& B, const auto& C) {
    const index m = A.rows(), n = A.cols();
    result x = A;
    x.topRows((m + 1) / 2) = (A + B).bottomRows((m + 1) / 2);
    x.col(n / 2) += C.row(n / 3).transpose();
    x.block(m / 3, n / 3, m - m / 3, n - n / 3) *= S(0.5);
    x.row(m - 1) = (A * S(1)).middleRows(m / 2, 1).reverse();
    x.diagonal() = B.diagonal();
    add(hash, x);
    add(hash, result((A.array() < B.array()).select(A, B)));
    add(hash, result(C.transpose().rowwise().reverse()));
    const Eigen::Map<const result, 0, Eigen::InnerStride<2>> every_second(A.data(), m / 2, n,
                                                                          Eigen::InnerStride<2>(2));
    add(hash, result(every_second + every_second));
  });
  report_matrices<S, Order>("reductions", [](digest& hash, const auto& A, const auto& B, const auto& C) {
    for (const S x : {A.sum(), A.squaredNorm(), A.trace(), A.minCoeff(), A.maxCoeff(),
                      A.cwiseProduct(B).sum(), (A + B).sum(), A.col(0).dot(B.col(0)), S(A.norm())})
      hash.value(x);
    hash.value(narrow::sum(A + B));
    hash.value(narrow::norm(A));
    hash.value(narrow::dot(A.row(0), C.col(0)));
    add(hash, Eigen::Matrix<S, Eigen::Dynamic, 1>(A.rowwise().sum()));
    add(hash, Eigen::Matrix<S, 1, Eigen::Dynamic>((A - B).colwise().sum()));
    add(hash, Eigen::Matrix<S, 1, Eigen::Dynamic>(A.cwiseAbs2().colwise().sum()));
  });
  report_matrices<S, Order>("products", [](digest& hash, const auto& A, const auto& B, const auto& C) {
    result x = A * C;
    x.noalias() += S(0.5) * B * C;
    x -= A * B.transpose();
    add(hash, x);
    add(hash, Eigen::MatrixXf((A * C).template cast<float>()));
    add(hash, result(A.topRows(1) * C * S(2) + B.topRows(1) * C));
    add(hash, Eigen::Matrix<S, Eigen::Dynamic, 1>(A * C.col(0) - B.col(0)));
    x = A;
    x = x.transpose() * B;
    add(hash, x);
  });
  // By Eigen's own sums of floats, of which the order depends on how many registers the processor has.
  report_matrices<S, Order>("triangular", [](digest& hash, const auto& A, const auto&, const auto& C) {
    add(hash, result(C.template triangularView<Eigen::Lower>() * A));
  });
}

/// Decompositions run in Eigen's own arithmetic of floats, which the compiler's options may change.
template <class S> void decompositions_of() {
  report("decomposition", name<S>(), [](digest& hash) {
    const auto A = numbers<S>(9, 9, kind::short_, 4), B = numbers<S>(9, 2, kind::short_, 5);
    add(hash, Eigen::MatrixXf(A.partialPivLu().solve(B).template cast<float>()));
    add(hash, Eigen::MatrixXf(A.householderQr().solve(B).template cast<float>()));
    add(hash, Eigen::MatrixXf(A.inverse().template cast<float>()));
  });
}

}  // namespace bits
