// Storing an Eigen expression in a tensor or in a part of one.
#pragma once

#include <exception>
#include <optional>

#include "../products/strip_factor.hpp"
#include "piecewise.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Whether the coefficients of X may be computed twice, once for the scales and once to be rounded: cheap
/// ones that come out the same again. Products in it are computed once, by its evaluator.
template <class X> inline constexpr bool cheap_to_repeat = direct_access<X> || tensor_format<format_below<X>>;
template <class X> inline constexpr bool cheap_to_repeat<const X> = cheap_to_repeat<X>;
template <class Op, class A, class B>
inline constexpr bool cheap_to_repeat<Eigen::CwiseBinaryOp<Op, A, B>> =
    int(Eigen::internal::functor_traits<Op>::Cost) <= 16 && cheap_to_repeat<A>&& cheap_to_repeat<B>;
template <class Op, class X>
inline constexpr bool cheap_to_repeat<Eigen::CwiseUnaryOp<Op, X>> =
    int(Eigen::internal::functor_traits<Op>::Cost) <= 16 && cheap_to_repeat<X>;
template <class T, class Plain>
inline constexpr bool cheap_to_repeat<Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>> =
    true;
template <class L, class R>
inline constexpr bool cheap_to_repeat<Eigen::Product<L, R, Eigen::DefaultProduct>> = true;
template <class X> inline constexpr bool cheap_to_repeat<Eigen::Transpose<X>> = cheap_to_repeat<X>;
template <class X> inline constexpr bool cheap_to_repeat<Eigen::ArrayWrapper<X>> = cheap_to_repeat<X>;
template <class X> inline constexpr bool cheap_to_repeat<Eigen::MatrixWrapper<X>> = cheap_to_repeat<X>;

/// A row where a column is wanted, or the other way round.
template <class To, class X>
inline constexpr bool turned =
    To::IsVectorAtCompileTime&& X::IsVectorAtCompileTime&& int(To::SizeAtCompileTime) != 1 &&
    int(X::SizeAtCompileTime) != 1 && (int(To::RowsAtCompileTime) == 1) != (int(X::RowsAtCompileTime) == 1);

/// Expressions of floats that are computed in pieces.
template <class X>
concept floats_in_pieces =
    piecewise_expression<X> && !direct_access<X> && std::same_as<typename X::Scalar, float>;

/// The coefficients of one, a panel at a time.
template <floats_in_pieces X> class piecewise_coefficients {
 public:
  explicit piecewise_coefficients(const X& x) : values_(x) {}

  float operator()(Eigen::Index row, Eigen::Index col) const {
    return values_.get(by_columns, col, row, 1)(0);
  }

  void compute(const region& part, matrix_view<float> to) const {
    with_float_environment([&] { compute_lines(part, to); });
  }

 private:
  void compute_lines(const region& part, matrix_view<float> to) const {
    const bool rows = lies_by_rows(to);
    const auto lines = rows ? to.transposed() : to;
    const Eigen::Index first_line = rows ? part.row : part.col, first = rows ? part.col : part.row;
    for (Eigen::Index line = 0; line < lines.cols; ++line)
      for (Eigen::Index i = 0; i < lines.rows; i += piece_size)
        store(values_.get(rows ? by_rows : by_columns, first_line + line, first + i,
                          std::min<Eigen::Index>(piece_size, lines.rows - i)),
              &lines(i, line), lines.row_stride);
  }

  template <class Piece> static void store(const Piece& values, float* to, Eigen::Index step) {
    if (step == 1)
      Eigen::Map<piece>(to, values.size()) = values;
    else
      Eigen::Map<piece, 0, Eigen::InnerStride<>>(to, values.size(), step) = values;
  }

  mutable piecewise<X> values_;
};

