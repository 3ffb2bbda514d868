// Which instruction set the kernels use: the best that the processor has, or less on request. To add one, add
// its file and its line in `instruction_sets`.
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

#if defined(__x86_64__)
#include "x86/avx512.hpp"
#else
#include "other/processor.hpp"
#endif

namespace narrow {

namespace kernel {

/// In ascending order: each has what those before it have, and puts its own kernels in the place of theirs.
inline constexpr instruction_set instruction_sets[] = {
    {"portable", [](const processor&) { return true; }, {}},
#if defined(__x86_64__)
    {"avx2", [](const processor& p) { return p.avx2; }, avx2::kernels},
    {"avx512", [](const processor& p) { return p.avx512; }, avx512::kernels},
    {"avx512_vnni", [](const processor& p) { return p.avx512_vnni; }, avx512_vnni::kernels},
    {"avx512_bf16", [](const processor& p) { return p.avx512_bf16; }, avx512_bf16::kernels},
#endif
};

/// The kernels of each instruction set, and the one in use.
class dispatch {
 public:
  static constexpr std::size_t count = std::size(instruction_sets);

  static dispatch& instance() {
    static dispatch the_one;
    return the_one;
  }

  std::size_t chosen() const { return chosen_.load(std::memory_order_relaxed); }
  const kernel_table& kernels() const { return tables_[chosen()]; }
  /// How many, from the first one on, this processor has.
  std::size_t available() const { return available_; }

  void choose(std::string_view name, const char* who) {
    std::string names;
    for (std::size_t i = 0; i < available_; ++i) {
      if (instruction_sets[i].name == name) return chosen_.store(i, std::memory_order_relaxed);
      names += (i == 0 ? "" : ", ") + std::string(instruction_sets[i].name);
    }
    throw std::invalid_argument(std::string(who) + ": \"" + std::string(name) + "\" must be one of " + names +
                                ", which this processor supports");
  }

 private:
  dispatch() {
    const processor p = processor::probe();
    kernel_table all;
    for (std::size_t i = 0; i < count && instruction_sets[i].supported(p); ++i) {
      all = merged(all, instruction_sets[i].kernels);
      tables_[i] = all;
      available_ = i + 1;
    }
    chosen_ = available_ - 1;
    const char* const name = std::getenv("NARROW_ISA");
    if (name != nullptr && *name != '\0') choose(name, "the environment variable NARROW_ISA");
  }

  static kernel_table merged(kernel_table below, const kernel_table& own) {
    std::apply([&](auto... kernel) { ((own.*kernel ? void(below.*kernel = own.*kernel) : void()), ...); },
               all_kernels);
    return below;
  }

  std::array<kernel_table, count> tables_{};
  std::size_t available_ = 1;
  std::atomic<std::size_t> chosen_ = 0;
};

}  // namespace kernel

/// The instruction set that kernels use: `portable`, `avx2` (with FMA and F16C), `avx512` (F, BW, VL, DQ),
/// `avx512_vnni`, `avx512_bf16` (which has VNNI, too). By default the best that the processor has; the
/// environment variable NARROW_ISA holds it lower; where that names none of them, the first computation
/// throws std::invalid_argument listing them.
///
/// Integer results and conversions are the same bits with each of them; sums of floating-point products
/// differ within their bound.
inline std::string_view isa_name() {
  return kernel::instruction_sets[kernel::dispatch::instance().chosen()].name;
}

/// Makes kernels use the instruction set `name` from now on, in all threads. Throws std::invalid_argument
/// listing the names if it is none, or none that this processor has; then nothing changes.
inline void use_isa(std::string_view name) { kernel::dispatch::instance().choose(name, "narrow::use_isa"); }

}  // namespace narrow
