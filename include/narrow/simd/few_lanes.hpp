// Four floats, for computations of so few numbers that a call would take longer than they do: code that is
// inlined in the program that asks for it, whatever the program is compiled for, and that runs where the
// instruction set in use is more than portable (see `dispatch::has_few_lanes`).
//
// Every operation is an instruction by its name. So no flag of the program reassociates, contracts or
// approximates one, and instructions of AVX2, FMA and F16C are there without a flag. What is read comes out
// of an asm that is volatile, as is the question whether it may be computed at all: no compiler moves that to
// before the question, and nothing is computed but of what was read.
#pragma once

#include "../kernel/convert/encoding.hpp"
#include "dispatch.hpp"
#include "words.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace narrow::inline NARROW_ABI::kernel::few {

/// The most numbers that are computed so.
inline constexpr index max_numbers = 16;
inline constexpr int lanes = 4;
constexpr index vectors_of(index count) { return (count + lanes - 1) / lanes; }

/// use(v) for each number V of a sequence, as a constant.
template <index... V, class Use>
[[gnu::always_inline]] inline void for_each(std::integer_sequence<index, V...>, const Use& use) {
  (use(std::integral_constant<index, V>{}), ...);
}
#define NARROW_INLINED __attribute__((always_inline))

/// How X is handed to a function that is hardly ever called: as a copy, so that it need not be in memory
/// before, but for what owns memory.
template <class X> using seldom_handed = std::conditional_t<std::is_copy_constructible_v<X>, X, const X&>;
template <class X> [[gnu::always_inline]] inline seldom_handed<X> in_memory(const X& x) {
  if constexpr (std::is_copy_constructible_v<X>) {
    X copy = x;
    asm volatile("" : "+m"(copy));
    return copy;
  } else {
    return x;
  }
}

#if defined(__x86_64__)

/// Whether numbers of T are read, and whether floats are rounded to them.
template <class T>
inline constexpr bool reads = std::same_as<T, float> || coded_as_fp16<T> || coded_as_bf16<T>;
template <class T> inline constexpr bool stores = std::same_as<T, float>;
template <narrow_float T>
requires(coded_as_fp16<T> || coded_as_bf16<T>) inline constexpr bool stores<T> =
    std::same_as<typename T::round_policy, rounding::nearest_even> &&
    std::same_as<typename T::overflow_policy, overflow::ieee>;

using floats [[gnu::vector_size(16)]] = float;
template <index Count> using vectors = floats[static_cast<std::size_t>(Count)];
using words [[gnu::vector_size(16)]] = std::uint32_t;
using signed_words [[gnu::vector_size(16)]] = std::int32_t;
using codes [[gnu::vector_size(16)]] = std::uint16_t;  // of which the first four count

/// Whether numbers are computed so now: the instruction set in use has it, and the floating-point environment
/// is the usual one.
[[gnu::always_inline]] inline bool are_ready() { return detail::usual_lanes() == dispatch::few_lanes(); }

template <class Vector> [[gnu::always_inline]] inline Vector pinned(Vector x) {
  asm volatile("" : "+x"(x));
  return x;
}

// Of floats, words or codes.
#define NARROW_FEW_OPERATION(name, instruction)                                       \
  template <class Lanes> [[gnu::always_inline]] inline Lanes name(Lanes a, Lanes b) { \
    Lanes result;                                                                     \
    asm(instruction " %2, %1, %0" : "=x"(result) : "x"(a), "x"(b));                   \
    return result;                                                                    \
  }
