#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

number sure(bool condition) { return exactly(condition); }
number undecided() { return {0, 1, false}; }

/// f at both ends of an interval, for f that rises or falls; `then` makes a number of a value.
template <class F> number at_ends(const number& x, const F& f) {
  number result;
  if (x.nan) result = f(std::numeric_limits<double>::quiet_NaN());
  if (!x.has_numbers()) return result;
  const number below = f(x.low);
  if (x.is_exact()) return hull(result, below);
  const number above = f(x.high);
  if (below.nan || above.nan) return anything();
  return hull(result, hull(below, above));
}
number settled(const format& f, const number& x) {
  if (!x.is_exact() && !f.is_monotone) return anything();
  return at_ends(x, [&](double value) { return f.settle(value); });
}
number rounded(const format& f, const number& x) {
  if (!x.is_exact() && !f.is_monotone) return anything();
  number result;
  if (x.nan) result = f.store(std::numeric_limits<double>::quiet_NaN());
  if (x.has_numbers()) result = hull(result, hull(f.store(x.low), f.store(x.high)));
  if (result.nan && !result.has_numbers() && !x.is_exact()) return anything();  // too large on either side
  if (result.nan && !x.nan) return anything();
  return result;
}
number rounded_or_nan(const format& f, const number& x) {
  return x.is_exact() ? (x.nan ? f.store(x.value()) : f.store(x.low)) : rounded(f, x);
}

template <class Op> number at_corners(const format& f, const number& x, const number& y, const Op& op) {
  if (x.is_exact() && y.is_exact()) return settled(f, exactly(op(x.value(), y.value())));
  if (x.nan || y.nan || !f.is_monotone) return anything();
  number result;
  for (const double a : {x.low, x.high})
    for (const double b : {y.low, y.high}) result = hull(result, settled(f, exactly(op(a, b))));
  // Between the ends of one, the other of which is infinite, may be a zero or the opposite infinity.
  return result.nan || std::isinf(result.low) || std::isinf(result.high) ? anything() : result;
}

template <class F> grid map(const grid& x, const F& f) {
  grid result(*x.of, x.rows, x.cols);
  std::transform(x.numbers.begin(), x.numbers.end(), result.numbers.begin(), f);
  return result;
}
/// Operations of numbers of two formats give floats.
const format& common(const grid& x, const grid& y) { return x.of == y.of ? *x.of : format_of<float>(); }
template <class F> grid zip(const grid& x, const grid& y, const F& f) {
  grid result(common(x, y), x.rows, x.cols);
  if (x.rows != y.rows || x.cols != y.cols) throw std::string("the reference has operands of two shapes");
  for (std::size_t i = 0; i < x.numbers.size(); ++i) result.numbers[i] = f(x.numbers[i], y.numbers[i]);
  return result;
}
template <class Op> grid combined(const grid& x, const grid& y, const Op& op) {
  const format& f = common(x, y);
  return zip(x, y, [&](const number& a, const number& b) { return at_corners(f, a, b, op); });
}
template <class Place> grid view(const grid& x, Index rows, Index cols, const Place& place) {
  grid result(*x.of, rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const auto [row, col] = place(i, j);
      if (row < 0 || col < 0 || row >= x.rows || col >= x.cols)
        throw std::string("the reference looks outside of its operand");
      result.at(i, j) = x.at(row, col);
    }
  return result;
}
using place_of = std::pair<Index, Index>;

