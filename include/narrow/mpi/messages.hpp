// Arrays and tensors of every format from rank to rank, as they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <variant>

#include "../block/fixed_tensor.hpp"
#include "../block/tensor.hpp"
#include "../format_name.hpp"
#include "../train/array_access.hpp"
#include "communicator.hpp"

namespace narrow::inline NARROW_ABI::mpi {

namespace detail {

/// What goes ahead of the elements: what they are, and how many bytes of mantissas (or numbers) and of scales
/// follow.
struct message_header {
  std::array<char, 96> format{};
  std::int64_t order = 0;
  std::int64_t rows = 0, cols = 0;
  std::int64_t word_length = 0, fraction_length = 0;  // of fixed point chosen at run time
  std::uint64_t bytes = 0, scale_bytes = 0;

  message_header() = default;
  explicit message_header(const std::string& name) {
    std::copy_n(name.begin(), std::min(name.size(), format.size() - 1), format.begin());
  }

  std::string text() const {
    return std::to_string(rows) + " x " + std::to_string(cols) + " of " + format.data();
  }
};
static_assert(std::is_trivially_copyable_v<message_header>);

/// Throws std::invalid_argument naming both formats where they differ.
inline void require_format(const message_header& sent, const std::string& own) {
  if (message_header(own).format != sent.format)
    fail<std::invalid_argument>("narrow::mpi: what was sent is " + sent.text() +
                                ", what is to receive it is of " + own);
}

/// How X goes from rank to rank. A specialisation has
///   outgoing(x)          with header() and parts(), the bytes of the elements and of the scales
///   incoming(x, header)  gives x the shape that the header tells, or throws std::invalid_argument and leaves it; its
///                        parts() are to be filled, then commit() called
template <class X> struct transport;

/// A matrix whose elements are those of a tensor: one of Eigen's in a block format.
template <class X>
concept tensor_matrix = requires(X& x, typename X::Tensor stored) {
  { x.tensor() } -> std::same_as<const typename X::Tensor&>;
  x.assign_stored(std::move(stored));
};

template <readable_array X>
requires(std::is_trivially_copyable_v<array_value_t<X>> && !tensor_matrix<X>) struct transport<X> {
  using element = array_value_t<X>;
  static std::string format() { return format_name<element>(); }

  class outgoing {
   public:
    explicit outgoing(const X& x) : elements_(x) {}
    message_header header() const {
      const array_layout layout = elements_.layout();
      message_header h(format());
      h.order = static_cast<std::int64_t>(layout.order);
      h.rows = layout.rows;
      h.cols = layout.cols;
      h.bytes = layout.size() * sizeof(element);
      return h;
    }
    std::array<std::span<const std::byte>, 2> parts() const {
      return {std::as_bytes(elements_.elements()), {}};
    }

   private:
    typename array_access<X>::input elements_;
  };

  class incoming {
   public:
    incoming(X& x, const message_header& h)
        : elements_((require_format(h, format()), x),
                    array_layout{static_cast<array_layout::sequence>(h.order),
                                 static_cast<std::ptrdiff_t>(h.rows), static_cast<std::ptrdiff_t>(h.cols)},
                    array_roles{"narrow::mpi", "what was sent", "what is to receive it"}) {}
    std::array<std::span<std::byte>, 2> parts() { return {std::as_writable_bytes(elements_.elements()), {}}; }
    void commit() { elements_.commit(); }

   private:
    typename array_access<X>::output elements_;
  };
};

/// A copy of elements in the other storage order.
template <class T>
std::vector<T> in_order(std::vector<T> x, std::ptrdiff_t rows, std::ptrdiff_t cols, storage_order from,
                        storage_order to) {
  if (from == to) return x;
  std::vector<T> turned(x.size());
  const auto source = narrow::detail::stored_matrix(x.data(), rows, cols, from);
  const auto result = narrow::detail::stored_matrix(turned.data(), rows, cols, to);
  for (std::ptrdiff_t i = 0; i < rows; ++i)
    for (std::ptrdiff_t j = 0; j < cols; ++j) result(i, j) = source(i, j);
  return turned;
}

/// The header of a tensor, but for the bytes that follow.
template <class Tensor> message_header header_of(const Tensor& x, const std::string& format) {
  message_header h(format);
  h.order = static_cast<std::int64_t>(x.order());
  h.rows = x.rows();
  h.cols = x.cols();
  return h;
}

template <class Format> struct transport<block_tensor<Format>> {
  using tensor = block_tensor<Format>;
  using element_type = typename tensor::element_type;
  using scale_type = typename tensor::scale_type;

  class outgoing {
   public:
    explicit outgoing(const tensor& x) : tensor_(x) {}
    message_header header() const {
      message_header h = header_of(tensor_, format_name<Format>());
      h.bytes = tensor_.mantissas().size_bytes();
      h.scale_bytes = tensor_.scales().size_bytes();
      return h;
    }
    std::array<std::span<const std::byte>, 2> parts() const {
      return {std::as_bytes(tensor_.mantissas()), std::as_bytes(tensor_.scales())};
    }

   private:
    const tensor& tensor_;
  };

  class incoming {
   public:
    incoming(tensor& x, const message_header& h) : tensor_(x), header_(h) {
      require_format(h, format_name<Format>());
      mantissas_.resize(h.bytes / sizeof(element_type));
      scales_.resize(h.scale_bytes / sizeof(scale_type));
    }
    std::array<std::span<std::byte>, 2> parts() {
      return {std::as_writable_bytes(std::span(mantissas_)), std::as_writable_bytes(std::span(scales_))};
    }
    void commit() {
      const auto rows = static_cast<std::ptrdiff_t>(header_.rows),
                 cols = static_cast<std::ptrdiff_t>(header_.cols);
      tensor_.assign_stored(rows, cols,
                            in_order(std::move(mantissas_), rows, cols,
                                     static_cast<storage_order>(header_.order), tensor_.order()),
                            std::move(scales_));
    }

   private:
    tensor& tensor_;
    message_header header_;
    std::vector<element_type> mantissas_;
    std::vector<scale_type> scales_;
  };
};

/// Fixed point chosen at run time: the format comes with the elements.
template <> struct transport<fixed_tensor> {
  class outgoing {
   public:
    explicit outgoing(const fixed_tensor& x) : tensor_(x) {}
    message_header header() const {
      message_header h = header_of(tensor_, "dynamic_fixed");
      h.word_length = tensor_.format().wl;
      h.fraction_length = tensor_.format().fl;
      h.bytes = parts()[0].size();
      return h;
    }
    std::array<std::span<const std::byte>, 2> parts() const {
      return {std::visit([](const auto& stored) { return std::as_bytes(std::span(stored)); },
                         tensor_.mantissas()),
              {}};
    }

   private:
    const fixed_tensor& tensor_;
  };

  class incoming {
   public:
    incoming(fixed_tensor& x, const message_header& h)
        : tensor_(x),
          order_(static_cast<storage_order>(h.order)),
          stored_(fixed_tensor(
                      static_cast<std::ptrdiff_t>(h.rows), static_cast<std::ptrdiff_t>(h.cols),
                      (require_format(h, "dynamic_fixed"),
                       fixed_format(static_cast<int>(h.word_length), static_cast<int>(h.fraction_length))))
                      .mantissas()),
          format_(static_cast<int>(h.word_length), static_cast<int>(h.fraction_length)),
          rows_(static_cast<std::ptrdiff_t>(h.rows)),
          cols_(static_cast<std::ptrdiff_t>(h.cols)) {}
    std::array<std::span<std::byte>, 2> parts() {
      return {std::visit([](auto& stored) { return std::as_writable_bytes(std::span(stored)); }, stored_),
              {}};
    }
    void commit() {
      std::visit(
          [&](auto& stored) {
            tensor_.assign_stored(rows_, cols_, format_,
                                  in_order(std::move(stored), rows_, cols_, order_, tensor_.order()));
          },
          stored_);
    }

   private:
    fixed_tensor& tensor_;
    storage_order order_;
    std::remove_cvref_t<decltype(std::declval<fixed_tensor>().mantissas())> stored_;
    fixed_format format_;
    std::ptrdiff_t rows_, cols_;
  };
};

template <tensor_matrix X> struct transport<X> {
  using tensor = typename X::Tensor;

  class outgoing : public transport<tensor>::outgoing {
   public:
    explicit outgoing(const X& x) : transport<tensor>::outgoing(x.tensor()) {}
  };

  class incoming {
   public:
    incoming(X& x, const message_header& h)
        : matrix_(x), stored_(0, 0, x.tensor().order()), tensor_(stored_, h) {
      x.require_shape(static_cast<std::ptrdiff_t>(h.rows), static_cast<std::ptrdiff_t>(h.cols));
    }
    std::array<std::span<std::byte>, 2> parts() { return tensor_.parts(); }
    void commit() {
      tensor_.commit();
      matrix_.assign_stored(std::move(stored_));
    }

   private:
    X& matrix_;
    tensor stored_;
    typename transport<tensor>::incoming tensor_;
  };
};

/// use(bytes, count) for pieces that MPI can count.
template <class Byte, class Use> void in_pieces(std::span<Byte> bytes, const Use& use) {
  constexpr std::size_t most = std::size_t{1} << 30;
  for (std::size_t first = 0; first < bytes.size(); first += most) {
    const std::size_t n = std::min(most, bytes.size() - first);
    use(bytes.data() + first, static_cast<int>(n));
  }
}

inline void receive_bytes(std::span<std::byte> bytes, int source, int tag, MPI_Comm comm) {
  in_pieces(bytes, [&](std::byte* to, int count) {
    check(MPI_Recv(to, count, MPI_BYTE, source, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  });
}

/// Takes in what cannot be used, so that the messages after it are met at their beginning.
inline void discard(const message_header& h, int source, int tag, MPI_Comm comm) {
  std::vector<std::byte> nowhere;
  for (const std::uint64_t bytes : {h.bytes, h.scale_bytes}) {
    nowhere.resize(bytes);
    receive_bytes(nowhere, source, tag, comm);
  }
}

}  // namespace detail

/// What `send`, `receive` and `broadcast` take: contiguous ranges of numbers, `block_tensor`, `fixed_tensor`,
/// and with narrow/eigen.hpp dense Eigen matrices and expressions and matrices of block formats.
template <class X>
concept message = requires(const X& x) {
  detail::transport<X>(), typename detail::transport<X>::outgoing(x);
};

/// Sends x, with its shape and its format, for `receive` on another rank. Returns as MPI_Send does: when x
/// may change, which may be before it is received.
template <message X> void send(const X& x, int destination, int tag = 0, MPI_Comm comm = MPI_COMM_WORLD) {
  const typename detail::transport<X>::outgoing from(x);
  const detail::message_header header = from.header();
  detail::check(MPI_Send(&header, sizeof(header), MPI_BYTE, destination, tag, comm), "MPI_Send");
  for (const auto part : from.parts())
    detail::in_pieces(part, [&](const std::byte* bytes, int count) {
      detail::check(MPI_Send(bytes, count, MPI_BYTE, destination, tag, comm), "MPI_Send");
    });
}

/// Receives what `send` sent, bit for bit; x takes its shape, and fixed point chosen at run time its format.
/// Returns the rank that sent it, which `source` may leave open as MPI_ANY_SOURCE.
///
/// Throws  std::invalid_argument naming both formats or shapes where x cannot be what was sent. Then x is as it was, the
///         message is taken off the line, and the sender, which may be further on, does not learn of it.
template <message X>
int receive(X& x, int source = MPI_ANY_SOURCE, int tag = 0, MPI_Comm comm = MPI_COMM_WORLD) {
  detail::message_header header;
  MPI_Status status;
  detail::check(MPI_Recv(&header, sizeof(header), MPI_BYTE, source, tag, comm, &status), "MPI_Recv");
  using incoming = typename detail::transport<X>::incoming;
  std::optional<incoming> to;
  if (const auto refused = narrow::detail::refusal_of("", [&] { to.emplace(x, header); })) {
    detail::discard(header, status.MPI_SOURCE, tag, comm);
    detail::fail<std::invalid_argument>(*refused);
  }
  for (const auto part : to->parts()) detail::receive_bytes(part, status.MPI_SOURCE, tag, comm);
  to->commit();
  return status.MPI_SOURCE;
}

/// Gives all ranks the x of one of them, bit for bit; theirs take its shape. Collective.
///
/// Throws  std::invalid_argument on every rank, where one is about to do something else, names another root, or has an x
///         that cannot be what is sent; the x of all ranks are then as they were.
/// Cost    beside the elements three messages of some hundred bytes.
template <message X> void broadcast(X& x, int root = 0, MPI_Comm comm = MPI_COMM_WORLD) {
  detail::require_same("a broadcast", "what rank " + std::to_string(root) + " has", comm);
  using transport = detail::transport<X>;
  const bool sends = rank(comm) == root;
  detail::message_header header;
  std::optional<typename transport::outgoing> from;
  if (sends) header = from.emplace(x).header();
  detail::check(MPI_Bcast(&header, sizeof(header), MPI_BYTE, root, comm), "MPI_Bcast");
  std::optional<typename transport::incoming> to;
  std::optional<std::string> refused;
  if (!sends) refused = narrow::detail::refusal_of("", [&] { to.emplace(x, header); });
  detail::require_all(refused, comm);
  for (std::size_t part = 0; part < 2; ++part) {
    const auto pass = [&](const auto* bytes, int count) {
      detail::check(MPI_Bcast(const_cast<std::byte*>(bytes), count, MPI_BYTE, root, comm), "MPI_Bcast");
    };
    if (sends)
      detail::in_pieces(from->parts()[part], pass);
    else
      detail::in_pieces(to->parts()[part], pass);
  }
  if (!sends) to->commit();
}

}  // namespace narrow::mpi
