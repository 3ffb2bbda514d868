#include "limits.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace narrow_bench {

namespace {

// As many sums at a time as hide the latency of an instruction that issues twice a cycle: 6 cycles at most.
constexpr int many_chains = 16;  // of 32 registers
constexpr int few_chains = 12;   // of 16 registers

// What the asm statements hide from the compiler: that the sums are alike, or one would do for all; and,
// where a step is a product and an addition, that the product is always the same.

/// Without an instruction set: what the compiler makes of four lanes.
template <class T, int Lanes> void plain_loop(std::ptrdiff_t steps) {
  using lanes [[gnu::vector_size(Lanes * sizeof(T))]] = T;
#if defined(__x86_64__)
  const auto hide = [](lanes& x) { asm("" : "+x"(x)); };
#else
  const auto hide = [](lanes& x) { asm("" : "+w"(x)); };
#endif
  lanes sums[few_chains] = {}, x = lanes{} + T{1}, y = x;
  for (lanes& sum : sums) hide(sum);
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (lanes& sum : sums) {
      hide(x);
      sum += x * y;
    }
  volatile T kept = 0;
  for (const lanes& sum : sums) kept = static_cast<T>(kept + sum[0]);
}

#if defined(__x86_64__)

[[gnu::target("avx512f")]] void fma_512(std::ptrdiff_t steps) {
  __m512 sums[many_chains] = {};
  for (__m512& sum : sums) asm("" : "+v"(sum));
  const __m512 x = _mm512_set1_ps(1);
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(x, x, sum);
  for (const __m512& sum : sums) asm volatile("" : : "v"(sum));
}

[[gnu::target("avx2,fma")]] void fma_256(std::ptrdiff_t steps) {
  __m256 sums[few_chains] = {};
  for (__m256& sum : sums) asm("" : "+x"(sum));
  const __m256 x = _mm256_set1_ps(1);
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(x, x, sum);
  for (const __m256& sum : sums) asm volatile("" : : "x"(sum));
}

[[gnu::target("avx512f")]] void fma_doubles_512(std::ptrdiff_t steps) {
  __m512d sums[many_chains] = {};
  for (__m512d& sum : sums) asm("" : "+v"(sum));
  const __m512d x = _mm512_set1_pd(1);
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m512d& sum : sums) sum = _mm512_fmadd_pd(x, x, sum);
  for (const __m512d& sum : sums) asm volatile("" : : "v"(sum));
}

[[gnu::target("avx2,fma")]] void fma_doubles_256(std::ptrdiff_t steps) {
  __m256d sums[few_chains] = {};
  for (__m256d& sum : sums) asm("" : "+x"(sum));
  const __m256d x = _mm256_set1_pd(1);
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m256d& sum : sums) sum = _mm256_fmadd_pd(x, x, sum);
  for (const __m256d& sum : sums) asm volatile("" : : "x"(sum));
}

[[gnu::target("avx512f,avx512bf16")]] void dpbf16_512(std::ptrdiff_t steps) {
  __m512 sums[many_chains] = {};
  for (__m512& sum : sums) asm("" : "+v"(sum));
  const __m512bh x = (__m512bh)_mm512_set1_epi32(0x3f803f80);  // ones
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, x, x);
  for (const __m512& sum : sums) asm volatile("" : : "v"(sum));
}

[[gnu::target("avx512f,avx512bw,avx512vnni")]] void dpbusd_512(std::ptrdiff_t steps) {
  __m512i sums[many_chains] = {};
  for (__m512i& sum : sums) asm("" : "+v"(sum));
  const __m512i x = _mm512_set1_epi32(0x01010101);
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, x, x);
  for (const __m512i& sum : sums) asm volatile("" : : "v"(sum));
}

[[gnu::target("avx512f,avx512bw,avx512vnni")]] void dpwssd_512(std::ptrdiff_t steps) {
  __m512i sums[many_chains] = {};
  for (__m512i& sum : sums) asm("" : "+v"(sum));
  const __m512i x = _mm512_set1_epi32(0x00010001);
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m512i& sum : sums) sum = _mm512_dpwssd_epi32(sum, x, x);
  for (const __m512i& sum : sums) asm volatile("" : : "v"(sum));
}

[[gnu::target("avx2,avxvnni")]] void dpbusd_256(std::ptrdiff_t steps) {
  __m256i sums[few_chains] = {};
  for (__m256i& sum : sums) asm("" : "+x"(sum));
  const __m256i x = _mm256_set1_epi32(0x01010101);
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m256i& sum : sums) sum = _mm256_dpbusd_avx_epi32(sum, x, x);
  for (const __m256i& sum : sums) asm volatile("" : : "x"(sum));
}

