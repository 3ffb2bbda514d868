// Whatever owns memory, moved about: by what the standard library does to elements of a vector, and by hand.
#include <algorithm>
#include <numeric>

#include "eigen/tensor_formats.hpp"
#include "narrow/eigen.hpp"
#include "train/saved_state.hpp"

namespace {

using Eigen::Dynamic;
namespace rounding = narrow::rounding;

// ---- what is moved: an object for each number from 0 on, all different, and what tells two of them apart

constexpr int objects = 9;

std::vector<double> numbers_of(int number, int size) {
  std::vector<double> result;
  for (int i = 0; i < size; ++i) result.push_back((number + 1) * 0.40625 - i * 0.1875);
  return result;
}
narrow::matrix_view<const double> view_of(const std::vector<double>& x, int rows, int cols) {
  return {x.data(), rows, cols, cols, 1};
}
constexpr int rows = 3, cols = 4;

template <class F, narrow::storage_order Order> struct tensor_kind {
  using type = narrow::block_tensor<F>;
  static type make(int number) {
    type result(0, 0, Order);
    const auto x = numbers_of(number, rows * cols);
    result.assign(view_of(x, rows, cols));
    return result;
  }
  static bool same(const type& a, const type& b) { return a.order() == b.order() && test::same(a, b); }
  static bool keeps_its_promise(const type& x) {
    return x.order() == Order && static_cast<std::size_t>(x.size()) == x.mantissas().size();
  }
};

template <int WL, int FL, narrow::storage_order Order> struct fixed_tensor_kind {
  using type = narrow::fixed_tensor;
  static constexpr narrow::fixed_format format{WL, FL};
  static type make(int number) {
    type result(0, 0, format, Order);
    const auto x = numbers_of(number, rows * cols);
    result.assign(view_of(x, rows, cols));
    return result;
  }
  static bool same(const type& a, const type& b) {
    return a.format() == b.format() && a.order() == b.order() && test::same(a, b);
  }
  static bool keeps_its_promise(const type& x) {
    const bool width = x.mantissas().index() == (WL <= 8 ? 0 : WL <= 16 ? 1 : 2);
    const std::size_t size = std::visit([](const auto& stored) { return stored.size(); }, x.mantissas());
    return x.format() == format && x.order() == Order && width && size == static_cast<std::size_t>(x.size());
  }
};

template <class M, int WL = 8, int FL = 4> struct matrix_kind {
  using type = M;
  static constexpr bool has_format = std::same_as<typename M::Tensor, narrow::fixed_tensor>;
  static type make(int number) {
    type result;
    if constexpr (has_format) result.format({WL, FL});
    const auto x = numbers_of(number, rows * cols);
    result = Eigen::Map<const Eigen::MatrixXd>(x.data(), rows, cols).template cast<typename M::Scalar>();
    return result;
  }
  static bool same(const type& a, const type& b) {
    if constexpr (has_format)
      if (a.format() != b.format()) return false;
    return test::same(a.tensor(), b.tensor());
  }
  static bool keeps_its_promise(const type& x) {
    if constexpr (has_format)
      if (x.format() != narrow::fixed_format(WL, FL)) return false;
    const bool in_order = x.tensor().order() == (M::IsRowMajor ? narrow::storage_order::row_major
                                                               : narrow::storage_order::column_major);
    return in_order && (M::RowsAtCompileTime == Dynamic || x.rows() == M::RowsAtCompileTime) &&
           (M::ColsAtCompileTime == Dynamic || x.cols() == M::ColsAtCompileTime);
  }
};

/// Classes whose states are saved: `observe` makes an object with something in all that it owns. What was
/// moved from can be saved and read again.
template <class T> struct training_kind {
  using type = T;
  static type make(int number);
  static bool same(const type& a, const type& b) { return narrow_test::saved(a) == narrow_test::saved(b); }
  static bool keeps_its_promise(const type& x) {
    std::istringstream in(narrow_test::saved(x));
    T read;
    in >> read;
    return same(read, x);
  }
};
std::vector<float> floats_of(int number) {
  std::vector<float> result;
  for (const double x : numbers_of(number, rows * cols)) result.push_back(static_cast<float>(x));
  return result;
}
template <>
narrow::master_weights<narrow::fp16> training_kind<narrow::master_weights<narrow::fp16>>::make(int number) {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Constant(rows, cols, static_cast<float>(number));
  return narrow::master_weights<narrow::fp16>(x);
}
template <> narrow::loss_scaler training_kind<narrow::loss_scaler>::make(int number) {
  narrow::loss_scaler result;
  std::vector<float> gradient = floats_of(number), out;
  for (int step = 0; step <= number; ++step) {
    gradient[0] = std::numeric_limits<float>::infinity();
    result.unscale(gradient, out, "layer " + std::to_string(step));
    result.update();
  }
  result.unscale(gradient, out, "a layer with a long name, and of no finished step");
  return result;
}
template <> narrow::exponent_histogram training_kind<narrow::exponent_histogram>::make(int number) {
  narrow::exponent_histogram result;
  result.add(floats_of(number));
  result.add(std::vector<double>{0, 1e300, std::numeric_limits<double>::infinity()});
  return result;
}
template <> narrow::adaptive_clip training_kind<narrow::adaptive_clip>::make(int number) {
  narrow::adaptive_clip result;
  const auto x = floats_of(number);
  result.observe(narrow::row_major(x, rows, cols));
  return result;
}
template <> narrow::precision_switch training_kind<narrow::precision_switch>::make(int number) {
  narrow::precision_switch result({.min_lookback = 2, .max_lookback = 4});
  for (int step = 0; step < 5; ++step)
    result.observe("layer", floats_of(number), floats_of(number + step), 1 + step);
  return result;
}
template <> narrow::muppet_switch training_kind<narrow::muppet_switch>::make(int number) {
  narrow::muppet_switch result({.window = 2});
  for (int epoch = 0; epoch < 5; ++epoch) {
    result.observe("layer", floats_of(number + epoch));
    result.update();
  }
  return result;
}
template <> narrow::cost_model training_kind<narrow::cost_model>::make(int number) {
  narrow::cost_model result;
  result.step(std::vector<narrow::layer_cost>{{100.0 + number, 8, 10, 25}});
  return result;
}

using narrow::bfp, narrow::basic_int8, narrow::mx, narrow::per_tensor, narrow::per_row, narrow::per_column,
    narrow::tile;
constexpr auto by_rows = narrow::storage_order::row_major, by_columns = narrow::storage_order::column_major;

template <class Block>
using of_granularity =
    std::tuple<tensor_kind<bfp<8, Block>, by_columns>, tensor_kind<bfp<12, Block>, by_rows>,
               tensor_kind<bfp<3, Block, rounding::upward, narrow::exponent::min<>>, by_columns>,
               tensor_kind<bfp<16, Block, rounding::nearest_even, narrow::exponent::avg<>>, by_columns>,
               tensor_kind<basic_int8<Block>, by_rows>, tensor_kind<basic_int8<Block>, by_columns>,
               tensor_kind<mx<narrow::fp8_e4m3fn, Block>, by_columns>,
               tensor_kind<mx<narrow::int8, Block>, by_rows>,
               matrix_kind<Eigen::Matrix<bfp<8, Block>, Dynamic, Dynamic>>,
               matrix_kind<Eigen::Matrix<bfp<12, Block>, rows, cols, Eigen::RowMajor>>,
               matrix_kind<Eigen::Matrix<basic_int8<Block>, Dynamic, cols>>,
               matrix_kind<Eigen::Matrix<mx<narrow::fp4_e2m1, Block>, rows, Dynamic>>>;

using without_blocks =
    std::tuple<fixed_tensor_kind<8, 4, by_rows>, fixed_tensor_kind<16, 8, by_rows>,
               fixed_tensor_kind<7, 3, by_columns>, fixed_tensor_kind<24, 20, by_columns>,
               matrix_kind<Eigen::Matrix<narrow::dynamic_fixed, Dynamic, Dynamic>, 16, 8>,
               matrix_kind<Eigen::Matrix<narrow::dynamic_fixed, rows, cols>, 12, 9>,
               matrix_kind<Eigen::Matrix<narrow::dynamic_fixed, rows, Dynamic, Eigen::RowMajor>, 32, 20>,
               training_kind<narrow::master_weights<narrow::fp16>>, training_kind<narrow::loss_scaler>,
               training_kind<narrow::exponent_histogram>, training_kind<narrow::adaptive_clip>,
               training_kind<narrow::precision_switch>, training_kind<narrow::muppet_switch>,
               training_kind<narrow::cost_model>>;

using all_kinds_of_objects =
    decltype(std::tuple_cat(of_granularity<per_tensor>{}, of_granularity<per_row>{},
                            of_granularity<per_column>{}, of_granularity<tile<2, 3>>{}, without_blocks{}));
using kinds_of_objects = test::some_of<all_kinds_of_objects, 0, 20, 48, 52, 55, 56, 57, 58, 59, 60, 61>;

// ---- what is done to them

/// Objects in a vector, and beside it the numbers that they were made from, to which the same is done.
template <class Kind> struct sequence {
  std::vector<typename Kind::type> values;
  std::vector<int> numbers;

  sequence() : numbers(objects) {
    std::iota(numbers.begin(), numbers.end(), 0);
    for (const int number : numbers) values.push_back(Kind::make(number));
  }
  /// act(vector) on both.
  template <class Act> bool survives(Act act) {
    act(values);
    act(numbers);
    return std::equal(values.begin(), values.end(), numbers.begin(), numbers.end(),
                      [](const auto& x, int number) { return Kind::same(x, Kind::make(number)); });
  }
};

template <class Kind> void check_sequences(test::tally& count) {
  const auto check = [&](const char* what, auto act) {
    count.expect(sequence<Kind>().survives(act), [&] { return test::text(test::name_of<Kind>(), what); });
  };
  check("std::swap", [](auto& v) { std::swap(v[1], v[5]); });
  check("swap", [](auto& v) {
    using std::swap;
    swap(v[1], v[5]);
  });
  check("iter_swap", [](auto& v) { std::iter_swap(v.begin(), v.begin() + 3); });
  check("reverse", [](auto& v) { std::reverse(v.begin(), v.end()); });
  check("rotate", [](auto& v) { std::rotate(v.begin(), v.begin() + 4, v.end()); });
  check("swap_ranges", [](auto& v) { std::swap_ranges(v.begin(), v.begin() + 3, v.begin() + 5); });
  check("erase", [](auto& v) { v.erase(v.begin() + 2, v.begin() + 4); });
  check("insert", [](auto& v) { v.insert(v.begin() + 1, std::remove_cvref_t<decltype(v[6])>(v[6])); });
  check("insert of an element", [](auto& v) { v.insert(v.begin() + 1, v[6]); });
  check("insert where there is room", [](auto& v) {
    v.reserve(v.size() + 3);
    v.insert(v.begin() + 1, v[6]);
    v.insert(v.begin() + 2, v.begin() + 8, v.begin() + 9);
  });
  check("emplace after it was moved from", [](auto& v) {
    auto taken = std::move(v[2]);
    v[2] = std::move(taken);
  });
  check("assigned where it was moved from", [](auto& v) {
    auto taken = std::move(v[2]);
    v[2] = v[3];
    v[3] = taken;
  });
  check("shifted", [](auto& v) {
    std::move(v.begin() + 1, v.end(), v.begin());
    v.pop_back();
  });
  // Sorted by what they are: the numbers are in ascending order, and so are the objects that `rank` finds.
  const auto rank = [](const auto& x) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(x)>, int>) {
      return x;
    } else {
      for (int number = 0; number < objects; ++number)
        if (Kind::same(x, Kind::make(number))) return number;
      return objects;
    }
  };
  check("sort", [&](auto& v) {
    std::rotate(v.begin(), v.begin() + 4, v.end());
    std::swap(v[0], v[7]);
    std::sort(v.begin(), v.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  });
  check("stable_sort", [&](auto& v) {
    std::stable_sort(v.begin(), v.end(), [&](const auto& a, const auto& b) { return rank(a) > rank(b); });
  });
}
constexpr std::uint64_t sequence_checks = 15;

