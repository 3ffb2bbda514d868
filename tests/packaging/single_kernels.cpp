// The other file: the kernels, compiled once.
#include "narrow_compiled_kernels.hpp"
