// Weights that are updated in fp32 and used in a narrow format.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../convert.hpp"
#include "../errors.hpp"
#include "../format_name.hpp"
#include "array_access.hpp"
#include "state_io.hpp"

namespace narrow::inline NARROW_ABI {

/// A weight tensor twice: the fp32 master copy, which takes the updates, and its rounding to F, which forward
/// and backward use. An update too small to change a narrow weight accumulates in the master.
///
/// Both copies have the order of the array that they were made from, for an Eigen matrix its storage order:
/// an `Eigen::Map` of that matrix's shape and order shows them as matrices.
///
/// Source  Micikevicius et al., Mixed Precision Training (2018), section 3.1.
template <narrow_scalar F> class master_weights : detail::streamable<master_weights<F>> {
 public:
  /// The policy of F.
  using own_rounding = typename F::round_policy;

  master_weights() = default;
  master_weights(const master_weights&) = default;
  /// The other one is left empty.
  master_weights(master_weights&& other) noexcept { swap(other); }
  master_weights& operator=(const master_weights&) = default;
  /// The other one is left with what was here.
  master_weights& operator=(master_weights&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Copies float weights and rounds them, as `round` does.
  template <array_of<float> X, rounding_policy Round = own_rounding>
  explicit master_weights(const X& initial, const Round& round = Round{}) {
    const auto array = detail::read_array(initial);
    layout_ = array.layout();
    master_.assign(array.elements().begin(), array.elements().end());
    weights_.resize(master_.size());
    this->round(round);
  }

  /// The master copy. What is written to it shows in `weights()` after the next `round`.
  std::span<float> master() { return master_; }
  /// The master copy, to be read.
  std::span<const float> master() const { return master_; }

  /// The narrow weights, as of the last `round`.
  std::span<const F> weights() const { return weights_; }
  std::size_t size() const { return master_.size(); }

  /// weights() = master(), each element rounded once.
  ///
  /// Rounding  by `round`. `rounding::stochastic{seed, offset}` draws for element (i, j) of a matrix under
  ///           its row-major index, whatever the storage order. Make the seed a function of the step's number,
  ///           so that steps differ and a run that goes on from a saved state repeats.
  template <rounding_policy Round = own_rounding> void round(const Round& round = Round{}) {
    constexpr bool by_index = detail::draws_per_element<Round>;
    if (by_index && layout_.order == array_layout::sequence::by_columns) {
      const auto rows = static_cast<std::size_t>(layout_.rows);
      const auto cols = static_cast<std::size_t>(layout_.cols);
      for (std::size_t j = 0; j < cols; ++j)
        detail::convert(master_.data() + j * rows, weights_.data() + j * rows, rows, round, j, cols);
    } else {
      convert(master_, weights_, round);
    }
  }

  /// Calls `step(master())`, which updates the weights in fp32, then `round(round)`.
  template <std::invocable<std::span<float>> Step, rounding_policy Round = own_rounding>
  void update(Step&& step, const Round& round = Round{}) {
    std::forward<Step>(step)(master());
    this->round(round);
  }

  void swap(master_weights& other) noexcept {
    std::swap(layout_, other.layout_);
    master_.swap(other.master_);
    weights_.swap(other.weights_);
  }
  friend void swap(master_weights& a, master_weights& b) noexcept { a.swap(b); }

  /// Bytes of the master copy.
  std::size_t master_bytes() const { return master_.size() * sizeof(float); }
  /// Bytes of the narrow weights.
  std::size_t weights_bytes() const { return weights_.size() * sizeof(F); }

 private:
  friend detail::saved_state;

  /// With what the codes mean, in which the format's policies have no part.
  static std::string state_type() {
    std::string codes;
    if constexpr (narrow_fixed<F>) {
      codes = format_name<fixed<F::word_length, F::fraction_length>>();
    } else {
      using layout = typename F::layout;
      codes = "floating<" + std::to_string(layout::exponent_bits) + "," +
              std::to_string(layout::mantissa_bits) + "," +
              std::string(detail::name_of(layout::special_values)) + ">";
    }
    return "narrow::master_weights<" + codes + ">";
  }

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    detail::layout_fields(field, self.layout_);
    field("master", self.master_);
    field("weights", self.weights_);
  }

  void check_relations() const {
    if (!is_layout_of(layout_, std::ssize(master_)) || weights_.size() != master_.size())
      detail::fail<std::invalid_argument>("its sizes contradict one another");
  }

  array_layout layout_;
  std::vector<float> master_;
  std::vector<F> weights_;
};

}  // namespace narrow
