// The weight update of mixed precision training, Micikevicius et al., Mixed Precision Training (2018),
// section 3: fp32 master copy, scaled loss, gradients unscaled before anything else sees them, step skipped
// where they overflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <narrow/train/loss_scaler.hpp>
#include <narrow/train/truncated_normal.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "layers/layer.hpp"
#include "ranks/team.hpp"
#include "tensor/random.hpp"
#include "training/optimizer.hpp"
#include "training/precision_policy.hpp"

namespace narrow_train {

/// Whether updates go to an fp32 copy of the weights, rounded to S after each step, or (the ablation)
/// straight to the weights in S, where an update below half a unit of its weight is lost.
enum class master_copy { kept, absent };

/// How initial weights are drawn: `he_normal`, or as MARViN asks for, narrow::truncated_normal.
enum class initial_weights { he, truncated };

/// Weights (outputs x inputs) for a layer that is followed by ReLU: normal with variance 2 / inputs, cut at
/// two standard deviations. He et al., Delving Deep into Rectifiers (2015), section 2.2.
inline fp32_matrix he_normal(Eigen::Index outputs, Eigen::Index inputs, random_stream& random) {
  constexpr double kept = 0.87962566103423978;  // standard deviation of a unit normal cut at +-2
  const double deviation = std::sqrt(2.0 / static_cast<double>(inputs)) / kept;
  fp32_matrix weights(outputs, inputs);
  for (float& w : weights.reshaped()) {
    double z = random.normal();
    while (std::abs(z) > 2) z = random.normal();
    w = static_cast<float>(deviation * z);
  }
  return weights;
}

/// The parameters of a network and all that their training keeps beside them.
template <class S> class mixed_precision {
 public:
  struct settings {
    float clip_norm = 0;  // bounds the Euclidean norm of all gradients together; 0 leaves them alone
    float l1 = 0;
    master_copy master = master_copy::kept;
    initial_weights start = initial_weights::he;
    std::shared_ptr<tensor_watch> watch = nullptr;  // null: nobody looks at the tensors
  };

  /// Draws the weights in fp32, from the seed alone, so that every format starts from the same ones.
  /// `policy`, if there is one, needs the master copy.
  mixed_precision(const parameter_list<S>& parameters, std::uint64_t seed, std::unique_ptr<optimizer> rule,
                  narrow::loss_scaler scaler, std::unique_ptr<precision_policy> policy, const settings& how)
      : optimizer_(std::move(rule)), scaler_(std::move(scaler)), policy_(std::move(policy)), how_(how) {
    random_stream random(seed, purpose::weights);
    for (auto* weights : parameters.weights) {
      fp32_matrix initial = weights->weights();
      if (how.start == initial_weights::he)
        initial = he_normal(initial.rows(), initial.cols(), random);
      else
        narrow::truncated_normal(initial, static_cast<double>(initial.cols()), random.bits());
      weights->store(initial);
      const bool copy = how.master == master_copy::kept && (weights->block || !std::is_same_v<S, float>);
      name(*weights);
      weights_.push_back(
          {weights, optimizer_->settings().weight_decay, copy ? std::move(initial) : fp32_matrix(), {}, {}});
    }
    for (auto* tensor : parameters.per_channel) {
      name(*tensor);
      per_channel_.push_back({tensor, 0, {}, {}, {}});
    }
  }

  /// What the loss is to be multiplied by before the next back-propagation.
  [[nodiscard]] float loss_scale() const { return scaler_.scale(); }
  void set_loss_scale(float scale) { scaler_.set_scale(scale); }

  /// Adds the gradients of one of the batches of a step, all but the last, to theirs: in fp32, unscaled.
  void accumulate() {
    for_each([&](auto& p) {
      if (accumulated_ == 0) {
        unscale(*p.tensor, p.gradient);
      } else {
        unscale(*p.tensor, copy_);
        p.gradient += copy_;
      }
    });
    ++accumulated_;
  }

  /// Makes room for the gradients of so many micro-batches, which are summed over ranks.
  void make_terms(int count) {
    for_each([&](auto& p) {
      p.terms.assign(static_cast<std::size_t>(count), fp32_matrix());
      const fp32_matrix weights = p.tensor->weights();
      p.gradient.resizeLike(weights);
    });
  }
  /// The gradients of a micro-batch without images: zeros, of which the loss scaler takes note as of others.
  void clear_terms(int number) {
    for_each([&](auto& p) {
      fp32_matrix& term = p.terms[static_cast<std::size_t>(number)];
      term.setZero(p.gradient.rows(), p.gradient.cols());
      scaler_.unscale(term, term, p.tensor->name);
    });
  }
  /// Takes the gradient of a parameter for that of micro-batch `number`, in fp32, unscaled, times its weight
  /// in the mean.
  template <class T> void take_term(parameter<T>& tensor, int number, float weight) {
    fp32_matrix& term = of(tensor).terms[static_cast<std::size_t>(number)];
    unscale(tensor, term);
    if (weight != 1) term *= weight;
  }
  /// Sends the gradients of a parameter on their way.
  template <class T> void add_terms(parameter<T>& tensor, gradient_sums& sums) {
    trained<T>& p = of(tensor);
    sums.add(std::span<const fp32_matrix>(p.terms), p.gradient);
  }
  /// Ends a step whose gradients were summed over ranks, once the sums are there. As `step`.
  bool step_with_sums(float loss, const team& members) {
    members.agree(scaler_);
    return update_all(loss, 1);
  }

  /// Updates the parameters from their gradients, or from the mean of these and what was accumulated since
  /// the last step, and returns true. Where a gradient of any of the batches is not finite it leaves
  /// parameters and optimiser as they are, returns false and lets the scaler lower its scale. `loss`: of the
  /// last batch.
  bool step(float loss) {
    accumulate();
    return update_all(loss, static_cast<float>(std::exchange(accumulated_, 0)));
  }

 private:
  /// Ends a step, whose gradients are sums over so many batches.
  bool update_all(float loss, float batches) {
    const bool finite = !scaler_.overflowed();
    if (how_.watch && how_.watch->looks_at() == tensor_watch::look::everything)
      for (auto& p : weights_) how_.watch->weights(p.tensor->name, p.tensor->weights(), p.gradient / batches);
    if (finite) {
      lost_ += std::ranges::none_of(weights_, [](const auto& p) { return has_nonzero(p.gradient); });
      double square_sum = 0;
      for_each([&](auto& p) {
        if (batches > 1) p.gradient /= batches;
        if (how_.clip_norm > 0) square_sum += p.gradient.template cast<double>().squaredNorm();
      });
      const double norm = std::sqrt(square_sum);
      const bool clip = how_.clip_norm > 0 && norm > double{how_.clip_norm};
      if (clip) for_each([&](auto& p) { p.gradient *= static_cast<float>(double{how_.clip_norm} / norm); });
      optimizer_->begin_step();
      for (auto& p : weights_) regularise(p);
      const auto factors = switch_formats(loss);
      for (std::size_t i = 0; i < weights_.size(); ++i)
        if (factors[i]) update(weights_[i], *factors[i]);
      for (auto& p : per_channel_) update(p, policy_ ? policy_->unswitched_factor(p.gradient) : 1);
    }
    scaler_.update();
    return finite;
  }

 public:
  /// Steps so far whose gradients were finite, and of all weights zero: what a loss scale that is too small
  /// makes of them.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

  [[nodiscard]] optimizer& rule() { return *optimizer_; }
  [[nodiscard]] const narrow::loss_scaler& scaler() const { return scaler_; }
  /// Null where no format switches.
  [[nodiscard]] precision_policy* policy() { return policy_.get(); }

  /// Whether all parameters are finite, in whatever copy.
  [[nodiscard]] bool finite() {
    bool all = true;
    for_each([&](auto& p) {
      all = all && p.master.allFinite() && (p.tensor->block || all_finite(p.tensor->value));
    });
    return all;
  }

  /// All that decides how training goes on, for a checkpoint. They refer to this object.
  [[nodiscard]] std::vector<saved_part> parts() {
    std::vector<saved_part> all;
    for_each([&](auto& p) {
      all.push_back(
          {p.tensor->name, [&p](std::ostream& out) { p.save(out); }, [&p](std::istream& in) { p.load(in); }});
    });
    all.push_back({"optimizer", [this](std::ostream& out) { write_number(out, optimizer_->time()); },
                   [this](std::istream& in) { optimizer_->set_time(read_number<std::int64_t>(in)); }});
    if (policy_)
      all.push_back({"precision", [this](std::ostream& out) { policy_->save(out); },
                     [this](std::istream& in) { policy_->load(in); }});
    all.push_back({"loss scale", [this](std::ostream& out) { out << scaler_; },
                   [this](std::istream& in) { in >> scaler_; }});
    all.push_back({"lost steps", [this](std::ostream& out) { write_number(out, lost_); },
                   [this](std::istream& in) { lost_ = read_number<std::uint64_t>(in); }});
    return all;
  }

  /// Bytes of the parameters as stored for forward and backward, and of the copy that the optimiser works on.
  [[nodiscard]] std::size_t weight_bytes() const {
    std::size_t total = 0;
    for (const auto& p : weights_) total += p.tensor->bytes();
    for (const auto& p : per_channel_) total += p.tensor->bytes();
    return total;
  }
  [[nodiscard]] std::size_t master_bytes() const {
    std::size_t total = 0;
    for (const auto& p : weights_) total += bytes_of(p.master);
    return total;
  }

 private:
  /// A parameter and what training keeps beside it.
  template <class T> struct trained {
    parameter<T>* tensor;
    float decay;
    fp32_matrix master;    // empty where updates go to tensor->value
    fp32_matrix gradient;  // unscaled
    moments memory;
    std::vector<fp32_matrix> terms = {};  // of micro-batches, where gradients are summed over ranks

    void save(std::ostream& out) const {
      if (tensor->format) {
        write_number(out, tensor->format->word_length);
        write_number(out, tensor->format->fraction_length);
      }
      if (tensor->stored) tensor->stored->save(out);
      if (tensor->block)
        tensor->block->save(out);
      else
        write_matrix(out, tensor->value);
      write_matrix(out, master);
      memory.save(out);
    }
    void load(std::istream& in) {
      if (tensor->format) {
        const auto wl = read_number<int>(in), fl = read_number<int>(in);
        static_cast<void>(narrow::fixed_format(wl, fl));  // throws for what is none
        *tensor->format = {wl, fl};
      }
      if (tensor->stored) tensor->stored->load(in);
      if (tensor->block)
        tensor->block->load(in);
      else
        read_matrix(in, tensor->value);
      read_matrix(in, master);
      const fp32_matrix shape = tensor->weights();
      memory.load(in, shape.rows(), shape.cols());
    }
  };

  /// The gradient of a tensor, unscaled. One in fp32 changes places with what was there: nothing is copied.
  template <class T> void unscale(parameter<T>& tensor, fp32_matrix& to) {
    if constexpr (std::is_same_v<T, float>) {
      to.resizeLike(tensor.gradient);
      to.swap(tensor.gradient);
      scaler_.unscale(to, to, tensor.name);
    } else {
      scaler_.unscale(tensor.gradient, to, tensor.name);
    }
  }

  template <class T> trained<T>& of(const parameter<T>& tensor) {
    if constexpr (std::is_same_v<T, S>)
      for (auto& p : weights_)
        if (p.tensor == &tensor) return p;
    if constexpr (std::is_same_v<T, float>)
      for (auto& p : per_channel_)
        if (p.tensor == &tensor) return p;
    throw std::logic_error(tensor.name + " is no parameter of this network");
  }

  template <class T> void name(parameter<T>& tensor) {
    tensor.name = std::string(tensor.kind) + ' ' + std::to_string(++count_[tensor.kind]);
  }

  /// A nonzero number is among the first ones, unless the gradient is lost.
  static bool has_nonzero(const fp32_matrix& gradient) {
    return std::any_of(gradient.data(), gradient.data() + gradient.size(), [](float x) { return x != 0; });
  }

  template <class T> static bool all_finite(const matrix<T>& m) {
    return m.template cast<float>().allFinite();
  }

  /// What a parameter is in fp32; in `copy_` where there is no such copy of it.
  template <class T> fp32_matrix& in_fp32(trained<T>& p) {
    if constexpr (std::is_same_v<T, float>)
      if (!p.tensor->block) return p.tensor->value;
    if (p.master.size() > 0) return p.master;
    p.tensor->read(copy_);
    return copy_;
  }

  /// Adds the gradient of decay / 2 ||w||^2 + l1 ||w||_1.
  template <class T> void regularise(trained<T>& p) {
    if (p.decay == 0 && how_.l1 == 0) return;
    const fp32_matrix& weights = in_fp32(p);
    if (p.decay > 0) p.gradient += p.decay * weights;
    if (how_.l1 > 0) p.gradient += how_.l1 * weights.cwiseSign();
  }

  /// Lets the policy choose formats.
  std::vector<precision_policy::factor> switch_formats(float loss) {
    if (!policy_) return std::vector<precision_policy::factor>(weights_.size(), 1.0f);
    std::vector<switched_layer> layers;
    for (auto& p : weights_)
      layers.push_back({p.tensor->name, p.master, p.gradient, *p.tensor->format, p.tensor->operations});
    return policy_->before_update(layers, double{loss});
  }

  template <class T> void update(trained<T>& p, float factor) {
    fp32_matrix& weights = in_fp32(p);
    optimizer_->update(p.memory, p.gradient, factor, weights);
    if constexpr (std::is_same_v<T, float>)
      if (!p.tensor->block) return;
    p.tensor->store(weights);
  }

  template <class F> void for_each(F&& f) {
    for (auto& p : weights_) f(p);
    for (auto& p : per_channel_) f(p);
  }

  fp32_matrix copy_;  // scratch: weights of which there is no other in fp32, gradients of one batch
  std::uint64_t lost_ = 0;
  int accumulated_ = 0;  // batches whose gradients are summed up
  std::vector<trained<S>> weights_;
  std::vector<trained<float>> per_channel_;
  std::map<std::string_view, int> count_;  // of parameters, by kind
  std::unique_ptr<optimizer> optimizer_;
  narrow::loss_scaler scaler_;
  std::unique_ptr<precision_policy> policy_;
  settings how_;
};

}  // namespace narrow_train
