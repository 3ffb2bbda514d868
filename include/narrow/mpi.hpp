// Narrow numbers among the processes of an MPI program. Nothing else in the library needs MPI; see
// examples/guides/many-machines.md.
#pragma once

#include "mpi/agreement.hpp"
#include "mpi/all_reduce.hpp"
#include "mpi/messages.hpp"
#include "mpi/scalars.hpp"
