// Products of MX matrices whose blocks lie along the summed dimension or across it: elements and scales of
// every kind, beside sums in double, with every instruction set.
#include "../every_isa.hpp"
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

using stored_elements =
    std::tuple<fp8_e5m2, fp8_e4m3fn, fp6_e3m2, fp6_e2m3, fp4_e2m1, fixed<8, 6>, fp8_e5m2fnuz, std::int8_t>;

template <class E> E element_from_code(unsigned code) {
  if constexpr (std::integral<E>)
    return static_cast<E>(code);
  else
    return E::from_bits(static_cast<typename E::bits_type>(code));
}

/// The values and the scales that elements are drawn from, by the exponents of two that scales have.
struct content {
  const char* name;
  int least, most;           // exponents of scales
  unsigned zero_blocks = 0;  // in so many of 100 blocks all is zero under the scale 2^-127
  unsigned nan_scales = 0, special_elements = 0;  // in 1000
};

/// A matrix in blocks of 1 x 32, or turned, in memory of its own, as a part of a larger one if `shifted`.
template <class E> struct mx_matrix {
  std::vector<E> elements;
  std::vector<e8m0> scales;
  block_view<E, e8m0> view;

  mx_matrix(place rows, place cols, bool turned, bool by_columns, bool shifted, const content& what,
            generator& random) {
    const place down = shifted ? 7 : 0, right = shifted ? 37 : 0, all_rows = rows + down,
                all_cols = cols + right;
    const auto [tile_rows, tile_cols] =
        turned ? std::pair<place, place>{32, 1} : std::pair<place, place>{1, 32};
    const place block_rows = (all_rows + tile_rows - 1) / tile_rows,
                block_cols = (all_cols + tile_cols - 1) / tile_cols;
    for (place i = 0; i < block_rows * block_cols; ++i) {
      const bool is_zero = below(random, 100) < what.zero_blocks,
                 is_nan = below(random, 1000) < what.nan_scales;
      const auto exponent =
          what.least + static_cast<int>(below(random, static_cast<unsigned>(what.most - what.least + 1)));
      scales.push_back(e8m0::from_bits(static_cast<std::uint8_t>(is_zero  ? 0
                                                                 : is_nan ? 255
                                                                          : exponent + 127)));
    }
    elements.resize(static_cast<std::size_t>(all_rows * all_cols));
    const matrix_view<E> place_of{elements.data(), all_rows, all_cols, by_columns ? 1 : all_cols,
                                  by_columns ? all_rows : 1};
    for (place i = 0; i < all_rows; ++i)
      for (place j = 0; j < all_cols; ++j) {
        const auto scale = scales[static_cast<std::size_t>(i / tile_rows * block_cols + j / tile_cols)];
        E x;
        do x = element_from_code<E>(static_cast<unsigned>(random()) & 0xff);
        while (!is_finite(static_cast<float>(x)) && below(random, 1000) >= what.special_elements);
        place_of(i, j) = scale.bits() == 0 ? E(0) : x;
      }
    const block_view<E, e8m0> whole{
        place_of, {scales.data(), block_rows, block_cols, block_cols, 1}, tile_rows, tile_cols};
    view = whole.block(down, right, rows, cols);
  }
  mx_matrix(const mx_matrix&) = delete;

  double value(place i, place j) const {
    return static_cast<double>(static_cast<float>(view.elements(i, j))) * view.scale(i, j);
  }
};

/// The sum of the products, and of their magnitudes.
struct expected_sum {
  double value = 0, magnitude = 0;
  place terms = 0;

  void add(double term) {
    value += term;
    magnitude += std::abs(term);
    ++terms;
  }
  /// Whether a sum in float may be c.
  bool allows(float c) const {
    if (std::isnan(value)) return is_nan(c);
    if (std::isinf(value)) return c == static_cast<float>(value);
    // Where products of floats underflow, each loses half of the smallest subnormal at most.
    const double bound = static_cast<double>(terms) * (0x1.0001p-24 * magnitude + 0x1p-150);
    return is_finite(c) && std::abs(double{c} - value) <= bound;
  }
};

