// Fuzz target: products and sums. On every instruction set those of integers are the same bits, those of
// floating numbers within their bound of the sum in double.
#include "sums.hpp"

using namespace narrow;

namespace {

using fuzz::sums;
using place = std::ptrdiff_t;

/// One in four is large enough for kernels that have to repay what they pack, every other depth one that
/// fills their panels.
struct shape {
  place rows, cols, depth;
  explicit shape(fuzz::input& in) : shape(in, in.below(4) == 0 ? 100 : 36) {}

 private:
  shape(fuzz::input& in, std::size_t most)
      : rows(static_cast<place>(1 + in.below(most))),
        cols(static_cast<place>(1 + in.below(most))),
        depth(static_cast<place>(in.below(2) == 0 ? 16 * (1 + in.below(8)) : 1 + in.below(100))) {}
};

/// A matrix by rows or by columns, perhaps with gaps, of the numbers of the input's words.
template <class T> struct factor {
  std::vector<T> numbers;
  matrix_view<const T> view;

  factor(fuzz::input& in, const fuzz::words& words, place rows, place cols) : view{} {
    const place gap = static_cast<place>(in.below(2));
    const bool by_columns = in.below(2) != 0;
    const place lines = by_columns ? cols : rows, length = (by_columns ? rows : cols) + gap;
    for (place i = 0; i < lines * length; ++i)
      numbers.push_back(words.number<T>(static_cast<std::size_t>(i)));
    view = by_columns ? matrix_view<const T>{numbers.data(), rows, cols, 1, length}
                      : matrix_view<const T>{numbers.data(), rows, cols, length, 1};
  }
};

/// The coefficients of a product, row by row; value(x, i, j) is that of a factor.
template <class A, class B, class Value>
std::vector<sums> sums_of(const shape& s, const A& a, const B& b, const Value& value) {
  std::vector<sums> result;
  for (place i = 0; i < s.rows; ++i)
    for (place j = 0; j < s.cols; ++j) {
      sums& sum = result.emplace_back();
      for (place k = 0; k < s.depth; ++k) sum.add(value(a, i, k), value(b, k, j));
    }
  return result;
}

void check_bounds(const std::string& isa, const std::vector<sums>& right, const std::vector<float>& got) {
  for (std::size_t i = 0; i < right.size(); ++i)
    if (right[i].bounds())
      fuzz::require(right[i].allows(double{got[i]}), [&] {
        return isa + ": coefficient " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
               std::to_string(right[i].value);
      });
    else if (!right[i].is_finite && std::isnan(right[i].value))
      fuzz::require(std::isnan(got[i]), [&] { return isa + ": no NaN"; });
}

template <class A, class B> void check_floating(fuzz::input& in) {
  const shape s(in);
  const fuzz::words words(in);
  const factor<A> a(in, words, s.rows, s.depth);
  const factor<B> b(in, words, s.depth, s.cols);
  const auto right = sums_of(s, a.view, b.view, [](const auto& x, place i, place j) {
    return static_cast<double>(static_cast<float>(x(i, j)));
  });
  fuzz::for_each_isa([&](const std::string& isa) {
    std::vector<float> c(static_cast<std::size_t>(s.rows * s.cols));
    gemm(a.view, b.view, row_major(c, s.rows, s.cols));
    check_bounds(isa, right, c);
  });
}

template <class T> void check_fixed(fuzz::input& in) {
  const shape s(in);
  const fuzz::words words(in);
  const factor<T> a(in, words, s.rows, s.depth), b(in, words, s.depth, s.cols);
  std::vector<T> expected;
  for (place i = 0; i < s.rows; ++i)
    for (place j = 0; j < s.cols; ++j) {
      detail::int128 sum = 0;
      for (place k = 0; k < s.depth; ++k)
        sum += static_cast<detail::int128>(std::int64_t{a.view(i, k).bits()} * b.view(k, j).bits());
      // The quotient to nearest, ties to even, and what fits.
      const detail::int128 unit = detail::int128{1} << T::fraction_length;
      detail::int128 quotient = sum >> T::fraction_length;
      const detail::int128 rest = sum - quotient * unit;
      if (2 * rest > unit || (2 * rest == unit && (quotient & 1) != 0)) quotient += 1;
      const detail::int128 end = detail::int128{1} << (T::word_length - 1);
      quotient = quotient < -end ? -end : quotient > end - 1 ? end - 1 : quotient;
      expected.push_back(
          T::from_bits(static_cast<typename T::bits_type>(static_cast<std::int64_t>(quotient))));
    }
  fuzz::for_each_isa([&](const std::string& isa) {
    std::vector<T> c(static_cast<std::size_t>(s.rows * s.cols));
    gemm(a.view, b.view, row_major(c, s.rows, s.cols));
    fuzz::require(fuzz::same_bytes(c, expected), [&] { return isa + ": another product of fixed"; });
  });
}

enum class agreement { same_bits, within_bound };

template <class F, class G> void check_tensors(fuzz::input& in, agreement how) {
  const shape s(in);
  const fuzz::words words(in);
  const factor<float> x(in, words, s.rows, s.depth), y(in, words, s.depth, s.cols);
  const auto a = quantize<F>(x.view);
  const auto b = quantize<G>(y.view);
  std::vector<float> expected;
  std::vector<sums> right;
  if (how == agreement::within_bound)
    right = sums_of(s, a, b, [](const auto& t, place i, place j) { return static_cast<double>(t(i, j)); });
  fuzz::for_each_isa([&](const std::string& isa) {
    std::vector<float> c(static_cast<std::size_t>(s.rows * s.cols));
    gemm(a, b, row_major(c, s.rows, s.cols));
    if (expected.empty()) expected = c;
    if (how == agreement::same_bits)
      fuzz::require(fuzz::same_bytes(c, expected), [&] { return isa + ": another product of tensors"; });
    else
      check_bounds(isa, right, c);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  switch (in.below(16)) {
    case 0:
      check_floating<fp16, fp16>(in);
      break;
    case 1:
      check_floating<bf16, bf16>(in);
      break;
    case 2:
      check_floating<fp8_e4m3fn, fp8_e4m3fn>(in);
      break;
    case 3:
      check_floating<fp8_e5m2, fp8_e4m3fn>(in);
      break;
    case 4:
      check_floating<fp16, bf16>(in);
      break;
    case 5:
      check_floating<float, fp16>(in);
      break;
    case 6:
      check_floating<fp4_e2m1, fp4_e2m1>(in);
      break;
    case 7:
      check_fixed<fixed<8, 4>>(in);
      break;
    case 8:
      check_fixed<fixed<16, 8>>(in);
      break;
    case 9:
      check_fixed<fixed<32, 20>>(in);
      break;
    case 10:
      check_tensors<int8, int8>(in, agreement::same_bits);
      break;
    case 11:
      check_tensors<basic_int8<per_row>, basic_int8<per_column>>(in, agreement::same_bits);
      break;
    case 12:
      check_tensors<bfp<8>, bfp<8>>(in, agreement::same_bits);
      break;
    case 13:
      check_tensors<bfp<14, per_row>, bfp<14, tile<16, 8>>>(in, agreement::same_bits);
      break;
    case 14:
      check_tensors<mx<fp8_e4m3fn>, mx<fp8_e4m3fn, tile<32, 1>>>(in, agreement::within_bound);
      break;
    default:
      check_tensors<mx<int8>, mx<int8>>(in, agreement::within_bound);
      break;
  }
  return 0;
}
