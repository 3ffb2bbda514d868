// The instruction sets that this processor has, one after another.
#pragma once

#include <narrow/isa.hpp>
#include <string>

namespace test {

/// How many they are.
inline std::size_t isa_count() {
  std::size_t result = 0;
  for (std::size_t i = 0; i < narrow::kernel::instruction_set_count(); ++i)
    result += narrow::kernel::dispatch::instance().supports(i);
  return result;
}

/// check(name) with each instruction set in use; afterwards the one before is.
template <class Check> void for_each_isa(Check check) {
  const std::string before(narrow::isa_name());
  for (std::size_t i = 0; i < narrow::kernel::instruction_set_count(); ++i) {
    if (!narrow::kernel::dispatch::instance().supports(i)) continue;
    narrow::use_isa(narrow::kernel::dispatch::name_of(i));
    check(std::string(narrow::isa_name()));
  }
  narrow::use_isa(before);
}

}  // namespace test
