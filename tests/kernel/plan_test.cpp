// The plan of a product: what is chosen for formats, shapes, strides, magnitudes and instruction sets,
// without a product being computed; and the guide's table of products, which is made from plans.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <narrow/narrow.hpp>

#include "catch.hpp"

namespace narrow::inline NARROW_ABI::kernel {
struct kernels_not_in_use {
  static kernel_set of(std::size_t i) { return kernel_set(i); }
};
}  // namespace narrow::inline NARROW_ABI::kernel

using namespace narrow;
using kernel::algorithm;
using kernel::packed_type;
using kernel::product_plan;

namespace {

using place = std::ptrdiff_t;

/// The instruction set of this name, whether this processor has it or not; null if it was not compiled.
std::optional<kernel::kernel_set> kernels_of(std::string_view name) {
  for (std::size_t i = 0; i < kernel::instruction_set_count(); ++i)
    if (kernel::dispatch::name_of(i) == name) return kernel::kernels_not_in_use::of(i);
  return std::nullopt;
}

template <class T> matrix_view<const T> by_rows(place rows, place cols) {
  return {nullptr, rows, cols, cols, 1};
}
template <class T> matrix_view<const T> by_columns(place rows, place cols) {
  return {nullptr, rows, cols, 1, rows};
}

/// The plan for row-major factors.
template <class A, class B = A>
product_plan plan(kernel::kernel_set t, place m, place n, place k,
                  kernel::magnitudes largest = kernel::largest_elements<A, B>()) {
  return kernel::plan_product<detail::element_accumulation<A, B>>(t, by_rows<A>(m, k), by_rows<B>(k, n),
                                                                  largest);
}

}  // namespace

TEST_CASE("without kernels every product is in plain C++", "[plan]") {
  const auto t = *kernels_of("portable");
  for (const auto& p : {plan<fp16>(t, 64, 64, 64), plan<bf16>(t, 1, 64, 64), plan<float, fp16>(t, 64, 1, 64),
                        plan<fixed<8, 4>>(t, 64, 64, 64), plan<fixed<32, 8>>(t, 64, 64, 64)}) {
    REQUIRE(p.how == algorithm::portable);
    REQUIRE(p.packed == packed_type::none);
    REQUIRE_FALSE(p.transposed);
    REQUIRE(p.threads() == 1);
  }
  // Inner products have an order of additions of their own.
  REQUIRE(plan<fp16>(t, 1, 1, 64).how == algorithm::dot);
  REQUIRE(plan<fp16>(t, 1, 1, 64).packed == packed_type::none);
}

TEST_CASE("shapes and strides choose the algorithm", "[plan]") {
  for (const char* name : {"avx2", "avx512", "neon"}) {
    const auto set = kernels_of(name);
    if (!set) continue;
    CAPTURE(name);
    const auto t = *set;
    using accumulation = detail::accumulation_traits<fp16, fp16>;
    REQUIRE(plan<fp16>(t, 1, 1, 64).how == algorithm::dot);
    REQUIRE(plan<fp16>(t, 512, 1, 512).how == algorithm::gemv_rows);
    REQUIRE(
        kernel::plan_product<accumulation>(t, by_columns<fp16>(64, 512), by_columns<fp16>(512, 1), {}).how ==
        algorithm::gemv_columns);
    const auto lying = plan<fp16>(t, 1, 64, 512);  // the matrix is B, and its transpose lies by columns
    REQUIRE(lying.how == algorithm::gemv_columns);
    REQUIRE(lying.transposed);
    REQUIRE(plan<fp16>(t, 64, 4, 128).how == algorithm::skinny_rows);
    REQUIRE_FALSE(plan<fp16>(t, 64, 4, 128).transposed);
    REQUIRE(plan<fp16>(t, 128, 9, 63).how == algorithm::panels);
    REQUIRE(plan<fp16>(t, 128, 4, 63).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 64, 16, 128).how == algorithm::panels);  // for so many, the sums are too short
    REQUIRE(kernel::plan_product<accumulation>(t, by_rows<fp16>(64, 128), by_rows<fp16>(128, 4), {},
                                               packed_type::int8, kernel::packing::done)
                .how == algorithm::panels);
    REQUIRE(plan<fp16>(t, 4, 64, 128).how == algorithm::skinny_columns);
    REQUIRE(plan<fp16>(t, 4, 64, 128).transposed);
    REQUIRE(plan<fp16>(t, 63, 4, 128).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 64, 33, 64).how == algorithm::panels);
    REQUIRE(plan<fp16>(t, 5, 64, 128).how == algorithm::panels);
    REQUIRE(plan<fp16>(t, 64, 64, 64).how == algorithm::panels);
    REQUIRE(plan<fixed<8, 4>>(t, 8, 8, 4).how == algorithm::panels);
    REQUIRE(plan<fixed<8, 4>>(t, 8, 8, 3).how == algorithm::portable);  // too few to be worth packing
    REQUIRE(plan<fp16>(t, 64, 64, 0).how == algorithm::portable);
    REQUIRE(plan<fixed<32, 8>>(t, 64, 64, 64).how == algorithm::wide_panels);
    REQUIRE(plan<fixed<32, 8>>(t, 4, 4, 64).how == algorithm::portable);
    REQUIRE(plan<std::int8_t, std::int32_t>(t, 64, 1, 64).how == algorithm::portable);
  }
}

