// Products of a matrix and a vector: each number of the matrix is read once, where it lies.
#pragma once

#include "pack.hpp"
#include "plan.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Turns integers into one of their limbs.
template <class Element> void take_limb(limb which, Element* x, index n) {
  if constexpr (std::signed_integral<Element>)
    if (which != limb::whole)
      for (index i = 0; i < n; ++i) {
        const int high = (x[i] + 128) >> 8;
        x[i] = static_cast<Element>(which == limb::high ? high : x[i] - 256 * high);
      }
}

/// Consecutive elements of a vector as words, with zeros after the last.
template <class Element> class vector_piece {
 public:
  static constexpr index max_length = 4096;

  /// As these kernels take them.
  template <class Kernels, class X>
  void read(kernel_set t, const Kernels& kernels, const X* x, index stride, index n, limb which) {
    excess_ = 0;
    constexpr index part = 256, vector = 64;  // elements of the longest one, in which kernels read
    for (index i = 0; i < n; i += part) {
      const index count = std::min(part, n - i), whole = (count + vector - 1) / vector * vector;
      Element elements[part];
      std::fill(elements + count, elements + whole, Element{});
      decode(t, x + i * stride, stride, elements, count);
      take_limb(which, elements, count);
      if constexpr (std::same_as<Element, std::int8_t>) {
        if (kernels.excess != 0)
          for (index l = 0; l < count; ++l) excess_ += kernels.excess * elements[l];
        if (kernels.k_pack == 2) {
          append<std::int16_t>(elements, i, whole);
          continue;
        }
      }
      append<Element>(elements, i, whole);
    }
  }
  const word* words() const { return words_; }
  /// What each sum has too much, where elements of the matrix count more than they are.
  std::int64_t excess() const { return excess_; }

 private:
  template <class Packed> void append(const Element* elements, index first, index n) {
    constexpr index size = sizeof(word) / sizeof(Packed);
    if constexpr (std::same_as<Packed, Element>) {
      std::memcpy(words_ + first / size, elements, static_cast<std::size_t>(n) * sizeof(Element));
    } else {
      Packed packed[size];
      for (index l = 0; l < n; l += size) {
        std::copy(elements + l, elements + l + size, packed);
        std::memcpy(words_ + (first + l) / size, packed, sizeof packed);
      }
    }
  }

  word words_[max_length];
  std::int64_t excess_ = 0;
};

/// use(which, weight) for the limbs in which a plan takes a vector; each counts so much.
template <class Use> void for_limbs(const product_plan& plan, const Use& use) {
  if (plan.b_limbs == 1) return use(limb::whole, std::int64_t{1});
  use(limb::high, std::int64_t{256});
  use(limb::low, std::int64_t{1});
}

/// The columns of a matrix one after the other, as the kernels take their elements.
template <packed_type P, class A>
void copy_columns(kernel_set t, const matrix_view<const A>& from, typename gemv_traits<P, A>::element* to) {
  const bool together = detail::is_one_line(from);
  const index lines = together ? 1 : from.cols, n = together ? from.rows * from.cols : from.rows;
  for (index l = 0; l < lines; ++l, to += n) {
    const A* const line = from.data + l * from.col_stride;
    if constexpr (gemv_traits<P, A>::in_place)
      for (index i = 0; i < n; ++i) to[i] = line[i * from.row_stride];
    else
      decode(t, line, from.row_stride, to, n);
  }
}

