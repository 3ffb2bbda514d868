// A program that is built without MPI.
#if !defined(NARROW_TRAIN_MPI)
#include "ranks/team.hpp"

namespace narrow_train {

const team* this_team() { return nullptr; }
membership::membership(int&, char**&) {}
membership::~membership() = default;

}  // namespace narrow_train
#endif
