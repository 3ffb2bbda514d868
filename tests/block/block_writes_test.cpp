// Writing parts of a tensor: into the present scales, which grow where they must.
#include <span>

#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

/// What a tensor should hold, as exact numbers; one scale for each element.
template <class F> class model {
 public:
  using round_policy = typename F::round_policy;

  model(const block_tensor<F>& t) : rows_(t.rows()), cols_(t.cols()), nonfinite_(t.nonfinite()) {
    for (place i = 0; i < rows_; ++i)
      for (place j = 0; j < cols_; ++j) {
        scales_.push_back(rational(static_cast<float>(t.view().scale(i, j))));
        mantissas_.push_back(mantissa(t, i, j));
      }
  }

  void write(place row, place col, place height, place width, const std::vector<float>& values) {
    const auto inside = [&](place i, place j) {
      return row <= i && i < row + height && col <= j && j < col + width;
    };
    const auto written = [&](place i, place j) {
      return values[static_cast<std::size_t>((i - row) * width + j - col)];
    };
    std::vector<bool> seen(scales_.size());
    for (place i = row; i < row + height; ++i)
      for (place j = col; j < col + width; ++j) {
        nonfinite_ += is_finite(written(i, j)) ? 0 : 1;
        if (seen[at(i, j)]) continue;
        mpq_class largest = 0;
        for_each_in_block(i, j, [&](place k, place l) {
          seen[at(k, l)] = true;
          if (inside(k, l) && is_finite(written(k, l)))
            largest = std::max(largest, mpq_class(abs(rational(written(k, l)))));
        });
        grow(i, j, largest);
      }
    for (place i = row; i < row + height; ++i)
      for (place j = col; j < col + width; ++j)
        mantissas_[at(i, j)] = stored(written(i, j), scales_[at(i, j)]);
  }

  bool matches(const block_tensor<F>& t) const {
    if (t.nonfinite() != nonfinite_) return false;
    for (place i = 0; i < rows_; ++i)
      for (place j = 0; j < cols_; ++j)
        if (mantissa(t, i, j) != mantissas_[at(i, j)] ||
            rational(static_cast<float>(t.view().scale(i, j))) != scales_[at(i, j)])
          return false;
    return true;
  }
  int growths() const { return growths_; }

 private:
  std::size_t at(place i, place j) const { return static_cast<std::size_t>(i * cols_ + j); }

  template <class Visit> void for_each_in_block(place i, place j, Visit visit) const {
    for (place k = 0; k < rows_; ++k)
      for (place l = 0; l < cols_; ++l)
        if (sharing<typename F::block_type>::same(i, j, k, l)) visit(k, l);
  }

  static long stored(float x, const mpq_class& scale) {
    if (is_nan(x)) return 0;
    if (!is_finite(x)) return std::signbit(x) ? -limit_of<F> : limit_of<F>;
    return stored(rational(x), scale);
  }
  static long stored(const mpq_class& x, const mpq_class& scale) {
    const mpz_class magnitude = rounded_integers<round_policy>(mpq_class(x / scale)).first;
    const long kept = magnitude > limit_of<F> ? limit_of<F> : magnitude.get_si();
    return sgn(x) < 0 ? -kept : kept;
  }
  static mpq_class scale_for(const mpq_class& largest) {
    if constexpr (!format_facts<F>::power_of_two) return int8_scale<round_policy>({largest});
    if (sgn(largest) == 0) return power(-149);
    return smallest_step_that_fits<round_policy>(largest, format_facts<F>::width);
  }

  void grow(place i, place j, const mpq_class& largest) {
    const mpq_class present = scales_[at(i, j)], needed = scale_for(largest);
    if (needed <= present) return;
    mpq_class grown = present;
    while (grown < needed) grown *= 2;
    grown = present == power(-149) ? needed : std::min(grown, scale_for(power(128) - power(104)));
    ++growths_;
    for_each_in_block(i, j, [&](place k, place l) {
      mantissas_[at(k, l)] = stored(mpq_class(mantissas_[at(k, l)] * present), grown);
      scales_[at(k, l)] = grown;
    });
  }

  place rows_, cols_;
  std::size_t nonfinite_;
  std::vector<mpq_class> scales_;
  std::vector<long> mantissas_;
  int growths_ = 0;
};

template <class F> void check_writes(tally& count, storage_order order) {
  generator random(2024);
  int growths = 0;
  for (int run = 0; run < 12; ++run) {
    const extent size = extents[static_cast<std::size_t>(run) % std::size(extents)];
    block_tensor<F> t(size.rows, size.cols, order);  // every third one begins with zeros
    if (run % 3 != 0)
      t.assign(row_major(values_of_kind(run % 3, static_cast<std::size_t>(size.rows * size.cols), random),
                         size.rows, size.cols));
    model<F> right(t);
    for (int i = 0; i < 40; ++i) {
      const place row = static_cast<place>(below(random, static_cast<std::uint64_t>(size.rows)));
      const place col = static_cast<place>(below(random, static_cast<std::uint64_t>(size.cols)));
      place height = 1, width = 1;
      if (i % 2 == 0) {
        height += static_cast<place>(below(random, static_cast<std::uint64_t>(size.rows - row)));
        width += static_cast<place>(below(random, static_cast<std::uint64_t>(size.cols - col)));
      }
      auto values = values_of_kind(static_cast<int>(below(random, kinds_of_values)),
                                   static_cast<std::size_t>(height * width), random);
      for (float& x : values)  // not all at the top at once
        if (is_finite(x) && i < 30) x = std::ldexp(x, 4 * (i - 30));
      if (i % 4 < 2)
        t.write(row, col, row_major(values, height, width));
      else  // from a function, which is asked with the part's own rows and columns
        t.write({row, col, height, width},
                [&](place k, place l) { return values[static_cast<std::size_t>(k * width + l)]; });
      right.write(row, col, height, width, values);
      count.expect(right.matches(t),
                   [&] { return text(name_of<F>(), "run", run, "write", i, "at", row, col); });
    }
    growths += right.growths();
  }
  REQUIRE(growths >= 12 * 3);
}

}  // namespace