TEST_CASE("a matrix that is not worth multiplying where it lies is packed in its own type", "[plan]") {
  for (const char* name : {"avx_vnni", "avx512_vnni", "neon_dot"}) {
    const auto set = kernels_of(name);
    if (!set) continue;
    CAPTURE(name);
    for (const kernel::index rows : {64, 128, 256}) {
      const auto small = plan<fixed<8, 4>>(*set, rows, 2, 256);
      REQUIRE(small.how == algorithm::panels);
      REQUIRE(small.packed == packed_type::int8);
      REQUIRE(small.b_limbs == 1);
    }
    REQUIRE(plan<fixed<8, 4>>(*set, 1024, 2, 1024).how == algorithm::skinny_rows);
  }
}

TEST_CASE("small products of floats are not packed", "[plan]") {
  for (const char* name : {"avx2", "avx512", "avx512_bf16", "amx", "neon", "neon_bf16"}) {
    const auto set = kernels_of(name);
    if (!set) continue;
    CAPTURE(name);
    const auto t = *set;
    REQUIRE(plan<fp16>(t, 2, 2, 2).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 16, 16, 1).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 32, 32, 32).how == algorithm::compact);
    REQUIRE(plan<bf16>(t, 16, 16, 16).how == algorithm::compact);
    REQUIRE(plan<fp8_e5m2, fp8_e4m3fn>(t, 16, 16, 16).packed == packed_type::fp32);
    REQUIRE(plan<fp16>(t, 16, 16, 0).how == algorithm::portable);
    // Both factors and the result are to fit a first-level cache.
    REQUIRE(plan<fp16>(t, 4, 4, 1024).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 9, 9, 1025).how == algorithm::panels);
    REQUIRE(plan<fp16>(t, 64, 64, 64).how == algorithm::panels);
    // Few terms are added so whatever the size of the result.
    REQUIRE(plan<fp16>(t, 512, 512, 4).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 512, 513, 4).how == algorithm::panels);
    REQUIRE(plan<fp16>(t, 512, 512, 5).how == algorithm::panels);
    // Of few rows and columns, or of few of them and few terms, whatever the size of the others.
    REQUIRE(plan<fp16>(t, 8, 8, 100'000).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 100'000, 8, 8).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 3, 100'000, 3).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 9, 100'000, 9).how == algorithm::panels);
    // A row is multiplied so if the matrix is small, which is sooner too large by rows or of bytes; a column
    // as the row of the transposed product.
    const auto row_how = []<class T>(kernel::kernel_set k, std::type_identity<T>, const auto& matrix) {
      using accumulation = detail::accumulation_traits<T, T>;
      return kernel::plan_product<accumulation>(k, by_rows<T>(1, matrix.rows), matrix, {}).how;
    };
    constexpr std::type_identity<fp16> words;
    constexpr std::type_identity<fp8_e4m3fn> bytes;
    REQUIRE(row_how(t, words, by_rows<fp16>(128, 128)) == algorithm::compact);
    REQUIRE(row_how(t, words, by_rows<fp16>(128, 129)) == algorithm::gemv_columns);
    REQUIRE(row_how(t, words, by_rows<fp16>(4, 4096)) == algorithm::compact);
    REQUIRE(row_how(t, words, by_rows<fp16>(3, 4097)) == algorithm::gemv_columns);
    REQUIRE(row_how(t, words, by_columns<fp16>(256, 256)) == algorithm::compact);
    REQUIRE(row_how(t, words, by_columns<fp16>(256, 257)) == algorithm::gemv_rows);
    REQUIRE(row_how(t, bytes, by_rows<fp8_e4m3fn>(64, 64)) == algorithm::compact);
    REQUIRE(row_how(t, bytes, by_rows<fp8_e4m3fn>(64, 65)) == algorithm::gemv_columns);
    REQUIRE(plan<fp16>(t, 256, 1, 256).how == algorithm::compact);
    REQUIRE(plan<fp16>(t, 256, 1, 256).transposed);
    REQUIRE(plan<fp16>(t, 256, 1, 257).how == algorithm::gemv_rows);
    REQUIRE(plan<fixed<8, 4>>(t, 16, 16, 16).how == algorithm::panels);
  }
}

