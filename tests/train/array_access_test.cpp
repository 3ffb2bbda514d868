// Every kind of array that can be read, into every kind that can be written.
#include "narrow/train/array_access.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "narrow/eigen.hpp"
#include "narrow/train/loss_scaler.hpp"

namespace {

using Eigen::Dynamic;
using narrow::fp16;
using row_major = Eigen::Matrix<float, Dynamic, Dynamic, Eigen::RowMajor>;
using col_major = Eigen::MatrixXf;

/// What stands between reading and writing in every helper: element k of the one to element k of the other.
template <class From, class To> void copy(const From& from, To&& to) {
  const auto in = narrow::detail::read_array(from);
  auto out = narrow::detail::write_array(to, in.layout(), {"copy", "from", "to"});
  REQUIRE(in.elements().size() == out.elements().size());
  for (std::size_t k = 0; k < in.elements().size(); ++k)
    out.elements()[k] = static_cast<float>(in.elements()[k]);
  out.commit();
}

template <class From, class To> std::string refusal(const From& from, To&& to) {
  try {
    copy(from, to);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

/// Coefficient (i, j) is 10 i + j.
template <class M> M numbered(Eigen::Index rows, Eigen::Index cols) {
  return M::NullaryExpr(rows, cols, [](Eigen::Index i, Eigen::Index j) {
    return static_cast<typename M::Scalar>(static_cast<float>(10 * i + j));
  });
}

template <class X> bool is_read_in_place(const X& x, const void* data) {
  return static_cast<const void*>(narrow::detail::read_array(x).elements().data()) == data;
}

static_assert(narrow::readable_array<std::vector<fp16>> && narrow::readable_array<std::span<const float>> &&
              narrow::readable_array<float[3]> && narrow::readable_array<col_major> &&
              narrow::readable_array<Eigen::Block<const row_major>>);
static_assert(!narrow::readable_array<float> && !narrow::readable_array<std::vector<bool>>);
static_assert(narrow::writable_array_of<std::vector<float>&, float> &&
              narrow::writable_array_of<std::span<float>, float> &&
              narrow::writable_array_of<const std::span<float>&, float> &&
              narrow::writable_array_of<col_major&, float> &&
              narrow::writable_array_of<Eigen::Block<col_major>, float>);
static_assert(!narrow::writable_array_of<std::vector<double>&, float> &&
              !narrow::writable_array_of<const col_major&, float> &&
              !narrow::writable_array_of<decltype(col_major() + col_major()), float>);

}  // namespace

TEST_CASE("ranges resize or must match") {
  const std::vector<float> from = {1, 2, 3};
  std::vector<float> grown, shrunk(7);
  copy(from, grown);
  copy(from, shrunk);
  CHECK(grown == from);
  CHECK(shrunk == from);

  std::array<float, 3> fits{};
  copy(from, fits);
  CHECK(fits[2] == 3);
  float plain[3] = {};
  copy(fits, plain);
  CHECK(plain[1] == 2);
  std::vector<float> memory(5);
  copy(plain, std::span(memory).subspan(1, 3));
  CHECK(memory == std::vector<float>{0, 1, 2, 3, 0});

  std::array<float, 4> longer{};
  CHECK(refusal(from, longer) == "copy: shapes do not match: from is 3, to is 4");
  CHECK(refusal(from, std::span(memory)) == "copy: shapes do not match: from is 3, to is 5");
}

TEMPLATE_TEST_CASE("a matrix reaches every kind of matrix by row and column", "", col_major, row_major,
                   (Eigen::Matrix<fp16, Dynamic, Dynamic>), (Eigen::Matrix<fp16, 3, 4, Eigen::RowMajor>),
                   Eigen::ArrayXXf) {
  const TestType from = numbered<TestType>(3, 4);
  const col_major expected = numbered<col_major>(3, 4);

  col_major empty;
  copy(from, empty);
  CHECK(empty == expected);
  row_major other_size(9, 9);
  copy(from, other_size);
  CHECK(other_size == expected);
  Eigen::ArrayXXf array(3, 4);
  copy(from, array);
  CHECK(array.matrix() == expected);
  Eigen::Matrix<float, 3, 4, Eigen::RowMajor> fixed_size;
  copy(from, fixed_size);
  CHECK(fixed_size == expected);
  Eigen::Matrix<float, Dynamic, Dynamic, Eigen::ColMajor, 5, 5> limited;
  copy(from, limited);
  CHECK(limited == expected);

  col_major transposed(4, 3);
  copy(from, transposed.transpose());
  CHECK(transposed == expected.transpose());
  col_major reversed(3, 4);
  copy(from, reversed.rowwise().reverse());
  CHECK(reversed.rowwise().reverse() == expected);

  for (const Eigen::Index outer : {3, 6}) {
    std::vector<float> memory(48, -1);
    Eigen::Map<col_major, 0, Eigen::Stride<Dynamic, Dynamic>> strided(memory.data(), 3, 4, {2 * outer, 2});
    copy(from, strided);
    CHECK(strided == expected);
    CHECK(std::count(memory.begin(), memory.end(), -1.0f) == 48 - 12);
  }

  row_major around = row_major::Constant(6, 6, -1);
  copy(from, around.block(1, 2, 3, 4));
  CHECK(around.block(1, 2, 3, 4) == expected);
  CHECK(around.sum() == expected.sum() - (36 - 12));
  Eigen::Ref<row_major> ref = around.block(2, 0, 3, 4);
  copy(from, ref);
  CHECK(around.block(2, 0, 3, 4) == expected);

  // Read through views and expressions.
  col_major result;
  copy(from.transpose(), result);
  CHECK(result == expected.transpose());
  copy(from.block(1, 1, 2, 3), result);
  CHECK(result == expected.block(1, 1, 2, 3));
  copy(from.row(1), result);
  CHECK(result == expected.row(1));
  copy(from + from, result);
  CHECK(result == 2 * expected);
  copy(from.topRows(0), result);
  CHECK((result.rows() == 0 && result.cols() == 4));
}

TEST_CASE("a matrix that cannot take the shape is refused with both shapes") {
  const col_major from = numbered<col_major>(3, 4);
  col_major to(4, 3);
  CHECK(refusal(from, to.block(0, 0, 4, 3)) == "copy: shapes do not match: from is 3 x 4, to is 4 x 3");
  CHECK(refusal(from, Eigen::Ref<col_major>(to)) == "copy: shapes do not match: from is 3 x 4, to is 4 x 3");
  Eigen::Matrix3f fixed_size;
  CHECK(refusal(from, fixed_size) == "copy: shapes do not match: from is 3 x 4, to is 3 x 3");
  Eigen::Matrix<float, Dynamic, Dynamic, Eigen::ColMajor, 3, 3> limited(2, 2);
  CHECK(refusal(from, limited) == "copy: shapes do not match: from is 3 x 4, to is 2 x 2");
  Eigen::VectorXf vector(12);
  CHECK(refusal(from, vector) == "copy: shapes do not match: from is 3 x 4, to is 12 x 1");
  std::array<float, 11> range{};
  CHECK(refusal(from, range) == "copy: shapes do not match: from is 3 x 4, to is 11");
  CHECK(refusal(std::vector<float>(5), to.row(0)) == "copy: shapes do not match: from is 5, to is 1 x 3");
}

TEST_CASE("a range has the shape of any matrix of its size") {
  const std::vector<float> six = {0, 1, 2, 3, 4, 5};
  col_major by_columns(2, 3);
  copy(six, by_columns);
  CHECK(by_columns == (col_major(2, 3) << 0, 2, 4, 1, 3, 5).finished());
  row_major by_rows(2, 3);
  copy(six, by_rows);
  CHECK(by_rows == (col_major(2, 3) << 0, 1, 2, 3, 4, 5).finished());
  col_major around = col_major::Zero(4, 4);
  copy(six, around.block(1, 1, 2, 3));
  CHECK(around.block(1, 1, 2, 3) == by_columns);
  CHECK(around.sum() == 15);

  col_major column;
  copy(six, column);
  CHECK((column.rows() == 6 && column.cols() == 1 && column(5, 0) == 5));
  Eigen::RowVectorXf row;
  copy(six, row);
  CHECK((row.size() == 6 && row(5) == 5));

  std::vector<float> back;
  copy(by_columns, back);
  CHECK(back == six);
  copy(by_rows.transpose(), back);
  CHECK(back == six);
}

TEST_CASE("what lies in memory without gaps is not copied") {
  col_major m = numbered<col_major>(4, 4);
  CHECK(is_read_in_place(m, m.data()));
  CHECK(is_read_in_place(m.transpose(), m.data()));
  CHECK(is_read_in_place(m.rightCols(2), &m(0, 2)));
  CHECK(is_read_in_place(m.col(1), &m(0, 1)));
  CHECK(is_read_in_place(m.block(1, 1, 1, 1), &m(1, 1)));
  CHECK_FALSE(is_read_in_place(m.row(1), &m(1, 0)));
  CHECK_FALSE(is_read_in_place(m.topRows(2), m.data()));
  const auto output_data = [](auto&& x, const narrow::array_layout& layout) {
    return narrow::detail::write_array(x, layout, {}).elements().data();
  };
  const auto layout = narrow::detail::read_array(m).layout();
  CHECK(output_data(m, layout) == m.data());
  CHECK(output_data(m.transpose(), layout) != m.data());
}

TEST_CASE("expressions of narrow floats are read wide") {
  using half_matrix = Eigen::Matrix<fp16, Dynamic, Dynamic>;
  const half_matrix a = half_matrix::Constant(2, 2, fp16(300));
  col_major result;
  copy(a * a, result);  // 180000 is beyond fp16
  CHECK(result == col_major::Constant(2, 2, 180000));
  copy(a.cwiseProduct(a), result);
  CHECK(result == col_major::Constant(2, 2, 90000));
  static_assert(std::same_as<narrow::array_value_t<half_matrix>, fp16>);
}

TEST_CASE("a scaler unscales matrices in place and by row and column") {
  narrow::loss_scaler scaler = narrow::static_scale(2);
  const Eigen::Matrix<fp16, Dynamic, Dynamic, Eigen::RowMajor> grads =
      numbered<Eigen::Matrix<fp16, Dynamic, Dynamic, Eigen::RowMajor>>(3, 2);
  col_major out;
  CHECK(scaler.unscale(grads, out));
  CHECK(out == 0.5f * numbered<col_major>(3, 2));
  CHECK(scaler.unscale(out, out));
  CHECK(out == 0.25f * numbered<col_major>(3, 2));
  col_major square = numbered<col_major>(3, 3);
  CHECK(scaler.unscale(square.transpose(), square));
  CHECK(square == 0.5f * numbered<col_major>(3, 3).transpose());
}
