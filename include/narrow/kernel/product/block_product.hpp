// Products of matrices in blocks.
#pragma once

#include "bf16_values.hpp"
#include "block_scales.hpp"
#include "execute.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

template <class A, class B>
using accumulation_of_blocks =
    detail::element_accumulation<typename A::element_type, typename B::element_type>;

/// Over how many terms from `first` on no element of A or B changes its scale.
template <class A, class B> index constant_depth(const A& a, const B& b, index first) {
  return std::min(a.constant_cols(first), b.constant_rows(first));
}

/// Whether scales change with every term.
template <class A, class B> bool has_scale_of_each_term(const A& a, const B& b) {
  return a.cols() > 1 && (a.tile_cols == 1 || b.tile_rows == 1);
}

/// How A B is computed where scales change along the summed dimension, but not with every term: in scaled
/// pieces of `length` terms, if that is the length of all of them and there is a kernel.
template <class A, class B>
product_plan plan_scaled_pieces(kernel_set t, const A& a, const B& b, index length,
                                packed_type max_type = packed_type::int8) {
  using element = typename A::element_type;
  using other = typename B::element_type;
  using sum = typename accumulation_of_blocks<A, B>::sum;
  const index depth = a.cols();
  product_plan plan;
  for (index first = length; first < depth; first += length)
    if (constant_depth(a, b, first) != std::min(length, depth - first)) return plan;
  plan_as<best_type<sum, element, other>()>(max_type, plan, [&]<packed_type P>() {
    const work_shape w{a.rows(), b.cols(), 1, 1, depth};
    if (!plan_scaled_panels<P>(t, w, {a.largest, b.largest}, length, plan)) return false;
    plan.fallback = fallback_codes<P, element>().count != 0 || fallback_codes<P, other>().count != 0
                        ? wider_type(P)
                        : packed_type::none;
    return true;
  });
  return plan;
}

/// Whether sums of so many products of elements are exact in float, and so the same in whatever order.
template <class A, class B> constexpr bool sums_are_exact(index length) {
  return bits_in_last_places<A>() + bits_in_last_places<B>() +
             std::bit_width(static_cast<std::uint64_t>(length)) <=
         detail::binary32::mantissa_bits + 1;
}

/// Whether A B is computed from the values of both, as bf16 with the scales multiplied in, as long as that is
/// exact, as it is not where the first scale is no power of two: where scales change with every term, or
/// else, along the summed dimension, where even the sums under one scale are rounded.
template <class A, class B> bool multiplies_values(const A& a, const B& b) {
  using element = typename A::element_type;
  using other = typename B::element_type;
  if constexpr (!fits_bf16<element> || !fits_bf16<other>) {
    return false;
  } else {
    const auto powers = [](const auto& scales) { return bf16_step(scales(0, 0), 0) != no_step; };
    if (a.rows() == 0 || a.cols() == 0 || b.cols() == 0 || !powers(a.scales) || !powers(b.scales))
      return false;
    if (has_scale_of_each_term(a, b)) return true;
    const index length = constant_depth(a, b, 0);
    return std::same_as<typename accumulation_of_blocks<A, B>::sum, float> && length < a.cols() &&
           !sums_are_exact<element, other>(length);
  }
}

/// How that is computed, from matrices of bf16 without subnormal numbers.
inline product_plan plan_values(kernel_set t, matrix_view<const value_bf16> a,
                                matrix_view<const value_bf16> b) {
  product_plan plan = plan_product<detail::accumulation_traits<value_bf16, value_bf16>>(t, a, b, {});
  plan.scales_first = true;
  plan.fallback = packed_type::none;
  return plan;
}

