// expect: narrow::tile<Rows, Cols>: both must be at least 1
#include <narrow/block/format.hpp>

[[maybe_unused]] narrow::bfp<8, narrow::tile<1, 1>> smallest = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::bfp<8, narrow::tile<0, 4>> no_rows = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::bfp<8, narrow::tile<4, 0>> no_columns = 1;
#elif OFFENCE == 3
[[maybe_unused]] narrow::basic_int8<narrow::tile<-1, 4>> negative = 1;
#endif
