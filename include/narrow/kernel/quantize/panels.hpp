// Large matrices in shares for threads, and numbers that lie otherwise than their elements in panels.
#pragma once

#include <atomic>
#include <mutex>

#include "../../runtime/thread_pool.hpp"
#include "../convert/copy.hpp"
#include "blocks.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Matrices of fewer numbers are not shared: a thread takes 2^20 multiplications, or eighths as many numbers.
inline constexpr index min_shared = (index{1} << 20) / 8;

/// An m x n matrix in panels that the first-level cache holds, whose columns follow one another: each is to
/// be filled before it is used. Long enough for lines in memory, and not too thin for tiles that lie across
/// them.
template <class T> class panel_walk {
  static constexpr index elements = 4096, max_line = 128;

 public:
  panel_walk(index m, index n)
      : rows_(m), cols_(n), height_(std::clamp<index>(m, 1, max_line)), width_(elements / height_) {}

  /// Goes on to the next panel, at first to the first one. False where there is none.
  bool next() {
    part_.row += part_.rows;
    if (part_.row >= rows_) part_ = {0, part_.col + part_.cols, 0, 0};
    part_.rows = std::min(height_, rows_ - part_.row);
    part_.cols = std::min(width_, cols_ - part_.col);
    return part_.rows > 0 && part_.cols > 0;
  }
  const region& part() const { return part_; }
  matrix_view<T> panel() { return {buffer_, part_.rows, part_.cols, 1, part_.rows}; }

 private:
  index rows_, cols_, height_, width_;
  region part_;
  T buffer_[elements];
};

/// use(part, panel) for all of x in panels that are copies. Out of line, as it needs a large frame.
template <class T, class Use>
[[gnu::noinline]] void in_copies(kernel_set t, const matrix_view<const T>& x, const Use& use) {
  for (panel_walk<T> walk(x.rows, x.cols); walk.next();) {
    copy(t, x.block(walk.part()), walk.panel());
    use(walk.part(), matrix_view<const T>(walk.panel()));
  }
}

/// use(part, panel) for all of x, lines along its columns, by all threads: panels in place, or copied where
/// neighbours in a column do not lie side by side.
template <class T, class Use> void in_panels(kernel_set t, const matrix_view<const T>& x, const Use& use) {
  const auto use_share = [&](index first, index count) {
    const region share{0, first, x.rows, count};
    if (x.row_stride == 1 || x.rows == 1) return use(share, x.block(share));
    in_copies(t, x.block(share),
              [&](const region& r, const matrix_view<const T>& panel) { use(r.moved(0, first), panel); });
  };
  if (x.rows * x.cols < min_shared)
    use_share(0, x.cols);
  else
    parallel_for_lines(x.cols, 1, x.rows, use_share);
}

/// Adds the magnitudes of each tile to its statistic, by all threads; returns how many are not finite. x may
/// lie in memory in any way.
template <class T, class Statistic>
std::size_t gather_magnitudes(kernel_set t, const matrix_view<const T>& x, const tile_map<Statistic>& map) {
  if (x.rows == 0 || x.cols == 0) return 0;
  if (detail::lies_by_rows(x)) return gather_magnitudes(t, x.transposed(), map.transposed());
  const bool one = map.has_one(x.rows, x.cols), begins_with_tile = map.above == 0 && map.left == 0;
  const bool by_kernel =
      std::same_as<T, float> && absmax_statistic<Statistic> && t.get<&kernel_table::absmax>() != nullptr;
  if (x.rows * x.cols < min_shared || (one && !absmax_statistic<Statistic>)) return add_magnitudes(t, x, map);
  std::atomic<std::size_t> nonfinite = 0;
  const auto add_share = [&](const region& share) {
    const auto part = x.block(share);
    const auto of_part = map.at(share.row, share.col);
    // Without a kernel tiles are gathered one by one, which is to run along memory.
    if (by_kernel || map.rows >= map.cols)
      nonfinite += add_magnitudes(t, part, of_part);
    else
      in_copies(t, part.transposed(), [&](const region& r, const matrix_view<const T>& panel) {
        nonfinite += add_magnitudes(t, panel, of_part.transposed().at(r.row, r.col));
      });
  };
  if (!one && !begins_with_tile) {
    add_share({0, 0, x.rows, x.cols});
  } else if (!one && map.cols < x.cols) {
    parallel_for_lines(x.cols, map.cols, x.rows, [&](index first, index count) {
      add_share({0, first, x.rows, count});
    });
  } else if (!one) {
    parallel_for_lines(x.rows, map.rows, x.cols, [&](index first, index count) {
      add_share({first, 0, count, x.cols});
    });
  } else if constexpr (absmax_statistic<Statistic>) {
    std::mutex merging;
    parallel_for_lines(x.cols, 1, x.rows, [&](index first, index count) {
      Statistic found;
      nonfinite += add_magnitudes(t, x.block(0, first, x.rows, count), found);
      if constexpr (requires { found.bits; }) {
        const std::lock_guard lock(merging);
        map.first->add(found.bits);
      }
    });
  }
  return nonfinite;
}
/// How many elements are not finite.
template <class T> std::size_t count_nonfinite(kernel_set t, const matrix_view<const T>& x) {
  no_statistic none;
  return gather_magnitudes(t, x, tile_map<no_statistic>::all(none, x.rows, x.cols));
}

