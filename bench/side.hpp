// What the sources of a side share. A side is of narrow formats, or of float, and then includes nothing of
// narrow, so that Eigen is as others have it.
//
// NARROW_BENCH_SIDE is its name, one of the namespaces of operation.hpp. An operation is written once, as a
// class template Data<T, Format> that holds its operands, and a function that takes it: T is what is computed
// in, Format what the operands are rounded to, so that the same operation in double, from the same operands,
// tells what is right.
#pragma once

#ifdef NARROW_BENCH_FLOAT
#include <Eigen/Dense>
#else
#include <narrow/eigen.hpp>

#include <Eigen/Dense>

#include "formats.hpp"
#include "limits.hpp"
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "operation.hpp"
#include "random.hpp"
#include "types.hpp"

// The linker sees what has this, and nothing else of a side.
#define NARROW_BENCH_OFFERED [[gnu::visibility("default")]]

namespace narrow_bench {

using Eigen::Index;

#ifdef NARROW_BENCH_FLOAT

using scalar_formats = std::tuple<float>;
using array_formats = scalar_formats;
using program_formats = scalar_formats;
using summed_formats = scalar_formats;
using inner_product_formats = scalar_formats;
using vector_product_formats = scalar_formats;

template <class T> std::string name_of() { return "float"; }
template <class T> constexpr bool is_block = false;
template <class T> constexpr arithmetic arithmetic_of() { return arithmetic::fp32; }

inline float dot(const Eigen::VectorXf& a, const Eigen::VectorXf& b) { return a.dot(b); }
inline float sum(const Eigen::VectorXf& a) { return a.sum(); }

#else

template <class T> constexpr bool is_block = narrow::block_format<T>;

#endif

template <class T> using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T> using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Bytes that a coefficient takes in memory.
template <class T> constexpr std::size_t bytes_of() {
  if constexpr (is_block<T>)
    return sizeof(typename T::element_type);
  else
    return sizeof(T);
}

/// Numbers between -scale and scale, rounded to Format, in a matrix of any type.
template <class To, class Format>
To filled(Index rows, Index cols, unsigned seed, float scale = 1, float offset = 0) {
  const auto numbers = random_floats(static_cast<std::size_t>(rows * cols), seed);
  const auto wide = Eigen::Map<const Eigen::MatrixXf>(numbers.data(), rows, cols).array() * scale + offset;
  if constexpr (is_block<Format>) {
    const matrix<Format> rounded = wide.matrix();
    const Eigen::MatrixXf read = rounded;
    if constexpr (std::is_same_v<typename To::Scalar, double>)
      return read.cast<double>();
    else
      return read;
  } else {
    return wide.matrix().template cast<Format>().template cast<typename To::Scalar>();
  }
}

/// What a rounding to T may cost at a number; `largest` is the largest magnitude of all.
template <class T> double half_a_step(double number, double largest) {
  if constexpr (is_block<T>) {
    return largest /
           static_cast<double>(T::limit);  // half a step is half of this, or this where it is a power of two
  } else {
    using limits = std::numeric_limits<T>;
    const auto epsilon = static_cast<double>(limits::epsilon());
    return epsilon / 2 *
           (limits::is_exact ? 1 : std::max(std::abs(number), static_cast<double>(limits::min())));
  }
}

/// The largest error of what is computed in T, as a share of the largest number; nothing where one is larger
/// than so many roundings explain.
template <class T>
std::optional<double> error_of(const Eigen::ArrayXd& got, const Eigen::ArrayXd& exact, double roundings) {
  constexpr double of_float = 0x1p-22;  // what was computed in float before, of terms that may cancel
  constexpr double least =
      is_block<T> ? 1 : 0;  // the largest number may be another one than that of the operands
  const double lowest = static_cast<double>(std::numeric_limits<T>::lowest()),
               highest = static_cast<double>(std::numeric_limits<T>::max());
  const double largest = exact.abs().maxCoeff();
  double worst = 0;
  for (Index i = 0; i < exact.size(); ++i) {
    const double error = std::abs(got[i] - std::clamp(exact[i], lowest, highest));
    if (!(error <= std::max(roundings, least) * (half_a_step<T>(exact[i], largest) + of_float * largest)))
      return std::nullopt;
    worst = std::max(worst, error / largest);
  }
  return worst;
}

/// What an operation is called, what it does, and how exact it is.
struct about {
  std::string name, size;
  work amount;
  std::size_t coefficients = 0;  // that a run reads and writes, where memory limits it
  double roundings = 0;          // one after the other, each of half a step at most
};

template <class T> using doubles = double;

/// Adds the operation on Data<T, T>(arguments...) for every T of Formats. Oracle<T> is the scalar that tells
/// what is right, unless Data has an error() that does. Data may say how to go by casts, and what the
/// operation is limited by.
template <class Formats, template <class, class> class Data, template <class> class Oracle = doubles,
          class Function, class... Arguments>
void offer(operations& to, const about& it, Function function, Arguments... arguments) {
  for_each_type<Formats>([&]<class T>() {
    using data = Data<T, T>;
    bottleneck limited_by;
    if constexpr (requires { data::limited_by(arguments...); })
      limited_by = data::limited_by(arguments...);
    else if (it.coefficients > 0)
      limited_by = copying{it.coefficients * bytes_of<T>()};
    to.push_back({it.name, name_of<T>(), it.size, it.amount, limited_by, [=] {
                    const auto x = std::make_shared<data>(arguments...);
                    subject result{[=] { function(*x); }, {}, {}};
                    if constexpr (requires { x->by_casts(); }) result.by_casts = [=] { x->by_casts(); };
                    if constexpr (requires { x->error(); })
                      result.error = [=] { return x->error(); };
                    else if constexpr (!std::is_same_v<T, float>)
                      result.error = [=] {
                        Data<Oracle<T>, T> exact(arguments...);
                        function(exact);
                        return error_of<T>(x->result(), exact.result(), it.roundings);
                      };
                    return result;
                  }});
  });
}

}  // namespace narrow_bench
