// Products of matrices in blocks, with each other and with matrices of numbers.
#include "products.hpp"

namespace bits {

template <class T, class Format>
narrow::block_tensor<Format> tensor(index rows, index cols, kind of, std::uint64_t seed) {
  return narrow::quantize<Format>(
      matrix<T>(rows, cols, seed % 2 == 0 ? layout::by_rows : layout::by_columns, of, seed).view);
}

/// `Right`: what B is quantised to.
template <class Left, class Right, class C> void block_products_of() {
  const std::string item = name<Left>() + "*" + name<Right>();
  report_products<C>(
      item, [](const product_shape& shape, kind of, std::uint64_t seed, auto c, const factors& f) {
        const auto a = tensor<float, Left>(shape.rows, shape.depth, of, seed + 100);
        const auto b = tensor<float, Right>(shape.depth, shape.cols, kind::ordinary, seed / 2 + 200);
        const auto transposed_b = tensor<float, Left>(shape.cols, shape.depth, kind::spread, seed / 3 + 300);
        if (seed % 3 == 0)
          narrow::gemm(a, narrow::transposed(transposed_b), c, f.alpha, f.beta);
        else
          narrow::gemm(a, b, c, f.alpha, f.beta);
      });
}
template <class Format, class T, class C> void block_times_numbers() {
  const std::string item = name<Format>() + "*" + name<T>();
  report_products<C>(
      item, [](const product_shape& shape, kind of, std::uint64_t seed, auto c, const factors& f) {
        if (seed % 2 == 0) {
          const auto a = tensor<T, Format>(shape.rows, shape.depth, of, seed + 100);
          const matrix<T> b(shape.depth, shape.cols, layout_of_b(seed), kind::ordinary, seed + 200);
          if (shape.cols == 1 && c.row_stride == 1)
            narrow::gemv(a, std::span(b.memory).first(static_cast<std::size_t>(shape.depth)),
                         std::span(c.data, static_cast<std::size_t>(shape.rows)), f.alpha, f.beta);
          else
            narrow::gemm(a, b.view, c, f.alpha, f.beta);
        } else {
          const auto b = tensor<T, Format>(shape.depth, shape.cols, of, seed + 100);
          const matrix<T> a(shape.rows, shape.depth, layout_of_a(seed), kind::ordinary, seed + 200);
          narrow::gemm(a.view, b, c, f.alpha, f.beta);
        }
      });
}

}  // namespace bits

void bits::block_products() {
  using namespace narrow;
  for_each_type<block_formats>([]<class Kind>() {
    for_each_type<granularities>([]<class Block>() {
      using left = typename Kind::template with<Block>;
      block_products_of<left, typename Kind::template with<per_column>, float>();
    });
    block_products_of<Kind, Kind, fp16>();
    block_times_numbers<Kind, float, float>();
    block_times_numbers<typename Kind::template with<tile<24, 24>>, fp16, bf16>();
  });
  block_products_of<bfp<8, tile<1, 32>>, bfp<8, tile<32, 1>>, float>();
  block_products_of<mx<fp8_e5m2>, mx<fp8_e4m3fn, tile<32, 1>>, float>();
  block_products_of<mx<narrow::int8>, mx<narrow::int8, tile<32, 1>>, bf16>();
  block_products_of<bfp<4>, bfp<12, per_row>, float>();
  block_products_of<bfp<8, per_row, rounding::stochastic>, narrow::int8,
                    floating<5, 10, specials::ieee, rounding::stochastic>>();
}
