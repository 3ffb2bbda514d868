// What a random program must compute, found without Eigen and without the library's code: matrices of
// intervals.
//
// A coefficient is an interval of doubles that contains every result that is right. It is one number where
// the result is determined: operations on floats are those of doubles, rounded to float once, numbers of a
// format are rounded by tests/oracle.hpp. It is wider behind what the library only bounds:
//
//   sum of n products   |error| <= g(n) sum |a||b|, g(n) = n 2^-24 / (1 - n 2^-24), and n 2^-126 for what the
//                       instructions for bf16 flush; nothing where all terms are integers and their sum of
//                       magnitudes is at most 2^24; of `fixed` nothing
//   a factor of it      one more rounding to float
//   exp, tanh, ...      2^-22 relative: a float, or what rounds as the exact value does; 2^-20 of matrices of
//                       floats, which are Eigen's
//   prod()              one rounding for each factor, in any order
//   stochastic          either neighbour
//
// Every operation widens an interval as far as its ends move, so that bounds go through whole programs.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace reference {

using Index = std::ptrdiff_t;

/// Any number from low to high, and NaN where `nan`; NaN alone is above all that is below it.
struct number {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool nan = false;

  bool has_numbers() const { return low <= high; }
  /// One number of one sign, or NaN alone.
  bool is_exact() const;
  double value() const { return has_numbers() ? low : std::numeric_limits<double>::quiet_NaN(); }
  bool contains(double x) const;
};
number exactly(double x);
number anything();
number hull(const number& x, const number& y);

/// A number format: how an operation on its numbers and a store are rounded.
struct format {
  std::string name;
  bool is_fixed = false;    // operations give numbers of the format, elsewhere floats
  bool is_monotone = true;  // a larger number is not rounded to a smaller one: not where fixed point wraps
  int precision = 24;       // significant bits
  double least = 0;         // below that they are fewer
  std::uint64_t codes = 0;
  number (*settle)(double) = nullptr;         // an exact result of an operation
  number (*store)(double) = nullptr;          // a number that is stored
  double (*decode)(std::uint64_t) = nullptr;  // what a code stands for
};
/// Defined for the formats of the programs in reference_formats.cpp.
template <class S> const format& format_of();
const format& format_of_conditions();

/// A matrix of intervals, row by row. Conditions are 0, 1 or, undecided, both.
struct grid {
  const format* of = nullptr;
  Index rows = 0, cols = 0;
  std::vector<number> numbers;

  grid() = default;
  grid(const format& f, Index r, Index c)
      : of(&f), rows(r), cols(c), numbers(static_cast<std::size_t>(r * c)) {}
  number& at(Index i, Index j) { return numbers[static_cast<std::size_t>(i * cols + j)]; }
  const number& at(Index i, Index j) const { return numbers[static_cast<std::size_t>(i * cols + j)]; }
};

// ---- views
/// Places of n lines, some of them more than once and others never, up and down.
std::vector<Index> mixed(Index n);
grid transposed(const grid& x);
grid turned(const grid& x, int rows, int cols);  // read from the other end of its columns, its rows
grid part(const grid& x, Index row, Index col, Index rows, Index cols);
grid diagonal(const grid& x);
grid spread(const grid& x, Index rows, Index cols);  // repeated as often as it fits
grid reshaped(const grid& x, Index rows, Index cols);
grid every_second(const grid& x);   // rows
grid mixed_columns(const grid& x);  // those that mixed() tells

// ---- coefficient-wise
grid plus(const grid& x, const grid& y);
grid minus(const grid& x, const grid& y);
grid times(const grid& x, const grid& y);
grid over(const grid& x, const grid& y);
grid smaller(const grid& x, const grid& y);
grid larger(const grid& x, const grid& y);
grid plus(const grid& x, double k);
grid minus(const grid& x, double k);
grid minus(double k, const grid& x);
grid times(const grid& x, double k);
grid over(const grid& x, double k);
grid over(double k, const grid& x);
grid negative(const grid& x);
grid absolute(const grid& x);
grid square(const grid& x);
grid cube(const grid& x);
grid root(const grid& x);
grid down(const grid& x);
grid up(const grid& x);
grid nearest_away(const grid& x);
grid nearest_even(const grid& x);
grid sign(const grid& x);
/// A function that rises, or falls, wherever it is defined.
grid function(const grid& x, double (*f)(double));
/// One that does neither.
grid wave(const grid& x, double (*f)(double));
grid stored(const grid& x);                    // rounded to its format
grid stored(const grid& x, const format& to);  // to another one
grid valued(const grid& x, const format& to);  // the same numbers, as results of another one

// ---- conditions
enum class relation { less, not_greater, equal };
grid compared(const grid& x, relation r, const grid& y);
grid is_nan(const grid& x);
grid is_infinite(const grid& x);
grid opposite(const grid& b);
grid both(const grid& a, const grid& b);
grid either(const grid& a, const grid& b);
grid chosen(const grid& b, const grid& x, const grid& y);
grid constant(const format& f, Index rows, Index cols, double k);  // stored in f
grid identity(const format& f, Index rows, Index cols);

// ---- sums and what else makes one number of many
/// alpha x y + beta z, rounded once to z's format, or as a result of an operation if z has no format.
grid product(const grid& x, const grid& y, double alpha = 1, const grid& z = {}, double beta = 0);
grid sums(const grid& x, int down_columns);
grid products(const grid& x, int down_columns);
grid smallest(const grid& x, int down_columns);
grid largest(const grid& x, int down_columns);
grid counts(const grid& x, int down_columns);
grid all_hold(const grid& x, int down_columns);
grid any_holds(const grid& x, int down_columns);
grid in_column(const grid& x);  // column by column, as one column
grid triangle(const grid& x, int lower, int unit, int mirrored);
/// Of the first smallest (largest) number, counted column by column, the row, and the column.
grid place(const grid& x, int of_largest);

// ---- assignments
/// The grid d, in which every number that `where` shows of d is that of x. `where` is a view of places(d).
grid places(const grid& d);
grid written(const grid& d, const grid& where, const grid& x);
grid read(const grid& d, const grid& where);

std::string text(const number& x);

}  // namespace reference
