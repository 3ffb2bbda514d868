// A model trained on as many processes as mpirun starts, with the same bits on any number of them:
//
//   mpirun -n 2 several_ranks
#include <bit>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <narrow/eigen.hpp>
#include <narrow/mpi.hpp>
#include <random>
#include <vector>

namespace {

namespace mpi = narrow::mpi;

constexpr int inputs = 200, samples = 64, micro_batches = 8, steps = 300;

/// One of the eight parts of a batch: samples of a linear function.
struct micro_batch {
  Eigen::MatrixXf x{inputs, samples};
  Eigen::RowVectorXf y;

  micro_batch(int step, int number) {
    std::mt19937 random(static_cast<unsigned>(step * micro_batches + number));
    std::normal_distribution<float> normal;
    for (float& value : x.reshaped()) value = normal(random);
    y = Eigen::RowVectorXf::LinSpaced(inputs, -1, 1) * x;
  }
};

/// The gradient of the mean square of what weights get wrong.
Eigen::RowVectorXf gradient_of(const Eigen::RowVectorXf& w, const micro_batch& m) {
  return (w * m.x - m.y) * m.x.transpose() / (samples * micro_batches);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    // This rank's micro-batches: as many as every other rank has, give or take one.
    const int first = micro_batches * mpi::rank() / mpi::ranks(),
              end = micro_batches * (mpi::rank() + 1) / mpi::ranks();

    mpi::reducer sums(mpi::exact<8>{}, {.terms = end - first, .feedback = mpi::error_feedback::carried});
    Eigen::RowVectorXf w = Eigen::RowVectorXf::Zero(inputs), sum(inputs);
    std::vector<Eigen::RowVectorXf> gradients(static_cast<std::size_t>(end - first));
    for (int step = 0; step < steps; ++step) {
      for (int m = first; m < end; ++m)
        gradients[static_cast<std::size_t>(m - first)] = gradient_of(w, micro_batch(step, m));
      sums.add(std::span<const Eigen::RowVectorXf>(gradients), sum);  // on its way
      sums.wait();                                                    // the sum over all ranks is here
      w -= 0.5f * sum;
    }

    if (mpi::rank() == 0) {
      std::uint32_t digest = 0;
      for (const float x : w) digest = digest * 31 + std::bit_cast<std::uint32_t>(x);
      const Eigen::RowVectorXf exact = Eigen::RowVectorXf::LinSpaced(inputs, -1, 1);
      std::cout << "off by " << std::setprecision(2) << (w - exact).cwiseAbs().maxCoeff()
                << ", digest of the weights " << std::hex << digest << '\n';
    }
  }  // what uses MPI ends before it does
  MPI_Finalize();
}
