// Factors of products that are packed once and meet many others: the weights of a layer.
#pragma once

#include <memory>

#include "block/product.hpp"
#include "product.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A copy of a matrix in the order of its lines, without gaps, and its panels.
template <class T> struct kept_matrix {
  kernel::aligned_array<T> elements;
  matrix_view<const T> view;
  kernel::panel_store panels;

  explicit kept_matrix(matrix_view<const T> m) : elements(m.rows * m.cols) {
    const bool by_rows = lies_by_rows(m);
    const matrix_view<T> copy{elements.data(), m.rows, m.cols, by_rows ? m.cols : 1, by_rows ? 1 : m.rows};
    kernel::for_each_place(
        copy, [&](std::ptrdiff_t i, std::ptrdiff_t j) { std::construct_at(&copy(i, j), m(i, j)); });
    view = copy;
    kernel::examine(panels, view);
  }
  kept_matrix(const kept_matrix&) = delete;
  kept_matrix& operator=(const kept_matrix&) = delete;
};

/// A copy of a tensor, and its panels: of one in a block format.
template <class Tensor> struct kept_tensor {
  Tensor tensor;
  kernel::panel_store panels;

  explicit kept_tensor(const Tensor& t) : tensor(t) {
    if constexpr (requires { tensor.view().elements; }) kernel::examine(panels, tensor.view().elements);
  }
};

/// A view of what is kept, all of it or its transpose. Copies share what they look at; moving is copying, so
/// that there is no object without its matrix.
template <class Kept, class View> class kept_factor {
 public:
  kept_factor(const kept_factor&) = default;
  kept_factor& operator=(const kept_factor&) = default;

  std::ptrdiff_t rows() const { return view_rows(view_); }
  std::ptrdiff_t cols() const { return view_cols(view_); }
  /// The elements as they were given.
  const View& view() const { return view_; }
  const kernel::panel_store* panels() const { return &kept_->panels; }
  /// Bytes of all panels that products have asked for up to now.
  std::size_t panel_bytes() const { return kept_->panels.bytes(); }

 protected:
  kept_factor(std::shared_ptr<const Kept> kept, const View& view) : kept_(std::move(kept)), view_(view) {}
  const std::shared_ptr<const Kept>& kept() const { return kept_; }

 private:
  template <class T> static std::ptrdiff_t view_rows(const matrix_view<T>& v) { return v.rows; }
  template <class T> static std::ptrdiff_t view_cols(const matrix_view<T>& v) { return v.cols; }
  template <class E, class S> static std::ptrdiff_t view_rows(const block_view<E, S>& v) { return v.rows(); }
  template <class E, class S> static std::ptrdiff_t view_cols(const block_view<E, S>& v) { return v.cols(); }

  std::shared_ptr<const Kept> kept_;
  View view_;
};

}  // namespace detail

/// A matrix that is packed once for all products with it, as the left or as the right factor: what
/// `prepacked(view)` gives.
///
/// Holds     a copy of the elements and, from the first product on that asks for them, panels in the form that
///           the product's plan wants. That form depends on the side, on the other factor's type and a little
///           on its shape, on the order of C and on the instruction set; each is packed once and kept: one as a
///           rule, in the type that is multiplied (`explain`), of 1 to 8 bytes an element. Products that
///           pack nothing (with a vector, of floats with a few columns, of few numbers, with integers of more
///           than 16 bits, in plain C++) read the copy.
/// Copies    share the elements and the panels. They do not change, so that several threads may multiply with
///           one object at the same time.
/// ISA       under another instruction set (`use_isa`) panels of its own are packed, nothing is refused.
template <class T>
class prepacked_matrix : public detail::kept_factor<detail::kept_matrix<T>, matrix_view<const T>> {
  using base = detail::kept_factor<detail::kept_matrix<T>, matrix_view<const T>>;

 public:
  /// The type of an element.
  using value_type = T;

  /// Throws std::invalid_argument naming the shape if rows or columns are negative.
  explicit prepacked_matrix(matrix_view<const T> m) : prepacked_matrix(copy_of(m)) {}
  /// Rows and columns exchanged; the panels are shared.
  prepacked_matrix transposed() const { return prepacked_matrix(this->kept(), this->view().transposed()); }

 private:
  using kept_pointer = std::shared_ptr<const detail::kept_matrix<T>>;
  static kept_pointer copy_of(matrix_view<const T> m) {
    if (m.rows < 0 || m.cols < 0)
      detail::fail<std::invalid_argument>("narrow::prepacked: the shape " + detail::shape(m.rows, m.cols) +
                                          " must not be negative");
    return std::make_shared<const detail::kept_matrix<T>>(m);
  }
  explicit prepacked_matrix(const kept_pointer& kept) : base(kept, kept->view) {}
  prepacked_matrix(const kept_pointer& kept, matrix_view<const T> view) : base(kept, view) {}
};

