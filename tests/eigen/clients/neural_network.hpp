// A small library of neural networks, as many are written over Eigen: layers with virtual functions, one
// matrix type for all of them, activations as policies, optimisers that see parameters as maps of memory. It
// knows float and double; a test has it compiled for other scalars.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace client {

/// Fills an array with normal random numbers, by the method of Box and Muller.
template <typename Scalar>
void set_normal_random(Scalar* array, std::size_t size, std::mt19937& rng, const Scalar& mu,
                       const Scalar& sigma) {
  using std::cos;
  using std::log;
  using std::sin;
  using std::sqrt;
  const auto uniform = [&rng] { return Scalar(std::generate_canonical<double, 53>(rng)); };
  for (std::size_t i = 0; i < size; i += 2) {
    const Scalar u = std::max(uniform(), std::numeric_limits<Scalar>::epsilon());
    const Scalar radius = sigma * sqrt(Scalar(-2) * log(u));
    const Scalar angle = Scalar(2 * 3.141592653589793) * uniform();
    array[i] = radius * cos(angle) + mu;
    if (i + 1 < size) array[i + 1] = radius * sin(angle) + mu;
  }
}

template <typename Scalar> class Optimizer {
 public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using ConstMapVec = Eigen::Map<const Vector>;
  using MapVec = Eigen::Map<Vector>;

  virtual ~Optimizer() = default;
  virtual void reset() {}
  virtual void update(const ConstMapVec& gradient, MapVec& parameters) = 0;
};

template <typename Scalar> class SGD : public Optimizer<Scalar> {
 public:
  Scalar rate = Scalar(0.1), decay = Scalar(0);

  void update(const typename Optimizer<Scalar>::ConstMapVec& gradient,
              typename Optimizer<Scalar>::MapVec& parameters) override {
    parameters.noalias() -= rate * (gradient + decay * parameters);
  }
};

/// Its states are found by the address of the parameters.
template <typename Scalar> class RMSProp : public Optimizer<Scalar> {
  using Array = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  std::map<const Scalar*, Array> history_;

 public:
  Scalar rate = Scalar(0.02), epsilon = Scalar(1e-3), gamma = Scalar(0.9);

  void reset() override { history_.clear(); }
  void update(const typename Optimizer<Scalar>::ConstMapVec& gradient,
              typename Optimizer<Scalar>::MapVec& parameters) override {
    Array& mean_square = history_[gradient.data()];
    if (mean_square.size() == 0) {
      mean_square.resize(gradient.size());
      mean_square.setZero();
    }
    mean_square = gamma * mean_square + (Scalar(1) - gamma) * gradient.array().square();
    parameters.array() -= rate * gradient.array() / (mean_square + epsilon).sqrt();
  }
};

/// Forward: A = act(Z). Backward: G = J F, with F the derivative by A and J the Jacobian of act.
struct ReLU {
  template <typename Matrix> static void activate(const Matrix& Z, Matrix& A) {
    using Scalar = typename Matrix::Scalar;
    A.array() = Z.array().cwiseMax(Scalar(0));
  }
  template <typename Matrix>
  static void apply_jacobian(const Matrix&, const Matrix& A, const Matrix& F, Matrix& G) {
    using Scalar = typename Matrix::Scalar;
    G.array() = (A.array() > Scalar(0)).select(F, Scalar(0));
  }
};
struct Tanh {
  template <typename Matrix> static void activate(const Matrix& Z, Matrix& A) {
    A.array() = Z.array().tanh();
  }
  template <typename Matrix>
  static void apply_jacobian(const Matrix&, const Matrix& A, const Matrix& F, Matrix& G) {
    using Scalar = typename Matrix::Scalar;
    G.array() = (Scalar(1) - A.array().square()) * F.array();
  }
};
struct Sigmoid {
  template <typename Matrix> static void activate(const Matrix& Z, Matrix& A) {
    using Scalar = typename Matrix::Scalar;
    A.array() = Scalar(1) / (Scalar(1) + (-Z.array()).exp());
  }
  template <typename Matrix>
  static void apply_jacobian(const Matrix&, const Matrix& A, const Matrix& F, Matrix& G) {
    using Scalar = typename Matrix::Scalar;
    G.array() = A.array() * (Scalar(1) - A.array()) * F.array();
  }
};
struct Softmax {
  template <typename Matrix> static void activate(const Matrix& Z, Matrix& A) {
    using RowArray = Eigen::Array<typename Matrix::Scalar, 1, Eigen::Dynamic>;
    A.array() = (Z.rowwise() - Z.colwise().maxCoeff()).array().exp();
    RowArray sums = A.colwise().sum();
    A.array().rowwise() /= sums;
  }
  template <typename Matrix>
  static void apply_jacobian(const Matrix&, const Matrix& A, const Matrix& F, Matrix& G) {
    using RowArray = Eigen::Array<typename Matrix::Scalar, 1, Eigen::Dynamic>;
    RowArray inner = A.cwiseProduct(F).colwise().sum();
    G.array() = A.array() * (F.array().rowwise() - inner);
  }
};

