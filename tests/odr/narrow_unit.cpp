// Everything in narrow.hpp that promises the same bits whatever the flags, computed and hashed.
//
// Left out is what the built-in types compute themselves under the user's flags, narrow op float first of
// all.
#include <narrow/narrow.hpp>

#include <span>
#include <sstream>
#include <tuple>

#include "computations.hpp"

namespace {

using narrow::fixed, narrow::floating, narrow::specials;
using odr::add, odr::as_unsigned, odr::finite, odr::for_each_type, odr::hash, odr::recorder, odr::words;
namespace rounding = narrow::rounding;
namespace overflow = narrow::overflow;

template <class Round> using half_rounded = floating<5, 10, specials::ieee, Round>;
template <class Round> using fixed_rounded = fixed<16, 9, Round>;

using fixed_formats = std::tuple<fixed<8, 4>, fixed<16, 8>, fixed<24, 12>, fixed<32, 16>>;
using formats = decltype(std::tuple_cat(narrow::all_formats{}, fixed_formats{}));
using targets = std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, fixed<16, 8>>;
// Of each kind of kernel.
using multiplied =
    std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, fixed<8, 4>, fixed<16, 8>, fixed<32, 16>>;
using formats_with_policies =
    std::tuple<half_rounded<rounding::nearest_away>, half_rounded<rounding::upward>,
               half_rounded<rounding::stochastic>,
               floating<4, 3, specials::fn, rounding::to_odd, overflow::saturate>, floating<8, 23>,
               fixed<12, 6, rounding::toward_zero, overflow::wrap>, fixed<16, 9, rounding::stochastic>>;

/// All codes of an 8-bit format; else those around powers of two, where rules change, and some at random.
template <class T> std::vector<T> samples() {
  using bits_type = typename T::bits_type;
  std::vector<T> result;
  if constexpr (sizeof(T) == 1) {
    for (int code = 0; code < 256; ++code) result.push_back(T::from_bits(static_cast<bits_type>(code)));
  } else {
    for (std::size_t power = 0; power < 8 * sizeof(T); ++power)
      for (std::uint64_t near = 0; near < 3; ++near)
        result.push_back(T::from_bits(static_cast<bits_type>((std::uint64_t{1} << power) + near - 1)));
    for (words random; result.size() < 256;)
      result.push_back(T::from_bits(static_cast<bits_type>(random.next())));
  }
  return result;
}

/// Float inputs: every kind of number, spread over all exponents.
std::vector<std::uint32_t> float_codes() {
  std::vector<std::uint32_t> result = {0,          0x80000000u, 1,          0x007fffff,
                                       0x7f800000, 0xff800000u, 0x7fc01234, 0xffa00001u};
  for (words random; result.size() < 20000;)
    result.push_back(static_cast<std::uint32_t>(random.next() >> 13));
  return result;
}

template <class T> void arithmetic(const std::string& name, recorder& record) {
  const std::vector<T> values = samples<T>();
  const auto binary = [&](const char* what, auto op) {
    record(name + what, [&](hash& h) {
      narrow::seed(1);
      for (const T a : values)
        for (const T b : values) h.add(as_unsigned(T(op(a, b))));
    });
  };
  binary(" +", [](T a, T b) { return a + b; });
  binary(" -", [](T a, T b) { return a - b; });
  binary(" *", [](T a, T b) { return a * b; });
  binary(" /", [](T a, T b) { return a / b; });
  binary(" fma",
         [](T a, T b) { return fma(a, b, T::from_bits(static_cast<typename T::bits_type>(a.bits() ^ 21))); });
  binary(" min", [](T a, T b) { return min(a, b); });
  binary(" max", [](T a, T b) { return max(a, b); });
  binary(" * int", [](T a, T b) { return a * static_cast<int>(as_unsigned(b) % 1000); });
  record(name + " <=>", [&](hash& h) {
    for (const T a : values)
      for (const T b : values)
        h.add(static_cast<std::uint64_t>((a < b) + 2 * (a == b) + 4 * (a > b)) + std::hash<T>{}(a));
  });
  record(name + " unary", [&](hash& h) {
    narrow::seed(2);
    for (const T a : values) {
      for (const T y : {sqrt(a), -a, abs(a)}) h.add(as_unsigned(y));
      h.add(static_cast<std::uint64_t>(isnan(a) + 2 * isinf(a) + 4 * isfinite(a) + 8 * isnormal(a) +
                                       16 * signbit(a)));
    }
  });
}

template <class T> void functions(const std::string& name, recorder& record) {
  const auto unary = [&](const char* what, auto f) {
    record(name + what, [&](hash& h) {
      for (const T x : samples<T>()) h.add(as_unsigned(f(x)));
    });
  };
  unary(" tanh", [](T x) { return tanh(x); });
  unary(" cbrt", [](T x) { return cbrt(x); });
  unary(" floor", [](T x) { return floor(x); });
  unary(" fmin", [](T x) { return fmin(x, T(1)) + fmin(T(2), x) + fmin(x, -3); });
  unary(" fmax", [](T x) { return fmax(x, T(1)) + fmax(T(2), x) + fmax(x, -3); });
}

template <class T> void rounding_into(const std::string& name, recorder& record) {
  record(name + " from float", [](hash& h) {
    narrow::seed(3);
    for (const std::uint32_t code : float_codes()) h.add(as_unsigned(T(std::bit_cast<float>(code))));
  });
  record(name + " from double", [](hash& h) {
    narrow::seed(4);
    for (const std::uint32_t code : float_codes())
      h.add(as_unsigned(T(std::bit_cast<double>(std::uint64_t{code} << 32 | ~code))));
  });
}

template <class T> void conversions(const std::string& name, recorder& record) {
  record(name + " from integers", [](hash& h) {
    for (const std::uint32_t code : float_codes()) {
      h.add(as_unsigned(T(static_cast<int>(code))));
      h.add(as_unsigned(T(std::uint64_t{code} * code)));
    }
  });
  record(name + " to carrier", [](hash& h) {
    for (const T x : samples<T>()) {
      const narrow::carrier_t<T> wide = x;
      if constexpr (sizeof wide == 4)
        h.add(std::bit_cast<std::uint32_t>(wide));
      else
        h.add(std::bit_cast<std::uint64_t>(wide));
    }
  });
  record(name + " convert", [](hash& h) {
    std::vector<float> wide;
    for (const std::uint32_t code : float_codes()) wide.push_back(std::bit_cast<float>(code));
    std::vector<T> values(wide.size());
    narrow::convert(wide, values, rounding::stochastic{5});
    for (const T x : values) h.add(as_unsigned(x));
    narrow::convert(values, wide);
    for (const float x : wide) h.add(std::bit_cast<std::uint32_t>(x));
  });
  for_each_type<targets>(name + " to ", [&]<class To>(const std::string& pair) {
    record(pair, [](hash& h) {
      for (const T x : samples<T>()) h.add(as_unsigned(narrow::narrow_cast<To>(x)));
    });
  });
}

template <class A, class B, class C> void products(const std::string& name, recorder& record) {
  record(name + " dot", [](hash& h) {
    for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 100u, 1000u})
      add(h, narrow::dot(finite<A>(n, 0), finite<B>(n, 5)));
  });
  // Odd shapes, thin ones, and a depth that spills the integer sums; both storage orders.
  struct shape {
    int m, n, k;
  };
  for (const shape size : {shape{1, 1, 1}, {5, 7, 3}, {1, 9, 40}, {9, 1, 40}, {3, 2, 0}, {17, 19, 300}})
    record(name + " gemm " + std::to_string(size.m) + " " + std::to_string(size.n) + " " +
               std::to_string(size.k),
           [&](hash& h) {
             const auto [m, n, k] = size;
             const auto a = finite<A>(static_cast<std::size_t>(m * k), 0);
             const auto b = finite<B>(static_cast<std::size_t>(k * n), 5);
             auto c = finite<C>(static_cast<std::size_t>(m * n), 9);
             narrow::gemm(narrow::row_major(a, m, k), narrow::column_major(b, k, n),
                          narrow::row_major(c, m, n), 0.75, 0.5);
             for (const C x : c) add(h, x);
             narrow::gemm(narrow::column_major(a, m, k), narrow::row_major(b, k, n),
                          narrow::column_major(c, m, n));
             for (const C x : c) add(h, x);
           });
}

