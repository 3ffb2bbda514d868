// How a product is computed, decided in one place: from the formats, the shapes and strides, the largest
// magnitudes and the instruction set. A plan is made in some nanoseconds, and execute.hpp does what it says.
#pragma once

#include <limits>

#include "../../matrix_view.hpp"
#include "../../runtime/thread_pool.hpp"
#include "limits.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The largest magnitudes of integer elements of both factors.
struct magnitudes {
  std::int64_t a = 0, b = 0;
};
template <class A, class B> constexpr magnitudes largest_elements() {
  return {detail::largest_element<A>(), detail::largest_element<B>()};
}

enum class algorithm {
  portable,        // in plain C++
  dot,             // one line times another
  gemv_rows,       // a matrix whose rows lie along memory times a vector
  gemv_columns,    // a matrix whose columns do, times a vector
  skinny_rows,     // a matrix whose rows lie along memory times a few columns, none of it packed
  skinny_columns,  // a matrix whose columns do, times a few columns
  compact,         // both factors decoded whole, and multiplied as floats
  panels,          // both factors packed in panels
  scaled_panels,   // panels, sums of `depth_block` terms scaled and added in float
  wide_panels      // panels of integers of more than 16 bits, in lanes of double
};

/// What the elements of both factors are multiplied as.
struct packing_plan {
  packed_type packed = packed_type::none;
  packed_type fallback = packed_type::none;  // what instead where a number is found that `packed` has not
  int a_limbs = 1, b_limbs = 1;              // parts of each integer, which are multiplied one by one
};

struct product_plan : packing_plan {
  algorithm how = algorithm::portable;
  bool transposed = false;       // B^T A^T is computed; the other members are of that product
  bool scales_first = false;     // of blocks: the factors are their values as bf16, if all stay normal floats
  bool wide_sums = false;        // the kernel adds in 64 bits, or in 128 those of wide_panels
  index depth_block = 0;         // terms of a sum after which its lane is emptied, if there are more
  index packs = 0;               // k-packs of the depth, as the kernel of panels takes them
  const void* kernel = nullptr;  // of panels
  const char* instruction = "";
  work_shape work = {};  // which says how threads share the result, in whole tiles

  template <class Lane> const panel_kernel<Lane>& panels() const {
    return *static_cast<const panel_kernel<Lane>*>(kernel);
  }
  index threads() const { return work.depth == 0 ? 1 : partition(work).count(); }

  template <class Lane> void set_panels(const panel_kernel<Lane>& k, index rows, index cols, index depth) {
    kernel = &k;
    instruction = k.instruction;
    work = {rows, cols, k.rows, k.cols, depth};
  }
};

/// Lanes that are emptied more often than after so many words cost more than a product in two limbs.
inline constexpr index min_safe_words = 64;

/// The magnitude of both limbs of an int16.
inline constexpr std::int64_t max_limb = 128;

/// The kernel of panels for sums of so many words; null if there is none.
template <packed_type P> const panel_kernel<lane_of<P>>& panels_for(kernel_set t, index packs) {
  static constexpr panel_kernel<lane_of<P>> none;
  if constexpr (P == packed_type::two_bf16) {
    // From then on a product is rounded no more often than there are terms: 16 times among those of a tile,
    // and twice for each 16 terms.
    constexpr index min_packs = 32;
    const auto& panels = t.get<&kernel_table::two_bf16, &two_bf16_kernels::panels>();
    return packs >= std::max(min_packs, panels.multiple) ? panels : none;
  } else if constexpr (P == packed_type::fp32) {
    return t.get<packed_traits<P>::panels>();
  } else {
    // Sums of int8, which are the same by either, take some zeros for it.
    const auto& large_k = t.get<packed_traits<P>::large_k>();
    const index fewest = P == packed_type::int8 ? 3 * large_k.multiple / 4 : large_k.multiple;
    return large_k && packs >= fewest ? large_k : t.get<packed_traits<P>::panels>();
  }
}

