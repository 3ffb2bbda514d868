#include "settings.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace narrow_train {

narrow::loss_scaler make_scaler(const std::string& loss_scale) {
  if (loss_scale == "dynamic") return {};
  if (loss_scale == "none") return narrow::static_scale(1);
  std::istringstream text(loss_scale);
  float scale = 0;
  if (!(text >> scale) || !text.eof() || !(scale > 0) || scale > std::numeric_limits<float>::max())
    throw std::invalid_argument(loss_scale + " is not none, dynamic or a positive number");
  return narrow::static_scale(scale);
}

}  // namespace narrow_train
