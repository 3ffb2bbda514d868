// The door to coefficient-wise expressions as programs of lanes.
#pragma once

#include "../runtime/scratch.hpp"
#include "../simd/jobs.hpp"
#include "elementwise/few.hpp"
#include "elementwise/few_lines.hpp"
#include "elementwise/fixed.hpp"
#include "elementwise/functions.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Stores few numbers where the caller stands: side by side, or by line_steps.
template <class Program, class T, class Steps, class Shape>
[[gnu::always_inline]] inline std::true_type store_few(const Program& program, T* to, const Steps& steps,
                                                       const Shape& shape) {
  if (few::are_ready()) [[likely]]
    few::store_lines(program, to, steps, shape);
  else
    few::store_otherwise<Program>(few::in_memory(program), to, steps, shape);
  return {};
}

/// Stores few numbers of one line. Not inlined, so that what asks for it stays small.
template <class Line, class T>
[[gnu::noinline]] void store_short_line(handed_line<Line> line, T* to, index length) {
  store_few(line, to, index{}, one_line{length});
}
/// Stores one line to elements that do not lie side by side. By reference, as programs of such numbers are:
/// see handed_line.
template <class Program, class T>
[[gnu::noinline]] void spread_line(const Program& program, T* to, index step, index length) {
  const line_steps steps{0, step};
  if (length <= few::longest_stored)
    store_few(program, to, steps, one_line{length});
  else
    do_job<spread_out_program<Program, T>>([&](const auto& kernel) {
      kernel(program, to, steps, line_shape{1, length});
    });
}

/// Stores what a program gives (see stored_program). False, and nothing is done, where there is no kernel for
/// it (see do_job).
template <class Program, class T, class Shape>
[[gnu::always_inline]] inline auto store_program(const Program& program, T* to, index to_step,
                                                 const Shape& shape) {
  const auto run = [&](const auto& kernel) { kernel(program, to, to_step, shape); };
  if constexpr (few::stores_line<Program, T, Shape>) {
    using line = line_of<Program>;
    if (shape.length > few::longest_stored) return do_job<stored_program<Program, T, Shape>>(run);
    store_short_line<line>(as_line(program), to, shape.length);
    return std::true_type{};
  } else if constexpr (few::stores_program<Program, T, Shape>) {
    return store_few(program, to, to_step, shape);
  } else {
    return do_job<stored_program<Program, T, Shape>>(run);
  }
}
/// The same to elements that do not lie side by side (see spread_out_program).
template <class Program, class T, class Shape>
[[gnu::always_inline]] inline auto spread_program(const Program& program, T* to, const line_steps& steps,
                                                  const Shape& shape) {
  if constexpr (few::spreads_line<Program, T, Shape>) {
    spread_line(program, to, steps.element, shape.length);
    return std::true_type{};
  } else if constexpr (few::stores_program<Program, T, Shape>) {
    return store_few(program, to, steps, shape);
  } else {
    return do_job<spread_out_program<Program, T>>([&](const auto& kernel) {
      kernel(program, to, steps, line_shape{shape.lines, shape.length});
    });
  }
}

/// The sum of one line of many numbers, or in any floating-point environment. Not inlined, so that what asks
/// for it stays small enough to be inlined itself; so the next ones.
template <class Line> [[gnu::noinline]] float sum_long_line(handed_line<Line> line, index length) {
  const one_line shape{length};
  const auto sum = [&] {
    if (few::are_few(shape) && dispatch::has_few_lanes()) return few::sum_lines(line, shape);
    return job_kernel<summed_program<Line, one_line>>()(line, shape);
  };
  return detail::rounds_as_usual() ? job_kernel<summed_program<Line, one_line>>()(line, shape)
                                   : detail::with_float_environment(sum);
}
/// The sum of one line.
template <class Line> [[gnu::noinline]] float sum_line(handed_line<Line> line, index length) {
  if (!few::are_few(one_line{length}) || !few::are_ready()) [[unlikely]]
    return sum_long_line<Line>(line, length);
  return few::sum_lines(line, one_line{length});
}

/// The sum of all numbers on several lines, of a program that every instruction set has a kernel for.
template <class Program, class Shape>
[[gnu::noinline]] float sum_of_lines(handed_line<Program> program, Shape shape) {
  return run_kernel(job_kernel<summed_program<Program, Shape>>(), program, shape);
}

/// The sum of what a program gives, rounded to float in each addition, in an order that differs between
/// instruction sets. False, where there is no kernel for it; of a type that is always true where there always
/// is.
template <class Program, class Shape>
[[gnu::always_inline]] inline auto sum_program(const Program& program, const Shape& shape, float& sum) {
  if constexpr (few::stores_program<Program, float, Shape>) {
    sum = few::are_ready() ? few::sum_lines(program, shape)
                           : few::sum_otherwise<Program>(few::in_memory(program), shape);
    return std::true_type{};
  } else if constexpr (few::sums_program<Program, Shape>) {
    using line = line_of<Program>;
    sum = sum_line<line>(as_line(program), shape.length);
    return std::true_type{};
  } else if constexpr (runs_everywhere<summed_program<Program, Shape>>) {
    sum = sum_of_lines<Program, Shape>(program, shape);
    return std::true_type{};
  } else {
    return do_job<summed_program<Program, Shape>>([&](const auto& kernel) { sum = kernel(program, shape); });
  }
}

