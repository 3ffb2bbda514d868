#include "peers.hpp"

#ifdef NARROW_BENCH_ONEDNN

#include <oneapi/dnnl/dnnl.hpp>
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
extern "C" void omp_set_num_threads(
    int);  // without the compiler's OpenMP, with which Eigen would start threads
#endif

#include <memory>
#include <unordered_map>

namespace narrow_bench {

std::function<void()> onednn_product(onednn_type type, std::ptrdiff_t rows, std::ptrdiff_t depth,
                                     std::ptrdiff_t cols, const void* a, const void* b, void* c) {
  using dnnl::memory;
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
  omp_set_num_threads(1);
#endif
  constexpr struct {
    memory::data_type factor, product;
  } types[] = {{memory::data_type::f32, memory::data_type::f32},
               {memory::data_type::bf16, memory::data_type::bf16},
               {memory::data_type::s8, memory::data_type::s32}};
  const auto [narrow, wide] = types[static_cast<std::size_t>(type)];
  // Row by row, the same memory holds the transposed matrices: their product is B' A'.
  const auto by_rows = [](std::ptrdiff_t lines, std::ptrdiff_t length, memory::data_type element) {
    return memory::desc({lines, length}, element, memory::format_tag::ab);
  };
  const auto left = by_rows(cols, depth, narrow), right = by_rows(depth, rows, narrow),
             to = by_rows(cols, rows, wide);
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc description(engine, left, right, to);
#else
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(left, right, to), engine);
#endif
    const dnnl::matmul product(description);
    const std::unordered_map<int, memory> arguments{
        {DNNL_ARG_SRC, memory(left, engine, const_cast<void*>(b))},
        {DNNL_ARG_WEIGHTS, memory(right, engine, const_cast<void*>(a))},
        {DNNL_ARG_DST, memory(to, engine, c)}};
    return [product, arguments, stream = dnnl::stream(engine)]() mutable {
      product.execute(stream, arguments);
      stream.wait();
    };
  } catch (const dnnl::error&) {
    return {};
  }
}

}  // namespace narrow_bench

#else

namespace narrow_bench {

std::function<void()> onednn_product(onednn_type, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t, const void*,
                                     const void*, void*) {
  return {};
}

}  // namespace narrow_bench

#endif
