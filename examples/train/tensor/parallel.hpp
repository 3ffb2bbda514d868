// Work on the images of a batch by several threads.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <Eigen/Core>
#include <algorithm>
#include <narrow/narrow.hpp>
#include <string_view>
#include <type_traits>

namespace narrow_train {

/// A batch is cut into so many groups of images, however many threads there are: sums over each of them,
/// added in their order, do not depend on the threads.
inline constexpr int groups_of_images = 8;

/// How many threads Eigen's products in the calling thread are spread over from now on: those of OpenMP, if
/// there is that.
inline void use_product_threads([[maybe_unused]] int count) {
#ifdef _OPENMP
  omp_set_num_threads(count);
#endif
}

/// While it lives, Eigen's products in the calling thread have no others.
class single_product_thread {
 public:
  single_product_thread() { use_product_threads(1); }
  ~single_product_thread() { use_product_threads(before_); }
  single_product_thread(const single_product_thread&) = delete;
  single_product_thread& operator=(const single_product_thread&) = delete;

 private:
  int before_ = Eigen::nbThreads();
};

/// How many processors this process may run on.
int available_processors();

/// How many threads the calling thread's work is spread over from now on: `count`, but no more than there are
/// processors. Within a product of Eigen's, threads spin until all have packed their parts of a factor: where
/// one has no processor, the others keep it from getting theirs.
void use_threads(int count);

/// Says on stderr, in one line, that `use_threads` takes fewer than were asked for, if it does.
void tell_of_fewer_threads(std::string_view program, int asked);

/// f(group, first, count) for all groups that are not empty of `images` images, by several threads at a time.
template <class F> void for_each_group(Eigen::Index images, F f) {
  narrow::parallel_for(groups_of_images, [&](std::ptrdiff_t group) {
    const Eigen::Index first = images * group / groups_of_images;
    const Eigen::Index count = images * (group + 1) / groups_of_images - first;
    const single_product_thread products;
    if (count > 0) f(static_cast<int>(group), first, count);
  });
}

/// f(group, first, count) as for_each_group, for tensors of S: one group alone where it is not float, since
/// what rounds to S may draw from the calling thread's stream.
template <class S, class F> void for_each_share(Eigen::Index count, F f) {
  if constexpr (std::is_same_v<S, float>)
    for_each_group(count, f);
  else
    f(0, Eigen::Index{0}, count);
}

/// A sum of matrices for each group of images.
class sums_of_groups {
 public:
  sums_of_groups(Eigen::Index rows, Eigen::Index columns)
      : sums_(Eigen::MatrixXf::Zero(rows, columns * groups_of_images)), columns_(columns) {}

  [[nodiscard]] auto of(int group) { return sums_.middleCols(group * columns_, columns_); }

  /// All of them, added in the order of the groups.
  [[nodiscard]] Eigen::MatrixXf total() {
    Eigen::MatrixXf result = of(0);
    for (int group = 1; group < groups_of_images; ++group) result += of(group);
    return result;
  }

 private:
  Eigen::MatrixXf sums_;
  Eigen::Index columns_;
};

}  // namespace narrow_train
