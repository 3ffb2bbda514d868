#include "tensor/parallel.hpp"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <iostream>
#include <thread>
#include <vector>

namespace narrow_train {

int available_processors() {
#ifdef __linux__
  // The set of the calling thread, and so of the program where nobody changed its own; of any size.
  for (std::size_t sets = 1; sets <= 64; sets *= 2) {
    std::vector<cpu_set_t> allowed(sets);
    const std::size_t bytes = sets * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, allowed.data()) == 0)
      return std::max(CPU_COUNT_S(bytes, allowed.data()), 1);
  }
#endif
  const unsigned all = std::thread::hardware_concurrency();  // 0 where it is not known
  return all > 0 ? static_cast<int>(all) : 1;
}

void use_threads(int count) {
  const int most = std::min(count, available_processors());
  use_product_threads(most);
  narrow::set_num_threads(most);
}

void tell_of_fewer_threads(std::string_view program, int asked) {
  const int most = available_processors();
  if (asked > most)
    std::cerr << program << ": --threads " << asked
              << " is more than the processors that this process may use: " << most
              << (most == 1 ? " thread\n" : " threads\n");
}

}  // namespace narrow_train
