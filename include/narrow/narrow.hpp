// narrow: number formats for training, with sums that accumulate wide. Everything that needs no matrix
// library.
#pragma once

#include "format/catalog.hpp"
#include "format/limits.hpp"
#include "io.hpp"
#include "kernel/convert.hpp"
#include "math.hpp"
#include "product.hpp"
#include "version.hpp"
