// The instruction sets that this processor has, one after another.
#pragma once

#include <narrow/kernel/isa.hpp>
#include <string>

namespace test {

/// check(name) with each instruction set in use; afterwards the one before is.
template <class Check> void for_each_isa(Check check) {
  const std::string before(narrow::isa_name());
  for (std::size_t i = 0; i < narrow::kernel::dispatch::instance().available(); ++i) {
    narrow::use_isa(narrow::kernel::dispatch::names[i]);
    check(std::string(narrow::isa_name()));
  }
  narrow::use_isa(before);
}

}  // namespace test
