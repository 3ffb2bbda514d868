// narrow for Eigen: everything of narrow.hpp, and narrow scalars as Eigen scalars whose products and sums are
// wide.
#pragma once

#include "eigen/array_access.hpp"
#include "eigen/product.hpp"
#include "eigen/scalar.hpp"
#include "eigen/solvers.hpp"
#include "eigen/structured.hpp"
#include "eigen/sum.hpp"
#include "eigen/transformations.hpp"
