// Conversions from every floating format to every other format.
#include "conversions.hpp"

void bits::conversions_from_floating() {
  for_each_type<test::floating_formats>([]<class From>() { convert_to_all<From>(); });
}