TEST_CASE("formats and instruction sets choose the packed type", "[plan]") {
  struct expected {
    const char* isa;
    packed_type fp16, bf16, fp8, int8, int16;
  };
  constexpr auto fp32 = packed_type::fp32, two = packed_type::two_bf16, half = packed_type::bf16,
                 word = packed_type::int16, byte = packed_type::int8;
  for (const auto& e :
       {expected{"avx2", fp32, fp32, fp32, word, word}, expected{"avx_vnni", fp32, fp32, fp32, byte, word},
        expected{"avx512", fp32, fp32, fp32, word, word},
        expected{"avx512_vnni", fp32, fp32, fp32, byte, word},
        expected{"avx512_vbmi", fp32, fp32, fp32, byte, word},
        expected{"avx512_bf16", fp32, half, half, byte, word}, expected{"amx", two, half, half, byte, word},
        expected{"neon", fp32, fp32, fp32, word, word}, expected{"neon_dot", fp32, fp32, fp32, byte, word},
        expected{"neon_bf16", fp32, half, half, byte, word},
        expected{"neon_i8mm", fp32, half, half, byte, word}}) {
    const auto set = kernels_of(e.isa);
    if (!set) continue;
    CAPTURE(e.isa);
    const auto packed = [](const product_plan& p) { return p.packed; };
    REQUIRE(packed(plan<fp16>(*set, 64, 64, 64)) == e.fp16);
    REQUIRE(packed(plan<bf16>(*set, 64, 64, 64)) == e.bf16);
    REQUIRE(packed(plan<fp8_e5m2, fp8_e4m3fn>(*set, 64, 64, 64)) == e.fp8);
    REQUIRE(packed(plan<fp16, bf16>(*set, 64, 64, 64)) == fp32);
    REQUIRE(packed(plan<fixed<8, 4>>(*set, 64, 64, 64)) == e.int8);
    REQUIRE(packed(plan<fixed<16, 8>>(*set, 64, 64, 64)) == e.int16);
    REQUIRE(packed(plan<std::int8_t, std::int16_t>(*set, 64, 64, 64)) == e.int16);

    // What is packed narrower than it is has something to fall back to.
    REQUIRE(plan<bf16>(*set, 64, 64, 64).fallback == (e.bf16 == half ? fp32 : packed_type::none));
    REQUIRE(plan<fp16>(*set, 64, 64, 64).fallback == (e.fp16 == two ? fp32 : packed_type::none));
    REQUIRE(plan<fp8_e5m2>(*set, 64, 64, 64).fallback == packed_type::none);
  }
}

