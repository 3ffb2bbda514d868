// * and / of the floating formats against the oracle.
#include "arithmetic.hpp"

TEMPLATE_LIST_TEST_CASE("* and / give the exact result rounded once in every mode", "[round][arithmetic]",
                        test::floating_formats) {
  test::check_operations<TestType, test::times, test::over>();
}