/// What an expression of Scalars is evaluated into: a matrix of the shape of Plain, of built-in numbers as
/// they are, of others as Plain has them.
template <class Plain, class Scalar> struct evaluated { using type = Plain; };
template <class Plain, builtin_arithmetic Scalar> struct evaluated<Plain, Scalar> {
  using type = Eigen::Matrix<Scalar, Plain::RowsAtCompileTime, Plain::ColsAtCompileTime, Plain::Options,
                             Plain::MaxRowsAtCompileTime, Plain::MaxColsAtCompileTime>;
};

/// Expressions that a program of lanes computes.
template <class X>
concept floats_in_lanes = floats_in_pieces<X> && lane_expressions<X>;
/// The coefficients of one: of not too many numbers all of them, which the program computes at once, and of
/// more a panel at a time, without a copy in float.
template <class Plain, floats_in_lanes X> class lane_coefficients {
 public:
  explicit lane_coefficients(const X& x) {
    if (x.size() > max_dequantized || !compute(x)) pieces_.emplace(x);
  }

  template <class Use> void visit(const Use& use) const {
    if (pieces_)
      use(*pieces_);
    else
      use(view_of_direct(floats_));
  }

 private:
  bool compute(const X& x) {
    return assign_in_lanes<void>(floats_, x, [&] { floats_.resize(x.rows(), x.cols()); });
  }

  typename evaluated<Plain, float>::type floats_;
  std::optional<piecewise_coefficients<X>> pieces_;
};

/// The coefficients of one, each by itself.
template <class X> class single_coefficients {
 public:
  explicit single_coefficients(const X& x) : evaluator_(x) {}
  auto operator()(Eigen::Index row, Eigen::Index col) const { return evaluator_.coeff(row, col); }

 private:
  Eigen::internal::evaluator<X> evaluator_;
};

/// The coefficients of x, which `visit` hands on. Plain is what x is evaluated into where its coefficients
/// cannot be computed twice or it has to be turned.
template <class Plain, class X> class coefficients {
  static constexpr bool evaluates = turned<Plain, X> || !cheap_to_repeat<X>;

 public:
  const Eigen::Index rows, cols;

  explicit coefficients(const X& x)
      : rows(turned<Plain, X> ? x.cols() : x.rows()),
        cols(turned<Plain, X> ? x.rows() : x.cols()),
        source_(source_of(x)) {}
  /// use(values), a view of them or a function of (row, column).
  template <class Use> void visit(const Use& use) const {
    if constexpr (evaluates)
      use(view_of_direct(source_));
    else if constexpr (requires { source_.visit(use); })
      source_.visit(use);
    else
      use(source_);
  }

 private:
  static auto source_of(const X& x) {
    if constexpr (evaluates)
      return typename evaluated<Plain, typename X::Scalar>::type(x);
    else if constexpr (direct_access<X>)
      return view_of_direct(x);
    else if constexpr (floats_in_lanes<X>)
      return lane_coefficients<Plain, X>(x);
    else if constexpr (floats_in_pieces<X>)
      return piecewise_coefficients<X>(x);
    else
      return single_coefficients<X>(x);
  }
  const decltype(source_of(std::declval<const X&>())) source_;
};

/// A product of two fixed-point tensors, perhaps times a factor: what is stored in a third one with one
/// rounding.
template <class X> inline constexpr bool is_product_of_fixed = false;
template <class X> inline constexpr bool is_product_of_fixed<const X> = is_product_of_fixed<X>;
template <class L, class R, int Options>
inline constexpr bool is_product_of_fixed<Eigen::Product<L, R, Options>> =
    std::same_as<stripped_format<L>, dynamic_fixed>&& std::same_as<stripped_format<R>, dynamic_fixed>;

template <class X>
concept product_of_fixed = is_product_of_fixed<typename stripped<X>::type>;