TEST_CASE("parts are rounded into the present scales, which grow by powers of two", "[block]") {
  tally count;
  for_each_type<granularities>([&]<class Block>() {
    check_writes<bfp<6, Block>>(count, storage_order::row_major);
    check_writes<basic_int8<Block, rounding::toward_zero>>(count, storage_order::column_major);
  });
  check_writes<bfp<16, per_row, rounding::upward>>(count, storage_order::column_major);
  check_writes<bfp<8, tile<2, 3>, rounding::nearest_even, exponent::avg<>>>(count, storage_order::row_major);
  count.require((2 * std::tuple_size_v<granularities> + 2) * 12 * 40);
}

TEST_CASE("a scale shrinks in whole assignment only", "[block]") {
  std::vector<float> values = {100, 1, 2, 3};
  auto t = quantize<bfp<8>>(values, 2, 2);
  const float scale = t.scales()[0];
  const std::vector<float> small = {0.25f};
  t.write(0, 0, row_major(small, 1, 1));
  REQUIRE(t.scales()[0] == scale);
  REQUIRE(t(0, 0) == 0);
  values[0] = 0.25f;
  t.assign(row_major(values, 2, 2));
  REQUIRE(t.scales()[0] < scale);
  REQUIRE(t(0, 0) == 0.25f);
}

TEST_CASE("a part may be computed from the tensor itself", "[block]") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  auto t = quantize<bfp<12>>(values, 2, 3);
  t.write({0, 0, 2, 3}, [&](place i, place j) { return 100 * t(1 - i, 2 - j); });
  for (place i = 0; i < 6; ++i) REQUIRE(t(i / 3, i % 3) == 100 * values[static_cast<std::size_t>(5 - i)]);
  t.assign(3, 2, [&](place i, place j) { return t(j, i); });
  REQUIRE(t(2, 0) == 400);
}

TEST_CASE("NaN and infinity: counted from the last whole assignment on", "[block]") {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {1, nan, -inf, 64};
  auto t = quantize<bfp<8>>(values, 2, 2);
  REQUIRE(t.nonfinite() == 2);
  REQUIRE(t(0, 1) == 0);
  REQUIRE(t(1, 0) == -127 * t.scales()[0]);
  const float scale = t.scales()[0];
  t.write(0, 0, row_major(std::span(values).subspan(1), 1, 2));
  REQUIRE(t.nonfinite() == 4);
  REQUIRE(t.scales()[0] == scale);
  REQUIRE(t(0, 0) == 0);
  REQUIRE(t(0, 1) == -127 * scale);
  auto copy = t;
  REQUIRE(copy.nonfinite() == 4);
  copy.assign(row_major(values, 1, 1));
  REQUIRE(copy.nonfinite() == 0);
  t.resize(2, 2);
  REQUIRE(t.nonfinite() == 0);
  REQUIRE(t(1, 1) == 0);
  const std::vector<float> none = {nan, inf, -inf};
  const auto u = quantize<int8>(none, 1, 3);
  REQUIRE(u.nonfinite() == 3);
  REQUIRE(u.scales()[0] > 0);
}

namespace {

/// To nearest, counting how often it is asked: once for each element that is rounded, and once or twice for a
/// scale.
struct counting {
  static inline std::uint64_t asked = 0;
  static bool away(const rounding::tail& t) {
    ++asked;
    return rounding::nearest_even::away(t);
  }
  static constexpr bool overflows_to_infinity(sign) { return true; }
};

/// How often a loop over all elements rounds.
template <class F, class Value> std::uint64_t roundings_of_loop(place n, Value value) {
  block_tensor<F> t(n, n);
  counting::asked = 0;
  for (place i = 0; i < n; ++i)
    for (place j = 0; j < n; ++j) {
      const float x = value(i * n + j);
      t.write(i, j, matrix_view<const float>{&x, 1, 1, 1, 1});
    }
  return counting::asked;
}

}  // namespace

TEST_CASE("writing all elements in a loop costs a constant for each", "[block]") {
  static constexpr place n = 40, size = n * n;
  const auto check = [&]<class F>() {
    INFO(name_of<F>());
    generator random(2024);
    std::vector<float> values = numbers_around(0, size, random);
    const auto at = [&](place i) { return values[static_cast<std::size_t>(i)]; };
    REQUIRE(roundings_of_loop<F>(n, at) < 15 * size);
    // Ever larger values, at the top of the range too, where a scale cannot be doubled.
    REQUIRE(roundings_of_loop<F>(n, [](place i) { return 1 + static_cast<float>(i); }) < 20 * size);
    REQUIRE(roundings_of_loop<F>(n, [](place i) {
              return 0x1p127f * (1 + static_cast<float>(i) / static_cast<float>(size));
            }) < 10 * size);
    REQUIRE(roundings_of_loop<F>(n, [](place i) { return i % 2 == 0 ? 0x1p-149f : 0; }) < 10 * size);
  };
  check.operator()<bfp<8, per_tensor, counting>>();
  check.operator()<bfp<16, per_tensor, counting, exponent::min<>>>();
  check.operator()<basic_int8<per_tensor, counting>>();
}
