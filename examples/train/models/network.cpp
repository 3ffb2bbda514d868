#include "models/network.hpp"

template class narrow_train::network<float>;
