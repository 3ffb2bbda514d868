// The driver of products of matrices: makes a plan, and does what it says.
#pragma once

#include "compact.hpp"
#include "dot.hpp"
#include "epilogue.hpp"
#include "skinny.hpp"
#include "wide_panels.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Whether a factor has numbers that cannot be packed as a plan of panels says.
template <packed_type Best, class A, class B>
bool needs_fallback(kernel_set t, const product_plan& plan, const matrix_view<const A>& a,
                    const matrix_view<const B>& b, const kept_panels& kept) {
  return plan.fallback != packed_type::none && with_packed_type<Best>([&]<packed_type P>() {
           const auto fits = [](const panel_store* store) {
             return store != nullptr && store->template fits<P>();
           };
           return plan.packed == P &&
                  ((!fits(kept.a) && needs_fallback<P>(t, a)) || (!fits(kept.b) && needs_fallback<P>(t, b)));
         });
}

/// Matrix times vector, or row vector times matrix, the lines of sums handed to store as matrices.
template <class Accumulation, class A, class B, class Store>
void execute_gemv(kernel_set t, const product_plan& plan, const matrix_view<const A>& a,
                  const matrix_view<const B>& b, const Store& store) {
  const auto multiply = [&]<class M, class X>(matrix_view<const M> m, const X* x, index x_stride,
                                              const auto& store_line) {
    with_packed_type<best_type<typename Accumulation::sum, M, X>()>([&]<packed_type P>() {
      if (plan.packed == P) run_gemv<P>(t, plan, m, x, x_stride, store_line);
      return plan.packed == P;
    });
  };
  if (plan.transposed)
    multiply(b.transposed(), a.data, a.col_stride, [&](index i, index n, const auto* sums) {
      store(0, i, matrix_view{sums, 1, n, n, 1});
    });
  else
    multiply(a, b.data, b.row_stride, [&](index i, index n, const auto* sums) {
      store(i, 0, matrix_view{sums, n, 1, 1, 1});
    });
}

/// Matrix times a few columns, or a few rows times a matrix.
template <class Accumulation, class A, class B, class Store>
void execute_skinny(kernel_set t, const product_plan& plan, const matrix_view<const A>& a,
                    const matrix_view<const B>& b, const Store& store) {
  const auto multiply = [&]<class M, class X>(matrix_view<const M> m, matrix_view<const X> x) {
    with_packed_type<best_type<typename Accumulation::sum, M, X>()>([&]<packed_type P>() {
      if (plan.packed == P) run_skinny<P>(t, plan, m, x, store);
      return plan.packed == P;
    });
  };
  if (plan.transposed)
    multiply(b.transposed(), a.transposed());
  else
    multiply(a, b);
}

/// The sums of A B, handed to store(i, j, sums), a matrix_view, in tiles; but those that are floats perhaps
/// written to `direct`, if there is such a matrix.
template <class Accumulation, class A, class B, class Store>
void execute(kernel_set t, const product_plan& plan, const matrix_view<const A>& a,
             const matrix_view<const B>& b, const Store& store, const matrix_view<float>& direct,
             const kept_panels& kept) {
  using sum = typename Accumulation::sum;
  switch (plan.how) {
    case algorithm::dot: {
      const sum total =
          dot_of_lines<Accumulation>(t, plan, a.data, a.col_stride, b.data, b.row_stride, a.cols);
      return store(0, 0, matrix_view{&total, 1, 1, 1, 1});
    }
    case algorithm::gemv_rows:
    case algorithm::gemv_columns:
      return execute_gemv<Accumulation>(t, plan, a, b, store);
    case algorithm::skinny_rows:
    case algorithm::skinny_columns:
      return execute_skinny<Accumulation>(t, plan, a, b, store);
    case algorithm::compact:
      if constexpr (std::same_as<sum, float>) {
        if (plan.transposed)
          run_compact(t, b.transposed(), a.transposed(), transposed(store));
        else
          run_compact(t, a, b, store);
      }
      return;
    case algorithm::panels:
      with_packed_type<best_panel_type<sum, A, B>()>([&]<packed_type P>() {
        if (plan.packed == P) run_panels<P>(t, plan, a, b, direct, store, kept);
        return plan.packed == P;
      });
      return;
    case algorithm::wide_panels:
      if constexpr (are_wide<Accumulation, A, B>) run_wide_panels(t, plan, a, b, store);
      return;
    default:
      return portable::product<Accumulation>(a, b, store);
  }
}

/// What is known of the numbers in both factors.
enum class numbers {
  any,
  normal  // or zeros or not finite: whatever a plan packs them as holds them
};

/// Plans the product, looks whether its numbers are such that the plan can be followed, and executes it. The
/// store and `direct` are those of `execute`. A factor that is kept is packed once for each form that plans
/// ask for; the bits are the same.
template <class Accumulation, class A, class B, class Store>
void products(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b, magnitudes largest,
              const Store& store, const matrix_view<float>& direct = {}, const kept_panels& kept = {},
              numbers known = numbers::any) {
  constexpr packed_type best = best_panel_type<typename Accumulation::sum, A, B>();
  // Panels that are kept may decide how exact sums are computed: of floats the bits would be others.
  const bool is_kept = (kept.a != nullptr && a.rows >= b.cols) || (kept.b != nullptr && b.cols >= a.rows);
  const packing of_larger =
      is_kept && !std::floating_point<typename Accumulation::sum> ? packing::done : packing::due;
  product_plan plan = plan_product<Accumulation>(t, a, b, largest, packed_type::int8, of_larger);
  if (plan.how == algorithm::panels && known == numbers::any && needs_fallback<best>(t, plan, a, b, kept))
    plan = plan_product<Accumulation>(t, a, b, largest, plan.fallback);
  if (plan.how == algorithm::compact && (plan.transposed || a.rows == 1 || raises_no_others(b.cols)))
    return execute<Accumulation>(t, plan, a, b, store, direct, kept);
  const detail::float_environment exceptions_dropped;  // of what fills tiles and panels
  execute<Accumulation>(t, plan, a, b, store, direct, kept);
}

/// C = alpha A B + beta C. C overlaps neither A nor B.
template <class A, class B, class C, class Round>
void multiply(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
              const epilogue<C, Round>& e, const kept_panels& kept = {}, numbers known = numbers::any) {
  using accumulation = detail::accumulation_traits<A, B>;
  if (e.lies_down())
    return multiply(t, b.transposed(), a.transposed(), e.transposed(), kept.transposed(), known);
  const epilogue_store<accumulation, C, Round> store{t, e};
  products<accumulation>(t, a, b, largest_elements<A, B>(), store, e.direct(), kept, known);
}

}  // namespace narrow::kernel

NARROW_STRICT_END
