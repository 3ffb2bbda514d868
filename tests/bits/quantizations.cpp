// Floats quantised to every block format.
#include "quantizations.hpp"

void bits::quantizations() {
  using namespace narrow::rounding;
  for_each_format<block_formats>([]<class Format>() {
    for_each_type<std::tuple<nearest_even, toward_zero, stochastic>>(
        []<class Round>() { quantize_from<Format, float, Round>(); });
  });
  // Every policy and every rounding mode, where they differ.
  for_each_type<std::tuple<narrow::bfp<3>, narrow::bfp<9, narrow::per_row>,
                           narrow::basic_int8<narrow::per_column>, narrow::mx<narrow::fp8_e4m3fn>>>(
      []<class Format>() {
        for_each_type<test::rounding_modes>([]<class Round>() {
          quantize_from<typename Format::template with<typename Format::block_type, Round>, float, Round>();
        });
        write_parts<Format>();
      });
  for_each_type<std::tuple<narrow::exponent::max, narrow::exponent::min<>, narrow::exponent::min<1>,
                           narrow::exponent::avg<>, narrow::exponent::avg<2>>>([]<class Exponent>() {
    for_each_type<granularities>([]<class Block>() {
      using format = narrow::bfp<8, Block, nearest_even, Exponent>;
      quantize_from<format, float, nearest_even>();
      quantize_from<format, narrow::bf16, stochastic>();
    });
    write_parts<narrow::bfp<6, narrow::tile<3, 5>, nearest_even, Exponent>>();
  });
}
