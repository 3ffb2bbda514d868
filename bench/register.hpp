// The groups of benchmarks, each in a source file of its own.
#pragma once

#include "shapes.hpp"

namespace narrow_bench {

void register_peers(extent which);
void register_floating_products(extent which);
void register_integer_products(extent which);
void register_comparisons();
void register_conversions();
void register_prepacked_products();
void register_mx_products();
void register_quantising();

}  // namespace narrow_bench
