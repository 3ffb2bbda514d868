// Products of fixed-point formats, which are exact until they are rounded once.
#include "products.hpp"

namespace bits {

/// Formats that are known at run time alone.
void products_of_dynamic_fixed() {
  constexpr narrow::fixed_format formats[] = {{8, 4}, {7, 6}, {12, 6}, {16, 8}, {24, 12}, {32, 16}};
  for (std::size_t i = 0; i < std::size(formats); ++i) {
    const narrow::fixed_format of_a = formats[i], of_b = formats[(i * 5 + 1) % std::size(formats)];
    const auto multiply = [&](const product_shape& shape, kind of, std::uint64_t seed, auto c,
                              const factors& f) {
      const auto order =
          seed % 2 == 0 ? narrow::storage_order::row_major : narrow::storage_order::column_major;
      narrow::fixed_tensor a(0, 0, of_a, order), b(0, 0, of_b), to(shape.rows, shape.cols, {16, 5}, order);
      a.assign(matrix<double>(shape.rows, shape.depth, layout::by_rows, of, seed).view);
      b.assign(matrix<double>(shape.depth, shape.cols, layout::by_columns, of, seed + 7).view);
      narrow::gemm(a.view(), b.view(), c, f.alpha, f.beta);
      to.multiply(a.view(), b.view(), f.alpha, f.beta, narrow::rounding::stochastic(seed));
      for (index row = 0; row < c.rows; ++row)
        for (index col = 0; col < c.cols; ++col) c(row, col) = c(row, col) + static_cast<float>(to(row, col));
    };
    const auto text = [](const narrow::fixed_format& f) {
      return std::to_string(f.wl) + "." + std::to_string(f.fl);
    };
    report_products<float>("dynamic_fixed" + text(of_a) + "*" + text(of_b), multiply);
    report_products<narrow::fixed<16, 8>>("dynamic_fixed" + text(of_a) + "*" + text(of_b), multiply);
  }
}

}  // namespace bits

void bits::fixed_products() {
  using namespace narrow;
  for_each_type<test::fixed_formats>([]<class T>() {
    products_of<T, T, T>();
    products_of<T, T, float>();
    product_by_threads<T, T>();
  });
  products_of<fixed<24, 12>, fixed<24, 12>, double>();
  products_of<fixed<8, 4>, fixed<16, 8>, fixed<12, 6>>();
  products_of<fixed<8, 4, rounding::stochastic>, fixed<8, 4>, fixed<8, 4, rounding::stochastic>>();
  products_of<fixed<16, 8>, fixed<16, 8>, fixed<16, 8, rounding::downward, overflow::wrap>>();
  products_of_dynamic_fixed();
}
