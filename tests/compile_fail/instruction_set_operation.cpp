// expect: must have instructions::(any_of|any_nan|load_lower|load_signed|load_fp16|to_int64), see
// simd/lanes.hpp
#include <bit>
#include <cstring>

#include <narrow/narrow.hpp>

#include "../kernel/plain_vectors.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel::incomplete {

// What a function of this name hides is lacking.
struct instructions : test::plain_instructions {
#if OFFENCE == 1
  static void any_of() {}
#elif OFFENCE == 2
  template <int Size> static void load_lower(const void*) {}
#elif OFFENCE == 3
  static void to_int64() {}
#elif OFFENCE == 4
  static void load_fp16() {}
#elif OFFENCE == 5
  static void any_nan() {}
#elif OFFENCE == 6
  template <int Size> static void load_signed(const void*) {}
#endif
};

#include <narrow/simd/lanes.inl>

#include <narrow/simd/vector_kernels.inl>

}  // namespace narrow::inline NARROW_ABI::kernel::incomplete

NARROW_STRICT_END