/// The factor that a number written beside a matrix is: beside floats a float.
double literal(const format& f, double k) {
  return f.is_fixed ? k : static_cast<double>(static_cast<float>(k));
}
double quotient(double a, double b) { return a / b; }
number fraction(const format& f, const number& x, const number& y) {
  if (!(x.is_exact() && y.is_exact()) && y.low <= 0 && y.high >= 0) return anything();
  return at_corners(f, x, y, quotient);
}
number one_of_two(const format& f, const number& x, const number& y, bool larger_one) {
  if (x.is_exact() && y.is_exact()) {
    const double a = x.value(), b = y.value();
    return exactly(larger_one ? (a < b ? b : a) : (b < a ? b : a));
  }
  if (x.nan || y.nan) return hull(x, y);
  (void)f;
  return larger_one ? number{std::max(x.low, y.low), std::max(x.high, y.high), false}
                    : number{std::min(x.low, y.low), std::min(x.high, y.high), false};
}
number widened(number x, double relative, double absolute) {
  if (std::isfinite(x.low)) x.low -= std::abs(x.low) * relative + absolute;
  if (std::isfinite(x.high)) x.high += std::abs(x.high) * relative + absolute;
  return x;
}

/// A sum of products of floats, as far as it is known.
struct total {
  double low = 0, high = 0, magnitude = 0;
  Index terms = 0;
  bool integral = true, finite = true, special_only = true;
  double special = 0;  // the sum of what is not finite

  void add(const number& x, const number& y) {
    ++terms;
    if (x.low != x.high || y.low != y.high) integral = false;
    if (x.nan || y.nan || std::isinf(x.low) || std::isinf(x.high) || std::isinf(y.low) ||
        std::isinf(y.high)) {
      finite = false;
      special_only = special_only && x.is_exact() && y.is_exact();
      special += x.value() * y.value();
      return;
    }
    const double corners[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
    const auto [least, most] = std::minmax_element(std::begin(corners), std::end(corners));
    low += *least;
    high += *most;
    magnitude += std::max(std::abs(*least), std::abs(*most));
    integral = integral && *least == std::rint(*least);
  }
  number of_integers() const { return finite ? number{low + 0.0, high + 0.0, false} : anything(); }
  number of_floats() const {
    if (!finite) return special_only && magnitude < 1e37 ? exactly(special) : anything();
    if (magnitude >= 3e38) return anything();
    const auto n = static_cast<double>(terms);
    const double g = (n + 2) * 0x1p-24 / (1 - (n + 2) * 0x1p-24);
    const double error = integral && magnitude <= 0x1p24 ? 0 : g * magnitude + n * 0x1p-125;
    number result{low - error, high + error, false};
    if (result.low == 0 && result.high == 0) result.low = -0.0;  // of either sign
    if (result.low == 0) result.low = -0.0;
    return result;
  }
};
number either_zero(number x) {
  if (x.has_numbers() && x.low == 0 && x.high == 0) return {-0.0, 0.0, x.nan};
  return x;
}

template <class Line> grid by_lines(const grid& x, bool down, const format& f, const Line& line) {
  grid result(f, down ? 1 : x.rows, down ? x.cols : 1);
  for (Index l = 0; l < (down ? x.cols : x.rows); ++l) {
    std::vector<number> numbers;
    for (Index i = 0; i < (down ? x.rows : x.cols); ++i) numbers.push_back(down ? x.at(i, l) : x.at(l, i));
    result.numbers[static_cast<std::size_t>(l)] = line(numbers);
  }
  return result;
}
grid extremes(const grid& x, bool down, bool largest_one) {
  return by_lines(x, down, *x.of, [&](const std::vector<number>& line) {
    number kept = line.at(0);
    for (const number& next : line) kept = one_of_two(*x.of, kept, next, largest_one);
    return rounded_or_nan(*x.of, kept);
  });
}

}  // namespace

bool number::is_exact() const {
  return nan ? !has_numbers() : low == high && std::signbit(low) == std::signbit(high);
}
bool number::contains(double x) const {
  if (std::isnan(x)) return nan;
  if (low == 0 && high == 0 && std::signbit(low) == std::signbit(high))
    return x == 0 && std::signbit(x) == std::signbit(low);
  return low <= x && x <= high;
}
number exactly(double x) { return std::isnan(x) ? number{infinity, -infinity, true} : number{x, x, false}; }
number anything() { return {-infinity, infinity, true}; }
number hull(const number& x, const number& y) {
  if (!x.has_numbers()) return {y.low, y.high, x.nan || y.nan};
  if (!y.has_numbers()) return {x.low, x.high, x.nan || y.nan};
  const auto below = [](double a, double b) { return a < b || (a == b && std::signbit(a)); };
  return {below(x.low, y.low) ? x.low : y.low, below(x.high, y.high) ? y.high : x.high, x.nan || y.nan};
}

