// Sums of gradients over ranks, beside MPI's own sum of floats: wall time, in turns, of the slowest rank.
//
//   mpirun -n 2 all_reduce [ELEMENTS [ROUNDS]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <narrow/mpi.hpp>
#include <narrow/narrow.hpp>

namespace {

struct row {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds = {};
};

double median(std::vector<double> x) {
  std::ranges::nth_element(x, x.begin() + std::ssize(x) / 2);
  return x[x.size() / 2];
}

/// The reduction in one form, by one reducer for all rounds.
template <class Form> row row_of(const std::vector<float>& gradient, std::vector<float>& sum, Form form) {
  const auto by = std::make_shared<narrow::mpi::reducer<Form>>(form);
  return {Form::name(), [by, &gradient, &sum] {
            by->add(gradient, sum);
            by->wait();
          }};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const auto n = static_cast<std::size_t>(argc > 1 ? std::atol(argv[1]) : 1 << 24);
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
    std::vector<float> gradient(n), sum(n);
    std::mt19937 random(static_cast<unsigned>(narrow::mpi::rank()));
    std::normal_distribution<float> normal(0, 1e-3f);
    for (float& x : gradient) x = normal(random);

    std::vector<row> rows;
    rows.push_back({"MPI_Allreduce, float", [&] {
                      MPI_Allreduce(gradient.data(), sum.data(), static_cast<int>(n), MPI_FLOAT, MPI_SUM,
                                    MPI_COMM_WORLD);
                    }});
    rows.push_back(row_of(gradient, sum, narrow::mpi::wide{}));
    rows.push_back(row_of(gradient, sum, narrow::mpi::rounded<narrow::fp16>{}));
    rows.push_back(row_of(gradient, sum, narrow::mpi::rounded<narrow::bf16>{}));
    rows.push_back(row_of(gradient, sum, narrow::mpi::exact<16>{}));
    rows.push_back(row_of(gradient, sum, narrow::mpi::exact<8>{}));
    for (int i = 0; i <= rounds; ++i)
      for (row& r : rows) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        r.run();
        double own = MPI_Wtime() - begin, slowest = 0;
        MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (i > 0) r.seconds.push_back(slowest);  // the first round touches memory
      }
    if (narrow::mpi::rank() == 0) {
      std::printf("%zu floats on %d ranks, medians of %d rounds\n", n, narrow::mpi::ranks(), rounds);
      for (const row& r : rows)
        std::printf("%-22s %8.2f ms   %.2f times as fast as MPI's\n", r.name.c_str(), median(r.seconds) * 1e3,
                    median(rows.front().seconds) / median(r.seconds));
    }
  }
  MPI_Finalize();
}
