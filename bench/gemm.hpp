// Matrix products in Eigen, beside Eigen's product of floats and the way over `cast<float>()`.
#pragma once

#include <narrow/eigen.hpp>

#include <Eigen/Core>
#include <cmath>
#include <memory>

#include "formats.hpp"
#include "peers.hpp"
#include "row.hpp"
#include "shapes.hpp"

namespace narrow_bench {

template <class T> using matrix_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// What the right operand is made of: MX blocks lie along the summed dimension.
template <class T> struct right_operand { using type = T; };
template <narrow::block_format T>
requires std::same_as<typename T::block_type, narrow::tile<1, 32>>
struct right_operand<T> {
  using type = typename T::template with<narrow::tile<32, 1>>;
};

/// Products of block formats go to floats, as layers of a network do.
template <class T> struct product_scalar { using type = T; };
template <narrow::block_format T> struct product_scalar<T> { using type = float; };

inline Eigen::MatrixXf random_matrix(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  const auto values = random_floats(static_cast<std::size_t>(rows * cols), seed);
  return Eigen::Map<const Eigen::MatrixXf>(values.data(), rows, cols);
}

/// A (rows x depth), B (depth x cols) and their product, narrow and in float with the same values.
template <class T, class Right = typename right_operand<T>::type> struct matrices {
  using result = typename product_scalar<T>::type;
  matrix_of<T> a;
  matrix_of<Right> b;
  matrix_of<result> c;
  Eigen::MatrixXf wide_a, wide_b, wide_c;

  matrices(Eigen::Index rows, Eigen::Index depth, Eigen::Index cols) : c(rows, cols), wide_c(rows, cols) {
    set(a, random_matrix(rows, depth, 1));
    set(b, random_matrix(depth, cols, 2));
    wide_a = a.template cast<float>();
    wide_b = b.template cast<float>();
  }

  static void set(auto& to, const Eigen::MatrixXf& x) {
    if constexpr (narrow::block_format<T>)
      to = x;
    else
      to = x.template cast<T>();
  }

  void multiply_by_casts() {
    const Eigen::MatrixXf left = a.template cast<float>(), right = b.template cast<float>();
    if constexpr (std::same_as<result, float>) {
      c.noalias() = left * right;
    } else {
      const Eigen::MatrixXf product = left * right;
      c = product.template cast<result>();
    }
  }

  double flop() const { return 2.0 * static_cast<double>(a.rows() * a.cols() * b.cols()); }
};

/// How a product is judged.
enum class demand {
  rounded_once,  // within the error bound of a sum in float, then rounded once
  any            // peers sum as they like
};

/// The largest error of c, relative to the sum of |a||b|; nothing where it breaks the demand. A result beyond
/// the largest number of its format should be that number.
template <class T, class Right>
std::optional<double> product_error(const matrices<T, Right>& m, demand wanted) {
  using result = typename matrices<T, Right>::result;
  const Eigen::MatrixXd a = m.wide_a.template cast<double>(), b = m.wide_b.template cast<double>();
  const Eigen::MatrixXd exact = a * b, size = a.cwiseAbs() * b.cwiseAbs();
  constexpr int finishing = 4;  // roundings of scales and of the result of a block product
  const double bound = static_cast<double>(a.cols() + finishing) * 0x1p-24;
  const double lowest = static_cast<double>(std::numeric_limits<result>::lowest()),
               highest = static_cast<double>(std::numeric_limits<result>::max());
  double largest = 0;
  for (Eigen::Index j = 0; j < exact.cols(); ++j)
    for (Eigen::Index i = 0; i < exact.rows(); ++i) {
      const auto value = static_cast<double>(m.c(i, j)), slack = bound * size(i, j);
      if (wanted == demand::rounded_once) {
        const auto low = result(exact(i, j) - slack), high = result(exact(i, j) + slack);
        if (!(static_cast<double>(low) <= value && value <= static_cast<double>(high))) return std::nullopt;
      }
      largest = std::max(largest, std::abs(value - std::clamp(exact(i, j), lowest, highest)) / size(i, j));
    }
  return largest;
}

/// The integers of 8 bits that a matrix stores; none if it stores something else.
template <class M> const std::int8_t* stored_bytes(const M& m) {
  if constexpr (requires {
                  { m.mantissas().data() } -> std::convertible_to<const std::int8_t*>;
                })
    return m.mantissas().data();
  else if constexpr (std::same_as<M, matrix_of<narrow::fixed<8, 4>>>)
    return reinterpret_cast<const std::int8_t*>(m.data());
  else
    return nullptr;
}

/// The product of the same matrices by oneDNN: of bf16 and of integers of 8 bits as such, of others as
/// floats. Nothing where there is none.
template <class T> call product_in_onednn(const std::shared_ptr<matrices<T>>& m) {
  const auto of = [&](onednn_type type, const auto* a, const auto* b, auto product) -> call {
    const auto to = std::make_shared<decltype(product)>(m->c.rows(), m->c.cols());
    const call run =
        onednn_product(type, m->a.rows(), m->a.cols(), m->b.cols(), a, b, static_cast<void*>(to->data()));
    if (!run) return {};
    return [m, to, run] { run(); };
  };
  if constexpr (std::same_as<T, narrow::bf16>)
    return of(onednn_type::bf16, m->a.data(), m->b.data(), matrix_of<T>());
  else if (const auto* a = stored_bytes(m->a), *b = stored_bytes(m->b); a != nullptr)
    return of(onednn_type::int8, a, b, Eigen::MatrixXi());
  else
    return of(onednn_type::fp32, m->wide_a.data(), m->wide_b.data(), Eigen::MatrixXf());
}

template <class T> std::vector<rival> product_rivals(const std::shared_ptr<matrices<T>>& m) {
  std::vector<rival> result{{"x_float", [m] { m->wide_c.noalias() = m->wide_a * m->wide_b; }}};
  if constexpr (!std::same_as<T, float>) result.push_back({"x_cast", [m] { m->multiply_by_casts(); }});
  if (const call other = product_in_onednn(m)) result.push_back({"x_onednn", other});
  return result;
}

/// `multiply(m)` for matrices of the given shape, under group/name/shape.
template <class T, class Multiply>
void register_product(const std::string& name, const shape& s, arithmetic limiting, demand wanted,
                      Multiply multiply) {
  register_row(s.group + "/" + name + "/" + s.name, [=] {
    const auto m = std::make_shared<matrices<T>>(s.rows, s.depth, s.cols);
    return row{{"FLOP/s", m->flop()},
               [m, multiply] { multiply(*m); },
               product_rivals(m),
               compute_limit(limiting),
               [m, wanted] { return product_error(*m, wanted); }};
  });
}

template <class T> void register_products(const std::string& name, const std::vector<shape>& shapes) {
  for (const shape& s : shapes)
    register_product<T>(name, s, arithmetic_of<T>(), demand::rounded_once,
                        [](matrices<T>& m) { m.c.noalias() = m.a * m.b; });
}

}  // namespace narrow_bench
