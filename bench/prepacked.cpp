// Weights that meet few inputs: packed once, beside the same product that packs them each time.
#include "gemm.hpp"
#include "register.hpp"

namespace narrow_bench {

namespace {

constexpr Eigen::Index side = 1024;

/// W X for W (side x side) and so many columns.
template <class T> void register_prepacked(Eigen::Index columns) {
  register_row("prepacked/" + name_of<T>() + "/" + std::to_string(columns), [=] {
    const auto m = std::make_shared<matrices<T>>(side, side, columns);
    using weights = decltype(narrow::prepacked(m->a));
    const auto packed = std::make_shared<const weights>(narrow::prepacked(m->a));
    return row{{"FLOP/s", m->flop()},
               [m, packed] { m->c.noalias() = *packed * m->b; },
               {{"x_plain", [m] { m->c.noalias() = m->a * m->b; }},
                {"x_float", [m] { m->wide_c.noalias() = m->wide_a * m->wide_b; }}},
               compute_limit(arithmetic_of<T>()),
               [m] { return product_error(*m, demand::rounded_once); }};
  });
}

}  // namespace

void register_prepacked_products() {
  using formats = std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, narrow::fixed<8, 4>,
                             narrow::int8, narrow::bfp<8>>;
  for_each_type<formats>([]<class T>() {
    for (const Eigen::Index columns : {4, 16, 64}) register_prepacked<T>(columns);
  });
}

}  // namespace narrow_bench
