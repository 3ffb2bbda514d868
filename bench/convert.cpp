// Conversions in bulk, between float and every format; the baseline copies as many floats.
#include <memory>

#include "paired.hpp"

namespace narrow_bench {

namespace {

template <class T> struct arrays {
  std::vector<float> wide, copy;
  std::vector<T> narrow;

  explicit arrays(std::size_t n) : wide(random_floats(n, 1)), copy(n), narrow(n) {
    narrow::convert(wide, narrow);
  }
};

template <class T, class Round> pair_of_calls into_narrow(std::size_t n, const Round& round) {
  const auto data = std::make_shared<arrays<T>>(n);
  const auto right = [data, round] {
    for (std::size_t i = 0; i < data->wide.size(); ++i)
      if (data->narrow[i] != narrow::narrow_cast<T>(data->wide[i], narrow::at_element(round, i)))
        return false;
    return true;
  };
  return {{"elements/s", static_cast<double>(n)},
          [data, round] { narrow::convert(data->wide, data->narrow, round); },
          [data] { data->copy = data->wide; },
          right};
}

template <class T> pair_of_calls into_float(std::size_t n) {
  const auto data = std::make_shared<arrays<T>>(n);
  const auto right = [data] {
    return std::equal(data->wide.begin(), data->wide.end(), data->narrow.begin());
  };
  return {{"elements/s", static_cast<double>(n)},
          [data] { narrow::convert(data->narrow, data->wide); },
          [data] { data->copy = data->wide; },
          right};
}

}  // namespace

void register_conversions() {
  for (const std::size_t n : {std::size_t{1} << 12, std::size_t{1} << 20})
    for_each_type<formats>([n]<class T>() {
      const std::string narrow = name_of<T>(), size = "/" + std::to_string(n);
      register_pair("convert/float->" + narrow + size, 20,
                    [n] { return into_narrow<T>(n, narrow::rounding::nearest_even{}); });
      register_pair("convert/float->" + narrow + "/stochastic" + size, 20,
                    [n] { return into_narrow<T>(n, narrow::rounding::stochastic{1}); });
      register_pair("convert/" + narrow + "->float" + size, 20, [n] { return into_float<T>(n); });
    });
}

}  // namespace narrow_bench