grid transposed(const grid& x) {
  return view(x, x.cols, x.rows, [](Index i, Index j) { return place_of{j, i}; });
}
grid turned(const grid& x, int rows, int cols) {
  return view(x, x.rows, x.cols, [&](Index i, Index j) {
    return place_of{rows ? x.rows - 1 - i : i, cols ? x.cols - 1 - j : j};
  });
}
grid part(const grid& x, Index row, Index col, Index rows, Index cols) {
  return view(x, rows, cols, [&](Index i, Index j) { return place_of{row + i, col + j}; });
}
grid diagonal(const grid& x) {
  return view(x, std::min(x.rows, x.cols), 1, [](Index i, Index) { return place_of{i, i}; });
}
grid spread(const grid& x, Index rows, Index cols) {
  return view(x, rows, cols, [&](Index i, Index j) { return place_of{i % x.rows, j % x.cols}; });
}
grid reshaped(const grid& x, Index rows, Index cols) {
  return view(x, rows, cols, [&](Index i, Index j) {
    const Index k = j * rows + i;
    return place_of{k % x.rows, k / x.rows};
  });
}
grid every_second(const grid& x) {
  return view(x, (x.rows + 1) / 2, x.cols, [](Index i, Index j) { return place_of{2 * i, j}; });
}
std::vector<Index> mixed(Index n) {
  std::vector<Index> places;
  for (Index i = 0; i < n; ++i) places.push_back((5 * i + 2) % n);
  return places;
}
grid mixed_columns(const grid& x) {
  return view(x, x.rows, x.cols, [places = mixed(x.cols)](Index i, Index j) {
    return place_of{i, places[static_cast<std::size_t>(j)]};
  });
}

