// Products of matrices of numbers.
#pragma once

#include "bits.hpp"

namespace bits {

struct product_shape {
  index rows, depth, cols;
  std::string text() const {
    return std::to_string(rows) + "x" + std::to_string(depth) + "x" + std::to_string(cols);
  }
};
inline constexpr product_shape product_shapes[] = {{1, 1, 1},  {1, 4100, 1}, {1, 65, 9},   {33, 130, 1},
                                                   {3, 7, 5},  {16, 16, 16}, {31, 33, 29}, {5, 1, 70},
                                                   {13, 0, 6}, {2, 300, 67}, {64, 64, 64}, {70, 300, 67}};
struct factors {
  double alpha, beta;
};
inline constexpr factors all_factors[] = {{1, 0}, {1, 0}, {0.5, 1}, {-1.25, 0.75}, {3, 0}, {1, 1}};

/// The kinds of numbers whose products do not all overflow.
inline constexpr kind product_kinds[] = {kind::ordinary, kind::short_, kind::special};

/// multiply(shape, seed, c, alpha, beta) for every shape, with C in every layout.
template <class C, class Multiply> void report_products(const std::string& item, const Multiply& multiply) {
  for (const product_shape& shape : product_shapes)
    report("product", item + "->" + name<C>() + "/" + shape.text(), [&](digest& hash) {
      std::uint64_t seed = 0;
      for (const kind of : product_kinds)
        for (const layout lies : all_layouts) {
          ++seed;
          const factors& f = all_factors[seed % std::size(all_factors)];
          matrix<C> c(shape.rows, shape.cols, lies, kind::ordinary, seed);
          multiply(shape, of, seed, c.view, f);
          hash.values(c.view);
        }
    });
}

/// The layouts of A and B, which change with the seed.
inline layout layout_of_a(std::uint64_t seed) { return all_layouts[seed * 3 % std::size(all_layouts)]; }
inline layout layout_of_b(std::uint64_t seed) { return all_layouts[(seed / 2 + 1) % std::size(all_layouts)]; }

template <class A, class B, class C> void products_of() {
  report_products<C>(name<A>() + "*" + name<B>(), [](const product_shape& shape, kind of, std::uint64_t seed,
                                                     auto c, const factors& f) {
    const matrix<A> a(shape.rows, shape.depth, layout_of_a(seed), of, seed + 100);
    const matrix<B> b(shape.depth, shape.cols, layout_of_b(seed), kind::ordinary, seed + 200);
    if (shape.cols == 1 && c.row_stride == 1)
      narrow::gemv(a.view, std::span(b.memory).first(static_cast<std::size_t>(shape.depth)),
                   std::span(c.data, static_cast<std::size_t>(shape.rows)), f.alpha, f.beta);
    else
      narrow::gemm(a.view, b.view, c, f.alpha, f.beta);
  });
}

/// A product large enough for several threads.
template <class A, class C> void product_by_threads() {
  report("product", name<A>() + "->" + name<C>() + "/two_threads", [](digest& hash) {
    const matrix<A> a(150, 90, layout::by_rows, kind::ordinary, 1),
        b(90, 140, layout::by_columns, kind::ordinary, 2);
    matrix<C> c(150, 140, layout::by_rows);
    narrow::set_num_threads(2);
    narrow::gemm(a.view, b.view, c.view);
    narrow::set_num_threads(1);
    hash.values(c.view);
  });
}

}  // namespace bits
