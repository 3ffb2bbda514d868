// What keeps a kernel's floating-point results its own: the control register while it runs, and the
// compiler's freedom.
#pragma once

#include <cstdint>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace narrow::detail {

/// While alive: round to nearest, subnormals kept, no traps. Afterwards the caller's control bits are back,
/// and the exception flags that the kernel raised are dropped.
class float_environment {
 public:
  float_environment() : saved_(read()) {
    if (saved_ != plain) write(plain);
  }
  ~float_environment() {
    if (read() != saved_) write(saved_);
  }
  float_environment(const float_environment&) = delete;
  float_environment& operator=(const float_environment&) = delete;

 private:
#if defined(__SSE__)
  using word = std::uint32_t;
  static constexpr word plain = 0x1f80;  // MXCSR: the six exceptions masked (bits 7 to 12), all else 0
  static word read() { return _mm_getcsr(); }
  static void write(word control) { _mm_setcsr(control); }
#elif defined(__aarch64__)
  using word = std::uint64_t;
  static constexpr word plain = 0;  // FPCR: no flushing, round to nearest, no traps
  static word read() {
    word control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void write(word control) { asm volatile("msr fpcr, %0" : : "r"(control)); }
#else
#error \
    "narrow: the floating-point control register of this processor is not known; x86-64 and AArch64 are supported"
#endif
  word saved_;
};

}  // namespace narrow::detail

// Code between these two means what it says under -ffast-math and -march=native: no reassociation, no
// contraction to fused multiply-add, NaN and infinity as they are. So source files built with different flags
// agree, whichever copy of an inline kernel the linker keeps. Entry points carry NARROW_KERNEL, so that
// nothing moves out of the region.
#define NARROW_KERNEL [[gnu::noinline]]
#if defined(__clang__)
#define NARROW_STRICT_BEGIN \
  _Pragma("float_control(push)") _Pragma("float_control(precise, on)") _Pragma("clang fp contract(off)")
#define NARROW_STRICT_END _Pragma("float_control(pop)")
#else
#define NARROW_STRICT_BEGIN \
  _Pragma("GCC push_options") _Pragma("GCC optimize(\"no-fast-math\", \"fp-contract=off\")")
#define NARROW_STRICT_END _Pragma("GCC pop_options")
#endif

namespace narrow::detail {

/// A product that is not to be fused with the addition that follows: under -ffp-contract=fast, which
/// -ffast-math sets, clang's code generator contracts whatever the pragmas of a strict region say.
template <class T> inline T uncontracted(T product) {
#if defined(__clang__) && defined(__FMA__)
  asm("" : "+x"(product));
#elif defined(__clang__) && defined(__aarch64__)
  asm("" : "+w"(product));
#endif
  return product;
}

}  // namespace narrow::detail