TEST_CASE("results that are too small for two bf16 are packed as floats", "[plan]") {
  const auto set = kernels_of("amx");
  if (!set) return;
  const auto packed = [&](place m, place n, place k) { return plan<fp16>(*set, m, n, k).packed; };
  REQUIRE(packed(64, 64, 32) == packed_type::two_bf16);
  REQUIRE(packed(64, 64, 31) == packed_type::fp32);
  REQUIRE(packed(63, 65, 64) == packed_type::fp32);
  REQUIRE(packed(32, 128, 64) == packed_type::two_bf16);
  REQUIRE(packed(31, 4096, 64) == packed_type::fp32);
}

TEST_CASE("magnitudes choose limbs and the depth of a block", "[plan]") {
  const auto set = kernels_of("avx512_vnni");
  if (!set) return;
  using word = std::int16_t;
  const auto with = [&](std::int64_t largest, place depth) {
    return plan<word>(*set, 64, 64, depth, {largest, largest});
  };
  const auto small = with(2048, 64), deep = with(2048, 4096), large = with(32768, 64);
  REQUIRE(small.b_limbs == 1);
  REQUIRE(small.depth_block == 64);
  REQUIRE(deep.b_limbs == 1);
  // 2^31 - 1 holds 255 sums of two products of at most 2^22.
  REQUIRE(deep.depth_block == 2 * 255);
  REQUIRE(large.b_limbs == 2);
  // Of two products of 2^15 and a limb of at most 2^7 it holds 255.
  REQUIRE(large.depth_block == 64);
  REQUIRE(with(32768, 4096).depth_block == 2 * 255);
}

TEST_CASE("int16 is multiplied in bytes where that is worth it", "[plan]") {
  const auto set = kernels_of("amx");
  if (!set) return;
  const auto instruction = [&](std::int64_t largest, place m, place k) {
    return std::string_view(plan<std::int16_t>(*set, m, 64, k, {largest, largest}).instruction);
  };
  REQUIRE(instruction(2048, 64, 500) == "vpdpwssd");
  REQUIRE(instruction(2048, 64, 512) == "tdpb[su][su]d");
  REQUIRE(instruction(2048, 63, 512) == "vpdpwssd");
  REQUIRE(instruction(32768, 16, 64) == "tdpb[su][su]d");
  REQUIRE(instruction(32768, 16, 62) == "vpdpwssd");
}

TEST_CASE("wide integers are multiplied in limbs where doubles would hold too few products", "[plan]") {
  const auto set = kernels_of("avx512");
  if (!set) return;
  const auto of = [&](int wl_a, int wl_b, place m = 64, place n = 64) {
    return plan<std::int32_t>(*set, m, n, 64, {std::int64_t{1} << (wl_a - 1), std::int64_t{1} << (wl_b - 1)});
  };
  REQUIRE(of(26, 26).b_limbs == 1);
  REQUIRE(of(26, 26).depth_block == 8);
  REQUIRE(of(26, 27).b_limbs == 2);
  REQUIRE_FALSE(of(29, 29).wide_sums);
  REQUIRE(of(32, 32).wide_sums);
  REQUIRE(of(32, 32, 1, 128).a_limbs == 2);
  REQUIRE(of(32, 32, 128, 1).transposed);
  REQUIRE(of(32, 32, 1, 64).how == algorithm::portable);
}

TEST_CASE("threads share a result in whole tiles", "[plan]") {
  set_num_threads(4);
  const auto t = kernel::enter([](kernel::kernel_set in_use) { return in_use; });
  const auto large = plan<fp16>(t, 1024, 1024, 64), small = plan<fp16>(t, 64, 64, 64);
  const bool has_kernels = large.how == algorithm::panels;
  REQUIRE(large.threads() == (has_kernels ? 4 : 1));
  REQUIRE(small.threads() == 1);
  set_num_threads(1);
  REQUIRE(large.threads() == 1);
}

