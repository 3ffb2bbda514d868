// Inner products: with the instruction set in use, or in plain C++.
#pragma once

#include "../convert/encode.hpp"
#include "panel_product.hpp"
#include "portable.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Whether T means as Element what it is in memory.
template <class Element, class T>
inline constexpr bool means_the_same = sizeof(T) == sizeof(Element) &&
                                       (std::same_as<T, Element> || narrow_fixed<T> ||
                                        (std::same_as<Element, std::uint16_t> && coded_as_bf16<T>));

/// The codes of fp16 as they are.
using fp16_code = floating<5, 10>;
template <class T>
requires coded_as_fp16<T>
inline constexpr bool means_the_same<fp16_code, T> = true;

/// Elements of a line, `stride` apart, where a kernel finds them side by side: in place if they are and mean
/// the same there, or else decoded.
template <class Element, class T> class line_piece {
 public:
  // What a kernel for any int16 takes; of the others, more.
  static constexpr index longest = std::same_as<Element, std::int16_t> ? 1 << 11 : 1 << 12;

  const void* read(kernel_set t, const T* from, index stride, index n) {
    if (stride == 1 && means_the_same<Element, T>) return from;
    if constexpr (std::same_as<Element, fp16_code>)
      for (index i = 0; i < n; ++i) copy_[i] = Element::from_bits(from[i * stride].bits());
    else
      decode(t, from, stride, copy_, n);
    return copy_;
  }

 private:
  Element copy_[longest];
};

/// The sum of a[i stride_a] b[i stride_b] by a kernel for lines of Elements. Pieces are as
/// long for every stride, so that the sum is the same.
template <class Element, class Sum, class Kernel, class A, class B>
Sum dot_of_pieces(kernel_set t, Kernel kernel, const A* a, index stride_a, const B* b, index stride_b,
                  index n) {
  line_piece<Element, A> left;
  line_piece<Element, B> right;
  constexpr index longest = line_piece<Element, A>::longest;
  Sum total = 0;
  for (index i = 0; i < n; i += longest) {
    const index count = std::min(longest, n - i);
    total += kernel(left.read(t, a + i * stride_a, stride_a, count),
                    right.read(t, b + i * stride_b, stride_b, count), count);
  }
  return total;
}

/// sum over i of a[i stride_a] b[i stride_b] for integers of at most these magnitudes.
template <class Meeting, class A, class B>
typename Meeting::sum dot_of_lines(const A* a, index stride_a, const B* b, index stride_b, index n,
                                   magnitudes largest) {
  using sum = typename Meeting::sum;
  kernel_set t = dispatch::instance().kernels();
  sum result = 0;
  const bool done = with_content<best_content<sum, A, B>()>([&]<content Content>() {
    using words = words_of<Content>;
    constexpr bool fp16_codes = Content == content::fp32 && coded_as_fp16<A> && coded_as_fp16<B>;
    const auto add = [&](const auto& kernel) {
      using element = std::conditional_t<fp16_codes, fp16_code, typename words::element>;
      result = dot_of_pieces<element, sum>(t, kernel, a, stride_a, b, stride_b, n);
      return true;
    };
    if constexpr (fp16_codes) {
      const auto kernel = t.get<&kernel_table::dot_fp16>();
      return kernel && add(kernel);
    } else if constexpr (Content == content::bf16 && (coded_as_bf16<A> || coded_as_bf16<B>)) {
      const auto kernel = t.get<&kernel_table::dot_any_bf16>();
      bool exact = kernel != nullptr;
      const auto checked = [&](const void* x, const void* y, index count) {
        float part = 0;
        exact = exact && kernel(x, y, count, &part);
        return part;
      };
      return exact && add(checked) && exact;
    } else {
      if constexpr (Content == content::int16) {
        constexpr std::int64_t most = std::int64_t{1} << 22;
        const auto kernel = t.get<&kernel_table::dot_wide_int16>();
        if (kernel && largest.a * largest.b > most) return add(kernel);
      }
      const auto kernel = t.get<words::dot>();
      return kernel && add(kernel);
    }
  });
  if (done) return result;
  return portable::dot<Meeting>(a, stride_a, b, stride_b, n);
}

/// Sum of the products of corresponding elements, line by line.
template <class A, class B>
NARROW_KERNEL typename detail::meeting<A, B>::sum dot_of_matrices(matrix_view<const A> a,
                                                                  matrix_view<const B> b) {
  if (detail::lies_by_rows(a)) {
    a = a.transposed();
    b = b.transposed();
  }
  typename detail::meeting<A, B>::sum total = 0;
  for (index j = 0; j < a.cols; ++j)
    total +=
        dot_of_lines<detail::meeting<A, B>>(a.col(j).data, a.row_stride, b.col(j).data, b.row_stride, a.rows,
                                            {detail::largest_element<A>(), detail::largest_element<B>()});
  return total;
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
