// Conversions in bulk, between float and every scalar format; x_float: as fast as copying that many floats.
#include <cmath>
#include <memory>

#include "formats.hpp"
#include "register.hpp"
#include "row.hpp"

namespace narrow_bench {

namespace {

template <class T> struct arrays {
  std::vector<float> wide, copy;
  std::vector<T> narrow;

  explicit arrays(std::size_t n) : wide(random_floats(n, 1)), copy(n), narrow(n) {
    narrow::convert(wide, narrow);
  }

  /// The largest difference of what is narrow, relative to 1, the largest magnitude. Checks each element that
  /// it looks at; of large arrays a part.
  std::optional<double> error(const auto& expected) const {
    const std::size_t step = wide.size() / (1 << 16) + 1;
    double largest = 0;
    for (std::size_t i = 0; i < wide.size(); i += step) {
      if (!expected(i)) return std::nullopt;
      largest = std::max(largest, std::abs(static_cast<double>(narrow[i]) - static_cast<double>(wide[i])));
    }
    return largest;
  }
};

template <class T, class Round> row into_narrow(std::size_t n, const Round& round) {
  const auto data = std::make_shared<arrays<T>>(n);
  const work amount{"elements/s", static_cast<double>(n)};
  return {amount,
          [data, round] { narrow::convert(data->wide, data->narrow, round); },
          {{"x_float", [data] { data->copy = data->wide; }}},
          conversion_limit(n, direction::from_float, T{}, amount),
          [data, round] {
            return data->error([&](std::size_t i) {
              return data->narrow[i] == narrow::narrow_cast<T>(data->wide[i], narrow::at_element(round, i));
            });
          }};
}

template <class T> row into_float(std::size_t n) {
  const auto data = std::make_shared<arrays<T>>(n);
  const work amount{"elements/s", static_cast<double>(n)};
  return {amount,
          [data] { narrow::convert(data->narrow, data->wide); },
          {{"x_float", [data] { data->copy = data->wide; }}},
          conversion_limit(n, direction::to_float, T{}, amount),
          [data] {
            return data->error(
                [&](std::size_t i) { return data->wide[i] == static_cast<float>(data->narrow[i]); });
          }};
}

template <class T> void register_format(std::size_t n, const std::string& size) {
  const std::string name = name_of<T>() + "/" + size;
  register_row("convert/float to " + name,
               [n] { return into_narrow<T>(n, narrow::rounding::nearest_even{}); });
  register_row("stochastic/float to " + name,
               [n] { return into_narrow<T>(n, narrow::rounding::stochastic{1}); });
  register_row("convert/to float from " + name, [n] { return into_float<T>(n); });
}

}  // namespace

void register_conversions() {
  const auto in_caches = []<class T>() {
    register_format<T>(1 << 12, "L1");
    register_format<T>(1 << 16, "L2");
  };
  for_each_type<floating_formats>(in_caches);
  for_each_type<fixed_formats>(in_caches);
  for_each_type<std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, narrow::fixed<8, 4>>>(
      []<class T>() { register_format<T>(64 << 20, "64M"); });
}

}  // namespace narrow_bench
