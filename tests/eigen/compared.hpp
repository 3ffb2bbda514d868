// What tests compare on every instruction set.
#pragma once

#include <cstddef>

#include "catch.hpp"
#include "every_isa.hpp"

namespace test {

/// How many numbers check(name) has compared with all instruction sets, each in use in turn. It returns how
/// many were `compared` and how many of these were `different`, which none may be.
template <class Check> std::ptrdiff_t compared_on_every_isa(const Check& check) {
  std::ptrdiff_t compared = 0;
  for_each_isa([&](const std::string& isa) {
    INFO(isa);
    const auto all = check(isa);
    CHECK(all.different == 0);
    compared += all.compared;
  });
  return compared;
}

}  // namespace test