/// Those of A B, row by row; B perhaps given as its transpose.
template <class A, class B>
std::vector<expected_sum> expected_sums(const mx_matrix<A>& a, const mx_matrix<B>& b, bool turned_b) {
  const place m = a.view.rows(), k = a.view.cols(), n = turned_b ? b.view.rows() : b.view.cols();
  std::vector<double> x, y;
  for (place i = 0; i < m; ++i)
    for (place l = 0; l < k; ++l) x.push_back(a.value(i, l));
  for (place j = 0; j < n; ++j)
    for (place l = 0; l < k; ++l) y.push_back(turned_b ? b.value(j, l) : b.value(l, j));
  std::vector<expected_sum> result(static_cast<std::size_t>(m * n));
  for (place i = 0; i < m; ++i)
    for (place j = 0; j < n; ++j)
      for (place l = 0; l < k; ++l)
        result[static_cast<std::size_t>(i * n + j)].add(x[static_cast<std::size_t>(i * k + l)] *
                                                        y[static_cast<std::size_t>(j * k + l)]);
  return result;
}

constexpr content contents[] = {
    {"ordinary", -12, 3},
    {"blocks of zeros", -20, -2, 30},
    {"NaNs and infinities", -6, 6, 10, 12, 10},
};
/// Scales of A and of B that bf16, or sums of it, do not hold: subnormal values, sums below the normal
/// numbers, huge times tiny ones.
constexpr std::pair<content, content> extremes[] = {
    {{"tiny", -127, -118}, {"ordinary", -4, 4}},
    {{"small", -70, -50}, {"small", -70, -55}},
    {{"huge", 90, 105}, {"tiny", -119, -96}},
    {{"ordinary", -3, 0, 10, 5}, {"tiny", -127, -120, 10}},
};

struct product_size {
  place m, n, k;
};
constexpr product_size sizes[] = {{3, 5, 7},    {1, 9, 70},   {17, 1, 64},
                                  {33, 34, 96}, {9, 20, 133}, {40, 33, 31}};

/// Bits 0 to 5 of a layout: which way the blocks of A and of B lie, the order in memory of each, whether each
/// is a part of a larger matrix.
constexpr unsigned layout_step(const product_size& size) { return size.m * size.n * size.k > 1000 ? 11 : 5; }

template <class A, class B>
void check_products(tally& count, const content& of_a, const content& of_b, generator& random) {
  for (const product_size& size : sizes)
    for (unsigned layout = 0; layout < 64; layout += layout_step(size)) {
      const place m = size.m, n = size.n, k = size.k;
      const auto bit = [&](unsigned number) { return (layout >> number & 1) != 0; };
      const mx_matrix<A> a(m, k, bit(0), bit(2), bit(4), of_a, random);
      const bool as_transpose = layout % 3 == 0;  // B is given as the transpose of a matrix
      const mx_matrix<B> b(as_transpose ? n : k, as_transpose ? k : n, bit(1), bit(3), bit(5), of_b, random);
      const auto right = as_transpose ? b.view.transposed() : b.view;
      const auto expected = expected_sums(a, b, as_transpose);
      for_each_isa([&](const std::string& isa) {
        std::vector<float> c(static_cast<std::size_t>(m * n), 0.5f);
        const auto to = layout % 2 == 0 ? row_major(c, m, n) : column_major(c, m, n);
        gemm(a.view, right, to);
        for (place i = 0; i < m; ++i)
          for (place j = 0; j < n; ++j)
            count.expect(expected[static_cast<std::size_t>(i * n + j)].allows(to(i, j)), [&] {
              return text(name_of<A>(), name_of<B>(), of_a.name, of_b.name, isa, "layout", layout, "depth", k,
                          "at", i, j, to(i, j));
            });
      });
    }
}

/// How many coefficients that are with one instruction set.
constexpr std::uint64_t coefficients = [] {
  std::uint64_t result = 0;
  for (const product_size& size : sizes)
    result += static_cast<std::uint64_t>(size.m * size.n) * (63 / layout_step(size) + 1);
  return result;
}();

/// A finite number that is not zero, as bf16 has it; 0 where it has none that is normal.
std::uint16_t normal_bf16(double x) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  const bool is_exact = (bits & 0xffff) == 0 && double{std::bit_cast<float>(bits)} == x;
  const std::uint32_t magnitude = bits & 0x7fff'ffff;
  return is_exact && magnitude >= 0x0080'0000 && magnitude < 0x7f80'0000
             ? static_cast<std::uint16_t>(bits >> 16)
             : 0;
}

