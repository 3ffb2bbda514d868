// Assignments that compute nothing: codes that move as they are or change places, and one number everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "../../kernel/convert.hpp"
#include "assign_functors.hpp"
#include "piecewise_loops.hpp"
#include "views.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class Functor>
concept sets_value = assigns_narrow<Functor> && std::same_as<typename Functor::combined, set_value>;

/// A matrix of narrow numbers that lie side by side, but few ones, which Eigen copies by instructions of
/// their own.
template <class X>
concept side_by_side = direct_access<X> && narrow_scalar<typename X::Scalar> &&
                           X::InnerStrideAtCompileTime == 1 &&
                       (X::SizeAtCompileTime == Eigen::Dynamic || X::SizeAtCompileTime > 64);

/// Matrices of one type of numbers, which lie side by side along the same lines.
template <class A, class B>
concept lie_alike = side_by_side<A> && side_by_side<B> &&
    std::same_as<typename A::Scalar, typename B::Scalar> && storage_order_of<A>
== storage_order_of<B>;

template <class Dst, class Src, class Functor>
concept copies_lines = sets_value<Functor> && lie_alike<Dst, Src>;

/// Views whose lines are whole ones of a matrix in memory, in any order.
template <class View> inline constexpr bool has_whole_lines = false;
/// `m(Eigen::all, columns)`, `m(rows, Eigen::all)`.
template <class X, int Rows, class Columns>
requires(storage_order_of<X> == by_columns) inline constexpr bool has_whole_lines<
    Eigen::IndexedView<X, Eigen::internal::AllRange<Rows>, Columns>> = true;
template <class X, class Rows, int Columns>
requires(storage_order_of<X> == by_rows) inline constexpr bool has_whole_lines<
    Eigen::IndexedView<X, Rows, Eigen::internal::AllRange<Columns>>> = true;
/// From the last line to the first one.
template <class X, int Direction>
inline constexpr bool has_whole_lines<Eigen::Reverse<X, Direction>> =
    Direction == (storage_order_of<X> == by_columns ? Eigen::Horizontal : Eigen::Vertical);
template <class View>
using chosen_from = std::remove_cvref_t<decltype(std::declval<const View&>().nestedExpression())>;
template <class Dst, class Src, class Functor>
concept chooses_lines = sets_value<Functor> && has_whole_lines<Src> && lie_alike<Dst, chosen_from<Src>>;

/// Views whose lines are those of a matrix in memory, each from its last number to its first one.
template <class View> inline constexpr bool has_reversed_lines = false;
template <class X, int Direction>
inline constexpr bool has_reversed_lines<Eigen::Reverse<X, Direction>> =
    !has_whole_lines<Eigen::Reverse<X, Direction>>;
template <class Dst, class View>
concept reverses_into = has_reversed_lines<View> && lie_alike<Dst, chosen_from<View>>;
template <class Dst, class Src, class Functor>
concept reverses_lines = sets_value<Functor> && reverses_into<Dst, Src>;

/// `swap`, also with a reversed view.
template <class Dst, class Src, class Functor>
concept swaps_lines = std::same_as<Functor, Eigen::internal::swap_assign_op<typename Dst::Scalar>> &&
    (reverses_into<Dst, Src> || lie_alike<Dst, Src>);

/// Numbers of at most 16 bits in lines that become columns of numbers.
template <class Dst, class Src, class Functor>
concept turns_lines = sets_value<Functor> && side_by_side<Dst> && side_by_side<Src> &&
                          std::same_as<typename Dst::Scalar, typename Src::Scalar> &&
                          sizeof(typename Dst::Scalar) <= 2 &&
                      !Dst::IsVectorAtCompileTime && !Src::IsVectorAtCompileTime
                      && storage_order_of<Dst> != storage_order_of<Src>;

template <class X> inline constexpr bool is_constant = false;
template <class T, class Plain>
inline constexpr bool is_constant<Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>> =
    true;
template <class Dst, class Src, class Functor>
concept fills_lines = sets_value<Functor> && side_by_side<Dst> && is_constant<Src> &&
    std::same_as<typename Dst::Scalar, typename Src::Scalar>;

template <class Dst, class Src, class Functor>
concept moves_lines = copies_lines<Dst, Src, Functor> || fills_lines<Dst, Src, Functor> ||
    chooses_lines<Dst, Src, Functor> || reverses_lines<Dst, Src, Functor> || turns_lines<Dst, Src, Functor>;

/// n bytes, of places that may overlap. Few are moved in two parts, all read before any is written: a call
/// takes longer.
inline void move_bytes(void* to, const void* from, std::size_t n) {
  const auto in_two = [&]<class Part>(Part first) {
    Part last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, static_cast<const unsigned char*>(from) + n - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(static_cast<unsigned char*>(to) + n - sizeof last, &last, sizeof last);
  };
  if (n > 2 * sizeof(kernel::two_words))
    std::memmove(to, from, n);
  else if (n >= sizeof(kernel::two_words))
    in_two(kernel::two_words{});
  else if (n >= sizeof(std::uint64_t))
    in_two(std::uint64_t{});
  else if (n >= sizeof(std::uint32_t))
    in_two(std::uint32_t{});
  else if (n >= sizeof(std::uint16_t))
    in_two(std::uint16_t{});
  else if (n > 0)
    in_two(std::uint8_t{});
}

