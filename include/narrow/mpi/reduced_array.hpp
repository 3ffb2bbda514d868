// Arrays on their way through the ranks, as the floats that are added up.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../convert.hpp"
#include "../format_name.hpp"
#include "../train/array_access.hpp"
#include "communicator.hpp"

namespace narrow::inline NARROW_ABI::mpi::detail {

/// One array of which a rank has some terms: floats in memory that stay where they are.
class reduced {
 public:
  virtual ~reduced() = default;
  reduced() = default;
  reduced(const reduced&) = delete;
  reduced& operator=(const reduced&) = delete;

  virtual std::ptrdiff_t size() const = 0;
  virtual const float* term(int t) const = 0;
  virtual float* sum() = 0;
  /// Stores the sum where it is to go, if that is not where it is.
  virtual void commit() = 0;
};

template <class Term, class Sum> class reduced_of final : public reduced {
  using input = typename array_access<Term>::input;
  using output = typename array_access<Sum>::output;
  using term_type = array_value_t<Term>;
  using sum_type = array_value_t<Sum>;

 public:
  reduced_of(std::span<const Term> terms, Sum& sum) {
    for (const Term& term : terms) {
      const input& its = *inputs_.emplace_back(std::make_unique<input>(term));
      const array_layout layout = inputs_.front()->layout();
      narrow::detail::check_shapes(its.layout().same_shape(layout), "narrow::mpi::reducer::add", "a term",
                                   its.layout().shape(), "the first one", layout.shape());
      if constexpr (!std::same_as<term_type, float>) as_floats(its.elements(), floats_.emplace_back());
    }
    const array_layout layout = inputs_.front()->layout();
    output_ = std::make_unique<output>(sum, layout,
                                       array_roles{"narrow::mpi::reducer::add", "the terms", "their sum"});
    if constexpr (!std::same_as<sum_type, float>) sum_.resize(layout.size());
  }

  std::ptrdiff_t size() const override {
    return static_cast<std::ptrdiff_t>(inputs_.front()->layout().size());
  }
  const float* term(int t) const override {
    const auto place = static_cast<std::size_t>(t);
    if constexpr (std::same_as<term_type, float>)
      return inputs_[place]->elements().data();
    else
      return floats_[place].data();
  }
  float* sum() override {
    if constexpr (std::same_as<sum_type, float>)
      return output_->elements().data();
    else
      return sum_.data();
  }
  void commit() override {
    if constexpr (!std::same_as<sum_type, float>) narrow::convert(sum_, output_->elements());
    output_->commit();
  }

 private:
  static void as_floats(std::span<const term_type> from, std::vector<float>& to) {
    to.resize(from.size());
    narrow::convert(from, to);
  }

  std::vector<std::unique_ptr<input>> inputs_;
  std::vector<std::vector<float>> floats_;
  std::unique_ptr<output> output_;
  std::vector<float> sum_;
};

/// What an array is, for a message: "3 x 4 of float".
template <readable_array X> std::string shape_of(const X& x) {
  return narrow::detail::read_array(x).layout().shape().text() + " of " + format_name<array_value_t<X>>();
}

/// The sizes of the arrays of a step, for a message.
inline std::string text_of(std::span<const std::ptrdiff_t> sizes) {
  constexpr std::size_t most = 8;
  std::string text = std::to_string(sizes.size()) + (sizes.size() == 1 ? " array of" : " arrays of");
  for (std::size_t i = 0; i < std::min(sizes.size(), most); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(sizes[i]);
  if (sizes.size() > most) text += ", ... (digest " + std::to_string(digest_of(sizes)) + ")";
  return text + " elements";
}

}  // namespace narrow::mpi::detail
