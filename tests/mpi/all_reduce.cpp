// Sums of gradients over ranks, against references that know the gradients of all.
#include <cstring>
#include <narrow/eigen.hpp>
#include <sstream>

#include "catch.hpp"
#include "reference.hpp"
#include "refusal.hpp"
#include "tally.hpp"

namespace {

using namespace narrow;
using mpi::error_feedback, mpi::exact, mpi::reducer, mpi::reducer_options, mpi::rounded, mpi::wide;
using test::first_term, test::floats, test::gradient, test::refusal, test::says;

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a == 0 && b == 0) ||
         (std::isnan(a) && std::isnan(b));
}

constexpr int terms = 8;  // of all ranks together, one at least for each
constexpr std::size_t sizes[] = {3000, 7, 9000, 1};
constexpr std::size_t total = 3000 + 7 + 9000 + 1;

int own_terms() { return first_term(mpi::rank() + 1, terms) - first_term(mpi::rank(), terms); }

/// All gradients of a step: of each term one array after another.
std::vector<floats> all_gradients(int step) {
  std::vector<floats> all(terms);
  for (int t = 0; t < terms; ++t)
    for (int a = 0; a < 4; ++a) {
      const floats g = gradient(t, a, step, sizes[a]);
      all[static_cast<std::size_t>(t)].insert(all[static_cast<std::size_t>(t)].end(), g.begin(), g.end());
    }
  return all;
}

/// One step by a reducer: the arrays one after another.
template <class Form> floats step_of(reducer<Form>& by, int step) {
  std::vector<std::vector<floats>> own(4);
  std::vector<floats> sums(4);
  for (int a = 0; a < 4; ++a) {
    const auto place = static_cast<std::size_t>(a);
    for (int t = first_term(mpi::rank(), terms); t < first_term(mpi::rank() + 1, terms); ++t)
      own[place].push_back(gradient(t, a, step, sizes[a]));
    sums[place].resize(sizes[a]);
    by.add(std::span<const floats>(own[place]), sums[place]);
    by.progress();
  }
  by.wait();
  floats all;
  for (const floats& sum : sums) all.insert(all.end(), sum.begin(), sum.end());
  return all;
}

template <class Form> int bits_of;
template <int M> constexpr int bits_of<exact<M>> = M;

using exact_forms = std::tuple<exact<8>, exact<11>, exact<16>, exact<23>, exact<32>>;

TEMPLATE_LIST_TEST_CASE("In integers the sum is that of one process, on any number of ranks", "[mpi]",
                        exact_forms) {
  for (const auto feedback : {error_feedback::dropped, error_feedback::carried})
    for (const std::ptrdiff_t bucket : {1024, 1 << 17}) {
      reducer<TestType> by({},
                           {.terms = own_terms(), .bucket = bucket, .in_flight = 3, .feedback = feedback});
      test::exact_reference reference(bits_of<TestType>, terms, feedback);
      test::tally tally;
      for (int step = 0; step < 3; ++step) {
        const floats sum = step_of(by, step), expected = reference.step(all_gradients(step));
        for (std::size_t i = 0; i < total; ++i)
          tally.expect(same(sum[i], expected[i]), [&] { return test::text(step, i, sum[i], expected[i]); });
      }
      tally.require(3 * total);
    }
}

/// What a rank adds: its own terms in float, in their order.
floats sum_of_rank(int rank, const std::vector<floats>& all) {
  floats sum = all[static_cast<std::size_t>(first_term(rank, terms))];
  for (int t = first_term(rank, terms) + 1; t < first_term(rank + 1, terms); ++t)
    for (std::size_t i = 0; i < total; ++i) sum[i] += all[static_cast<std::size_t>(t)][i];
  return sum;
}

TEMPLATE_TEST_CASE("In a narrow format there are two roundings, however many ranks there are", "[mpi]", fp16,
                   bf16, fp8_e5m2, (floating<8, 12>)) {
  using T = TestType;
  for (const auto feedback : {error_feedback::dropped, error_feedback::carried}) {
    reducer<rounded<T>> by({}, {.terms = own_terms(), .bucket = 2048, .feedback = feedback});
    std::vector<floats> kept(static_cast<std::size_t>(mpi::ranks()), floats(total));
    floats sum_kept(total);
    test::tally tally;
    for (int step = 0; step < 3; ++step) {
      const auto all = all_gradients(step);
      const floats sum = step_of(by, step);
      floats expected(total);
      for (int r = 0; r < mpi::ranks(); ++r) {
        const floats own = sum_of_rank(r, all);
        floats& rest = kept[static_cast<std::size_t>(r)];
        for (std::size_t i = 0; i < total; ++i) {
          const float x = own[i] + rest[i], sent = static_cast<float>(T(x));
          rest[i] = feedback == error_feedback::carried && std::isfinite(x - sent) ? x - sent : 0;
          expected[i] = r == 0 ? sent : expected[i] + sent;
        }
      }
      for (std::size_t i = 0; i < total; ++i) {
        const float x = expected[i] + sum_kept[i], result = static_cast<float>(T(x));
        sum_kept[i] = feedback == error_feedback::carried && std::isfinite(x - result) ? x - result : 0;
        tally.expect(same(sum[i], result), [&] { return test::text(step, i, sum[i], result); });
      }
    }
    tally.require(3 * total);
    if (feedback == error_feedback::dropped) continue;
    const mpi::carried_gradients carried = by.carried();  // a rank's gradients are rounded together
    if (mpi::rank() == 0) CHECK(carried == mpi::carried_gradients{{}, kept, sum_kept});
  }
}

