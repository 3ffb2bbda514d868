// A program without exceptions: without an argument all works; with the number of an offence it commits that.
#include <cstdlib>

#include "unit.hpp"

int main(int count, char** arguments) {
  if (count == 1) return plain::failures();
  plain::commit(static_cast<offence>(std::atoi(arguments[1])));
  return 0;
}
