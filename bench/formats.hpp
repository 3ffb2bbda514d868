// The formats that are measured, and their names.
#pragma once

#include <string>
#include <tuple>

#include <narrow/narrow.hpp>

#include "random.hpp"
#include "types.hpp"

namespace narrow_bench {

/// The catalogue; what training uses is measured in more places than the rest.
using floating_formats = narrow::all_formats;
using training_formats = std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, narrow::fp8_e5m2>;
using fixed_formats = std::tuple<narrow::fixed<8, 4>, narrow::fixed<12, 6>, narrow::fixed<16, 8>>;
using wide_fixed_formats = std::tuple<narrow::fixed<24, 12>, narrow::fixed<32, 16>>;
using block_formats =
    std::tuple<narrow::int8, narrow::bfp<8>, narrow::bfp<8, narrow::tile<24, 24>>, narrow::bfp<12>,
               narrow::bfp<16>, narrow::mx<narrow::int8>, narrow::mx<narrow::fp8_e4m3fn>>;

// Those of the comparisons with float (side.hpp).

// What takes long to compile is there for few formats where the rows are only to be checked.
#ifdef NARROW_BENCH_FEW_FORMATS
template <class Few, class...> using few_or_all = Few;
#else
template <class Few, class... Others>
using few_or_all = decltype(std::tuple_cat(Few(), std::tuple<Others...>()));
#endif

using scalar_formats =
    few_or_all<std::tuple<narrow::fp16, narrow::fixed<8, 4>>, narrow::bf16, narrow::fp8_e4m3fn>;
using array_formats = few_or_all<std::tuple<narrow::fp16, narrow::fixed<8, 4>, narrow::bfp<8>>, narrow::bf16,
                                 narrow::fp8_e4m3fn, narrow::int8>;
/// With the exponents that numbers need which nobody has scaled.
using program_formats = few_or_all<std::tuple<narrow::fp16>, narrow::bf16, narrow::fp8_e5m2>;
using summed_formats =
    std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, narrow::fixed<8, 4>, narrow::fixed<16, 8>>;
using inner_product_formats = std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, narrow::fixed<8, 4>,
                                         narrow::fixed<16, 8>, narrow::int8, narrow::bfp<8>, narrow::bfp<16>>;
using vector_product_formats = std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, narrow::fixed<8, 4>,
                                          narrow::int8, narrow::bfp<8>, narrow::bfp<16>>;

/// The name of a row's format.
template <class T> std::string name_of() { return narrow::format_name<T>(); }

}  // namespace narrow_bench
