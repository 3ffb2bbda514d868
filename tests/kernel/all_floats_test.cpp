// Every float, in every format of at most 16 bits and every rounding mode: one number at a time as an oracle
// of steps says, and an array on each instruction set as one number at a time. The exhaustive tests run a
// part of the floats; all of them take hours: `all_floats_test [millions]`, a stage of its own of what is run
// at night.
#include <atomic>
#include <bit>
#include <mutex>
#include <span>
#include <thread>

#include "../every_isa.hpp"
#include "../round/arithmetic.hpp"

using namespace test;

namespace {

constexpr std::uint32_t infinity = 0x7f80'0000;

/// The bits of the least float that is not below x, or that is above it; x is not negative.
std::uint32_t least_float(double x, bool above) {
  const auto next_to = static_cast<float>(x);
  const auto bits = std::bit_cast<std::uint32_t>(next_to);
  if (bits >= infinity) return infinity;
  return bits + (double{next_to} < x || (above && double{next_to} == x) ? 1 : 0);
}

/// Where, from a number of a format to the next one, a mode begins to choose the latter: `neighbour` says
/// what it chooses at a position.
template <class Choose> std::uint32_t first_of_next(double low, double high, const Choose& choose) {
  using oracle::position;
  const double middle = (low + high) / 2;  // exact: it has one bit more
  if (choose(position::low_half) == oracle::neighbour::upper) return least_float(low, true);
  if (choose(position::middle) == oracle::neighbour::upper) return least_float(middle, false);
  if (choose(position::high_half) == oracle::neighbour::upper) return least_float(middle, true);
  return least_float(high, false);
}

/// The codes that floats of one sign become, as the steps of a stair: floats with at least the bits first[i],
/// and less than first[i + 1], become code[i].
struct stair {
  std::vector<std::uint32_t> first;
  std::vector<std::uint64_t> code;
  std::uint64_t of_infinity = 0;
};

/// What a format is to this oracle: its numbers that are not negative, one more after them, and codes.
template <class T> struct scale;
template <narrow::narrow_float T> struct scale<T> {
  static std::size_t steps() { return oracle::table_of<T>().beyond(); }
  static double number(std::size_t i) { return oracle::table_of<T>().numbers[i]; }
  static bool even(std::size_t i) { return oracle::table_of<T>().even(i); }
  static std::uint64_t code(oracle::kind what, bool negative, std::size_t i) {
    return oracle::encode<typename T::round_policy, typename T::overflow_policy>(oracle::table_of<T>(),
                                                                                 {what, negative, i})[0];
  }
  static bool is_nan(T x) {
    return oracle::decode(x).what == oracle::kind::nan || (!T::layout::has_nan && x.bits() == 0);
  }
};
template <narrow::narrow_fixed T> struct scale<T> {
  static std::size_t steps() { return std::size_t{1} << (T::word_length - 1); }
  static double number(std::size_t i) { return std::ldexp(static_cast<double>(i), -T::fraction_length); }
  static bool even(std::size_t i) { return i % 2 == 0; }
  static std::uint64_t code(oracle::kind what, bool negative, std::size_t i) {
    const auto mantissa = oracle::encode<typename T::round_policy, typename T::overflow_policy>(
        T::word_length, {what, negative, mpz_class(static_cast<unsigned long>(i)), oracle::position::on})[0];
    return static_cast<std::make_unsigned_t<typename T::bits_type>>(mantissa);
  }
  static bool is_nan(T x) { return x.bits() == 0; }  // what a NaN becomes
};

template <class T> std::uint64_t code_of(T x) {
  return static_cast<std::make_unsigned_t<typename T::bits_type>>(x.bits());
}

/// The stair of a mode given by what it chooses: `choose(position, lower_is_even)`.
template <class T, class Choose> stair stair_of(bool negative, const Choose& choose) {
  using of = scale<T>;
  stair result;
  for (std::size_t i = 0; i <= of::steps(); ++i) {
    const std::uint32_t first =
        i == 0 ? 0 : first_of_next(of::number(i - 1), of::number(i), [&](oracle::position p) {
          return choose(p, of::even(i - 1));
        });
    if (first >= infinity) break;
    result.first.push_back(first);
    result.code.push_back(of::code(i == 0 ? oracle::kind::zero : oracle::kind::number, negative, i));
  }
  result.of_infinity = of::code(oracle::kind::infinite, negative, 0);
  return result;
}

/// The two stairs between which T's results lie: one and the same but under stochastic rounding.
template <class T> std::array<stair, 2> stairs_of(bool negative) {
  using oracle::neighbour, oracle::position;
  using Round = typename T::round_policy;
  if constexpr (std::same_as<Round, narrow::rounding::stochastic>) {
    return {stair_of<T>(negative, [](position, bool) { return neighbour::lower; }),
            stair_of<T>(negative, [](position, bool) { return neighbour::upper; })};
  } else {
    const stair only = stair_of<T>(
        negative, [&](position p, bool even) { return oracle::choose(Round{}, p, negative, even); });
    return {only, only};
  }
}

constexpr std::size_t block_size = std::size_t{1} << 16, block_count = std::size_t{1} << 16;

std::vector<float> block(std::size_t b) {
  std::vector<float> result(block_size);
  for (std::size_t i = 0; i < block_size; ++i)
    result[i] = std::bit_cast<float>(static_cast<std::uint32_t>(b * block_size + i));
  return result;
}

/// How element i of all floats is rounded: stochastic rounding draws by its index.
template <class Round> Round policy_at(std::size_t i) {
  if constexpr (std::same_as<Round, narrow::rounding::stochastic>)
    return Round(2024, i);
  else
    return Round{};
}

template <class T> std::vector<T> one_at_a_time(std::size_t b) {
  using Round = typename T::round_policy;
  const std::vector<float> from = block(b);
  std::vector<T> result(block_size);
  for (std::size_t i = 0; i < block_size; ++i)
    result[i] = narrow::narrow_cast<T>(from[i], policy_at<Round>(b * block_size + i));
  return result;
}

/// use(b, tally) for every `stride`-th block, on all processors.
template <class Use> void for_blocks(tally& count, std::size_t stride, const Use& use) {
  std::atomic<std::size_t> next = 0;
  std::mutex door;
  const auto work = [&] {
    tally own;
    for (std::size_t b = next.fetch_add(stride); b < block_count; b = next.fetch_add(stride)) use(b, own);
    const std::lock_guard lock(door);
    count.add(own);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

/// Whether x has the code, or is a NaN as it is: of which sign is left open here.
template <class T> bool has_code(T x, std::uint64_t code) {
  if (code_of(x) == code) return true;
  if constexpr (narrow::narrow_float<T>)
    return oracle::decode(x).what == oracle::kind::nan &&
           oracle::format_of<T>.decode(code).what == oracle::kind::nan;
  return false;
}

/// The codes of a stair for floats that ascend.
class climb {
 public:
  climb(const stair& of, std::uint32_t bits) : of_(of), step_(0) {
    const auto above = std::upper_bound(of.first.begin(), of.first.end(), bits);
    step_ = static_cast<std::size_t>(above - of.first.begin()) - 1;
  }
  std::uint64_t to(std::uint32_t bits) {
    while (step_ + 1 < of_.first.size() && of_.first[step_ + 1] <= bits) ++step_;
    return bits == infinity ? of_.of_infinity : of_.code[step_];
  }

 private:
  const stair& of_;
  std::size_t step_;
};

template <class T> void check_block(tally& count, std::size_t b, const std::vector<T>& got) {
  static const std::array<std::array<stair, 2>, 2> stairs{stairs_of<T>(false), stairs_of<T>(true)};
  const auto magnitude = [&](std::size_t i) {
    return static_cast<std::uint32_t>((b * block_size + i) & 0x7fff'ffff);
  };
  const auto& of_sign = stairs[b >= block_count / 2];
  climb low(of_sign[0], magnitude(0)), high(of_sign[1], magnitude(0));
  for (std::size_t i = 0; i < block_size; ++i) {
    const std::uint32_t bits = magnitude(i);
    const bool match = bits > infinity ? scale<T>::is_nan(got[i])
                                       : has_code(got[i], low.to(bits)) || has_code(got[i], high.to(bits));
    count.expect(match,
                 [&] { return text(name_of<T>(), "of", b * block_size + i, "gives", code_of(got[i])); });
  }
}

/// The results of a block, as one number: those of arrays are compared with those of single numbers by it.
template <class T> std::size_t digest(const std::vector<T>& x) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(x.data()), x.size() * sizeof(T)});
}

template <class T> void check_array(tally& count, std::size_t b, std::size_t right) {
  using Round = typename T::round_policy;
  std::vector<T> got(block_size);
  narrow::convert(block(b), got, policy_at<Round>(b * block_size));
  if (digest(got) == right) {
    count.add_matches(block_size);
    return;
  }
  const std::vector<T> expected = one_at_a_time<T>(b);
  for (std::size_t i = 0; i < block_size; ++i)
    count.expect(got[i].bits() == expected[i].bits(), [&] {
      return text(name_of<T>(), std::string(narrow::isa_name()), "of", b * block_size + i, "gives",
                  code_of(got[i]), "not", code_of(expected[i]));
    });
}

template <class T> void check_floats(std::size_t stride) {
  for_each_policy<T>([&]<class U>() {
    if constexpr (!std::same_as<typename U::overflow_policy, narrow::overflow::wrap>) {
      tally count;
      std::vector<std::size_t> digests(block_count);
      for_blocks(count, stride, [&](std::size_t b, tally& own) {
        const std::vector<U> got = one_at_a_time<U>(b);
        check_block(own, b, got);
        digests[b] = digest(got);
      });
      for_each_isa([&](const std::string&) {
        for_blocks(count, stride, [&](std::size_t b, tally& own) { check_array<U>(own, b, digests[b]); });
      });
      count.require((1 + isa_count()) * block_size * ((block_count + stride - 1) / stride));
    }
  });
}

using narrow_formats = decltype(std::tuple_cat(
    narrow::all_formats{}, std::tuple<narrow::fixed<8, 4>, narrow::fixed<8, 7>, narrow::fixed<12, 6>,
                                      narrow::fixed<16, 8>, narrow::fixed<16, 15>>{}));

}  // namespace

TEMPLATE_LIST_TEST_CASE("one block of floats of 257 in every format of at most 16 bits and every mode",
                        "[kernel][floats][.exhaustive]", narrow_formats) {
  check_floats<TestType>(257);
}

TEMPLATE_LIST_TEST_CASE("all floats in every format of at most 16 bits and every mode",
                        "[kernel][floats][.millions]", narrow_formats) {
  check_floats<TestType>(1);
}