template <typename Scalar> class Layer {
 public:
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  Layer(int in_size, int out_size) : in_size_(in_size), out_size_(out_size) {}
  virtual ~Layer() = default;
  int in_size() const { return in_size_; }
  int out_size() const { return out_size_; }

  virtual void init(const Scalar& mu, const Scalar& sigma, std::mt19937& rng) = 0;
  virtual void forward(const Matrix& previous) = 0;
  virtual const Matrix& output() const = 0;
  virtual void backprop(const Matrix& previous, const Matrix& next) = 0;
  virtual const Matrix& backprop_data() const = 0;
  virtual void update(Optimizer<Scalar>& optimizer) = 0;
  virtual std::vector<Scalar> get_parameters() const = 0;
  virtual void set_parameters(const std::vector<Scalar>& parameters) = 0;

 protected:
  const int in_size_, out_size_;
};

template <typename Scalar, typename Activation> class FullyConnected : public Layer<Scalar> {
  using typename Layer<Scalar>::Matrix;
  using typename Layer<Scalar>::Vector;
  using ConstMapVec = typename Optimizer<Scalar>::ConstMapVec;
  using MapVec = typename Optimizer<Scalar>::MapVec;

  Matrix weight_, dw_, z_, a_, din_;
  Vector bias_, db_;

 public:
  using Layer<Scalar>::Layer;

  void init(const Scalar& mu, const Scalar& sigma, std::mt19937& rng) override {
    weight_.resize(this->in_size_, this->out_size_);
    bias_.resize(this->out_size_);
    dw_.resize(this->in_size_, this->out_size_);
    db_.resize(this->out_size_);
    set_normal_random(weight_.data(), static_cast<std::size_t>(weight_.size()), rng, mu, sigma);
    bias_.setZero();
  }
  void forward(const Matrix& previous) override {
    const Eigen::Index nobs = previous.cols();
    z_.resize(this->out_size_, nobs);
    z_.noalias() = weight_.transpose() * previous;
    z_.colwise() += bias_;
    a_.resize(this->out_size_, nobs);
    Activation::activate(z_, a_);
  }
  const Matrix& output() const override { return a_; }
  void backprop(const Matrix& previous, const Matrix& next) override {
    const Eigen::Index nobs = previous.cols();
    Matrix& dLz = z_;
    Activation::apply_jacobian(z_, a_, next, dLz);
    dw_.noalias() = previous * dLz.transpose() / nobs;
    db_.noalias() = dLz.rowwise().mean();
    din_.resize(this->in_size_, nobs);
    din_.noalias() = weight_ * dLz;
  }
  const Matrix& backprop_data() const override { return din_; }
  void update(Optimizer<Scalar>& optimizer) override {
    ConstMapVec dw(dw_.data(), dw_.size());
    ConstMapVec db(db_.data(), db_.size());
    MapVec w(weight_.data(), weight_.size());
    MapVec b(bias_.data(), bias_.size());
    optimizer.update(dw, w);
    optimizer.update(db, b);
  }
  std::vector<Scalar> get_parameters() const override {
    std::vector<Scalar> result(static_cast<std::size_t>(weight_.size() + bias_.size()));
    std::copy(weight_.data(), weight_.data() + weight_.size(), result.begin());
    std::copy(bias_.data(), bias_.data() + bias_.size(), result.begin() + weight_.size());
    return result;
  }
  void set_parameters(const std::vector<Scalar>& parameters) override {
    if (static_cast<Eigen::Index>(parameters.size()) != weight_.size() + bias_.size())
      throw std::invalid_argument("FullyConnected: the number of parameters does not match");
    std::copy(parameters.begin(), parameters.begin() + weight_.size(), weight_.data());
    std::copy(parameters.begin() + weight_.size(), parameters.end(), bias_.data());
  }
};

