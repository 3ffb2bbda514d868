// Random numbers under one key. random.hpp includes this file, and so does each instruction set in its
// namespace and target region. No include guard, on purpose.

/// 32 uniformly distributed bits for an index or each of several. Under one key this is a permutation of the
/// lower half of the index; the second key word enters between the multiplications, so that streams of
/// different seeds are not shifted copies of one another. It needs only 32-bit lanes. Source of the
/// constants: Chris Wellons, "Prospecting for hash functions" (2018), lowbias32.
struct random_draws {
  narrow::detail::random_key key;

  template <class Words> constexpr Words operator()(Words index) const {
    return mixed(Words(index + key.before));
  }
  /// The bits for an index that key.before was added to.
  template <class Words> constexpr Words mixed(Words x) const {
    x = upper_half(x);
    return x ^ (x >> 16);
  }
  /// The bits for an index that key.before was added to, of which only the upper 16 are right.
  template <class Words> constexpr Words upper_half(Words x) const {
    x = (x ^ (x >> 16)) * 0x7feb'352du;
    x ^= key.between;
    return (x ^ (x >> 15)) * 0x846c'a68bu;
  }
};
