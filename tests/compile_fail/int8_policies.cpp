// expect: narrow::basic_int8: (Block must be per_tensor|Round must be a rounding policy)
#include <narrow/block/format.hpp>

[[maybe_unused]] narrow::basic_int8<narrow::per_column, narrow::rounding::toward_zero> short_of = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::basic_int8<int> block = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::basic_int8<narrow::per_row, int> rounding = 1;
#endif
