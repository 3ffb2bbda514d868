// The training helpers on several ranks: they go on alike.
#pragma once

#include <sstream>

#include "../train/loss_scaler.hpp"
#include "messages.hpp"

namespace narrow::inline NARROW_ABI::mpi {

/// What is written by << and read back by >> bit for bit: `loss_scaler`, `adaptive_clip`, `precision_switch`,
/// `muppet_switch`, `carried_gradients` and the other helpers of training.
template <class X>
concept saved_helper =
    !message<X> && std::default_initializable<X> && requires(std::ostream & out, std::istream& in, X& x) {
  out << x;
  in >> x;
};

/// Gives all ranks the state of one of them. For helpers that watch what only one rank has, as
/// `adaptive_clip` watches gradients of activations: let the rank watch that has the first micro-batch, and
/// the state does not depend on the number of ranks. Collective. Throws std::invalid_argument on every rank
/// if they do not all do this.
template <saved_helper X> void broadcast(X& x, int root = 0, MPI_Comm comm = MPI_COMM_WORLD) {
  std::ostringstream out;
  if (rank(comm) == root) out << x;
  std::string text = out.str();
  broadcast(text, root, comm);
  if (rank(comm) == root) return;
  std::istringstream in(text);
  in >> x;
}

/// Throws std::invalid_argument on every rank unless all of them have the same state, as helpers have that
/// were given nothing but gradients from `all_reduce` or a `reducer`. Collective.
template <saved_helper X>
void require_equal(const X& x, std::string_view name, MPI_Comm comm = MPI_COMM_WORLD) {
  std::ostringstream out;
  out << x;
  const std::string text = out.str();
  detail::require_same(
      "the state of " + std::string(name),
      std::to_string(text.size()) + " characters with the digest " + std::to_string(detail::digest_of(text)),
      comm);
}

/// All ranks take note of what overflowed on any of them in this step: call it after the last `unscale`,
/// before `overflowed()` and `update()`. Then all skip the step or none, and the scales stay alike. Not
/// needed where what is unscaled are the sums of `all_reduce`, which are the same on all ranks. Collective.
/// Cost    one small reduction where nothing overflowed.
inline void agree(loss_scaler& scaler, MPI_Comm comm = MPI_COMM_WORLD) {
  std::string own;  // the names of layers, each with its length before it
  for (const auto& layer : scaler.overflowing_layers()) own += std::to_string(layer.size()) + ':' + layer;
  const int size = static_cast<int>(own.size());
  int largest = 0;
  detail::check(MPI_Allreduce(&size, &largest, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  if (largest == 0) return;
  own.resize(static_cast<std::size_t>(largest));
  std::string all(own.size() * static_cast<std::size_t>(ranks(comm)), '\0');
  detail::check(MPI_Allgather(own.data(), largest, MPI_CHAR, all.data(), largest, MPI_CHAR, comm),
                "MPI_Allgather");
  for (std::size_t at = 0; at < all.size(); at += own.size())
    for (std::size_t i = at; i < at + own.size() && all[i] != '\0';) {
      const std::size_t colon = all.find(':', i);
      const auto length = static_cast<std::size_t>(std::stoul(all.substr(i, colon - i)));
      scaler.report_overflow(std::string_view(all).substr(colon + 1, length));
      i = colon + 1 + length;
    }
}

}  // namespace narrow::mpi
