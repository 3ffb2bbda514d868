// Programs of lanes whose floats are rounded in ways that lanes have not, stochastically or in one direction:
// computed in pieces, which kernels convert (see piecewise_loops.hpp).
#pragma once

#include "lane_programs.hpp"
#include "piecewise_loops.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Whether dst = Combine(dst, x), or dst = x for void, is the floats of a program, and not such in memory.
template <class Combine, class Dst, class X>
concept pieces_in_lanes =
    lane_expressions<X> && !dequantizes<X> && direct_access<Dst> &&
    (std::is_void_v<Combine>
         ? !floats_in_lines<X>
         : (lane_expressions<Dst> && !std::is_void_v<lane_combination_t<Combine, float>>));

/// The floats of a program along lines of Order, in pieces.
template <traversal Order, class Program> class program_pieces {
 public:
  explicit program_pieces(const Program& program, bool gapless) : program_(program), gapless_(gapless) {}

  bool gapless(traversal) const { return gapless_; }
  piece_view get(traversal /*Order*/, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    compute(line, first, n);
    return {values_.values, n};
  }
  /// Whether the instruction set in use has a kernel for the program.
  bool is_there() { return compute(0, 0, 0); }

 private:
  bool compute(Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    return kernel::store_program(kernel::from_element(kernel::on_line(program_, line), first), values_.values,
                                 n, kernel::one_line{n});
  }

  Program program_;
  bool gapless_;
  piece_buffer values_;
};

/// As assign_in_pieces. False, too, if the lines are short, or there is no kernel for the program.
template <class Combine, class Dst, class X, class Round>
requires pieces_in_lanes<Combine, Dst, X>
bool assign_pieces_in_lanes(Dst& dst, const X& x, const Round& round) {
  constexpr traversal order = storage_order_of<Dst>;
  using program = lane_program_t<X>;
  const bool gapless = program::template gapless<order>(x);
  if (dst.size() < min_piecewise_size || dst.innerSize() < min_piecewise_size) return false;
  const auto store = [&](const auto& p) {
    program_pieces<order, std::remove_cvref_t<decltype(p)>> values(p, gapless);
    if (!values.is_there()) return false;
    store_pieces(dst, values, round);
    return true;
  };
  if constexpr (std::is_void_v<Combine>)
    return store(program::template make<order>(x));
  else
    return store(kernel::lane_binary<lane_combination_t<Combine, float>, lane_program_type<Dst, order>,
                                     lane_program_type<X, order>>{
        lane_program<Dst>::template make<order>(dst), program::template make<order>(x)});
}

}  // namespace narrow::detail
