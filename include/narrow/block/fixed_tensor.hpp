// Fixed point chosen at run time: the formats fixed<WL, FL> as values, and matrices in them.
#pragma once

#include <utility>
#include <variant>

#include "../convert.hpp"
#include "../errors.hpp"
#include "../kernel/product.hpp"
#include "format.hpp"
#include "source.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

/// The format of `fixed<wl, fl>`: two's complement of wl bits, fl of them after the binary point.
struct fixed_format {
  int wl = 8;  ///< bits, the sign included
  int fl = 4;  ///< bits after the binary point

  constexpr fixed_format() = default;
  /// Throws std::invalid_argument unless 2 <= wl <= 32 and 0 <= fl < wl.
  constexpr fixed_format(int word_length, int fraction_length) : wl(word_length), fl(fraction_length) {
    check();
  }

  /// Throws std::invalid_argument unless 2 <= wl <= 32 and 0 <= fl < wl.
  constexpr void check() const {
    if (wl < 2 || wl > 32)
      detail::fail<std::invalid_argument>("narrow::fixed_format: the word length " + std::to_string(wl) +
                                          " must be 2 to 32");
    if (fl < 0 || fl >= wl)
      detail::fail<std::invalid_argument>("narrow::fixed_format: the fraction length " + std::to_string(fl) +
                                          " must be 0 to " + std::to_string(wl - 1) +
                                          ", less than the word length");
  }

  friend constexpr bool operator==(const fixed_format&, const fixed_format&) = default;
  /// Writes <wl, fl>.
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      const fixed_format& f) {
    return out << '<' << f.wl << ", " << f.fl << '>';
  }
};

/// Marks matrices whose fixed-point format is chosen at run time: `Eigen::Matrix<dynamic_fixed, ...>`. An
/// object of this type is one double, not rounded.
class dynamic_fixed : public detail::lone_number<double> {
 public:
  using lone_number::lone_number;
  using round_policy = rounding::nearest_even;
};

/// A matrix of fixed-point numbers of one format, with the values and the rounding that `fixed<wl, fl>` has:
/// saturating, NaN gives 0.
///
/// Memory    int8 for word lengths to 8, int16 to 16, int32 beyond.
/// Products  see `multiply`: exact sums, one rounding to this tensor's format. Of more than 16 bits they cost
///           about as much as products of doubles; twice that where both word lengths are above about 26.
/// Assigning another tensor converts its values to the format of this one. What was moved from keeps its
/// format and its order: it is empty, or holds what was there where it was moved to.
class fixed_tensor {
 public:
  fixed_tensor() = default;
  /// Zeros of the format <8, 4>. Throws as `resize` does.
  fixed_tensor(std::ptrdiff_t rows, std::ptrdiff_t cols, storage_order order = storage_order::row_major)
      : fixed_tensor(rows, cols, fixed_format{}, order) {}
  /// Zeros. Throws as `resize` does, and std::invalid_argument if f is no format.
  fixed_tensor(std::ptrdiff_t rows, std::ptrdiff_t cols, const fixed_format& f,
               storage_order order = storage_order::row_major)
      : format_(f), order_(order) {
    f.check();
    resize(rows, cols);
  }
  fixed_tensor(const fixed_tensor&) = default;
  /// The other tensor is left empty, and keeps its format.
  fixed_tensor(fixed_tensor&& other) noexcept
      : format_(other.format_),
        rows_(std::exchange(other.rows_, 0)),
        cols_(std::exchange(other.cols_, 0)),
        order_(other.order_),
        mantissas_(std::move(other.mantissas_)),
        nonfinite_(std::exchange(other.nonfinite_, 0)) {}
  /// Takes the values, converted to the format of this tensor.
  fixed_tensor& operator=(const fixed_tensor& other) {
    if (format_ == other.format_ && order_ == other.order_) {
      fixed_tensor copy(other);
      swap(copy);
    } else {
      assign(other.rows(), other.cols(), other);
    }
    return *this;
  }
  /// Takes the values, converted to the format of this tensor.
  fixed_tensor& operator=(fixed_tensor&& other) {
    if (format_ == other.format_ && order_ == other.order_)
      swap(other);
    else
      *this = std::as_const(other);
    return *this;
  }

