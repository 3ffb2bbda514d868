// What a training run is told. Plain data: options.cpp fills it from the command line.
#pragma once

#include <cstdint>
#include <string>

#include "mixed_precision.hpp"
#include "models.hpp"
#include "optimizer.hpp"

namespace narrow_train {

struct training_settings {
  const model* network = &models().front();
  int epochs = 4;
  int batch = 32;
  const optimizer_kind* optimizer = &optimizers().front();
  optimizer_settings step;
  float rate_decay = 0.6f;             // the learning rate is multiplied by it after each epoch
  float clip_norm = 0;                 // 0: no clipping
  std::string loss_scale = "dynamic";  // as make_scaler takes it
  float loss_weight = 1;               // the loss that is minimised is the cross-entropy times this
  product_settings products;
  recipe_choices recipes;  // for the formats that are recipes
  master_copy master = master_copy::kept;
};

/// "none", "dynamic" or a positive number, the constant scale. Throws std::invalid_argument for anything
/// else.
narrow::loss_scaler make_scaler(const std::string& loss_scale);

}  // namespace narrow_train
