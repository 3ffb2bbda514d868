// Passes a number to another object file: see mixed.cmake.
#include <narrow/format/catalog.hpp>

narrow::fp16 twice(narrow::fp16 x);

int main() { return twice(narrow::fp16(2)) == narrow::fp16(4) ? 0 : 1; }
