// Products of fixed point and of block formats: integers times integers.
#include "gemm.hpp"
#include "register.hpp"

namespace narrow_bench {

void register_integer_products(extent which) {
  const auto shapes = squares(which);
  for_each_type<fixed_formats>([&]<class T>() { register_products<T>(name_of<T>(), shapes); });
  for_each_type<wide_fixed_formats>([&]<class T>() { register_products<T>(name_of<T>(), shapes); });
  for_each_type<block_formats>([&]<class T>() { register_products<T>(name_of<T>(), shapes); });
  for_each_type<std::tuple<narrow::fixed<8, 4>, narrow::int8, narrow::bfp<8>>>(
      []<class T>() { register_products<T>(name_of<T>(), skinny_shapes()); });
  register_products<narrow::int8>(name_of<narrow::int8>(), network_shapes());
}

}  // namespace narrow_bench
