// expect: (use of deleted function|overload resolution selected deleted operator)
#include <narrow/format/catalog.hpp>
#include <narrow/format/operators.hpp>

constexpr narrow::fp16 a = 1;
constexpr narrow::bf16 b = 1;
constexpr narrow::fixed<8, 4> c = 1;
[[maybe_unused]] auto same = a + narrow::fp16(b);
#if OFFENCE == 1
[[maybe_unused]] auto mixed = a + b;
#elif OFFENCE == 2
[[maybe_unused]] auto mixed = a * c;
#elif OFFENCE == 3
[[maybe_unused]] bool mixed = a < b;
#elif OFFENCE == 4
[[maybe_unused]] bool mixed = a == c;
#endif