template <class T> void sums(const std::string& name, recorder& record) {
  record(name + " sums", [](hash& h) {
    for (const std::size_t n : {1u, 7u, 8u, 9u, 100u, 1000u}) {
      add(h, narrow::sum(finite<T>(n, 0)));
      add(h, narrow::mean(finite<T>(n, 0)));
      add(h, narrow::norm(finite<T>(n, 0)));
    }
  });
}

using tensor_formats =
    std::tuple<narrow::bfp<8>, narrow::bfp<12, narrow::per_row, rounding::toward_zero>,
               narrow::bfp<5, narrow::tile<3, 4>, rounding::stochastic, narrow::exponent::avg<>>,
               narrow::int8, narrow::basic_int8<narrow::per_column, rounding::stochastic>>;

template <class F> void add(hash& h, const narrow::block_tensor<F>& t) {
  for (const auto q : t.mantissas()) h.add(static_cast<std::uint64_t>(std::int64_t{q}));
  for (const float s : t.scales()) h.add(std::bit_cast<std::uint32_t>(s));
  h.add(t.nonfinite());
}

template <class F> void tensors(const std::string& name, recorder& record) {
  const auto values = finite<float>(18 * 30, 0), others = finite<float>(30 * 7, 5);
  const auto tensor = [&] { return narrow::quantize<F>(values, 18, 30); };
  record(name + " quantised", [&](hash& h) {
    narrow::seed(6);
    add(h, tensor());
    add(h, narrow::quantize<F>(narrow::column_major(values, 30, 18)));
    std::vector<double> wide(values.begin(), values.end());
    for (double& x : wide) x *= 1.00000001;
    add(h, narrow::quantize<F>(wide, 18, 30));
    std::vector<float> all;
    for (const std::uint32_t code : float_codes()) all.push_back(std::bit_cast<float>(code));
    add(h, narrow::quantize<F>(all, 100, 200));
  });
  record(name + " read", [&](hash& h) {
    narrow::seed(7);
    const auto t = tensor();
    std::vector<float> back(values.size());
    narrow::dequantize(t, back);
    for (const float x : back) odr::add(h, x);
    for (std::ptrdiff_t i = 0; i < 18; ++i) odr::add(h, t(i, i));
  });
  record(name + " written", [&](hash& h) {
    narrow::seed(8);
    auto t = tensor();
    t.write(2, 3, narrow::row_major(others, 5, 7));
    for (std::ptrdiff_t i = 0; i < 18; ++i)
      t.write(i, 29 - i, narrow::row_major(std::span(others).subspan(static_cast<std::size_t>(i)), 1, 1));
    add(h, t);
  });
  record(name + " products", [&](hash& h) {
    narrow::seed(9);
    const auto a = tensor();
    std::vector<float> c(18 * 18, 0.25f);
    narrow::gemm(a, narrow::transposed(a), narrow::row_major(c, 18, 18), 0.75, 0.5);
    for (const float x : c) odr::add(h, x);
    narrow::gemm(a, narrow::row_major(others, 30, 7), narrow::row_major(c, 18, 7));
    narrow::gemv(narrow::transposed(a), std::span(others).first(18), std::span(c).first(30));
    for (const float x : c) odr::add(h, x);
  });
}