/// A matrix in a block format that is packed once for all products with it; see `prepacked_matrix`. Products
/// of values (see gemm of tensors) keep these as bf16, 2 bytes an element, and panels of them; where bf16
/// does not hold them and scales change with every term of a sum, they read the copy.
template <block_format Format>
class prepacked_tensor : public detail::kept_factor<detail::kept_tensor<block_tensor<Format>>,
                                                    typename block_tensor<Format>::view_type> {
  /// What products read.
  using view_type = typename block_tensor<Format>::view_type;
  using base = detail::kept_factor<detail::kept_tensor<block_tensor<Format>>, view_type>;

 public:
  using format = Format;

  /// Holds a copy of the tensor.
  explicit prepacked_tensor(const block_tensor<Format>& tensor)
      : prepacked_tensor(std::make_shared<const detail::kept_tensor<block_tensor<Format>>>(tensor)) {}
  /// Rows and columns exchanged; the panels are shared.
  prepacked_tensor transposed() const { return prepacked_tensor(this->kept(), this->view().transposed()); }
  const block_tensor<Format>& tensor() const { return this->kept()->tensor; }

 private:
  using kept_pointer = std::shared_ptr<const detail::kept_tensor<block_tensor<Format>>>;
  explicit prepacked_tensor(const kept_pointer& kept) : base(kept, kept->tensor.view()) {}
  prepacked_tensor(const kept_pointer& kept, const view_type& view) : base(kept, view) {}
};

/// A copy of a matrix, for products that pack it once: `gemm`, `gemv` and `explain` take it in place of a
/// view or of a tensor, on either side, and give the same bits; but the copy has no gaps, and a view without
/// a stride of 1 may itself be multiplied by another kernel, whose float sums differ in their last bits.
///
/// Cost      of the first product with it that of any product; of the next ones less by the packing, which
///           counts where the other factor has few columns (or rows): a half to a fifth is left of W (1024,
///           1024) times 8 to 64 columns.
/// Throws    std::invalid_argument naming the shape if it is negative.
template <class T> [[nodiscard]] prepacked_matrix<std::remove_const_t<T>> prepacked(matrix_view<T> m) {
  return prepacked_matrix<std::remove_const_t<T>>(m);
}
/// A copy of a matrix in a block format, likewise.
template <block_format Format>
[[nodiscard]] prepacked_tensor<Format> prepacked(const block_tensor<Format>& tensor) {
  return prepacked_tensor<Format>(tensor);
}

namespace detail {

template <class F> inline constexpr bool is_tensor_factor<prepacked_tensor<F>> = true;
template <class F> struct format_of_factor<prepacked_tensor<F>> { using type = F; };

/// What a factor of a product of matrices is: a view of elements of T, perhaps with panels.
template <class X> struct matrix_factor { using value_type = void; };
template <class T> struct matrix_factor<matrix_view<T>> {
  using value_type = std::remove_const_t<T>;
  static constexpr bool is_prepacked = false;
  /// What products read.
  static matrix_view<const value_type> view(const matrix_view<T>& m) { return m; }
};
template <class T> struct matrix_factor<prepacked_matrix<T>> {
  using value_type = T;
  static constexpr bool is_prepacked = true;
  static matrix_view<const T> view(const prepacked_matrix<T>& m) { return m.view(); }
};

/// Two factors, at least one of them prepacked, and at least one of a narrow format.
template <class A, class B>
concept factors_with_prepacked = (matrix_factor<A>::is_prepacked || matrix_factor<B>::is_prepacked) &&
                                 (narrow_scalar<typename matrix_factor<A>::value_type> ||
                                  narrow_scalar<typename matrix_factor<B>::value_type>);

}  // namespace detail

/// C = alpha A B + beta C, where A, B or both are prepacked and the other one is a view: bit for bit what
/// `gemm` gives for the copy (`view()`) of the elements that were prepacked, with its shapes, rounding, error
/// and exceptions. Needs no memory beyond that, but for the first product that wants panels in some form.
template <class A, class B, class C>
requires detail::factors_with_prepacked<A, B>
void gemm(const A& a, const B& b, matrix_view<C> c, double alpha = 1, double beta = 0) {
  const auto left = detail::matrix_factor<A>::view(a);
  const auto right = detail::matrix_factor<B>::view(b);
  const auto of_left = detail::extents_of(left), of_right = detail::extents_of(right);
  detail::check_factors("narrow::gemm", of_left, of_right);
  detail::check_result("narrow::gemm", of_left, of_right, detail::extents_of(c));
  kernel::gemm(left, right, c, alpha, beta, typename detail::policy_of<C>::type{},
               {detail::panels_of_factor(a), detail::panels_of_factor(b)});
}

/// How `gemm` of the two is computed, in words: as without prepacking.
template <class A, class B>
requires detail::factors_with_prepacked<A, B>
[[nodiscard]] std::string explain(const A& a, const B& b) {
  return explain(detail::matrix_factor<A>::view(a), detail::matrix_factor<B>::view(b));
}

/// y = alpha A x + beta y for a prepacked A (m, n), with the rounding and errors of `gemm`: the copy of its
/// elements is read once.
template <class T, sized_array X, sized_array Y>
requires narrow_scalar<T> || narrow_scalar<detail::element_t<X>>
void gemv(const prepacked_matrix<T>& a, const X& x, Y&& y, double alpha = 1, double beta = 0) {
  gemv(a.view(), x, y, alpha, beta);
}

}  // namespace narrow