TEST_CASE("In fp32 the sum is off by no more than its additions", "[mpi]") {
  reducer<wide> by({}, {.terms = own_terms()});
  const floats sum = step_of(by, 1);
  const auto all = all_gradients(1);
  test::tally tally;
  for (std::size_t i = 0; i < total; ++i) {
    double exact = 0, magnitudes = 0;
    for (const floats& g : all) {
      exact += double{g[i]};
      magnitudes += std::abs(double{g[i]});
    }
    tally.expect(std::abs(sum[i] - exact) <= terms * magnitudes * 0x1p-24,
                 [&] { return test::text(i, sum[i], exact); });
  }
  tally.require(total);
}

TEST_CASE("A NaN or an overflow of one rank comes out on all, in its block alone", "[mpi]") {
  const float infinity = std::numeric_limits<float>::infinity(), huge = std::numeric_limits<float>::max();
  const bool last = mpi::rank() == mpi::ranks() - 1;
  floats x(5000, 0.25f);
  if (last) x[1030] = infinity;
  x[3000] = huge;  // the sum of which is beyond float's range where there are two
  floats sum(5000);
  reducer<exact<8>> by({}, {.feedback = error_feedback::carried});
  for (int step = 0; step < 3; ++step) {
    by.add(x, sum);
    by.wait();
    const auto count = static_cast<float>(mpi::ranks());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const bool bad = i / 1024 == 1 || (i / 1024 == 2 && mpi::ranks() > 1);
      if (i / 1024 != 2 || bad)
        REQUIRE(same(sum[i], bad ? std::numeric_limits<float>::quiet_NaN() : 0.25f * count));
    }
    if (step == 0 && last) x[1030] = std::numeric_limits<float>::quiet_NaN();
  }
  x.assign(5000, 0.25f);  // nothing of it stays
  by.add(x, sum);
  by.wait();
  CHECK(std::ranges::count(std::span(sum).first(2048), 0.25f * static_cast<float>(mpi::ranks())) == 2048);
}

TEST_CASE("One call takes ranges, matrices of any scalar and expressions", "[mpi]") {
  const auto count = static_cast<float>(mpi::ranks());
  const float all = count * (count + 1) / 2;
  const auto own = static_cast<float>(mpi::rank() + 1);
  Eigen::MatrixXf a = Eigen::MatrixXf::Constant(3, 5, own);
  mpi::all_reduce(a, exact<16>{});
  CHECK(a == Eigen::MatrixXf::Constant(3, 5, all));

  const Eigen::Matrix<fp16, 4, 4> b = Eigen::Matrix<fp16, 4, 4>::Constant(fp16(own));
  Eigen::Matrix<fp16, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> sum;
  mpi::all_reduce(b + b, sum, rounded<fp16>{});
  CHECK((sum.rows() == 4 && sum.cols() == 4 && sum(3, 1) == fp16(2 * all)));
  Eigen::MatrixXf transposed(2, 6);
  transposed.setConstant(own);
  mpi::all_reduce(transposed.block(0, 1, 2, 3) * 2.f, a, wide{});
  CHECK(a == Eigen::MatrixXf::Constant(2, 3, 2 * all));

  std::vector<fixed<8, 4>> numbers(10, fixed<8, 4>(0.0625 * (mpi::rank() + 1)));
  mpi::all_reduce(numbers, exact<8>{});
  CHECK(static_cast<float>(numbers[9]) == 0.0625f * all);
  const std::vector<floats> several{floats(9, own), floats(9, 2 * own)};
  floats of_all;
  mpi::all_reduce(std::span<const floats>(several), of_all, exact<12>{});
  CHECK(of_all == floats(9, 3 * all));
  floats nothing;
  mpi::all_reduce(nothing, exact<8>{});
  CHECK(nothing.empty());
}

