// What VNNI adds to AVX-512.
#pragma once

#include "avx512.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

namespace narrow::inline NARROW_ABI::kernel::avx512_vnni {

namespace plain = avx512;
inline __m512i add_quads(__m512i acc, __m512i a, __m512i b) { return _mm512_dpbusd_epi32(acc, a, b); }
inline __m512i add_pairs(__m512i acc, __m512i a, __m512i b) { return _mm512_dpwssd_epi32(acc, a, b); }

#include "vnni.inl"

struct kernels {
  template <class Table> static constexpr void offer(Table& table) { offer_vnni<14, 8>(table); }
};

}  // namespace narrow::kernel::avx512_vnni

NARROW_TARGET_END
