// Views of expressions, of floating formats.
#include "generated_views.hpp"

TEST_CASE("Generated views, floating formats") {
  test::check_generated_views_of<test::some_of<narrow::all_formats, 0>, 0>();
}
