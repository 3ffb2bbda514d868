// Integers of up to 128 bits as GMP's, and back: GMP's own conversions take a long, which has 32 bits where
// pointers have.
#pragma once

#include <gmpxx.h>

#include <narrow/narrow.hpp>

namespace test {

template <class Integer> mpz_class exact_integer(const Integer& x) {
  const bool negative = x < 0;
  const auto bits = static_cast<narrow::detail::uint128>(x);
  const auto magnitude = negative ? 0 - bits : bits;
  mpz_class result = 0;
  for (int shift = 96; shift >= 0; shift -= 32) {
    result <<= 32;
    result += static_cast<unsigned long>(static_cast<std::uint32_t>(magnitude >> shift));
  }
  return negative ? mpz_class(-result) : result;
}

/// n, which has at most 64 bits, in two's complement.
inline std::uint64_t bits_of(const mpz_class& n) {
  mpz_class lower, upper;
  mpz_fdiv_r_2exp(lower.get_mpz_t(), n.get_mpz_t(), 32);
  mpz_fdiv_q_2exp(upper.get_mpz_t(), n.get_mpz_t(), 32);
  mpz_fdiv_r_2exp(upper.get_mpz_t(), upper.get_mpz_t(), 32);
  return std::uint64_t{upper.get_ui()} << 32 | lower.get_ui();
}

}  // namespace test
