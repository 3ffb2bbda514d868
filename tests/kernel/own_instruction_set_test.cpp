// Instruction sets written for the occasion, in the place of the library's own: some that offer one kernel or
// one group of kernels alone, and one that offers all that is written over vectors. With each of them
// everything works as with the portable kernels.
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include <narrow/narrow.hpp>
#include <narrow/simd/instruction_sets.hpp>

#include "catch.hpp"
#include "every_isa.hpp"
#include "plain_vectors.hpp"

#if !defined(NARROW_COMPILED_KERNELS)
#error "the program defines the list of instruction sets in the place of narrow/compiled_kernels.hpp"
#endif

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

namespace plain_vectors {

using instructions = test::plain_instructions;
#include <narrow/simd/lanes.inl>

#include <narrow/simd/vector_kernels.inl>

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    offer_vectors(table);
    NARROW_OFFER(fp32, panels<floats, 4, 4>("FMA"));
    NARROW_OFFER(int16, panels<int16_pairs, 4, 4>("pairs"));
    NARROW_OFFER(wide, wide_products<doubles, 4, 8>("FMA"));
  }
};

}  // namespace plain_vectors

int calls = 0;  // of the kernels below

template <class T, class Sum> Sum sum_of(const void* a, index n) {
  ++calls;
  Sum sum = 0;
  for (index i = 0; i < n; ++i) {
    T x;
    std::memcpy(&x, static_cast<const unsigned char*>(a) + i * index{sizeof x}, sizeof x);
    sum += static_cast<Sum>(x);
  }
  return sum;
}
float sum_fp16(const void* a, index n) { return sum_of<fp16, float>(a, n); }
float sum_bf16(const void* a, index n) { return sum_of<bf16, float>(a, n); }

void encode_fp16(const float* from, const tile_shape& s, void* to) {
  ++calls;
  for (index i = 0; i < s.rows; ++i)
    for (index j = 0; j < s.cols; ++j) {
      const std::uint16_t code = fp16(from[i * s.stride + j]).bits();
      std::memcpy(static_cast<unsigned char*>(to) + 2 * (i * s.to_stride + j), &code, sizeof code);
    }
}
void decode_fp16(const void* from, float* to, index n) {
  ++calls;
  for (index i = 0; i < n; ++i) {
    std::uint16_t code;
    std::memcpy(&code, static_cast<const unsigned char*>(from) + 2 * i, sizeof code);
    to[i] = static_cast<float>(fp16::from_bits(code));
  }
}

#define NARROW_ONE_KERNEL(set, ...)                                                                 \
  struct set {                                                                                      \
    template <class Table> static constexpr void offer(Table& table) { NARROW_OFFER(__VA_ARGS__); } \
  }
NARROW_ONE_KERNEL(float_sums, sum_floats, {sum_of<float, float>, sum_fp16, sum_bf16});
NARROW_ONE_KERNEL(integer_sums, sum_integers,
                  {sum_of<std::int8_t, std::int64_t>, sum_of<std::int16_t, std::int64_t>,
                   sum_of<std::int32_t, std::int64_t>});
NARROW_ONE_KERNEL(fp16_encoder, float_to_fp16, encode_fp16);
NARROW_ONE_KERNEL(fp16_decoder, fp16_to_float, decode_fp16);
NARROW_ONE_KERNEL(moments, add_moments, portable::add_moments);

constexpr bool everywhere() { return true; }
constexpr auto own_sets =
    linked(listed_set<portable::kernels>{{"portable", "", everywhere}},
           listed_set<plain_vectors::kernels>{{"plain_vectors", "portable", everywhere}},
           listed_set<float_sums>{{"float_sums", "portable", everywhere}},
           listed_set<integer_sums>{{"integer_sums", "portable", everywhere}},
           listed_set<fp16_encoder>{{"fp16_encoder", "portable", everywhere}},
           listed_set<fp16_decoder>{{"fp16_decoder", "portable", everywhere}},
           listed_set<moments>{{"moments", "portable", everywhere}});
constexpr auto own_tables = own_sets.kernels<every_kernel>();

const std::span<const instruction_set> compiled_instruction_sets{own_sets.sets};
const std::span<const every_kernel> compiled_kernels{own_tables};

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END

using namespace narrow;

namespace {

constexpr std::size_t rows = 37, depth = 70, cols = 19;

/// Small integers, so that all sums are exact.
template <class T> std::vector<T> numbers(std::size_t n, int step) {
  std::vector<T> result(n);
  int x = 3;
  for (T& element : result) element = T(static_cast<float>((x += step) % 7 - 3));
  return result;
}

template <class T> void append(std::vector<double>& to, const std::vector<T>& from) {
  for (const T& x : from) to.push_back(static_cast<double>(x));
}

/// What is computed from numbers of T: products, sums, conversions.
template <class T> void append_results(std::vector<double>& to) {
  const auto a = numbers<T>(rows * depth, 5), b = numbers<T>(depth * cols, 3);
  std::vector<T> c(rows * cols);
  gemm(row_major(a, rows, depth), row_major(b, depth, cols), row_major(c, rows, cols));
  append(to, c);
  to.push_back(static_cast<double>(sum(a)));
  to.push_back(static_cast<double>(kernel::sum(a.data(), 3, static_cast<std::ptrdiff_t>(a.size() / 3))));
  to.push_back(static_cast<double>(dot(a, a)));
  std::vector<float> floats(a.size());
  convert(a, floats);
  append(to, floats);
  for (float& x : floats) x *= 1.01f;
  std::vector<T> back(a.size());
  convert(floats, back);
  append(to, back);
  convert(floats, back, rounding::stochastic{1});
  append(to, back);
}

template <class Format> void append_blocks(std::vector<double>& to) {
  const auto x = numbers<float>(rows * depth, 5);
  const auto blocks = quantize<Format>(x, rows, depth);
  std::vector<float> back(x.size());
  dequantize(blocks, back);
  append(to, back);
}

std::vector<double> results() {
  std::vector<double> all;
  append_results<fp16>(all);
  append_results<bf16>(all);
  append_results<fp8_e4m3fn>(all);
  append_results<fixed<8, 2>>(all);
  append_results<fixed<16, 2>>(all);
  append_results<fixed<24, 2>>(all);
  append_blocks<bfp<8, tile<4, 16>>>(all);
  append_blocks<int8>(all);
  return all;
}

}  // namespace

TEST_CASE("an instruction set may offer all that is written over vectors, or one kernel alone",
          "[kernel][isa]") {
  use_isa("portable");
  const std::vector<double> expected = results();
  REQUIRE(std::count(expected.begin(), expected.end(), 0.0) < std::ssize(expected) / 4);
  std::string names;
  test::for_each_isa([&](const std::string& name) {
    names += name + ' ';
    kernel::calls = 0;
    const std::vector<double> got = results();
    INFO(name);
    REQUIRE(got == expected);
    const bool counts = name.ends_with("_sums") || name.starts_with("fp16_");
    REQUIRE((kernel::calls > 0) == counts);
  });
  REQUIRE(names == "portable plain_vectors float_sums integer_sums fp16_encoder fp16_decoder moments ");
}
