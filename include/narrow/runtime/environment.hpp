// What keeps a kernel's floating-point results its own: the control register while it runs, and the
// compiler's freedom.
#pragma once

#include <bit>
#include <cstdint>
#if defined(__SSE__)
#include <xmmintrin.h>
#elif !defined(__aarch64__) && !defined(__ARM_FP)
#include <cfenv>
#endif

#include "../config.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// While alive: round to nearest, subnormals kept, no traps, or what a thread had. Afterwards the caller's
/// control bits are back, and the exception flags that the kernel raised are dropped. The register is only
/// written where something differs: reading it after that can take 100 ns (measured on an Intel Xeon with
/// AMX).
class float_environment {
 public:
  /// The control bits of a thread.
  struct control {
    std::uint64_t bits;
    friend bool operator==(const control&, const control&) = default;
  };
  static control present() { return {read() & ~flags}; }
  /// Whether this thread has the environment that kernels have.
  static bool is_usual() { return present().bits == plain; }

  float_environment() : float_environment(control{plain}) {}
  explicit float_environment(const control& wanted) : saved_(read()) {
    if ((saved_ & ~flags) != wanted.bits) write(static_cast<word>(wanted.bits));
  }
  ~float_environment() {
    if (read() != saved_) write(saved_);
  }
  float_environment(const float_environment&) = delete;
  float_environment& operator=(const float_environment&) = delete;

 private:
#if defined(__SSE__)
  using word = std::uint32_t;
  static constexpr word flags = 0x3f;    // MXCSR: of the six exceptions
  static constexpr word plain = 0x1f80;  // they are masked (bits 7 to 12), all else is 0
  static word read() { return _mm_getcsr(); }
  static void write(word control) { _mm_setcsr(control); }
#elif defined(__aarch64__)
  // FPCR, and above its 32 bits those of FPSR, the exception flags. All zero: no flushing (FZ, FZ16, FIZ),
  // round to nearest (RMode), NaNs and codes of fp16 as IEEE has them (DN, AH, AHP), no traps.
  using word = std::uint64_t;
  static constexpr word flags = ~word{0} << 32;
  static constexpr word plain = 0;
  static word read() {
    word control, status;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    asm volatile("mrs %0, fpsr" : "=r"(status));
    return control | status << 32;
  }
  static void write(word x) {
    const word control = x & 0xffff'ffff, status = x >> 32;
    asm volatile("msr fpcr, %0" : : "r"(control) : "memory");
    asm volatile("msr fpsr, %0" : : "r"(status) : "memory");
  }
#elif defined(__ARM_FP)
  // FPSCR, which is FPCR's bits and FPSR's in one word, and the results of comparisons.
  using word = std::uint32_t;
  static constexpr word flags = 0xf800'009f;
  static constexpr word plain = 0;
  static word read() {
    word control;
    asm volatile("vmrs %0, fpscr" : "=r"(control));
    return control;
  }
  static void write(word control) { asm volatile("vmsr fpscr, %0" : : "r"(control) : "memory"); }
#else
  // What <cfenv> knows of any processor: the rounding mode, and below it the exception flags. Those that
  // subnormals are flushed by, or traps, are not among it.
  using word = std::uint64_t;
  static constexpr int mode_place = 32;
  static constexpr word flags = (word{1} << mode_place) - 1;
  static constexpr word plain = word{FE_TONEAREST} << mode_place;
  static word read() {
    return static_cast<word>(std::fegetround()) << mode_place |
           static_cast<std::uint32_t>(std::fetestexcept(FE_ALL_EXCEPT));
  }
  static void write(word x) {
    std::fesetround(static_cast<int>(x >> mode_place));
    std::feclearexcept(FE_ALL_EXCEPT & ~static_cast<int>(x & flags));  // a kernel only raises some
  }
#endif
  word saved_;
};

}  // namespace narrow::detail