grid plus(const grid& x, const grid& y) { return combined(x, y, std::plus<double>{}); }
grid minus(const grid& x, const grid& y) { return combined(x, y, std::minus<double>{}); }
grid times(const grid& x, const grid& y) { return combined(x, y, std::multiplies<double>{}); }
grid over(const grid& x, const grid& y) {
  const format& f = common(x, y);
  return zip(x, y, [&](const number& a, const number& b) { return fraction(f, a, b); });
}
grid smaller(const grid& x, const grid& y) {
  return zip(x, y, [&](const number& a, const number& b) { return one_of_two(*x.of, a, b, false); });
}
grid larger(const grid& x, const grid& y) {
  return zip(x, y, [&](const number& a, const number& b) { return one_of_two(*x.of, a, b, true); });
}
grid plus(const grid& x, double k) {
  const number y = exactly(literal(*x.of, k));
  return map(x, [&](const number& a) { return at_corners(*x.of, a, y, std::plus<double>{}); });
}
grid minus(const grid& x, double k) { return plus(x, -k); }
grid minus(double k, const grid& x) {
  const number y = exactly(literal(*x.of, k));
  return map(x, [&](const number& a) { return at_corners(*x.of, y, a, std::minus<double>{}); });
}
grid times(const grid& x, double k) {
  const number y = exactly(literal(*x.of, k));
  return map(x, [&](const number& a) { return at_corners(*x.of, a, y, std::multiplies<double>{}); });
}
grid over(const grid& x, double k) {
  const number y = exactly(literal(*x.of, k));
  return map(x, [&](const number& a) { return fraction(*x.of, a, y); });
}
grid over(double k, const grid& x) {
  const number y = exactly(literal(*x.of, k));
  return map(x, [&](const number& a) { return fraction(*x.of, y, a); });
}
grid negative(const grid& x) {
  return map(x, [&](const number& a) { return settled(*x.of, number{-a.high, -a.low, a.nan}); });
}
grid absolute(const grid& x) {
  return map(x, [&](const number& a) {
    if (!a.has_numbers()) return a;
    const bool crosses = a.low < 0 && a.high > 0;
    const double p = std::abs(a.low), q = std::abs(a.high);
    return settled(*x.of, {crosses ? 0 : std::min(p, q), std::max(p, q), a.nan});
  });
}
grid square(const grid& x) {
  return map(x, [&](const number& a) {
    number result = at_corners(*x.of, a, a, std::multiplies<double>{});
    if (!a.is_exact() && a.low < 0 && a.high > 0) result.low = 0;
    return result;
  });
}
grid cube(const grid& x) { return times(times(x, x), x); }
grid root(const grid& x) {
  return map(x, [&](const number& a) {
    if (!a.is_exact() && a.low <= 0) return anything();
    return at_ends(a, [&](double v) { return x.of->settle(std::sqrt(v)); });
  });
}
grid function(const grid& x, double (*f)(double)) {
  return map(x, [&](const number& a) {
    number value = at_ends(a, [&](double v) { return exactly(f(v)); });
    if (value.nan && !a.nan && !a.is_exact()) return anything();
    value = widened(value,
                    x.of->is_fixed                ? 0x1p-48
                    : x.of == &format_of<float>() ? 0x1p-20
                                                  : 0x1p-22,
                    x.of->is_fixed ? 0 : 0x1p-149);
    // At zeros and infinities, which exact values are, they are those.
    if (a.is_exact() && (a.value() == 0 || std::isinf(a.value()))) value = exactly(f(a.value()));
    return settled(*x.of, value);
  });
}
grid wave(const grid& x, double (*f)(double)) {
  grid result = map(x, [&](const number& a) {
    return a.is_exact() ? a : number{infinity, -infinity, false};
  });
  result = function(result, f);
  for (number& a : result.numbers)
    if (!a.has_numbers() && !a.nan) a = anything();
  return result;
}
#define NARROW_RISING(name, f)                                                                             \
  grid name(const grid& x) {                                                                               \
    return map(x, [&](const number& a) { return at_ends(a, [&](double v) { return x.of->settle(f); }); }); \
  }
NARROW_RISING(down, std::floor(v))
NARROW_RISING(up, std::ceil(v))
NARROW_RISING(nearest_away, std::round(v))
NARROW_RISING(nearest_even, std::rint(v))
NARROW_RISING(sign, std::isnan(v) ? v : static_cast<double>((v > 0) - (v < 0)))
#undef NARROW_RISING

grid stored(const grid& x) { return stored(x, *x.of); }
grid stored(const grid& x, const format& to) {
  grid result = map(x, [&](const number& a) { return rounded_or_nan(to, a); });
  result.of = &to;
  return result;
}
grid valued(const grid& x, const format& to) {
  grid result = x;
  result.of = &to;
  return result;
}

