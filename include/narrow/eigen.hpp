// narrow for Eigen: everything of narrow.hpp, and narrow scalars as Eigen scalars whose products and sums are
// wide.
#pragma once

#include "eigen/assignment.hpp"
#include "eigen/complex.hpp"
#include "eigen/extremes.hpp"
#include "eigen/files.hpp"
#include "eigen/foreign.hpp"
#include "eigen/functions.hpp"
#include "eigen/geometry.hpp"
#include "eigen/products/dense.hpp"
#include "eigen/products/prepacked.hpp"
#include "eigen/products/sparse.hpp"
#include "eigen/products/triangular.hpp"
#include "eigen/scalar.hpp"
#include "eigen/softmax.hpp"
#include "eigen/solvers/decompositions.hpp"
#include "eigen/solvers/inverse.hpp"
#include "eigen/solvers/orthogonal_transformations.hpp"
#include "eigen/tensor_module.hpp"
#include "eigen/training_arrays.hpp"
#include "eigen/wide_reductions.hpp"