/// q = x / scale, each element rounded once by `round` under the index that `order` gives it, by all threads.
/// Integers saturate at the ends of `range`, floating-point elements at their largest finite number; a NaN
/// becomes 0. Over a scale that is NaN numbers become zeros. T: float, double or long double.
template <class T, class Element, class Scale, class Round>
void quantize(kernel_set t, const matrix_view<const T>& x, const matrix_view<Element>& q,
              const tile_map<const Scale>& scales, scale_kind kind, const element_range& range,
              const Round& round, const element_order& order) {
  if (q.rows == 0 || q.cols == 0) return;
  if (detail::lies_by_rows(q))
    return quantize(t, x.transposed(), q.transposed(), scales.transposed(), kind, range, round,
                    order.transposed());
  const auto stored = stored_elements(q);
  constexpr float unit = unit_of_stored<Element>;
  const encoder<std::remove_pointer_t<decltype(stored.data)>, Round> by{
      t, kind, {range.lowest / double(unit), range.highest / double(unit)}, round, unit};
  if (q.row_stride != 1 || (x.row_stride == 1 && q.rows * q.cols < min_shared))
    return by.encode(x, stored, scales, order);
  in_panels(t, x, [&](const region& r, const matrix_view<const T>& panel) {
    by.encode(panel, stored.block(r), scales.at(r.row, r.col), order.at(r.row, r.col));
  });
}

/// q(i, j) from x(i, j) in steps of 2^-fraction_length; returns how many are not finite.
template <class T, class Element, class Round>
std::size_t encode_in_steps(kernel_set t, const matrix_view<const T>& x, const matrix_view<Element>& q,
                            int fraction_length, const element_range& range, const Round& round,
                            const element_order& order) {
  if (detail::lies_by_rows(q))
    return encode_in_steps(t, x.transposed(), q.transposed(), fraction_length, range, round,
                           order.transposed());
  std::atomic<std::size_t> nonfinite = 0;
  in_panels(t, x, [&](const region& r, const matrix_view<const T>& panel) {
    const auto part = q.block(r);
    const auto of_part = order.at(r.row, r.col);
    no_statistic none;
    nonfinite += add_magnitudes(t, panel, none);
    if constexpr (std::same_as<T, float>)
      encoder<Element, Round>{t, scale_kind::power_of_two, range, round}.encode_tile(
          panel, part, detail::power_of_two(-fraction_length), of_part);
    else if constexpr (std::same_as<T, double>)
      portable::encode_elements(panel, part, portable::exact_quotient{std::ldexp(1.0, fraction_length)},
                                range, round, of_part);
    else
      portable::encode_in_steps(panel, part, fraction_length, range, round, of_part);
  });
  return nonfinite;
}

/// x = q scale, rounded to float.
template <class Element, class Scale>
void dequantize(kernel_set t, const matrix_view<const Element>& q, const tile_map<const Scale>& scales,
                const matrix_view<float>& x) {
  if (q.rows == 0 || q.cols == 0) return;
  if (detail::lies_by_rows(q)) return dequantize(t, q.transposed(), scales.transposed(), x.transposed());
  decode(t, stored_elements(q), scales, unit_of_stored<Element>, x);
}

}  // namespace narrow::kernel

NARROW_STRICT_END
