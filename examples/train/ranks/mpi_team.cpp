// A team whose ranks are those of an MPI program.
#if defined(NARROW_TRAIN_MPI)
#include <cstdlib>
#include <narrow/eigen.hpp>
#include <narrow/mpi.hpp>
#include <optional>
#include <utility>

#include "files/saved_state.hpp"
#include "ranks/team.hpp"

namespace narrow_train {
namespace {

namespace mpi = narrow::mpi;

template <class Form> class sums_in final : public gradient_sums {
 public:
  sums_in(gradient_rest rest, int terms)
      : reducer_({}, {.terms = terms,
                      .feedback = rest == gradient_rest::carried ? mpi::error_feedback::carried
                                                                 : mpi::error_feedback::dropped}) {}

  void add(std::span<const fp32_matrix> terms, fp32_matrix& sum) override { reducer_.add(terms, sum); }
  void wait() override { reducer_.wait(); }
  void collect() override { carried_ = reducer_.carried(); }
  void save(std::ostream& out) const override {
    write_number(out, static_cast<std::uint64_t>(carried_.terms.size()));
    write_number(out, static_cast<std::uint64_t>(carried_.sum.size()));
    for (const auto& term : carried_.terms) write_numbers(out, std::span(term));
    write_numbers(out, std::span(carried_.sum));
  }
  void load(std::istream& in) override {
    mpi::carried_gradients read;
    const auto terms = read_number<std::uint64_t>(in), size = read_number<std::uint64_t>(in);
    const auto fill = [&](std::vector<float>& to) {
      for (std::uint64_t i = 0; i < size; ++i)
        to.push_back(read_number<float>(in));  // a false size allocates nothing
    };
    for (std::uint64_t t = 0; t < terms; ++t) fill(read.terms.emplace_back());
    fill(read.sum);
    if (terms > 0 && size > 0) reducer_.carry(read);
  }

 private:
  mpi::reducer<Form> reducer_;
  mpi::carried_gradients carried_;
};

class mpi_team final : public team {
 public:
  [[nodiscard]] int rank() const override { return mpi::rank(); }
  [[nodiscard]] int ranks() const override { return mpi::ranks(); }

  [[nodiscard]] std::unique_ptr<gradient_sums> sums(reduction form, gradient_rest rest,
                                                    int terms) const override {
    switch (form) {
      case reduction::wide:
        return std::make_unique<sums_in<mpi::wide>>(rest, terms);
      case reduction::fp16:
        return std::make_unique<sums_in<mpi::rounded<narrow::fp16>>>(rest, terms);
      case reduction::bf16:
        return std::make_unique<sums_in<mpi::rounded<narrow::bf16>>>(rest, terms);
      case reduction::exact16:
        return std::make_unique<sums_in<mpi::exact<16>>>(rest, terms);
      case reduction::exact8:
        break;
    }
    return std::make_unique<sums_in<mpi::exact<8>>>(rest, terms);
  }

  void agree(narrow::loss_scaler& scaler) const override { mpi::agree(scaler); }

  [[nodiscard]] std::vector<float> all_of(const std::vector<float>& own) const override {
    std::vector<float> all;
    for (int r = 0; r < ranks(); ++r) {
      std::vector<float> theirs = own;
      mpi::broadcast(theirs, r);
      all.insert(all.end(), theirs.begin(), theirs.end());
    }
    return all;
  }

  [[nodiscard]] double of_leader(double x) const override {
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return x;
  }

  [[noreturn]] void abort(int code) const override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::abort();
  }
};

std::optional<mpi_team> joined;

}  // namespace

const team* this_team() { return joined ? &*joined : nullptr; }

membership::membership(int& argc, char**& argv) {
  int provided = 0;  // threads of a run never call MPI themselves
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  joined.emplace();
}
membership::~membership() {
  joined.reset();
  MPI_Finalize();
}

}  // namespace narrow_train
#endif
