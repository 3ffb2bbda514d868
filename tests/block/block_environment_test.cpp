// Tensors under any state of the floating-point control register: the same bits, and the register as it was.
#include "../float_control.hpp"
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

/// Bits, each with what computed it.
using record = std::vector<std::pair<std::string, std::uint64_t>>;

void add(record& to, const std::string& what, const std::vector<float>& values) {
  for (const float x : values) to.emplace_back(what, std::bit_cast<std::uint32_t>(x));
}
template <class F> void add(record& to, const std::string& what, const block_tensor<F>& t) {
  for (const auto q : t.mantissas()) to.emplace_back(what, static_cast<std::uint64_t>(std::int64_t{q}));
  for (const float s : t.scales()) to.emplace_back(what + ", scales", std::bit_cast<std::uint32_t>(s));
  to.emplace_back(what + ", count", t.nonfinite());
}

constexpr extent size{6, 7};
struct inputs {
  std::vector<std::vector<float>> floats;  // of every kind
  std::vector<double> doubles;
};

template <class F> void add_everything(record& to, const inputs& x) {
  const std::string name = name_of<F>();
  for (const auto& values : x.floats) {
    const auto t = quantize<F>(values, size.rows, size.cols, policy<typename F::round_policy>(5));
    add(to, name, t);
    std::vector<float> back(values.size()), read;
    dequantize(t, back);
    add(to, name + " dequantised", back);
    for (place i = 0; i < size.rows; ++i)
      for (place j = 0; j < size.cols; ++j) read.push_back(t(i, j));
    add(to, name + " read", read);
    std::vector<float> c(36, 0.5f);
    gemm(t, transposed(t), row_major(c, 6, 6));
    add(to, name + " product", c);
    gemm(t, column_major(values, 7, 6), row_major(c, 6, 6), 0.3, 0.7);
    add(to, name + " mixed product", c);
    gemv(transposed(t), std::vector<float>(values.begin(), values.begin() + 6), c = std::vector<float>(7));
    add(to, name + " gemv", c);
    auto u = t;
    for (const auto& other : x.floats)  // grows from any scale to any other
      u.write(1, 2, row_major(other, 3, 4), policy<typename F::round_policy>(6));
    add(to, name + " written", u);
  }
  add(to, name + " from double", quantize<F>(x.doubles, 20, 20, policy<typename F::round_policy>(5)));
}

record everything(const inputs& x) {
  seed(1);
  record result;
  using formats = std::tuple<bfp<8>, bfp<13, tile<2, 3>, rounding::upward>,
                             bfp<5, per_column, rounding::stochastic, exponent::avg<>>, int8,
                             basic_int8<per_row, rounding::stochastic>>;
  for_each_type<formats>([&]<class F>() { add_everything<F>(result, x); });
  return result;
}

}  // namespace

TEST_CASE("no tensor depends on the floating-point environment, and none changes it",
          "[.exhaustive][block][environment]") {
  generator random(2024);
  inputs x;
  for (int kind = 0; kind < kinds_of_values; ++kind) x.floats.push_back(values_of_kind(kind, 42, random));
  for (int i = 0; i < 400; ++i)  // around float's subnormals, and around its ties
    x.doubles.push_back(
        std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), i % 4 == 0 ? -210 : -63));
  const record right = [&] {
    const float_control control(plain_control);
    return everything(x);
  }();
  REQUIRE(right.size() > 10'000);
  for (const control_word rounding_mode : {control_word{0}, round_down, round_up, round_to_zero})
    for (const control_word flushing : flushing_modes) {
      const float_control control(plain_control | rounding_mode | flushing);
      const control_word before = read_control();  // without bits that this processor has not
      const record result = everything(x);
      const control_word after = read_control();
      write_control(plain_control);
      std::string differences;
      REQUIRE(result.size() == right.size());
      for (std::size_t i = 0; i < right.size(); ++i)
        if (result[i] != right[i] && !contains(differences, right[i].first))
          differences += right[i].first + "; ";
      INFO("control register " << std::hex << before);
      CHECK(differences == "");
      CHECK((after & ~exception_flags) == (before & ~exception_flags));
    }
}
