// The bodies of the kernels, in the order in which they need each other; included once in the namespace of an
// instruction set, inside its target region, after lanes.inl and what that set has of its own: any_of,
// store_lower and load_lower. No include guard, on purpose.

#include "../round/random_draws.inl"

#include "../kernel/convert/encoding.inl"

#include "../kernel/product/dot.inl"

#include "../kernel/product/gemv.inl"

#include "../kernel/reduce/moments.inl"

#include "../kernel/product/pack.inl"

#include "../kernel/product/panels.inl"

#include "../kernel/quantize/elements.inl"

#include "../kernel/quantize/blocks.inl"

#include "../kernel/reduce/sum.inl"

#include "../kernel/quantize/absmax.inl"

#include "../kernel/product/epilogue.inl"

#include "../kernel/product/wide.inl"
