// Fuzz target: conversions and quantising. Arrays on every instruction set give what single numbers do, block
// tensors what the portable kernels do.
#include <bit>
#include <span>

#include "input.hpp"

using namespace narrow;

namespace {

constexpr std::size_t longest = 600;  // numbers

template <class T> std::uint64_t code_of(T x) {
  return static_cast<std::make_unsigned_t<typename T::bits_type>>(x.bits());
}

/// Floats or doubles into T, and T's numbers back.
template <class T, class From, class Round>
void check_arrays(const std::vector<From>& from, const Round& round) {
  std::vector<T> expected;
  std::vector<float> back_expected;
  for (std::size_t i = 0; i < from.size(); ++i) {
    expected.push_back(narrow_cast<T>(from[i], at_element(round, i)));
    if constexpr (std::same_as<typename T::carrier, float>) back_expected.push_back(expected.back());
  }
  fuzz::for_each_isa([&](const std::string& isa) {
    std::vector<T> to(from.size());
    convert(from, to, round);
    for (std::size_t i = 0; i < from.size(); ++i)
      fuzz::require(to[i].bits() == expected[i].bits(), [&] {
        return isa + ": element " + std::to_string(i) + ", " + std::to_string(from[i]) + ", gives the code " +
               std::to_string(code_of(to[i])) + ", not " + std::to_string(code_of(expected[i]));
      });
    if constexpr (std::same_as<typename T::carrier, float>) {
      std::vector<float> back(from.size());
      convert(to, back);
      fuzz::require(fuzz::same_bytes(back, back_expected),
                    [&] { return isa + ": numbers differ as floats"; });
    }
  });
}

template <class T> void check_modes(fuzz::input& in) {
  const std::size_t mode = in.below(5);
  const bool is_double = in.below(2) != 0;
  const auto seed = in.number<std::uint64_t>(), offset = in.number<std::uint64_t>();
  const auto floats = in.numbers<float>(is_double ? 0 : longest);
  const auto doubles = in.numbers<double>(longest);
  const auto check = [&](const auto& round) {
    if (is_double)
      check_arrays<T>(doubles, round);
    else
      check_arrays<T>(floats, round);
  };
  if (mode == 0) check(rounding::nearest_even{});
  if (mode == 1) check(rounding::toward_zero{});
  if (mode == 2) check(rounding::upward{});
  if (mode == 3) check(rounding::to_odd{});
  if (mode == 4) check(rounding::stochastic(seed, offset));
}

template <class T> std::vector<unsigned char> bytes_of(std::span<const T> x) {
  const auto* const begin = reinterpret_cast<const unsigned char*>(x.data());
  return {begin, begin + x.size_bytes()};
}

/// Elements and scales of one tensor, as bytes.
template <class Format> std::vector<unsigned char> parts(const block_tensor<Format>& tensor) {
  auto result = bytes_of(std::span(tensor.mantissas().data(), tensor.mantissas().size()));
  for (const auto& scale : tensor.scales()) {
    const float value = static_cast<float>(scale);
    const auto bytes = bytes_of(std::span(&value, 1));
    result.insert(result.end(), bytes.begin(), bytes.end());
  }
  return result;
}

template <class Format> void check_blocks(fuzz::input& in) {
  const auto order = in.below(2) != 0 ? storage_order::column_major : storage_order::row_major;
  const bool turned = in.below(2) != 0;
  const auto cols = static_cast<std::ptrdiff_t>(1 + in.below(200));
  const auto values = in.numbers<float>(longest);
  const auto rows = static_cast<std::ptrdiff_t>(values.size()) / cols;
  const matrix_view<const float> view{values.data(), rows, cols, turned ? 1 : cols, turned ? rows : 1};
  std::vector<unsigned char> expected;
  std::vector<float> floats;
  fuzz::for_each_isa([&](const std::string& isa) {
    block_tensor<Format> tensor(0, 0, order);
    tensor.assign(view);
    const auto got = parts(tensor);
    std::vector<float> back(static_cast<std::size_t>(rows * cols));
    dequantize(tensor, back);
    if (isa == "portable") {
      expected = got;
      floats = back;
      for (std::ptrdiff_t i = 0; i < rows * cols; ++i) {
        const float one = tensor(i / cols, i % cols);
        fuzz::require(std::memcmp(&one, &back[static_cast<std::size_t>(i)], sizeof one) == 0,
                      [&] { return "element " + std::to_string(i) + " is read in two ways"; });
      }
    }
    fuzz::require(fuzz::same_bytes(got, expected), [&] { return isa + ": other elements or scales"; });
    fuzz::require(fuzz::same_bytes(back, floats), [&] { return isa + ": other values"; });
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::size_t place = in.below(256);
  if (place % 2 == 0)
    fuzz::with_type<fp16, bf16, fp8_e5m2, fp8_e4m3fn, fp8_e4m3fnuz, fp6_e2m3, fp4_e2m1, floating<8, 10>,
                    floating<6, 16, specials::fnuz>, fixed<8, 4>, fixed<16, 8>, fixed<32, 20>>(
        place / 2, [&]<class T>() { check_modes<T>(in); });
  else
    fuzz::with_type<int8, basic_int8<per_row>, basic_int8<per_column, rounding::toward_zero>, bfp<8>,
                    bfp<4, per_row>, bfp<14, tile<3, 5>>, mx<fp8_e4m3fn>, mx<fp4_e2m1>, mx<int8>>(
        place / 2, [&]<class Format>() { check_blocks<Format>(in); });
  return 0;
}
