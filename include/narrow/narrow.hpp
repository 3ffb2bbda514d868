// narrow: number formats for training, with sums that accumulate wide. Everything that needs no matrix
// library.
#pragma once

#include "block/fixed_tensor.hpp"
#include "block/mx.hpp"
#include "block/product.hpp"
#include "format/catalog.hpp"
#include "format/limits.hpp"
#include "io.hpp"
#include "kernel/convert.hpp"
#include "kernel/isa.hpp"
#include "math.hpp"
#include "product.hpp"
#include "train/adaptive_clip.hpp"
#include "train/cost_model.hpp"
#include "train/exponent_histogram.hpp"
#include "train/kolmogorov_smirnov.hpp"
#include "train/loss_scaler.hpp"
#include "train/master_weights.hpp"
#include "train/muppet_switch.hpp"
#include "train/precision_switch.hpp"
#include "train/truncated_normal.hpp"
#include "version.hpp"
