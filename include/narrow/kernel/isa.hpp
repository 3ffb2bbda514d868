// Which instruction set the kernels use: the best that the processor has, or less on request.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdlib>
#include <span>
#include <string>
#include <type_traits>

#if defined(NARROW_COMPILED_KERNELS)
#include "../errors.hpp"
#include "table.hpp"
#else
#include "instruction_sets.hpp"
#endif

namespace narrow {

namespace kernel {

/// What a path of members leads to. Written out, so that no kernel is compiled for a template that nobody
/// uses.
template <class From, auto... Path> struct member_at { using type = From; };
template <class From, auto Member, auto... Path>
struct member_at<From, Member, Path...>
    : member_at<std::remove_cvref_t<decltype(std::declval<From&>().*Member)>, Path...> {};
template <auto... Path> using kernel_type = typename member_at<kernel_table, Path...>::type;

#if defined(NARROW_COMPILED_KERNELS)

/// Those of the source file that includes narrow/compiled_kernels.hpp.
extern const std::span<const instruction_set> compiled_instruction_sets;
extern const std::span<const every_kernel> compiled_kernels;

inline std::size_t instruction_set_count() { return compiled_instruction_sets.size(); }
inline const instruction_set& instruction_set_at(std::size_t i) { return compiled_instruction_sets[i]; }

template <auto... Path> const kernel_type<Path...>& kernel_at(std::size_t i) {
  return (compiled_kernels[i].kernels.*....*Path);
}

#else

constexpr std::size_t instruction_set_count() { return instruction_sets.size(); }
inline const instruction_set& instruction_set_at(std::size_t i) { return instruction_sets[i]; }

template <auto Member, auto... Path> const kernel_type<Member, Path...>& kernel_at(std::size_t i) {
  static constexpr auto kernels = [] {
    constexpr auto tables = listed_sets.kernels<one_kernel<Member> >();
    std::array<kernel_type<Member, Path...>, tables.size()> result{};
    for (std::size_t j = 0; j < result.size(); ++j) result[j] = (tables[j].kernel.*....*Path);
    return result;
  }();
  return kernels[i];
}

#endif

/// The kernels of an instruction set.
class kernel_set {
 public:
  constexpr explicit kernel_set(std::size_t i) : at_(i) {}

  /// For example get<&kernel_table::fp32>(); null if there is none.
  template <auto... Path> const kernel_type<Path...>& get() const { return kernel_at<Path...>(at_); }

 private:
  std::size_t at_;
};

/// Which instruction sets there are, and the one in use.
class dispatch {
 public:
  static dispatch& instance() {
    static dispatch the_one;
    // Not in its constructor: a static object that was not constructed would wait for itself where the
    // exception passes code compiled without exceptions.
    if (!the_one.refused_.empty()) [[unlikely]]
      the_one.choose(the_one.refused_, "the environment variable NARROW_ISA");
    return the_one;
  }

  std::size_t chosen() const { return chosen_.load(std::memory_order_relaxed); }
  kernel_set kernels() const { return kernel_set(chosen()); }
  static std::string_view name_of(std::size_t i) { return instruction_set_at(i).name; }
  /// Whether this processor has it.
  bool supports(std::size_t i) const { return supported_[i]; }

  void choose(std::string_view name, const char* who) {
    if (take(name)) return;
    std::string known;
    for (std::size_t i = 0; i < instruction_set_count(); ++i)
      if (supports(i)) known += (known.empty() ? "" : ", ") + std::string(name_of(i));
    detail::fail<std::invalid_argument>(std::string(who) + ": \"" + std::string(name) + "\" must be one of " +
                                        known + ", which this processor supports");
  }

 private:
  dispatch() {
    for (std::size_t i = 0; i < instruction_set_count(); ++i) {
      supported_[i] = instruction_set_at(i).supported();
      if (supported_[i]) chosen_ = i;
    }
    const char* const name = std::getenv("NARROW_ISA");
    if (name != nullptr && *name != '\0' && !take(name)) refused_ = name;
  }

  /// Whether there is one of this name.
  bool take(std::string_view name) {
    for (std::size_t i = 0; i < instruction_set_count(); ++i)
      if (supports(i) && name_of(i) == name) return chosen_.store(i, std::memory_order_relaxed), true;
    return false;
  }

  std::string refused_;  // a name in the environment
  std::bitset<64> supported_;
  std::atomic<std::size_t> chosen_ = 0;
};

}  // namespace kernel

/// The instruction set that kernels use: `portable`; on x86-64 `avx2` (with FMA and F16C), `avx_vnni` (AVX2
/// with AVX-VNNI), `avx512` (F, BW, VL, DQ), `avx512_vnni`, `avx512_bf16` (which has VNNI, too), `amx` (which
/// has all of it, and tiles with BF16 and INT8; Linux is asked for them once); on AArch64 `neon`, `neon_dot`
/// (with dot products of int8), `neon_bf16` (with both), `neon_i8mm` (with products of matrices of int8,
/// too), tested under emulation and not timed. By default the best that the processor has; the environment
/// variable NARROW_ISA holds it lower; where that names none of them, the first computation throws
/// std::invalid_argument listing them.
///
/// Integer results and conversions are the same bits with each of them; sums of floating-point products
/// differ within their bound.
inline std::string_view isa_name() {
  return kernel::dispatch::name_of(kernel::dispatch::instance().chosen());
}

/// Makes kernels use the instruction set `name` from now on, in all threads. Throws std::invalid_argument
/// listing the names if it is none, or none that this processor has; then nothing changes.
inline void use_isa(std::string_view name) { kernel::dispatch::instance().choose(name, "narrow::use_isa"); }

}  // namespace narrow
