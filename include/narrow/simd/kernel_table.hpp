// What an instruction set offers: a table of kernels, written over pointers, so that it can be compiled for a
// processor that the rest of the program is not compiled for.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "../kernel/convert/table.hpp"
#include "../kernel/product/table.hpp"
#include "../kernel/quantize/table.hpp"
#include "../kernel/reduce/table.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// What one instruction set adds to the one that it extends: the kernels of every room.
struct kernel_table : convert_table, product_table, quantize_table, reduce_table {};

struct instruction_set {
  std::string_view name, extends;
  bool (*supported)();   // by the processor and the operating system
  std::size_t base = 0;  // where in the list the one is that it extends
};

// A program compiles the kernels that it asks for. So an instruction set is not a table, but a type with a
// function template `offer(table)`, which offers each kernel by its name to a table of all or of one.

template <auto Member> struct member {};

template <auto Member> struct one_kernel {
  std::remove_cvref_t<decltype(std::declval<kernel_table>().*Member)> kernel = {};
  template <auto Offered> static constexpr bool wants = std::is_same_v<member<Offered>, member<Member>>;
  template <auto> constexpr auto& at() { return kernel; }
};
struct every_kernel {
  kernel_table kernels = {};
  template <auto> static constexpr bool wants = true;
  template <auto Member> constexpr auto& at() { return kernels.*Member; }
};
/// The kernel of a job (see jobs.hpp), null where neither an instruction set nor what it extends has one.
template <class Job> struct one_job {
  using job = Job;
  typename Job::function* run = nullptr;
  template <auto> static constexpr bool wants = false;
};
/// Whether a table is one_job, to which no room has anything to offer.
template <class Table>
concept for_job = requires {
  typename Table::job;
};
/// Whether a kernel, or a group of kernels, is there.
template <class Kernel> constexpr bool is_there(const Kernel& kernel) {
  if constexpr (requires { static_cast<bool>(kernel); })
    return static_cast<bool>(kernel);
  else
    return true;  // a group, each of whose members may be null
}

/// In such a function: what `name` is, a kernel or a group of kernels. Those that need each other are a group
/// whose constructor takes all of them, so that none is offered alone. A null is refused where the compiler
/// knows it for one; g++ -fno-delete-null-pointer-checks, which -fsanitize=undefined implies, knows that of
/// no function.
#define NARROW_OFFER(name, ...)                                                                              \
  if constexpr (Table::template wants<&kernel_table::name>) {                                                \
    constexpr std::remove_cvref_t<decltype(table.template at<&kernel_table::name>())> offered = __VA_ARGS__; \
    static_assert(                                                                                           \
        !requires { typename std::enable_if_t<!is_there(offered)>; },                                        \
        "narrow: an instruction set offers a null as kernel_table::" #name);                                 \
    table.template at<&kernel_table::name>() = offered;                                                      \
  }                                                                                                          \
  static_assert(true)

/// In such a function: the kernel of the job that the table is for, if kernel_of() has one here.
#define NARROW_OFFER_JOB(table)                                                     \
  if constexpr (requires { kernel_of(std::type_identity<typename Table::job>{}); }) \
  (table).run = kernel_of(std::type_identity<typename Table::job>{})

}  // namespace narrow::kernel
