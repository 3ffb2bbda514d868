// Eigen's own numbers of 16 bits: from and to narrow scalars one by one and by `cast`, and their matrices
// seen as narrow ones.
#include <vector>

#include <narrow/eigen.hpp>

#include "../fixed_oracle.hpp"
#include "../policies.hpp"
#include "../tally.hpp"

using namespace test;
using namespace narrow;

namespace {

template <class T> using column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T> using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <class Foreign> Foreign foreign(std::uint32_t code) {
  return Eigen::numext::bit_cast<Foreign>(static_cast<std::uint16_t>(code));
}
template <class Foreign> std::uint16_t code_of(Foreign x) {
  return Eigen::numext::bit_cast<std::uint16_t>(x);
}

/// All codes of a type of Eigen's.
template <class Foreign> column<Foreign> all_codes() {
  column<Foreign> result(0x10000);
  for (std::uint32_t code = 0; code < 0x10000; ++code) result[code] = foreign<Foreign>(code);
  return result;
}

/// What Eigen takes a number for, seen from T.
template <narrow_scalar T> bool is_rounded(float x, T result) {
  using oracle::kind;
  if (std::isnan(x)) return narrow_fixed<T> ? result == T(0) : isnan(result);
  const oracle::datum number = std::isinf(x) ? oracle::datum{kind::infinite, x < 0, 0} : oracle::datum_of(x);
  if constexpr (narrow_float<T>)
    return oracle::matches(oracle::rounded(oracle::table_of<T>(), number), result);
  else
    return oracle::matches(oracle::rounded(T::fraction_length, oracle::operand(number)), result);
}

template <class Foreign, class T> void check_from(tally& count) {
  const auto all = all_codes<Foreign>();
  const column<T> cast = all.template cast<T>();
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto x = static_cast<float>(all[code]);
    count.expect(is_rounded(x, cast[code]) && T(all[code]).bits() == cast[code].bits(),
                 [&] { return name_of<T>() + text(" from", code, cast[code].bits()); });
  }
}

}  // namespace

TEST_CASE("numbers and matrices of Eigen's half and bfloat16 become narrow ones", "[eigen][foreign]") {
  STATIC_REQUIRE(std::convertible_to<Eigen::half, fp16>);
  STATIC_REQUIRE(std::convertible_to<Eigen::bfloat16, bf16>);
  STATIC_REQUIRE(!std::convertible_to<Eigen::half, bf16>);
  tally count;
  check_from<Eigen::half, fp16>(count);
  check_from<Eigen::half, bf16>(count);
  check_from<Eigen::half, fp8_e4m3fn>(count);
  check_from<Eigen::bfloat16, bf16>(count);
  check_from<Eigen::bfloat16, fp16>(count);
  check_from<Eigen::bfloat16, fixed<16, 8>>(count);
  count.require(6 * 0x10000);
}

TEST_CASE("narrow matrices become Eigen's half and bfloat16, rounded once", "[eigen][foreign]") {
  tally count;
  const auto all_halves = all_codes<Eigen::half>();
  column<fp16> halves(0x10000);
  column<bf16> brains(0x10000);
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    halves[code] = fp16::from_bits(static_cast<std::uint16_t>(code));
    brains[code] = bf16::from_bits(static_cast<std::uint16_t>(code));
  }
  const column<Eigen::half> same = halves.cast<Eigen::half>(), rounded = brains.cast<Eigen::half>();
  const column<Eigen::bfloat16> to_brain = halves.cast<Eigen::bfloat16>();
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    count.expect(
        isnan(halves[code]) ? std::isnan(static_cast<float>(same[code])) : code_of(same[code]) == code,
        [&] { return text("half", code); });
    count.expect(is_rounded(static_cast<float>(brains[code]), fp16::from_bits(code_of(rounded[code]))),
                 [&] { return text("half from bf16", code); });
    count.expect(is_rounded(static_cast<float>(halves[code]), bf16::from_bits(code_of(to_brain[code]))),
                 [&] { return text("bfloat16 from fp16", code); });
  }
  count.require(3 * 0x10000);
  // By way of a float, this would be half-way between two numbers.
  column<fixed<32, 28>> x(1);
  x[0] = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -28);
  REQUIRE(static_cast<float>(x.cast<Eigen::half>()(0)) == 1 + std::ldexp(1.0f, -10));
  x[0] = 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -28);
  REQUIRE(static_cast<float>(x.cast<Eigen::bfloat16>()(0)) == 1 + std::ldexp(1.0f, -7));
  // In the middle of an expression.
  const matrix<Eigen::half> two = (2 * matrix<fp16>::Ones(2, 3)).cast<Eigen::half>();
  REQUIRE(two.cast<fp16>().sum() == 12);
}

TEST_CASE("memory of Eigen's half and bfloat16 is seen as narrow matrices, and back", "[eigen][foreign]") {
  // Eigen's own sum of so many ones in bfloat16 is 256.
  const column<Eigen::bfloat16> ones = column<Eigen::bfloat16>::Constant(4096, Eigen::bfloat16(1));
  REQUIRE(view_as<bf16>(ones).sum() == 4096);

  matrix<Eigen::half> h(3, 5);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) h(i, j) = Eigen::half(static_cast<float>(10 * i + j));
  auto x = view_as<fp16>(h);
  REQUIRE(static_cast<void*>(x.data()) == h.data());
  REQUIRE((x.rows() == 3 && x.cols() == 5));
  REQUIRE(x(2, 3) == 23);
  x *= 2;
  REQUIRE(static_cast<float>(view_as<Eigen::half>(x)(2, 3)) == 46);

  const auto block = view_as<fp16>(h.block(1, 1, 2, 3));
  REQUIRE(block == x.block(1, 1, 2, 3));
  const auto& constant = h;
  auto row = view_as<fp16>(constant.row(1));
  STATIC_REQUIRE(std::same_as<decltype(row.data()), const fp16*>);
  REQUIRE(row == x.row(1));
  REQUIRE(view_as<fp16>(h.transpose()) == x.transpose());
  REQUIRE(view_as<fp16>(h.array()).maxCoeff() == 48);

  std::vector<std::uint16_t> codes(6, 0x3f80);
  using by_rows = Eigen::Matrix<std::uint16_t, 2, 3, Eigen::RowMajor>;
  const Eigen::MatrixXf product = view_as<bf16>(Eigen::Map<by_rows>(codes.data())) * column<bf16>::Ones(3);
  REQUIRE(product(1, 0) == 3);
}
