// Where a matrix is in memory.
#pragma once

#include <algorithm>
#include <functional>

#include "../../matrix_view.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// The first and last byte of a view.
struct extent {
  const void *first = nullptr, *last = nullptr;

  template <class T> explicit extent(const matrix_view<T>& m) {
    if (m.rows == 0 || m.cols == 0) return;
    const T* ends[] = {&m(0, 0), &m(m.rows - 1, 0), &m(0, m.cols - 1), &m(m.rows - 1, m.cols - 1)};
    const auto [low, high] = std::minmax_element(std::begin(ends), std::end(ends), std::less<const T*>{});
    first = *low;
    last = *high + 1;
  }
  bool overlaps(const extent& other) const {
    const std::less<const void*> before;
    return first != nullptr && other.first != nullptr && before(first, other.last) &&
           before(other.first, last);
  }
};

}  // namespace narrow::detail