/// n numbers of one value: in words, of which the last one overlaps the one before, or, many of the same
/// bytes, as zeros are, by a call.
template <class T> void fill_line(T* to, std::size_t n, const T& value) {
  using code = uint_at_least<8 * sizeof(T)>;
  constexpr std::size_t few = 64, many = 512;
  const std::size_t bytes = n * sizeof(T);
  auto* const first = reinterpret_cast<unsigned char*>(to);
  const std::uint64_t repeated =
      ~std::uint64_t{0} / std::numeric_limits<code>::max() * std::bit_cast<code>(value);
  const auto fill = [&]<class Word>(const Word& word) {
    std::size_t at = 0;
    for (; at + sizeof word <= bytes; at += sizeof word) std::memcpy(first + at, &word, sizeof word);
    if (at < bytes) std::memcpy(first + bytes - sizeof word, &word, sizeof word);
  };
  if (bytes >= few && repeated == (repeated & 0xff) * 0x0101'0101'0101'0101)
    std::memset(first, static_cast<int>(repeated & 0xff), bytes);
  else if (bytes >= many)
    fill(std::array<std::uint64_t, 8>{repeated, repeated, repeated, repeated, repeated, repeated, repeated,
                                      repeated});
  else if (bytes >= sizeof(kernel::two_words))
    fill(kernel::two_words{repeated, repeated});
  else if (bytes >= sizeof repeated)
    fill(repeated);
  else
    std::fill_n(to, n, value);
}

/// Where the first number of a line of a reversed view lies, in a destination's order.
template <class Dst, class Src>
const typename Src::Scalar* last_of_reversed(const Src& src, Eigen::Index line) {
  const position first = Dst::IsRowMajor ? below(src, line, 0) : below(src, 0, line);
  return &src.nestedExpression().coeffRef(first.row, first.col);
}

/// dst = src, of the same shape. Where the two overlap in a line, dst is what src was.
template <class Dst, class Src> void move_lines(Dst& dst, const Src& src) {
  const auto each_line = [&](bool together, const auto& use) {
    const Eigen::Index lines = together ? 1 : dst.outerSize(),
                       length = together ? dst.size() : dst.innerSize();
    if (length > 0)
      for (Eigen::Index l = 0; l < lines; ++l)
        use(dst.data() + l * dst.outerStride(), l, static_cast<std::size_t>(length));
  };
  using T = typename Dst::Scalar;
  if constexpr (direct_access<Src> && storage_order_of<Dst> != storage_order_of<Src>)
    kernel::turn_lines(src.data(), src.outerStride(), src.outerSize(), src.innerSize(), dst.data(),
                       dst.outerStride());
  else if constexpr (direct_access<Src>)
    each_line(without_gaps(dst) && without_gaps(src), [&](T* to, Eigen::Index line, std::size_t n) {
      move_bytes(to, src.data() + line * src.outerStride(), n * sizeof(T));
    });
  else if constexpr (has_reversed_lines<Src>)
    each_line(false, [&](T* to, Eigen::Index line, std::size_t n) {
      kernel::reverse_line<kernel::reversing::copies>(to, last_of_reversed<Dst>(src, line), n);
    });
  else if constexpr (has_whole_lines<Src>)
    each_line(false, [&, &from = src.nestedExpression()](T* to, Eigen::Index line, std::size_t n) {
      const position first = Dst::IsRowMajor ? below(src, line, 0) : below(src, 0, line);
      move_bytes(to, &from.coeffRef(first.row, first.col), n * sizeof(T));
    });
  else
    each_line(without_gaps(dst),
              [&](T* to, Eigen::Index, std::size_t n) { fill_line(to, n, src.functor().m_other); });
}

/// Exchanges what is in dst and src, of the same shape. Src is what Eigen has made const of the argument.
template <class Dst, class Src> void swap_lines(Dst& dst, const Src& src) {
  using T = typename Dst::Scalar;
  const auto length = static_cast<std::size_t>(dst.innerSize());
  if (length > 0)
    for (Eigen::Index line = 0; line < dst.outerSize(); ++line) {
      T* const to = dst.data() + line * dst.outerStride();
      if constexpr (has_reversed_lines<Src>)
        kernel::reverse_line<kernel::reversing::swaps>(to, const_cast<T*>(last_of_reversed<Dst>(src, line)),
                                                       length);
      else
        kernel::swap_bytes(to, const_cast<T*>(src.data() + line * src.outerStride()), length * sizeof(T));
    }
}

}  // namespace narrow::detail
