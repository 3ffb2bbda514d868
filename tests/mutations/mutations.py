"""The mutations: small faults that someone could have written, each with the test that must notice it."""
from typing import NamedTuple


class Mutation(NamedTuple):
    name: str
    file: str  # below include/narrow
    old: str   # once in the file
    new: str
    test: str  # tests/**/TEST_test.cpp
    level: str = "-O0"  # with which it must notice


ROUNDING = [
    Mutation("ties_to_even_go_away", "round/rounding.hpp", "return t.fraction > tail::half - (ties_away ? 1u : 0u);",
             "return t.fraction >= tail::half;", "edge_operands"),
    Mutation("ties_away_stay", "round/rounding.hpp", "return t.at_least_half();", "return t.fraction > tail::half;",
             "edge_conversions"),
    Mutation("upward_forgets_sticky", "round/rounding.hpp", "t.of == sign::positive && t.inexact()",
             "t.of == sign::positive && t.fraction != 0", "edge_operands"),
    Mutation("to_odd_is_away", "round/rounding.hpp", "return !t.odd && t.inexact();", "return t.inexact();",
             "edge_operands"),
    Mutation("draws_have_31_bits", "round/rounding.hpp", "((t.fraction >> 32) + draw)", "((t.fraction >> 33) + draw)",
             "stochastic"),
    Mutation("difference_forgets_sticky", "round/arithmetic.hpp", "larger - smaller - (sticky ? 1 : 0)",
             "larger - smaller", "edge_operands"),
    Mutation("short_roots", "round/arithmetic.hpp", "root_bits = bits_of<Word> - 8", "root_bits = bits_of<Word> / 2 - 8",
             "edge_operands"),
    Mutation("zero_sums_are_positive", "round/pack.hpp", "             ? sign::negative\n             : sign::positive;",
             "             ? sign::positive\n             : sign::positive;", "edge_operands"),
    Mutation("overflow_is_infinite", "round/pack.hpp",
             "return round.overflows_to_infinity(x.of) ? infinity() : with_sign(Layout::max_finite);",
             "return infinity();", "edge_operands"),
    Mutation("largest_is_infinite", "round/pack.hpp", "if (magnitude <= Layout::max_finite) return with_sign(magnitude);",
             "if (magnitude < Layout::max_finite) return with_sign(magnitude);", "edge_conversions"),
    Mutation("fixed_wraps", "round/pack.hpp", "magnitude = std::min(magnitude, limit);", "magnitude = magnitude;",
             "narrow_cast_fixed"),
    Mutation("subnormal_ties_down", "round/through_float.hpp",
             "(word{1} << (shift - 1)) - 1 + (significand >> shift & 1)", "(word{1} << (shift - 1)) - 1", "narrow_cast"),
    Mutation("nan_are_ordered", "round/arithmetic.hpp", "difference & ~((last - magnitude(a)) | (last - magnitude(b)))",
             "difference & ~(last - magnitude(a))", "comparison"),
    Mutation("equal_is_greater", "round/arithmetic.hpp", "orders(a, b, key(a) - key(b) - 1)", "orders(a, b, key(a) - key(b))",
             "comparison"),
    Mutation("infinity_is_nan", "round/arithmetic.hpp", "Layout::has_infinity ? Layout::infinity : Layout::max_finite",
             "Layout::max_finite", "comparison"),
    Mutation("bfloat16_ties_down", "round/one_number.hpp", "(1u << 15) - 1", "(1u << 15) - 2", "quick_operators"),
    Mutation("other_lanes_are_converted", "round/one_number.hpp", "vmovss %1, %0, %0", "vmovaps %1, %0",
             "quick_operators", "-O2"),
    Mutation("signalling_nan_stays", "format/floating.hpp", "negative | float_layout::quiet_nan | payload",
             "negative | float_layout::infinity | payload | 1", "narrow_cast"),
    Mutation("negative_zero_is_less", "round/arithmetic.hpp", "return (magnitude(x) ^ sign) - sign;",
             "return magnitude(x) ^ sign;", "comparison"),
    Mutation("half_way_in_double", "round/through_float.hpp", " && (magnitude & (unit - 1)) != unit / 2", "",
             "quick_operators"),
    Mutation("subnormals_are_flushed_in_double", "format/operands.hpp",
             "magnitude - 1 < std::uint32_t{layout::min_normal} - 1", "false && magnitude == 0", "quick_operators"),
    Mutation("integers_of_one_digit_more", "format/operands.hpp", "T::layout::mantissa_bits + 1, T::layout::max_exponent",
             "T::layout::mantissa_bits + 2, T::layout::max_exponent", "operators"),
    Mutation("fixed_quotients_of_ties_go_away", "round/fixed_point.hpp", "twice + (down & 1) > size", "twice >= size",
             "arithmetic_fixed"),
    Mutation("fixed_roots_go_down", "round/fixed_point.hpp", "return root + (rest > root ? 1 : 0);", "return root;",
             "arithmetic_fixed"),
    Mutation("integers_beside_fixed_are_units", "format/comparisons.hpp",
             "return static_cast<std::int64_t>(x) * (std::int64_t{1} << T::fraction_length);", "return x;", "comparison"),
]

