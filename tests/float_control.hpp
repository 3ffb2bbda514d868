// The control register of the floating-point unit, for tests that disturb it on purpose or must not be
// disturbed: linking with -ffast-math sets flush-to-zero for the whole program.
#pragma once

#include <cfenv>
#include <cstdint>

#include <xmmintrin.h>

namespace test {

inline constexpr std::uint32_t flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
inline constexpr std::uint32_t round_down = 0x2000, round_up = 0x4000, round_to_zero = 0x6000;
inline constexpr std::uint32_t plain_control =
    0x1f80;  // all exceptions masked, nearest-even, subnormals kept

/// Sets MXCSR while alive.
class float_control {
 public:
  explicit float_control(std::uint32_t control) : saved_(_mm_getcsr()) { _mm_setcsr(control); }
  ~float_control() { _mm_setcsr(saved_); }
  float_control(const float_control&) = delete;
  float_control& operator=(const float_control&) = delete;

 private:
  std::uint32_t saved_;
};

}  // namespace test
