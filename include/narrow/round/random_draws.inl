// Random numbers under one key, included once here and in the namespace of each instruction set, inside its target region.
// No include guard, on purpose.

/// 32 uniformly distributed bits for an index or each of several. Under one key this is a permutation of the lower half of
/// the index; the second key word enters between the multiplications, so that streams of different seeds are not shifted
/// copies of one another. It needs only 32-bit lanes. Source of the constants: Chris Wellons, "Prospecting for hash
/// functions" (2018), lowbias32.
struct random_draws {
  narrow::detail::random_key key;

  template <class Words> constexpr Words operator()(Words index) const {
    Words x = index + key.before;
    x = (x ^ (x >> 16)) * 0x7feb'352du;
    x ^= key.between;
    x = (x ^ (x >> 15)) * 0x846c'a68bu;
    return x ^ (x >> 16);
  }
};
