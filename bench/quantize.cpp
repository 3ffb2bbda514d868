// Floats into block formats: the scales are chosen, then all is rounded; and back. x_float: as fast as
// copying the floats.
#include "gemm.hpp"
#include "register.hpp"

namespace narrow_bench {

namespace {

template <class T> struct operands {
  Eigen::MatrixXf x, copy;
  matrix_of<T> q;
  operands(Eigen::Index height, Eigen::Index width) : x(random_matrix(height, width, 1)), copy(x), q(x) {}
};

/// The error of the quantised numbers, or of `got`, as a share of the largest one.
template <class T> std::optional<double> error_of(const operands<T>& m, const Eigen::MatrixXf& got) {
  // Of a float element that saturates 1/8 may be lost, of an integer a step.
  constexpr bool integers = std::signed_integral<typename T::element_type>;
  const double bound = integers ? 1.0 / static_cast<double>(T::limit) : 0.125;
  const auto error = static_cast<double>((got - m.x).cwiseAbs().maxCoeff() / m.x.cwiseAbs().maxCoeff());
  if (!(error <= bound)) return std::nullopt;
  return error;
}

template <class T> void register_format(Eigen::Index rows, Eigen::Index cols, const std::string& size) {
  const auto elements = static_cast<std::size_t>(rows * cols);
  const work amount{"elements/s", static_cast<double>(elements)};
  constexpr std::size_t element_size = sizeof(typename T::element_type);
  const std::string format = name_of<T>();
  register_row("quantize/float to " + format + "/" + size, [=] {
    const auto m = std::make_shared<operands<T>>(rows, cols);
    return row{amount,
               [m] { m->q = m->x; },
               {{"x_float", [m] { m->copy = m->x; }}},
               quantizing_limit(elements, element_size, amount),
               [m] { return error_of<T>(*m, m->q); }};
  });
  register_row("dequantize/" + format + " to float/" + size, [=] {
    const auto m = std::make_shared<operands<T>>(rows, cols);
    const auto result = std::make_shared<Eigen::MatrixXf>(m->x);
    return row{amount,
               [m, result] { *result = m->q; },
               {{"x_float", [m] { m->copy = m->x; }}},
               copy_limit(elements * (sizeof(float) + element_size), amount),
               [m, result] { return error_of<T>(*m, *result); }};
  });
}

}  // namespace

void register_quantising() {
  for_each_type<block_formats>([]<class T>() {
    register_format<T>(64, 64, "L1");
    register_format<T>(256, 256, "L2");
  });
  for_each_type<std::tuple<narrow::int8, narrow::bfp<8>>>(
      []<class T>() { register_format<T>(8192, 8192, "64M"); });
}

}  // namespace narrow_bench
