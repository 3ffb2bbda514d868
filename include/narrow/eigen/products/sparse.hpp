// Products of Eigen's sparse matrices of narrow numbers: with dense ones added up as dense products are, with
// sparse ones computed by Eigen on wide copies; each coefficient rounded once.
//
// Specialised are generic_product_impl and product_evaluator (Core/ProductEvaluators.h), as Eigen does in
// SparseCore/SparseDenseProduct.h and SparseProduct.h, which a program includes itself.
#pragma once

#include <vector>

#include "dense.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Sums of products that become coefficients of dst: alpha sum, or where `added`, dst + alpha sum.
enum class destination { set, added };

/// x in the format To, or as the built-in type To.
template <class To, class X, rounding_policy Round> To rounded_to(const X& x, const Round& round) {
  if constexpr (narrow_scalar<To>)
    return To(unpack(x), round, typename To::overflow_policy{});
  else
    return static_cast<To>(x);
}

/// The coefficients of a sparse matrix as floats.
template <class X> class wide_coefficients {
 public:
  wide_coefficients(const kernel::kernel_set&, const X& x) : values_(x) {}

  template <class Use> void for_each(Eigen::Index outer, const Use& use) const {
    for (typename Eigen::internal::evaluator<X>::InnerIterator it(values_, outer); it; ++it)
      use(static_cast<float>(it.value()), it.index());
  }

 private:
  Eigen::internal::evaluator<X> values_;
};
/// The same of one that lies in memory.
template <class X>
requires requires(const X& x) { x.innerNonZeroPtr(); }
class wide_coefficients<X> {
 public:
  wide_coefficients(const kernel::kernel_set& t, const X& x) : x_(x) {
    const Eigen::Index lines = x.outerSize();
    first_ = lines == 0 ? 0 : x.outerIndexPtr()[0];
    const Eigen::Index end = lines == 0 ? 0 : x.outerIndexPtr()[lines];
    values_.resize(static_cast<std::size_t>(end - first_));
    const auto decode = [&](Eigen::Index begin, Eigen::Index past) {
      if (begin < past)
        kernel::decode(t, x.valuePtr() + begin, 1, values_.data() + (begin - first_), past - begin);
    };
    if (x.isCompressed())
      decode(first_, end);
    else
      for (Eigen::Index outer = 0; outer < lines; ++outer) decode(begin_of(outer), end_of(outer));
  }

  template <class Use> void for_each(Eigen::Index outer, const Use& use) const {
    const auto* const places = x_.innerIndexPtr();
    for (Eigen::Index i = begin_of(outer), end = end_of(outer); i < end; ++i)
      use(values_[static_cast<std::size_t>(i - first_)], places[i]);
  }

 private:
  Eigen::Index begin_of(Eigen::Index outer) const { return x_.outerIndexPtr()[outer]; }
  Eigen::Index end_of(Eigen::Index outer) const {
    return x_.isCompressed() ? Eigen::Index(x_.outerIndexPtr()[outer + 1])
                             : begin_of(outer) + x_.innerNonZeroPtr()[outer];
  }

  const X& x_;
  Eigen::Index first_ = 0;
  std::vector<float> values_;
};

/// What the coefficients of a sparse expression are read from: of views of one triangle a copy, in which a
/// self-adjoint matrix has both.
template <class X> struct sparse_value {
  using type = typename Eigen::internal::nested_eval<X, Eigen::Dynamic>::type;
};
template <sparse_view X> struct sparse_value<X> {
  using type =
      Eigen::SparseMatrix<scalar_of<X>, Eigen::ColMajor, typename Eigen::internal::traits<X>::StorageIndex>;
};