KERNELS = [
    Mutation("lanes_forget_ties", "kernel/convert/encoding.inl", "((magnitude + (e.half - 1) + tie) >> e.dropped_bits)",
             "((magnitude + e.half) >> e.dropped_bits)", "conversion_kernels"),
    Mutation("lanes_round_to_other_units", "kernel/convert/encoding.inl", "power + (e.dropped_bits << mantissa_bits)",
             "power + ((e.dropped_bits + 1) << mantissa_bits)", "conversion_kernels"),
    Mutation("fp16_fields_have_no_nans", "kernel/convert/fp16_fields.inl", "if (f.special_bits != 0)",
             "if (f.special_bits == 0)", "conversion_kernels"),
    Mutation("twos_change_places", "kernel/elementwise/alternating.inl", "first.codes | second.codes << 8",
             "second.codes | first.codes << 8", "lane_programs"),
    Mutation("constants_are_cut_off", "kernel/elementwise/alternating.inl",
             "(std::bit_cast<std::uint32_t>(x.value) & 0xffff) == 0", "x.value != 0", "lane_programs"),
    Mutation("avx2_rows_of_other_bits", "simd/x86/avx2.hpp", "_mm256_slli_epi16(codes_, 7 - bit)",
             "_mm256_slli_epi16(codes_, bit - 4)", "lane_programs"),
    Mutation("lines_of_codes_read_others", "kernel/product/code_lines.inl", "lanes_as<vector>(decoded<T>(from))",
             "lanes_as<vector>(-decoded<T>(from))", "sum"),
    Mutation("lanes_keep_zero_signs", "kernel/convert/encoding.inl",
             "if (e.zero_sign == 0) signs = code != 0 ? signs : 0u;", "", "conversion_kernels"),
    Mutation("bf16_rounds_up", "kernel/convert/encoding.inl", "return bits + 0x7fffu + (bits >> 16 & 1u);",
             "return bits + 0x8000u;", "conversion_kernels"),
    Mutation("stochastic_lanes_carry_otherwise", "kernel/quantize/elements.inl",
             "(bits + random_draws{q.draws.key}(at) < bits)", "(bits + random_draws{q.draws.key}(at) >= bits)",
             "stochastic_blocks"),
    Mutation("avx2_int64_upper_half", "simd/x86/avx2.hpp", "_mm256_slli_epi64(_mm256_castpd_si256(multiple), 32)",
             "_mm256_slli_epi64(_mm256_castpd_si256(multiple), 31)", "vector_kernels"),
    Mutation("avx2_stores_other_halves", "simd/x86/avx2.hpp", "_mm256_permute4x64_epi64(first, 0b1000)",
             "_mm256_permute4x64_epi64(first, 0b0100)", "conversion_kernels"),
    Mutation("avx512_odd_codes", "simd/x86/avx512.hpp", "_mm512_slli_epi16(is_odd, 3)", "_mm512_slli_epi16(is_odd, 2)",
             "lane_programs"),
    Mutation("columns_change_places", "kernel/product/gemv.inl",
             "acc[2] = Line::step(acc[2], x, Line::low_pairs(high_ab, high_cd));",
             "acc[2] = Line::step(acc[2], x, Line::high_pairs(high_ab, high_cd));", "skinny"),
    Mutation("alpha_is_one", "kernel/product/epilogue.inl",
             "read<float_vector>(sums + i * s.stride + j, n) * alpha;", "read<float_vector>(sums + i * s.stride + j, n);",
             "gemm"),
    Mutation("tile_ties_down", "kernel/product/epilogue.inl", "rest = (sum & rest_mask) + (floor & 1);",
             "rest = sum & rest_mask;", "fixed_tensor_rounding"),
    Mutation("limbs_overlap", "kernel/product/epilogue.inl", "(wide_sums_at(high + i) << 8)",
             "(wide_sums_at(high + i) << 7)", "product_scales"),
    Mutation("zeros_hide_subnormal_blocks", "kernel/product/bf16_values.hpp",
             "if (a.most == 0 || b.most == 0) return is_normal(a) && is_normal(b);",
             "if (a.most == 0 || b.most == 0) return true;", "mx_product"),
]

