// What a random program consists of: inputs of any numbers in any place, and statements whose results are
// compared with the reference.
#pragma once

#define EIGEN_FAST_MATH 0  // roots of matrices of floats are roots
#define eigen_assert(condition) ((condition) ? void() : random_programs::assertion_failed(#condition))
namespace random_programs {
[[noreturn]] void assertion_failed(const char* condition);
}

#include <narrow/eigen.hpp>

#include "formats.hpp"
#include "reference.hpp"

namespace random_programs {

using Eigen::Index;
using reference::grid;
using reference::number;

#ifdef NARROW_RANDOM_FLOAT  // the same programs of float, which tells whether the reference is right
template <class> using scalar = float;
#else
template <class S> using scalar = S;
#endif

/// Which numbers the inputs hold.
enum class choice { integers, usual, edges, any };

/// One run of a program: its sizes, its numbers, and what came of it.
class trial {
 public:
  trial(std::uint64_t seed, choice numbers, const Index (&sizes)[4]) : state_(seed), numbers_(numbers) {
    std::copy(std::begin(sizes), std::end(sizes), sizes_);
  }
  Index size(int i) const { return sizes_[i]; }
  std::uint64_t draw();
  /// A value that an input of the format is made of: a code, or a number to be rounded (then `is_code` is 0).
  double draw_number(const reference::format& f, bool& is_code, std::uint64_t& code);

  /// One coefficient of the result of a statement, `got`, of which `bits` are the code.
  void compare(int statement, Index row, Index col, double got, std::uint64_t bits, const number& expected);
  void compare_shape(int statement, Index rows, Index cols, const grid& expected);

  std::uint64_t hash() const { return hash_; }
  std::uint64_t compared() const { return compared_; }
  std::uint64_t determined() const { return determined_; }
  std::uint64_t mismatches() const { return mismatches_; }
  bool is_determined() const { return determined_ == compared_; }
  const std::string& first() const { return first_; }

 private:
  std::uint64_t state_;
  choice numbers_;
  Index sizes_[4];
  std::uint64_t hash_ = 0, compared_ = 0, determined_ = 0, mismatches_ = 0;
  std::string first_;
};

template <class S> double value_of(const S& x, std::uint64_t& bits) {
  if constexpr (narrow::narrow_scalar<S>) {
    const auto& f = reference::format_of<S>();
    bits = static_cast<std::uint64_t>(x.bits()) & (f.codes - 1);
    return f.decode(bits);
  } else if constexpr (std::same_as<S, float>) {
    bits = x != x ? 0x7fc00000 : std::bit_cast<std::uint32_t>(x);
    return static_cast<double>(x);
  } else {
    bits = static_cast<std::uint64_t>(x);
    return static_cast<double>(x);
  }
}
template <class S> const reference::format& format_of() {
  if constexpr (narrow::narrow_scalar<S> || std::same_as<S, float>)
    return reference::format_of<S>();
  else
    return reference::format_of_conditions();
}

template <class S> S draw(trial& s) {
  bool is_code = false;
  std::uint64_t code = 0;
  const double value = s.draw_number(format_of<S>(), is_code, code);
  if constexpr (narrow::narrow_scalar<S>)
    if (is_code) return S::from_bits(static_cast<typename S::bits_type>(code));
  return static_cast<S>(value);
}

/// The values of a matrix in memory, as the reference decodes their codes.
template <class M> grid grid_of(const M& m) {
  grid result(format_of<typename M::Scalar>(), m.rows(), m.cols());
  std::uint64_t bits = 0;
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j)
      result.at(i, j) = reference::exactly(value_of(m.coeffRef(i, j), bits));
  return result;
}

/// A matrix or array M of drawn numbers.
template <class M> struct plain {
  M x;
  grid r;
  plain(trial& s, Index rows, Index cols) : x(rows, cols) {
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = draw<typename M::Scalar>(s);
    r = grid_of(x);
  }
};
/// The same as a map of memory with these steps between neighbours, and between lines beyond their length.
template <class M, int Inner, int Beyond> struct mapped {
  std::vector<typename M::Scalar> memory;
  Eigen::Map<M, 0, Eigen::Stride<Eigen::Dynamic, Inner == 1 ? 1 : Eigen::Dynamic>> x;
  grid r;
  static Index outer(Index rows, Index cols) { return (M::IsRowMajor ? cols : rows) * Inner + Beyond; }
  mapped(trial& s, Index rows, Index cols)
      : memory(static_cast<std::size_t>(outer(rows, cols) * (M::IsRowMajor ? rows : cols) + Inner)),
        x(memory.data() + 1, rows, cols, {outer(rows, cols), Inner}) {
    for (auto& number : memory) number = draw<typename M::Scalar>(s);
    r = grid_of(x);
  }
};
/// The same as a reference to a part of a matrix.
template <class M> struct referred {
  using larger = Eigen::Matrix<typename M::Scalar, Eigen::Dynamic, Eigen::Dynamic,
                               M::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor>;
  larger whole;
  Eigen::Ref<M, 0, Eigen::OuterStride<>> x;
  grid r;
  referred(trial& s, Index rows, Index cols)
      : whole(plain<larger>(s, rows + 2, cols + 1).x), x(whole.block(1, 1, rows, cols)), r(grid_of(x)) {}
};

/// Compares what a statement left in d with the reference, and lets the reference go on from there.
template <class D> void check(trial& s, int statement, D& d, const grid& expected) {
  s.compare_shape(statement, d.x.rows(), d.x.cols(), expected);
  std::uint64_t bits = 0;
  for (Index i = 0; i < d.x.rows(); ++i)
    for (Index j = 0; j < d.x.cols(); ++j) {
      const double got = value_of(d.x.coeffRef(i, j), bits);
      s.compare(statement, i, j, got, bits, expected.at(i, j));
    }
  d.r = grid_of(d.x);
}
template <class T> void check_number(trial& s, int statement, const T& x, const number& expected) {
  std::uint64_t bits = 0;
  const double got = value_of(x, bits);
  s.compare(statement, 0, 0, got, bits, expected);
}

template <class X> Index row_of_largest(const X& x) {
  Index row = 0, col = 0;
  x.maxCoeff(&row, &col);
  return row;
}
template <class X> Index column_of_smallest(const X& x) {
  Index row = 0, col = 0;
  x.minCoeff(&row, &col);
  return col;
}
inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// A program of a batch, which registers itself.
struct program {
  int number;
  const char* text;
  void (*run)(trial&);
  bool has_fixed_sizes;
  program(int which, const char* source, void (*f)(trial&), bool fixed_sizes);
};

}  // namespace random_programs
