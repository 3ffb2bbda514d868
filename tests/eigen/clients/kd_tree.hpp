// A small library of nearest neighbours, as such are written: a tree over a data set that it sees through an
// adaptor and never copies, metrics and result sets as policies, the type of distances a parameter. It knows
// float and double; a test has it compiled for other scalars.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace client {

/// The sum of squares of differences, four at a time, given up where it exceeds the worst that is wanted.
template <class T, class DataSource, typename DistanceType_ = T, typename IndexType = std::size_t>
struct L2_Adaptor {
  using ElementType = T;
  using DistanceType = DistanceType_;
  const DataSource& data_source;

  explicit L2_Adaptor(const DataSource& source) : data_source(source) {}

  DistanceType evalMetric(const T* a, const IndexType b_idx, std::size_t size,
                          DistanceType worst_dist = -1) const {
    DistanceType result = DistanceType();
    const T* last = a + size;
    const T* lastgroup = last - 3;
    std::size_t d = 0;
    while (a < lastgroup) {
      const DistanceType diff0 = a[0] - data_source.kdtree_get_pt(b_idx, d++);
      const DistanceType diff1 = a[1] - data_source.kdtree_get_pt(b_idx, d++);
      const DistanceType diff2 = a[2] - data_source.kdtree_get_pt(b_idx, d++);
      const DistanceType diff3 = a[3] - data_source.kdtree_get_pt(b_idx, d++);
      result += diff0 * diff0 + diff1 * diff1 + diff2 * diff2 + diff3 * diff3;
      a += 4;
      if ((worst_dist > 0) && (result > worst_dist)) return result;
    }
    while (a < last) {
      const DistanceType diff0 = *a++ - data_source.kdtree_get_pt(b_idx, d++);
      result += diff0 * diff0;
    }
    return result;
  }
  template <typename U, typename V> DistanceType accum_dist(const U a, const V b, const std::size_t) const {
    return (a - b) * (a - b);
  }
};

/// The sum of magnitudes of differences.
template <class T, class DataSource, typename DistanceType_ = T, typename IndexType = std::size_t>
struct L1_Adaptor {
  using ElementType = T;
  using DistanceType = DistanceType_;
  const DataSource& data_source;

  explicit L1_Adaptor(const DataSource& source) : data_source(source) {}

  DistanceType evalMetric(const T* a, const IndexType b_idx, std::size_t size, DistanceType = -1) const {
    DistanceType result = DistanceType();
    for (std::size_t d = 0; d < size; ++d) result += std::abs(a[d] - data_source.kdtree_get_pt(b_idx, d));
    return result;
  }
  template <typename U, typename V> DistanceType accum_dist(const U a, const V b, const std::size_t) const {
    return std::abs(a - b);
  }
};

template <typename DistanceType_, typename IndexType = std::size_t> class KNNResultSet {
 public:
  using DistanceType = DistanceType_;

  explicit KNNResultSet(std::size_t capacity) : capacity_(capacity) {}
  void init(IndexType* indices, DistanceType* dists) {
    indices_ = indices;
    dists_ = dists;
    count_ = 0;
    if (capacity_) dists_[capacity_ - 1] = (std::numeric_limits<DistanceType>::max)();
  }
  std::size_t size() const { return count_; }
  bool full() const { return count_ == capacity_; }
  void addPoint(DistanceType dist, IndexType index) {
    std::size_t i = count_;
    for (; i > 0 && dists_[i - 1] > dist; --i)
      if (i < capacity_) {
        dists_[i] = dists_[i - 1];
        indices_[i] = indices_[i - 1];
      }
    if (i < capacity_) {
      dists_[i] = dist;
      indices_[i] = index;
    }
    if (count_ < capacity_) ++count_;
  }
  DistanceType worstDist() const { return dists_[capacity_ - 1]; }

 private:
  std::size_t capacity_, count_ = 0;
  IndexType* indices_ = nullptr;
  DistanceType* dists_ = nullptr;
};

template <typename DistanceType_, typename IndexType = std::size_t> class RadiusResultSet {
 public:
  using DistanceType = DistanceType_;
  const DistanceType radius;
  std::vector<std::pair<IndexType, DistanceType>>& found;

  RadiusResultSet(DistanceType r, std::vector<std::pair<IndexType, DistanceType>>& to)
      : radius(r), found(to) {
    found.clear();
  }
  std::size_t size() const { return found.size(); }
  bool full() const { return true; }
  void addPoint(DistanceType dist, IndexType index) {
    if (dist < radius) found.emplace_back(index, dist);
  }
  DistanceType worstDist() const { return radius; }
};

