// Products on several threads: the same bits as on one, whatever the format, the shape and the number.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <narrow/narrow.hpp>

#include "../float_control.hpp"
#include "catch.hpp"
#include "tally.hpp"

using namespace test;
using namespace narrow;

namespace {

using place = std::ptrdiff_t;

/// As many threads as asked for; one afterwards.
struct threads {
  explicit threads(int n) { set_num_threads(n); }
  ~threads() { set_num_threads(1); }
};

struct shape {
  place m, n, k;
};
/// Large enough to be shared out: by rows, by columns, both; vectors.
const shape shapes[] = {{200, 150, 160}, {1500, 30, 97}, {30, 1500, 97}, {131, 129, 513}, {2300, 1, 1900}};

std::vector<float> numbers(place n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> result(static_cast<std::size_t>(n));
  for (float& x : result) x = std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())), -31);
  return result;
}

/// compute(shape) gives the same bytes on any number of threads.
void check_same(tally& checked, const std::string& what,
                const std::function<std::vector<unsigned char>(const shape&)>& compute) {
  for (const shape& s : shapes) {
    const std::vector<unsigned char> alone = compute(s);
    for (const int n : {2, 3, 4, 7}) {
      const threads many(n);
      checked.expect(compute(s) == alone, [&] {
        return what + ", threads " + std::to_string(n) + ", " + detail::shape(s.m, s.n);
      });
    }
  }
}

template <class T> std::vector<unsigned char> bytes_of(const std::vector<T>& values) {
  std::vector<unsigned char> result(values.size() * sizeof(T));
  std::memcpy(result.data(), values.data(), result.size());
  return result;
}

template <class T, class C> void check_numbers(tally& checked, const std::string& what) {
  check_same(checked, what, [](const shape& s) {
    std::vector<T> a(static_cast<std::size_t>(s.m * s.k)), b(static_cast<std::size_t>(s.k * s.n));
    convert(numbers(s.m * s.k, 1), a);
    convert(numbers(s.k * s.n, 2), b);
    std::vector<C> c(static_cast<std::size_t>(s.m * s.n), C(1));
    gemm(row_major(a, s.m, s.k), column_major(b, s.k, s.n), row_major(c, s.m, s.n), 0.5, 2);
    return bytes_of(c);
  });
}

template <class F> void check_blocks(tally& checked, const std::string& what) {
  check_same(checked, what, [](const shape& s) {
    const auto a = quantize<F>(numbers(s.m * s.k, 1), s.m, s.k),
               b = quantize<F>(numbers(s.k * s.n, 2), s.k, s.n);
    std::vector<float> c(static_cast<std::size_t>(s.m * s.n));
    gemm(a, b, column_major(c, s.m, s.n));
    return bytes_of(c);
  });
}

}  // namespace

TEST_CASE("products of numbers do not depend on the number of threads") {
  tally checked;
  check_numbers<fp16, fp16>(checked, "fp16");
  check_numbers<bf16, float>(checked, "bf16");
  check_numbers<fp8_e4m3fn, bf16>(checked, "e4m3");
  check_numbers<fixed<8, 4>, fixed<8, 4>>(checked, "fixed<8,4>");
  check_numbers<fixed<16, 8>, fixed<16, 8>>(checked, "fixed<16,8>");
  checked.require(5 * 5 * 4);
}

TEST_CASE("products of blocks do not depend on the number of threads") {
  tally checked;
  check_blocks<bfp<8>>(checked, "bfp<8>");
  check_blocks<bfp<12, per_row>>(checked, "bfp<12, per_row>");
  check_blocks<bfp<8, tile<24, 24>>>(checked, "bfp<8, tile<24, 24>>");
  check_blocks<int8>(checked, "int8");
  checked.require(4 * 5 * 4);
}

