// What a message costs: the constants of a model of cost. Rank 0 sends messages to rank 1, which sends them
// back; the first line of the output has the microseconds of an empty one and the microseconds of a further
// megabyte, fitted to medians.
//
//   mpirun -n 2 ping_pong
#define OMPI_SKIP_MPICXX  // MPI's own C++ interface, which MPI 3 took away
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  constexpr int largest = 1 << 21, rounds = 201;
  std::vector<char> message(largest);
  std::vector<std::pair<double, double>> times;  // bytes, seconds of one way
  for (int bytes = 8; bytes <= largest; bytes *= 4) {
    std::vector<double> seconds;
    for (int i = 0; i < rounds; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      if (rank == 0) {
        MPI_Send(message.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(message.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (rank == 1) {
        MPI_Recv(message.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(message.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
      }
      seconds.push_back((MPI_Wtime() - begin) / 2);
    }
    std::ranges::nth_element(seconds, seconds.begin() + rounds / 2);
    times.emplace_back(bytes, seconds[rounds / 2]);
  }
  if (rank == 0) {
    const double latency = times.front().second;
    const double per_byte = (times.back().second - latency) / times.back().first;
    std::printf("%.3f %.3f\n", latency * 1e6, per_byte * 1e12);
    for (const auto& [bytes, seconds] : times) std::printf("%8.0f bytes %10.2f us\n", bytes, seconds * 1e6);
  }
  MPI_Finalize();
}
