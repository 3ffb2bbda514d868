// Programs of lanes over many lines that are shorter than vectors: several lines are evaluated as one. A
// vector that meets every line, or has a number for each, is laid out as a matrix first, for so many lines at
// a time.
#pragma once

#include <algorithm>
#include <functional>

#include "fixed.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Numbers that are laid out at a time, a few KiB, and the longest of short lines.
inline constexpr index max_laid_out = 1024, longest_short = 24;

/// Where a program is stored, without gaps between lines of this length.
struct joined_result {
  const void *first, *end;
  index length;

  /// Whether numbers in memory stay as they are while results are stored.
  template <class T> bool is_apart_from(const T* from, index count) const {
    const std::less_equal<const void*> before;
    return before(from + count, first) || before(end, from);
  }
};

/// Lines of a part of a program as one:
///
///   is_there                      false where that is not known of such a part
///   lays_out                      whether there is something to be laid out
///   fits(part, result, lines)     whether so many lines can be joined
///   of(part, line, lines, length) the part on so many lines from one on
///
/// A joined_lines is what they are laid out in.
template <class Part> struct joined_lines { static constexpr bool is_there = false, lays_out = false; };

template <class T> struct joined_lines<lane_numbers<T>> {
  static constexpr bool is_there = true, lays_out = false;
  static bool fits(const lane_numbers<T>& x, const joined_result& to, index) {
    return x.line_step == to.length;
  }
  lane_numbers<T> of(const lane_numbers<T>& x, index line, index, index) {
    return {x.from + line * x.line_step, 0};
  }
};
struct joined_constants {
  static constexpr bool is_there = true, lays_out = false;
  static bool fits(const auto&, const joined_result&, index) { return true; }
  template <class Part> auto of(const Part& x, index line, index, index) { return on_line(x, line); }
};
template <> struct joined_lines<lane_constant> : joined_constants {};
template <class T> struct joined_lines<lane_single<T>> : joined_constants {};
template <> struct joined_lines<lane_mantissa> : joined_constants {};
template <> struct joined_lines<lane_factor> : joined_constants {};
template <> struct joined_lines<lane_addend> : joined_constants {};

template <class T> class laid_out {
 public:
  static constexpr bool is_there = true, lays_out = true;

 protected:
  /// The same numbers on every line, which all but the last few lines at a time have as many of.
  lane_numbers<T> repeat(const T* from, index line, index lines, index length) {
    if (line > 0) return {numbers_, 0};
    const index all = lines * length;
    std::copy_n(from, length, numbers_);
    for (index done = length, more; done < all; done += more) {
      more = std::min(done, all - done);
      std::copy_n(numbers_, more, numbers_ + done);
    }
    return {numbers_, 0};
  }
  /// One number for each line.
  lane_numbers<T> spread(const T* from, index step, index lines, index length) {
    for (index l = 0; l < lines; ++l) {
      T* const line = numbers_ + l * length;
      const T number = from[l * step];
      // Whole parts, of which the next line takes what is too much, are filled without a loop.
      std::fill_n(line, part, number);
      if (length > part) std::fill_n(line + part, part, number);
    }
    return {numbers_, 0};
  }

 private:
  static constexpr index part = 16;
  static_assert(longest_short <= 2 * part);
  alignas(64) T numbers_[max_laid_out + part];
};
template <class T> struct joined_lines<lane_line<T>> : laid_out<T> {
  static bool fits(const lane_line<T>& x, const joined_result& to, index) {
    return to.is_apart_from(x.from, to.length);
  }
  lane_numbers<T> of(const lane_line<T>& x, index line, index lines, index length) {
    return this->repeat(x.from, line, lines, length);
  }
};
template <class T> struct joined_lines<lane_number_per_line<T>> : laid_out<T> {
  static bool fits(const lane_number_per_line<T>& x, const joined_result& to, index lines) {
    return x.line_step > 0 && to.is_apart_from(x.from, (lines - 1) * x.line_step + 1);
  }
  lane_numbers<T> of(const lane_number_per_line<T>& x, index line, index lines, index length) {
    return this->spread(x.from + line * x.line_step, x.line_step, lines, length);
  }
};
/// A vector that meets every line, or a matrix whose lines follow one another.
template <class Held> struct joined_lines<lane_held<Held>> : laid_out<typename Held::Scalar> {
  using number = typename Held::Scalar;
  static bool fits(const lane_held<Held>& x, const joined_result& to, index) {
    return x.line_step == 0 || x.line_step == to.length;
  }
  lane_numbers<number> of(const lane_held<Held>& x, index line, index lines, index length) {
    if (x.line_step == 0) return this->repeat(x.values.data(), line, lines, length);
    return {x.values.data() + line * x.line_step, 0};
  }
};
template <class Held> struct joined_lines<lane_held_per_line<Held>> : laid_out<float> {
  static bool fits(const lane_held_per_line<Held>&, const joined_result&, index) { return true; }
  lane_numbers<float> of(const lane_held_per_line<Held>& x, index line, index lines, index length) {
    return spread(x.values.data() + line, 1, lines, length);
  }
};

template <class Op, class A> struct joined_lines<lane_unary<Op, A>> {
  using part = lane_unary<Op, A>;
  static constexpr bool is_there = joined_lines<A>::is_there, lays_out = joined_lines<A>::lays_out;
  static bool fits(const part& x, const joined_result& to, index lines) {
    return joined_lines<A>::fits(x.a, to, lines);
  }
  auto of(const part& x, index line, index lines, index length) {
    return lane_unary<Op, std::remove_cvref_t<decltype(a_.of(x.a, line, lines, length))>>{
        a_.of(x.a, line, lines, length)};
  }

 private:
  joined_lines<A> a_;
};
template <class Op, class A, class B> struct joined_lines<lane_binary<Op, A, B>> {
  using part = lane_binary<Op, A, B>;
  static constexpr bool is_there = joined_lines<A>::is_there && joined_lines<B>::is_there,
                        lays_out = joined_lines<A>::lays_out || joined_lines<B>::lays_out;
  static bool fits(const part& x, const joined_result& to, index lines) {
    return joined_lines<A>::fits(x.a, to, lines) && joined_lines<B>::fits(x.b, to, lines);
  }
  auto of(const part& x, index line, index lines, index length) {
    return lane_binary<Op, std::remove_cvref_t<decltype(a_.of(x.a, line, lines, length))>,
                       std::remove_cvref_t<decltype(b_.of(x.b, line, lines, length))>>{
        a_.of(x.a, line, lines, length), b_.of(x.b, line, lines, length)};
  }

 private:
  joined_lines<A> a_;
  joined_lines<B> b_;
};

/// Programs whose lines are joined where they are short.
template <class Program>
inline constexpr bool joins_short_lines = joined_lines<Program>::is_there&& joined_lines<Program>::lays_out;

}  // namespace narrow::kernel

NARROW_STRICT_END
