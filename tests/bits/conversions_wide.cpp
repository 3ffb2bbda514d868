// Conversions from float and double, and into the built-in types.
#include "conversions.hpp"

void bits::conversions_from_wide() {
  for_each_type<scalars>([]<class To>() {
    convert_by_all<float, To>();
    convert_by_all<double, To>();
  });
  convert_by_all<std::int32_t, narrow::fp16>();
  convert_by_all<std::int32_t, narrow::fixed<16, 8>>();
  for_each_type<scalars>([]<class From>() { convert_to_builtin<From>(); });
  // Policies of the type itself.
  const auto from = to_convert<float>();
  for_each_type<std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, narrow::fixed<8, 4>>>(
      [&]<class T>() {
        test::for_each_policy<T>(
            [&]<class To>() { convert_by<float, To, narrow::rounding::nearest_even>(from); });
      });
}
