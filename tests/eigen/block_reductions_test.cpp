// Reductions of matrices in block formats. Inner products: each is what the product of a row and a column is,
// and of powers of two as scales and sums that a float holds, the exact one.
#include "every_isa.hpp"
#include "tensor_formats.hpp"

using namespace test;
using Eigen::Dynamic;

namespace {

using formats = std::tuple<in_order<narrow::bfp<8>, Eigen::ColMajor>, in_order<narrow::int8, Eigen::RowMajor>,
                           in_order<narrow::bfp<8, narrow::tile<16, 16>>, Eigen::ColMajor>,
                           in_order<narrow::bfp<12, narrow::per_row>, Eigen::RowMajor>>;

template <class Format>
inline constexpr bool sums_fit_floats = narrow::block_format<Format> &&
                                        sizeof(typename Format::element_type) == 1 &&
                                        !std::same_as<Format, narrow::int8>;

constexpr Eigen::Index sizes[] = {1, 2, 5, 16, 31, 64, 65, 100, 300};

/// By every way to write it; a and b have one length.
template <class Format, class A, class B>
void check(tally& count, const std::string& name, const A& a, const B& b) {
  const auto row = [](const auto& x) -> decltype(auto) {
    if constexpr (std::remove_cvref_t<decltype(x)>::RowsAtCompileTime == 1)
      return x;
    else
      return x.transpose();
  };
  const auto column = [](const auto& x) -> decltype(auto) {
    if constexpr (std::remove_cvref_t<decltype(x)>::RowsAtCompileTime == 1)
      return x.transpose();
    else
      return x;
  };
  const auto expect = [&](const char* form, float got, float wanted) {
    count.expect(std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(wanted),
                 [&] { return name + ", " + form; });
  };
  const auto product = [&](const auto& x, const auto& y) {
    const Eigen::MatrixXf result = row(x) * column(y);
    return result(0, 0);
  };
  expect("a.dot(b)", a.dot(b), product(a, b));
  expect("narrow::dot", narrow::dot(a, b), product(a, b));
  expect("a.squaredNorm()", a.squaredNorm(), product(a, a));
  if constexpr (sums_fit_floats<Format>) {
    double exact = 0;
    for (Eigen::Index i = 0; i < a.size(); ++i) exact += double{a.coeff(i)} * double{b.coeff(i)};
    expect("exact", a.dot(b), static_cast<float>(exact));
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Inner products of vectors in blocks are products of rows and columns", "[tensor]",
                        formats) {
  using format = typename TestType::format;
  using M = typename TestType::template matrix<>;
  using column = typename TestType::template matrix<Dynamic, 1>;
  using row = typename TestType::template matrix<1, Dynamic>;
  constexpr std::size_t forms = sums_fit_floats<format> ? 4 : 3;
  tally count;
  std::size_t pairs = 0;
  for_each_isa([&](const std::string& isa) {
    for (const Eigen::Index n : sizes) {
      const auto next = [&](const auto& a, const auto& b, const char* name) {
        check<format>(count, isa + ", " + std::to_string(n) + " " + name, a, b);
        ++pairs;
      };
      const Eigen::MatrixXf x = numbers(n, n), y = numbers(n, n, 2);
      const M m = x, other = y;
      const column a = x.col(0), b = y.col(0);
      const row c = x.row(0), d = y.row(0);
      next(a, b, "columns");
      next(c, d, "rows");
      next(a.head((n + 1) / 2), b.tail((n + 1) / 2), "parts");
      next(a.transpose(), d, "a turned column and a row");
      next(m.col(n / 2), other.col(n - 1), "columns of matrices");
      next(m.row(n / 2), other.row(n - 1), "rows of matrices");
      next(m.row(n / 2).tail(n / 2 + 1), other.row(0).head(n / 2 + 1), "parts of rows");
      next(m.col(0), b, "a column of a matrix and a vector");
      const auto turned = m.transpose();
      next(turned.col(n / 2), b, "a row as a column");
    }
  });
  count.require(forms * pairs);
}

TEMPLATE_LIST_TEST_CASE("Rows and columns of matrices in blocks are reduced as those of their floats",
                        "[tensor]", formats) {
  tally count;
  for (const auto& shape : {std::pair{1, 1}, {5, 3}, {1, 17}, {33, 1}, {16, 12}, {67, 40}}) {
    const Eigen::Index rows = shape.first, cols = shape.second;
    const typename TestType::template matrix<> m = numbers(rows, cols);
    const Eigen::Matrix<float, Dynamic, Dynamic, TestType::order> x = m;
    const auto expect = [&](const char* form, const auto& reduce) {
      count.expect(reduce(m) == reduce(x), [&] { return std::to_string(rows) + " rows, " + form; });
    };
    expect("sums of columns", [](const auto& a) { return a.colwise().sum().eval(); });
    expect("sums of rows", [](const auto& a) { return a.rowwise().sum().eval(); });
    expect("means", [](const auto& a) { return a.rowwise().mean().eval(); });
    const Eigen::RowVectorXf norms = m.colwise().norm();  // from exact sums, which those of floats are not
    count.expect(norms.isApprox(x.colwise().norm(), 1e-6f),
                 [&] { return std::to_string(rows) + " rows, norms"; });
    expect("largest", [](const auto& a) { return a.rowwise().maxCoeff().eval(); });
    expect("products", [](const auto& a) { return a.colwise().prod().eval(); });
    expect("how many are not zero", [](const auto& a) { return a.colwise().count().eval(); });
    expect("of a transpose", [](const auto& a) { return a.transpose().colwise().sum().eval(); });
    expect("of a part", [](const auto& a) { return a.topRows(a.rows() / 2 + 1).rowwise().sum().eval(); });
    expect("in an expression", [](const auto& a) { return (2 * a.colwise().sum() - a.row(0)).eval(); });
    expect("with a functor",
           [](const auto& a) { return a.colwise().redux([](float s, float t) { return s - t; }).eval(); });
  }
  count.require(6 * 11);
}

TEST_CASE("Inner products of vectors in different block formats, and of none", "[tensor]") {
  tally count;
  for_each_isa([&](const std::string& isa) {
    const Eigen::VectorXf x = numbers(100, 1), y = numbers(100, 1, 2);
    const Eigen::Matrix<narrow::bfp<8>, Dynamic, 1> a = x;
    const Eigen::Matrix<narrow::bfp<12>, Dynamic, 1> b = y;
    const Eigen::MatrixXf product = a.transpose() * b;
    count.expect(a.dot(b) == product(0, 0), [&] { return isa + ": bfp<8> and bfp<12>"; });
    const Eigen::Matrix<narrow::int8, Dynamic, 1> empty(0);
    count.expect(empty.dot(empty) == 0.0f && narrow::dot(empty, empty) == 0.0f,
                 [&] { return isa + ": nothing"; });
    Eigen::Matrix<narrow::bfp<8>, Dynamic, 1> zero = Eigen::VectorXf::Zero(40);
    count.expect(zero.dot(zero) == 0.0f, [&] { return isa + ": zeros"; });
  });
  count.require(3 * isa_count());
}
