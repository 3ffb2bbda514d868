// What one source file computed: a name and a hash of the bits, for each of many computations.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace odr {

/// FNV-1a over 64-bit words.
class hash {
 public:
  void add(std::uint64_t word) { state_ = (state_ ^ word) * 0x100'0000'01b3u; }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf2'9ce4'8422'2325u;
};

struct result {
  std::string name;
  std::uint64_t hash;
  friend bool operator==(const result&, const result&) = default;
};

using results = std::vector<result>;

/// The sequence of xorshift64: the same words in every source file, and no floating point.
class words {
 public:
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }

 private:
  std::uint64_t state_ = 0x2545'f491'4f6c'dd1du;
};

}  // namespace odr
