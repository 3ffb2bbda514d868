// Products of a matrix and a vector: each number of the matrix is read once, where it lies.
#pragma once

#include "../convert/encode.hpp"
#include "panel_product.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// A matrix of A that is multiplied as Content.
template <content Content, class A> struct lines_of {
  static constexpr bool integers = std::integral<typename words_of<Content>::lane>;
  static constexpr bool fits_bf16 = !integers && narrowest<A>() == content::bf16;
  /// Of a decoded matrix, and of the vector.
  using decoded = std::conditional_t<integers || fits_bf16,
                                     typename words_of<fits_bf16 ? content::bf16 : Content>::element, float>;
  using factor = std::conditional_t<integers, decoded, float>;
  /// What the kernels take.
  static constexpr bool in_place = integers ? sizeof(A) == sizeof(decoded)
                                            : std::same_as<A, float> || coded_as_fp16<A> || coded_as_bf16<A>;
  using element = std::conditional_t<in_place, A, decoded>;

  static const auto& kernels(kernel_set t) {
    if constexpr (Content == content::int8)
      return t.get<&kernel_table::lines_int8>();
    else if constexpr (integers)
      return t.get<&kernel_table::lines_int16>();
    else if constexpr (coded_as_fp16<A>)
      return t.get<&kernel_table::lines_fp16>();
    else if constexpr (fits_bf16)
      return t.get<&kernel_table::lines_bf16>();
    else
      return t.get<&kernel_table::lines_fp32>();
  }
  /// to[i] = from[i stride], as the kernels take it.
  static void copy(kernel_set t, const A* from, index stride, element* to, index n) {
    if constexpr (in_place)
      for (index i = 0; i < n; ++i) to[i] = from[i * stride];
    else
      decode(t, from, stride, to, n);
  }
};

/// x = 256 high + low as one of them.
template <class Element> void take(plane which, Element* x, index n) {
  if constexpr (std::signed_integral<Element>)
    if (which != plane::whole)
      for (index i = 0; i < n; ++i) {
        const int high = (x[i] + 128) >> 8;
        x[i] = static_cast<Element>(which == plane::high ? high : x[i] - 256 * high);
      }
}

