// Doubles, long doubles and narrow numbers quantised to blocks, and matrices in fixed point chosen at run
// time.
#include "quantizations.hpp"

namespace bits {

void add(digest& hash, const narrow::fixed_tensor& tensor) {
  hash.bits_of(std::int64_t{tensor.rows()});
  hash.bits_of(std::int64_t{tensor.cols()});
  hash.bits_of(static_cast<std::uint64_t>(tensor.nonfinite()));
  std::visit([&](const auto& stored) { hash.all_bits(stored); }, tensor.mantissas());
}

template <class T, class Round> void quantize_fixed() {
  for (const narrow::fixed_format format :
       {narrow::fixed_format{2, 0}, {8, 4}, {11, 10}, {16, 8}, {24, 12}, {32, 31}})
    report("quantize",
           name<T>() + "->dynamic_fixed<" + std::to_string(format.wl) + "," + std::to_string(format.fl) +
               ">/by_" + name<Round>(),
           [&](digest& hash) {
             for_each_matrix<T>([&](const matrix<T>& m, narrow::storage_order order) {
               narrow::fixed_tensor tensor(0, 0, format, order);
               tensor.assign(m.view, policy<Round>());
               add(hash, tensor);
               tensor.write(m.view.rows / 2, 0, m.view.block(0, 0, m.view.rows / 2, m.view.cols),
                            policy<Round>());
               tensor.format({10, 3}, policy<Round>());
               add(hash, tensor);
             });
           });
}

}  // namespace bits

void bits::quantizations_of_wide() {
  using namespace narrow::rounding;
  for_each_type<block_formats>([]<class Kind>() {
    for_each_type<std::tuple<nearest_even, stochastic>>([]<class Round>() {
      quantize_from<typename Kind::template with<narrow::per_tensor>, double, Round>();
      quantize_from<typename Kind::template with<narrow::tile<2, 3>>, double, Round>();
    });
  });
  for_each_type<std::tuple<narrow::bfp<8>, narrow::int8,
                           narrow::bfp<6, narrow::per_row, nearest_even, narrow::exponent::avg<>>>>(
      []<class Format>() {
        quantize_from<Format, long double, toward_zero>();
        for_each_type<scalars>([]<class T>() { quantize_from<Format, T, nearest_even>(); });
      });
  for_each_type<test::rounding_modes>([]<class Round>() {
    quantize_fixed<float, Round>();
    quantize_fixed<double, Round>();
  });
  quantize_fixed<narrow::fp16, nearest_even>();
  quantize_fixed<narrow::fixed<24, 12>, nearest_even>();
}
