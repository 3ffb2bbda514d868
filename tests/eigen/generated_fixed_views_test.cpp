// Views of expressions, of fixed-point formats.
#include "generated_views.hpp"

TEST_CASE("Generated views, fixed-point formats") {
  using formats =
      test::some_of<std::tuple<narrow::fixed<8, 4>, narrow::fixed<16, 8>, narrow::fixed<28, 14>>, 1>;
  test::check_generated_views_of<formats, std::tuple_size_v<narrow::all_formats>>();
}
