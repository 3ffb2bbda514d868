// Eigen's matrices in files: shapes, storage orders, what fits into what.
#include <sstream>

#include <narrow/eigen.hpp>
#include <narrow/files/npy.hpp>
#include <narrow/files/safetensors.hpp>

#include "../catch.hpp"

using namespace narrow;

namespace {

template <class T> using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T> using by_rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class X> std::string written(const X& x) {
  std::ostringstream out;
  write_npy(out, x);
  return out.str();
}
template <class X> void read(const std::string& bytes, X&& x) {
  std::istringstream in(bytes);
  read_npy(in, x);
}
template <class X> bool is_refused(const std::string& bytes, X&& x, const std::string& as) {
  const typename std::remove_cvref_t<X>::PlainObject before = x;
  try {
    read(bytes, x);
  } catch (const std::runtime_error& error) {
    INFO(error.what());
    return std::string(error.what()).find(as) != std::string::npos && x == before;
  }
  return false;
}

/// The numbers 0, 1, 2, ... by rows.
template <class X> X counted(int rows, int cols) {
  X x(rows, cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) x(i, j) = typename X::Scalar(i * cols + j);
  return x;
}

}  // namespace

TEST_CASE("matrices of either order and their parts are the same array in a file", "[eigen][files]") {
  const auto x = counted<matrix<fp16>>(3, 4);
  const std::string file = written(x);
  REQUIRE(file == written(by_rows<fp16>(x)));
  REQUIRE(file == written(shaped_array<fp16>{{3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}));
  REQUIRE(file == written(x.array()));
  REQUIRE(file == written(2 * x - x));
  REQUIRE(written(x.block(1, 1, 2, 2)) == written(matrix<fp16>(x.block(1, 1, 2, 2))));
  REQUIRE(written(x.transpose()) == written(matrix<fp16>(x.transpose())));
  REQUIRE(written(x.row(1)) == written(std::vector<fp16>{4, 5, 6, 7}));
  REQUIRE(written(matrix<fixed<8, 4>>(2, 0)) == written(shaped_array<fixed<8, 4>>{{2, 0}, {}}));
  REQUIRE(written(x.cast<float>() * 0.5f) == written(matrix<float>(x.cast<float>() * 0.5f)));
}

TEST_CASE("a file is read into what has its shape or can have it", "[eigen][files]") {
  const auto x = counted<matrix<fp16>>(3, 4);
  const std::string file = written(x), vector = written(std::vector<fp16>{1, 2, 3});
  matrix<fp16> any;
  by_rows<fp16> other(1, 1);
  Eigen::Matrix<fp16, 3, 4> fixed_size;
  read(file, any);
  read(file, other);
  read(file, fixed_size);
  REQUIRE((any == x && other == x && fixed_size == x));
  auto large = counted<matrix<fp16>>(5, 6);
  const matrix<fp16> before = large;
  read(file, large.block(1, 2, 3, 4));
  REQUIRE(large.block(1, 2, 3, 4) == x);
  REQUIRE(large.row(0) == before.row(0));
  Eigen::Array<fp16, Eigen::Dynamic, 4> array;
  read(file, array);
  REQUIRE(array.matrix() == x);

  Eigen::Matrix<fp16, Eigen::Dynamic, 1> column;
  Eigen::Matrix<fp16, 1, Eigen::Dynamic> row;
  read(vector, column);
  read(vector, row);
  read(vector, any);
  REQUIRE((column.size() == 3 && row.size() == 3 && any.rows() == 3 && any.cols() == 1 && row(2) == 3));
  read(written(shaped_array<fp16>{{}, {7}}), any);
  REQUIRE((any.size() == 1 && any(0, 0) == 7));

  REQUIRE(is_refused(file, column, "must be that of a matrix of any x 1"));
  REQUIRE(is_refused(file, large, "nothing") == false);  // takes the shape
  REQUIRE(is_refused(file, large.block(0, 0, 2, 2), "(3, 4), which must be that of a matrix of 2 x 2"));
  Eigen::Matrix<fp16, 4, 3> turned = Eigen::Matrix<fp16, 4, 3>::Ones();
  REQUIRE(is_refused(file, turned, "must be that of a matrix of 4 x 3"));
  Eigen::Matrix<fp16, Eigen::Dynamic, Eigen::Dynamic, 0, 2, 5> small = Eigen::Matrix<fp16, 2, 2>::Ones();
  REQUIRE(is_refused(file, small, "must be that of a matrix of any x any"));
  REQUIRE(is_refused(written(shaped_array<fp16>{{1, 1, 1}, {7}}), any, "(1, 1, 1)"));
}

TEST_CASE("matrices are tensors of a safetensors file", "[eigen][files]") {
  const auto x = counted<matrix<bf16>>(3, 4);
  const Eigen::VectorXf b = Eigen::VectorXf::LinSpaced(5, 0, 1);
  safetensors_writer writer;
  writer.add("w", x);
  writer.add("twice", 2 * x);
  writer.add("b", b);
  std::stringstream file;
  writer.write(file);
  safetensors_reader reader(file);
  matrix<bf16> y(5, 3);
  Eigen::VectorXf c;
  reader.read("twice", y);
  reader.read("b", c);
  REQUIRE((y == 2 * x && c == b));
  reader.read("w", y);
  REQUIRE(y == x);
  REQUIRE(reader.entries()[1].shape.size() == 2);
}
