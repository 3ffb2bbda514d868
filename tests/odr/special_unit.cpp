// NaNs, quiet and signalling, of both signs and many payloads, and infinities, through whatever converts,
// quantises, sums or looks for a maximum, on every instruction set: the same bits whatever the flags. No
// number is compared here as one: under -ffast-math that would mean nothing.
#include <narrow/narrow.hpp>

#include <sstream>
#include <tuple>

#include "computations.hpp"

namespace {

using narrow::bfp, narrow::basic_int8, narrow::fixed, narrow::floating, narrow::mx, narrow::specials;
using odr::add, odr::as_unsigned, odr::for_each_type, odr::hash, odr::recorder, odr::words;
namespace exponent = narrow::exponent;
namespace rounding = narrow::rounding;

// ---- inputs, from integers

template <class T> struct layout_of;
template <> struct layout_of<float> { using type = narrow::detail::binary32; };
template <> struct layout_of<double> { using type = narrow::detail::binary64; };

/// Every `rare`-th number is none: a NaN or an infinity; 0: none is. Only finite ones between 2^-20 and 2^20,
/// or of all exponents.
template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t rare, bool of_all_exponents = false) {
  using layout = typename layout_of<T>::type;
  using bits_type = typename layout::bits_type;
  std::vector<T> result(count);
  words random;
  for (T& x : result) {
    const std::uint64_t r = random.next(), s = random.next();
    auto bits = static_cast<bits_type>(r & (layout::mantissa_mask | layout::sign_mask));
    const bool special = rare != 0 && s % rare == 0;
    if (special && s / rare % 3 == 0)  // an infinity
      bits = static_cast<bits_type>((bits & layout::sign_mask) | layout::infinity);
    else if (special)  // a NaN: of few bits, or of many
      bits = static_cast<bits_type>(bits | layout::infinity | (s / rare % 3 == 1 ? 1 : 0) |
                                    (s / rare % 5 == 1 ? layout::mantissa_mask : 0));
    else if (of_all_exponents)
      bits = static_cast<bits_type>(bits | (s % (2 * layout::bias + 1)) << layout::mantissa_bits);
    else
      bits = static_cast<bits_type>(bits | (s % 40 + layout::bias - 20) << layout::mantissa_bits);
    x = std::bit_cast<T>(bits);
  }
  return result;
}
/// Codes of a format, all of them if they are few, NaNs and infinities among them.
template <class T> std::vector<T> codes(std::size_t count) {
  std::vector<T> result;
  for (words random; result.size() < count;)
    result.push_back(T::from_bits(static_cast<typename T::bits_type>(random.next() >> 5)));
  return result;
}
constexpr std::uint64_t rarities[] = {1, 2, 9, 200};

std::uint64_t code_of(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t code_of(double x) { return std::bit_cast<std::uint64_t>(x); }

// ---- computations

template <class T> void conversions(const std::string& name, recorder& record) {
  const auto from = [&]<class Number>(const std::string& of, Number) {
    record(name + of, [](hash& h) {
      for (const std::uint64_t rare : rarities)
        for (const bool all : {false, true}) {
          const auto x = numbers<Number>(1000, rare, all);
          std::vector<T> y(x.size());
          const auto by = [&](const auto& round) {
            narrow::convert(x, y, round);
            for (const T a : y) h.add(as_unsigned(a));
            for (std::size_t i = 0; i < x.size(); ++i)
              h.add(as_unsigned(narrow::narrow_cast<T>(x[i], round)));
          };
          by(rounding::nearest_even{});
          by(rounding::upward{});
          by(rounding::stochastic{3});
        }
    });
  };
  from(" from float", 0.0f);
  from(" from double", 0.0);
  record(name + " to built-in types", [](hash& h) {
    const auto x = codes<T>(1000);
    std::vector<float> singles(x.size());
    std::vector<double> doubles(x.size());
    std::vector<std::int16_t> integers(x.size());
    narrow::convert(x, singles);
    narrow::convert(x, doubles);
    narrow::convert(x, integers);
    for (const float a : singles) h.add(code_of(a));
    for (const double a : doubles) h.add(code_of(a));
    for (const auto a : integers) h.add(static_cast<std::uint64_t>(std::int64_t{a}));
  });
  record(name + " sums", [](hash& h) {
    for (const std::size_t n : {1u, 3u, 8u, 17u, 100u, 1000u}) {
      const auto x = codes<T>(n), y = codes<T>(n);
      add(h, narrow::sum(x));
      add(h, narrow::dot(x, y));
      add(h, narrow::norm(x));
    }
  });
}

template <class F> void add_tensor(hash& h, const narrow::block_tensor<F>& t) {
  for (const auto q : t.mantissas()) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(q)>>)
      h.add(static_cast<std::uint64_t>(std::int64_t{q}));
    else
      h.add(as_unsigned(q));
  }
  for (const auto s : t.scales()) h.add(std::bit_cast<std::uint32_t>(static_cast<float>(s)));
  h.add(t.nonfinite());
  std::vector<float> back(static_cast<std::size_t>(t.size()));
  narrow::dequantize(t, back);
  for (const float x : back) add(h, x);
}