template <class T> void assign_by_move(T& to, T& from) { to = std::move(from); }

template <class Kind> void check_objects(test::tally& count) {
  using type = typename Kind::type;
  const auto expect = [&](bool match, const char* what) {
    count.expect(match, [&] { return test::text(test::name_of<Kind>(), what); });
  };
  const type first = Kind::make(0), second = Kind::make(1);
  type from = first;
  type to = std::move(from);
  expect(Kind::same(to, first), "move construction");
  expect(Kind::keeps_its_promise(from), "what construction moved from");
  from = second;
  expect(Kind::same(from, second), "assignment to what construction moved from");
  to = std::move(from);
  expect(Kind::same(to, second), "move assignment");
  expect(Kind::keeps_its_promise(from), "what assignment moved from");
  from = Kind::make(2);
  expect(Kind::same(from, Kind::make(2)), "assignment to what assignment moved from");
  [[maybe_unused]] const type another = std::move(to);
  type copy = to;
  expect(Kind::keeps_its_promise(copy), "a copy of what was moved from");
  type moved_twice = std::move(to);
  expect(Kind::keeps_its_promise(moved_twice) && Kind::keeps_its_promise(to), "what was moved from twice");
  to = first;
  assign_by_move(to, to);
  expect(Kind::keeps_its_promise(to), "what was moved to itself");
  to = second;
  expect(Kind::same(to, second), "assignment to what was moved to itself");
  using std::swap;
  swap(to, to);
  std::swap(to, to);
  expect(Kind::same(to, second), "what was swapped with itself");
}
constexpr std::uint64_t object_checks = 11;

}  // namespace

TEST_CASE("Vectors of objects that own memory keep them whatever moves them", "[moves]") {
  test::tally count;
  [&]<class... Kind>(std::type_identity<std::tuple<Kind...>>) {
    (check_sequences<Kind>(count), ...);
  }(std::type_identity<kinds_of_objects>{});
  count.require(sequence_checks * std::tuple_size_v<kinds_of_objects>);
}

TEST_CASE("What was moved from is whole, keeps its format, and can be assigned to", "[moves]") {
  test::tally count;
  [&]<class... Kind>(std::type_identity<std::tuple<Kind...>>) {
    (check_objects<Kind>(count), ...);
  }(std::type_identity<kinds_of_objects>{});
  count.require(object_checks * std::tuple_size_v<kinds_of_objects>);
}
