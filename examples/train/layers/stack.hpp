// Layers one after another, as one layer.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "layers/layer.hpp"

namespace narrow_train {

/// Without layers, the identity. `watch`, where there is one, may take small gradients away.
template <class S> class stack final : public layer<S> {
 public:
  explicit stack(std::shared_ptr<const tensor_watch> watch = nullptr) : watch_(std::move(watch)) {}

  void add(std::unique_ptr<layer<S>> last) { layers_.push_back(std::move(last)); }

  const matrix<S>& forward(const matrix<S>& x) override {
    inputs_.clear();
    const matrix<S>* signal = &x;
    for (const auto& l : layers_) {
      inputs_.push_back(signal);
      signal = &l->forward(*signal);
    }
    return *signal;
  }

  const matrix<S>& infer(const matrix<S>& x) override {
    const matrix<S>* signal = &x;
    for (const auto& l : layers_) signal = &l->infer(*signal);
    return *signal;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    return backward(x, dy, wanted, [](layer<S>&) {});
  }

  /// done(layer) for each of the layers, the last one first, as soon as its gradients are there.
  template <class Done>
  const matrix<S>& backward(const matrix<S>&, const matrix<S>& dy, input_gradient wanted, const Done& done) {
    const matrix<S>* signal = &dy;
    for (std::size_t i = layers_.size(); i-- > 0;) {
      if (watch_) signal = &watch_->flushed(*signal, flushed_);
      signal = &layers_[i]->backward(*inputs_[i], *signal, i == 0 ? wanted : input_gradient::wanted);
      done(*layers_[i]);
    }
    return *signal;
  }

  template <class Use> void for_each_back(const Use& use) {
    for (std::size_t i = layers_.size(); i-- > 0;) use(*layers_[i]);
  }

  void collect(parameter_list<S>& all) override {
    for (const auto& l : layers_) l->collect(all);
  }

  [[nodiscard]] std::size_t activation_bytes() const override {
    std::size_t total = 0;
    for (const auto& l : layers_) total += l->activation_bytes();
    return total;
  }

 private:
  std::vector<std::unique_ptr<layer<S>>> layers_;
  std::vector<const matrix<S>*> inputs_;  // of each layer, from the last `forward`
  std::shared_ptr<const tensor_watch> watch_;
  matrix<S> flushed_;  // scratch: a gradient that was taken something of
};

/// The layers of these specs. `at`: where the first stands, and then, where one after the last would.
template <class S>
std::unique_ptr<stack<S>> make_layers(const std::vector<layer_spec>& specs, layer_site& at);

}  // namespace narrow_train