/// How A B is computed, or its first piece where pieces are multiplied one by one.
template <class A, class B> product_plan plan_blocks(kernel_set t, const A& a, const B& b) {
  constexpr const value_bf16* nowhere = nullptr;
  if (multiplies_values(a, b))
    return plan_values(t, decoded_at(a.elements, nowhere), decoded_at(b.elements, nowhere));
  if (has_scale_of_each_term(a, b))
    return plan_product<detail::accumulation_traits<float, float>>(
        t, matrix_view<const float>{nullptr, a.rows(), a.cols(), a.cols(), 1},
        matrix_view<const float>{nullptr, b.rows(), b.cols(), b.cols(), 1}, {});
  const index depth = a.cols(), length = depth == 0 ? 0 : constant_depth(a, b, 0);
  if (length < depth)
    if (const product_plan plan = plan_scaled_pieces(t, a, b, length); plan.how == algorithm::scaled_panels)
      return plan;
  return plan_product<accumulation_of_blocks<A, B>>(t, a.elements.block(0, 0, a.rows(), length),
                                                    b.elements.block(0, 0, length, b.cols()),
                                                    {a.largest, b.largest});
}

/// What an integer sum of products counts in.
template <class Accumulation> constexpr float unit_of_sums() {
  if constexpr (requires { Accumulation::result::fraction_length; })
    return detail::power_of_two(-Accumulation::result::fraction_length);
  else
    return 1;
}

/// Tries to compute the products of pieces of the depth within which no scale changes, their sums in float
/// handed to store(i, j, values). False, and nothing was stored, if there is no plan for it, or a product of
/// scales is no normal float.
template <class A, class B, class Store>
bool try_scaled_pieces(kernel_set t, const A& a, const B& b, index length, const Store& store,
                       const kept_panels& kept) {
  using accumulation = accumulation_of_blocks<A, B>;
  constexpr packed_type best =
      best_type<typename accumulation::sum, typename A::element_type, typename B::element_type>();
  product_plan plan = plan_scaled_pieces(t, a, b, length);
  if (plan.how != algorithm::scaled_panels) return false;
  if (needs_fallback<best>(t, plan, a.elements, b.elements, kept))
    plan = plan_scaled_pieces(t, a, b, length, plan.fallback);
  if (plan.how != algorithm::scaled_panels) return false;
  const index depth = a.cols(), count = (depth + length - 1) / length;
  std::vector<float> row_scales, col_scales;  // of one piece after the other
  row_scales.reserve(static_cast<std::size_t>(a.rows() * count));
  col_scales.reserve(static_cast<std::size_t>(b.cols() * count));
  line_scales rows(a.rows()), cols(b.cols());
  for (index first = 0; first < depth; first += length) {
    rows.read(a, first, unit_of_sums<accumulation>());
    cols.read(b.transposed(), first);
    if (!rows.all_normal_with(cols)) return false;
    row_scales.insert(row_scales.end(), rows.from(0), rows.from(a.rows()));
    col_scales.insert(col_scales.end(), cols.from(0), cols.from(b.cols()));
  }
  return with_packed_type<best>([&]<packed_type P>() {
    if (plan.packed == P)
      run_scaled_panels<P>(t, plan, a.elements, b.elements, {row_scales.data(), a.rows()},
                           {col_scales.data(), b.cols()}, store, kept);
    return plan.packed == P;
  });
}

