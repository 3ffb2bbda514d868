// What others offer for the same products, where it is installed.
#pragma once

#include <cstddef>
#include <functional>

namespace narrow_bench {

/// C = A B of column-major matrices in memory by oneDNN, one thread, nothing packed in advance: float to
/// float, bf16 to bf16, or int8 to int32. Nothing where there is no oneDNN or it has no such product.
enum class onednn_type { fp32, bf16, int8 };
std::function<void()> onednn_product(onednn_type type, std::ptrdiff_t rows, std::ptrdiff_t depth,
                                     std::ptrdiff_t cols, const void* a, const void* b, void* c);

}  // namespace narrow_bench
