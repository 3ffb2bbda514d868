// A program of source files with exceptions and without: errors are thrown in all of them, whichever copies
// of the functions that they share the linker kept.
#include <narrow/narrow.hpp>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "unit.hpp"

namespace {

int failed = 0, cases = 0;
void expect(bool right, const char* what) {
  ++cases;
  if (right) return;
  std::fprintf(stderr, "%s\n", what);
  ++failed;
}

template <class Exception> void expect_thrown(void (*commit)(offence), offence which) {
  try {
    commit(which);
  } catch (const Exception& error) {
    return expect(std::string(error.what()).find("narrow") != std::string::npos, error.what());
  } catch (const std::exception& error) {
    return expect(false, error.what());
  }
  expect(false, names_of_offences[static_cast<int>(which)]);
}

void check_errors(void (*commit)(offence)) {
  expect_thrown<std::invalid_argument>(commit, offence::argument);
  expect_thrown<std::invalid_argument>(commit, offence::shape);
  expect_thrown<std::length_error>(commit, offence::length);
  expect_thrown<std::runtime_error>(commit, offence::state);
  expect_thrown<std::invalid_argument>(commit, offence::instruction_set);
  expect_thrown<std::invalid_argument>(commit, offence::threads);
  expect_thrown<std::logic_error>(commit, offence::step);
}

/// What a part throws on any thread arrives here, and the threads can be used again.
void check_threads() {
  narrow::set_num_threads(4);
  for (int round = 0; round < 20; ++round) {
    bool arrived = false;
    try {
      narrow::parallel_for(50, [](std::ptrdiff_t i) {
        if (i % 7 == 3) throw std::string("part");
      });
    } catch (const std::string& thrown) {
      arrived = thrown == "part";
    }
    expect(arrived, "what a part threw");
  }
  narrow::set_num_threads(1);
}

/// Where the environment names an instruction set that there is not, each computation says so.
void check_isa() {
  const std::vector<narrow::bf16> ones(8, narrow::bf16(1));
  for (int round = 0; round < 3; ++round) {
    bool thrown = false;
    try {
      static_cast<void>(narrow::dot(ones, ones));
    } catch (const std::invalid_argument&) {
      thrown = true;
    }
    expect(thrown, "NARROW_ISA");
  }
}

}  // namespace

int main() {
  const char* const isa = std::getenv("NARROW_ISA");
  if (isa != nullptr && std::string(isa) == "abacus") {
    check_isa();
    return failed;
  }
  expect(plain::failures() == 0, "without exceptions");
  expect(excepting::failures() == 0, "with exceptions");
  check_errors(plain::commit);
  check_errors(excepting::commit);
  check_threads();
  std::printf("%d cases, %d failed\n", cases, failed);
  return failed;
}
