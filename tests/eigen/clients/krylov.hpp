// A small library of eigenvalue solvers for large matrices, as such are written over Eigen: operations that
// see memory by pointers, a solver that is a template over them, factors of Krylov spaces, eigenvalues of
// what is left by its own solvers. It knows float and double; a test has it compiled for other scalars.
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace client {

/// y = A x with a dense symmetric matrix, of which one triangle is read.
template <typename Scalar_, int Uplo = Eigen::Lower, int Flags = Eigen::ColMajor> class DenseSymMatProd {
 public:
  using Scalar = Scalar_;
  using Index = Eigen::Index;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Flags>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using MapConstVec = Eigen::Map<const Vector>;
  using MapVec = Eigen::Map<Vector>;

  template <typename Derived> explicit DenseSymMatProd(const Eigen::MatrixBase<Derived>& mat) : mat_(mat) {
    if (mat.rows() != mat.cols()) throw std::invalid_argument("DenseSymMatProd: the matrix is not square");
  }
  Index rows() const { return mat_.rows(); }
  void perform_op(const Scalar* x_in, Scalar* y_out) const {
    MapConstVec x(x_in, mat_.cols());
    MapVec y(y_out, mat_.rows());
    y.noalias() = mat_.template selfadjointView<Uplo>() * x;
  }

 private:
  Eigen::Ref<const Matrix> mat_;
};

/// y = A x with a sparse matrix.
template <typename Scalar_> class SparseMatProd {
 public:
  using Scalar = Scalar_;
  using Index = Eigen::Index;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using SparseMatrix = Eigen::SparseMatrix<Scalar>;

  explicit SparseMatProd(const SparseMatrix& mat) : mat_(mat) {}
  Index rows() const { return mat_.rows(); }
  void perform_op(const Scalar* x_in, Scalar* y_out) const {
    Eigen::Map<const Vector> x(x_in, mat_.cols());
    Eigen::Map<Vector> y(y_out, mat_.rows());
    y.noalias() = mat_ * x;
  }

 private:
  const SparseMatrix& mat_;
};

/// Eigenvalues and eigenvectors of a symmetric tridiagonal matrix, by implicit shifts and plane rotations.
template <typename Scalar = double> class TridiagEigen {
 public:
  using Index = Eigen::Index;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using GenericMatrix = Eigen::Ref<const Matrix>;

  explicit TridiagEigen(const GenericMatrix& mat)
      : n_(mat.rows()),
        main_(mat.diagonal()),
        sub_(mat.diagonal(-1)),
        evecs_(Matrix::Identity(mat.rows(), mat.rows())) {
    using std::abs;
    const Scalar smallest = std::numeric_limits<Scalar>::min();
    const Scalar scale = mat.cwiseAbs().maxCoeff();
    if (scale < smallest) return;
    main_ /= scale;
    sub_ /= scale;
    const Scalar eps = std::numeric_limits<Scalar>::epsilon();
    Index end = n_ - 1, iterations = 0;
    while (end > 0) {
      for (Index i = 0; i < end; ++i)
        if (abs(sub_[i]) <= smallest || abs(sub_[i]) <= eps * (abs(main_[i]) + abs(main_[i + 1])))
          sub_[i] = Scalar(0);
      while (end > 0 && sub_[end - 1] == Scalar(0)) --end;
      if (end == 0) break;
      if (++iterations > 30 * n_) throw std::runtime_error("TridiagEigen: no convergence");
      Index start = end - 1;
      while (start > 0 && sub_[start - 1] != Scalar(0)) --start;
      step(start, end);
    }
    main_ *= scale;
  }

  const Vector& eigenvalues() const { return main_; }
  const Matrix& eigenvectors() const { return evecs_; }

 private:
  /// Of the block from `start` to `end`, with the shift of Wilkinson.
  void step(Index start, Index end) {
    using std::abs;
    using std::hypot;
    const Scalar td = (main_[end - 1] - main_[end]) * Scalar(0.5), e = sub_[end - 1];
    Scalar mu = main_[end];
    if (td == Scalar(0)) {
      mu -= abs(e);
    } else {
      const Scalar h = hypot(td, e);
      mu -= e * (e / (td + (td > Scalar(0) ? h : -h)));
    }
    Scalar x = main_[start] - mu, z = sub_[start];
    for (Index k = start; k < end; ++k) {
      Eigen::JacobiRotation<Scalar> rotation;
      rotation.makeGivens(x, z);
      const Scalar c = rotation.c(), s = rotation.s();
      const Scalar sdk = s * main_[k] + c * sub_[k], dkp1 = s * sub_[k] + c * main_[k + 1];
      main_[k] = c * (c * main_[k] - s * sub_[k]) - s * (c * sub_[k] - s * main_[k + 1]);
      main_[k + 1] = s * sdk + c * dkp1;
      sub_[k] = c * sdk - s * dkp1;
      if (k > start) sub_[k - 1] = c * sub_[k - 1] - s * z;
      x = sub_[k];
      if (k < end - 1) {
        z = -s * sub_[k + 1];
        sub_[k + 1] = c * sub_[k + 1];
      }
      evecs_.applyOnTheRight(k, k + 1, rotation);
    }
  }

  Index n_;
  Vector main_, sub_;
  Matrix evecs_;
};

/// A V = V H + f e', with orthonormal columns in V: the factorisation of Arnoldi, of which that of Lanczos is
/// the symmetric case.
template <typename OpType> class Arnoldi {
 public:
  using Scalar = typename OpType::Scalar;
  using Index = Eigen::Index;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using MapConstMat = Eigen::Map<const Matrix>;

  Arnoldi(const OpType& op, Index m)
      : op_(op), n_(op.rows()), m_(m), V_(n_, m), H_(Matrix::Zero(m, m)), f_(n_), beta_(0) {}

  const Matrix& matrix_V() const { return V_; }
  const Matrix& matrix_H() const { return H_; }
  Scalar f_norm() const { return beta_; }

  void init(const Scalar* residual) {
    f_ = Eigen::Map<const Vector>(residual, n_);
    beta_ = f_.norm();
    H_.setZero();
    if (beta_ < std::numeric_limits<Scalar>::min())
      throw std::invalid_argument("Arnoldi: the initial residual is zero");
  }
  /// Columns `from` to m. A residual that is next to nothing means that the space is an invariant one.
  void factorize_from(Index from) {
    const Scalar eps = std::numeric_limits<Scalar>::epsilon();
    Vector w(n_);
    for (Index i = from; i < m_; ++i) {
      if (i > 0) H_(i, i - 1) = beta_;
      V_.col(i).noalias() = f_ / beta_;
      op_.perform_op(&V_(0, i), w.data());
      MapConstMat Vs(V_.data(), n_, i + 1);
      Vector h = Vs.transpose() * w;
      f_.noalias() = w - Vs * h;
      // Once more is enough, where it is needed.
      Vector correction = Vs.transpose() * f_;
      for (int count = 0; count < 3 && correction.cwiseAbs().maxCoeff() > eps * f_.norm(); ++count) {
        f_.noalias() -= Vs * correction;
        h += correction;
        correction.noalias() = Vs.transpose() * f_;
      }
      H_.col(i).head(i + 1) = h;
      beta_ = f_.norm();
      if (beta_ < eps * eps) {
        f_.setZero();
        beta_ = Scalar(0);
        break;
      }
    }
  }
  /// H <- Q' H Q and V <- V Q for the Q of QR steps with these shifts, of which k columns stay.
  void compress(const Vector& shifts, Index k) {
    Matrix Q = Matrix::Identity(m_, m_);
    for (const Scalar& shift : shifts) {
      H_.diagonal().array() -= shift;
      std::vector<Eigen::JacobiRotation<Scalar>> rotations(static_cast<std::size_t>(m_ - 1));
      for (Index i = 0; i + 1 < m_; ++i) {
        auto& rotation = rotations[static_cast<std::size_t>(i)];
        rotation.makeGivens(H_(i, i), H_(i + 1, i));
        H_.applyOnTheLeft(i, i + 1, rotation.adjoint());
      }
      for (Index i = 0; i + 1 < m_; ++i) {
        H_.applyOnTheRight(i, i + 1, rotations[static_cast<std::size_t>(i)]);
        Q.applyOnTheRight(i, i + 1, rotations[static_cast<std::size_t>(i)]);
      }
      H_.diagonal().array() += shift;
    }
    const Matrix kept = V_ * Q.leftCols(k + 1);
    f_ = f_ * Q(m_ - 1, k - 1) + kept.col(k) * H_(k, k - 1);
    V_.leftCols(k + 1) = kept;
    beta_ = f_.norm();
  }

 private:
  const OpType& op_;
  Index n_, m_;
  Matrix V_, H_;
  Vector f_;
  Scalar beta_;
};

enum class CompInfo { NotComputed, Successful, NotConverging };

/// The `nev` largest eigenvalues of a symmetric operation, by Lanczos' method, restarted implicitly.
template <typename OpType> class SymEigsSolver {
 public:
  using Scalar = typename OpType::Scalar;
  using Index = Eigen::Index;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  SymEigsSolver(const OpType& op, Index nev, Index ncv)
      : nev_(nev), ncv_(ncv), fac_(op, ncv), values_(ncv), vectors_(ncv, ncv), converged_(nev) {
    if (nev < 1 || nev >= op.rows()) throw std::invalid_argument("nev must satisfy 1 <= nev <= n - 1");
    if (ncv <= nev || ncv > op.rows()) throw std::invalid_argument("ncv must satisfy nev < ncv <= n");
  }
  /// Returns how many eigenvalues converged.
  Index compute(const Vector& residual, Index maxit, Scalar tol) {
    fac_.init(residual.data());
    fac_.factorize_from(0);
    retrieve_ritzpair();
    Index i = 0, converged = num_converged(tol);
    for (; i < maxit && converged < nev_; ++i) {
      fac_.compress(values_.tail(ncv_ - nev_), nev_);
      fac_.factorize_from(nev_);
      retrieve_ritzpair();
      converged = num_converged(tol);
    }
    niter_ = i + 1;
    info_ = converged >= nev_ ? CompInfo::Successful : CompInfo::NotConverging;
    return converged;
  }
  CompInfo info() const { return info_; }
  Index num_iterations() const { return niter_; }
  Vector eigenvalues() const { return values_.head(nev_); }
  Matrix eigenvectors() const { return fac_.matrix_V() * vectors_.leftCols(nev_); }

 private:
  void retrieve_ritzpair() {
    const TridiagEigen<Scalar> decomp(fac_.matrix_H());
    const Vector& evals = decomp.eigenvalues();
    std::vector<Index> ind(static_cast<std::size_t>(ncv_));
    std::iota(ind.begin(), ind.end(), Index(0));
    std::sort(ind.begin(), ind.end(), [&](Index i, Index j) { return evals[i] > evals[j]; });
    for (Index i = 0; i < ncv_; ++i) {
      values_[i] = evals[ind[static_cast<std::size_t>(i)]];
      vectors_.col(i) = decomp.eigenvectors().col(ind[static_cast<std::size_t>(i)]);
    }
  }
  /// |last component of the Ritz vector| * |f| against the Ritz value, or where that is small eps^(2/3).
  Index num_converged(const Scalar& tol) {
    using std::pow;
    const Scalar eps23 = pow(std::numeric_limits<Scalar>::epsilon(), Scalar(2) / Scalar(3));
    converged_ = vectors_.row(ncv_ - 1).head(nev_).transpose().array().abs() * fac_.f_norm() <
                 tol * values_.head(nev_).array().abs().max(eps23);
    return converged_.count();
  }

  Index nev_, ncv_, niter_ = 0;
  Arnoldi<OpType> fac_;
  Vector values_;
  Matrix vectors_;
  Eigen::Array<bool, Eigen::Dynamic, 1> converged_;
  CompInfo info_ = CompInfo::NotComputed;
};

/// The `nev` eigenvalues of largest magnitude, by Arnoldi's method in one space, without restart.
template <typename OpType> class GenEigsSolver {
 public:
  using Scalar = typename OpType::Scalar;
  using Index = Eigen::Index;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using Complex = std::complex<Scalar>;
  using ComplexVector = Eigen::Matrix<Complex, Eigen::Dynamic, 1>;
  using ComplexMatrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>;

  GenEigsSolver(const OpType& op, Index nev, Index ncv) : nev_(nev), ncv_(ncv), fac_(op, ncv) {}
  void compute(const Vector& residual) {
    fac_.init(residual.data());
    fac_.factorize_from(0);
    const Eigen::EigenSolver<Matrix> decomp(fac_.matrix_H());
    const ComplexVector evals = decomp.eigenvalues();
    const ComplexMatrix evecs = decomp.eigenvectors();
    std::vector<Index> ind(static_cast<std::size_t>(ncv_));
    std::iota(ind.begin(), ind.end(), Index(0));
    std::sort(ind.begin(), ind.end(), [&](Index i, Index j) {
      using std::abs;
      return abs(evals[i]) > abs(evals[j]);
    });
    values_.resize(nev_);
    vectors_.resize(ncv_, nev_);
    for (Index i = 0; i < nev_; ++i) {
      values_[i] = evals[ind[static_cast<std::size_t>(i)]];
      vectors_.col(i) = evecs.col(ind[static_cast<std::size_t>(i)]);
    }
  }
  const ComplexVector& eigenvalues() const { return values_; }
  ComplexMatrix eigenvectors() const { return fac_.matrix_V() * vectors_; }

 private:
  Index nev_, ncv_;
  Arnoldi<OpType> fac_;
  ComplexVector values_;
  ComplexMatrix vectors_;
};

}  // namespace client
