// Products of a large matrix and a few columns: the matrix is read where it lies, and not packed.
#pragma once

#include "gemv.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// A matrix whose rows lie along memory times so many vectors as a kernel takes at once.
template <packed_type P, class A, class X> class rows_times_few {
  using traits = gemv_traits<P, A>;
  using element = typename traits::element;

 public:
  using sum = std::conditional_t<traits::integers, std::int64_t, float>;
  static constexpr index max_rows = 512;

  rows_times_few(kernel_set t, const product_plan& plan, matrix_view<const A> a) : t_(t), plan_(plan), a_(a) {
    const auto* const kernels = a.col_stride == 1 ? traits::kernels_in_place(t) : nullptr;
    in_place_ = kernels != nullptr;
    if (in_place_) kernels_ = *kernels;
  }

  /// total[i row_step + c col_step] = the sum of row i times vector c, for i < count rows from `top` on;
  /// there are at most vectors_at_once of these.
  void multiply(index top, index count, matrix_view<const X> x, sum* total, index row_step, index col_step) {
    const index max_x = in_place_ ? vector_piece<factor>::max_length : max_copied_x,
                width = std::min(max_x, plan_.depth_block);  // so that the sum of all lanes fits one
    const bool direct = plan_.b_limbs == 1 && kernels_.excess == 0;
    std::fill_n(total, count * vectors_at_once, sum{});
    sum part[max_rows * vectors_at_once];
    for (index j = 0; j < a_.cols; j += width)
      for_limbs(plan_, [&](limb which, [[maybe_unused]] std::int64_t weight) {
        const index n = std::min(width, a_.cols - j);
        for (index c = 0; c < x.cols; ++c) pieces_[c].read(t_, kernels_, &x(j, c), x.row_stride, n, which);
        if (direct) return add(top, count, j, n, x.cols, total, row_step, col_step);
        std::fill_n(part, count * vectors_at_once, sum{});
        add(top, count, j, n, x.cols, part, row_step, col_step);
        if constexpr (traits::integers)
          for (index i = 0; i < count; ++i)
            for (index c = 0; c < x.cols; ++c)
              total[i * row_step + c * col_step] +=
                  weight * (part[i * row_step + c * col_step] - pieces_[c].excess());
      });
  }

 private:
  using factor = typename traits::factor;
  static constexpr index max_copied = 8192, max_copied_x = 1024;

  /// Adds the products of n elements of the rows, from column j on, with the pieces of so many vectors.
  void add(index top, index count, index j, index n, index vectors, sum* sums, index row_step,
           index col_step) const {
    const word* words[vectors_at_once];  // what is lacking is the last one again
    for (index c = 0; c < vectors_at_once; ++c) words[c] = pieces_[std::min(c, vectors - 1)].words();
    if (in_place_)
      return kernels_.few(&a_(top, j), a_.row_stride * index{sizeof(A)}, count, words, n, sums, row_step,
                          col_step);
    element copied[max_copied];
    for (index l = 0, at_once = max_copied / n; l < count; l += at_once) {
      const index some = std::min(at_once, count - l);
      copy_columns<P>(t_, a_.block(top + l, j, some, n).transposed(), copied);
      kernels_.few(copied, n * index{sizeof(element)}, some, words, n, sums + l * row_step, row_step,
                   col_step);
    }
  }

  kernel_set t_;
  const product_plan& plan_;
  matrix_view<const A> a_;
  bool in_place_;
  std::remove_cvref_t<decltype(traits::kernels(t_))> kernels_ = traits::kernels(t_);
  vector_piece<factor> pieces_[vectors_at_once];
};

/// A X for X of few columns, by all threads, handed to store(i, j, sums), or their transposes to
/// store(j, i, sums) if the plan is of the transposed product.
template <packed_type P, class A, class X, class Store>
void run_skinny(kernel_set t, const product_plan& plan, matrix_view<const A> a, matrix_view<const X> x,
                const Store& store) {
  using rows_times = rows_times_few<P, A, X>;
  using sum = typename rows_times::sum;
  parallel_for_tiles(plan.work, [&](index i0, index, index all, index) {
    // As many rows as the second-level cache holds while the columns go by.
    constexpr index near = index{1} << 18, tile = 64;
    const index rows_near = near / index{sizeof(A)} / a.cols / tile * tile;
    const index height = std::clamp(rows_near, tile, rows_times::max_rows);
    const auto part_of = [&](index i) { return std::min(height, i0 + all - i); };
    if (plan.how == algorithm::skinny_rows) {
      rows_times part(t, plan, a);
      sum sums[rows_times::max_rows * vectors_at_once];
      for (index i = i0; i < i0 + all; i += height)
        for (index j = 0; j < x.cols; j += vectors_at_once) {
          const index count = part_of(i), cols = std::min(vectors_at_once, x.cols - j);
          const index row_step = plan.transposed ? 1 : vectors_at_once,
                      col_step = plan.transposed ? count : 1;
          part.multiply(i, count, x.block(0, j, x.rows, cols), sums, row_step, col_step);
          const matrix_view<const sum> result{sums, count, cols, row_step, col_step};
          if (plan.transposed)
            store(j, i, result.transposed());
          else
            store(i, j, result);
        }
    } else {
      // Of so few columns each by itself: shorter pieces of the matrix's columns cost more than they save.
      for (index j = 0; j < x.cols; ++j) {
        const auto store_part = [&](index i, index n, const auto* sums) {
          if (plan.transposed)
            store(j, i0 + i, matrix_view{sums, 1, n, n, 1});
          else
            store(i0 + i, j, matrix_view{sums, n, 1, 1, 1});
        };
        gemv<P, A, X>(t, plan, a.block(i0, 0, all, a.cols), &x(0, j), x.row_stride).by_columns(store_part);
      }
    }
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
