// Runs random programs: main [NUMBER...] [--verbose]. Prints for each the hash of its results with every
// instruction set; of those that went wrong where, and their source.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "every_isa.hpp"
#include "program.hpp"

namespace random_programs {
namespace {
std::vector<program>& programs() {
  static std::vector<program> all;
  return all;
}
}  // namespace

program::program(int which, const char* source, void (*f)(trial&), bool fixed_sizes)
    : number(which), text(source), run(f), has_fixed_sizes(fixed_sizes) {
  programs().push_back(*this);
}

void assertion_failed(const char* condition) { throw std::string("assertion failed: ") + condition; }

std::uint64_t trial::draw() {  // splitmix64
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}
double trial::draw_number(const reference::format& f, bool& is_code, std::uint64_t& code) {
  const std::uint64_t r = draw();
  const double unit = static_cast<double>(r >> 11) * 0x1p-53, integer = static_cast<double>(r % 7) - 3;
  if (numbers_ == choice::integers) return integer;
  const bool special = numbers_ == choice::any || (numbers_ == choice::edges && draw() % 6 == 0);
  if (!special) return r % 4 == 0 ? integer / 2 : (2 * unit - 1) * (r % 8 == 1 ? 100 : 2.5);
  if (f.codes != 0) {
    is_code = true;
    code = r % f.codes;
    if (r % 5 == 0) code = (r >> 20) % 3 + (r % 2 ? f.codes / 2 : 0);                    // about zero
    if (r % 5 == 1) code = f.codes / 2 - 1 - (r >> 20) % 3 + (r % 2 ? f.codes / 2 : 0);  // about the largest
    return 0;
  }
  const double inf = HUGE_VAL;
  const double some[] = {0.0,       -0.0,   inf,   -inf,  std::nan(""), 0x1p-149,
                         -0x1p-130, 3.4e38, -3e38, 65504, 1e-30};
  return some[r % std::size(some)];
}

void trial::compare(int statement, Index row, Index col, double got, std::uint64_t bits,
                    const number& expected) {
  ++compared_;
  determined_ += expected.is_exact();
  hash_ = (hash_ ^ (std::isnan(got) ? 0x7e57 : bits)) * 0x100000001b3 + 1;
  if (expected.contains(got) || mismatches_++ != 0) return;
  first_ = "statement " + std::to_string(statement) + ", (" + std::to_string(row) + ", " +
           std::to_string(col) + "): got " + reference::text(reference::exactly(got)) + ", expected " +
           reference::text(expected);
}
void trial::compare_shape(int statement, Index rows, Index cols, const grid& expected) {
  if (rows != expected.rows || cols != expected.cols)
    throw "statement " + std::to_string(statement) + " gives " + std::to_string(rows) + " x " +
        std::to_string(cols) + ", expected " + std::to_string(expected.rows) + " x " +
        std::to_string(expected.cols);
}

namespace {

struct outcome {
  std::uint64_t hash = 0, compared = 0, determined = 0, mismatches = 0;
  bool is_determined = false;
  std::string fault;
};
outcome run_once(const program& p, std::uint64_t seed, choice numbers, const Index (&sizes)[4]) {
  trial s(seed, numbers, sizes);
  outcome result;
  narrow::seed(seed);
  try {
    p.run(s);
    result.fault = s.first();
  } catch (const std::string& what) {
    result.fault = what;
  } catch (const std::exception& what) {
    result.fault = what.what();
  }
  result.hash = s.hash();
  result.compared = s.compared();
  result.determined = s.determined();
  result.mismatches = s.mismatches();
  result.is_determined = s.is_determined();
  return result;
}

constexpr Index all_sizes[][4] = {{0, 3, 2, 1},    {3, 0, 1, 2},    {1, 1, 1, 1},   {2, 3, 4, 5},
                                  {7, 5, 3, 9},    {8, 16, 4, 7},   {17, 9, 33, 2}, {15, 31, 16, 8},
                                  {33, 12, 65, 3}, {70, 3, 19, 40}, {5, 67, 32, 1}, {3, 4, 0, 2}};
constexpr Index large_sizes[][4] = {{130, 37, 260, 64}, {9, 300, 130, 5}, {257, 65, 48, 129}};

struct totals {
  std::uint64_t runs = 0, compared = 0, determined = 0;
  int failed = 0;
};

void run_program(const program& p, totals& all, bool is_verbose) {
  std::string fault;
  std::uint64_t hash = 0;
  int run = 0;
  const auto run_all = [&](const Index(&sizes)[4], choice numbers) {
    const std::uint64_t seed =
        static_cast<std::uint64_t>(p.number) * 1000 + static_cast<std::uint64_t>(++run);
    std::string first_isa;
    outcome first;
    test::for_each_isa([&](const std::string& isa) {
      const outcome now = run_once(p, seed, numbers, sizes);
      ++all.runs;
      all.compared += now.compared;
      all.determined += now.determined;
      hash = (hash ^ now.hash) * 0x100000001b3 + 7;
      std::string wrong = now.fault;
      // Results of sums of products of floats may differ within their bound, all others may not.
      if (first_isa.empty())
        first = now, first_isa = isa;
      else if (wrong.empty() && std::strstr(p.text, "\n  // sums of floats") == nullptr &&
               now.hash != first.hash)
        wrong = "other bits than with " + first_isa;
      if (wrong.empty() || (!fault.empty() && !is_verbose)) return;
      fault = wrong;
      std::cout << "FAILED program " << p.number << ", " << isa << ", sizes " << sizes[0] << ' ' << sizes[1]
                << ' ' << sizes[2] << ' ' << sizes[3] << ", numbers " << static_cast<int>(numbers) << ": "
                << wrong << '\n';
    });
  };
  for (const auto& sizes : all_sizes)
    for (const auto numbers : {choice::integers, choice::usual, choice::edges, choice::any})
      if (!p.has_fixed_sizes || &sizes == &all_sizes[3] || &sizes == &all_sizes[4]) run_all(sizes, numbers);
  if (!p.has_fixed_sizes) run_all(large_sizes[p.number % 3], p.number % 2 ? choice::usual : choice::integers);
  std::cout << "program " << p.number << ": " << std::hex << hash << std::dec << '\n';
  if (!fault.empty()) {
    ++all.failed;
    std::cout << p.text << '\n';
  }
}

}  // namespace
}  // namespace random_programs

int main(int count, char** arguments) {
  using namespace random_programs;
  totals all;
  bool is_verbose = false;
  std::vector<int> wanted;
  for (int i = 1; i < count; ++i)
    if (std::strcmp(arguments[i], "--verbose") == 0)
      is_verbose = true;
    else
      wanted.push_back(std::atoi(arguments[i]));
  for (const program& p : programs())
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), p.number) != wanted.end())
      run_program(p, all, is_verbose);
  std::cout << programs().size() << " programs, " << all.runs << " runs, " << all.compared
            << " numbers compared, " << all.determined << " of them determined; " << all.failed
            << " programs failed\n";
  return all.failed == 0 && all.runs != 0 ? 0 : 1;
}
