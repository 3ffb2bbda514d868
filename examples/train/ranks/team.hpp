// The processes that train one network together: what training asks of them. How they talk is in
// mpi_team.cpp; a program that is built without MPI knows only a team of one.
#pragma once

#include <iosfwd>
#include <memory>
#include <narrow/train/loss_scaler.hpp>
#include <span>
#include <string>
#include <vector>

#include "operands/recipe.hpp"
#include "tensor/tensor.hpp"

namespace narrow_train {

/// In which numbers gradients are summed over ranks, see narrow/mpi/forms.hpp.
enum class reduction { wide, fp16, bf16, exact16, exact8 };
inline constexpr option_values<reduction, 5> reductions{{{"wide", reduction::wide},
                                                         {"fp16", reduction::fp16},
                                                         {"bf16", reduction::bf16},
                                                         {"exact16", reduction::exact16},
                                                         {"exact8", reduction::exact8}}};

/// What becomes of what rounding cuts off gradients.
enum class gradient_rest { dropped, carried };
inline constexpr option_values<gradient_rest, 2> gradient_rests{
    {{"dropped", gradient_rest::dropped}, {"carried", gradient_rest::carried}}};

/// Sums of gradients over the ranks, made while others are computed. All ranks call all of this alike.
class gradient_sums {
 public:
  virtual ~gradient_sums() = default;
  /// `sum` becomes the sum of the terms of all ranks at `wait`, until when both stay as they are.
  virtual void add(std::span<const fp32_matrix> terms, fp32_matrix& sum) = 0;
  virtual void wait() = 0;

  /// Brings what is carried from step to step to rank 0, which then can `save` it.
  virtual void collect() = 0;
  virtual void save(std::ostream& out) const = 0;
  /// Reads on rank 0 what the same or another number of ranks has saved.
  virtual void load(std::istream& in) = 0;
};

class team {
 public:
  virtual ~team() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  [[nodiscard]] bool leads() const { return rank() == 0; }

  /// `terms`: of this rank, of each gradient.
  [[nodiscard]] virtual std::unique_ptr<gradient_sums> sums(reduction form, gradient_rest rest,
                                                            int terms) const = 0;
  /// Lets all ranks know what overflowed on any of them.
  virtual void agree(narrow::loss_scaler& scaler) const = 0;
  /// The numbers of all ranks, in the order of the ranks.
  [[nodiscard]] virtual std::vector<float> all_of(const std::vector<float>& own) const = 0;
  /// The number that rank 0 has.
  [[nodiscard]] virtual double of_leader(double x) const = 0;
  /// Ends the processes of all ranks.
  [[noreturn]] virtual void abort(int code) const = 0;
};

/// The team of this process, which `join_team` has made; null where the program was built without MPI.
const team* this_team();

/// While it lives, this process is one of a team, if the program was built with MPI.
class membership {
 public:
  membership(int& argc, char**& argv);
  ~membership();
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;
};

/// Which micro-batches of a step are a rank's: those from first on.
struct micro_batches {
  int first = 0, count = 1;
};
inline micro_batches share_of(int all, int rank, int ranks) {
  const auto before = [&](int r) { return static_cast<int>(static_cast<long>(all) * r / ranks); };
  return {before(rank), before(rank + 1) - before(rank)};
}

}  // namespace narrow_train
