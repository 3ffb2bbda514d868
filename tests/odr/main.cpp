// Prints what UNITS computed, which must be the same for each of them.
#include <cinttypes>
#include <cstdio>
#include <iterator>

#include "results.hpp"

odr::results plain_unit();
odr::results fast_unit();
odr::results linked_unit();

int main() {
  constexpr odr::results (*units[])() = {UNITS};
  const odr::results first = units[0]();
  int differ = 0;
  for (std::size_t k = std::size(units) > 1 ? 1 : 0; k < std::size(units); ++k) {  // one alone is asked twice
    const odr::results other = units[k]();
    if (other.size() != first.size()) return std::puts("the units computed different things"), 1;
    for (std::size_t i = 0; i < first.size(); ++i)
      if (first[i] != other[i]) {
        std::printf("the units differ: %s\n", first[i].name.c_str());
        ++differ;
      }
  }
  for (const auto& [name, hash] : first) std::printf("%016" PRIx64 " %s\n", hash, name.c_str());
  return differ == 0 ? 0 : 1;
}