TEST_CASE("a plan in words", "[plan]") {
  const std::string before(isa_name());
  const std::vector<fp16> a(64 * 48), b(48 * 32);
  use_isa("portable");
  REQUIRE(explain(row_major(a, 64, 48), row_major(b, 48, 32)) ==
          "fp16 (64 x 48) times fp16 (48 x 32): portable, plain C++, 1 thread");
  REQUIRE_THROWS_WITH(explain(row_major(a, 64, 48), row_major(b, 32, 48)),
                      Catch::Contains("narrow::explain") && Catch::Contains("64 x 48"));
  use_isa(before);
  const auto t = kernels_of("avx512_bf16");
  if (!t) return;
  REQUIRE(kernel::describe(plan<bf16>(*t, 64, 64, 48), 48) ==
          "panels of bf16 by vdpbf16ps in tiles of 8 x 32, depth 48 at once, 1 thread; as fp32 if a bf16 is "
          "subnormal");
  REQUIRE(kernel::describe(plan<fp16>(*t, 70, 64, 48), 48) ==
          "panels of fp32 by FMA in tiles of 14 x 32, depth 48 at once, 1 thread");
  REQUIRE(kernel::describe(plan<fp16>(*t, 512, 1, 480), 480) ==
          "gemv by rows of fp32, depth 480 at once, 1 thread");
  REQUIRE(kernel::describe(plan<fp16>(*t, 64, 1, 48), 48) ==
          "small product of fp32 of the transposed product, 1 thread");
  REQUIRE(kernel::describe(plan<std::int32_t>(*t, 1, 128, 48), 48) ==
          "panels of fp64 by FMA in tiles of 1 x 16, A in 2 limbs, sums of 128 bits, depth 48 at once, 1 "
          "thread");
  const block_tensor<bfp<8>> w(64, 64);
  REQUIRE_THAT(explain(w.view(), w.view()), Catch::Contains("int8 (64 x 64) times int8 (64 x 64): "));
}

TEST_CASE("MX blocks are multiplied as integers, as floats of exact sums, or as values", "[plan]") {
  // Blocks of 1 x 32 that lie along the sums of A B^T, of B across those of A B.
  struct expected {
    const char* isa;
    packed_type values, integers, exact_floats;
  };
  constexpr auto fp32 = packed_type::fp32, half = packed_type::bf16, word = packed_type::int16,
                 byte = packed_type::int8;
  for (const auto& e : {expected{"avx2", fp32, word, fp32}, expected{"avx512_vnni", fp32, byte, fp32},
                        expected{"avx512_bf16", half, byte, half}, expected{"amx", half, byte, half},
                        expected{"neon", fp32, word, fp32}, expected{"neon_bf16", half, byte, half}}) {
    const auto set = kernels_of(e.isa);
    if (!set) continue;
    CAPTURE(e.isa);
    const auto plan_of = [&]<class F>(std::type_identity<F>, bool across) {
      const block_tensor<F> a(128, 128), b(128, 128);
      return across ? kernel::plan_blocks(*set, a.view(), b.view())
                    : kernel::plan_blocks(*set, a.view(), b.view().transposed());
    };
    const auto check = [&]<class F>(std::type_identity<F> format, bool along_by_values, packed_type along) {
      const auto whole = plan_of(format, true), pieces = plan_of(format, false);
      REQUIRE(whole.how == algorithm::panels);
      REQUIRE(whole.scales_first);
      REQUIRE(whole.packed == e.values);
      REQUIRE(whole.fallback == packed_type::none);
      REQUIRE(pieces.scales_first == along_by_values);
      REQUIRE(pieces.how == (along_by_values ? algorithm::panels : algorithm::scaled_panels));
      REQUIRE(pieces.packed == along);
    };
    check(std::type_identity<mx<narrow::int8>>{}, false, e.integers);
    check(std::type_identity<mx<fp4_e2m1>>{}, false, e.exact_floats);
    check(std::type_identity<mx<fp6_e2m3>>{}, false, e.exact_floats);
    check(std::type_identity<mx<fp6_e3m2>>{}, false, e.exact_floats);
    check(std::type_identity<mx<fp8_e4m3fn>>{}, true, e.values);
    check(std::type_identity<mx<fp8_e5m2>>{}, true, e.values);
    check(std::type_identity<bfp<8, tile<1, 32>>>{}, false, e.integers);
    // Elements or scales that bf16 does not hold; a sum under one scale.
    REQUIRE_FALSE(plan_of(std::type_identity<bfp<9, tile<1, 32>>>{}, true).scales_first);
    REQUIRE_FALSE(plan_of(std::type_identity<mx<fp8_e4m3fn, tile<1, 128>>>{}, false).scales_first);
    const auto reals = quantize<basic_int8<tile<1, 32>>>(std::vector<float>(64 * 64, 1.5f), 64, 64);
    REQUIRE_FALSE(kernel::plan_blocks(*set, reals.view(), reals.view()).scales_first);
  }
}

