// The shapes of the products.
#pragma once

#include <string>
#include <vector>

namespace narrow_bench {

/// (rows x depth) times (depth x cols).
struct shape {
  std::string group, name;
  std::ptrdiff_t rows, depth, cols;
};

enum class extent { usual, large };

/// Squares; those that take seconds in the large extent alone. `small` are those where calling costs as much
/// as computing.
inline std::vector<shape> squares(extent which) {
  std::vector<shape> result;
  const auto add = [&](const char* group, std::ptrdiff_t n) {
    result.push_back({group, std::to_string(n), n, n, n});
  };
  for (const std::ptrdiff_t n : {8, 16, 32}) add("small", n);
  for (const std::ptrdiff_t n : {64, 128, 256, 512, 1024}) add("gemm", n);
  if (which == extent::large)
    for (const std::ptrdiff_t n : {2048, 4096}) add("large", n);
  return result;
}

/// Rows, depth and columns as the name.
inline shape shape_named_by_sizes(const char* group, std::ptrdiff_t rows, std::ptrdiff_t depth,
                                  std::ptrdiff_t cols) {
  return {group, std::to_string(rows) + "x" + std::to_string(depth) + "x" + std::to_string(cols), rows, depth,
          cols};
}

/// A large matrix and one of a few columns or rows: weights that meet a small batch.
inline std::vector<shape> skinny_shapes() {
  constexpr std::ptrdiff_t side = 1024;
  std::vector<shape> result;
  for (const std::ptrdiff_t n : {2, 4, 8, 16, 32, 64})
    result.push_back(shape_named_by_sizes("skinny", side, side, n));
  for (const std::ptrdiff_t n : {4, 32}) result.push_back(shape_named_by_sizes("skinny", n, side, side));
  return result;
}

/// What networks multiply: the recurrent layers of DeepBench's training set (k = m), and the convolutions of
/// ResNet-50 as products of weights (output channels x inputs) with the inputs of every output pixel of one
/// image.
inline std::vector<shape> network_shapes() {
  std::vector<shape> result;
  const auto add = [&](const char* group, std::ptrdiff_t rows, std::ptrdiff_t depth, std::ptrdiff_t cols) {
    result.push_back(shape_named_by_sizes(group, rows, depth, cols));
  };
  for (const std::ptrdiff_t m : {1760, 2560, 4096})
    for (const std::ptrdiff_t n : {16, 32, 64, 128}) add("deepbench", m, m, n);
  // Of each stage: 1x1 into the bottleneck, 3x3 within, 1x1 out of it.
  for (const std::ptrdiff_t side : {56, 28, 14, 7}) {
    const std::ptrdiff_t pixels = side * side, inner = 64 * 56 / side, outer = 4 * inner;
    add("resnet50", inner, outer, pixels);
    add("resnet50", inner, 9 * inner, pixels);
    add("resnet50", outer, inner, pixels);
  }
  return result;
}

}  // namespace narrow_bench
