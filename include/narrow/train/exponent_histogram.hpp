// How the magnitudes of an array spread over the powers of two, and which loss scale they ask for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <ostream>
#include <string>

#include "../errors.hpp"
#include "../format/catalog.hpp"
#include "../format/limits.hpp"
#include "array_access.hpp"
#include "counts.hpp"
#include "parameter.hpp"
#include "state_io.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

template <class T>
concept binned_scalar = narrow_scalar<T> || std::same_as<T, float> || std::same_as<T, double>;

/// floor(log2 |x|) of a finite number other than 0.
template <binned_scalar T> constexpr int exponent_of(T x) { return unpack(x).leading(); }

}  // namespace detail

/// Counts of floor(log2 |x|): one bin per power of two, with zeros, infinities and NaNs apart.
///
/// Everything is read from the bits, so that subnormals count whatever the floating-point unit would make of
/// them. A count ends at 2^64 - 1, and so does the sum of several; shares are of what the counts say, exact
/// sums divided in double.
///
/// Source  Micikevicius et al., Mixed Precision Training (2018), Figures 2b and 3.
class exponent_histogram : detail::streamable<exponent_histogram> {
 public:
  exponent_histogram() = default;
  exponent_histogram(const exponent_histogram&) = default;
  /// The other one is left empty.
  exponent_histogram(exponent_histogram&& other) noexcept { swap(other); }
  exponent_histogram& operator=(const exponent_histogram&) = default;
  /// The other one is left with what was here.
  exponent_histogram& operator=(exponent_histogram&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Counts every element of a range, or of an Eigen expression, of narrow scalars, float or double.
  template <readable_array X>
  requires detail::binned_scalar<array_value_t<X>>
  void add(const X& x) {
    using detail::unpack;
    using T = array_value_t<X>;
    using limits = std::numeric_limits<T>;
    constexpr int low = detail::exponent_of(limits::denorm_min()),
                  high = detail::exponent_of(limits::lowest());
    std::array<std::uint64_t, static_cast<std::size_t>(high - low + 1)> counts{};
    std::uint64_t zeros = 0, infinities = 0, nans = 0;
    int top = low;

    const auto array = detail::read_array(x);
    for (const T element : array.elements()) {
      auto number = unpack(element);
      switch (number.what) {
        case detail::kind::zero:
          ++zeros;
          break;
        case detail::kind::infinite:
          ++infinities;
          break;
        case detail::kind::nan:
          ++nans;
          break;
        case detail::kind::finite:
          const int exponent = number.leading();
          ++counts[static_cast<std::size_t>(exponent - low)];
          if (exponent < top) break;
          top = exponent;
          number.of = sign::positive;
          max_abs_ = std::max(max_abs_, detail::pack_code<detail::binary64>(number, rounding::nearest_even{},
                                                                            overflow::ieee{}));
      }
    }
    for (int exponent = low; exponent <= high; ++exponent)
      if (const auto n = counts[static_cast<std::size_t>(exponent - low)]; n != 0)
        count_more(bins_[exponent], n);
    count_more(zeros_, zeros);
    count_more(infinities_, infinities);
    count_more(nans_, nans);
  }

  /// Counts what `other` has counted.
  exponent_histogram& operator+=(const exponent_histogram& other) {
    for (const auto& [exponent, n] : other.bins_) count_more(bins_[exponent], n);
    count_more(zeros_, other.zeros_);
    count_more(infinities_, other.infinities_);
    count_more(nans_, other.nans_);
    max_abs_ = std::max(max_abs_, other.max_abs_);
    return *this;
  }

  /// How many elements have 2^exponent <= |x| < 2^(exponent + 1).
  std::uint64_t count(int exponent) const {
    const auto bin = bins_.find(exponent);
    return bin == bins_.end() ? 0 : bin->second;
  }
  /// How many zeros there are.
  std::uint64_t zeros() const { return zeros_; }
  /// How many infinities there are.
  std::uint64_t infinities() const { return infinities_; }
  /// How many NaNs there are.
  std::uint64_t nans() const { return nans_; }
  /// How many infinities and NaNs there are.
  std::uint64_t nonfinite() const { return detail::saturating_sum(infinities_, nans_); }
  /// How many elements were counted.
  std::uint64_t total() const {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    return all() > largest ? largest : static_cast<std::uint64_t>(all());
  }

  /// The largest finite |x|, exact; 0 where there is none.
  double max_abs() const { return std::bit_cast<double>(max_abs_); }

  /// The share with |x| < 2^exponent of the finite elements that are not zero; 0 where there are none.
  double share_below(int exponent) const { return share(bins_.begin(), bins_.lower_bound(exponent)); }

  /// The share with |x| >= 2^exponent of the finite elements that are not zero; 0 where there are none.
  double share_above(int exponent) const { return share(bins_.lower_bound(exponent), bins_.end()); }

  /// The share of the finite elements other than zero which rounding to nearest turns to zero in F: |x| below
  /// half of the smallest positive number. One bin holds that half itself and numbers that survive, so none
  /// of it is counted.
  template <narrow_scalar F> double share_below() const { return share_below(lowest_exponent<F>() - 1); }

  /// The share of the finite elements other than zero which overflow F however they are rounded: |x| at or
  /// above the first power of two beyond the largest finite number. One bin holds that number and what lies
  /// between the two, so none of it is counted.
  template <narrow_scalar F> double share_above() const { return share_above(highest_exponent<F>() + 1); }

  /// A picture in text: for each bin its count, its share of `total()`, and a bar. Long gaps are left out.
  void print(std::ostream& out) const {
    draw(out, [](int) { return ""; });
  }

  /// The picture of `print` with a remark on each bin: whether its numbers turn to zero in F (as in
  /// `share_below<F>`), are subnormal, or overflow (as in `share_above<F>`).
  template <narrow_float F> void print(std::ostream& out) const {
    draw(out, [](int exponent) {
      return exponent < lowest_exponent<F>() - 1  ? "to zero"
             : exponent < F::layout::min_exponent ? "subnormal"
             : exponent > highest_exponent<F>()   ? "overflow"
                                                  : "";
    });
  }

  /// Lines `exponent,count` under a header. The first is of zeros, with exponent -inf; the last two are of
  /// infinities and NaNs, with exponents inf and nan.
  void csv(std::ostream& out) const {
    std::string text = "exponent,count\n-inf," + std::to_string(zeros_) + "\n";
    for (const auto& [exponent, n] : bins_) text += std::to_string(exponent) + "," + std::to_string(n) + "\n";
    text += "inf," + std::to_string(infinities_) + "\nnan," + std::to_string(nans_) + "\n";
    out << text;
  }

  void swap(exponent_histogram& other) noexcept {
    bins_.swap(other.bins_);
    std::swap(zeros_, other.zeros_);
    std::swap(infinities_, other.infinities_);
    std::swap(nans_, other.nans_);
    std::swap(max_abs_, other.max_abs_);
  }
  friend void swap(exponent_histogram& a, exponent_histogram& b) noexcept { a.swap(b); }

  friend bool operator==(const exponent_histogram&, const exponent_histogram&) = default;

 private:
  friend detail::saved_state;
  using bin_map = std::map<int, std::uint64_t>;

  template <narrow_scalar F> static constexpr int lowest_exponent() {
    return detail::exponent_of(std::numeric_limits<F>::denorm_min());
  }
  template <narrow_scalar F> static constexpr int highest_exponent() {
    return detail::exponent_of(std::numeric_limits<F>::max());
  }

  static void count_more(std::uint64_t& count, std::uint64_t n) { count = detail::saturating_sum(count, n); }

  // A sum of all counts needs more than 64 bits.
  static detail::uint128 sum(bin_map::const_iterator first, bin_map::const_iterator last) {
    detail::uint128 result = 0;
    for (; first != last; ++first) result += first->second;
    return result;
  }
  detail::uint128 in_bins() const { return sum(bins_.begin(), bins_.end()); }
  detail::uint128 all() const { return in_bins() + zeros_ + infinities_ + nans_; }

  static double ratio(detail::uint128 part, detail::uint128 whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  }
  double share(bin_map::const_iterator first, bin_map::const_iterator last) const {
    return ratio(sum(first, last), in_bins());
  }

  template <class Remark> void draw(std::ostream& out, const Remark& remark) const {
    constexpr double bar_length = 40;
    std::uint64_t largest = std::max({zeros_, infinities_, nans_});
    for (const auto& bin : bins_) largest = std::max(largest, bin.second);
    const detail::uint128 whole = all();
    std::string text = "    |x|         count    share\n";
    const auto line = [&](const std::string& label, std::uint64_t n, const char* what) {
      char columns[80];
      std::snprintf(columns, sizeof columns, "%7s %13s %6.2f %%  %-9s |", label.c_str(),
                    std::to_string(n).c_str(), 100 * ratio(n, whole), what);
      // At least one mark for what is there at all.
      const auto marks = static_cast<std::size_t>(bar_length * ratio(n, largest) + (n != 0 ? 0.999 : 0.0));
      text += columns + std::string(marks, '#') + "\n";
    };
    line("0", zeros_, "");
    constexpr int max_gap = 3;  // of empty bins that are drawn: more of them take less room as "..."
    for (auto bin = bins_.begin(); bin != bins_.end(); ++bin) {
      if (bin != bins_.begin()) {
        int empty = std::prev(bin)->first + 1;
        if (bin->first - empty > max_gap) {
          text += "    ...\n";
          empty = bin->first;
        }
        for (; empty < bin->first; ++empty) line("2^" + std::to_string(empty), 0, remark(empty));
      }
      line("2^" + std::to_string(bin->first), bin->second, remark(bin->first));
    }
    line("inf", infinities_, "");
    line("nan", nans_, "");
    out << text;
  }

  static std::string state_type() { return "narrow::exponent_histogram"; }

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    field("bins", self.bins_);
    field("zeros", self.zeros_);
    field("infinities", self.infinities_);
    field("nans", self.nans_);
    field("max_abs", self.max_abs_);
  }

