// The kernels that are written over vectors of any width: their bodies, in the order in which they need each
// other, what they are instantiated with, and what each room offers of them. Included once in the namespace
// of an instruction set, inside its target region, after lanes.inl. No include guard, on purpose.

#include "../round/random_draws.inl"

#include "../kernel/convert/fp16_fields.inl"

#include "../kernel/convert/encoding.inl"

#include "../kernel/product/dot.inl"

#include "../kernel/product/gemv.inl"

#include "../kernel/reduce/moments.inl"

#include "../kernel/product/pack.inl"

#include "../kernel/product/bf16_values.inl"

#include "../kernel/product/panels.inl"

#include "../kernel/quantize/elements.inl"

#include "../kernel/quantize/blocks.inl"

#include "../kernel/reduce/sum.inl"

#include "../kernel/quantize/absmax.inl"

#include "../kernel/product/epilogue.inl"

#include "../kernel/product/wide.inl"

#include "operations.inl"

#include "../kernel/elementwise/casts.inl"

#include "../kernel/elementwise/floats.inl"

#include "../kernel/elementwise/float_functions.inl"

#include "../kernel/elementwise/float_pairs.inl"

#include "../kernel/elementwise/functions.inl"

#include "../kernel/elementwise/fixed.inl"

#include "../kernel/elementwise/fixed_functions.inl"

#include "../kernel/elementwise/program.inl"

#include "../kernel/elementwise/extremes.inl"

#include "../kernel/elementwise/softmax.inl"

#include "../kernel/product/code_lines.inl"

#include "../kernel/product/small.inl"

#include "../kernel/product/compact.inl"

#include "../kernel/product/compact_line.inl"

#include "../kernel/convert/offer.inl"
#include "../kernel/product/offer.inl"
#include "../kernel/quantize/offer.inl"
#include "../kernel/reduce/offer.inl"

template <class Table> constexpr void offer_vectors(Table& table) {
  if constexpr (for_job<Table>) {  // of which a program has many
    NARROW_OFFER_JOB(table);
  } else {
    offer_conversions(table);
    offer_products(table);
    offer_quantization(table);
    offer_reductions(table);
  }
}
