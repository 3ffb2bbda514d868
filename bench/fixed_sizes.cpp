// Matrices and vectors whose sizes are known while compiling, several one after the other.
#include "side.hpp"

namespace narrow_bench {

namespace {

constexpr std::size_t repeats = 32;

template <int N> struct of_size {
  template <class T, class Format> struct operands {
    using square = Eigen::Matrix<T, N, N>;
    using column = Eigen::Matrix<T, N, 1>;
    std::vector<square> a, b, product;
    std::vector<column> x, y, image;
    std::vector<T> number;

    operands() : product(repeats), image(repeats), number(repeats) {
      for (unsigned i = 0; i < repeats; ++i) {
        a.push_back(filled<square, Format>(N, N, 4 * i));
        b.push_back(filled<square, Format>(N, N, 4 * i + 1));
        x.push_back(filled<column, Format>(N, 1, 4 * i + 2));
        y.push_back(filled<column, Format>(N, 1, 4 * i + 3));
      }
      for (square& m : product) m.setZero();
      for (column& v : image) v.setZero();
    }
    /// Everything that may have been computed.
    Eigen::ArrayXd result() const {
      constexpr Index each = N * N + N + 1;
      Eigen::ArrayXd all(each * static_cast<Index>(repeats));
      Index at = 0;
      for (std::size_t i = 0; i < repeats; ++i) {
        const Eigen::Matrix<double, N, N> wide = product[i].template cast<double>();
        const Eigen::Matrix<double, N, 1> wide_image = image[i].template cast<double>();
        all.segment(at, N * N) = wide.reshaped().array();
        all.segment(at + N * N, N) = wide_image.array();
        all[at + each - 1] = static_cast<double>(number[i]);
        at += each;
      }
      return all;
    }
  };
};

/// Has each result in memory before the next operation begins.
void settle() { asm volatile("" : : : "memory"); }

template <int N> about named(const std::string& name, double flop, double roundings = 1) {
  return {"fixed_size/" + name, std::to_string(N), {"FLOP/s", flop * repeats}, 0, roundings};
}

template <int N> void offer_products(operations& to) {
  constexpr double n = N;
  offer<scalar_formats, of_size<N>::template operands>(to, named<N>("gemm", 2 * n * n * n), [](auto& m) {
    for (std::size_t i = 0; i < repeats; ++i) {
      m.product[i].noalias() = m.a[i] * m.b[i];
      settle();
    }
  });
  offer<scalar_formats, of_size<N>::template operands>(to, named<N>("gemv", 2 * n * n), [](auto& m) {
    for (std::size_t i = 0; i < repeats; ++i) {
      m.image[i].noalias() = m.a[i] * m.x[i];
      settle();
    }
  });
}

template <int N> void offer_reductions(operations& to) {
  constexpr double n = N;
  const auto each = [](auto reduce) {
    return [reduce](auto& m) {
      for (std::size_t i = 0; i < repeats; ++i) {
        m.number[i] = reduce(m.x[i], m.y[i]);
        settle();
      }
    };
  };
  offer<scalar_formats, of_size<N>::template operands>(
      to, named<N>("sum", n), each([](const auto& x, const auto&) { return x.sum(); }));
  offer<scalar_formats, of_size<N>::template operands>(
      to, named<N>("dot", 2 * n), each([](const auto& x, const auto& y) { return x.dot(y); }));
  offer<scalar_formats, of_size<N>::template operands>(
      to, named<N>("norm", 2 * n, 3), each([](const auto& x, const auto&) { return x.norm(); }));
}

}  // namespace

namespace NARROW_BENCH_SIDE {

NARROW_BENCH_OFFERED operations fixed_sizes() {
  operations result;
  offer_products<2>(result);
  offer_products<3>(result);
  offer_products<4>(result);
  offer_products<8>(result);
  offer_reductions<4>(result);
  offer_reductions<16>(result);
  return result;
}

}  // namespace NARROW_BENCH_SIDE

}  // namespace narrow_bench
