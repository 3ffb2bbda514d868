// A library of nearest neighbours that knows nothing of narrow numbers (clients/kd_tree.hpp) finds with them
// the points that are nearest in double, but for those whose distances the format does not tell apart: only
// the scalar is another one.
#include <narrow/eigen.hpp>
#include <random>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "clients/kd_tree.hpp"
#include "exhaustive.hpp"

namespace {

/// Points in a vector of structs.
template <typename T> struct PointCloud {
  struct Point {
    T x, y, z;
  };
  std::vector<Point> pts;

  std::size_t kdtree_get_point_count() const { return pts.size(); }
  T kdtree_get_pt(std::size_t idx, std::size_t dim) const {
    if (dim == 0) return pts[idx].x;
    return dim == 1 ? pts[idx].y : pts[idx].z;
  }
  std::vector<double> exact(std::size_t idx) const {
    return {static_cast<double>(pts[idx].x), static_cast<double>(pts[idx].y),
            static_cast<double>(pts[idx].z)};
  }
};

/// Points as the columns of a matrix.
template <typename T> struct MatrixCloud {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> points;

  std::size_t kdtree_get_point_count() const { return static_cast<std::size_t>(points.cols()); }
  T kdtree_get_pt(std::size_t idx, std::size_t dim) const {
    return points.coeff(static_cast<Eigen::Index>(dim), static_cast<Eigen::Index>(idx));
  }
  std::vector<double> exact(std::size_t idx) const {
    std::vector<double> result;
    for (const T& x : points.col(static_cast<Eigen::Index>(idx))) result.push_back(static_cast<double>(x));
    return result;
  }
};

template <class T> T random_number(std::mt19937& rng) {
  return static_cast<T>(std::uniform_real_distribution<double>(-4, 4)(rng));
}

/// The distances of all points in double, in ascending order; squares of them or, with L1, themselves.
template <class Cloud, class T>
std::vector<double> exact_distances(const Cloud& cloud, const std::vector<T>& query, bool squares) {
  std::vector<double> result;
  for (std::size_t i = 0; i < cloud.kdtree_get_point_count(); ++i) {
    const std::vector<double> point = cloud.exact(i);
    double sum = 0;
    for (std::size_t d = 0; d < point.size(); ++d) {
      const double difference = static_cast<double>(query[d]) - point[d];
      sum += squares ? difference * difference : std::abs(difference);
    }
    result.push_back(sum);
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Searches of a tree over the cloud: its nearest points, and those within a radius, against a search of all
/// of them.
template <template <class, class, class, class> class Metric, class Distance, int Dim, class T, class Cloud>
void check_searches(const Cloud& cloud, bool squares) {
  using metric = Metric<T, Cloud, Distance, std::size_t>;
  const client::KDTree<metric, Cloud, Dim> tree(cloud, 10);
  // Each difference, square and sum is rounded once, and so are those of the boxes, of which the search goes
  // down several.
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto slack = [&](double distance) { return 4 * Dim * epsilon * (1 + distance); };
  std::mt19937 rng(2);
  int inaccurate = 0;
  for (int k = 0; k < 50; ++k) {
    std::vector<T> query;
    for (int d = 0; d < Dim; ++d) query.push_back(random_number<T>(rng));
    const std::vector<double> exact = exact_distances(cloud, query, squares);

    std::vector<std::size_t> indices(5);
    std::vector<Distance> distances(5);
    REQUIRE(tree.knnSearch(query.data(), 5, indices.data(), distances.data()) == 5);
    for (std::size_t i = 0; i < 5; ++i)
      inaccurate += std::abs(static_cast<double>(distances[i]) - exact[i]) > slack(exact[i]);
    REQUIRE(std::is_sorted(distances.begin(), distances.end()));

    std::vector<std::pair<std::size_t, Distance>> found;
    const double radius = exact[exact.size() / 8];
    tree.radiusSearch(query.data(), static_cast<Distance>(radius), found);
    const auto within = [&](double limit) {
      return static_cast<std::size_t>(std::lower_bound(exact.begin(), exact.end(), limit) - exact.begin());
    };
    inaccurate +=
        found.size() < within(radius - slack(radius)) || found.size() > within(radius + slack(radius));
  }
  CHECK(inaccurate == 0);
}

}  // namespace

using scalars = test::some_of<std::tuple<double, narrow::fp16, narrow::bf16, narrow::fixed<28, 16>>, 1>;

TEMPLATE_LIST_TEST_CASE("A client's tree finds the nearest of points in structs", "", scalars) {
  using T = TestType;
  std::mt19937 rng(1);
  PointCloud<T> cloud;
  for (int i = 0; i < 500; ++i)
    cloud.pts.push_back({random_number<T>(rng), random_number<T>(rng), random_number<T>(rng)});
  check_searches<client::L2_Adaptor, T, 3, T>(cloud, true);
  check_searches<client::L2_Adaptor, double, 3, T>(cloud, true);
  check_searches<client::L1_Adaptor, T, 3, T>(cloud, false);
}

TEMPLATE_LIST_TEST_CASE("A client's tree finds the nearest of columns of a matrix", "", scalars) {
  using T = TestType;
  std::mt19937 rng(1);
  MatrixCloud<T> cloud{Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>(6, 400)};
  for (T& x : cloud.points.reshaped()) x = random_number<T>(rng);
  check_searches<client::L2_Adaptor, T, 6, T>(cloud, true);
  check_searches<client::L1_Adaptor, T, 6, T>(cloud, false);
}

TEMPLATE_LIST_TEST_CASE("A client's tree takes points that are all one", "", scalars) {
  using T = TestType;
  PointCloud<T> cloud{std::vector<typename PointCloud<T>::Point>(40, {T(1), T(2), T(-1)})};
  using metric = client::L2_Adaptor<T, PointCloud<T>>;
  const client::KDTree<metric, PointCloud<T>, 3> tree(cloud, 10);
  const std::vector<T> query{T(1), T(2), T(1)};
  std::vector<std::size_t> indices(50);
  std::vector<T> distances(50);
  REQUIRE(tree.knnSearch(query.data(), 50, indices.data(), distances.data()) == 40);
  CHECK(distances[0] == T(4));
  CHECK(distances[39] == T(4));
}