/// A x for part of the rows of a matrix, as a plan says.
template <packed_type P, class A, class X> class gemv {
  using traits = gemv_traits<P, A>;
  using element = typename traits::element;
  using lane = lane_of<P>;
  using sum = std::conditional_t<traits::integers, std::int64_t, float>;

 public:
  gemv(kernel_set t, const product_plan& plan, matrix_view<const A> a, const X* x, index x_stride)
      : t_(t), plan_(plan), a_(a), x_(x), x_stride_(x_stride) {
    const index step = plan.how == algorithm::gemv_rows ? a.col_stride : a.row_stride;
    const auto* const kernels = step == 1 ? traits::kernels_in_place(t) : nullptr;
    in_place_ = kernels != nullptr;
    if (in_place_) kernels_ = *kernels;
  }

  /// Where columns, or a few elements of them at a time, lie along memory. Hands store(i, count, sums) the
  /// sums.
  template <class Store> void by_columns(const Store& store) {
    constexpr index max_rows = 4096, max_copied_rows = 1024, max_copied = 8192, max_x = 1024, padding = 64;
    // Where the vector has two limbs, what is read again should be in the second-level cache.
    const index height = (in_place_ ? max_rows : max_copied_rows) / (plan_.b_limbs > 1 ? 8 : 1),
                width = std::min(max_x, plan_.depth_block);
    alignas(64) lane lanes[max_rows + padding];
    sum sums[max_rows];
    element copied[max_copied];

    for (index i = 0; i < a_.rows; i += height) {
      const index count = std::min(height, a_.rows - i), whole = count + padding - 1,
                  at_once = max_copied / count / kernels_.k_pack * kernels_.k_pack;
      if constexpr (traits::integers) std::fill(sums, sums + count, sum{});
      std::fill(lanes, lanes + whole, lane{});
      for_pieces(width, [&](index j, index n, std::int64_t weight) {
        if (in_place_)
          kernels_.columns(&a_(i, j), a_.col_stride * size, n, piece_.words(), count, lanes);
        else
          for (index l = 0; l < n; l += at_once) {
            const index some = std::min(at_once, n - l);
            copy_columns<P>(t_, a_.block(i, j + l, count, some), copied);
            kernels_.columns(copied, count * index{sizeof(element)}, some,
                             piece_.words() + l / kernels_.k_pack, count, lanes);
          }
        if constexpr (traits::integers) {
          const std::int64_t excess = piece_.excess();
          kernels_.for_lanes(count, [&](index l, index at) { sums[l] += weight * (lanes[at] - excess); });
          std::fill(lanes, lanes + whole, lane{});
        }
      });
      if constexpr (!traits::integers) {
        if (kernels_.vectors == 1) {
          store(i, count, lanes);
          continue;
        }
        kernels_.for_lanes(count, [&](index l, index at) { sums[l] = lanes[at]; });
      }
      store(i, count, sums);
    }
  }

  /// Where rows do.
  template <class Store> void by_rows(const Store& store) {
    constexpr index max_rows = 512, max_copied = 8192, max_copied_x = 1024;
    const index lanes = kernels_.elements / kernels_.k_pack,
                max_x = in_place_ ? vector_piece<factor>::max_length : max_copied_x,
                width = std::min(max_x, std::min(max_x, plan_.depth_block) * lanes);
    sum sums[max_rows];
    element copied[max_copied];

    for (index i = 0; i < a_.rows; i += max_rows) {
      const index count = std::min(max_rows, a_.rows - i);
      sum total[max_rows];
      std::fill(total, total + count, sum{});
      for_pieces(width, [&](index j, index n, [[maybe_unused]] std::int64_t weight) {
        std::fill(sums, sums + count, sum{});
        if (in_place_)
          kernels_.rows(&a_(i, j), a_.row_stride * size, count, piece_.words(), n, sums);
        else
          for (index l = 0, at_once = max_copied / n; l < count; l += at_once) {
            const index some = std::min(at_once, count - l);
            copy_columns<P>(t_, a_.block(i + l, j, some, n).transposed(), copied);
            kernels_.rows(copied, n * index{sizeof(element)}, some, piece_.words(), n, sums + l);
          }
        for (index l = 0; l < count; ++l) {
          if constexpr (traits::integers)
            total[l] += weight * (sums[l] - piece_.excess());
          else
            total[l] += sums[l];
        }
      });
      store(i, count, total);
    }
  }

 private:
  using factor = typename traits::factor;
  static constexpr index size = sizeof(A);

  /// use(j, n, weight) for pieces of the vector, and for each limb of them, which is in `piece_` then and
  /// counts so much.
  template <class Use> void for_pieces(index width, const Use& use) {
    for (index j = 0; j < a_.cols; j += width)
      for_limbs(plan_, [&](limb which, std::int64_t weight) {
        const index n = std::min(width, a_.cols - j);
        piece_.read(t_, kernels_, x_ + j * x_stride_, x_stride_, n, which);
        use(j, n, weight);
      });
  }

  kernel_set t_;
  const product_plan& plan_;
  matrix_view<const A> a_;
  const X* x_;
  index x_stride_;
  std::remove_cvref_t<decltype(traits::kernels(t_))> kernels_ = traits::kernels(t_);
  bool in_place_;
  vector_piece<factor> piece_;
};

/// A x, by all threads, handed to store(i, count, sums).
template <packed_type P, class A, class X, class Store>
void run_gemv(kernel_set t, const product_plan& plan, matrix_view<const A> a, const X* x, index x_stride,
              const Store& store) {
  parallel_for_tiles(plan.work, [&](index i0, index, index height, index) {
    const auto store_part = [&](index i, index n, const auto* sums) { store(i0 + i, n, sums); };
    gemv<P, A, X> part(t, plan, a.block(i0, 0, height, a.cols), x, x_stride);
    if (plan.how == algorithm::gemv_rows)
      part.by_rows(store_part);
    else
      part.by_columns(store_part);
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