  void check_relations() const {
    using layout = detail::binary64;
    for (const auto& [exponent, count] : bins_)
      if (exponent < layout::min_quantum || exponent > layout::max_exponent || count == 0)
        detail::fail<std::invalid_argument>("bins: " + std::to_string(count) + " in that of 2^" +
                                            std::to_string(exponent) + " must be at least 1, in one from 2^" +
                                            std::to_string(layout::min_quantum) + " to 2^" +
                                            std::to_string(layout::max_exponent));
    const auto number = detail::unpack(max_abs());
    const bool fits = bins_.empty() ? number.what == detail::kind::zero
                                    : number.what == detail::kind::finite && number.of == sign::positive &&
                                          number.leading() == bins_.rbegin()->first;
    if (!fits)
      detail::fail<std::invalid_argument>("max_abs " + detail::to_text(max_abs()) +
                                          " is not in the highest bin");
  }

  bin_map bins_;  // those that are not empty
  std::uint64_t zeros_ = 0, infinities_ = 0, nans_ = 0;
  std::uint64_t max_abs_ = 0;  // the code of a double: codes are in the order of the magnitudes
};

/// The largest power of two S such that S max|g| is less than the largest finite F, over unscaled gradients
/// g.
///
/// Special  1 where no gradient was finite and other than zero; infinities and NaNs have no say. Never beyond
///          [2^-126, 2^127], what a `loss_scaler` can hold.
/// Source   Micikevicius et al., Mixed Precision Training (2018), section 3.2.
template <narrow_scalar F = fp16> float suggest_scale(const exponent_histogram& gradients) {
  using detail::unpack;
  auto largest = unpack(gradients.max_abs());
  if (largest.what != detail::kind::finite) return 1;
  const auto limit = unpack(std::numeric_limits<F>::max());
  int exponent = limit.leading() - largest.leading();
  largest.exponent += exponent;
  if (detail::compare(largest, limit) >= 0) --exponent;
  using layout = detail::binary32;
  exponent = std::clamp(exponent, layout::min_exponent, layout::max_exponent);
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + layout::bias) << layout::mantissa_bits);
}

}  // namespace narrow
