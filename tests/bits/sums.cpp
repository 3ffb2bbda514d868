// Sums, norms, means and inner products of ranges.
#include "bits.hpp"

namespace bits {

inline constexpr std::size_t lengths[] = {0, 1, 7, 64, 331, 4096, 5003};

template <class T> void sums_of() {
  report("sum", name<T>() + "/sum_mean_norm", [](digest& hash) {
    for (const kind of : all_kinds)
      for (const std::size_t n : lengths) {
        const auto x = array<T>(n, of, n + 5);
        hash.value(narrow::sum(x));
        if (n > 0) hash.value(narrow::mean(x));
        hash.value(narrow::norm(x));
      }
  });
}
template <class A, class B> void dots_of() {
  report("sum", name<A>() + "." + name<B>(), [](digest& hash) {
    for (const kind of : all_kinds)
      for (const std::size_t n : lengths)
        hash.value(narrow::dot(array<A>(n, of, n + 1), array<B>(n, kind::ordinary, n + 2)));
  });
}

}  // namespace bits

void bits::sums() {
  using namespace narrow;
  for_each_type<scalars>([]<class T>() {
    sums_of<T>();
    dots_of<T, T>();
  });
  dots_of<fp16, bf16>();
  dots_of<fp16, float>();
  dots_of<bf16, float>();
  dots_of<fp8_e5m2, fp8_e4m3fn>();
  dots_of<fixed<8, 4>, fixed<16, 8>>();
  dots_of<fixed<12, 6>, float>();
  dots_of<fp16, double>();
}
