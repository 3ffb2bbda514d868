// Views of expressions, of block formats and fixed point chosen at run time.
#include "generated_views.hpp"

TEST_CASE("Generated views, block formats") {
  using formats =
      test::some_of<std::tuple<narrow::bfp<8>, narrow::bfp<12, narrow::per_row>,
                               narrow::bfp<4, narrow::per_column>, narrow::bfp<16, narrow::tile<2, 3>>,
                               narrow::int8, narrow::mx<narrow::fp8_e4m3fn>, narrow::dynamic_fixed>,
                    0>;
  test::check_generated_views_of<formats, std::tuple_size_v<narrow::all_formats> + 3>();
}
