// Coefficient-wise expressions stored and read in pieces, which the kernels turn from narrow numbers into floats and back.
#pragma once

#include "staged.hpp"

namespace narrow::detail {

/// An explicit cast to the type of the destination is the rounding of the assignment.
template <class To, class X> const X& without_cast_to(const X& x) { return x; }
template <class To, casts_to<To> Op, class X>
const auto& without_cast_to(const Eigen::CwiseUnaryOp<Op, X>& x) {
  return x.nestedExpression();
}
template <class To, class X>
using uncast = std::remove_cvref_t<decltype(without_cast_to<To>(std::declval<const X&>()))>;

/// Whether dst = Combine(dst, x), or dst = x for void, is the floats of x, or computed from these, rounded once. Fixed-point
/// numbers are only converted: what is computed of them is exact.
template <class Combine, class Dst, class X>
concept rounds_floats = (narrow_or_float<Dst> && (narrow_or_float<X> || std::is_void_v<Combine>)) ||
                        (narrow_fixed<typename Dst::Scalar> && std::is_void_v<Combine> &&
                         (std::same_as<typename X::Scalar, float> || direct_access<X>));

template <class To>
concept draws_per_element = narrow_scalar<To> && requires(typename To::round_policy round) {
  round.at(0);
};

/// Whether dst = Combine(dst, x), or dst = x for void, can be stored piece by piece, and is more than a copy.
template <class Combine, class Dst, class X>
concept stored_in_pieces =
    direct_access<Dst> && stageable<X> && rounds_floats<Combine, Dst, X> &&
    (narrow_scalar<typename Dst::Scalar> || staged_t<X>::any_narrow) &&
    (staged_t<X>::orders == matrix_lines<Dst>::orders ||
     (staged_t<X>::orders == 0 && !std::is_void_v<Combine>)) &&
    !(std::is_void_v<Combine> && direct_access<X> &&
      std::same_as<typename Dst::Scalar, typename X::Scalar>)&&(Dst::MaxSizeAtCompileTime == Eigen::Dynamic ||
                                                                Dst::MaxSizeAtCompileTime >= smallest_staged);

/// dst = Combine(dst, x), rounded once, each coefficient under its row-major index. False, and nothing is done, if neighbours
/// do not lie side by side.
template <class Combine, class Dst, class X, class Round>
NARROW_KERNEL bool assign_in_pieces(Dst& dst, const X& x, const Round& round) {
  using To = typename Dst::Scalar;
  constexpr int order = matrix_lines<Dst>::orders;
  staged<X> values(x);
  std::conditional_t<std::is_void_v<Combine>, matrix_lines<Dst>, staged<Dst>> present(dst);
  if (dst.size() < smallest_staged || !values.in_lines() || !present.in_lines()) return false;
  // Indices go on from one line to the next only by rows.
  const bool in_order = !draws_per_element<To> || Dst::IsRowMajor || dst.outerSize() == 1;
  const bool flat = values.gapless() && present.gapless() && in_order;
  const Eigen::Index lines = flat ? 1 : dst.outerSize(), length = flat ? dst.size() : dst.innerSize();
  if (length < smallest_staged) return false;
  for (Eigen::Index line = 0; line < lines; ++line)
    for (Eigen::Index first = 0; first < length; first += piece_size) {
      const Eigen::Index n = std::min(piece_size, length - first);
      To* const to = dst.data() + line * dst.outerStride() + first;
      const auto along = static_cast<std::uint64_t>(first), step = static_cast<std::uint64_t>(dst.cols()),
                 across = static_cast<std::uint64_t>(line);
      const auto round_to = [&](const auto* wide) {
        if constexpr (Dst::IsRowMajor)
          convert(wide, to, static_cast<std::size_t>(n), round, across * step + along);
        else
          convert(wide, to, static_cast<std::size_t>(n), round, along * step + across, step);
      };
      const auto result = values.template get<order>(line, first, n);
      const auto store = [&](const auto& wide) {
        if constexpr (std::same_as<To, float>) {
          Eigen::Map<piece>(to, n) = wide;
        } else if constexpr (std::same_as<std::remove_cvref_t<decltype(wide)>, piece_view>) {
          round_to(wide.data());
        } else {
          piece_buffer buffer;
          Eigen::Map<piece>(buffer.values, n) = wide;
          round_to(buffer.values);
        }
      };
      if constexpr (std::is_void_v<Combine>) {
        store(result);
      } else {
        const auto old = present.template get<order>(line, first, n);
        using both = Eigen::CwiseBinaryOp<Combine, decltype(old), decltype(result)>;
        store(both(old, result));
      }
    }
  return true;
}

/// Computed pieces of narrow numbers in one storage order, which can be read one after the other.
template <class X>
concept read_in_pieces = stageable<X> && narrow_float<typename X::Scalar> &&
    (staged_t<X>::orders == by_columns || staged_t<X>::orders == by_rows);

/// use(values) for all pieces of x, in memory. False, and nothing is done, if neighbours do not lie side by side.
template <read_in_pieces X, class Use> bool for_pieces(const X& x, const Use& use) {
  constexpr int order = staged_t<X>::orders;
  staged_t<X> values(x);
  if (x.size() < smallest_staged || !values.in_lines()) return false;
  const bool flat = values.gapless();
  const Eigen::Index rows = x.rows(), cols = x.cols(), count = order == by_columns ? cols : rows;
  const Eigen::Index lines = flat ? 1 : count, length = flat ? x.size() : x.size() / count;
  if (length < smallest_staged) return false;
  piece_buffer buffer;
  for (Eigen::Index line = 0; line < lines; ++line)
    for (Eigen::Index first = 0; first < length; first += piece_size) {
      const Eigen::Index n = std::min(piece_size, length - first);
      Eigen::Map<piece>(buffer.values, n) = values.template get<order>(line, first, n);
      use(piece_view(buffer.values, n));
    }
  return true;
}

}  // namespace narrow::detail
