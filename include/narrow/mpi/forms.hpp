// In which numbers gradients are summed over ranks.
#pragma once

#include "../concepts.hpp"
#include "../format_name.hpp"

namespace narrow::inline NARROW_ABI::mpi {

/// In fp32, by MPI's own sum: 4 bytes an element each way. The order of the additions, and with it the last
/// bits, depends on the number of ranks and on MPI.
struct wide {
  /// As it is written.
  static std::string name() { return "wide"; }
};

/// In a narrow floating-point format on the wire: each rank rounds its gradient once, one rank sums a part of
/// all of them in float, in the order of the ranks, and rounds the sum once. The result depends on the number
/// of ranks, not on MPI. Error bound: 2 roundings of T, however many ranks there are, and those of the sum in
/// float.
template <narrow_float T> struct rounded {
  static_assert(std::numeric_limits<T>::digits <= std::numeric_limits<float>::digits,
                "narrow::mpi::rounded: sums are in float, which must hold the numbers of the format");
  /// As it is written.
  static std::string name() { return "rounded<" + format_name<T>() + ">"; }
};

/// In integers of M bits, sign included, M from 8 to 32: each block of 1024 elements has one power of two for
/// a step, which all ranks take from the largest magnitude that any of them has. So the sum of the integers
/// is exact, whatever the order: the same bits for every number of ranks, every algorithm of MPI and every
/// machine, if the ranks together add the same gradients (see `reducer`). The sum is rounded once to M bits,
/// under a step of its own.
///
/// Rounding  to nearest, ties to even, twice: a gradient to a multiple of its block's step, at most 2^(2 - M) of the
///           largest magnitude in the block over all ranks, and their sum likewise.
/// Special   a block in which any rank has a NaN or an infinity, or whose sum is beyond float's range, comes out as NaN.
template <int M> struct exact {
  static_assert(8 <= M && M <= 32, "narrow::mpi::exact<M>: integers have 8 to 32 bits");
  /// As it is written.
  static std::string name() { return "exact<" + std::to_string(M) + ">"; }
};

/// What becomes of the part of a gradient that rounding cuts off.
///
///   dropped  it is lost
///   carried  it joins the gradient of the next step. What a rank cuts off its gradients it keeps itself, what is cut off a
///            sum the rank that rounded it. (Seide et al., 1-Bit Stochastic Gradient Descent, 2014, section 2.2; Karimireddy
///            et al., Error Feedback Fixes SignSGD, 2019; for sums Tang et al., DoubleSqueeze, 2019.)
enum class error_feedback { dropped, carried };

}  // namespace narrow::mpi
