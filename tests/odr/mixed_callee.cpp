// Takes a number from another object file: see mixed.cmake.
#include <narrow/format/catalog.hpp>

narrow::fp16 twice(narrow::fp16 x);

narrow::fp16 twice(narrow::fp16 x) { return x + x; }
