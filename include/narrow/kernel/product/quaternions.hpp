// The product of two quaternions (few.hpp).
#pragma once

#include "few.hpp"

namespace narrow::inline NARROW_ABI::kernel {

#if defined(__x86_64__)

/// c = a b, of coefficients x, y, z, w: the matrix of a times the coefficients of b, with the bits of any
/// product of matrices. False, and nothing is done, where that is not computed here.
template <class T> [[gnu::always_inline]] inline bool multiply_quaternions(const T* a, const T* b, T* c) {
  if constexpr (few::reads<T> && few::stores<T>) {
    if (few::are_ready()) [[likely]] {
      using few::floats, few::words;
      const floats l = few::numbers_at<few::lanes>(a), r = few::numbers_at<few::lanes>(b);
      constexpr std::uint32_t minus = detail::binary32::sign_mask;
      const auto signed_as = [](floats x, words signs) NARROW_INLINED {
        return reinterpret_cast<floats>(reinterpret_cast<words>(x) ^ signs);
      };
      const floats columns[] = {
          signed_as(__builtin_shufflevector(l, l, 3, 2, 1, 0), words{0, 0, minus, minus}),
          signed_as(__builtin_shufflevector(l, l, 2, 3, 0, 1), words{minus, 0, 0, minus}),
          signed_as(__builtin_shufflevector(l, l, 1, 0, 3, 2), words{0, minus, 0, minus}), l};
      floats sums[1] = {};
      few::for_each(std::make_integer_sequence<index, few::lanes>{}, [&](auto p) NARROW_INLINED {
        sums[0] = few::multiply_add(sums[0], columns[p], few::all_of<p>(r));
      });
      few::store_all<few::lanes, true>(sums, c, 0);
      return true;
    }
  }
  return false;
}

#else

template <class T> bool multiply_quaternions(const T*, const T*, T*) { return false; }

#endif

}  // namespace narrow::kernel