[[gnu::target("avx2,avxvnni")]] void dpwssd_256(std::ptrdiff_t steps) {
  __m256i sums[few_chains] = {};
  for (__m256i& sum : sums) asm("" : "+x"(sum));
  const __m256i x = _mm256_set1_epi32(0x00010001);
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m256i& sum : sums) sum = _mm256_dpwssd_avx_epi32(sum, x, x);
  for (const __m256i& sum : sums) asm volatile("" : : "x"(sum));
}

constexpr int tile_chains = 4;  // of 8 tiles, two of which are the factors

/// All that a processor's tiles can do, from factors that stay where they are.
void dpbssd_tiles(std::ptrdiff_t steps) {
  narrow::kernel::amx::begin();
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    asm volatile(
        "tdpbssd %tmm6, %tmm4, %tmm0\n\ttdpbssd %tmm6, %tmm4, %tmm1\n\t"
        "tdpbssd %tmm6, %tmm4, %tmm2\n\ttdpbssd %tmm6, %tmm4, %tmm3");
  narrow::kernel::amx::end();
}

void dpbf16_tiles(std::ptrdiff_t steps) {
  narrow::kernel::amx::begin();
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    asm volatile(
        "tdpbf16ps %tmm6, %tmm4, %tmm0\n\ttdpbf16ps %tmm6, %tmm4, %tmm1\n\t"
        "tdpbf16ps %tmm6, %tmm4, %tmm2\n\ttdpbf16ps %tmm6, %tmm4, %tmm3");
  narrow::kernel::amx::end();
}

[[gnu::target("avx512f,avx512bw")]] void maddwd_512(std::ptrdiff_t steps) {
  __m512i sums[many_chains] = {}, x = _mm512_set1_epi32(0x00010001);
  for (__m512i& sum : sums) asm("" : "+v"(sum));
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m512i& sum : sums) {
      asm("" : "+v"(x));
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(x, x));
    }
  for (const __m512i& sum : sums) asm volatile("" : : "v"(sum));
}

[[gnu::target("avx2")]] void maddwd_256(std::ptrdiff_t steps) {
  __m256i sums[few_chains] = {}, x = _mm256_set1_epi32(0x00010001);
  for (__m256i& sum : sums) asm("" : "+x"(sum));
  for (std::ptrdiff_t i = 0; i < steps; ++i)
    for (__m256i& sum : sums) {
      asm("" : "+x"(x));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, x));
    }
  for (const __m256i& sum : sums) asm volatile("" : : "x"(sum));
}

#endif

struct compute_loop {
  arithmetic kind;
  const char* name;
  const char* isa;  // of the library, which may be held lower than what the processor has
  void (*run)(std::ptrdiff_t);
  int flop;  // in a step
};

/// For each arithmetic the best one first; a search that finds none of its own goes on with the next
/// arithmetic.
constexpr compute_loop compute_loops[] = {
#if defined(__x86_64__)
    {arithmetic::int8, "tdpbssd", "amx", dpbssd_tiles, 2 * 16 * 16 * 64 * tile_chains},
    {arithmetic::int8, "vpdpbusd", "avx512_vnni", dpbusd_512, 128 * many_chains},
    {arithmetic::int8, "vpdpbusd 256", "avx_vnni", dpbusd_256, 64 * few_chains},
    {arithmetic::int16, "tdpbssd / 4", "amx", dpbssd_tiles, 2 * 16 * 16 * 64 * tile_chains / 4},  // of bytes
    {arithmetic::int16, "vpdpwssd", "avx512_vnni", dpwssd_512, 64 * many_chains},
    {arithmetic::int16, "vpmaddwd 512", "avx512", maddwd_512, 64 * many_chains},
    {arithmetic::int16, "vpdpwssd 256", "avx_vnni", dpwssd_256, 32 * few_chains},
    {arithmetic::int16, "vpmaddwd 256", "avx2", maddwd_256, 32 * few_chains},
#else
    {arithmetic::int8, "int32, 4 lanes", "portable", plain_loop<std::int32_t, 4>, 8 * few_chains},
#endif
    {arithmetic::int16, "int32, 4 lanes", "portable", plain_loop<std::int32_t, 4>, 8 * few_chains},
#if defined(__x86_64__)
    {arithmetic::bf16, "tdpbf16ps", "amx", dpbf16_tiles, 2 * 16 * 16 * 32 * tile_chains},
    {arithmetic::bf16, "vdpbf16ps", "avx512_bf16", dpbf16_512, 64 * many_chains},
    {arithmetic::fp16, "tdpbf16ps / 4", "amx", dpbf16_tiles,
     2 * 16 * 16 * 32 * tile_chains / 4},  // of halves
    {arithmetic::fp32, "fp32 FMA 512", "avx512", fma_512, 32 * many_chains},
    {arithmetic::fp32, "fp32 FMA 256", "avx2", fma_256, 16 * few_chains},
#else
    {arithmetic::bf16, "fp32, 4 lanes", "portable", plain_loop<float, 4>, 8 * few_chains},
    {arithmetic::fp16, "fp32, 4 lanes", "portable", plain_loop<float, 4>, 8 * few_chains},
#endif
    {arithmetic::fp32, "fp32, 4 lanes", "portable", plain_loop<float, 4>, 8 * few_chains},
#if defined(__x86_64__)
    {arithmetic::fp64, "fp64 FMA 512", "avx512", fma_doubles_512, 16 * many_chains},
    {arithmetic::fp64, "fp64 FMA 256", "avx2", fma_doubles_256, 8 * few_chains},
#endif
    {arithmetic::fp64, "fp64, 2 lanes", "portable", plain_loop<double, 2>, 4 * few_chains},
};