  /// How many rows there are.
  std::ptrdiff_t rows() const { return rows_; }
  /// How many columns there are.
  std::ptrdiff_t cols() const { return cols_; }
  /// How many elements there are.
  std::ptrdiff_t size() const { return rows_ * cols_; }
  /// Whether rows or columns lie along memory.
  storage_order order() const { return order_; }

  /// The format of the elements.
  fixed_format format() const { return format_; }
  /// Converts the values to another format. Throws std::invalid_argument, changing nothing, if it is none.
  template <rounding_policy Round = rounding::nearest_even>
  void format(const fixed_format& f, const Round& round = Round{}) {
    f.check();
    if (f == format_) return;
    fixed_tensor converted(0, 0, f, order_);
    converted.assign(rows_, cols_, *this, round);
    swap(converted);
  }

  /// The value of an element, exact.
  double operator()(std::ptrdiff_t row, std::ptrdiff_t col) const { return mantissa(row, col) * step(); }
  /// The value of an element in units of 2^-fl.
  std::int32_t mantissa(std::ptrdiff_t row, std::ptrdiff_t col) const {
    const auto place =
        static_cast<std::size_t>(order_ == storage_order::row_major ? row * cols_ + col : row + col * rows_);
    return std::visit([place](const auto& stored) { return std::int32_t{stored[place]}; }, mantissas_);
  }
  /// The mantissas, in storage order: a variant of vectors of int8, int16 and int32.
  const auto& mantissas() const { return mantissas_; }
  /// 2^-fl, the value of a mantissa of 1.
  double step() const { return 1 / static_cast<double>(std::uint64_t{1} << format_.fl); }

  /// How many NaNs and infinities were written since the last whole assignment, that one included.
  std::size_t nonfinite() const { return nonfinite_; }

  /// A new shape, all zeros. Throws std::invalid_argument if rows or cols is negative, std::length_error if
  /// no array can have so many elements.
  void resize(std::ptrdiff_t rows, std::ptrdiff_t cols) {
    detail::check_shape("narrow::fixed_tensor", rows, cols);
    const auto size = static_cast<std::size_t>(rows * cols);
    if (format_.wl <= 8)
      mantissas_ = std::vector<std::int8_t>(size);
    else if (format_.wl <= 16)
      mantissas_ = std::vector<std::int16_t>(size);
    else
      mantissas_ = std::vector<std::int32_t>(size);
    rows_ = rows;
    cols_ = cols;
    nonfinite_ = 0;
  }

  /// Takes the shape and the values of a matrix, of any narrow or built-in type, each rounded once by `round`
  /// under its row-major index.
  template <class T, rounding_policy Round = rounding::nearest_even>
  void assign(matrix_view<T> values, const Round& round = Round{}) {
    assign(values.rows, values.cols, values, round);
  }
  /// Takes the values of a function, values(row, column).
  template <class Values, rounding_policy Round = rounding::nearest_even>
  void assign(std::ptrdiff_t rows, std::ptrdiff_t cols, const Values& values, const Round& round = Round{}) {
    fixed_tensor result(rows, cols, format_, order_);  // the values may be computed from what is stored now
    result.round_into(result.whole(), detail::source_of<value_for<Values>>(values), round);
    swap(result);
  }

  /// Writes `values` to the part of the matrix that begins at (row, col). Throws std::invalid_argument if
  /// they reach beyond it.
  template <class T, rounding_policy Round = rounding::nearest_even>
  void write(std::ptrdiff_t row, std::ptrdiff_t col, matrix_view<T> values, const Round& round = Round{}) {
    write({row, col, values.rows, values.cols}, values, round);
  }
  /// Writes the values of a function, values(row, column), counted from the first element of `part`.
  template <class Values, rounding_policy Round = rounding::nearest_even>
  void write(const detail::region& part, const Values& values, const Round& round = Round{}) {
    detail::check_part("narrow::fixed_tensor", part, rows_, cols_);
    auto source = detail::source_of<value_for<Values>>(values, part.row, part.col);
    std::vector<typename decltype(source)::value_type> copy;
    detail::make_independent(source, part, copy);
    round_into(part, source, round);
  }

