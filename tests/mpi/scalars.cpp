// MPI's own reductions of narrow scalars.
#include <cmath>
#include <narrow/mpi.hpp>
#include <narrow/narrow.hpp>
#include <random>
#include <vector>

#include "policies.hpp"
#include "tally.hpp"

namespace {

using namespace narrow;

constexpr int count = 1500;

/// What a rank has: numbers of T from a range in which a sum of those of all ranks does not overflow.
template <class T> std::vector<T> numbers_of(int rank) {
  std::mt19937 random(static_cast<unsigned>(rank + 1));
  const double top = static_cast<double>(std::numeric_limits<T>::max()) / (2 * mpi::ranks());
  std::uniform_real_distribution<double> uniform(-std::min(top, 4.0), std::min(top, 4.0));
  std::vector<T> x(count);
  for (T& value : x) value = T(uniform(random));
  return x;
}

TEMPLATE_LIST_TEST_CASE("MPI's sums of narrow scalars are rounded once a hop, its extremes not at all",
                        "[mpi]", test::scalar_formats) {
  using T = TestType;
  const std::vector<T> own = numbers_of<T>(mpi::rank());
  std::vector<T> sum(count), least(count), most(count);
  MPI_Allreduce(own.data(), sum.data(), count, mpi::datatype<T>(), mpi::sum<T>(), MPI_COMM_WORLD);
  MPI_Allreduce(own.data(), least.data(), count, mpi::datatype<T>(), mpi::min<T>(), MPI_COMM_WORLD);
  MPI_Allreduce(own.data(), most.data(), count, mpi::datatype<T>(), mpi::max<T>(), MPI_COMM_WORLD);

  std::vector<std::vector<T>> all;
  for (int r = 0; r < mpi::ranks(); ++r) all.push_back(numbers_of<T>(r));
  // A rounding is off by less than a unit in the last place: half of that to nearest, and of no subnormal
  // more than its unit.
  const double unit = narrow_fixed<T> ? 0 : static_cast<double>(std::numeric_limits<T>::epsilon());
  const double smallest = narrow_fixed<T> ? 0 : static_cast<double>(std::numeric_limits<T>::denorm_min());
  test::tally tally;
  for (std::size_t i = 0; i < count; ++i) {
    double exact = 0, magnitudes = 0;
    T lowest = own[i], highest = own[i];
    for (const auto& x : all) {
      exact += static_cast<double>(x[i]);
      magnitudes += std::abs(static_cast<double>(x[i]));
      lowest = x[i] < lowest ? x[i] : lowest;
      highest = x[i] > highest ? x[i] : highest;
    }
    const double bound = (mpi::ranks() - 1) * (magnitudes * unit + smallest);
    tally.expect(std::abs(static_cast<double>(sum[i]) - exact) <= bound,
                 [&] { return test::text(static_cast<double>(sum[i]), "for", exact, "within", bound); });
    tally.expect(least[i] == lowest && most[i] == highest, [&] {
      return test::text("extremes", static_cast<double>(least[i]), static_cast<double>(most[i]));
    });
  }
  tally.require(2 * count);
}

TEST_CASE("Extremes are the same in any order: a NaN wins, the zero of the sign", "[mpi]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const bool first = mpi::rank() == 0;
  const std::vector<fp16> own{fp16(first ? nan : 1.f), fp16(first ? -0.f : 0.f), fp16(first ? 0.f : -0.f)};
  std::vector<fp16> least(3), most(3);
  MPI_Allreduce(own.data(), least.data(), 3, mpi::datatype<fp16>(), mpi::min<fp16>(), MPI_COMM_WORLD);
  MPI_Allreduce(own.data(), most.data(), 3, mpi::datatype<fp16>(), mpi::max<fp16>(), MPI_COMM_WORLD);
  CHECK(isnan(least[0]));
  CHECK(isnan(most[0]));
  if (mpi::ranks() > 1) {
    CHECK((signbit(least[1]) && signbit(least[2])));
    CHECK((!signbit(most[1]) && !signbit(most[2])));
  }
}

TEST_CASE("A datatype has a format's size and name, and is made once", "[mpi]") {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0, size = 0;
  MPI_Type_get_name(mpi::datatype<bf16>(), name, &length);
  MPI_Type_size(mpi::datatype<bf16>(), &size);
  CHECK(std::string(name) == "narrow::bf16");
  CHECK(size == 2);
  CHECK(mpi::datatype<bf16>() == mpi::datatype<bf16>());
}

}  // namespace
