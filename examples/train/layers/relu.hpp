// max(x, 0).
#pragma once

#include "layers/layer.hpp"
#include "tensor/parallel.hpp"

namespace narrow_train {

template <class S> class relu final : public layer<S> {
 public:
  const matrix<S>& forward(const matrix<S>& x) override {
    // A NaN stays one, so that overflow upstream remains visible.
    y_.resize(x.rows(), x.cols());
    for_each_share<S>(x.cols(), [&](int, Eigen::Index first, Eigen::Index count) {
      const auto some = x.middleCols(first, count);
      if constexpr (std::is_same_v<S, float>)  // without the branches of Eigen's select
        y_.middleCols(first, count) = some.unaryExpr([](float value) { return value < 0 ? 0 : value; });
      else
        y_.middleCols(first, count) = (some.array() < S(0)).select(S(0), some);
    });
    return y_;
  }

  const matrix<S>& backward(const matrix<S>&, const matrix<S>& dy, input_gradient) override {
    dx_.resize(dy.rows(), dy.cols());
    for_each_share<S>(dy.cols(), [&](int, Eigen::Index first, Eigen::Index count) {
      const auto y = y_.middleCols(first, count);
      const auto some = dy.middleCols(first, count);
      auto dx = dx_.middleCols(first, count);
      if constexpr (std::is_same_v<S, float>)
        dx = y.binaryExpr(some, [](float value, float gradient) { return value > 0 ? gradient : 0; });
      else
        dx = (y.array() > S(0)).select(some, S(0));
    });
    return dx_;
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_); }

 private:
  matrix<S> y_;   // (features x batch)
  matrix<S> dx_;  // (features x batch)
};

struct relu_spec {
  template <class S> std::unique_ptr<layer<S>> make(layer_site&) const { return std::make_unique<relu<S>>(); }
};

}  // namespace narrow_train