struct shape {
  std::ptrdiff_t rows, cols;
};

template <class F, class Number> void quantised(hash& h) {
  for (const std::uint64_t rare : {1u, 2u, 9u, 200u, 0u})
    for (const bool all : {false, true})
      for (const shape& size : {shape{1, 1}, {3, 5}, {1, 67}, {37, 70}, {70, 37}}) {
        const std::ptrdiff_t rows = size.rows, cols = size.cols;
        const auto x = numbers<Number>(static_cast<std::size_t>(rows * cols), rare, all);
        const auto by = [&](const auto& round) {
          add_tensor(h, narrow::quantize<F>(x, rows, cols, round));
          auto t = narrow::quantize<F>(narrow::column_major(x, rows, cols), round);
          add_tensor(h, t);
          const float clip = 300;
          t.assign(narrow::row_major(x, rows, cols), round, std::span<const float>(&clip, 1));
          add_tensor(h, t);
          t.write(0, 0, narrow::row_major(numbers<Number>(1, rare, all), 1, 1), round);
          add_tensor(h, t);
        };
        by(rounding::nearest_even{});
        by(rounding::toward_zero{});
        by(rounding::upward{});
        by(rounding::stochastic{7});
      }
}
template <class F> void tensors(const std::string& name, recorder& record) {
  record(name + " of floats", [](hash& h) { quantised<F, float>(h); });
  record(name + " of doubles", [](hash& h) { quantised<F, double>(h); });
}

using formats_of_tensors = std::tuple<bfp<8>, bfp<12>, basic_int8<>, mx<narrow::fp8_e4m3fn>, mx<narrow::int8>,
                                      bfp<8, narrow::per_row>, basic_int8<narrow::per_row>,
                                      bfp<8, narrow::tile<4, 8>>, basic_int8<narrow::tile<4, 8>>,
                                      bfp<8, narrow::per_tensor, rounding::nearest_even, exponent::min<>>,
                                      bfp<8, narrow::per_tensor, rounding::nearest_even, exponent::avg<>>>;
using converted = std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e5m2, narrow::fp8_e4m3fn,
                             narrow::fp4_e2m1, floating<4, 3, specials::fnuz>, fixed<8, 4>, fixed<32, 16>>;

void fixed_point(recorder& record) {
  for (const narrow::fixed_format f : {narrow::fixed_format{8, 4}, {16, 8}, {32, 16}})
    record("fixed point " + std::to_string(f.wl), [&](hash& h) {
      const auto of = [&](auto number) {
        for (const std::uint64_t rare : rarities) {
          narrow::fixed_tensor t(0, 0, f);
          const auto by = [&](const auto& round) {
            t.assign(narrow::row_major(numbers<decltype(number)>(37 * 70, rare), 37, 70), round);
            h.add(t.nonfinite());
            for (std::ptrdiff_t i = 0; i < 37; ++i)
              for (std::ptrdiff_t j = 0; j < 70; ++j)
                h.add(static_cast<std::uint64_t>(std::int64_t{t.mantissa(i, j)}));
          };
          by(rounding::nearest_even{});
          by(rounding::toward_zero{});
          by(rounding::downward{});
          by(rounding::stochastic{9});
        }
      };
      of(0.0f);
      of(0.0);
    });
}

template <class Method> void add_state(hash& h, const Method& method) {
  std::ostringstream out;
  out << method;
  for (const char c : out.str()) h.add(static_cast<std::uint64_t>(c));
}

