// Products of a matrix and a vector: each number of the matrix is read once, where it lies.
#pragma once

#include "lines.hpp"
#include "panel_product.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

/// A matrix of A that is multiplied as Content.
template <content Content, class A> struct lines_of {
  static constexpr bool integers = std::integral<typename words_of<Content>::lane>;
  static constexpr bool fits_bf16 = !integers && narrowest<A>() == content::bf16;
  /// Of a decoded matrix, and of the vector.
  using element = std::conditional_t<integers || fits_bf16,
                                     typename words_of<fits_bf16 ? content::bf16 : Content>::element, float>;
  using factor = std::conditional_t<integers, element, float>;
  static constexpr bool in_place = integers ? sizeof(A) == sizeof(element)
                                            : std::same_as<A, float> || coded_as_fp16<A> || coded_as_bf16<A>;

  /// For lines as they lie in memory, or decoded ones.
  template <bool InPlace> static const auto& kernels(kernel_set t) {
    if constexpr (Content == content::int8)
      return t.get<&kernel_table::lines_int8>();
    else if constexpr (integers)
      return t.get<&kernel_table::lines_int16>();
    else if constexpr (InPlace && coded_as_fp16<A>)
      return t.get<&kernel_table::lines_fp16>();
    else if constexpr (fits_bf16)
      return t.get<&kernel_table::lines_bf16>();
    else
      return t.get<&kernel_table::lines_fp32>();
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

  /// `group` of them become a word.
  template <class X> void read(kernel_set t, const X* x, index stride, index n, plane which, int group) {
    excess_ = 0;
    constexpr index part = 256;
    for (index i = 0; i < n; i += part) {
      const index count = std::min(part, n - i);
      Element elements[part] = {};
      decode(t, x + i * stride, stride, elements, count);
      take(which, elements, count);
      if constexpr (std::same_as<Element, std::int8_t>) {
        if (group == 4)
          for (index l = 0; l < count; ++l) excess_ += 128 * elements[l];
        else
          append<std::int16_t>(elements, i, part);
        if (group != 4) continue;
      }
      append<Element>(elements, i, part);
    }
  }
  const word* words() const { return words_; }
  /// What each sum has too much, where elements of the matrix count 128 more than they are.
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

/// A x for a matrix whose columns lie side by side, or are decoded so, handed to store(i, count, sums).
template <content Content, bool InPlace, class A, class X, class Store>
void product_of_columns(kernel_set t, matrix_view<const A> a, const X* x, index x_stride,
                        const vector_steps& steps, const Store& store) {
  using lines = lines_of<Content, A>;
  using element = typename lines::element;
  using lane = typename words_of<Content>::lane;
  using sum = std::conditional_t<lines::integers, std::int64_t, float>;
  constexpr index most_rows = InPlace ? 4096 : 1024, most_cols = 8, most_x = 1024, padding = 64;
  const auto& kernels = lines::template kernels<InPlace>(t);
  // Of two planes, what is read again should be in the second-level cache.
  const index height = steps.plane_count > 1 ? most_rows / 8 : most_rows,
              width = std::min(most_x, steps.products);
  vector_piece<typename lines::factor> piece;
  alignas(64) lane lanes[most_rows + padding];
  sum sums[most_rows];
  element decoded_columns[InPlace ? 1 : most_cols][InPlace ? 1 : most_rows];

  for (index i = 0; i < a.rows; i += height) {
    const index count = std::min(height, a.rows - i), whole = count + padding - 1;
    std::fill(sums, sums + count, sum{});
    std::fill(lanes, lanes + whole, lane{});
    for (index j = 0; j < a.cols; j += width)
      for (int k = 0; k < steps.plane_count; ++k) {
        const index n = std::min(width, a.cols - j);
        piece.read(t, x + j * x_stride, x_stride, n, steps.planes[k], kernels.group);
        if constexpr (InPlace) {
          kernels.columns(&a(i, j), a.col_stride * index{sizeof(A)}, n, piece.words(), count, lanes);
        } else {
          for (index l = 0; l < n; l += most_cols) {
            const index some = std::min(most_cols, n - l);
            for (index c = 0; c < some; ++c)
              decode(t, &a(i, j + l + c), a.row_stride, decoded_columns[c], count);
            kernels.columns(decoded_columns, sizeof decoded_columns[0], some,
                            piece.words() + l / kernels.group, count, lanes);
          }
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
template <content Content, bool InPlace, class A, class X, class Store>
void product_of_rows(kernel_set t, matrix_view<const A> a, const X* x, index x_stride,
                     const vector_steps& steps, const Store& store) {
  using lines = lines_of<Content, A>;
  using element = typename lines::element;
  using sum = std::conditional_t<lines::integers, std::int64_t, float>;
  constexpr index most_rows = 512, most_decoded = 4;
  constexpr index most_x = InPlace ? vector_piece<typename lines::factor>::longest : 1024;
  const auto& kernels = lines::template kernels<InPlace>(t);
  const index lanes = kernels.elements / kernels.group,
              width = std::min(most_x, std::min(most_x, steps.products) * lanes);
  vector_piece<typename lines::factor> piece;
  sum sums[most_rows];
  element decoded_rows[InPlace ? 1 : most_decoded][InPlace ? 1 : most_x];

  for (index i = 0; i < a.rows; i += most_rows) {
    const index count = std::min(most_rows, a.rows - i);
    sum total[most_rows] = {};
    for (index j = 0; j < a.cols; j += width)
      for (int k = 0; k < steps.plane_count; ++k) {
        const index n = std::min(width, a.cols - j);
        piece.read(t, x + j * x_stride, x_stride, n, steps.planes[k], kernels.group);
        std::fill(sums, sums + count, sum{});
        if constexpr (InPlace) {
          kernels.rows(&a(i, j), a.row_stride * index{sizeof(A)}, count, piece.words(), n, sums);
        } else {
          for (index l = 0; l < count; l += most_decoded) {
            const index some = std::min(most_decoded, count - l);
            for (index r = 0; r < some; ++r) decode(t, &a(i + l + r, j), a.col_stride, decoded_rows[r], n);
            kernels.rows(decoded_rows, sizeof decoded_rows[0], some, piece.words(), n, sums + l);
          }
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
    if (!lines::template kernels<false>(t) || !lines::template kernels<true>(t)) return false;
    vector_steps steps;
    if constexpr (lines::integers) {
      constexpr std::int64_t largest_byte = 255;
      const bool counts_more = lines::template kernels<true>(t).group == 4;
      steps = vector_steps::of_integers(counts_more ? largest_byte : largest.a, largest.b,
                                        Content == content::int16);
    }
    constexpr index tile = 64;  // rows, for a whole number of cache lines
    in_parts({a.rows, 1, tile, 1, a.cols}, [&](index i0, index, index height, index) {
      const auto part = a.block(i0, 0, height, a.cols);
      const auto store_part = [&](index i, index n, const auto* sums) { store(i0 + i, n, sums); };
      if (detail::lies_by_rows(a)) {
        if (lines::in_place && a.col_stride == 1)
          product_of_rows<Content, lines::in_place>(t, part, x, x_stride, steps, store_part);
        else
          product_of_rows<Content, false>(t, part, x, x_stride, steps, store_part);
      } else {
        if (lines::in_place && a.row_stride == 1)
          product_of_columns<Content, lines::in_place>(t, part, x, x_stride, steps, store_part);
        else
          product_of_columns<Content, false>(t, part, x, x_stride, steps, store_part);
      }
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
  if (a.rows == 1)
    return try_matrix_times_vector<Meeting>(b.transposed(), a.data, a.col_stride, {largest.b, largest.a},
                                            [&](index j, index n, const auto* sums) {
                                              store(0, j, matrix_view{sums, 1, n, n, 1});
                                            });
  return try_matrix_times_vector<Meeting>(a, b.data, b.row_stride, largest,
                                          [&](index i, index n, const auto* sums) {
                                            store(i, 0, matrix_view{sums, n, 1, 1, 1});
                                          });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