/// The k-packs of the depth as a kernel takes them.
template <packed_type P> index packs_for(const panel_kernel<lane_of<P>>& kernel, index depth) {
  const index size = k_pack<P> * kernel.multiple;
  return (depth + size - 1) / size * kernel.multiple;
}

/// How the lanes of a panel kernel keep what so many packs of terms add up to: integer lanes are emptied into
/// 64 bits, which no depth in memory can fill, before they can wrap. Where that would be all the time, b is
/// multiplied in two limbs, or by a kernel whose sums have 64 bits.
struct lane_use {
  index safe_packs;
  int b_limbs = 1;
  bool wide_sums = false;

  template <packed_type P>
  static lane_use of(const panel_kernel<lane_of<P>>& kernel, magnitudes largest, index packs) {
    lane_use result{packs};
    if constexpr (std::integral<lane_of<P>>) {
      const auto safe = [&](std::int64_t b_magnitude) {
        const auto room = std::numeric_limits<lane_of<P>>::max() /
                          std::max<std::int64_t>(k_pack<P> * largest.a * b_magnitude, 1);
        return detail::terms_in_memory(room / kernel.multiple * kernel.multiple);
      };
      result.safe_packs = safe(largest.b);
      if (kernel.wide && result.safe_packs < packs) {
        result.safe_packs = kernel.max_wide_packs;
        result.wide_sums = true;
      } else if (P == packed_type::int16 && result.safe_packs < std::min(min_safe_words, packs)) {
        result.b_limbs = 2;
        result.safe_packs = safe(max_limb);
      }
      result.safe_packs = std::min(result.safe_packs, packs);
    }
    return result;
  }
};

/// The kernel for a left factor of so many rows, or one of which `for_rows` gives a lower one.
template <packed_type P>
const auto& panel_kernel_for(kernel_set t, index rows, index depth, magnitudes largest) {
  const index packs = packs_in<P>(depth);
  const auto* kernel = &panels_for<P>(t, packs);
  if (kernel->takes_bytes()) {  // worth it for what else takes two limbs, or for long sums of many rows
    constexpr index many_packs = 256, many_rows = 64;
    const auto& whole = panels_for<P>(t, 0);
    if ((packs < many_packs || rows < many_rows) && whole &&
        lane_use::of<P>(whole, largest, packs).b_limbs == 1)
      kernel = &whole;
  }
  return *kernel;
}

/// Whether a result is large enough for what it takes to pack the factors; it is alike for the transposed
/// product, whose bits are to be the same.
template <packed_type P> constexpr bool repays(index rows, index cols) {
  return P != packed_type::two_bf16 || (std::min(rows, cols) >= 32 && rows * cols >= index{64} * 64);
}

template <packed_type P>
bool plan_panels(kernel_set t, const work_shape& w, magnitudes largest, product_plan& plan) {
  const auto& best = panel_kernel_for<P>(t, w.rows, w.depth, largest);
  const auto& kernel = best.for_rows(w.rows, packs_in<P>(w.depth));
  if (!kernel || !t.get<&kernel_table::packing>() || !repays<P>(w.rows, w.cols)) return false;
  const index packs = packs_for<P>(kernel, w.depth);
  const auto lanes = lane_use::of<P>(kernel, largest, packs);
  if constexpr (std::integral<lane_of<P>>)
    if (!lanes.wide_sums && (lanes.b_limbs > 1 || lanes.safe_packs < packs) &&
        !t.get<&kernel_table::widening>())
      return false;
  plan.how = algorithm::panels;
  plan.b_limbs = lanes.b_limbs;
  plan.wide_sums = lanes.wide_sums;
  plan.depth_block = lanes.safe_packs * k_pack<P>;
  plan.packs = packs;
  plan.set_panels(kernel, w.rows, w.cols, w.depth);
  plan.instruction = best.instruction;
  return true;
}

