// Eigen's matrices in block formats and in fixed point chosen at run time.
#include <Eigen/Dense>
#include <narrow/eigen.hpp>

#include "bits.hpp"

namespace bits {

template <class X> void add_values(digest& hash, const X& x) {
  for (index i = 0; i < x.rows(); ++i)
    for (index j = 0; j < x.cols(); ++j) hash.value(x(i, j));
}
template <class M> void add_stored(digest& hash, const M& m) {
  if constexpr (std::same_as<typename M::Tensor, narrow::fixed_tensor>) {
    std::visit([&](const auto& stored) { hash.all_bits(stored); }, m.mantissas());
  } else {
    hash.all_bits(m.mantissas());
    hash.all_bits(m.scales());
  }
  hash.bits_of(static_cast<std::uint64_t>(m.nonfinite()));
  add_values(hash, m);
}
template <class S>
Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> numbers(index rows, index cols, kind of,
                                                         std::uint64_t seed) {
  const matrix<S> from(rows, cols, layout::by_columns, of, seed);
  return Eigen::Map<const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>(from.view.data, rows, cols);
}

template <class S, int Order> void matrices_of() {
  using block_matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Order>;
  using scalar = typename block_matrix::Scalar;
  using plain = Eigen::Matrix<scalar, Eigen::Dynamic, Eigen::Dynamic>;
  const std::string item = name<S>() + (Order == Eigen::RowMajor ? "/rows/" : "/columns/");
  const auto each = [&](const char* what, const auto& compute) {
    report("block_matrix", item + what, [&](digest& hash) {
      for (const kind of : {kind::ordinary, kind::spread, kind::special})
        for (const auto& [rows, cols] : {std::pair<index, index>{1, 1}, {5, 3}, {33, 40}})
          compute(hash, numbers<scalar>(rows, cols, of, 1), numbers<scalar>(rows, cols, kind::ordinary, 2));
    });
  };
  each("assigned", [](digest& hash, const auto& X, const auto& Y) {
    block_matrix W = X;
    add_stored(hash, W);
    W = X.transpose();
    add_stored(hash, W);
    W = scalar(0.5) * X + Y.cwiseAbs();
    add_stored(hash, W);
    W -= scalar(0.01) * Y;
    add_stored(hash, W);
    W = X.template cast<double>() * 0.3;
    add_stored(hash, W);
    W = (X.template cast<narrow::fp16>() + Y.template cast<narrow::fp16>());
    add_stored(hash, W);
    W.quantize(X, narrow::rounding::stochastic(17));
    add_stored(hash, W);
    const block_matrix V = W + W.cwiseProduct(Y);
    add_stored(hash, V);
  });
  each("written", [](digest& hash, const auto& X, const auto& Y) {
    block_matrix W = Y;
    W(W.rows() - 1, 0) = 100;
    W.row(W.rows() / 2).setZero();
    W.col(W.cols() / 2) = X.col(0);
    add_stored(hash, W);
    W.topRows((W.rows() + 1) / 2) *= 2;
    W.block(0, 0, W.rows(), (W.cols() + 1) / 2) = X.leftCols((X.cols() + 1) / 2) * 3;
    add_stored(hash, W);
  });
  each("read", [](digest& hash, const auto& X, const auto& Y) {
    const block_matrix W = X;
    add_values(hash, plain(W + Y.transpose().transpose()));
    add_values(hash, plain(W.transpose()));
    add_values(hash,
               Eigen::Matrix<narrow::fp16, Eigen::Dynamic, Eigen::Dynamic>(W.template cast<narrow::fp16>()));
    hash.value(W.maxCoeff());
    hash.value(W(0, W.cols() - 1));
  });
  each("products", [](digest& hash, const auto& X, const auto& Y) {
    const block_matrix W = X, V = Y.transpose();
    plain E = W * V;
    add_values(hash, E);
    E = W * Y.transpose() - E;
    add_values(hash, E);
    add_values(hash, plain(X.transpose() * W));
    add_values(hash, plain(W.transpose() * W * scalar(0.5)));
    add_values(hash, plain(W * Y.row(0).transpose()));
    block_matrix U = Y;
    U = W * V;
    add_stored(hash, U);
    U += scalar(0.25) * (W * V);
    add_stored(hash, U);
    add_values(hash, Eigen::Matrix<narrow::bf16, Eigen::Dynamic, Eigen::Dynamic>(
                         (W * V).template cast<narrow::bf16>()));
  });
}

}  // namespace bits

void bits::block_matrices() {
  using namespace narrow;
  matrices_of<bfp<8>, Eigen::ColMajor>();
  matrices_of<bfp<12, per_row>, Eigen::RowMajor>();
  matrices_of<bfp<4, per_column, rounding::stochastic>, Eigen::RowMajor>();
  matrices_of<bfp<16, tile<2, 3>>, Eigen::ColMajor>();
  matrices_of<narrow::int8, Eigen::RowMajor>();
  matrices_of<basic_int8<per_row>, Eigen::ColMajor>();
  matrices_of<mx<fp8_e4m3fn>, Eigen::ColMajor>();
  matrices_of<dynamic_fixed, Eigen::ColMajor>();
}