TEST_CASE("a sum that is rounded stochastically does not depend on the number of threads") {
  using stochastic_fp16 = floating<5, 10, specials::ieee, rounding::stochastic>;
  tally checked;
  check_same(checked, "stochastic", [](const shape& s) {
    seed(7);
    std::vector<stochastic_fp16> a(static_cast<std::size_t>(s.m * s.k)),
        b(static_cast<std::size_t>(s.k * s.n)), c(static_cast<std::size_t>(s.m * s.n));
    convert(numbers(s.m * s.k, 1), a, rounding::stochastic{1});
    convert(numbers(s.k * s.n, 2), b, rounding::stochastic{2});
    gemm(row_major(a, s.m, s.k), row_major(b, s.k, s.n), row_major(c, s.m, s.n));
    return bytes_of(c);
  });
  checked.require(5 * 4);
}

TEST_CASE("the threads work at the same time, each part once") {
  const threads two(2);
  std::atomic<int> arrived = 0;
  std::atomic<bool> met[2] = {false, false};
  kernel::thread_pool::instance().run(2, [&](place i) {
    ++arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    met[i] = arrived == 2;
  });
  CHECK((met[0] && met[1]));

  constexpr place count = 1000;
  std::vector<std::atomic<int>> times(count);
  for (int round = 0; round < 100; ++round)
    kernel::thread_pool::instance().run(count, [&](place i) { ++times[static_cast<std::size_t>(i)]; });
  CHECK(std::all_of(times.begin(), times.end(), [](const auto& n) { return n == 100; }));
}

TEST_CASE("shares are all lines, each once, in multiples, one for each thread where there is enough to do") {
  tally checked;
  for (const int n : {1, 2, 3, 7}) {
    const threads many(n);
    for (const place lines : {1, 100, 4096, 100000})
      for (const place together : {1, 24, 1024})
        for (const place elements : {0, 1, 131072}) {
          std::vector<std::atomic<int>> seen(static_cast<std::size_t>(lines));
          std::atomic<int> shares = 0, uneven = 0;
          kernel::parallel_for_lines(lines, together, elements, [&](place first, place count) {
            ++shares;
            uneven += first % together != 0 || (count % together != 0 && first + count != lines) ? 1 : 0;
            for (place i = first; i < first + count; ++i) ++seen[static_cast<std::size_t>(i)];
          });
          const bool each_once = std::all_of(seen.begin(), seen.end(), [](const auto& x) { return x == 1; });
          const place wanted = elements < 131072 ? 1 : std::min<place>(n, (lines + together - 1) / together);
          checked.expect(each_once && uneven == 0 && shares == wanted, [&] {
            return std::to_string(lines) + " lines, " + std::to_string(together) + " together, " +
                   std::to_string(n) + " threads: " + std::to_string(shares) + " shares";
          });
        }
  }
  checked.require(4 * 4 * 3 * 3);
}

TEST_CASE("a part may use the threads itself, and several threads of the program") {
  const threads three(3);
  std::atomic<int> inner = 0;
  kernel::thread_pool::instance().run(
      4, [&](place) { kernel::thread_pool::instance().run(5, [&](place) { ++inner; }); });
  CHECK(inner == 4 * 5);

  const shape s = shapes[0];
  const std::vector<fp16> a(static_cast<std::size_t>(s.m * s.k), fp16(1)),
      b(static_cast<std::size_t>(s.k * s.n), fp16(1));
  std::atomic<int> right = 0;
  const auto multiply = [&] {
    std::vector<float> c(static_cast<std::size_t>(s.m * s.n));
    for (int i = 0; i < 20; ++i) {
      gemm(row_major(a, s.m, s.k), row_major(b, s.k, s.n), row_major(c, s.m, s.n));
      right += std::all_of(c.begin(), c.end(), [&](float x) { return x == static_cast<float>(s.k); }) ? 1 : 0;
    }
  };
  std::thread other(multiply), another(multiply);
  multiply();
  other.join();
  another.join();
  CHECK(right == 60);
}

