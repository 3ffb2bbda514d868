// Products of floating formats: those that training uses at all shapes, the others at one.
#include "gemm.hpp"
#include "register.hpp"

namespace narrow_bench {

void register_floating_products(extent which) {
  for_each_type<floating_formats>([which]<class T>() {
    if constexpr (is_among<T, training_formats>)
      register_products<T>(name_of<T>(), squares(which));
    else
      register_products<T>(name_of<T>(), {{"gemm", "256", 256, 256, 256}});
  });
  for_each_type<std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn>>(
      []<class T>() { register_products<T>(name_of<T>(), skinny_shapes()); });
  for_each_type<std::tuple<narrow::fp16, narrow::bf16>>(
      []<class T>() { register_products<T>(name_of<T>(), network_shapes()); });
}

}  // namespace narrow_bench
