// Where kernels come from: the list of instruction sets, the one in use, and the way in to its kernels.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdlib>
#include <span>
#include <string>
#include <type_traits>

#include "../errors.hpp"
#include "../runtime/environment.hpp"
#include "kernel_table.hpp"
#if !defined(NARROW_COMPILED_KERNELS)
#include "instruction_sets.hpp"
#endif

namespace narrow::inline NARROW_ABI::kernel {

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

/// The kernels of the instruction set in use, handed out by `enter` alone: who has them computes in its
/// environment.
class kernel_set {
 public:
  /// For example get<&kernel_table::fp32>(); null if there is none.
  template <auto... Path> const kernel_type<Path...>& get() const { return kernel_at<Path...>(at_); }
  /// Whether these are the kernels of the same instruction set.
  bool operator==(const kernel_set&) const = default;

 private:
  explicit kernel_set(std::size_t i) : at_(i) {}
  template <class Use> friend decltype(auto) enter(const Use& use);
  template <class Use> friend decltype(auto) enter_lightly(const Use& use);
  friend struct kernels_not_in_use;  // defined by tests of plans, which look at kernels and run none

  std::size_t at_;
};

/// Which instruction sets there are, and the one in use.
class dispatch {
 public:
  static dispatch& instance() {
    static dispatch the_one;
    // Not in its constructor: a static object that was not constructed would wait for itself where the
    // exception passes code compiled without exceptions.
    if (!the_one.refused_.empty() && chosen_.load(std::memory_order_relaxed) == none_yet) [[unlikely]]
      the_one.choose(the_one.refused_, "the environment variable NARROW_ISA");
    return the_one;
  }

  /// The one in use. The first call asks the processor and the environment; later ones are a load.
  static std::size_t chosen() {
    const std::size_t i = chosen_.load(std::memory_order_relaxed);
    return i == none_yet ? first_chosen() : i;
  }
  /// Whether it computes few numbers in line (see few_lanes.hpp): with the instructions that the first one
  /// after the portable one has.
  static bool has_few_lanes() { return chosen() != 0; }
  /// What detail::usual_lanes() has to be for that: nothing that it is where there are no such lanes, or as
  /// long as none was chosen.
  static int few_lanes() { return few_lanes_.load(std::memory_order_relaxed); }
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
  [[gnu::noinline, gnu::cold]] static std::size_t first_chosen() {
    instance();
    return chosen_.load(std::memory_order_relaxed);
  }

  dispatch() {
    std::size_t best = 0;
    for (std::size_t i = 0; i < instruction_set_count(); ++i) {
      supported_[i] = instruction_set_at(i).supported();
      if (supported_[i]) best = i;
    }
    const char* const name = std::getenv("NARROW_ISA");
    if (name == nullptr || *name == '\0')
      use(best);
    else if (!take(name))
      refused_ = name;
  }

  /// Whether there is one of this name.
  bool take(std::string_view name) {
    for (std::size_t i = 0; i < instruction_set_count(); ++i)
      if (supports(i) && name_of(i) == name) return use(i), true;
    return false;
  }

  static void use(std::size_t i) {
    chosen_.store(i, std::memory_order_relaxed);
    few_lanes_.store(i == 0 ? no_lanes : detail::all_usual_lanes, std::memory_order_relaxed);
  }

  static constexpr std::size_t none_yet = ~std::size_t{0};
  static inline constinit std::atomic<std::size_t> chosen_ = none_yet;
  static constexpr int no_lanes = -1;
  static inline constinit std::atomic<int> few_lanes_ = no_lanes;

  std::string refused_;  // a name in the environment
  std::bitset<64> supported_;
};

NARROW_STRICT_BEGIN

/// use(kernels) with those of the instruction set in use, while this thread rounds to nearest, keeps
/// subnormals and traps nothing; then the caller's control register is back. Not inlined, so that what `use`
/// computes keeps to the floating point of the region that it is written in.
template <class Use> NARROW_KERNEL decltype(auto) enter(const Use& use) {
  const detail::float_environment environment;
  return use(kernel_set(dispatch::chosen()));
}

/// use(kernels) likewise, for kernels that raise no other floating-point exceptions than their numbers do:
/// where the environment is the usual one, as short computations tell sooner than the control register, those
/// exceptions stay.
template <class Use> NARROW_KERNEL decltype(auto) enter_lightly(const Use& use) {
  if (!detail::rounds_as_usual()) [[unlikely]]
    return enter(use);
  return use(kernel_set(dispatch::chosen()));
}

NARROW_STRICT_END

}  // namespace narrow::kernel