/// One scale for all: how 256 codes of E look as bf16, in blocks of some width.
template <class E>
void check_codes_under(tally& count, std::uint8_t scale_code, place width, const std::string& isa) {
  constexpr place codes = 256;
  std::vector<E> all;
  for (unsigned code = 0; code < codes; ++code) all.push_back(element_from_code<E>(code));
  const std::vector<e8m0> scales(static_cast<std::size_t>((codes + width - 1) / width),
                                 e8m0::from_bits(scale_code));
  const auto blocks = static_cast<place>(scales.size());
  const block_view<E, e8m0> m{
      {all.data(), 1, codes, codes, 1}, {scales.data(), 1, blocks, blocks, 1}, 1, width};
  std::vector<kernel::value_bf16> got(codes);
  const auto written =
      kernel::enter([&](kernel::kernel_set t) { return kernel::write_bf16(t, m, got.data()); });
  bool fits = true;
  std::uint16_t least = 0xffff, most = 0;
  for (place j = 0; j < codes; ++j) {
    const double value = double{static_cast<float>(all[static_cast<std::size_t>(j)])} * m.scale(0, j);
    const float as_float = static_cast<float>(got[static_cast<std::size_t>(j)]);
    const std::uint16_t wanted = normal_bf16(value);
    if (std::isnan(value)) {
      count.expect(is_nan(as_float), [&] { return text(isa, name_of<E>(), "NaN", scale_code, j, as_float); });
    } else if (value == 0 || std::isinf(value)) {
      count.expect(as_float == static_cast<float>(value) && std::signbit(as_float) == std::signbit(value),
                   [&] { return text(isa, name_of<E>(), "special", scale_code, j, as_float); });
    } else if (wanted == 0) {
      fits = false;
      count.expect(true, [] { return text(""); });
    } else {
      const auto magnitude = static_cast<std::uint16_t>(wanted & 0x7fff);
      least = std::min(least, magnitude);
      most = std::max(most, magnitude);
      count.expect(got[static_cast<std::size_t>(j)].bits() == wanted,
                   [&] { return text(isa, name_of<E>(), "number", scale_code, j, as_float); });
    }
  }
  const auto& seen = written.seen;
  const bool is_seen =
      fits ? seen.least == least && seen.most == most : seen.least < 0x0080 || seen.most >= 0x7f80;
  count.expect(written.exact && is_seen,
               [&] { return text(isa, name_of<E>(), "magnitudes", scale_code, seen.least, seen.most); });
}

}  // namespace

TEST_CASE("every element times every scale as bf16", "[mx][isa]") {
  tally count;
  for_each_isa([&](const std::string& isa) {
    for_each_type<stored_elements>([&]<class E>() {
      for (unsigned scale = 0; scale < 256; ++scale)
        for (const place width : {1, 13, 32, 256})
          check_codes_under<E>(count, static_cast<std::uint8_t>(scale), width, isa);
    });
  });
  count.require(isa_count() * std::tuple_size_v<stored_elements> * 256 * 4 * 257);
}

TEST_CASE("MX products however their blocks lie", "[mx][isa]") {
  tally count;
  generator random(28);
  for_each_type<stored_elements>([&]<class E>() {
    for (const content& what : contents) check_products<E, E>(count, what, what, random);
  });
  check_products<fp8_e4m3fn, fp8_e5m2>(count, contents[0], contents[0], random);
  check_products<fp4_e2m1, fp8_e4m3fn>(count, contents[1], contents[2], random);
  check_products<fixed<8, 6>, fp6_e3m2>(count, contents[0], contents[2], random);
  count.require(isa_count() * coefficients * (3 * std::tuple_size_v<stored_elements> + 3));
}

TEST_CASE("MX products of extreme scales", "[mx][isa]") {
  tally count;
  generator random(29);
  for (const auto& [of_a, of_b] : extremes) {
    check_products<fp8_e4m3fn, fp8_e4m3fn>(count, of_a, of_b, random);
    check_products<fp4_e2m1, fp4_e2m1>(count, of_a, of_b, random);
    check_products<fixed<8, 6>, fixed<8, 6>>(count, of_a, of_b, random);
    check_products<fp8_e5m2, fp6_e2m3>(count, of_b, of_a, random);
  }
  count.require(isa_count() * coefficients * 4 * std::size(extremes));
}