constexpr bool has_loop(arithmetic kind) {
  return std::ranges::find(compute_loops, kind, &compute_loop::kind) != std::end(compute_loops);
}
static_assert(has_loop(arithmetic::fp64) && has_loop(arithmetic::fp32) && has_loop(arithmetic::fp16) &&
              has_loop(arithmetic::bf16) && has_loop(arithmetic::int16) && has_loop(arithmetic::int8));

/// Whether the instruction set in use is this one, or extends it.
bool in_use(std::string_view isa) {
  using narrow::kernel::instruction_sets;
  std::string_view name = narrow::isa_name();
  while (!name.empty() && name != isa)
    name = std::ranges::find(instruction_sets, name, &narrow::kernel::instruction_set::name)->extends;
  return !name.empty();
}

std::string instead_of(const std::string& found, const char* wanted) {
  return found == wanted ? found : found + " (no " + wanted + ")";
}

struct alignas(64) line {
  std::uint64_t words[8];
};

/// In several streams, which the prefetchers follow side by side.
void read(std::span<const line> lines) {
  constexpr std::size_t streams = 4, at_a_time = 2;
  using lanes [[gnu::vector_size(sizeof(line))]] = std::uint64_t;
  lanes sums[streams * at_a_time] = {};
  const std::size_t part = lines.size() / streams;
  for (std::size_t i = 0; i + at_a_time <= part; i += at_a_time)
    for (std::size_t j = 0; j < streams * at_a_time; ++j) {
      lanes x;
      std::memcpy(&x, &lines[j / at_a_time * part + i + j % at_a_time], sizeof x);
      sums[j] |= x;
    }
  volatile std::uint64_t kept = 0;
  for (const lanes& sum : sums) kept = kept | sum[0];
}

std::shared_ptr<std::vector<line>> memory(std::size_t bytes) {
  return std::make_shared<std::vector<line>>((bytes + sizeof(line) - 1) / sizeof(line), line{{1}});
}

#if defined(__x86_64__)

constexpr std::size_t lanes = 16;          // n is a multiple of it
constexpr std::size_t in_cache = 1 << 18;  // beyond, memory is the limit

[[gnu::target("avx512f")]] void to_fp16(const float* from, std::uint16_t* to, std::size_t n) {
  for (std::size_t i = 0; i < n; i += lanes)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
}

[[gnu::target("avx512f")]] void from_fp16(const std::uint16_t* from, float* to, std::size_t n) {
  for (std::size_t i = 0; i < n; i += lanes)
    _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i))));
}

/// Not vcvtneps2bf16, which takes subnormals for zeros.
[[gnu::target("avx512f")]] void to_bf16(const float* from, std::uint16_t* to, std::size_t n) {
  const __m512i one = _mm512_set1_epi32(1), half = _mm512_set1_epi32(0x7fff),
                quiet = _mm512_set1_epi32(0x400000);
  for (std::size_t i = 0; i < n; i += lanes) {
    const __m512 value = _mm512_loadu_ps(from + i);
    const __m512i bits = _mm512_castps_si512(value);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
    __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, half));
    const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, nan, bits, quiet);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
  }
}

