// Products of MX matrices, whose blocks lie along the summed dimension or across it.
#include "gemm.hpp"
#include "register.hpp"

namespace narrow_bench {

namespace {

/// A product of another format, of the same shape.
template <class T, class Right> rival other_product(const char* counter, Eigen::Index n) {
  const auto m = std::make_shared<matrices<T, Right>>(n, n, n);
  return {counter, [m] { m->c.noalias() = m->a * m->b; }};
}

template <class T, class Right> void register_mx(const char* blocks, Eigen::Index n) {
  register_row("mx/" + name_of<T>() + "/" + blocks + "/" + std::to_string(n), [n] {
    using tiles = narrow::bfp<8, narrow::tile<32, 32>>;
    const auto m = std::make_shared<matrices<T, Right>>(n, n, n);
    return row{{"FLOP/s", m->flop()},
               [m] { m->c.noalias() = m->a * m->b; },
               {{"x_float", [m] { m->wide_c.noalias() = m->wide_a * m->wide_b; }},
                other_product<tiles, tiles>("x_bfp8", n),
                other_product<narrow::bf16, narrow::bf16>("x_bf16", n)},
               compute_limit(arithmetic_of<T>()),
               [m] { return product_error(*m, demand::rounded_once); }};
  });
}

}  // namespace

void register_mx_products() {
  using elements = std::tuple<narrow::int8, narrow::fp8_e4m3fn, narrow::fp8_e5m2, narrow::fp6_e2m3,
                              narrow::fp6_e3m2, narrow::fp4_e2m1>;
  for_each_type<elements>([]<class E>() {
    using across = narrow::mx<E>;
    using along = typename across::template with<narrow::tile<32, 1>>;
    for (const Eigen::Index n : {64, 256, 1024}) {
      register_mx<across, along>("along", n);
      register_mx<across, across>("across", n);
    }
  });
}

}  // namespace narrow_bench