BLOCKS = [
    Mutation("scale_one_too_small", "block/scale.hpp", "return mantissa >> bits == 0 ? exponent : exponent + 1;",
             "return exponent;", "quantize_widths"),
    Mutation("mx_scale_doubled", "block/mx.hpp", "std::clamp(leading - largest_element,",
             "std::clamp(leading - largest_element + 1,", "mx"),
    Mutation("mx_infinity_counts_as_number", "block/mx.hpp",
             "if (magnitude >= layout::infinity) return std::numeric_limits<float>::quiet_NaN();",
             "if (magnitude > layout::infinity) return std::numeric_limits<float>::quiet_NaN();", "mx"),
]

TRAINING = [
    Mutation("scale_grows_late", "train/loss_scaler.hpp", "++growth_tracker_ == options_.growth_interval",
             "++growth_tracker_ > options_.growth_interval", "loss_scaler"),
    Mutation("scale_below_floor", "train/loss_scaler.hpp", "std::max(times(options_.backoff_factor), options_.min_scale)",
             "times(options_.backoff_factor)", "loss_scaler"),
    Mutation("no_hysteresis_is_loaded", "train/loss_scaler.hpp", "within(1, o.hysteresis)", "within(0, o.hysteresis)",
             "loss_scaler"),
    Mutation("layers_are_observed_without_steps", "train/precision_switch.hpp",
             "report.observed, 1, layer.last_step", "report.observed, 1, steps_", "precision_switch"),
    Mutation("share_at_lambda_is_gaussian", "train/adaptive_clip.hpp", "share > options_.lambda;",
             "share >= options_.lambda;", "adaptive_clip"),
    Mutation("clip_forgets_k", "train/adaptive_clip.hpp", "(1 - options_.k * options_.a) * state",
             "(1 - options_.a) * state", "adaptive_clip"),
    Mutation("columns_draw_in_storage_order", "train/master_weights.hpp", "rows, round, j, cols);",
             "rows, round, j * rows, 1);", "master_weights"),
]

FILES = [
    Mutation("big_endian_npy_as_it_is", "files/npy.hpp",
             "return order == (is_little_endian ? '>' : '<') ? byte_order::reversed : byte_order::native;",
             "return byte_order::native;", "npy"),
    Mutation("tensors_may_overlap", "files/safetensors.hpp", "if (entry->begin != at)", "if (entry->begin > at)",
             "safetensors"),
    Mutation("surrogates_lose_a_bit", "files/tensor_header.hpp", "((unit - high) << 10)", "((unit - high) << 9)",
             "safetensors"),
]

EIGEN = [
    Mutation("places_in_the_first_vector", "kernel/elementwise/few.hpp", "<< (v * lanes)", "<< v", "extremes"),
    Mutation("spare_numbers_are_one", "kernel/elementwise/few.hpp", "(detail::binary32::infinity | sign)", "(sign | 0x3f80'0000u)",
             "extremes"),
    Mutation("short_lines_have_a_gap", "kernel/elementwise/few.hpp", "i + lanes < length", "i + 2 * lanes < length",
             "few_lanes"),
    Mutation("few_numbers_side_by_side", "simd/few_lanes.hpp", "(to + number * step)", "(to + number)", "few_lanes"),
    Mutation("drawn_by_columns", "eigen/assignment.hpp", "round.at(element_index(i, j, cols))",
             "round.at(element_index(j, i, rows))", "stochastic_matrices"),
    Mutation("mean_of_rows_alone", "eigen/reductions.hpp",
             "return detail::mean_of<carrier_t<typename X::Scalar>>(sum(x), static_cast<std::size_t>(x.size()));",
             "return detail::mean_of<carrier_t<typename X::Scalar>>(sum(x), static_cast<std::size_t>(x.rows()));",
             "sums"),
]

MUTATIONS = ROUNDING + KERNELS + BLOCKS + TRAINING + FILES + EIGEN
