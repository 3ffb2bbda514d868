// A program whose second rank is killed while the others sum gradients: they are to end, too. See
// CMakeLists.txt.
#include <csignal>
#include <narrow/mpi.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  narrow::mpi::reducer by(narrow::mpi::exact<8>{});
  std::vector<float> gradient(100'000, 1);
  for (int step = 0;; ++step) {
    if (step == 3 && narrow::mpi::rank() == 1) std::raise(SIGKILL);
    by.add(gradient);
    by.wait();
  }
}
