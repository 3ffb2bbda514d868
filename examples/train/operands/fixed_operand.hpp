// Operands in the fixed-point format that their layer has at the moment.
#pragma once

#include "operands/block_operand.hpp"

namespace narrow_train {

/// For the kinds fp32, fixed, words and held_words; all elements share one scale.
std::unique_ptr<block_operand> make_fixed_operand(const operand_format& format,
                                                  const std::shared_ptr<const layer_format>& layer);

}  // namespace narrow_train