/// The kernels that scale tiles of sums in such lanes.
template <class Lane> const scaling_kernels<Lane>& tile_scaling(kernel_set t) {
  if constexpr (std::integral<Lane>)
    return t.get<&kernel_table::scale_tile>();
  else
    return t.get<&kernel_table::scale_float_tile>();
}

/// For sums whose scales change after every `length` terms. Not where they do within a k-pack, nor where sums
/// of so many terms do not fit a lane.
template <packed_type P>
bool plan_scaled_panels(kernel_set t, const work_shape& w, magnitudes largest, index length,
                        product_plan& plan) {
  const index packs = length / k_pack<P>;
  const auto& best = panels_for<P>(t, packs);
  const auto& kernel = best.takes_bytes() || packs % best.multiple != 0 ? panels_for<P>(t, 0) : best;
  if (!kernel || !t.get<&kernel_table::packing>() || !tile_scaling<lane_of<P>>(t) ||
      length % (k_pack<P> * kernel.multiple) != 0)
    return false;
  const auto lanes = lane_use::of<P>(kernel, largest, packs);
  if (lanes.b_limbs > 1 || lanes.safe_packs < packs) return false;
  plan.how = algorithm::scaled_panels;
  plan.depth_block = length;
  plan.packs = packs_for<P>(kernel, w.depth);
  plan.set_panels(kernel, w.rows, w.cols, w.depth);
  return true;
}

/// `largest.b` is of the vector.
template <packed_type P, class A>
bool plan_gemv(kernel_set t, const matrix_view<const A>& a, magnitudes largest, product_plan& plan) {
  using traits = gemv_traits<P, A>;
  const auto& kernels = traits::kernels(t);
  if (!kernels) return false;
  plan.depth_block = std::numeric_limits<index>::max();
  if constexpr (traits::integers) {
    const auto safe = [&](std::int64_t x_magnitude) {
      constexpr std::int64_t room = std::numeric_limits<std::int32_t>::max();
      return detail::terms_in_memory(
          room / std::max<std::int64_t>((largest.a + kernels.excess) * x_magnitude, 1) / 4 * 4);
    };
    plan.depth_block = safe(largest.b);
    if (P == packed_type::int16 && plan.depth_block < min_safe_words) {
      plan.b_limbs = 2;
      plan.depth_block = safe(max_limb);
    }
  }
  constexpr index tile = 64;  // rows: a whole number of cache lines of a result
  plan.how = detail::lies_by_rows(a) ? algorithm::gemv_rows : algorithm::gemv_columns;
  plan.work = {a.rows, 1, tile, 1, a.cols};
  return true;
}

/// Whether numbers of type A times such of type B are added in lanes of double: where one of them has more
/// than 16 bits.
template <class Accumulation, class A, class B>
inline constexpr bool are_wide =
    std::same_as<typename Accumulation::sum, detail::int128>&& std::max(sizeof(A), sizeof(B)) == 4;

