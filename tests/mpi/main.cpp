// The tests of narrow::mpi, which all ranks run alike. A rank on which one fails ends all: the others may be
// waiting for it.
#include <cstdio>
#include <narrow/mpi.hpp>

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Catch::Session session;
  if (const int code = session.applyCommandLine(argc, argv); code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  session.configData().abortAfter = 1;
  const int failed = session.run();
  if (failed != 0) {
    std::fflush(nullptr);
    std::fprintf(stderr, "rank %d of %d failed\n", narrow::mpi::rank(), narrow::mpi::ranks());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
