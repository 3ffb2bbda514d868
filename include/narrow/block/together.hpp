// Several block tensors from the same numbers in one pass over them.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "../errors.hpp"
#include "tensor.hpp"

namespace narrow::inline NARROW_ABI {

/// An assignment that can be done in parts: what `assign_together` takes.
class assignment_in_parts {
 public:
  virtual ~assignment_in_parts() = default;

 private:
  friend void assign_together(std::initializer_list<assignment_in_parts*> assignments);
  virtual std::size_t bytes() const = 0;
  virtual const void* tensor() const = 0;
  virtual void begin() = 0;
  virtual void take(std::ptrdiff_t part, std::ptrdiff_t parts) = 0;
  virtual void finish() noexcept = 0;
};

/// `to.assign(values, round, clips)`, when `assign_together` is called: until then all of these must live.
template <block_format Format, class T, class Round = typename Format::round_policy>
class tensor_assignment final : public assignment_in_parts {
 public:
  /// Refers to the tensor, the values and the clipping values.
  tensor_assignment(block_tensor<Format>& to, matrix_view<T> values, std::span<const float> clips = {},
                    const Round& round = Round{})
      : to_(to), values_(values), clips_(clips), round_(round) {}

 private:
  std::size_t bytes() const override {
    return static_cast<std::size_t>(values_.rows) * static_cast<std::size_t>(values_.cols) * sizeof(T);
  }
  const void* tensor() const override { return std::addressof(to_); }
  void begin() override {
    doing_.emplace(to_.begin(values_.rows, values_.cols, values_, round_));
    kernel::enter([&](kernel::kernel_set t) { doing_->choose_scales(t, clips_); });
  }
  void take(std::ptrdiff_t part, std::ptrdiff_t parts) override {
    const bool by_rows = to_.order() == storage_order::row_major;
    detail::region r = doing_->whole();
    auto& first = by_rows ? r.row : r.col;
    auto& count = by_rows ? r.rows : r.cols;
    const std::ptrdiff_t lines = count;
    const auto edge = [=](std::ptrdiff_t n) { return lines / parts * n + std::min(n, lines % parts); };
    first = edge(part);
    count = edge(part + 1) - first;
    if (count > 0) kernel::enter([&](kernel::kernel_set t) { doing_->take(t, r); });
  }
  void finish() noexcept override {
    doing_->finish();
    doing_.reset();
  }

  block_tensor<Format>& to_;
  matrix_view<T> values_;
  std::span<const float> clips_;
  Round round_;
  std::optional<typename block_tensor<Format>::template whole_assignment<detail::value_of<T>, Round>> doing_;
};

/// Does all assignments, a part of each in turn that the cache holds: where they read the same numbers, as
/// the two quantisations of a gradient do, memory is read once. What they write is the same as one after
/// another.
///
/// Errors    what `assign` throws, and std::invalid_argument if two are to the same tensor; then none has changed.
/// Cost      that of the assignments: while a cache holds the numbers, reading them once saves nothing measurable.
inline void assign_together(std::initializer_list<assignment_in_parts*> assignments) {
  constexpr std::size_t cached = 256 * 1024;
  for (auto a = assignments.begin(); a != assignments.end(); ++a)
    for (auto b = assignments.begin(); b != a; ++b)
      if ((*a)->tensor() == (*b)->tensor())
        detail::fail<std::invalid_argument>(
            "narrow::assign_together: assignments " + std::to_string(b - assignments.begin()) + " and " +
            std::to_string(a - assignments.begin()) + " must not be to the same tensor");
  std::size_t bytes = 0;
  for (auto* a : assignments) {
    a->begin();
    bytes = std::max(bytes, a->bytes());
  }
  const auto parts = static_cast<std::ptrdiff_t>(bytes / cached + 1);
  for (std::ptrdiff_t part = 0; part < parts; ++part)
    for (auto* a : assignments) a->take(part, parts);
  for (auto* a : assignments) a->finish();
}

}  // namespace narrow
