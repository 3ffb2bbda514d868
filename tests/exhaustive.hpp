// What the tests of those who wait for them leave to the exhaustive ones: see NARROW_EXHAUSTIVE_TESTS.
#pragma once

#include <cstddef>
#include <tuple>

namespace test {

/// The types at these places of a list, one for each kind of code, and in the exhaustive tests all of them.
#if defined(NARROW_EXHAUSTIVE)
inline constexpr bool is_exhaustive = true;
template <class List, std::size_t...> using some_of = List;
#else
inline constexpr bool is_exhaustive = false;
template <class List, std::size_t... Places>
using some_of = std::tuple<std::tuple_element_t<Places, List>...>;
#endif

}  // namespace test
