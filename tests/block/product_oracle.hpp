// Products of tensors, from the mantissas and scales that are stored: integer sums, then the roundings one by
// one.
#pragma once

#include "block_oracle.hpp"

namespace test {

/// A number, or an infinity.
struct float_value {
  mpq_class value;
  int infinite = 0;  // its sign
  bool operator==(float x) const {
    if (infinite != 0) return std::bit_cast<std::uint32_t>(x) == (infinite < 0 ? 0xff80'0000u : 0x7f80'0000u);
    return is_finite(x) && rational(x) == value;
  }
};

/// The nearest number of 24 bits, ties to even, whose last bit is worth 2^lowest or more.
inline mpq_class nearest_24_bits(const mpq_class& x, int lowest) {
  if (sgn(x) == 0) return x;
  const mpq_class magnitude = abs(x);
  // 2^(numerator's bits - denominator's bits - 1) < magnitude
  int unit = static_cast<int>(mpz_sizeinbase(x.get_num().get_mpz_t(), 2)) -
             static_cast<int>(mpz_sizeinbase(x.get_den().get_mpz_t(), 2)) - 25;
  while (magnitude >= power(unit + 24)) ++unit;
  unit = std::max(unit, lowest);
  const mpq_class rounded =
      rounded_integers<narrow::rounding::nearest_even>(mpq_class(magnitude / power(unit))).first *
      power(unit);
  return sgn(x) < 0 ? mpq_class(-rounded) : rounded;
}
inline float_value nearest_float(const mpq_class& x) {
  const mpq_class rounded = nearest_24_bits(x, -149);
  if (abs(rounded) < power(128)) return {rounded, 0};
  return {0, sgn(x)};
}

/// What a tensor, or its transpose, is as a factor: not a template, as pairs of formats are many.
struct factor {
  place rows = 0, cols = 0;
  std::vector<long> mantissas;                                // row by row
  std::vector<float> scales;                                  // of each element
  std::vector<bool> changes_along_row, changes_along_column;  // whether a block ends before the element
  std::string format;