/// Consecutive elements of a vector as words, with zeros after the last.
template <class Element> class vector_piece {
 public:
  static constexpr index longest = 4096;

  /// As these kernels take them.
  template <class Kernels, class X>
  void read(kernel_set t, const Kernels& kernels, const X* x, index stride, index n, plane which) {
    excess_ = 0;
    constexpr index part = 256, vector = 64;  // elements of the longest one, in which kernels read
    for (index i = 0; i < n; i += part) {
      const index count = std::min(part, n - i), whole = (count + vector - 1) / vector * vector;
      Element elements[part];
      std::fill(elements + count, elements + whole, Element{});
      decode(t, x + i * stride, stride, elements, count);
      take(which, elements, count);
      if constexpr (std::same_as<Element, std::int8_t>) {
        if (kernels.excess != 0)
          for (index l = 0; l < count; ++l) excess_ += kernels.excess * elements[l];
        if (kernels.group == 2) {
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
    constexpr index group = sizeof(word) / sizeof(Packed);
    Packed packed[group];
    for (index l = 0; l < n; l += group) {
      std::copy(elements + l, elements + l + group, packed);
      std::memcpy(words_ + (first + l) / group, packed, sizeof packed);
    }
  }

  word words_[longest];
  std::int64_t excess_ = 0;
};

/// The vector as sums of integers can take it: in planes, and how many products a lane can add.
struct vector_steps {
  plane planes[2] = {plane::whole, plane::low};
  int plane_count = 1;
  index products = std::numeric_limits<index>::max();

  static constexpr std::int64_t weight(plane which) { return which == plane::high ? 256 : 1; }

  static vector_steps of_integers(std::int64_t a, std::int64_t x, bool splits) {
    constexpr std::int64_t room = std::numeric_limits<std::int32_t>::max(), fewest = 64, half_plane = 128;
    vector_steps steps;
    const auto safe = [&](std::int64_t largest) {
      return room / std::max<std::int64_t>(a * largest, 1) / 4 * 4;
    };
    steps.products = safe(x);
    if (splits && steps.products < fewest) {
      steps.planes[0] = plane::high;
      steps.plane_count = 2;
      steps.products = safe(half_plane);
    }
    return steps;
  }
};

/// A x for a matrix whose columns, or a few of them at a time, lie along memory, handed to
/// store(i, count, sums).
template <content Content, class A, class X, class Store>
void product_of_columns(kernel_set t, matrix_view<const A> a, const X* x, index x_stride,
                        const vector_steps& steps, const Store& store) {
  using lines = lines_of<Content, A>;
  using lane = typename words_of<Content>::lane;
  using sum = std::conditional_t<lines::integers, std::int64_t, float>;
  constexpr index most_rows = 4096, most_copied_rows = 1024, most_copied = 8, most_x = 1024, padding = 64;
  const auto& kernels = lines::kernels(t);
  const bool in_place = lines::in_place && a.row_stride == 1;
  // Of two planes, what is read again should be in the second-level cache.
  const index height = (in_place ? most_rows : most_copied_rows) / (steps.plane_count > 1 ? 8 : 1),
              width = std::min(most_x, steps.products);
  vector_piece<typename lines::factor> piece;
  alignas(64) lane lanes[most_rows + padding];
  sum sums[most_rows];
  typename lines::element copied[most_copied][most_copied_rows];

  for (index i = 0; i < a.rows; i += height) {
    const index count = std::min(height, a.rows - i), whole = count + padding - 1;
    std::fill(sums, sums + count, sum{});
    std::fill(lanes, lanes + whole, lane{});
    for (index j = 0; j < a.cols; j += width)
      for (int k = 0; k < steps.plane_count; ++k) {
        const index n = std::min(width, a.cols - j);
        piece.read(t, kernels, x + j * x_stride, x_stride, n, steps.planes[k]);
        for (index l = 0, some; l < n; l += some) {
          some = in_place ? n : std::min(most_copied, n - l);
          const void* columns = &a(i, j);
          index stride = a.col_stride * index{sizeof(A)};
          if (!in_place) {
            for (index c = 0; c < some; ++c) lines::copy(t, &a(i, j + l + c), a.row_stride, copied[c], count);
            columns = copied;
            stride = sizeof copied[0];
          }
          kernels.columns(columns, stride, some, piece.words() + l / kernels.group, count, lanes);
        }
        if constexpr (lines::integers) {
          const std::int64_t weight = steps.weight(steps.planes[k]);
          for (index l = 0; l < count; ++l) sums[l] += weight * (lanes[kernels.lane_of(l)] - piece.excess());
          std::fill(lanes, lanes + whole, lane{});
        }
      }
    if constexpr (!lines::integers)
      for (index l = 0; l < count; ++l) sums[l] = lanes[kernels.lane_of(l)];
    store(i, count, sums);
  }
}

/// The same for one whose rows do.
template <content Content, class A, class X, class Store>
void product_of_rows(kernel_set t, matrix_view<const A> a, const X* x, index x_stride,
                     const vector_steps& steps, const Store& store) {
  using lines = lines_of<Content, A>;
  using sum = std::conditional_t<lines::integers, std::int64_t, float>;
  constexpr index most_rows = 512, most_copied = 4, most_copied_x = 1024;
  const auto& kernels = lines::kernels(t);
  const bool in_place = lines::in_place && a.col_stride == 1;
  const index lanes = kernels.elements / kernels.group,
              most_x = in_place ? vector_piece<typename lines::factor>::longest : most_copied_x,
              width = std::min(most_x, std::min(most_x, steps.products) * lanes);
  vector_piece<typename lines::factor> piece;
  sum sums[most_rows];
  typename lines::element copied[most_copied][most_copied_x];

  for (index i = 0; i < a.rows; i += most_rows) {
    const index count = std::min(most_rows, a.rows - i);
    sum total[most_rows];
    std::fill(total, total + count, sum{});
    for (index j = 0; j < a.cols; j += width)
      for (int k = 0; k < steps.plane_count; ++k) {
        const index n = std::min(width, a.cols - j);
        piece.read(t, kernels, x + j * x_stride, x_stride, n, steps.planes[k]);
        std::fill(sums, sums + count, sum{});
        for (index l = 0, some; l < count; l += some) {
          some = in_place ? count : std::min(most_copied, count - l);
          const void* rows = &a(i, j);
          index stride = a.row_stride * index{sizeof(A)};
          if (!in_place) {
            for (index r = 0; r < some; ++r) lines::copy(t, &a(i + l + r, j), a.col_stride, copied[r], n);
            rows = copied;
            stride = sizeof copied[0];
          }
          kernels.rows(rows, stride, some, piece.words(), n, sums + l);
        }
        for (index l = 0; l < count; ++l) {
          if constexpr (lines::integers)
            total[l] += steps.weight(steps.planes[k]) * (sums[l] - piece.excess());
          else
            total[l] += sums[l];
        }
      }
    store(i, count, total);
  }
}

/// A x, handed to store(i, count, sums); `largest.b` is of x. False, and nothing was stored, if there is no
/// kernel for such elements.
template <class Meeting, class A, class X, class Store>
bool try_matrix_times_vector(matrix_view<const A> a, const X* x, index x_stride, magnitudes largest,
                             const Store& store) {
  kernel_set t = dispatch::instance().kernels();
  return with_content<best_content<typename Meeting::sum, A, X>()>([&]<content Content>() {
    using lines = lines_of<Content, A>;
    const auto& kernels = lines::kernels(t);
    if (!kernels) return false;
    vector_steps steps;
    if constexpr (lines::integers) {
      steps = vector_steps::of_integers(largest.a + kernels.excess, largest.b, Content == content::int16);
    }
    constexpr index tile = 64;  // rows, for a whole number of cache lines
    in_parts({a.rows, 1, tile, 1, a.cols}, [&](index i0, index, index height, index) {
      const auto part = a.block(i0, 0, height, a.cols);
      const auto store_part = [&](index i, index n, const auto* sums) { store(i0 + i, n, sums); };
      if (detail::lies_by_rows(a))
        product_of_rows<Content>(t, part, x, x_stride, steps, store_part);
      else
        product_of_columns<Content>(t, part, x, x_stride, steps, store_part);
    });
    return true;
  });
}

/// Tries to compute the sums of A B, one of which is a vector, with the instruction set in use. False, and
/// nothing was stored, if none is, or there is no kernel for such elements.
template <class Meeting, class A, class B, class Store>
bool try_vector_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest,
                        const Store& store) {
  if (a.cols == 0 || (a.rows == 1) == (b.cols == 1)) return false;
  const bool lies_down = a.rows == 1;
  const auto store_line = [&](index i, index n, const auto* sums) {
    if (lies_down)
      store(0, i, matrix_view{sums, 1, n, n, 1});
    else
      store(i, 0, matrix_view{sums, n, 1, 1, 1});
  };
  if (lies_down)
    return try_matrix_times_vector<Meeting>(b.transposed(), a.data, a.col_stride, {largest.b, largest.a},
                                            store_line);
  return try_matrix_times_vector<Meeting>(a, b.data, b.row_stride, largest, store_line);
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