/// to = factor x + beta to.
template <product_of_fixed X> void multiply_into(fixed_tensor& to, const X& x, double factor, double beta) {
  const auto& product = stripped<X>::expression(x);
  using left = std::remove_cvref_t<decltype(product.lhs())>;
  using right = std::remove_cvref_t<decltype(product.rhs())>;
  to.multiply(tensor_access<typename stripped<left>::type>::view(stripped<left>::expression(product.lhs())),
              tensor_access<typename stripped<right>::type>::view(stripped<right>::expression(product.rhs())),
              factor * stripped<X>::factor(x) * stripped<left>::factor(product.lhs()) *
                  stripped<right>::factor(product.rhs()),
              beta);
}

/// One coefficient of a tensor, to be read and written.
template <class Part> class tensor_coefficient {
  using value_type = typename Part::Scalar;

 public:
  tensor_coefficient(Part& part, Eigen::Index row, Eigen::Index col) : part_(part), row_(row), col_(col) {}
  tensor_coefficient(const tensor_coefficient&) = default;

  operator value_type() const { return part_.coeff(row_, col_); }
  const tensor_coefficient& operator=(value_type x) const {
    part_.write_part({row_, col_, 1, 1}, matrix_view<const value_type>{&x, 1, 1, 1, 1});
    return *this;
  }
  tensor_coefficient& operator=(const tensor_coefficient& other) {
    std::as_const(*this) = static_cast<value_type>(other);
    return *this;
  }
  const tensor_coefficient& operator+=(value_type x) const { return *this = *this + x; }
  const tensor_coefficient& operator-=(value_type x) const { return *this = *this - x; }
  const tensor_coefficient& operator*=(value_type x) const { return *this = *this * x; }
  const tensor_coefficient& operator/=(value_type x) const { return *this = *this / x; }

 private:
  Part& part_;
  Eigen::Index row_, col_;
};

/// `part << a, b, c`: what is listed is gathered and stored as a whole.
template <class Part> class tensor_comma {
  using plain = typename Part::PlainObject;

 public:
  template <class First>
  tensor_comma(Part& part, const First& first)
      : part_(part), values_(part.rows(), part.cols()), list_(values_, first) {}
  tensor_comma(const tensor_comma&) = delete;
  tensor_comma& operator=(const tensor_comma&) = delete;
  /// Stores, unless an exception has cut the list off: then all stays as it was.
  ~tensor_comma() noexcept(false) {
    if (std::uncaught_exceptions() == exceptions_) finished();
  }

  template <class Next> tensor_comma& operator,(const Next& next) {
    if constexpr (std::is_convertible_v<Next, typename Part::Scalar>)
      list_, static_cast<typename Part::Scalar>(next);
    else
      list_, next;
    return *this;
  }
  Part& finished() {
    if (!std::exchange(stored_, true)) part_ = list_.finished();
    return part_;
  }

 private:
  Part& part_;
  plain values_;
  Eigen::CommaInitializer<plain> list_;
  int exceptions_ = std::uncaught_exceptions();
  bool stored_ = false;
};