  /// Takes mantissas in units of 2^-fl, in storage order, and their format: what `mantissas()` gave of
  /// another tensor. Throws std::invalid_argument if f is no format, Integer is not the type that its
  /// mantissas have, there are not rows * cols of them, or one is beyond its range; and as `resize` does.
  template <std::signed_integral Integer>
  void assign_stored(std::ptrdiff_t rows, std::ptrdiff_t cols, const fixed_format& f,
                     std::vector<Integer> mantissas) {
    constexpr const char* function = "narrow::fixed_tensor::assign_stored";
    fixed_tensor result(rows, cols, f, order_);
    auto* const stored = std::get_if<std::vector<Integer>>(&result.mantissas_);
    if (stored == nullptr)
      detail::fail<std::invalid_argument>(std::string(function) + ": mantissas of " + std::to_string(f.wl) +
                                          " bits are no integers of " + std::to_string(8 * sizeof(Integer)));
    if (stored->size() != mantissas.size())
      detail::fail<std::invalid_argument>(std::string(function) + ": " + std::to_string(mantissas.size()) +
                                          " mantissas for " + detail::shape(rows, cols) + " elements");
    const std::int64_t end = std::int64_t{1} << (f.wl - 1);
    for (const Integer q : mantissas)
      if (q < -end || q >= end)
        detail::fail<std::invalid_argument>(std::string(function) + ": the mantissa " + std::to_string(q) +
                                            " has more than " + std::to_string(f.wl) + " bits");
    *stored = std::move(mantissas);
    swap(result);
  }