/// For wide integers: as they are where doubles add at least some of their products exactly, or else b in two
/// limbs, or a if that is a vector: twice the work.
template <class A, class B>
bool plan_wide(kernel_set t, work_shape w, magnitudes largest, product_plan& plan) {
  const bool transposed = w.cols == 1;  // the matrix is the right factor: it is packed to be read once
  if (transposed) {
    if (sizeof(A) != sizeof(B)) return false;  // plain lanes hold more of such products
    w = {w.cols, w.rows, 1, 1, w.depth};
    largest = {largest.b, largest.a};
  }
  constexpr std::int64_t exact = std::int64_t{1} << 53, max_wide_limb = std::int64_t{1} << 15, min_terms = 8;
  const auto safe = [&](std::int64_t a, std::int64_t b) {
    return exact / std::max<std::int64_t>(a, 1) / std::max<std::int64_t>(b, 1);
  };
  const bool whole = safe(largest.a, largest.b) >= min_terms;
  const wide_kernels& kernels = t.get<&kernel_table::wide>();
  constexpr index min_products = 1024, min_sums = 48;  // of small results most of a tile would be for nothing
  if (!kernels || !t.get<&kernel_table::packing>() || w.depth == 0 ||
      w.rows * w.cols < min_sums * (whole ? 1 : 2) || w.rows * w.cols < min_products / w.depth)
    return false;
  constexpr std::int64_t room = std::numeric_limits<std::int64_t>::max();
  plan.wide_sums = std::max<std::int64_t>(largest.a * largest.b, 1) > room / w.depth;
  plan.transposed = transposed;
  plan.how = algorithm::wide_panels;
  plan.set_panels(w.rows == 1 ? kernels.line : kernels.panels, w.rows, w.cols, w.depth);
  if (!whole) {
    (w.rows == 1 ? plan.a_limbs : plan.b_limbs) = 2;
    (w.rows == 1 ? largest.a : largest.b) = max_wide_limb;
  }
  plan.depth_block = detail::terms_in_memory(safe(largest.a, largest.b));
  return true;
}

/// The kernels for inner products of lines that are multiplied as P.
template <packed_type P, class A, class B> const auto& dot_kernels(kernel_set t) {
  if constexpr (P == packed_type::bf16)
    return t.get<&kernel_table::dot_bf16>();
  else if constexpr (P == packed_type::int16)
    return t.get<&kernel_table::dot_int16>();
  else if constexpr (P == packed_type::int8)
    return t.get<&kernel_table::dot_int8>();
  else if constexpr (coded_as_fp16<A> && coded_as_fp16<B>)
    return t.get<&kernel_table::dot_fp16>();
  else
    return t.get<&kernel_table::dot_fp32>();
}

/// Plans for the first packed type P for which try_type.operator()<P>() makes the plan and returns true, of
/// First and the wider ones, but for those narrower than `max_type`. False if there is none. The plan is made
/// in its place: a copy of what was just written takes longer than to make it.
template <packed_type First, class Try>
bool plan_as(packed_type max_type, packing_plan& plan, const Try& try_type) {
  return with_packed_type<First>([&]<packed_type P>() {
    if (P > max_type || !try_type.template operator()<P>()) return false;
    plan.packed = P;
    return true;
  });
}

/// For a matrix and a few columns, if it is not to be packed for these. `largest.b` is of the columns.
template <packed_type First, class A>
bool plan_skinny(kernel_set t, const matrix_view<const A>& a, index cols, magnitudes largest,
                 packed_type max_type, product_plan& plan) {
  if (cols > max_skinny || std::min(a.rows, a.cols) < min_skinny_lines) return false;
  bool is_due = false;  // in the type that they would be multiplied as: wider ones gain nothing
  const bool made = plan_as<First>(max_type, plan, [&]<packed_type P>() {
    is_due = is_skinny<P>(t, a, cols);
    return plan_gemv<P>(t, a, largest, plan);
  });
  if (!made || !is_due) return plan = {}, false;
  plan.how = plan.how == algorithm::gemv_rows ? algorithm::skinny_rows : algorithm::skinny_columns;
  plan.work.cols = plan.work.tile_cols = cols;
  return true;
}

/// A product that is not packed because it is small.
template <packed_type Best, class A, class B>
bool plan_compact(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
                  packed_type max_type, product_plan& plan) {
  if (a.rows == 0 || b.cols < 2) return false;
  const bool is_due = a.rows == 1 ? is_compact_line<A, B>(a.cols, b.cols, b.row_stride, b.col_stride)
                                  : is_compact<Best>(t, {a.rows, b.cols, 1, 1, a.cols}, max_type);
  if (!is_due || !has_compact(t, a, b)) return false;
  plan.how = algorithm::compact;
  plan.packed = packed_type::fp32;
  return true;
}
/// The same of a matrix times a column, which is computed as a row times the transposed matrix.
template <class A, class B>
bool plan_compact_column(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
                         product_plan& plan) {
  plan.transposed = b.cols == 1 && plan_compact<packed_type::fp32>(t, b.transposed(), a.transposed(),
                                                                   packed_type::fp32, plan);
  return plan.transposed;
}