  long mantissa(place i, place j) const { return mantissas[static_cast<std::size_t>(i * cols + j)]; }
  mpq_class scale(place i, place j) const { return rational(scales[static_cast<std::size_t>(i * cols + j)]); }
};

/// By the definition of the format's granularity, not by what the tensor's view says of blocks.
template <class F> factor factor_of(const narrow::block_tensor<F>& t, bool turned) {
  using blocks = sharing<typename F::block_type>;
  factor result;
  result.rows = turned ? t.cols() : t.rows();
  result.cols = turned ? t.rows() : t.cols();
  for (place i = 0; i < result.rows; ++i)
    for (place j = 0; j < result.cols; ++j) {
      const auto [row, col] = turned ? std::pair(j, i) : std::pair(i, j);
      result.mantissas.push_back(mantissa(t, row, col));
      result.scales.push_back(static_cast<float>(t.view().scale(row, col)));
    }
  const auto ends_between_rows = [](place i) { return i > 0 && !blocks::same(i - 1, 0, i, 0); };
  const auto ends_between_columns = [](place j) { return j > 0 && !blocks::same(0, j - 1, 0, j); };
  for (place i = 0; i < t.rows(); ++i)
    (turned ? result.changes_along_row : result.changes_along_column).push_back(ends_between_rows(i));
  for (place j = 0; j < t.cols(); ++j)
    (turned ? result.changes_along_column : result.changes_along_row).push_back(ends_between_columns(j));
  result.format = name_of<F>() + (turned ? " transposed" : "");
  return result;
}

/// One coefficient of A B as it is promised: exact sums over stretches of one scale, added in float.
struct coefficient {
  float_value value;       // where the scale does not change with every term
  exact_sum exact;         // of the values
  bool each_term = false;  // it does
};

/// Whether every element of a line of more than one is in a block of its own.
inline bool each_alone(const std::vector<bool>& ends) {
  return ends.size() > 1 && std::count(ends.begin(), ends.end(), true) == std::ssize(ends) - 1;
}

inline coefficient product_coefficient(const factor& a, const factor& b, place i, place j) {
  coefficient result;
  result.each_term = each_alone(a.changes_along_row) || each_alone(b.changes_along_column);
  const auto ends = [&](place p) {
    return a.changes_along_row[static_cast<std::size_t>(p)] ||
           b.changes_along_column[static_cast<std::size_t>(p)];
  };
  mpq_class total = 0;
  int infinite = 0;
  for (place first = 0, last; first < a.cols; first = last) {
    mpz_class sum = 0, magnitudes = 0;
    for (last = first; last == first || (last < a.cols && !ends(last)); ++last) {
      const mpz_class term = mpz_class(a.mantissa(i, last)) * b.mantissa(last, j);
      sum += term;
      magnitudes += abs(term);
    }
    const mpq_class scale = a.scale(i, first) * b.scale(first, j);
    const float_value piece =
        nearest_float(mpq_class(nearest_24_bits(sum, 0) * nearest_24_bits(scale, -100'000)));
    if (piece.infinite != 0) infinite = piece.infinite;
    total = nearest_24_bits(mpq_class(total + piece.value), -149);
    result.exact.value += sum * scale;
    result.exact.magnitude += magnitudes * scale;
  }
  result.value = infinite != 0 ? float_value{0, infinite} : nearest_float(total);
  return result;
}

/// Checks C = A B.
inline void check_product(tally& count, const factor& a, const factor& b,
                          narrow::matrix_view<const float> c) {
  for (place i = 0; i < a.rows; ++i)
    for (place j = 0; j < b.cols; ++j) {
      const coefficient right = product_coefficient(a, b, i, j);
      const auto k = static_cast<std::size_t>(a.cols);
      // Where products of floats underflow, each loses half of the smallest subnormal at most.
      const mpq_class bound =
          gamma<float>(k) * right.exact.magnitude + static_cast<unsigned long>(k) * power(-150);
      count.expect(right.each_term ? within(c(i, j), right.exact.value, bound) : right.value == c(i, j), [&] {
        return text(a.format, b.format, "depth", k, "at", i, j, "gives", c(i, j), "exactly",
                    right.exact.value.get_d());
      });
    }
}

/// A tensor of `numbers`, in one order or the other.
template <class F>
narrow::block_tensor<F> tensor_in_order(const std::vector<float>& numbers, const extent& size,
                                        bool by_columns) {
  if (!by_columns) return narrow::quantize<F>(numbers, size.rows, size.cols);
  return narrow::quantize<F>(narrow::column_major(in_columns(numbers, size), size.rows, size.cols));
}

struct product_shape {
  place m, n, k;
};

/// A B for two formats in one shape: bits 0 to 3 of `layout` are the orders and, if Transposes, the
/// transposes.
template <bool Transposes, class F, class G>
void check_products_of(tally& count, const product_shape& shape, unsigned layout, int exponent_a,
                       int exponent_b, generator& random) {
  const auto bit = [&](unsigned number) { return (layout >> number & 1) != 0 && (number < 2 || Transposes); };
  const auto [m, n, k] = shape;
  const extent size_a = bit(2) ? extent{k, m} : extent{m, k}, size_b = bit(3) ? extent{n, k} : extent{k, n};
  const auto a = tensor_in_order<F>(numbers_around(exponent_a, m * k, random), size_a, bit(0));
  const auto b = tensor_in_order<G>(numbers_around(exponent_b, k * n, random), size_b, bit(1));
  std::vector<float> c(static_cast<std::size_t>(m * n), std::numeric_limits<float>::quiet_NaN());
  const auto to = narrow::row_major(c, m, n);
  if constexpr (Transposes) {
    if (bit(2) && bit(3)) narrow::gemm(narrow::transposed(a), narrow::transposed(b), to);
    if (bit(2) && !bit(3)) narrow::gemm(narrow::transposed(a), b, to);
    if (!bit(2) && bit(3)) narrow::gemm(a, narrow::transposed(b), to);
  }
  if (!bit(2) && !bit(3)) narrow::gemm(a, b, to);
  check_product(count, factor_of(a, bit(2)), factor_of(b, bit(3)), to);
}

}  // namespace test