/// Maxima of windows, by pointers into the columns of its input, each an image of one channel.
template <typename Scalar> class MaxPooling : public Layer<Scalar> {
  using typename Layer<Scalar>::Matrix;
  using IntMatrix = Eigen::MatrixXi;

  int width_, height_, window_;
  IntMatrix location_;
  Matrix z_, din_;

 public:
  MaxPooling(int width, int height, int window)
      : Layer<Scalar>(width * height, (width / window) * (height / window)),
        width_(width),
        height_(height),
        window_(window) {}

  void init(const Scalar&, const Scalar&, std::mt19937&) override {}
  void forward(const Matrix& previous) override {
    location_.resize(this->out_size_, previous.cols());
    z_.resize(this->out_size_, previous.cols());
    for (Eigen::Index image = 0; image < previous.cols(); ++image) {
      const Scalar* src = previous.data() + image * previous.rows();
      int out = 0;
      for (int j = 0; j + window_ <= width_; j += window_)
        for (int i = 0; i + window_ <= height_; i += window_, ++out) {
          int best = j * height_ + i;
          for (int c = 0; c < window_; ++c) {
            const Scalar* column = src + (j + c) * height_ + i;
            const Scalar* largest = std::max_element(column, column + window_);
            if (*largest > src[best]) best = static_cast<int>(largest - src);
          }
          location_(out, image) = best;
          z_(out, image) = src[best];
        }
    }
  }
  const Matrix& output() const override { return z_; }
  void backprop(const Matrix& previous, const Matrix& next) override {
    din_.resize(previous.rows(), previous.cols());
    din_.setZero();
    for (Eigen::Index image = 0; image < next.cols(); ++image)
      for (Eigen::Index i = 0; i < next.rows(); ++i) din_(location_(i, image), image) += next(i, image);
  }
  const Matrix& backprop_data() const override { return din_; }
  void update(Optimizer<Scalar>&) override {}
  std::vector<Scalar> get_parameters() const override { return {}; }
  void set_parameters(const std::vector<Scalar>&) override {}
};

template <typename Scalar> class Output {
 public:
  using Matrix = typename Layer<Scalar>::Matrix;
  virtual ~Output() = default;
  virtual void evaluate(const Matrix& last, const Matrix& target) = 0;
  virtual Scalar loss() const = 0;
  const Matrix& backprop_data() const { return din_; }

 protected:
  Matrix din_;
};

template <typename Scalar> class RegressionMSE : public Output<Scalar> {
  using typename Output<Scalar>::Matrix;

 public:
  void evaluate(const Matrix& last, const Matrix& target) override {
    if (last.cols() != target.cols() || last.rows() != target.rows())
      throw std::invalid_argument("RegressionMSE: the target has another shape");
    this->din_.resize(last.rows(), last.cols());
    this->din_.noalias() = last - target;
  }
  Scalar loss() const override {
    return this->din_.squaredNorm() / static_cast<Scalar>(this->din_.cols()) * Scalar(0.5);
  }
};