/// The coefficients of a product of a sparse and a dense matrix, before they are rounded.
///
/// Each is the sum of the products of the sparse matrix's coefficients, in the order in which that stores
/// them: of floating formats in float, of `fixed` exactly.
template <class L, class R> class sparse_sums {
  static constexpr bool is_left = sparse_expression<L>;  // the sparse one
  using scaled = std::conditional_t<is_left, L, R>;
  using sparse = typename stripped<scaled>::type;  // its factor is the product's
  using dense = std::conditional_t<is_left, R, L>;
  using number = std::remove_cvref_t<decltype(std::declval<const operand<dense>&>().view()(0, 0))>;
  using traits = accumulation_traits<scalar_of<sparse>, std::remove_const_t<number>>;
  using lane = typename traits::lane;
  using sum = typename traits::sum;
  using sparse_matrix = typename sparse_value<sparse>::type;

 public:
  sparse_sums(const L& l, const R& r)
      : rows_(l.rows()), cols_(r.cols()), sums_(static_cast<std::size_t>(rows_ * cols_)) {
    const operand<dense> factor(dense_operand(l, r));
    const scaled& coefficients = sparse_operand(l, r);
    factor_ = factor.factor() * stripped<scaled>::factor(coefficients);
    // A line is a column of the result if the sparse matrix is the left one, else a row.
    const auto values = is_left ? factor.view() : factor.view().transposed();
    const sparse_matrix nested(stripped<scaled>::expression(coefficients));
    kernel::enter([&](const kernel::kernel_set& t) {
      if constexpr (in_floats)
        add_up(t, nested, values);
      else
        add_up(nested, values);
    });
  }

  template <class Dst> void store(Dst& dst, double alpha, destination as) const {
    using To = typename Dst::Scalar;
    if (as == destination::set) dst.resize(rows_, cols_);
    eigen_assert(dst.rows() == rows_ && dst.cols() == cols_);
    const double factor = alpha * factor_;
    if constexpr (in_floats && !drawn_scalar<To>)
      if (as == destination::set && factor == 1) {
        constexpr int order = is_left ? Eigen::ColMajor : Eigen::RowMajor;
        using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, order>;
        dst = Eigen::Map<const matrix>(sums_.data(), rows_, cols_).template cast<To>();
        return;
      }
    const typename policy_of<To>::type round{};
    for (Eigen::Index j = 0; j < cols_; ++j)
      for (Eigen::Index i = 0; i < rows_; ++i) {
        const auto index = static_cast<std::size_t>(is_left ? j * rows_ + i : i * cols_ + j);
        const typename traits::result total(sums_[index]);
        const auto draw = at_element(round, element_index(i, j, cols_));
        auto& to = dst.coeffRef(i, j);
        if (as == destination::set && factor == 1) {
          to = rounded_to<To>(total, draw);
          continue;
        }
        const double wide =
            factor * static_cast<double>(total) + (as == destination::added ? static_cast<double>(to) : 0);
        if constexpr (drawn_scalar<To>)
          to = rounded_to<To>(wide, draw);
        else
          to = static_cast<To>(wide);
      }
  }

 private:
  /// The sums of floating formats, of which kernels make floats, whole lines at a time.
  static constexpr bool in_floats = std::same_as<sum, float>;

  static const scaled& sparse_operand(const L& l, const R& r) {
    if constexpr (is_left)
      return l;
    else
      return r;
  }
  static const dense& dense_operand(const L& l, const R& r) {
    if constexpr (is_left)
      return r;
    else
      return l;
  }

  template <class Nested, class View>
  void add_up(const kernel::kernel_set& t, const Nested& nested, const View& values) {
    const std::ptrdiff_t lines = is_left ? cols_ : rows_, length = is_left ? rows_ : cols_;
    std::vector<float> factors(static_cast<std::size_t>(values.rows));
    const wide_coefficients<Nested> coefficients(t, nested);
    for (std::ptrdiff_t line = 0; line < lines && values.rows > 0; ++line) {
      kernel::decode(t, &values(0, line), values.row_stride, factors.data(), values.rows);
      float* const to = sums_.data() + line * length;
      for (Eigen::Index outer = 0; outer < nested.outerSize(); ++outer)
        if constexpr (is_left == bool(Nested::IsRowMajor)) {
          float total = 0;
          coefficients.for_each(outer, [&](float coefficient, Eigen::Index inner) {
            total += uncontracted(coefficient * factors[static_cast<std::size_t>(inner)]);
          });
          to[outer] = total;
        } else {
          const float factor = factors[static_cast<std::size_t>(outer)];
          coefficients.for_each(outer, [&](float coefficient, Eigen::Index inner) {
            to[inner] += uncontracted(coefficient * factor);
          });
        }
    }
  }

  template <class Nested, class View> void add_up(const Nested& nested, const View& values) {
    using evaluator = Eigen::internal::evaluator<std::remove_cvref_t<Nested>>;
    const evaluator coefficients(nested);
    const std::ptrdiff_t lines = is_left ? cols_ : rows_, length = is_left ? rows_ : cols_;
    for (std::ptrdiff_t line = 0; line < lines; ++line) {
      sum* const to = sums_.data() + line * length;
      for (Eigen::Index outer = 0; outer < nested.outerSize(); ++outer)
        for (typename evaluator::InnerIterator it(coefficients, outer); it; ++it) {
          const lane a = traits::decode(it.value());
          const lane b = traits::decode(values(is_left ? it.col() : it.row(), line));
          to[is_left ? it.row() : it.col()] += static_cast<sum>(a * b);
        }
    }
  }

  Eigen::Index rows_, cols_;
  double factor_ = 1;
  std::vector<sum> sums_;
};

