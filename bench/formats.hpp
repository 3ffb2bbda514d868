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

/// The name of a row's format.
template <class T> std::string name_of() { return narrow::format_name<T>(); }

}  // namespace narrow_bench
