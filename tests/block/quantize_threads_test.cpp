// Assignments to tensors on several threads: the same bits as on one, whatever the format, the order and the
// source.
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

/// Enough for two parts, and no multiple of a block.
constexpr extent size{521, 607};

template <class Tensor> bool same_bits(const Tensor& a, const Tensor& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
  };
  return same(a.mantissas(), b.mantissas()) && same(a.scales(), b.scales()) && a.nonfinite() == b.nonfinite();
}
bool same_bits(const fixed_tensor& a, const fixed_tensor& b) {
  return a.mantissas() == b.mantissas() && a.nonfinite() == b.nonfinite();
}

/// Magnitudes that grow from one corner to the other, so that shares differ, and in each half something not
/// finite.
std::vector<float> values() {
  generator random(5);
  auto result = values_of_kind(0, static_cast<std::size_t>(size.rows * size.cols), random);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] *= static_cast<float>(i + 1);
  result[1000] = std::numeric_limits<float>::infinity();
  result[result.size() - 1000] = std::numeric_limits<float>::quiet_NaN();
  return result;
}

/// assign(tensor, source) for one of each order and sources that lie either way.
template <class Make, class Assign>
void check_threads(tally& count, const std::string& name, const Make& make, const Assign& assign) {
  static const std::vector<float> by_rows = values();
  static const std::vector<float> by_columns = in_columns(by_rows, size);
  const auto assigned = [&](storage_order order, int source) {
    auto t = make(order);
    assign(t, source == 0 ? row_major(by_rows, size.rows, size.cols)
                          : column_major(by_columns, size.rows, size.cols));
    return t;
  };
  for (const auto order : {storage_order::row_major, storage_order::column_major})
    for (const int source : {0, 1}) {
      const auto alone = assigned(order, source);
      for (const int threads : {2, 5}) {
        set_num_threads(threads);
        const auto together = assigned(order, source);
        set_num_threads(1);
        count.expect(same_bits(together, alone),
                     [&] { return text(name, threads, "threads, source", source); });
      }
    }
}
constexpr std::uint64_t cases_of_a_check = 8;

template <class F> void check_format_on_threads(tally& count) {
  const auto round = typename F::round_policy();
  const auto make = [](storage_order order) { return block_tensor<F>(0, 0, order); };
  check_threads(count, name_of<F>(), make, [&](auto& t, const auto& x) { t.assign(x, round); });
  const std::array clips{0.75f};
  check_threads(count, name_of<F>(), make, [&](auto& t, const auto& x) { t.assign(x, round, clips); });
}

}  // namespace

TEST_CASE("assignments to blocks do not depend on the number of threads") {
  tally count;
  for_each_type<granularities>([&]<class Block>() {
    check_format_on_threads<bfp<12, Block>>(count);
    check_format_on_threads<basic_int8<Block, rounding::stochastic>>(count);
  });
  using others = std::tuple<bfp<8, per_tensor, rounding::nearest_even, exponent::min<>>,
                            bfp<8, tile<24, 24>, rounding::nearest_even, exponent::avg<>>,
                            bfp<8, per_tensor, rounding::nearest_even, exponent::avg<>>, mx<fp8_e4m3fn>,
                            mx<fp4_e2m1, tile<32, 1>>>;
  for_each_type<others>([&]<class F>() { check_format_on_threads<F>(count); });
  count.require((2 * std::tuple_size_v<granularities> + std::tuple_size_v<others>)*2 * cases_of_a_check);
}

TEST_CASE("assignments to fixed-point tensors do not depend on the number of threads") {
  tally count;
  for (const fixed_format format : {fixed_format{8, 4}, fixed_format{16, 9}, fixed_format{27, 12}}) {
    const auto make = [&](storage_order order) { return fixed_tensor(0, 0, format, order); };
    const std::string name = text("fixed", format.wl, format.fl);
    check_threads(count, name, make, [](auto& t, const auto& x) { t.assign(x); });
    check_threads(count, name, make, [](auto& t, const auto& x) { t.assign(x, rounding::stochastic(3)); });
  }
  count.require(3 * 2 * cases_of_a_check);
}