/// The members of Eigen's `generic_product_impl` for a sparse matrix on either side. All sums are there
/// before one is stored: dst may share memory with the dense operand.
template <class L, class R> struct sparse_product_impl {
  template <class Dst> static void evalTo(Dst& dst, const L& l, const R& r) {
    sparse_sums<L, R>(l, r).store(dst, 1, destination::set);
  }
  template <class Dst> static void addTo(Dst& dst, const L& l, const R& r) {
    sparse_sums<L, R>(l, r).store(dst, 1, destination::added);
  }
  template <class Dst> static void subTo(Dst& dst, const L& l, const R& r) {
    sparse_sums<L, R>(l, r).store(dst, -1, destination::added);
  }
  template <class Dst, class Factor>
  static void scaleAndAddTo(Dst& dst, const L& l, const R& r, const Factor& alpha) {
    sparse_sums<L, R>(l, r).store(dst, factor_value(alpha), destination::added);
  }

  static product_result<L, R> product(const L& l, const R& r) {
    product_result<L, R> result(l.rows(), r.cols());
    evalTo(result, l, r);
    return result;
  }
};

/// Of two sparse matrices: in float, of `fixed` in double, which is exact up to 53 bits.
template <class L, class R> struct sparse_sparse_product_impl {
  using wide = routine_scalar_t<L, R>;
  template <class X>
  using wide_sparse = Eigen::SparseMatrix<wide, X::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor,
                                          typename Eigen::internal::traits<X>::StorageIndex>;

  static wide_sparse<L> product(const L& l, const R& r) {
    const wide_sparse<L> a = l.template cast<wide>();
    const wide_sparse<R> b = r.template cast<wide>();
    return a * b;
  }
  template <class Dst> static void evalTo(Dst& dst, const L& l, const R& r) {
    dst = product(l, r).template cast<typename Dst::Scalar>();
  }
  template <class Dst> static void addTo(Dst& dst, const L& l, const R& r) {
    dst += product(l, r).template cast<typename Dst::Scalar>();
  }
  template <class Dst> static void subTo(Dst& dst, const L& l, const R& r) {
    dst -= product(l, r).template cast<typename Dst::Scalar>();
  }
};

}  // namespace narrow::detail

namespace Eigen::internal {

#define NARROW_SPARSE_PRODUCT(LhsShape, RhsShape)                                                            \
  template <class L, class R, int Tag>                                                                       \
  requires narrow::detail::narrow_sparse_product<L, R>                                                       \
  struct generic_product_impl<L, R, LhsShape, RhsShape, Tag> : narrow::detail::sparse_product_impl<L, R> {}; \
  template <class L, class R, int Options, int Tag>                                                          \
  requires narrow::detail::narrow_sparse_product<L, R>                                                       \
  struct product_evaluator<Product<L, R, Options>, Tag, LhsShape, RhsShape>                                  \
      : narrow::detail::value_evaluator<narrow::detail::product_result<L, R>> {                              \
    using XprType = Product<L, R, Options>;                                                                  \
    explicit product_evaluator(const XprType& x)                                                             \
        : product_evaluator::value_evaluator(                                                                \
              narrow::detail::sparse_product_impl<L, R>::product(x.lhs(), x.rhs())) {}                       \
  };
NARROW_SPARSE_PRODUCT(SparseShape, DenseShape)
NARROW_SPARSE_PRODUCT(DenseShape, SparseShape)
NARROW_SPARSE_PRODUCT(SparseTriangularShape, DenseShape)
NARROW_SPARSE_PRODUCT(DenseShape, SparseTriangularShape)
NARROW_SPARSE_PRODUCT(SparseSelfAdjointShape, DenseShape)
NARROW_SPARSE_PRODUCT(DenseShape, SparseSelfAdjointShape)
#undef NARROW_SPARSE_PRODUCT

template <class L, class R, int Tag>
requires narrow::detail::some_narrow_expression<L, R>
struct generic_product_impl<L, R, SparseShape, SparseShape, Tag>
    : narrow::detail::sparse_sparse_product_impl<L, R> {
};

}  // namespace Eigen::internal
