// Matrices quantised to blocks.
#pragma once

#include "bits.hpp"

namespace bits {

/// Everything that is stored, and what it means.
template <class Format> void add(digest& hash, const narrow::block_tensor<Format>& tensor) {
  hash.bits_of(std::int64_t{tensor.rows()});
  hash.bits_of(std::int64_t{tensor.cols()});
  hash.bits_of(static_cast<std::uint64_t>(tensor.nonfinite()));
  hash.all_bits(tensor.mantissas());
  hash.all_bits(tensor.scales());
  std::vector<float> values(static_cast<std::size_t>(tensor.size()));
  narrow::dequantize(tensor, values);
  hash.values(values);
  if (tensor.size() > 0) hash.value(tensor(tensor.rows() - 1, tensor.cols() / 2));
}

struct extent {
  index rows, cols;
};
inline constexpr extent sizes[] = {{0, 3}, {1, 1}, {1, 77}, {45, 1}, {7, 13}, {34, 67}};

/// Every kind of numbers, shape and layout, in tensors of either order. The index of all of these is that of
/// the layout.
template <class T, class Check> void for_each_matrix(const Check& check) {
  std::uint64_t seed = 1000;
  for (const kind of : all_kinds)
    for (const extent& size : sizes) {
      const layout lies = all_layouts[++seed % std::size(all_layouts)];
      check(matrix<T>(size.rows, size.cols, lies, of, seed),
            seed % 2 == 0 ? narrow::storage_order::row_major : narrow::storage_order::column_major);
    }
}

template <class Format, class T, class Round> void quantize_from() {
  report("quantize", name<T>() + "->" + name<Format>() + "/by_" + name<Round>(), [](digest& hash) {
    for_each_matrix<T>([&](const matrix<T>& m, narrow::storage_order order) {
      narrow::block_tensor<Format> tensor(0, 0, order);
      tensor.assign(m.view, policy<Round>());
      add(hash, tensor);
    });
  });
}

/// Parts written, clipping values from outside, several threads, and two tensors at a time.
template <class Format> void write_parts() {
  report("quantize", name<Format>() + "/parts", [](digest& hash) {
    for_each_matrix<float>([&](const matrix<float>& m, narrow::storage_order order) {
      const index rows = m.view.rows, cols = m.view.cols;
      auto tensor = narrow::quantize<Format>(m.view);
      add(hash, tensor);
      tensor.write(rows / 3, cols / 4,
                   matrix<float>(rows / 2, cols / 2, layout::by_rows, kind::spread, 8).view);
      tensor.write(rows / 2, 0,
                   matrix<float>(rows - rows / 2, cols, layout::by_columns, kind::short_, 9).view);
      add(hash, tensor);

      narrow::block_tensor<Format> clipped(0, 0, order), other(0, 0, order);
      const float clip[] = {1.25f};
      clipped.assign(m.view, narrow::rounding::stochastic(3, 1000), clip);
      add(hash, clipped);
      narrow::tensor_assignment first(clipped, m.view);
      narrow::tensor_assignment second(other, m.view, clip, narrow::rounding::stochastic(5));
      narrow::assign_together({&first, &second});
      add(hash, clipped);
      add(hash, other);
    });
    narrow::set_num_threads(2);
    add(hash, narrow::quantize<Format>(matrix<float>(150, 130, layout::by_columns, kind::spread, 10).view));
    narrow::set_num_threads(1);
  });
}

template <class List, class F> void for_each_format(F f) {
  for_each_type<List>([&]<class Kind>() {
    for_each_type<granularities>(
        [&]<class Block>() { f.template operator()<typename Kind::template with<Block>>(); });
  });
}

}  // namespace bits