/// The sums of lines, or of places on all lines (see sums_along_lines, sums_across_lines). False, if the
/// instruction set in use has no vectors; so the functions below.
template <class Program> bool sums_of_lines(const Program& program, const line_shape& shape, float* to) {
  if constexpr (few::evaluates<Program>)
    if (few::are_few_lines(shape) && few::are_ready()) {
      few::sum_each_line(program, shape, to);
      return true;
    }
  return do_job<sums_along_lines<Program>>([&](const auto& kernel) { kernel(program, to, shape); });
}
template <class Program> bool sums_across(const Program& program, const line_shape& shape, float* to) {
  return do_job<sums_across_lines<Program>>([&](const auto& kernel) { kernel(program, to, shape); });
}

/// The product of what a program gives (see multiplied_program).
template <class Program> bool product_of(const Program& program, const line_shape& shape, float& product) {
  return do_job<multiplied_program<Program>>([&](const auto& kernel) { product = kernel(program, shape); });
}

/// The extreme of one line (see extreme_of_line), or NaN where there is no kernel for it. Not inlined, as
/// sum_line.
template <class Order, class Line>
[[gnu::noinline]] float extreme_on_line(handed_line<Line> line, index length) {
  if constexpr (few::sums_program<Line, one_line>)
    if (length > 0 && few::are_few(one_line{length}) && few::are_ready())
      return few::extreme_of_line<Order>(line, length);
  const auto kernel = job_kernel<extreme_of_line<Line, Order>>();
  return kernel == nullptr ? std::numeric_limits<float>::quiet_NaN() : run_kernel(kernel, line, length);
}
/// The same with its place (see extreme_found_on_line), which is the length where there is no kernel for it.
template <class Order, class Line> placed_number find_extreme_on_line(handed_line<Line> line, index length) {
  if constexpr (few::sums_program<Line, one_line>)
    if (length > 0 && few::are_few(one_line{length}) && few::are_ready())
      return few::find_extreme<Order>(line, length);
  const auto kernel = job_kernel<extreme_found_on_line<Line, Order>>();
  return kernel == nullptr ? placed_number{length, 0} : run_kernel(kernel, line, length);
}

/// The same of what a program gives (see extreme_of_program), or NaN.
template <class Order, class Program>
[[gnu::noinline]] float extreme_of(handed_line<Program> program, line_shape shape) {
  const auto kernel = job_kernel<extreme_of_program<Program, Order>>();
  return kernel == nullptr ? std::numeric_limits<float>::quiet_NaN() : run_kernel(kernel, program, shape);
}
template <class Order, class Program>
bool extremes_of_lines(const Program& program, const line_shape& shape, float* to) {
  return do_job<extremes_along_lines<Program, Order>>(
      [&](const auto& kernel) { kernel(program, to, shape); });
}
template <class Order, class Program>
bool extremes_across(const Program& program, const line_shape& shape, float* to) {
  return do_job<extremes_across_lines<Program, Order>>(
      [&](const auto& kernel) { kernel(program, to, shape); });
}
template <class Line> bool find_on_line(const Line& line, float number, index length, index& place) {
  return do_job<found_on_line<Line>>([&](const auto& kernel) { place = kernel(line, number, length); });
}
template <class Program> bool count_program(const Program& program, const line_shape& shape, index& count) {
  return do_job<counted_program<Program>>([&](const auto& kernel) { count = kernel(program, shape); });
}
/// Whether a condition holds anywhere. False, and nothing is done, where there is no kernel for it (see
/// do_job). The first numbers often decide, sooner than a kernel is called.
template <class Program, class Shape>
auto find_any(const Program& condition, const Shape& shape, bool& holds) {
  const auto find = [&](const auto& kernel) {
    holds = kernel(condition, line_shape{shape.lines, shape.length});
  };
  if constexpr (few::stores_program<Program, float, Shape>) {
    if (few::are_ready()) [[likely]]
      few::decides_any(condition, shape, holds);
    else
      holds = few::find_otherwise(few::in_memory(condition), shape);
    return std::true_type{};
  } else if constexpr (few::evaluates<Program>) {
    if (!few::are_ready() || !few::decides_any(condition, shape, holds))
      do_job<found_anywhere<Program>>(find);
    return std::true_type{};
  } else {
    return do_job<found_anywhere<Program>>(find);
  }
}

/// Softmax of lines, or its logarithm, as Kind says (see softmax_along_lines and softmax_across_lines); T is
/// a format that has_coder or float, To is rounded to nearest even.
template <class Kind, class T, class To>
void softmax_along(const T* from, index from_step, To* to, index to_step, const line_shape& shape) {
  const scratch<float> some(softmax_scratch(shape.length));
  do_job<softmax_along_lines<Kind, T, To>>(
      [&](const auto& kernel) { kernel(from, from_step, to, to_step, some.data(), shape); });
}
template <class Kind, class T, class To>
void softmax_across(const T* from, index from_step, To* to, index to_step, const line_shape& shape) {
  const scratch<float> some(softmax_scratch(shape.length));
  do_job<softmax_across_lines<Kind, T, To>>(
      [&](const auto& kernel) { kernel(from, from_step, to, to_step, some.data(), shape); });
}

}  // namespace narrow::kernel