grid compared(const grid& x, relation r, const grid& y) {
  grid result = zip(x, y, [&](const number& a, const number& b) {
    if (a.is_exact() && b.is_exact()) {
      const double p = a.value(), q = b.value();
      return sure(r == relation::less ? p < q : r == relation::equal ? p == q : p <= q);
    }
    if (a.nan || b.nan) return undecided();
    const bool below = a.high<b.low, above = a.low> b.high;
    if (r == relation::equal) return below || above ? sure(false) : undecided();
    return below ? sure(true) : above ? sure(false) : undecided();
  });
  result.of = &format_of_conditions();
  return result;
}
grid is_nan(const grid& x) {
  return valued(map(x,
                    [](const number& a) {
                      return !a.nan ? sure(false) : a.has_numbers() ? undecided() : sure(true);
                    }),
                format_of_conditions());
}
grid is_infinite(const grid& x) {
  return valued(map(x,
                    [](const number& a) {
                      if (a.is_exact()) return sure(std::isinf(a.value()));
                      return std::isinf(a.low) || std::isinf(a.high) ? undecided() : sure(false);
                    }),
                format_of_conditions());
}
grid opposite(const grid& b) {
  return map(b, [](const number& a) { return number{1 - a.high, 1 - a.low, false}; });
}
grid both(const grid& a, const grid& b) {
  return zip(a, b, [](const number& p, const number& q) {
    return number{std::min(p.low, q.low), std::min(p.high, q.high), false};
  });
}
grid either(const grid& a, const grid& b) { return opposite(both(opposite(a), opposite(b))); }
grid chosen(const grid& b, const grid& x, const grid& y) {
  grid result(common(x, y), x.rows, x.cols);
  for (std::size_t i = 0; i < result.numbers.size(); ++i) {
    const number& c = b.numbers.at(i);
    result.numbers[i] = !c.is_exact() ? hull(x.numbers[i], y.numbers.at(i))
                        : c.low != 0  ? x.numbers[i]
                                      : y.numbers.at(i);
  }
  return result;
}
grid constant(const format& f, Index rows, Index cols, double k) {
  grid result(f, rows, cols);
  std::fill(result.numbers.begin(), result.numbers.end(), f.store(k));
  return result;
}
grid identity(const format& f, Index rows, Index cols) {
  grid result = constant(f, rows, cols, 0);
  for (Index i = 0; i < std::min(rows, cols); ++i) result.at(i, i) = f.store(1);
  return result;
}

