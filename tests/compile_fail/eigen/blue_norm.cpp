// expect: narrow: blueNorm\(\) would sum in the narrow type; use stableNorm\(\)
#include <narrow/eigen.hpp>

template <class S> using column = Eigen::Matrix<S, Eigen::Dynamic, 1>;

float use(const column<narrow::fp16>& half, const column<narrow::bf16>& brain,
          const column<narrow::fixed<16, 8>>& fixed) {
#if OFFENCE == 1
  return half.blueNorm();
#elif OFFENCE == 2
  return brain.blueNorm();
#elif OFFENCE == 3
  return fixed.blueNorm();
#endif
  return float(half.hypotNorm()) + float(brain.hypotNorm()) + float(fixed.hypotNorm());
}
