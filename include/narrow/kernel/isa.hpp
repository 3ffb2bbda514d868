// Which instruction set the kernels use: the best that the processor has, or less on request. To add one, add
// its file and its line in `instruction_sets`.
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>

#if defined(__x86_64__)
#include "x86/amx.hpp"
#include "x86/avx512_bf16.hpp"
#include "x86/avx512_vnni.hpp"
#include "x86/avx_vnni.hpp"
#elif defined(__aarch64__)
#include "arm/neon.hpp"
#else
#include "other/processor.hpp"
#endif

namespace narrow {

namespace kernel {

/// The best one last. Each has what the one has that it extends, and puts its own kernels in the place of those.
inline constexpr instruction_set instruction_sets[] = {
    {"portable", "", [](const processor&) { return true; }, {}},
#if defined(__x86_64__)
    {"avx2", "portable", [](const processor& p) { return p.avx2; }, avx2::kernels},
    {"avx_vnni", "avx2", [](const processor& p) { return p.avx_vnni; }, avx_vnni::kernels},
    {"avx512", "avx2", [](const processor& p) { return p.avx512; }, avx512::kernels},
    {"avx512_vnni", "avx512", [](const processor& p) { return p.avx512_vnni; }, avx512_vnni::kernels},
    {"avx512_bf16", "avx512_vnni", [](const processor& p) { return p.avx512_bf16; }, avx512_bf16::kernels},
    {"amx", "avx512_bf16", [](const processor& p) { return p.amx; }, amx::kernels},
#elif defined(__aarch64__)
    {"neon", "portable", [](const processor&) { return true; }, neon::kernels},
    {"neon_dot", "neon", [](const processor& p) { return p.neon_dot; }, neon_dot::kernels},
    {"neon_bf16", "neon_dot", [](const processor& p) { return p.neon_bf16; }, neon_bf16::kernels},
#endif
};

inline constexpr std::size_t instruction_set_count = std::size(instruction_sets);

static_assert(
    [] {
      for (std::size_t i = 1; i < instruction_set_count; ++i) {
        bool known = false;
        for (std::size_t j = 0; j < i; ++j) known |= instruction_sets[j].name == instruction_sets[i].extends;
        if (!known) return false;
      }
      return true;
    }(),
    "an instruction set extends one that is listed before it");

/// What has this path of members in the table of each instruction set, or of those that it extends.
template <auto... Path>
inline constexpr auto kernels_at = [] {
  using kernel = std::remove_cvref_t<decltype((instruction_sets[0].kernels.*....*Path))>;
  std::array<kernel, instruction_set_count> result{};
  for (std::size_t i = 0; i < instruction_set_count; ++i) {
    result[i] = (instruction_sets[i].kernels.*....*Path);
    for (std::size_t j = 0; j < i && !result[i]; ++j)
      if (instruction_sets[j].name == instruction_sets[i].extends) result[i] = result[j];
  }
  return result;
}();

/// The kernels of an instruction set. Each is looked up alone, so that a program compiles those that it uses.
class kernel_set {
 public:
  constexpr explicit kernel_set(std::size_t instruction_set) : at_(instruction_set) {}

  /// For example get<&kernel_table::fp32>(), tile<&tile_kernels::add>(); null if there is none.
  template <auto... Path> const auto& get() const { return kernels_at<Path...>[at_]; }
  template <auto Member> auto tile() const { return get<&kernel_table::tiles, Member>(); }
  template <auto Member> auto packing() const { return get<&kernel_table::pack, Member>(); }

 private:
  std::size_t at_;
};

/// Which instruction sets there are, and the one in use.
class dispatch {
 public:
  static constexpr std::size_t count = instruction_set_count;
  static constexpr auto names = [] {
    std::array<std::string_view, count> result;
    for (std::size_t i = 0; i < count; ++i) result[i] = instruction_sets[i].name;
    return result;
  }();

  static dispatch& instance() {
    static dispatch the_one;
    return the_one;
  }

  std::size_t chosen() const { return chosen_.load(std::memory_order_relaxed); }
  kernel_set kernels() const { return kernel_set(chosen()); }
  /// Whether this processor has it.
  bool supports(std::size_t instruction_set) const { return supported_[instruction_set]; }

  void choose(std::string_view name, const char* who) {
    std::string known;
    for (std::size_t i = 0; i < count; ++i) {
      if (!supports(i)) continue;
      if (names[i] == name) return chosen_.store(i, std::memory_order_relaxed);
      known += (i == 0 ? "" : ", ") + std::string(names[i]);
    }
    throw std::invalid_argument(std::string(who) + ": \"" + std::string(name) + "\" must be one of " + known +
                                ", which this processor supports");
  }

 private:
  dispatch() {
    constexpr auto tests = [] {
      std::array<bool (*)(const processor&), count> result{};
      for (std::size_t i = 0; i < count; ++i) result[i] = instruction_sets[i].supported;
      return result;
    }();
    const processor p = processor::probe();
    for (std::size_t i = 0; i < count; ++i) {
      supported_[i] = tests[i](p);
      if (supported_[i]) chosen_ = i;
    }
    const char* const name = std::getenv("NARROW_ISA");
    if (name != nullptr && *name != '\0') choose(name, "the environment variable NARROW_ISA");
  }

  std::array<bool, count> supported_{};
  std::atomic<std::size_t> chosen_ = 0;
};

}  // namespace kernel

/// The instruction set that kernels use: `portable`; on x86-64 `avx2` (with FMA and F16C), `avx_vnni` (AVX2 with
/// AVX-VNNI), `avx512` (F, BW, VL, DQ), `avx512_vnni`, `avx512_bf16` (which has VNNI, too), `amx` (which has all of
/// it, and tiles with BF16 and INT8; Linux is asked for them once); on AArch64 `neon`, `neon_dot` (with dot
/// products of int8), `neon_bf16` (with both), tested under emulation and not timed. By default the best that the
/// processor has; the environment variable NARROW_ISA holds it lower; where that names none of them, the first
/// computation throws std::invalid_argument listing them.
///
/// Integer results and conversions are the same bits with each of them; sums of floating-point products
/// differ within their bound.
inline std::string_view isa_name() { return kernel::dispatch::names[kernel::dispatch::instance().chosen()]; }

/// Makes kernels use the instruction set `name` from now on, in all threads. Throws std::invalid_argument
/// listing the names if it is none, or none that this processor has; then nothing changes.
inline void use_isa(std::string_view name) { kernel::dispatch::instance().choose(name, "narrow::use_isa"); }

}  // namespace narrow