[[gnu::target("avx512f")]] void from_bf16(const std::uint16_t* from, float* to, std::size_t n) {
  for (std::size_t i = 0; i < n; i += lanes) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm512_storeu_si512(to + i, _mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
}

[[gnu::target("avx512f")]] float largest_magnitude(const float* from, std::size_t n) {
  constexpr std::size_t chains = 4;
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  __m512i largest[chains] = {};
  for (std::size_t i = 0; i < n; i += chains * lanes)
    for (std::size_t j = 0; j < chains; ++j) {
      const __m512i bits = _mm512_loadu_si512(from + i + j * lanes);
      largest[j] = _mm512_max_epi32(largest[j], _mm512_and_si512(bits, magnitude));
    }
  for (const __m512i& x : largest) largest[0] = _mm512_max_epi32(largest[0], x);
  return std::bit_cast<float>(_mm512_reduce_max_epi32(largest[0]));
}

/// Of finite numbers: no NaN is looked for.
template <class Element>
[[gnu::target("avx512f")]] void to_integers(const float* from, Element* to, std::size_t n, float factor) {
  const __m512 factors = _mm512_set1_ps(factor);
  for (std::size_t i = 0; i < n; i += lanes) {
    const __m512i rounded = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(from + i), factors));
    if constexpr (sizeof(Element) == 1)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm512_cvtsepi32_epi8(rounded));
    else
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm512_cvtsepi32_epi16(rounded));
  }
}

template <class Element> std::function<void()> two_passes(std::size_t n) {
  const auto wide = std::make_shared<std::vector<float>>(n, 1.0f);
  const auto integers = std::make_shared<std::vector<Element>>(n);
  return [=] {
    const float factor =
        static_cast<float>(std::numeric_limits<Element>::max()) / largest_magnitude(wide->data(), n);
    to_integers(wide->data(), integers->data(), n, factor);
  };
}

using encoder = void (*)(const float*, std::uint16_t*, std::size_t);
using decoder = void (*)(const std::uint16_t*, float*, std::size_t);

limit loop_limit(std::size_t n, direction way, encoder encode, decoder decode, const char* name,
                 const work& amount) {
  if (n > in_cache || !in_use("avx512"))
    return copy_limit(n * (sizeof(float) + sizeof(std::uint16_t)), amount);
  const auto wide = std::make_shared<std::vector<float>>(n, 1.0f);
  const auto codes = std::make_shared<std::vector<std::uint16_t>>(n, std::uint16_t{1});
  const std::string loop = std::string(name) + " loop";
  if (way == direction::from_float)
    return {loop, [=] { encode(wide->data(), codes->data(), n); }, amount.per_call};
  return {loop, [=] { decode(codes->data(), wide->data(), n); }, amount.per_call};
}

#endif

}  // namespace

limit compute_limit(arithmetic kind) {
  const auto* const wanted = std::ranges::find(compute_loops, kind, &compute_loop::kind);
  const auto found = std::find_if(wanted, std::end(compute_loops),
                                  [](const compute_loop& loop) { return in_use(loop.isa); });
  constexpr std::ptrdiff_t steps = 1 << 12;
  return {instead_of(found->name, wanted->name), [run = found->run] { run(steps); },
          static_cast<double>(found->flop) * steps};
}

limit read_limit(std::size_t bytes, const work& amount) {
  return {"read", [lines = memory(bytes)] { read(*lines); }, amount.per_call};
}

limit copy_limit(std::size_t bytes, const work& amount) {
  const auto from = memory(bytes / 2), to = memory(bytes / 2);
  return {"memcpy", [=] { std::memcpy(to->data(), from->data(), from->size() * sizeof(line)); },
          amount.per_call};
}

#if defined(__x86_64__)
limit conversion_limit(std::size_t n, direction way, const narrow::fp16&, const work& amount) {
  return loop_limit(n, way, to_fp16, from_fp16, way == direction::from_float ? "vcvtps2ph" : "vcvtph2ps",
                    amount);
}
limit conversion_limit(std::size_t n, direction way, const narrow::bf16&, const work& amount) {
  return loop_limit(n, way, to_bf16, from_bf16, "bf16", amount);
}
limit quantizing_limit(std::size_t n, std::size_t element_size, const work& amount) {
  const bool fits = element_size <= sizeof(std::int16_t) && n % (4 * lanes) == 0;
  if (n <= in_cache && fits && in_use("avx512"))
    return {"two passes", element_size == 1 ? two_passes<std::int8_t>(n) : two_passes<std::int16_t>(n),
            amount.per_call};
  return copy_limit(n * (2 * sizeof(float) + element_size), amount);
}
#else
limit quantizing_limit(std::size_t n, std::size_t element_size, const work& amount) {
  return copy_limit(n * (2 * sizeof(float) + element_size), amount);
}
limit conversion_limit(std::size_t n, direction, const narrow::fp16&, const work& amount) {
  return copy_limit(n * (sizeof(float) + sizeof(narrow::fp16)), amount);
}
limit conversion_limit(std::size_t n, direction, const narrow::bf16&, const work& amount) {
  return copy_limit(n * (sizeof(float) + sizeof(narrow::bf16)), amount);
}
#endif

}  // namespace narrow_bench
