// Matrices of any codes, and the floating formats that programs of lanes are tested with.
#pragma once

#include <bit>
#include <narrow/eigen.hpp>
#include <random>

#include "exhaustive.hpp"

namespace test {

template <class T, int Order> using matrix_in_order = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;

/// Any codes: of numbers of all sizes, of NaNs, signalling ones too, and of infinities; one in six is the
/// NaN of the format, if it has one, the code of -0 or the least number.
template <class T, int Order = Eigen::ColMajor>
matrix_in_order<T, Order> any_codes(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 engine(seed);
  matrix_in_order<T, Order> m(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(engine());
    if constexpr (std::same_as<T, float>)  // of NaNs those, too, that rounding carries beyond all codes
      m.data()[i] = i % 3   ? static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-30f
                    : i % 2 ? std::bit_cast<float>(bits | 0x7fff'fff0)
                            : std::bit_cast<float>(bits);
    else if (i % 6 == 3)
      m.data()[i] = i % 4 == 3 ? std::numeric_limits<T>::quiet_NaN()
                               : T::from_bits(static_cast<typename T::bits_type>(
                                     T::layout::sign_mask | (bits % 2 ? T::layout::max_finite : 0)));
    else
      m.data()[i] = i % 3 ? T(static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-30f)
                          : T::from_bits(static_cast<typename T::bits_type>(bits));
  }
  return m;
}

using floating_formats =
    some_of<std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, narrow::fp8_e5m2, narrow::fp8_e3m4,
                       narrow::fp8_e5m2fnuz, narrow::fp8_e4m3fnuz, narrow::fp6_e2m3, narrow::fp6_e3m2,
                       narrow::fp4_e2m1,
                       narrow::floating<5, 10, narrow::specials::ieee, narrow::rounding::nearest_even,
                                        narrow::overflow::saturate>,
                       narrow::floating<8, 7, narrow::specials::ieee, narrow::rounding::nearest_even,
                                        narrow::overflow::saturate>,
                       narrow::floating<8, 16>, narrow::floating<6, 12, narrow::specials::none>>,
            0, 1, 2, 3>;

}  // namespace test