  /// Exchanges the contents; no element is copied.
  void swap(fixed_tensor& other) noexcept {
    std::swap(format_, other.format_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(order_, other.order_);
    mantissas_.swap(other.mantissas_);
    std::swap(nonfinite_, other.nonfinite_);
  }
  friend void swap(fixed_tensor& a, fixed_tensor& b) noexcept { a.swap(b); }

  /// The part of a tensor, or of its transpose, that takes part in a product.
  class view_type {
   public:
    /// Refers to the tensor.
    explicit view_type(const fixed_tensor& tensor) : format_(tensor.format_) {
      std::visit(
          [&](const auto& stored) {
            mantissas_ = detail::stored_matrix(stored.data(), tensor.rows_, tensor.cols_, tensor.order_);
          },
          tensor.mantissas_);
    }

    std::ptrdiff_t rows() const {
      return std::visit([](const auto& m) { return m.rows; }, mantissas_);
    }
    std::ptrdiff_t cols() const { return transposed().rows(); }
    view_type transposed() const {
      return mapped([](const auto& m) { return m.transposed(); });
    }
    /// `height` x `width` elements from (i, j) on, of which nothing is checked.
    view_type block(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t height, std::ptrdiff_t width) const {
      return mapped([=](const auto& m) { return m.block(i, j, height, width); });
    }
    fixed_format format() const { return format_; }
    /// A variant of matrix_views.
    const auto& mantissas() const { return mantissas_; }

   private:
    template <class F> view_type mapped(const F& f) const {
      view_type result(*this);
      std::visit([&](const auto& m) { result.mantissas_ = f(m); }, mantissas_);
      return result;
    }

    fixed_format format_;
    std::variant<matrix_view<const std::int8_t>, matrix_view<const std::int16_t>,
                 matrix_view<const std::int32_t>>
        mantissas_;
  };
  /// What products read.
  view_type view() const { return view_type(*this); }

  /// *this = alpha a b + beta *this, exact until it is rounded once to this tensor's format; see `gemm` for
  /// other factors than powers of two. It takes the shape of the product where beta is 0. Throws
  /// std::invalid_argument naming both shapes if they do not match.
  template <rounding_policy Round = rounding::nearest_even>
  void multiply(const view_type& a, const view_type& b, double alpha = 1, double beta = 0,
                const Round& round = Round{}) {
    const auto of_a = detail::extents_of(a), of_b = detail::extents_of(b);
    detail::check_factors("narrow::fixed_tensor::multiply", of_a, of_b);
    if (beta != 0)
      detail::check_result("narrow::fixed_tensor::multiply", of_a, of_b, detail::extents_of(*this));
    fixed_tensor result(a.rows(), b.cols(), format_, order_);  // a and b may be views of this tensor
    const bool down = order_ == storage_order::column_major;   // tiles are to lie as the result does
    const view_type left = down ? b.transposed() : a, right = down ? a.transposed() : b;
    const kernel::element_order by_rows{0, static_cast<std::uint64_t>(result.cols_), 1};
    const auto order = down ? by_rows.transposed() : by_rows;
    const int dropped = a.format().fl + b.format().fl - format_.fl;
    const auto highest = static_cast<std::int32_t>((std::int64_t{1} << (format_.wl - 1)) - 1);
    std::visit(
        [&](auto& stored) {
          const auto c = detail::stored_matrix(stored.data(), result.rows_, result.cols_, order_);
          const auto to = down ? c.transposed() : c;
          using element = std::remove_pointer_t<decltype(to.data)>;
          for_tiles_of_sums(
              left, right, [&](auto t, std::ptrdiff_t row, std::ptrdiff_t col, const auto& sums) {
                if (alpha == 1 && beta == 0 &&
                    kernel::round_sums(t, sums, to.block(row, col, sums.rows, sums.cols),
                                       {dropped, -highest - 1, highest}, round, order.at(row, col)))
                  return;
                for (std::ptrdiff_t i = row; i < row + sums.rows; ++i)
                  for (std::ptrdiff_t j = col; j < col + sums.cols; ++j) {
                    const std::int32_t before = beta == 0 ? 0 : down ? mantissa(j, i) : mantissa(i, j);
                    auto old = detail::widened<detail::uint128>(detail::unpack(before));
                    old.exponent = -format_.fl;
                    const auto value = kernel::exact_axpby(unpacked_sum(sums(i - row, j - col), left, right),
                                                           alpha, beta, old, detail::sign_of_zero_sum(round));
                    to(i, j) = static_cast<element>(detail::mantissa_of(
                        value, format_.wl, format_.fl, at_element(round, order(i, j)), overflow::saturate{}));
                  }
              });
        },
        result.mantissas_);
    swap(result);
  }

  /// store(t, i, j, sums) with the exact sums of a b in tiles, integers in units of both formats' steps.
  template <class Store>
  static void for_tiles_of_sums(const view_type& a, const view_type& b, const Store& store) {
    // Mantissas of different widths meet in the wider one: a copy is cheaper than a kernel for every pair.
    const std::size_t width = std::max(a.mantissas().index(), b.mantissas().index());
    const kernel::magnitudes largest{std::int64_t{1} << (a.format().wl - 1),
                                     std::int64_t{1} << (b.format().wl - 1)};
    const auto run = [&](auto element) {
      using T = decltype(element);
      kernel::integer_product<T, T>(elements_of<T>(a).view(), elements_of<T>(b).view(), largest, store);
    };
    if (width == 0)
      run(std::int8_t{});
    else if (width == 1)
      run(std::int16_t{});
    else
      run(std::int32_t{});
  }
  /// A sum of products of mantissas of a and b, as a number.
  template <class Sum>
  static detail::unpacked<detail::uint128> unpacked_sum(const Sum& sum, const view_type& a,
                                                        const view_type& b) {
    auto value = unpack(fixed_sum<detail::int128, 0>(sum));
    value.exponent = -(a.format().fl + b.format().fl);
    return value;
  }

 private:
  /// The mantissas of a view as elements of type T: in place, or copied.
  template <class T> class elements_of {
   public:
    explicit elements_of(const view_type& v) {
      const auto take = [this](const auto& m) {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(*m.data)>, T>) {
          view_ = m;
        } else {
          copy_.resize(static_cast<std::size_t>(m.rows * m.cols));
          const auto to = detail::lies_by_rows(m) ? row_major(copy_, m.rows, m.cols)
                                                  : column_major(copy_, m.rows, m.cols);
          kernel::for_each_place(
              to, [&](std::ptrdiff_t i, std::ptrdiff_t j) { to(i, j) = static_cast<T>(m(i, j)); });
          view_ = to;
        }
      };
      std::visit(take, v.mantissas());
    }
    const matrix_view<const T>& view() const { return view_; }

   private:
    matrix_view<const T> view_;
    std::vector<T> copy_;
  };