/// A dense expression that can be assigned to, though its coefficients are no objects in memory. Derived has
/// store(x), which assigns all of it, and write_part(region, values), where values are a matrix_view or a
/// function of (row, column).
template <class Derived> class tensor_expression : public Eigen::MatrixBase<Derived> {
 public:
  using Base = Eigen::MatrixBase<Derived>;
  using Scalar = typename Eigen::internal::traits<Derived>::Scalar;
  using PlainObject = typename Base::PlainObject;
  using Base::derived;
  using Base::operator*=;
  using Base::operator();  // by indices, to be read

  tensor_expression() = default;
  tensor_expression(const tensor_expression&) : Base() {}
  Derived& operator=(const tensor_expression& x) { return derived() = x.derived(); }

  template <class X> Derived& operator=(const Eigen::EigenBase<X>& x) {
    if constexpr (stores_product<X>)
      derived().store_product(x.derived(), 1, 0);
    else if constexpr (dense<X>)
      derived().store(x.derived());
    else
      *this = PlainObject(x.derived());
    return derived();
  }
  template <class X> Derived& operator+=(const Eigen::EigenBase<X>& x) {
    return add(x.derived(), 1, [](const auto& a, const auto& b) { return a + b; });
  }
  template <class X> Derived& operator-=(const Eigen::EigenBase<X>& x) {
    return add(x.derived(), -1, [](const auto& a, const auto& b) { return a - b; });
  }
  Derived& operator*=(const Scalar& factor) { return *this = derived() * factor; }
  Derived& operator/=(const Scalar& divisor) { return *this = derived() / divisor; }

  /// Assignment never writes to what it still reads: there is nothing to promise.
  Derived& noalias() { return derived(); }

  Scalar operator()(Eigen::Index row, Eigen::Index col) const {
    return checked(*this, row, col).coeff(row, col);
  }
  Scalar operator()(Eigen::Index index) const { return (*this)(row_of(index), col_of(index)); }
  Scalar operator[](Eigen::Index index) const { return (*this)(index); }
  auto operator()(Eigen::Index row, Eigen::Index col) {
    return tensor_coefficient<Derived>(checked(*this, row, col), row, col);
  }
  auto operator()(Eigen::Index index) { return (*this)(row_of(index), col_of(index)); }
  auto operator[](Eigen::Index index) { return (*this)(index); }
  auto coeffRef(Eigen::Index row, Eigen::Index col) { return (*this)(row, col); }
  auto coeffRef(Eigen::Index index) { return (*this)(index); }

  tensor_comma<Derived> operator<<(const Scalar& first) { return {derived(), first}; }
  template <class X> tensor_comma<Derived> operator<<(const Eigen::DenseBase<X>& first) {
    return {derived(), first};
  }

  Derived& setConstant(const Scalar& x) { return *this = Base::Constant(this->rows(), this->cols(), x); }
  Derived& setZero() { return setConstant(0); }
  Derived& setOnes() { return setConstant(1); }
  void fill(const Scalar& x) { setConstant(x); }
  /// Each is stored as assignment does it, from what the other one was.
  template <class X> void swap(const Eigen::DenseBase<X>& other) {
    const typename evaluated<PlainObject, Scalar>::type mine(derived());
    derived() = other.derived();
    other.const_cast_derived() = mine;
  }
  Derived& setRandom() { return *this = Base::Random(this->rows(), this->cols()); }
  Derived& setIdentity() { return *this = Base::Identity(this->rows(), this->cols()); }
  Derived& setLinSpaced(const Scalar& low, const Scalar& high) {
    return *this = Base::LinSpaced(this->size(), low, high);
  }

  template <class T = void> void data() const {
    static_assert(refused<T>,
                  "narrow: a matrix of a block format has no data(): its coefficients are not in memory; see "
                  "mantissas(), scales(), or assign it to a matrix of float");
  }

 private:
  /// *this = sum(*this, x), where sum is *this + sign x.
  template <class X, class Sum> Derived& add(const X& x, double sign, const Sum& sum) {
    if constexpr (stores_product<X>)
      return derived().store_product(x, sign, 1);
    else if constexpr (dense<X>)
      return *this = sum(derived(), x);
    else
      return *this = sum(PlainObject(derived()), PlainObject(x));
  }

  template <class X>
  static constexpr bool stores_product =
      std::same_as<format_below<Derived>, dynamic_fixed>&& product_of_fixed<X>;
  template <class X> static constexpr bool dense = std::derived_from<X, Eigen::DenseBase<X>>;
  static constexpr bool is_row = Eigen::internal::traits<Derived>::RowsAtCompileTime == 1;
  static Eigen::Index row_of(Eigen::Index index) { return is_row ? 0 : index; }
  static Eigen::Index col_of(Eigen::Index index) { return is_row ? index : 0; }
  template <class Self>
  static auto& checked(Self& self, [[maybe_unused]] Eigen::Index row, [[maybe_unused]] Eigen::Index col) {
    eigen_assert(row >= 0 && row < self.rows() && col >= 0 && col < self.cols());
    return self.derived();
  }
};

}  // namespace narrow::detail
