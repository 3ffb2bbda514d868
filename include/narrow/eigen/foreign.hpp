// Eigen's own numbers of 16 bits: from and to narrow scalars, and matrices of them seen as narrow ones.
#pragma once

#include "../foreign.hpp"
#include "scalar.hpp"

namespace narrow::inline NARROW_ABI {

template <> struct foreign_format<Eigen::half> { using type = fp16; };
template <> struct foreign_format<Eigen::bfloat16> { using type = bf16; };

namespace detail {

template <class T>
concept eigen_foreign = std::same_as<T, Eigen::half> || std::same_as<T, Eigen::bfloat16>;

template <class X> inline constexpr bool is_plain_eigen = false;
template <class T, int... Sizes> inline constexpr bool is_plain_eigen<Eigen::Matrix<T, Sizes...>> = true;
template <class T, int... Sizes> inline constexpr bool is_plain_eigen<Eigen::Array<T, Sizes...>> = true;

/// A matrix or an array, or a part of one that is no copy.
template <class X>
concept eigen_memory = std::derived_from<std::remove_cvref_t<X>, Eigen::DenseBase<std::remove_cvref_t<X>>> &&
    direct_access<std::remove_cvref_t<X>> &&
    (std::is_lvalue_reference_v<X> || !is_plain_eigen<std::remove_cvref_t<X>>);

}  // namespace detail

/// The coefficients of a matrix or an array in memory, or of a block, a map or the like, as an Eigen::Map
/// with coefficients of type To, which are the same memory: `view_as<narrow::fp16>(half_matrix)`. Everything
/// else is as of `view_as` for ranges.
template <class To, detail::eigen_memory X>
requires viewable_as<To, typename std::remove_cvref_t<X>::Scalar>
auto view_as(X&& x) {
  using memory = std::remove_cvref_t<X>;
  using plain = detail::plain_of<To, memory>;
  auto* const data = detail::address_as<To>(x.data());
  using coefficients = detail::const_as<plain, std::remove_pointer_t<decltype(data)>>;
  if constexpr (detail::is_plain_eigen<memory>) {
    return Eigen::Map<coefficients>(data, x.rows(), x.cols());
  } else {
    using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
    return Eigen::Map<coefficients, 0, strides>(data, x.rows(), x.cols(),
                                                strides(x.outerStride(), x.innerStride()));
  }
}

}  // namespace narrow

namespace Eigen::internal {

/// `m.cast<half>()`: rounded once, to nearest, by the library. Eigen's way there is by float.
template <narrow::narrow_scalar From, narrow::detail::eigen_foreign To> struct cast_impl<From, To> {
  static To run(const From& x) {
    using format = narrow::foreign_format_t<To>;
    return numext::bit_cast<To>(narrow::narrow_cast<format>(x).bits());
  }
};

}  // namespace Eigen::internal
