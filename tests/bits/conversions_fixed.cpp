// Conversions from every fixed format to every other format.
#include "conversions.hpp"

void bits::conversions_from_fixed() {
  for_each_type<test::fixed_formats>([]<class From>() { convert_to_all<From>(); });
}
