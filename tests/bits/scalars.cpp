// Arithmetic of single numbers, which no instruction set changes.
#include "bits.hpp"

namespace bits {

template <class T> void arithmetic_of() {
  std::vector<T> numbers;
  for (const kind of : all_kinds) {
    const auto some = array<T>(40, of, 3 + static_cast<std::uint64_t>(of));
    numbers.insert(numbers.end(), some.begin(), some.end());
  }
  narrow::use_isa("portable");
  narrow::seed(99);
  digest hash;
  for (const T a : numbers) {
    for (const T b : numbers) {
      for (const T c : {a + b, a - b, a * b, a / b}) hash.value(c);
      hash.bits_of(a < b);
      hash.bits_of(a == b);
    }
    hash.value(sqrt(a));
    hash.value(fma(a, numbers[7], numbers[11]));
    hash.value(abs(a));
    hash.value(a * 3);
    hash.value(a + 0.5f);
    hash.value(a * 0.3);
  }
  std::printf("scalars %s/arithmetic - %016llx\n", name<T>().c_str(),
              static_cast<unsigned long long>(hash.result()));
}

template <class T> void functions_of() {
  digest hash;
  for (const kind of : all_kinds)
    for (const T x : array<T>(100, of, 21 + static_cast<std::uint64_t>(of)))
      for (const T y : {exp(x), log(x), tanh(x), sin(x), cos(x), pow(x, T(2)), min(x, T(1)), max(x, T(1))})
        hash.value(y);
  std::ostringstream text;
  text << T(1.5) << ' ' << std::numeric_limits<T>::max() << ' ' << std::numeric_limits<T>::min();
  hash.text(text.str());
  std::printf("scalars %s/functions - %016llx\n", name<T>().c_str(),
              static_cast<unsigned long long>(hash.result()));
}

}  // namespace bits

void bits::scalars_of_all_formats() {
  for_each_type<scalars>([]<class T>() {
    arithmetic_of<T>();
    functions_of<T>();
  });
  for_each_type<std::tuple<narrow::fp16, narrow::fp8_e4m3fn, narrow::fixed<16, 8>>>(
      []<class T>() { test::for_each_policy<T>([]<class Policied>() { arithmetic_of<Policied>(); }); });
}
