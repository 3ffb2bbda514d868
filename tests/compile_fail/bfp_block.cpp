// expect: narrow::bfp: Block must be per_tensor, per_row, per_column or tile<Rows, Cols>
#include <narrow/block/format.hpp>

[[maybe_unused]] narrow::bfp<8, narrow::tile<24, 24>> tiled = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::bfp<8, int> number = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::bfp<8, narrow::rounding::upward> rounding = 1;
#elif OFFENCE == 3
struct half_a_granularity {
  static constexpr std::ptrdiff_t tile_rows(std::ptrdiff_t) { return 1; }
};
[[maybe_unused]] narrow::bfp<8, half_a_granularity> half = 1;
#endif