namespace {

/// The product of a row (first numbers of 64) and a column, each under one scale, in every row and column of
/// a result that is large enough for panels; A B in which the blocks of both lie along the sums, or across
/// them.
template <class E>
void check_sum(tally& count, std::vector<float> row, std::vector<float> column, int scale_a, int scale_b,
               float wanted) {
  constexpr place lines = 64, depth = 64;
  row.resize(depth);
  column.resize(depth);
  std::vector<E> a, b;
  for (place i = 0; i < lines; ++i)
    for (place l = 0; l < depth; ++l) {
      a.push_back(E(row[static_cast<std::size_t>(l)]));
      b.push_back(E(column[static_cast<std::size_t>(l)]));
    }
  const auto in_blocks = [&](const std::vector<E>& elements, const std::vector<e8m0>& scales, place tile_rows,
                             place tile_cols) {
    const place blocks = depth / tile_cols;
    return block_view<E, e8m0>{{elements.data(), lines, depth, depth, 1},
                               {scales.data(), lines / tile_rows, blocks, blocks, 1},
                               tile_rows,
                               tile_cols};
  };
  const std::vector<e8m0> scales_a(128, e8m0::from_bits(static_cast<std::uint8_t>(scale_a + 127))),
      scales_b(128, e8m0::from_bits(static_cast<std::uint8_t>(scale_b + 127)));
  for_each_isa([&](const std::string& isa) {
    for (const bool across : {false, true}) {
      std::vector<float> c(lines * lines);
      const auto left = in_blocks(a, scales_a, across ? 32 : 1, across ? 1 : 32),
                 right = in_blocks(b, scales_b, across ? 32 : 1, across ? 1 : 32);
      gemm(left, right.transposed(), row_major(c, lines, lines));
      for (const float x : c)
        count.expect(x == wanted,
                     [&] { return text(isa, name_of<E>(), across ? "across" : "along", x, wanted); });
    }
  });
}

}  // namespace

TEST_CASE("MX sums are what they are at both ends of float's range", "[mx][isa]") {
  tally count;
  // Partial sums below the normal numbers, of normal products.
  check_sum<fixed<8, 6>>(count, {127 / 64.0f, -126 / 64.0f}, {127 / 64.0f, 127 / 64.0f}, -63, -63,
                         127 * 0x1p-138f);
  check_sum<fp8_e4m3fn>(count, {1.875f, -1.75f}, {1, 1}, -63, -63, 0x1p-129f);
  check_sum<fp8_e4m3fn>(count, {448, 448, 1}, {0x1p-9f, -0x1p-9f, 0x1p-9f}, -127, 70, 0x1p-66f);
  // Numbers below them times zeros.
  check_sum<fixed<8, 6>>(count, {1 / 64.0f, 0.5f, 33 / 64.0f}, {0}, -127, 0, 0);
  check_sum<fp8_e4m3fn>(count, {0}, {0x1p-9f, 0.5f, 0.75f}, 0, -127, 0);
  count.require(5 * isa_count() * 2 * 64 * 64);
  // Terms beyond float's range that cancel: sums under one scale do not leave it.
  tally along;
  const std::vector<e8m0> huge(128, e8m0::from_bits(127 + 60));
  std::vector<fp8_e4m3fn> a(64 * 64), b(64 * 64);
  for (std::size_t i = 0; i < a.size(); i += 64) {
    a[i] = a[i + 1] = b[i] = 448;
    b[i + 1] = -448;
    a[i + 2] = b[i + 2] = 1;
  }
  const auto in_blocks = [&](const auto& elements) {
    return block_view<fp8_e4m3fn, e8m0>{{elements.data(), 64, 64, 64, 1}, {huge.data(), 64, 2, 2, 1}, 1, 32};
  };
  for_each_isa([&](const std::string& isa) {
    std::vector<float> c(64 * 64);
    gemm(in_blocks(a), in_blocks(b).transposed(), row_major(c, 64, 64));
    for (const float x : c) along.expect(x == 0x1p120f, [&] { return text(isa, x); });
  });
  along.require(isa_count() * 64 * 64);
}
