// What AVX-VNNI adds to AVX2.
#pragma once

#include "avx2.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c,avxvnni")

namespace narrow::inline NARROW_ABI::kernel::avx_vnni {

namespace plain = avx2;
inline __m256i add_quads(__m256i acc, __m256i a, __m256i b) { return _mm256_dpbusd_avx_epi32(acc, a, b); }
inline __m256i add_pairs(__m256i acc, __m256i a, __m256i b) { return _mm256_dpwssd_avx_epi32(acc, a, b); }

#include "vnni.inl"

struct kernels {
  template <class Table> static constexpr void offer(Table& table) { offer_vnni<6>(table); }
};

}  // namespace narrow::kernel::avx_vnni

NARROW_TARGET_END
