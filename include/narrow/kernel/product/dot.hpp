// Inner products: with the instruction set in use, or in plain C++.
#pragma once

#include "pack.hpp"
#include "plan.hpp"
#include "portable.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Whether T means as Element what it is in memory. A narrow Element means its codes, whatever the policies
/// of T.
template <class Element, class T>
inline constexpr bool means_the_same = sizeof(T) == sizeof(Element) &&
                                       (std::same_as<T, Element> || narrow_fixed<T> ||
                                        (std::same_as<Element, std::uint16_t> && coded_as_bf16<T>));
template <narrow_float Element, class T>
inline constexpr bool means_the_same<Element, T> = std::same_as<Element, codes_of_t<T>>;

/// Elements of a line, `stride` apart, where a kernel finds them side by side: in place if they are and mean
/// the same there, or else decoded.
template <class Element, class T> class line_piece {
 public:
  // What the kernel for any int16 takes; kernels for other elements take more.
  static constexpr index max_length = std::same_as<Element, std::int16_t> ? 1 << 11 : 1 << 12;

  const void* read(kernel_set t, const T* from, index stride, index n) {
    if (stride == 1 && means_the_same<Element, T>) return from;
    if constexpr (narrow_float<Element>)
      for (index i = 0; i < n; ++i) copy_[i] = Element::from_bits(from[i * stride].bits());
    else
      decode(t, from, stride, copy_, n);
    return copy_;
  }

 private:
  Element copy_[max_length];
};

/// The sum of a[i stride_a] b[i stride_b] by a kernel for lines of Elements. Pieces are as long for every
/// stride, so that the sum is the same.
template <class Element, class Sum, class Kernel, class A, class B>
Sum dot_of_pieces(kernel_set t, const Kernel& kernel, const A* a, index stride_a, const B* b, index stride_b,
                  index n) {
  line_piece<Element, A> left;
  line_piece<Element, B> right;
  constexpr index max_length = line_piece<Element, A>::max_length;
  Sum total = 0;
  for (index i = 0; i < n; i += max_length) {
    const index count = std::min(max_length, n - i);
    total += kernel(left.read(t, a + i * stride_a, stride_a, count),
                    right.read(t, b + i * stride_b, stride_b, count), count);
  }
  return total;
}

/// sum over i of a[i stride_a] b[i stride_b] by the kernels for P. False if numbers took part that these take
/// for others.
template <packed_type P, class Sum, class A, class B>
bool run_dot(kernel_set t, const packing_plan& plan, const A* a, index stride_a, const B* b, index stride_b,
             index n, Sum& result) {
  constexpr bool are_alike = narrow_float<A> && std::same_as<codes_of_t<A>, codes_of_t<B>>;
  if constexpr (P == packed_type::fp32 && are_alike && lies_in_code_lines<A>)
    if (const auto kernel = code_lines<A>().dot) {
      result = dot_of_pieces<codes_of_t<A>, Sum>(t, kernel, a, stride_a, b, stride_b, n);
      return true;
    }
  using element = std::conditional_t<P == packed_type::fp32 && are_alike && coded_as_fp16<A>, codes_of_t<A>,
                                     element_of<P>>;
  const auto& kernels = dot_kernels<P, A, B>(t);
  const auto add = [&](const auto& kernel) {
    result = dot_of_pieces<element, Sum>(t, kernel, a, stride_a, b, stride_b, n);
  };
  bool exact = true;
  if constexpr (P == packed_type::int16) {
    add(plan.b_limbs > 1 ? kernels.wide : kernels.narrow);
  } else if constexpr (P != packed_type::bf16) {
    add(kernels);
  } else if constexpr (coded_as_bf16<A> || coded_as_bf16<B>) {
    add([&](const void* x, const void* y, index count) {
      float part = 0;
      exact = exact && kernels.checked(x, y, count, &part);
      return part;
    });
  } else {
    add(kernels.flushing);
  }
  return exact;
}

/// sum over i of a[i stride_a] b[i stride_b] by the kernels that the plan names. False if there are none, or
/// numbers took part that they take for others.
template <class A, class B, class Sum>
bool try_dot(kernel_set t, const packing_plan& plan, const A* a, index stride_a, const B* b, index stride_b,
             index n, Sum& result) {
  return with_packed_type<best_type<Sum, A, B>()>([&]<packed_type P>() {
    return plan.packed == P && run_dot<P>(t, plan, a, stride_a, b, stride_b, n, result);
  });
}

/// The sum as the plan for the fallback says, or in plain C++. Not inlined, which keeps the usual way short.
template <class Accumulation, class A, class B>
NARROW_KERNEL typename Accumulation::sum dot_by_fallback(kernel_set t, packed_type fallback, const A* a,
                                                         index stride_a, const B* b, index stride_b,
                                                         index n) {
  typename Accumulation::sum result = 0;
  packing_plan plan;
  if (fallback != packed_type::none) plan_dot<Accumulation, A, B>(t, {}, fallback, plan);
  if (try_dot(t, plan, a, stride_a, b, stride_b, n, result)) return result;
  return portable::dot<Accumulation>(a, stride_a, b, stride_b, n);
}

/// sum over i of a[i stride_a] b[i stride_b], as the plan says, or as the one for its fallback does.
template <class Accumulation, class A, class B>
typename Accumulation::sum dot_of_lines(kernel_set t, const packing_plan& plan, const A* a, index stride_a,
                                        const B* b, index stride_b, index n) {
  typename Accumulation::sum result = 0;
  if (try_dot(t, plan, a, stride_a, b, stride_b, n, result)) [[likely]]
    return result;
  return dot_by_fallback<Accumulation>(t, plan.fallback, a, stride_a, b, stride_b, n);
}

/// Sum of the products of corresponding elements, line by line.
template <class A, class B>
auto dot_of_matrices(kernel_set t, matrix_view<const A> a, matrix_view<const B> b) {
  using accumulation = detail::accumulation_traits<A, B>;
  if (detail::lies_by_rows(a)) {
    a = a.transposed();
    b = b.transposed();
  }
  packing_plan plan;
  plan_dot<accumulation, A, B>(t, largest_elements<A, B>(), packed_type::int8, plan);
  if (detail::is_one_line(a) && detail::is_one_line(b))
    return dot_of_lines<accumulation>(t, plan, a.data, 1, b.data, 1, a.rows * a.cols);
  typename accumulation::sum total = 0;
  for (index j = 0; j < a.cols; ++j)
    total +=
        dot_of_lines<accumulation>(t, plan, a.col(j).data, a.row_stride, b.col(j).data, b.row_stride, a.rows);
  return total;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