/// An inner product, which has its own order of additions in plain C++, too.
template <class Accumulation, class A, class B>
void plan_dot(kernel_set t, magnitudes largest, packed_type max_type, packing_plan& plan) {
  plan_as<best_type<typename Accumulation::sum, A, B>()>(max_type, plan, [&]<packed_type P>() {
    if (!dot_kernels<P, A, B>(t)) return false;
    if (P == packed_type::int16 && largest.a * largest.b > int16_dot_kernels::max_narrow) plan.b_limbs = 2;
    if (P == packed_type::bf16 && (coded_as_bf16<A> || coded_as_bf16<B>)) plan.fallback = wider_type(P);
    return true;
  });
}

/// Whether the larger factor has yet to be packed, if that is to be.
enum class packing { due, done };

/// How A B is computed, of which the elements are not read. Where the factors turn out to have numbers that
/// cannot be packed as it says, the plan for its `fallback` as max_type is the next one.
template <class Accumulation, class A, class B>
product_plan plan_product(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
                          magnitudes largest, packed_type max_type = packed_type::int8,
                          packing of_larger = packing::due) {
  using sum = typename Accumulation::sum;
  constexpr index min_products = std::floating_point<sum> ? 512 : 200;
  const work_shape w{a.rows, b.cols, 1, 1, a.cols};
  product_plan plan;
  bool made = false;
  if (a.rows == 0 || b.cols == 0) return plan;  // of nothing; tiles are at least one row and one column
  if (a.rows == 1 && b.cols == 1) {
    plan.how = algorithm::dot;
    plan_dot<Accumulation, A, B>(t, largest, max_type, plan);
    return plan;
  }
  if (a.cols == 0) return plan;
  if constexpr (std::same_as<sum, float>)
    if (plan_compact<best_panel_type<sum, A, B>()>(t, a, b, max_type, plan) ||
        plan_compact_column(t, a, b, plan))
      return plan;
  if (b.cols == 1) {
    made = plan_as<best_type<sum, A, B>()>(
        max_type, plan, [&]<packed_type P>() { return plan_gemv<P>(t, a, largest, plan); });
  } else if (a.rows == 1) {
    made = plan_as<best_type<sum, B, A>()>(max_type, plan, [&]<packed_type P>() {
      return plan_gemv<P>(t, b.transposed(), {largest.b, largest.a}, plan);
    });
    plan.transposed = made;
  } else if (of_larger == packing::done) {
    // Then panels are the fastest for however few columns.
  } else if (b.cols < a.rows) {
    made = plan_skinny<best_type<sum, A, B>()>(t, a, b.cols, largest, max_type, plan);
  } else if (a.rows < b.cols) {
    made = plan_skinny<best_type<sum, B, A>()>(t, b.transposed(), a.rows, {largest.b, largest.a}, max_type,
                                               plan);
    plan.transposed = made;
  }
  if (!made && a.rows > 1 && b.cols > 1 && a.rows * b.cols >= min_products / a.cols) {
    made = plan_as<best_panel_type<sum, A, B>()>(max_type, plan, [&]<packed_type P>() {
      if (!plan_panels<P>(t, w, largest, plan)) return false;
      if (P == packed_type::two_bf16 || (P == packed_type::bf16 && (coded_as_bf16<A> || coded_as_bf16<B>)))
        plan.fallback = wider_type(P);
      return true;
    });
  }
  if constexpr (are_wide<Accumulation, A, B>)
    if (!made) plan_wide<A, B>(t, w, largest, plan);
  return plan;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