TEST_CASE("What is carried can be saved, and goes on on as many ranks as there are", "[mpi]") {
  const reducer_options options{.terms = own_terms(), .bucket = 1024, .feedback = error_feedback::carried};
  reducer<exact<8>> by({}, options);
  test::exact_reference reference(8, terms, error_feedback::carried);
  for (int step = 0; step < 2; ++step) {
    step_of(by, step);
    reference.step(all_gradients(step));
  }
  const mpi::carried_gradients carried = by.carried();
  if (mpi::rank() == 0) {
    CHECK(carried.terms == reference.kept());  // whatever the number of ranks
    CHECK(carried.sum == reference.sum_kept());
  } else {
    CHECK(carried == mpi::carried_gradients{});
  }
  std::stringstream text;
  text << carried;
  mpi::carried_gradients read;
  text >> read;
  CHECK(read == carried);

  reducer<exact<8>> other({}, {.terms = own_terms(), .bucket = 4096, .feedback = error_feedback::carried});
  other.carry(read);
  for (int step = 2; step < 4; ++step) CHECK(step_of(other, step) == step_of(by, step));

  // With another number of terms nothing that was carried is lost.
  reducer<exact<8>> fewer({}, {.feedback = error_feedback::carried});
  fewer.carry(read);
  const mpi::carried_gradients moved = fewer.carried();
  if (mpi::rank() == 0) {
    REQUIRE(moved.terms.size() == static_cast<std::size_t>(mpi::ranks()));
    if (mpi::ranks() != terms)
      for (std::size_t i = 0; i < total; ++i) {
        float sum = carried.terms[0][i];
        for (std::size_t t = 1; t < terms; ++t) sum += carried.terms[t][i];
        REQUIRE(moved.terms[0][i] == sum);
      }
  }
  reducer<exact<8>> drops;
  CHECK(says(refusal([&] { drops.carry(read); }), {"nothing is carried"}));
}

TEST_CASE("Ranks that disagree are told so, all of them, and go on", "[mpi]") {
  if (mpi::ranks() == 1) return;
  const bool odd = mpi::rank() == 1;
  floats x(odd ? 12 : 10, 1);
  CHECK(says(refusal([&] { mpi::all_reduce(x, exact<8>{}); }),
             {"disagree", "10 of float", "12 of float", "rank 1"}));
  Eigen::MatrixXf m = Eigen::MatrixXf::Ones(odd ? 2 : 6, odd ? 6 : 2);
  CHECK(says(refusal([&] { mpi::all_reduce(m, exact<8>{}); }), {"2 x 6 of float", "6 x 2 of float"}));
  x.resize(10);
  CHECK(says(refusal([&] { odd ? mpi::all_reduce(x, exact<16>{}) : mpi::all_reduce(x, exact<8>{}); }),
             {"exact<16>", "exact<8>"}));
  CHECK(says(refusal([&] { odd ? mpi::broadcast(x) : mpi::all_reduce(x, exact<8>{}); }),
             {"a broadcast", "all_reduce"}));
  CHECK(says(refusal([&] { reducer<wide> by({}, {.bucket = odd ? 1024 : 2048}); }),
             {"buckets of 1024", "buckets of 2048"}));
  CHECK(says(refusal([&] { reducer<wide> by({}, {.terms = odd ? 0 : 1}); }),
             {"terms = 0", "at least 1", "rank 1"}));
  CHECK(
      says(refusal([&] { reducer<wide> by({}, {.bucket = 1000}); }), {"bucket = 1000", "multiple of 1024"}));

  // Within a step, where buckets are on their way already.
  reducer<exact<8>> by({}, {.bucket = 1024, .in_flight = 2});
  std::vector<floats> arrays(odd ? 7 : 5, floats(1500, 1));
  const auto take_step = [&] {
    for (floats& a : arrays) by.add(a);
    by.wait();
  };
  CHECK(says(refusal(take_step), {"5 arrays of 1500", "7 arrays of 1500"}));
  arrays.assign(5, floats(1500, 1));
  arrays[3].resize(odd ? 1501 : 1499);
  CHECK(says(refusal(take_step), {"1501", "1499"}));
  arrays.assign(5, floats(1500, 1));
  take_step();
  CHECK(arrays[4] == floats(1500, static_cast<float>(mpi::ranks())));
}

TEST_CASE("Several reducers are at work at a time", "[mpi]") {
  reducer<exact<8>> first({}, {.bucket = 1024});
  reducer<rounded<bf16>> second;
  floats x(5000, 1), y(5000, 2);
  first.add(x);
  second.add(y);
  second.wait();
  first.wait();
  CHECK(x == floats(5000, static_cast<float>(mpi::ranks())));
  CHECK(y == floats(5000, static_cast<float>(2 * mpi::ranks())));
}

}  // namespace