namespace {

/// The kernels for 128 x 128 results, each with the depth from which on it is chosen: "vpdpbusd; tdpbssd from
/// 61".
template <class Plan> std::string kernels_by_depth(const Plan& at_depth) {
  std::string text, last;
  for (place depth = 8; depth <= 1024; ++depth) {
    const product_plan p = at_depth(depth);
    std::string now = p.how == algorithm::portable      ? "plain C++"
                      : p.how == algorithm::wide_panels ? "fp64 " + std::string(p.instruction)
                      : p.packed == packed_type::fp32   ? "fp32 " + std::string(p.instruction)
                                                        : std::string(p.instruction);
    if (p.packed == packed_type::two_bf16) now += " of two bf16";
    if (p.a_limbs * p.b_limbs > 1) now += " twice";
    if (now == last) continue;
    text += last.empty() ? now : "; " + now + " from " + std::to_string(depth);
    last = now;
  }
  return text;
}

/// The table of products for the instruction sets of this program.
std::string table_of_products() {
  std::vector<kernel::kernel_set> sets;
  std::string text = "| products of |";
  for (std::size_t i = 1; i < kernel::instruction_set_count(); ++i) {
    sets.push_back(kernel::kernels_not_in_use::of(i));
    text += " `" + std::string(kernel::dispatch::name_of(i)) + "` |";
  }
  text += "\n|---|";
  for (std::size_t i = 0; i < sets.size(); ++i) text += "---|";
  const auto add = [&](const char* formats, const auto& plan_for) {
    text += "\n| " + std::string(formats) + " |";
    for (const kernel::kernel_set t : sets)
      text += " " + kernels_by_depth([&](place depth) { return plan_for(t, depth); }) + " |";
  };
  constexpr place m = 128;
  const auto integers = [&]<class T>(T, int wl) {
    return [wl](kernel::kernel_set t, place k) {
      return plan<T>(t, m, m, k, {std::int64_t{1} << (wl - 1), std::int64_t{1} << (wl - 1)});
    };
  };
  add("fp16", [](auto t, place k) { return plan<fp16>(t, m, m, k); });
  add("float, mixtures", [](auto t, place k) { return plan<float, fp16>(t, m, m, k); });
  add("bf16, fp8, fp6, fp4", [](auto t, place k) { return plan<bf16>(t, m, m, k); });
  add("`int8`, `bfp` and `fixed` to 8 bits", integers(std::int8_t{}, 8));
  add("`bfp` and `fixed` of 9 to 12 bits", integers(std::int16_t{}, 12));
  add("`bfp` and `fixed` of 16 bits", integers(std::int16_t{}, 16));
  add("`fixed` of 17 to 26 bits", integers(std::int32_t{}, 26));
  add("`fixed` of 27 to 32 bits", integers(std::int32_t{}, 32));
  return text + '\n';
}

}  // namespace

TEST_CASE("the guide shows the table of products that the plans make", "[plan]") {
  if (kernel::instruction_set_count() == 1) return;  // the portable one, which the table leaves out
  const auto guide = std::filesystem::path(__FILE__).parent_path() / "../../examples/guides/products.md";
  std::ifstream in(guide);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string table = table_of_products();
  INFO("the table is\n" << table);
  REQUIRE(text.find(table) != std::string::npos);
}