struct SearchParameters {
  float eps = 0;
  bool sorted = true;
};

/// DatasetAdaptor has kdtree_get_point_count() and kdtree_get_pt(index, dimension).
template <typename Distance, class DatasetAdaptor, int DIM, typename IndexType = std::size_t> class KDTree {
 public:
  using ElementType = typename Distance::ElementType;
  using DistanceType = typename Distance::DistanceType;

  KDTree(const DatasetAdaptor& dataset, std::size_t leaf_max_size)
      : dataset_(dataset), leaf_max_size_(leaf_max_size), distance(dataset) {
    indices_.resize(dataset_.kdtree_get_point_count());
    std::iota(indices_.begin(), indices_.end(), IndexType(0));
    if (indices_.empty()) return;
    for (int i = 0; i < DIM; ++i) {
      root_bbox_[dim(i)].low = root_bbox_[dim(i)].high = get(indices_[0], i);
      for (const IndexType index : indices_) {
        const ElementType value = get(index, i);
        if (value < root_bbox_[dim(i)].low) root_bbox_[dim(i)].low = value;
        if (value > root_bbox_[dim(i)].high) root_bbox_[dim(i)].high = value;
      }
    }
    root_ = divide(0, indices_.size(), root_bbox_);
  }

  template <typename ResultSet>
  bool findNeighbors(ResultSet& result, const ElementType* query, const SearchParameters& params = {}) const {
    if (!root_) return false;
    const float epsError = 1 + params.eps;
    std::array<DistanceType, DIM> dists{};
    DistanceType dist = DistanceType();
    for (int i = 0; i < DIM; ++i) {
      if (query[i] < root_bbox_[dim(i)].low)
        dists[dim(i)] = distance.accum_dist(query[i], root_bbox_[dim(i)].low, dim(i));
      if (query[i] > root_bbox_[dim(i)].high)
        dists[dim(i)] = distance.accum_dist(query[i], root_bbox_[dim(i)].high, dim(i));
      dist += dists[dim(i)];
    }
    search(result, query, *root_, dist, dists, epsError);
    return result.full();
  }
  std::size_t knnSearch(const ElementType* query, std::size_t num, IndexType* indices,
                        DistanceType* dists) const {
    KNNResultSet<DistanceType, IndexType> result(num);
    result.init(indices, dists);
    findNeighbors(result, query);
    return result.size();
  }
  std::size_t radiusSearch(const ElementType* query, const DistanceType& radius,
                           std::vector<std::pair<IndexType, DistanceType>>& found,
                           const SearchParameters& params = {}) const {
    RadiusResultSet<DistanceType, IndexType> result(radius, found);
    findNeighbors(result, query, params);
    if (params.sorted)
      std::sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.second < b.second; });
    return result.size();
  }

 private:
  struct Interval {
    ElementType low, high;
  };
  using BoundingBox = std::array<Interval, DIM>;
  struct Node {
    std::size_t left = 0, right = 0;  // of a leaf
    int divfeat = 0;
    DistanceType divlow = DistanceType(), divhigh = DistanceType();
    std::unique_ptr<Node> child1, child2;
  };

  static std::size_t dim(int i) { return static_cast<std::size_t>(i); }
  ElementType get(IndexType index, int i) const { return dataset_.kdtree_get_pt(index, dim(i)); }

  std::unique_ptr<Node> divide(std::size_t left, std::size_t right, BoundingBox& bbox) {
    auto node = std::make_unique<Node>();
    if (right - left <= leaf_max_size_) {
      node->left = left;
      node->right = right;
      for (int i = 0; i < DIM; ++i) {
        bbox[dim(i)].low = bbox[dim(i)].high = get(indices_[left], i);
        for (std::size_t k = left + 1; k < right; ++k) {
          bbox[dim(i)].low = std::min(bbox[dim(i)].low, get(indices_[k], i));
          bbox[dim(i)].high = std::max(bbox[dim(i)].high, get(indices_[k], i));
        }
      }
      return node;
    }
    std::size_t index = 0;
    int cutfeat = 0;
    DistanceType cutval = DistanceType();
    middleSplit(left, right - left, index, cutfeat, cutval, bbox);
    node->divfeat = cutfeat;
    BoundingBox left_bbox(bbox), right_bbox(bbox);
    left_bbox[dim(cutfeat)].high = cutval;
    right_bbox[dim(cutfeat)].low = cutval;
    node->child1 = divide(left, left + index, left_bbox);
    node->child2 = divide(left + index, right, right_bbox);
    node->divlow = left_bbox[dim(cutfeat)].high;
    node->divhigh = right_bbox[dim(cutfeat)].low;
    for (std::size_t i = 0; i < DIM; ++i) {
      bbox[i].low = std::min(left_bbox[i].low, right_bbox[i].low);
      bbox[i].high = std::max(left_bbox[i].high, right_bbox[i].high);
    }
    return node;
  }

  /// The dimension with the largest spread, of those whose box is about as long as the longest.
  void middleSplit(std::size_t left, std::size_t count, std::size_t& index, int& cutfeat,
                   DistanceType& cutval, const BoundingBox& bbox) {
    const auto EPS = static_cast<DistanceType>(0.00001);
    ElementType max_span = bbox[0].high - bbox[0].low;
    for (std::size_t i = 1; i < DIM; ++i)
      max_span = std::max<ElementType>(max_span, bbox[i].high - bbox[i].low);
    ElementType max_spread = -1, cut_low = 0, cut_high = 0;
    for (int i = 0; i < DIM; ++i) {
      const ElementType span = bbox[dim(i)].high - bbox[dim(i)].low;
      if (!(span >= (1 - EPS) * max_span)) continue;
      ElementType low = get(indices_[left], i), high = low;
      for (std::size_t k = 1; k < count; ++k) {
        const ElementType value = get(indices_[left + k], i);
        if (value < low) low = value;
        if (value > high) high = value;
      }
      if (high - low > max_spread) {
        cutfeat = i;
        max_spread = high - low;
        cut_low = low;
        cut_high = high;
      }
    }
    const DistanceType split_val = (bbox[dim(cutfeat)].low + bbox[dim(cutfeat)].high) / 2;
    cutval = split_val < cut_low ? DistanceType(cut_low)
                                 : (split_val > cut_high ? DistanceType(cut_high) : split_val);
    const auto begin = indices_.begin() + static_cast<std::ptrdiff_t>(left);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    const auto below = std::partition(begin, end, [&](IndexType i) { return get(i, cutfeat) < cutval; });
    const auto equal = std::partition(below, end, [&](IndexType i) { return get(i, cutfeat) <= cutval; });
    const auto lim1 = static_cast<std::size_t>(below - begin), lim2 = static_cast<std::size_t>(equal - begin);
    index = lim1 > count / 2 ? lim1 : (lim2 < count / 2 ? lim2 : count / 2);
  }

  template <class ResultSet>
  void search(ResultSet& result, const ElementType* query, const Node& node, DistanceType mindist,
              std::array<DistanceType, DIM>& dists, const float epsError) const {
    if (!node.child1) {
      for (std::size_t k = node.left; k < node.right; ++k) {
        const DistanceType worst = result.worstDist();
        const DistanceType dist = distance.evalMetric(query, indices_[k], DIM, worst);
        if (dist < worst) result.addPoint(dist, indices_[k]);
      }
      return;
    }
    const std::size_t i = dim(node.divfeat);
    const ElementType value = query[i];
    const DistanceType diff1 = value - node.divlow, diff2 = value - node.divhigh;
    const bool first = (diff1 + diff2) < 0;
    const DistanceType cut_dist = distance.accum_dist(value, first ? node.divhigh : node.divlow, i);
    search(result, query, first ? *node.child1 : *node.child2, mindist, dists, epsError);
    const DistanceType before = dists[i];
    mindist = mindist + cut_dist - before;
    dists[i] = cut_dist;
    if (mindist * epsError <= result.worstDist())
      search(result, query, first ? *node.child2 : *node.child1, mindist, dists, epsError);
    dists[i] = before;
  }

  const DatasetAdaptor& dataset_;
  std::size_t leaf_max_size_;
  std::vector<IndexType> indices_;
  BoundingBox root_bbox_{};
  std::unique_ptr<Node> root_;

 public:
  Distance distance;
};

}  // namespace client
