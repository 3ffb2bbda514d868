// The control register of the floating-point unit, for tests that disturb it on purpose or must not be
// disturbed: linking with -ffast-math sets flush-to-zero for the whole program.
#pragma once

#include <cfenv>
#include <cstdint>
#include <optional>
#include <ostream>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace test {

#if defined(__SSE__)
using control_word = std::uint32_t;  // MXCSR

inline control_word read_control() { return _mm_getcsr(); }
inline void write_control(control_word control) { _mm_setcsr(control); }

inline constexpr control_word flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
inline constexpr control_word flushing_modes[] = {0, flush_to_zero, denormals_are_zero,
                                                  flush_to_zero | denormals_are_zero};
inline constexpr control_word round_down = 0x2000, round_up = 0x4000, round_to_zero = 0x6000;
inline constexpr control_word exception_flags = 0x3f;
inline constexpr control_word plain_control = 0x1f80;  // all exceptions masked, nearest-even, subnormals kept
#elif defined(__aarch64__)
using control_word = std::uint64_t;  // FPCR, and above its 32 bits those of FPSR

inline control_word read_control() {
  control_word control, status;
  asm volatile("mrs %0, fpcr" : "=r"(control) : : "memory");
  asm volatile("mrs %0, fpsr" : "=r"(status) : : "memory");
  return control | status << 32;
}
inline void write_control(control_word x) {
  asm volatile("msr fpcr, %0" : : "r"(x & 0xffff'ffff) : "memory");
  asm volatile("msr fpsr, %0" : : "r"(x >> 32) : "memory");
}

inline constexpr control_word flush_inputs_to_zero = 1 << 0, alternate_handling = 1 << 1;  // FIZ, AH
inline constexpr control_word denormals_are_zero = flush_inputs_to_zero;
inline constexpr control_word flush_halves_to_zero = 1 << 19, flush_to_zero = 1 << 24;  // FZ16, FZ
inline constexpr control_word default_nan = 1 << 25, alternative_half = 1 << 26;        // DN, AHP
inline constexpr control_word flushing_modes[] = {
    0, flush_to_zero, flush_halves_to_zero | default_nan | alternative_half,
    flush_to_zero | flush_halves_to_zero | flush_inputs_to_zero | alternate_handling};
inline constexpr control_word round_up = 1 << 22, round_down = 2 << 22, round_to_zero = 3 << 22;
inline constexpr control_word exception_flags = control_word{0x9f} << 32;
inline constexpr control_word plain_control = 0;  // nearest-even, subnormals kept
#elif defined(__ARM_FP)
using control_word = std::uint32_t;  // FPSCR

inline control_word read_control() {
  control_word control;
  asm volatile("vmrs %0, fpscr" : "=r"(control) : : "memory");
  return control;
}
inline void write_control(control_word control) {
  asm volatile("vmsr fpscr, %0" : : "r"(control) : "memory");
}

inline constexpr control_word flush_to_zero = 1 << 24, denormals_are_zero = flush_to_zero;  // FZ
inline constexpr control_word default_nan = 1 << 25, alternative_half = 1 << 26;            // DN, AHP
inline constexpr control_word flushing_modes[] = {0, flush_to_zero,
                                                  flush_to_zero | default_nan | alternative_half};
inline constexpr control_word round_up = 1 << 22, round_down = 2 << 22, round_to_zero = 3 << 22;
inline constexpr control_word exception_flags = 0xf800'009f;  // and the results of comparisons
inline constexpr control_word plain_control = 0;              // nearest-even, subnormals kept
#else
using control_word = std::uint64_t;  // the rounding mode of <cfenv>, and below its bits the exception flags

inline constexpr int mode_place = 32;
inline control_word read_control() {
  return control_word(std::fegetround()) << mode_place | control_word(std::fetestexcept(FE_ALL_EXCEPT));
}
inline void write_control(control_word control) {
  std::fesetround(static_cast<int>(control >> mode_place));
  std::feclearexcept(FE_ALL_EXCEPT & ~static_cast<int>(control));
  std::feraiseexcept(FE_ALL_EXCEPT & static_cast<int>(control));
}

inline constexpr control_word flush_to_zero = 0, denormals_are_zero = 0;  // <cfenv> cannot set these
inline constexpr control_word flushing_modes[] = {0};
inline constexpr control_word round_up = control_word{FE_UPWARD} << mode_place,
                              round_down = control_word{FE_DOWNWARD} << mode_place,
                              round_to_zero = control_word{FE_TOWARDZERO} << mode_place;
inline constexpr control_word exception_flags = (control_word{1} << mode_place) - 1;
inline constexpr control_word plain_control = 0;  // nearest-even
static_assert(FE_TONEAREST == 0);
#endif

/// Sets the register while alive.
class float_control {
 public:
  explicit float_control(control_word control) : saved_(read_control()) { write_control(control); }
  ~float_control() { write_control(saved_); }
  float_control(const float_control&) = delete;
  float_control& operator=(const float_control&) = delete;

 private:
  control_word saved_;
};

/// Runs computations as the program runs, or under a control word that they are to leave as it is. It is one
/// type for both, so that what is tested in the one way and in the other is compiled once.
class environment {
 public:
  environment() = default;
  explicit environment(control_word control) : control_(control) {}

  template <class Compute> void run(const Compute& compute) const {
    if (!control_) return compute();
    const float_control control(*control_);
    const control_word before = read_control();  // without bits that this processor has not
    compute();
    is_kept_ = is_kept_ && (read_control() & ~exception_flags) == (before & ~exception_flags);
  }
  bool is_kept() const { return is_kept_; }
  friend std::ostream& operator<<(std::ostream& to, const environment& x) {
    return to << "control word " << x.control_.value_or(plain_control);
  }

 private:
  std::optional<control_word> control_;
  mutable bool is_kept_ = true;
};
/// Those that differ in how floats are rounded or flushed.
template <class Use> void for_each_environment(const Use& use) {
  for (const control_word rounding : {control_word{0}, round_down, round_up, round_to_zero})
    for (const control_word flushing : flushing_modes) use(environment(plain_control | rounding | flushing));
}

}  // namespace test