/// C = alpha A B + beta C from products of pieces of the depth within which no scale changes, each exact sum
/// scaled, and the scaled sums added in float. The first piece has `first_length` terms.
template <class A, class B, class C, class Round>
void multiply_pieces(kernel_set t, const A& a, const B& b, index first_length, const epilogue<C, Round>& e,
                     const kept_panels& kept) {
  using accumulation = accumulation_of_blocks<A, B>;
  const epilogue_store<detail::float_sum, C, Round> store{t, e};
  const index rows = a.rows(), cols = b.cols(), depth = a.cols();
  const bool is_one = depth > 0 && first_length == depth;
  std::vector<float> total;  // of the pieces so far, if there is more than one
  if (!is_one) total.assign(static_cast<std::size_t>(rows * cols), 0.0f);
  const matrix_view<float> sums_so_far{total.data(), rows, cols, cols, 1},
      direct = is_one ? e.direct() : matrix_view<float>{};
  line_scales row_scales(rows), col_scales(cols);
  for (index first = 0, length; first < depth; first += length) {
    length = first == 0 ? first_length : constant_depth(a, b, first);
    row_scales.read(a, first);
    col_scales.read(b.transposed(), first);
    const auto scale_and_store = [&](index i, index j, auto sums) {
      if (direct.data != nullptr)
        return scale_tile<accumulation>(t, sums, row_scales, i, col_scales, j, &direct(i, j),
                                        direct.row_stride);
      constexpr index max_values = max_panel_rows * max_panel_cols;
      float values[max_values];
      // As many rows, or columns of one, as there is room for.
      const index height = std::max<index>(max_values / sums.cols, 1),
                  width = std::min(sums.cols, max_values);
      for (index k = 0; k < sums.rows; k += height)
        for (index l = 0; l < sums.cols; l += width) {
          const auto some = sums.block(k, l, std::min(height, sums.rows - k), std::min(width, sums.cols - l));
          scale_tile<accumulation>(t, some, row_scales, i + k, col_scales, j + l, values, width);
          const matrix_view<const float> scaled{values, some.rows, some.cols, width, 1};
          if (is_one)
            store(i + k, j + l, scaled);
          else
            for (index row = 0; row < some.rows; ++row)
              for (index col = 0; col < some.cols; ++col)
                sums_so_far(i + k + row, j + l + col) += scaled(row, col);
        }
    };
    const bool are_values = row_scales.all_one() && col_scales.all_one();
    products<accumulation>(t, a.elements.block(0, first, rows, length),
                           b.elements.block(first, 0, length, cols), {a.largest, b.largest}, scale_and_store,
                           are_values ? direct : matrix_view<float>{}, kept);
  }
  if (!is_one) store(0, 0, matrix_view<const float>(sums_so_far));
}

/// C = alpha A B + beta C from the values of A and B as bf16. False, and nothing was stored, if bf16 does not
/// hold them, or float their sums.
template <class A, class B, class C, class Round>
bool try_values(kernel_set t, const A& a, const B& b, const epilogue<C, Round>& e, const kept_panels& kept) {
  const bf16_values left(t, a, kept.a);
  if (!left.contents().exact) return false;
  const bf16_values right(t, b, kept.b);
  if (!right.contents().exact || !stay_normal(left.contents().seen, right.contents().seen, a.cols()))
    return false;
  multiply(t, left.view(), right.view(), e, kept, numbers::normal);
  return true;
}

/// C = alpha A B + beta C where no scale changes along the summed dimension.
template <class A, class B, class C, class Round>
void multiply_under_one_scale(kernel_set t, const A& a, const B& b, const epilogue<C, Round>& e,
                              const kept_panels& kept) {
  if (e.lies_down())
    return multiply_pieces(t, b.transposed(), a.transposed(), a.cols(), e.transposed(), kept.transposed());
  multiply_pieces(t, a, b, a.cols(), e, kept);
}

/// C = alpha A B + beta C. Where no scale changes along the summed dimension, a coefficient of A B is
/// float(sum of products of elements) * (scale of the row * scale of the column), each operation rounded to
/// float; else such pieces are added in float, in ascending order; where scales change with every term, or
/// sums of floating elements under one scale would be rounded, the dequantised matrices are multiplied in
/// float.
template <class A, class B, class C, class Round>
void multiply_blocks(kernel_set t, const A& a, const B& b, const epilogue<C, Round>& e,
                     const kept_panels& kept = {}) {
  if constexpr (fits_bf16<typename A::element_type> && fits_bf16<typename B::element_type>)
    if (multiplies_values(a, b) && try_values(t, a, b, e, kept)) return;
  if (has_scale_of_each_term(a, b)) {
    const std::vector<float> left = dequantized(a), right = dequantized(b);
    return multiply(t, matrix_view<const float>{left.data(), a.rows(), a.cols(), a.cols(), 1},
                    matrix_view<const float>{right.data(), b.rows(), b.cols(), b.cols(), 1}, e);
  }
  if (e.lies_down())
    return multiply_blocks(t, b.transposed(), a.transposed(), e.transposed(), kept.transposed());
  const index depth = a.cols(), length = depth == 0 ? 0 : constant_depth(a, b, 0);
  const epilogue_store<detail::float_sum, C, Round> store{t, e};
  if (length == depth || !try_scaled_pieces(t, a, b, length, store, kept))
    multiply_pieces(t, a, b, length, e, kept);
}

}  // namespace narrow::kernel

NARROW_STRICT_END
