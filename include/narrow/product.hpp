// Products and sums on ranges, for code without a matrix library.
#pragma once

#include "convert.hpp"
#include "format/catalog.hpp"
#include "isa.hpp"
#include "kernel/product.hpp"
#include "kernel/reduce.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// The sum, rounded to Wide, divided by the count. In integers, so that neither compiler flags nor the
/// floating-point control register matter.
template <class Wide, class Sum> Wide mean_of(const Sum& total, std::size_t count) {
  return nearest<Wide>(with_unpacked(static_cast<Wide>(total), std::uint64_t{count},
                                     [](const auto& a, const auto& b) { return divide(a, b); }));
}

/// The root of a sum of squares, rounded to Wide. In integers too.
template <class Wide, class Sum> Wide root_of(const Sum& squares) {
  return nearest<Wide>(square_root(widened<uint128>(unpack(static_cast<Wide>(squares)))));
}

/// The name of a type of elements in a text for people.
template <class T> std::string element_name() {
  if constexpr (!catalog_name<T>.empty())
    return std::string(catalog_name<T>);
  else if constexpr (narrow_fixed<T>)
    return "fixed<" + std::to_string(T::word_length) + "," + std::to_string(T::fraction_length) + ">";
  else if constexpr (narrow_float<T>)
    return "floating<" + std::to_string(T::layout::exponent_bits) + "," +
           std::to_string(T::layout::mantissa_bits) + ">";
  else
    return (std::integral<T> ? "int" : "float") + std::to_string(8 * sizeof(T));
}

template <class A, class B>
std::string explained(extents of_a, extents of_b, const kernel::product_plan& plan) {
  return element_name<std::remove_const_t<A>>() + " (" + of_a.text() + ") times " +
         element_name<std::remove_const_t<B>>() + " (" + of_b.text() + "): " + std::string(isa_name()) +
         ", " + kernel::describe(plan, of_a.cols);
}

}  // namespace detail

/// Inner product in the accumulator of the pair of formats.
///
/// Shapes    a: (n), b: (n); n = 0 gives 0.
/// Rounding  floating: products of fp16, bf16 and narrower are exact in float unless they leave its range;
///           additions round to nearest. `fixed` with itself: exact, see `fixed_sum`.
/// Error     |result - exact| <= g(n) sum |a[i] b[i]|, g(k) = k u / (1 - k u), u = 2^-24, while nothing
///           overflows.
/// Special   NaN propagates; subnormals count, whatever the caller's floating-point control register says.
/// Throws    std::invalid_argument naming both sizes if they differ.
/// Source    Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.1.
template <sized_array A, sized_array B>
requires narrow_scalar<detail::element_t<A>> || narrow_scalar<detail::element_t<B>>
[[nodiscard]] auto dot(const A& a, const B& b) {
  const std::size_t n = std::ranges::size(a), m = std::ranges::size(b);
  detail::check_shapes(n == m, "narrow::dot", "a", n, "b", m);
  return kernel::dot(std::ranges::data(a), 1, std::ranges::data(b), 1, static_cast<std::ptrdiff_t>(n));
}

/// Sum of the elements, not rounded to their format: float, or the exact `fixed_sum`. Error and special
/// values as `dot`.
template <sized_array A>
requires narrow_scalar<detail::element_t<A>>
[[nodiscard]] auto sum(const A& a) {
  return kernel::sum(std::ranges::data(a), 1, static_cast<std::ptrdiff_t>(std::ranges::size(a)));
}

/// Mean of the elements, in their carrier type: the sum rounded to it, then divided; NaN for an empty range.
template <sized_array A>
requires narrow_scalar<detail::element_t<A>>
[[nodiscard]] auto mean(const A& a) {
  return detail::mean_of<carrier_t<detail::element_t<A>>>(sum(a), std::ranges::size(a));
}

/// Euclidean norm, in the carrier type: the root of the squares' sum rounded to it.
template <sized_array A>
requires narrow_scalar<detail::element_t<A>>
[[nodiscard]] auto norm(const A& a) { return detail::root_of<carrier_t<detail::element_t<A>>>(dot(a, a)); }

/// C = alpha A B + beta C.
///
/// Shapes    a: (m, k), b: (k, n), c: (m, n); `row_major`, `column_major` and `transposed()` make the views.
///           k = 0 gives beta C. C must not overlap A or B.
/// Rounding  sums are wide and each coefficient is rounded once, to the type of c; c is not read where beta
///           is 0. Floating: alpha, beta and the sums meet in float. `fixed` with itself and alpha, beta powers
///           of two: exact until that one rounding.
/// Error     before it, as `dot`.
/// Throws    std::invalid_argument naming both shapes if they do not match.
template <class A, class B, class C>
requires narrow_scalar<std::remove_const_t<A>> || narrow_scalar<std::remove_const_t<B>>
void gemm(matrix_view<A> a, matrix_view<B> b, matrix_view<C> c, double alpha = 1, double beta = 0) {
  const auto of_a = detail::extents_of(a), of_b = detail::extents_of(b);
  detail::check_factors("narrow::gemm", of_a, of_b);
  detail::check_result("narrow::gemm", of_a, of_b, detail::extents_of(c));
  kernel::gemm(matrix_view<const A>(a), matrix_view<const B>(b), c, alpha, beta,
               typename detail::policy_of<C>::type{});
}

/// How `gemm` computes A B, in words: "fp16 (64 x 64) times fp16 (64 x 64): avx512, panels of fp32 by FMA in
/// tiles of 8 x 32, depth 64 at once, 1 thread".
///
/// Shapes    a: (m, k), b: (k, n); no element is read. The result is taken to be row-major: for one whose
///           columns lie along memory ask for B^T A^T.
/// Throws    std::invalid_argument naming both shapes if they do not match.
template <class A, class B>
requires narrow_scalar<std::remove_const_t<A>> || narrow_scalar<std::remove_const_t<B>>
[[nodiscard]] std::string explain(matrix_view<A> a, matrix_view<B> b) {
  const auto of_a = detail::extents_of(a), of_b = detail::extents_of(b);
  detail::check_factors("narrow::explain", of_a, of_b);
  return detail::explained<A, B>(of_a, of_b, kernel::plan_of(a, b));
}

/// How `gemm` computes A B of matrices in blocks, or the first piece of it where pieces are multiplied one by
/// one, in words.
template <class E, class S, class F, class T>
[[nodiscard]] std::string explain(const block_view<E, S>& a, const block_view<F, T>& b) {
  const auto of_a = detail::extents_of(a), of_b = detail::extents_of(b);
  detail::check_factors("narrow::explain", of_a, of_b);
  return detail::explained<E, F>(of_a, of_b, kernel::plan_of(a, b));
}

/// y = alpha A x + beta y, with the rounding and errors of `gemm`. Shapes: a (m, n), x (n), y (m).
template <class A, sized_array X, sized_array Y>
requires narrow_scalar<std::remove_const_t<A>> || narrow_scalar<detail::element_t<X>>
void gemv(matrix_view<A> a, const X& x, Y&& y, double alpha = 1, double beta = 0) {
  const auto n = static_cast<std::ptrdiff_t>(std::ranges::size(x)),
             m = static_cast<std::ptrdiff_t>(std::ranges::size(y));
  detail::check_vectors("narrow::gemv", detail::extents_of(a), n, m);
  gemm(a, column_major(x, n, 1), column_major(y, m, 1), alpha, beta);
}

}  // namespace narrow