TEST_CASE("what a part throws reaches the caller, and the threads go on") {
  for (const int n : {1, 2}) {
    const threads some(n);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> done = 0, after = 0;
      std::atomic<bool> thrown = false;
      CHECK_THROWS_AS(parallel_for(1000,
                                   [&](place i) {
                                     if (thrown) ++after;
                                     ++done;
                                     if (i != 3) return;
                                     thrown = true;
                                     throw std::runtime_error("three");
                                   }),
                      std::runtime_error);
      CHECK(done >= 4);
      if (n == 1) CHECK(after == 0);
    }
    std::atomic<int> done = 0;
    parallel_for(8, [&](place) { ++done; });
    CHECK(done == 8);
  }
  // The thread that throws is slow to say so: until then, and no longer, the other one goes on.
  const threads two(2);
  std::atomic<int> begun = 0;
  CHECK_THROWS_AS(parallel_for(1000,
                               [&](place i) {
                                 ++begun;
                                 std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 1 : 20));
                                 if (i == 0) throw std::runtime_error("none");
                               }),
                  std::runtime_error);
  CHECK(begun < 100);
}

TEST_CASE("parts run under the caller's rounding and flushing, on whichever thread") {
  tally checked;
  for (const int n : {1, 2})
    for (const control_word flushing : flushing_modes)
      for (const control_word rounding : {control_word{0}, round_up, round_down}) {
        const threads some(n);
        const float_control control(plain_control | flushing | rounding);
        const auto compute = [](std::array<float, 2>& results) {
          volatile float small = 0x1p-120f, factor = 0x1p-10f, one = 1, three = 3;
          results = {small * factor, one / three};
        };
        std::array<std::array<float, 2>, 3> results{};
        compute(results[2]);
        std::atomic<int> arrived = 0;
        parallel_for(2, [&](place i) {
          ++arrived;  // each of two threads has a part
          const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
          while (n > 1 && arrived < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
          compute(results[static_cast<std::size_t>(i)]);
        });
        checked.expect(
            bytes_of(std::vector{results[0], results[1]}) == bytes_of(std::vector{results[2], results[2]}),
            [&] { return "control " + std::to_string(flushing | rounding); });
        checked.expect((read_control() & ~exception_flags) == (plain_control | flushing | rounding),
                       [] { return "the caller's control"; });
      }
  checked.require(2 * std::size(flushing_modes) * 3 * 2);
}

TEST_CASE("a part must not change the number of threads") {
  for (const int n : {1, 2}) {
    const threads some(n);
    CHECK_THROWS_WITH(parallel_for(4, [](place) { set_num_threads(3); }),
                      "narrow::set_num_threads: n = 3 must not be set by a part of narrow::parallel_for");
    CHECK(num_threads() == n);
  }
  set_num_threads(1);  // afterwards it may
}

TEST_CASE("a child process ends, and can have threads of its own") {
  const threads two(2);
  std::atomic<int> done = 0;
  parallel_for(8, [&](place) { ++done; });
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);  // if it waits for threads that it has not
    if (num_threads() != 1) std::exit(2);
    parallel_for(8, [&](place) { ++done; });
    set_num_threads(2);
    parallel_for(8, [&](place) { ++done; });
    std::exit(done == 24 && num_threads() == 2 ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  parallel_for(8, [&](place) { ++done; });
  CHECK(done == 16);
}

TEST_CASE("numbers of threads that are none are refused") {
  for (const int n : {0, -1, 1025}) {
    std::string message;
    try {
      set_num_threads(n);
    } catch (const std::invalid_argument& error) {
      message = error.what();
    }
    CHECK(message == "narrow::set_num_threads: n = " + std::to_string(n) + " must be from 1 to 1024");
    CHECK(num_threads() == 1);
  }
  set_num_threads(3);
  CHECK(num_threads() == 3);
  set_num_threads(1);
  CHECK(num_threads() == 1);
}
