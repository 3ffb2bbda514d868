// Products of floating formats, with themselves and with each other.
#include "products.hpp"

void bits::floating_products() {
  using namespace narrow;
  for_each_type<test::floating_formats>([]<class T>() {
    products_of<T, T, T>();
    products_of<T, T, float>();
    product_by_threads<T, float>();
  });
  products_of<fp16, bf16, fp16>();
  products_of<float, bf16, float>();
  products_of<fp16, float, bf16>();
  products_of<fp8_e5m2, fp8_e4m3fn, fp16>();
  products_of<fp8_e4m3fn, fixed<8, 4>, float>();
  products_of<floating<5, 10, specials::ieee, rounding::stochastic>, fp16,
              floating<5, 10, specials::ieee, rounding::stochastic>>();
  products_of<floating<8, 7, specials::ieee, rounding::toward_zero, overflow::saturate>, bf16,
              floating<8, 7, specials::ieee, rounding::toward_zero, overflow::saturate>>();
}