NARROW_FEW_OPERATION(sum, "vaddps")
NARROW_FEW_OPERATION(difference, "vsubps")
NARROW_FEW_OPERATION(product, "vmulps")
NARROW_FEW_OPERATION(quotient, "vdivps")
NARROW_FEW_OPERATION(smaller, "vminps")  // a < b ? a : b
NARROW_FEW_OPERATION(larger, "vmaxps")   // a > b ? a : b
NARROW_FEW_OPERATION(less, "vcmpltps")   // all bits of a lane where it holds
NARROW_FEW_OPERATION(not_greater, "vcmpleps")
NARROW_FEW_OPERATION(equal, "vcmpeqps")
NARROW_FEW_OPERATION(unequal, "vcmpneqps")
NARROW_FEW_OPERATION(added, "vpaddd")
NARROW_FEW_OPERATION(both, "vpand")
NARROW_FEW_OPERATION(either, "vpor")
NARROW_FEW_OPERATION(packed, "vpackssdw")
NARROW_FEW_OPERATION(unordered, "vcmpunordps")  // where a or b is NaN
#undef NARROW_FEW_OPERATION

/// acc + a b, rounded once.
[[gnu::always_inline]] inline floats multiply_add(floats acc, floats a, floats b) {
  asm("vfmadd231ps %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
  return acc;
}
[[gnu::always_inline]] inline floats chosen(floats condition, floats a, floats b) {
  const auto mask = reinterpret_cast<words>(condition);
  return reinterpret_cast<floats>((reinterpret_cast<words>(a) & mask) | (reinterpret_cast<words>(b) & ~mask));
}
[[gnu::always_inline]] inline floats negative(floats a) {
  return reinterpret_cast<floats>(reinterpret_cast<words>(a) ^ std::uint32_t{detail::binary32::sign_mask});
}
[[gnu::always_inline]] inline floats absolute(floats a) {
  return reinterpret_cast<floats>(reinterpret_cast<words>(a) &
                                  std::uint32_t{detail::binary32::magnitude_mask});
}
[[gnu::always_inline]] inline floats finite(floats a) {
  const auto magnitude = reinterpret_cast<signed_words>(absolute(a));
  return reinterpret_cast<floats>(magnitude < static_cast<std::int32_t>(detail::binary32::infinity));
}
[[gnu::always_inline]] inline floats opposite(floats condition) {
  return reinterpret_cast<floats>(~reinterpret_cast<words>(condition));
}
/// Whether a condition holds of any lane.
[[gnu::always_inline]] inline bool any_of(floats condition) { return _mm_movemask_ps(condition) != 0; }
template <int Lane> [[gnu::always_inline]] inline floats all_of(floats x) {
  floats result;
  asm("vshufps %2, %1, %1, %0" : "=x"(result) : "x"(x), "i"(Lane * 0x55));
  return result;
}
/// Lane I of a twice, and lane J of b twice.
template <int I, int J> [[gnu::always_inline]] inline floats two_of(floats a, floats b) {
  floats result;
  asm("vshufps %3, %2, %1, %0" : "=x"(result) : "x"(a), "x"(b), "i"(I * 5 + J * 0x50));
  return result;
}
[[gnu::always_inline]] inline floats all_of(float x) { return all_of<0>(pinned(floats{x, 0, 0, 0})); }

/// The first Count lanes, and `spare` in the others.
template <int Count> [[gnu::always_inline]] inline floats first_of(floats x, floats spare) {
  if constexpr (Count >= lanes) return x;
  return chosen(reinterpret_cast<floats>(words{~0u, Count > 1 ? ~0u : 0, Count > 2 ? ~0u : 0, 0}), x, spare);
}

/// The first Count lanes, and the first one in the others.
template <int Count> [[gnu::always_inline]] inline floats first_again(floats x) {
  if constexpr (Count >= lanes) return x;
  floats result;
  asm("vshufps %2, %1, %1, %0"
      : "=x"(result)
      : "x"(x), "i"((Count > 1 ? 1 << 2 : 0) | (Count > 2 ? 2 << 4 : 0)));
  return result;
}

/// A vector of four codes or of four floats, each Step numbers after the one before, Count of them and zeros
/// after these. Fewer than four are read one by one: what was stored in other parts a processor hands on.
template <int Count, class T> [[gnu::always_inline]] inline codes codes_from(const T* from, index step) {
  static_assert(sizeof(T) == 2);
  const auto code = [=](index i) { return static_cast<std::int16_t>(from[i * step].bits()); };
  __m128i some = _mm_cvtsi32_si128(from[0].bits());
  if constexpr (Count > 1) some = _mm_insert_epi16(some, code(1), 1);
  if constexpr (Count > 2) some = _mm_insert_epi16(some, code(2), 2);
  if constexpr (Count > 3) some = _mm_insert_epi16(some, code(3), 3);
  return reinterpret_cast<codes>(some);
}
template <class T> [[gnu::always_inline]] inline floats decoded(codes some) {
  if constexpr (coded_as_fp16<T>) {
    floats result;
    asm volatile("vcvtph2ps %1, %0" : "=x"(result) : "x"(some));
    return result;
  } else {
    return pinned(reinterpret_cast<floats>(__builtin_shufflevector(codes{}, some, 0, 8, 1, 9, 2, 10, 3, 11)));
  }
}
template <int Count, class T> [[gnu::always_inline]] inline floats numbers_from(const T* from, index step) {
  if constexpr (std::same_as<T, float>)
    return pinned(floats{from[0], Count > 1 ? from[Count > 1 ? step : 0] : 0,
                         Count > 2 ? from[Count > 2 ? 2 * step : 0] : 0,
                         Count > 3 ? from[Count > 3 ? 3 * step : 0] : 0});
  else
    return decoded<T>(codes_from<Count>(from, step));
}
/// The same of numbers that lie side by side.
template <int Count, class T> [[gnu::always_inline]] inline floats numbers_at(const T* from) {
  if constexpr (std::same_as<T, float> && Count == 2)
    return pinned(reinterpret_cast<floats>(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  else if constexpr (Count < lanes)
    return numbers_from<Count>(from, 1);
  else if constexpr (std::same_as<T, float>)
    return pinned(reinterpret_cast<floats>(_mm_loadu_ps(from)));
  else if constexpr (coded_as_fp16<T>) {
    floats result;
    asm volatile("vcvtph2ps %1, %0" : "=x"(result) : "m"(*reinterpret_cast<const T(*)[4]>(from)));
    return result;
  } else
    return decoded<T>(reinterpret_cast<codes>(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}

/// Makes numbers ready to be stored, all of them before one is: NaNs become such that T has and that stay NaN
/// when they are rounded.
template <class T, std::size_t Vectors>
[[gnu::always_inline]] inline void prepare_to_store(floats (&x)[Vectors]) {
  if constexpr (coded_as_fp16<T>) return;
  constexpr index count = Vectors;
  floats nan = unordered(x[0], x[count / 2]);
  for_each(std::make_integer_sequence<index, (count - 1) / 2>{},
           [&](auto v) NARROW_INLINED { nan = either(nan, unordered(x[v + 1], x[count / 2 + v + 1])); });
  if (_mm_movemask_ps(reinterpret_cast<__m128>(nan)) == 0) [[likely]]
    return;
  constexpr std::uint32_t kept = std::same_as<T, float> ? ~0u : 0xffff'0000u;
  for_each(std::make_integer_sequence<index, count>{}, [&](auto v) NARROW_INLINED {
    const words bits = reinterpret_cast<words>(x[v]);
    x[v] = chosen(unordered(x[v], x[v]),
                  reinterpret_cast<floats>((bits & kept) | std::uint32_t{detail::binary32::quiet_bit}), x[v]);
  });
}
/// The codes of bf16, to nearest even, in the lower halves of lanes, signs above them.
[[gnu::always_inline]] inline words upper_halves(floats x) {
  const auto bits = reinterpret_cast<words>(pinned(x));
  words odd, result;
  asm("vpsrld $16, %1, %0" : "=x"(odd) : "x"(bits));
  odd = both(odd, words{1, 1, 1, 1});
  result = added(added(bits, words{0x7fff, 0x7fff, 0x7fff, 0x7fff}), odd);
  asm("vpsrad $16, %1, %0" : "=x"(odd) : "x"(result));
  return odd;
}
/// The codes of the numbers of a vector, which was prepared, in its first lanes.
template <class T> [[gnu::always_inline]] inline __m128i coded(floats x) {
  if constexpr (coded_as_fp16<T>) {
    __m128i some;
    asm volatile("vcvtps2ph $0, %1, %0" : "=x"(some) : "x"(x));
    return some;
  } else {
    const words upper = upper_halves(x);
    return reinterpret_cast<__m128i>(packed(upper, upper));
  }
}
/// Stores the first Count numbers of such a vector one by one, each `step` after the one before.
template <int Count, class T> [[gnu::always_inline]] inline void store_apart(T* to, index step, floats x) {
  if constexpr (std::same_as<T, float>) {
    for_each(std::make_integer_sequence<index, Count>{}, [&](auto lane) NARROW_INLINED {
      asm volatile("vextractps %2, %1, %0" : "=m"(to[lane * step]) : "x"(x), "i"(decltype(lane)::value));
    });
  } else {
    const __m128i some = coded<T>(x);
    for_each(std::make_integer_sequence<index, Count>{}, [&](auto lane) NARROW_INLINED {
      constexpr int number = decltype(lane)::value;
      put_word<std::uint16_t>(reinterpret_cast<unsigned char*>(to + number * step),
                              static_cast<std::uint16_t>(_mm_extract_epi16(some, number)));
    });
  }
}
/// Stores the first Count numbers of such a vector side by side.
template <int Count, class T> [[gnu::always_inline]] inline void store(T* to, floats x) {
  auto* const bytes = reinterpret_cast<unsigned char*>(to);
  if constexpr (std::same_as<T, float>) {
    if constexpr (Count == 3) {  // which g++ would take apart in memory
      _mm_storel_epi64(reinterpret_cast<__m128i*>(bytes), reinterpret_cast<__m128i>(x));
      asm volatile("vextractps $2, %1, %0" : "=m"(to[2]) : "x"(x));
    } else {
      x = pinned(x);
      std::memcpy(bytes, &x, Count * sizeof(float));
    }
  } else if constexpr (coded_as_fp16<T> && Count == lanes) {
    asm volatile("vcvtps2ph $0, %1, %0" : "=m"(*reinterpret_cast<T(*)[4]>(to)) : "x"(x));
  } else {
    const __m128i some = coded<T>(x);
    if constexpr (Count == lanes) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(bytes), some);
    } else {
      if constexpr (Count > 1)
        put_word<std::uint32_t>(bytes, static_cast<std::uint32_t>(_mm_cvtsi128_si32(some)));
      if constexpr (Count != 2)
        put_word<std::uint16_t>(bytes + (Count - 1) * sizeof(T),
                                static_cast<std::uint16_t>(_mm_extract_epi16(some, Count - 1)));
    }
  }
}
/// Stores two vectors of numbers, side by side.
template <class T> [[gnu::always_inline]] inline void store_two(T* to, floats x, floats y) {
  if constexpr (coded_as_bf16<T>) {
    const auto some = reinterpret_cast<__m128i>(packed(upper_halves(x), upper_halves(y)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), some);
  } else {
    store<lanes>(to, x);
    store<lanes>(to + lanes, y);
  }
}

/// The sum of all lanes: each with the one half a vector further, until one is left.
[[gnu::always_inline]] inline float total(floats x) {
  x = sum(x, __builtin_shufflevector(x, x, 2, 3, 2, 3));
  return pinned(sum(x, __builtin_shufflevector(x, x, 1, 1, 1, 1)))[0];
}

#else

inline bool are_ready() { return false; }

template <class T> inline constexpr bool reads = false;
template <class T> inline constexpr bool stores = false;

#endif

}  // namespace narrow::kernel::few