// Code between these two means what it says under -ffast-math and -march=native: no reassociation, no
// contraction to fused multiply-add, NaN and infinity as they are. So source files built with different flags
// agree, whichever copy of an inline kernel the linker keeps. Entry points carry NARROW_KERNEL, so that
// nothing moves out of the region.
#define NARROW_KERNEL [[gnu::noinline]]
#if defined(__clang__) && !defined(__SSE__)
// Such a clang may not know float_control (for AArch64 LLVM issue 55392): contraction stays off after the
// region, and what the pragma would keep out must not be there.
#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__
#error "narrow: for this processor clang cannot keep -ffast-math out of the kernels"
#endif
#if defined(__ARM_NEON) && !defined(__aarch64__)
#error \
    "narrow: NEON of 32 bits flushes subnormals, and clang computes vectors in it: compile with -mfpu=vfpv3-d16"
#endif
#define NARROW_QUIETLY(pragma)                                                               \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wignored-pragmas\"") \
      pragma _Pragma("clang diagnostic pop")
#define NARROW_STRICT_BEGIN                                                            \
  NARROW_QUIETLY(_Pragma("float_control(push)") _Pragma("float_control(precise, on)")) \
  _Pragma("clang fp contract(off)")
#define NARROW_STRICT_END NARROW_QUIETLY(_Pragma("float_control(pop)"))
#elif defined(__clang__)
#define NARROW_STRICT_BEGIN \
  _Pragma("float_control(push)") _Pragma("float_control(precise, on)") _Pragma("clang fp contract(off)")
#define NARROW_STRICT_END _Pragma("float_control(pop)")
#else
// In templates g++ takes an array's bound that is an int for a conversion that may change its sign.
#define NARROW_STRICT_BEGIN                                                                  \
  _Pragma("GCC push_options") _Pragma("GCC optimize(\"no-fast-math\", \"fp-contract=off\")") \
      _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"")
#define NARROW_STRICT_END _Pragma("GCC diagnostic pop") _Pragma("GCC pop_options")
#endif

// Whether a comparison between those two tells a NaN. Under -ffast-math clang's code generator takes every
// number for none, whatever the pragmas say: there only bits do, which in vectors takes an operation more.
#if defined(__clang__) && __FINITE_MATH_ONLY__
#define NARROW_COMPARES_NANS 0
#else
#define NARROW_COMPARES_NANS 1
#endif

namespace narrow::inline NARROW_ABI::detail {

/// A product that is not to be fused with the addition that follows: under -ffp-contract=fast, which
/// -ffast-math sets, clang's code generator contracts whatever the pragmas of a strict region say.
template <class T> inline T uncontracted(T product) {
#if defined(__clang__) && (defined(__FMA__) || !defined(__SSE__))
  asm("" : NARROW_FLOAT_OPERAND(product));
#endif
  return product;
}

inline constexpr int all_usual_lanes = 0xf;

/// Whether this thread rounds to nearest and keeps subnormals.
#if defined(__SSE__)
/// Four sums of which each comes out otherwise where it does not; as bits, those that came out as usual.
inline int usual_lanes() {
  using floats [[gnu::vector_size(16)]] = float;
  using words [[gnu::vector_size(16)]] = std::uint32_t;
  constexpr float little = 0x1p-30f, least = 0x1p-149f;
  floats x = {1, 1, least, 0};  // rounded down, up, flushed as an operand or as a result
  asm volatile("" : NARROW_FLOAT_OPERAND(x));
  floats sum = x + floats{little, -little, least, 0};
  asm volatile("" : NARROW_FLOAT_OPERAND(sum));
  const auto equal = reinterpret_cast<words>(sum) == reinterpret_cast<words>(floats{1, 1, 2 * least, 0});
  return _mm_movemask_ps(reinterpret_cast<__m128>(equal));
}
/// These sums tell it in a quarter of the time that reading the control register takes (6 ns measured on an
/// AMD Zen 5), and beside other work.
inline bool rounds_as_usual() { return usual_lanes() == all_usual_lanes; }
#else
/// The register of AArch64 has bits, too, that change the codes of fp16.
inline bool rounds_as_usual() { return float_environment::is_usual(); }
#endif

/// f() within a `float_environment`: how computations outside of kernels keep their bits. Not inlined, so
/// that they keep to the floating point of the strict region that `f` is written in.
template <class F> NARROW_KERNEL decltype(auto) with_float_environment(const F& f) {
  const float_environment environment;
  return f();
}

}  // namespace narrow::detail