template <class Method> void add_state(hash& h, const Method& method) {
  std::ostringstream out;
  out << method;
  for (const char c : out.str()) h.add(static_cast<std::uint64_t>(c));
}

void methods(recorder& record) {
  record("adaptive_clip", [](hash& h) {
    narrow::adaptive_clip clip({.k = 1.2, .a = 0.7, .lambda = 0.2});
    for (const std::size_t step : {0u, 100u, 200u, 300u})
      clip.observe(narrow::row_major(finite<float>(20 * 50, step), 20, 50));
    std::vector<float> all;
    for (const std::uint32_t code : float_codes()) all.push_back(std::bit_cast<float>(code));
    clip.observe(narrow::column_major(all, 20, 1000));
    add_state(h, clip);
  });
  record("precision_switch", [](hash& h) {
    narrow::precision_switch chosen({.min_lookback = 2, .max_lookback = 9});
    for (std::size_t step = 0; step < 40; ++step) {
      const auto weights = finite<float>(200, 7 * step), gradient = finite<float>(200, step / 3);
      chosen.observe("layer", weights, gradient, static_cast<double>(1 + step % 5));
    }
    add_state(h, chosen);
  });
  record("muppet_switch", [](hash& h) {
    narrow::muppet_switch words({.window = 2});
    for (std::size_t epoch = 0; epoch < 12; ++epoch) {
      words.observe("layer", finite<float>(100, 13 * epoch));
      words.update();
      std::vector<float> quantised;
      const auto values = finite<float>(100, epoch);
      h.add(static_cast<std::uint64_t>(
          narrow::muppet_quantize(values, quantised, 12, rounding::stochastic{5})));
      for (const float x : quantised) odr::add(h, x);
    }
    add_state(h, words);
  });
  record("cost_model", [](hash& h) {
    narrow::cost_model model;
    for (int step = 0; step < 20; ++step)
      model.step(std::vector<narrow::layer_cost>{{123456.7, 8 + step, 1234.5, 25 + 0.25 * step}});
    add_state(h, model);
    for (const double x : {model.costs(), model.memory(), model.speed_up_over(narrow::cost_model(model))})
      h.add(std::bit_cast<std::uint64_t>(x));
  });
  record("truncated_normal", [](hash& h) {
    std::vector<float> weights(1000);
    narrow::truncated_normal(weights, 77, 5);
    for (const float x : weights) odr::add(h, x);
  });
  record("kolmogorov_smirnov", [](hash& h) {
    const auto sample = finite<float>(1000, 3);
    const auto normal = narrow::fit_gaussian(sample);
    for (const double x :
         {narrow::kolmogorov_smirnov(sample, normal),
          narrow::kolmogorov_smirnov(sample, narrow::fit_inverted_t(sample, normal.deviation))})
      h.add(std::bit_cast<std::uint64_t>(x));
  });
}

}  // namespace

odr::results UNIT();

odr::results UNIT() {
  recorder record;
  const auto scalar = [&]<class T>(const std::string& name) {
    arithmetic<T>(name, record);
    rounding_into<T>(name, record);
  };
  for_each_type<formats>("format ", scalar);
  for_each_type<formats_with_policies>("policy ", scalar);
  for_each_type<formats>("format ", [&]<class T>(const std::string& name) {
    conversions<T>(name, record);
    sums<T>(name, record);
  });
  for_each_type<multiplied>("format ",
                            [&]<class T>(const std::string& name) { products<T, T, T>(name, record); });
  for_each_type<targets>("target ", [&]<class T>(const std::string& name) { functions<T>(name, record); });
  for_each_type<std::tuple<narrow::fp16, narrow::bf16, fixed<8, 4>>>(
      "to float ", [&]<class T>(const std::string& name) { products<T, T, float>(name, record); });
  for_each_type<tensor_formats>("tensor ",
                                [&]<class F>(const std::string& name) { tensors<F>(name, record); });
  methods(record);
  products<float, narrow::fp16, narrow::bf16>("mixed", record);
  products<narrow::fp16, narrow::fp16, half_rounded<rounding::stochastic>>("stochastic", record);
  return std::move(record).results();
}
