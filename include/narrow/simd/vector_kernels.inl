// The kernels that are written over vectors of any width, as each room offers them; included once in the
// namespace of each instruction set, inside its target region, after bodies.inl and the operations on vectors
// that they are instantiated with. No include guard, on purpose.

#include "../kernel/convert/offer.inl"
#include "../kernel/product/offer.inl"
#include "../kernel/quantize/offer.inl"
#include "../kernel/reduce/offer.inl"

template <class Table> constexpr void offer_vectors(Table& table) {
  offer_conversions(table);
  offer_products(table);
  offer_quantization(table);
  offer_reductions(table);
}
