// Sizes of matrices known at compile time, as lists of types.
#pragma once

#include <tuple>
#include <type_traits>

namespace test {

template <int Rows, int Cols> struct shape { static constexpr int size = Rows * Cols; };

/// use.operator()<Rows, Cols>() for each shape of a list.
template <class... Shapes, class Use>
void for_each_shape(std::type_identity<std::tuple<Shapes...>>, const Use& use) {
  const auto of = [&]<int Rows, int Cols>(shape<Rows, Cols>) { use.template operator()<Rows, Cols>(); };
  (of(Shapes{}), ...);
}
template <class List, class Use> void for_each_shape(const Use& use) {
  for_each_shape(std::type_identity<List>{}, use);
}

/// How many coefficients one matrix of each shape has in all.
template <class List> inline constexpr int size_of_all = 0;
template <class... Shapes> inline constexpr int size_of_all<std::tuple<Shapes...>> = (Shapes::size + ...);

}  // namespace test