template <typename Scalar> class MultiClassEntropy : public Output<Scalar> {
  using typename Output<Scalar>::Matrix;

 public:
  void evaluate(const Matrix& last, const Matrix& target) override {
    if (((target.array() != Scalar(0)) && (target.array() != Scalar(1))).any())
      throw std::invalid_argument("MultiClassEntropy: targets are 0 or 1");
    this->din_.resize(last.rows(), last.cols());
    this->din_.noalias() = -target.cwiseQuotient(last.cwiseMax(Eigen::NumTraits<Scalar>::epsilon()));
  }
  /// L = -sum(log(phat) * y), and din = -y / phat: where din < 0, L = log(-din).
  Scalar loss() const override {
    Scalar sum = Scalar(0);
    const Scalar* data = this->din_.data();
    const Scalar* end = data + this->din_.size();
    for (; data < end; ++data)
      if (*data < Scalar(0)) sum += std::log(-(*data));
    return sum / static_cast<Scalar>(this->din_.cols());
  }
};

template <typename Scalar> class Network {
 public:
  using Matrix = typename Layer<Scalar>::Matrix;

  explicit Network(unsigned seed) : rng_(seed) {}
  void add_layer(std::unique_ptr<Layer<Scalar>> layer) {
    if (!layers_.empty() && layer->in_size() != layers_.back()->out_size())
      throw std::invalid_argument("Network: a layer has another number of inputs");
    layers_.push_back(std::move(layer));
  }
  void set_output(std::unique_ptr<Output<Scalar>> output) { output_ = std::move(output); }
  void init(const Scalar& mu, const Scalar& sigma) {
    for (auto& layer : layers_) layer->init(mu, sigma, rng_);
  }
  const Matrix& predict(const Matrix& x) {
    forward(x);
    return layers_.back()->output();
  }
  /// Losses of the last batch of each epoch.
  std::vector<Scalar> fit(Optimizer<Scalar>& optimizer, const Matrix& x, const Matrix& y, int batch_size,
                          int epochs) {
    optimizer.reset();
    std::vector<Scalar> losses;
    std::vector<int> id(static_cast<std::size_t>(x.cols()));
    std::iota(id.begin(), id.end(), 0);
    for (int epoch = 0; epoch < epochs; ++epoch) {
      std::shuffle(id.begin(), id.end(), rng_);
      for (std::size_t begin = 0; begin < id.size(); begin += static_cast<std::size_t>(batch_size)) {
        const std::size_t size = std::min(static_cast<std::size_t>(batch_size), id.size() - begin);
        Matrix batch_x(x.rows(), size), batch_y(y.rows(), size);
        for (std::size_t i = 0; i < size; ++i) {
          batch_x.col(static_cast<Eigen::Index>(i)).noalias() = x.col(id[begin + i]);
          batch_y.col(static_cast<Eigen::Index>(i)).noalias() = y.col(id[begin + i]);
        }
        forward(batch_x);
        backprop(batch_x, batch_y);
        for (auto& layer : layers_) layer->update(optimizer);
      }
      losses.push_back(output_->loss());
    }
    return losses;
  }
  std::vector<std::vector<Scalar>> get_parameters() const {
    std::vector<std::vector<Scalar>> result;
    for (const auto& layer : layers_) result.push_back(layer->get_parameters());
    return result;
  }
  void set_parameters(const std::vector<std::vector<Scalar>>& parameters) {
    for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i]->set_parameters(parameters.at(i));
  }

 private:
  void forward(const Matrix& x) {
    layers_.front()->forward(x);
    for (std::size_t i = 1; i < layers_.size(); ++i) layers_[i]->forward(layers_[i - 1]->output());
  }
  void backprop(const Matrix& x, const Matrix& y) {
    output_->evaluate(layers_.back()->output(), y);
    const Matrix* next = &output_->backprop_data();
    for (std::size_t i = layers_.size(); i-- > 0;) {
      layers_[i]->backprop(i > 0 ? layers_[i - 1]->output() : x, *next);
      next = &layers_[i]->backprop_data();
    }
  }

  std::mt19937 rng_;
  std::vector<std::unique_ptr<Layer<Scalar>>> layers_;
  std::unique_ptr<Output<Scalar>> output_;
};

}  // namespace client
