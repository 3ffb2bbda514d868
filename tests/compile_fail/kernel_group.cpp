// expect: float_sum_kernels
#include <narrow/narrow.hpp>

namespace narrow::inline NARROW_ABI::kernel {

inline float sum(const void*, index) { return 0; }

/// Sums of fp32, fp16 and bf16 need each other.
struct some_sums {
  template <class Table> static constexpr void offer(Table& table) {
#if OFFENCE == 1
    NARROW_OFFER(sum_floats, {sum, sum});
#else
    NARROW_OFFER(sum_floats, {sum, sum, sum});
#endif
  }
};

every_kernel offered() {
  every_kernel table;
  some_sums::offer(table);
  return table;
}

}  // namespace narrow::inline NARROW_ABI::kernel