void methods(recorder& record) {
  record("adaptive_clip", [](hash& h) {
    narrow::adaptive_clip clip, layer({.granularity = narrow::clip_granularity::per_layer});
    for (const std::uint64_t rare : {1u, 200u, 9u, 2u, 0u}) {
      const auto x = numbers<float>(20 * 70, rare);
      clip.observe(narrow::row_major(x, 20, 70));
      layer.observe(narrow::column_major(x, 20, 70));
      add_state(h, clip);
      add_state(h, layer);
    }
  });
  record("loss_scaler", [](hash& h) {
    for (const std::uint64_t rare : {0u, 1u, 2u, 9u, 200u, 5000u}) {
      narrow::loss_scaler scaler;
      std::vector<float> out;
      h.add(scaler.unscale(numbers<float>(1000, rare), out, "floats"));
      for (const float x : out) h.add(code_of(x));
      h.add(scaler.unscale(numbers<double>(1000, rare), out, "doubles"));
      for (const float x : out) h.add(code_of(x));
      h.add(scaler.unscale(codes<narrow::fp16>(1000), out, "codes"));
      for (const float x : out) add(h, x);
      h.add(scaler.unscale(codes<narrow::bf16>(1000), out, "codes"));
      for (const float x : out) add(h, x);
      scaler.update();
      add_state(h, scaler);
    }
  });
  record("master_weights", [](hash& h) {
    for (const std::uint64_t rare : rarities) {
      const narrow::master_weights<narrow::fp16> weights(numbers<float>(1000, rare));
      for (const auto code : weights.weights()) h.add(as_unsigned(code));
    }
  });
  record("exponent_histogram", [](hash& h) {
    narrow::exponent_histogram histogram;
    for (const std::uint64_t rare : rarities) {
      histogram.add(numbers<float>(1000, rare, true));
      histogram.add(numbers<double>(1000, rare, true));
      histogram.add(codes<narrow::fp16>(1000));
    }
    add_state(h, histogram);
  });
  record("precision_switch", [](hash& h) {
    narrow::precision_switch chosen({.min_lookback = 2, .max_lookback = 5});
    for (const std::uint64_t rare : {0u, 0u, 200u, 9u, 0u, 1u, 0u, 0u, 0u}) {
      const auto losses = numbers<double>(1, rare);
      chosen.observe("a", numbers<float>(300, rare), numbers<float>(300, 0), losses[0]);
      chosen.observe("b", numbers<float>(300, 0), numbers<float>(300, rare), losses[0]);
      chosen.observe("c", numbers<float>(300, 150), numbers<float>(300, 0), 1);
    }
    add_state(h, chosen);
  });
  record("muppet", [](hash& h) {
    narrow::muppet_switch words({.window = 2});
    for (const std::uint64_t rare : {0u, 200u, 9u, 0u, 1u, 0u}) {
      words.observe("layer", numbers<float>(300, rare));
      words.update();
      for (const auto& x : {numbers<float>(3000, rare), numbers<float>(7, rare)}) {
        std::vector<float> quantised;
        h.add(static_cast<std::uint64_t>(narrow::muppet_quantize(x, quantised, 12, rounding::stochastic{5})));
        for (const float y : quantised) add(h, y);
      }
    }
    add_state(h, words);
  });
  record("samples", [](hash& h) {
    for (const std::uint64_t rare : {0u, 200u, 9u, 2u}) {
      const auto x = numbers<float>(1000, rare);
      const auto normal = narrow::fit_gaussian(x);
      add(h, narrow::kolmogorov_smirnov(x, normal));
      add(h, narrow::weight_divergence(x, {12, 4}, 50, 1e-6));
      const auto found = narrow::find_lossless_format(x, 50, 0.01, 1e-6);
      h.add(static_cast<std::uint64_t>(found.format.wl * 100 + found.format.fl));
      h.add(found.nonfinite);
    }
  });
}

void products(recorder& record) {
  record("products", [](hash& h) {
    for (const std::uint64_t rare : {200u, 5000u}) {
      const auto a = numbers<float>(40 * 40, rare);
      const auto nan_or_not = [&](const std::vector<float>& c) {
        for (const float x : c) h.add(narrow::detail::is_nan(x) ? 1 : narrow::detail::is_finite(x) ? 2 : 3);
      };
      std::vector<float> c(40 * 40);
      const auto of = [&]<class T>(std::type_identity<T>) {
        std::vector<T> x(a.size());
        narrow::convert(a, x);
        narrow::gemm(narrow::row_major(x, 40, 40), narrow::column_major(x, 40, 40),
                     narrow::row_major(c, 40, 40));
        nan_or_not(c);
        narrow::gemm(narrow::row_major(x, 40, 40), narrow::column_major(a, 40, 40),
                     narrow::row_major(c, 40, 40));
        nan_or_not(c);
        std::vector<T> y(a.size());
        narrow::gemm(narrow::row_major(x, 40, 40), narrow::row_major(x, 40, 40), narrow::row_major(y, 40, 40),
                     0.5, 0.0);
        for (const T z : y) h.add(isnan(z) ? 1 : isfinite(z) ? 2 : 3);
      };
      of(std::type_identity<narrow::fp16>{});
      of(std::type_identity<narrow::bf16>{});
      of(std::type_identity<narrow::fp8_e4m3fn>{});
      const auto t = narrow::quantize<mx<narrow::fp8_e5m2>>(a, 40, 40);
      narrow::gemm(t, narrow::row_major(a, 40, 40), narrow::row_major(c, 40, 40));
      nan_or_not(c);
    }
  });
}

}  // namespace

odr::results UNIT();

odr::results UNIT() {
  recorder record;
  const std::string before(narrow::isa_name());
  for (std::size_t i = 0; i < narrow::kernel::instruction_set_count(); ++i) {
    if (!narrow::kernel::dispatch::instance().supports(i)) continue;
    narrow::use_isa(narrow::kernel::dispatch::name_of(i));
    const std::string isa(narrow::isa_name());
    for_each_type<converted>(isa + " format ",
                             [&]<class T>(const std::string& name) { conversions<T>(name, record); });
    for_each_type<formats_of_tensors>(isa + " tensor ",
                                      [&]<class F>(const std::string& name) { tensors<F>(name, record); });
    recorder more;
    fixed_point(more);
    methods(more);
    products(more);
    const auto others = std::move(more).results();
    for (const auto& [name, value] : others)
      record(isa + " " + name, [hashed = value](hash& h) { h.add(hashed); });
  }
  narrow::use_isa(before);
  return std::move(record).results();
}