  /// Computed values are doubles at least.
  template <class Values> using value_for = std::common_type_t<double, detail::values_of<Values>>;

  detail::region whole() const { return {0, 0, rows_, cols_}; }

  template <class Value, class Round>
  void round_into(const detail::region& part, const detail::value_source<Value>& source, const Round& round) {
    const double highest = static_cast<double>((std::uint64_t{1} << (format_.wl - 1)) - 1);
    const kernel::element_range range{-highest - 1, highest};
    std::visit(
        [&](auto& stored) {
          const auto to = detail::stored_matrix(stored.data(), rows_, cols_, order_);
          for (detail::source_walk<Value> walk(source, part, order_); walk.next();)
            nonfinite_ += kernel::to_fixed(walk.values(), to.block(walk.part()), format_.fl, range, round,
                                           detail::order_within(walk.part(), cols_));
        },
        mantissas_);
  }

  fixed_format format_;
  std::ptrdiff_t rows_ = 0, cols_ = 0;
  storage_order order_ = storage_order::row_major;
  std::variant<std::vector<std::int8_t>, std::vector<std::int16_t>, std::vector<std::int32_t>> mantissas_;
  std::size_t nonfinite_ = 0;
};

/// C = alpha A B + beta C for views of fixed-point tensors: exact until each coefficient is rounded once to
/// the type of C, which is a narrow or a built-in one, for alpha and beta powers of two.
/// Throws std::invalid_argument naming both shapes if they do not match.
template <class C>
void gemm(const fixed_tensor::view_type& a, const fixed_tensor::view_type& b, matrix_view<C> c,
          double alpha = 1, double beta = 0) {
  const auto of_a = detail::extents_of(a), of_b = detail::extents_of(b);
  detail::check_factors("narrow::gemm", of_a, of_b);
  detail::check_result("narrow::gemm", of_a, of_b, detail::extents_of(c));
  const typename detail::policy_of<C>::type round{};
  const bool down = kernel::lies_down(c);  // so are tiles to lie
  const auto left = down ? b.transposed() : a, right = down ? a.transposed() : b;
  const auto to = down ? c.transposed() : c;
  const auto order = down ? kernel::row_by_row(c).transposed() : kernel::row_by_row(c);
  const float unit = detail::power_of_two(-(a.format().fl + b.format().fl));
  const auto store = [&](auto t, std::ptrdiff_t row, std::ptrdiff_t col, const auto& sums) {
    if constexpr (std::same_as<C, float>)
      if (alpha == 1 && beta == 0)
        return kernel::scale_sums(t, sums, unit, to.block(row, col, sums.rows, sums.cols));
    for (std::ptrdiff_t i = row; i < row + sums.rows; ++i)
      for (std::ptrdiff_t j = col; j < col + sums.cols; ++j)
        kernel::store_exact_axpby(fixed_tensor::unpacked_sum(sums(i - row, j - col), a, b), alpha, beta,
                                  to(i, j), at_element(round, order(i, j)));
  };
  fixed_tensor::for_tiles_of_sums(left, right, store);
}

}  // namespace narrow

template <> class std::numeric_limits<narrow::dynamic_fixed> : public std::numeric_limits<double> {};

NARROW_STRICT_END
