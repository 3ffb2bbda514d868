// Random numbers for stochastic rounding: a function of (seed, index), so that no order of evaluation can
// change them.
#pragma once

#include <cstdint>

#include "../config.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A bijection of 64-bit words whose output bits each depend on all input bits.
/// Source: David Stafford, "Better bit mixing" (2011), variant 13; the finaliser of SplitMix64.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebu;
  return x ^ (x >> 31);
}

inline constexpr std::uint64_t golden_ratio = 0x9e37'79b9'7f4a'7c15u;  // floor(2^64 / phi), odd

/// The two words that key the generator for the 2^32 indices which share their upper half.
struct random_key {
  std::uint32_t before, between;

  constexpr random_key(std::uint64_t seed, std::uint64_t index) : before(0), between(0) {
    const std::uint64_t mixed = mix64(mix64(seed + golden_ratio) + (index >> 32) * golden_ratio);
    before = static_cast<std::uint32_t>(mixed);
    between = static_cast<std::uint32_t>(mixed >> 32);
  }
};

#include "random_draws.inl"

/// 32 uniformly distributed bits.
constexpr std::uint32_t random_bits(const random_key& key, std::uint32_t index) {
  return random_draws{key}(index);
}

}  // namespace detail

/// Where the policy `rounding::stochastic` takes its seeds from when none is given: a seed and a count of
/// tickets. Plain data: copy it to save the state, assign it to restore.
struct random_stream {
  std::uint64_t seed = 0;    ///< what `narrow::seed` was given
  std::uint64_t ticket = 0;  ///< how many seeds were taken

  /// A seed of its own for one operation.
  constexpr std::uint64_t next() noexcept {
    return detail::mix64(detail::mix64(seed) + detail::golden_ratio * ++ticket);
  }

  friend bool operator==(const random_stream&, const random_stream&) = default;
};

/// The calling thread's stream. Every thread starts with seed 0: threads that must differ call
/// `narrow::seed`.
inline random_stream& thread_stream() noexcept {
  thread_local random_stream stream;
  return stream;
}

/// Restarts the calling thread's stream from `value`.
inline void seed(std::uint64_t value) noexcept { thread_stream() = random_stream{value, 0}; }

}  // namespace narrow
