// Plans of products in words.
#pragma once

#include <string>
#include <string_view>

#include "plan.hpp"

namespace narrow::inline NARROW_ABI::kernel {

constexpr std::string_view name_of(packed_type p) {
  constexpr std::string_view names[] = {"none", "fp32", "two bf16", "bf16", "int16", "int8"};
  return names[static_cast<int>(p)];
}

constexpr std::string_view name_of(algorithm how) {
  constexpr std::string_view names[] = {
      "plain C++",         "inner product", "gemv by rows", "gemv by columns", "skinny by rows",
      "skinny by columns", "small product", "panels",       "scaled panels",   "panels"};
  return names[static_cast<int>(how)];
}

/// What multiplies: "panels of bf16 by vdpbf16ps in tiles of 14 x 32", "gemv by rows of fp32", "plain C++".
[[gnu::cold]] inline std::string describe_kernel(const product_plan& plan) {
  std::string text(name_of(plan.how));
  if (plan.how == algorithm::portable) return text;
  if (plan.how == algorithm::dot && plan.packed == packed_type::none) return text + " in plain C++";
  text += " of " + std::string(plan.how == algorithm::wide_panels ? "fp64" : name_of(plan.packed));
  if (plan.kernel != nullptr)
    text += std::string(" by ") + plan.instruction + " in tiles of " +
            detail::shape(plan.work.tile_rows, plan.work.tile_cols);
  return text;
}

/// A plan for sums of `depth` terms in words: "panels of int16 by vpmaddwd in tiles of 12 x 32, B in 2 limbs,
/// depth 4096 in blocks of 128, 1 thread".
[[gnu::cold]] inline std::string describe(const product_plan& plan, index depth) {
  std::string text = describe_kernel(plan);
  if (plan.transposed) text += " of the transposed product";
  if (plan.a_limbs > 1) text += ", A in 2 limbs";
  if (plan.b_limbs > 1) text += ", B in 2 limbs";
  if (plan.wide_sums) text += plan.how == algorithm::wide_panels ? ", sums of 128 bits" : ", sums of 64 bits";
  if (plan.depth_block != 0)
    text += ", depth " + std::to_string(depth) +
            (plan.depth_block >= depth ? " at once" : " in blocks of " + std::to_string(plan.depth_block));
  if (plan.scales_first) text += ", scales multiplied into the elements unless sums leave the normal floats";
  const index threads = plan.threads();
  text += ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  if (plan.fallback != packed_type::none)
    text += "; as " + std::string(name_of(plan.fallback)) +
            (plan.packed == packed_type::two_bf16 ? " if a number is not finite" : " if a bf16 is subnormal");
  return text;
}

}  // namespace narrow::kernel