grid product(const grid& x, const grid& y, double alpha, const grid& z, double beta) {
  const format& f = common(x, y);
  const bool exact = f.is_fixed;
  grid result(z.of ? *z.of : f, x.rows, y.cols);
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < y.cols; ++j) {
      total sum;
      for (Index k = 0; k < x.cols; ++k) sum.add(x.at(i, k), y.at(k, j));
      number value = exact ? sum.of_integers() : sum.of_floats();
      if (alpha != 1) {
        value = number{std::min(alpha * value.low, alpha * value.high),
                       std::max(alpha * value.low, alpha * value.high), value.nan};
        if (!exact && std::abs(alpha) != 1) value = widened(value, 0x1p-23, 0x1p-149);
      }
      if (beta != 0) {
        const number& old = z.at(i, j);
        if (value.nan || old.nan || std::isinf(value.low) || std::isinf(value.high) || !old.is_exact() ||
            std::isinf(old.low)) {
          value =
              value.is_exact() && old.is_exact() ? exactly(value.value() + beta * old.value()) : anything();
        } else {
          const number added{value.low + beta * old.low, value.high + beta * old.high, false};
          const double room =
              exact ? 0
                    : (std::abs(beta * old.low) + std::max(std::abs(value.low), std::abs(value.high))) *
                          0x1p-23;
          value = value.is_exact() && sum.integral && std::abs(added.low) < 0x1p24 &&
                          old.low == std::rint(old.low)
                      ? added
                      : widened(added, 0, room);
        }
      }
      if (!exact) value = either_zero(value);
      result.at(i, j) = z.of ? rounded_or_nan(*z.of, value) : settled(f, value);
    }
  return result;
}
grid sums(const grid& x, int down_columns) {
  return by_lines(x, down_columns, *x.of, [&](const std::vector<number>& line) {
    total sum;
    for (const number& a : line) sum.add(a, exactly(1));
    const number value = settled(*x.of, x.of->is_fixed ? sum.of_integers() : sum.of_floats());
    return x.of->is_fixed ? value : either_zero(value);
  });
}
grid products(const grid& x, int down_columns) {
  return by_lines(x, down_columns, *x.of, [&](const std::vector<number>& line) {
    if (line.size() == 1) return rounded_or_nan(*x.of, line[0]);
    if (x.of->is_fixed) return anything();
    double result = 1, least = 1, most = 1;
    for (const number& a : line) {
      const number once = rounded_or_nan(*x.of, a);
      if (!once.is_exact() || once.nan || std::isinf(once.low) || once.low == 0) return anything();
      result *= once.low;
      least = std::min(least, 1.0) * std::min(std::abs(once.low), 1.0);
      most = std::max(most, 1.0) * std::max(std::abs(once.low), 1.0);
    }
    if (x.of->store(most * 2).low < most || x.of->store(-most * 2).high > -most ||
        std::isinf(x.of->store(-most * 2).low) || least < x.of->least || !x.of->store(most * 2).is_exact() ||
        x.of->store(most * 2).nan || std::isinf(x.of->store(most * 2).low))
      return anything();
    const double error = static_cast<double>(2 * line.size()) * std::ldexp(1, -x.of->precision);
    return error > 0.25 ? anything() : rounded(*x.of, widened(exactly(result), 2 * error, 0));
  });
}
grid smallest(const grid& x, int down_columns) { return extremes(x, down_columns, false); }
grid largest(const grid& x, int down_columns) { return extremes(x, down_columns, true); }
grid counts(const grid& x, int down_columns) {
  return by_lines(x, down_columns, *x.of, [](const std::vector<number>& line) {
    number result = exactly(0);
    for (const number& a : line) result = {result.low + a.low, result.high + a.high, false};
    return result;
  });
}
grid all_hold(const grid& x, int down_columns) {
  return by_lines(x, down_columns, *x.of, [](const std::vector<number>& line) {
    number result = exactly(1);
    for (const number& a : line) result = {std::min(result.low, a.low), std::min(result.high, a.high), false};
    return result;
  });
}
grid any_holds(const grid& x, int down_columns) { return opposite(all_hold(opposite(x), down_columns)); }
grid in_column(const grid& x) { return reshaped(x, x.rows * x.cols, 1); }
grid triangle(const grid& x, int lower, int unit, int mirrored) {
  grid result = x;
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.cols; ++j) {
      const bool kept = lower ? i >= j : i <= j;
      if (i == j && unit) result.at(i, j) = exactly(1);
      if (!kept)
        result.at(i, j) = mirrored ? x.at(j, i) : number{-0.0, 0.0, false};  // zeros that may be skipped
    }
  return result;
}
grid place(const grid& x, int of_largest) {
  grid result(format_of_conditions(), 1, 2);
  const grid values = stored(x);
  Index row = 0, col = 0;
  bool known = true;
  for (Index j = 0; j < x.cols; ++j)
    for (Index i = 0; i < x.rows; ++i) {
      const number &next = values.at(i, j), &kept = values.at(row, col);
      known = known && next.is_exact();
      if (of_largest ? next.value() > kept.value() : next.value() < kept.value()) row = i, col = j;
    }
  result.at(0, 0) = known ? exactly(static_cast<double>(row)) : anything();
  result.at(0, 1) = known ? exactly(static_cast<double>(col)) : anything();
  return result;
}

grid places(const grid& d) {
  grid result = d;
  for (std::size_t i = 0; i < d.numbers.size(); ++i) result.numbers[i] = exactly(static_cast<double>(i));
  return result;
}
grid written(const grid& d, const grid& where, const grid& x) {
  if (where.rows != x.rows || where.cols != x.cols) throw std::string("the reference writes another shape");
  grid result = d;
  for (std::size_t i = 0; i < x.numbers.size(); ++i)
    result.numbers.at(static_cast<std::size_t>(where.numbers[i].low)) = rounded_or_nan(*d.of, x.numbers[i]);
  return result;
}
grid read(const grid& d, const grid& where) {
  grid result(*d.of, where.rows, where.cols);
  for (std::size_t i = 0; i < where.numbers.size(); ++i)
    result.numbers[i] = d.numbers.at(static_cast<std::size_t>(where.numbers[i].low));
  return result;
}

std::string text(const number& x) {
  std::ostringstream out;
  out.precision(12);
  if (x.has_numbers() && x.is_exact()) out << x.low;
  if (x.has_numbers() && !x.is_exact()) out << '[' << x.low << ", " << x.high << ']';
  if (x.nan) out << (x.has_numbers() ? " or NaN" : "NaN");
  return out.str();
}

}  // namespace reference
