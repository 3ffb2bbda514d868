// max(x, 0).
#pragma once

#include "layer.hpp"

namespace narrow_train {

template <class S> class relu final : public layer<S> {
 public:
  const matrix<S>& forward(const matrix<S>& x) override {
    // A NaN stays one, so that overflow upstream remains visible.
    if constexpr (std::is_same_v<S, float>)  // without the branches of Eigen's select
      y_ = x.unaryExpr([](float value) { return value < 0 ? 0 : value; });
    else
      y_ = (x.array() < S(0)).select(S(0), x);
    return y_;
  }

  const matrix<S>& backward(const matrix<S>&, const matrix<S>& dy, input_gradient) override {
    if constexpr (std::is_same_v<S, float>)
      dx_ = y_.binaryExpr(dy, [](float value, float gradient) { return value > 0 ? gradient : 0; });
    else
      dx_ = (y_.array() > S(0)).select(dy, S(0));
    return dx_;
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_); }

 private:
  matrix<S> y_;   // (features x batch)
  matrix<S> dx_;  // (features x batch)
};

}  // namespace narrow_train
