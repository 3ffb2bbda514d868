// The control register of the floating-point unit, for tests that disturb it on purpose or must not be
// disturbed: linking with -ffast-math sets flush-to-zero for the whole program.
#pragma once

#include <cfenv>
#include <cstdint>
#include <optional>
#include <ostream>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace test {

#if defined(__x86_64__)
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
inline constexpr control_word flush_halves_to_zero = 1 << 19, flush_to_zero = 1 << 24;     // FZ16, FZ
inline constexpr control_word default_nan = 1 << 25, alternative_half = 1 << 26;           // DN, AHP
inline constexpr control_word flushing_modes[] = {
    0, flush_to_zero, flush_halves_to_zero | default_nan | alternative_half,
    flush_to_zero | flush_halves_to_zero | flush_inputs_to_zero | alternate_handling};
inline constexpr control_word round_up = 1 << 22, round_down = 2 << 22, round_to_zero = 3 << 22;
inline constexpr control_word exception_flags = control_word{0x9f} << 32;
inline constexpr control_word plain_control = 0;  // nearest-even, subnormals kept
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
