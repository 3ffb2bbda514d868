// Mean, deviation and largest magnitude of each row of a matrix, and how many numbers are far out.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "../block/source.hpp"
#include "../kernel/reduce.hpp"
#include "../math.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::detail {

/// Mean, deviation and largest magnitude of the finite numbers of each row of a matrix, or of all of them
/// together. Sums are of differences from one of the numbers, so that a mean far from zero cancels nothing,
/// and the deviation of equal numbers is zero. They are double: the same bits in every storage order and on
/// every instruction set.
///
/// Source    Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance" (1983), shifted data.
class row_moments {
 public:
  /// What has moments of its own: each row, or the whole matrix.
  enum class of { rows, matrix };

  template <class T>
  row_moments(matrix_view<const T> m, of which)
      : places_in_use_(m.rows == 1 ? std::min(lanes, m.cols) : m.rows),
        shared_(which == of::matrix || m.rows == 1),
        numbers_(which == of::matrix ? m.rows * m.cols : m.cols),
        pivots_(in_whole_vectors(places_in_use_)),
        sums_(pivots_.size() * kernel::moment_parts),
        squares_(sums_.size()),
        finite_(pivots_.size()),
        largest_(pivots_.size()),
        means_(pivots_.size()),
        deviations_(pivots_.size()) {
    choose_pivots(m);
    for_each_piece(m, [&](const float* from, const kernel::strided_lines& lines, std::ptrdiff_t place) {
      kernel::add_moments(from, lines,
                          {.places = std::ssize(pivots_),
                           .pivots = pivots_.data() + place,
                           .sums = sums_.data() + place,
                           .squares = squares_.data() + place,
                           .finite = finite_.data() + place,
                           .largest = largest_.data() + place});
    });
    if (shared_)
      for (std::size_t place = 1; place < in_use(); ++place) add_to_first(place);
    for (std::size_t k = 0; k < count(); ++k) finish(k);
  }

  /// How many moments there are: one for each row, or one for all rows if there are any.
  std::size_t count() const { return shared_ ? std::min<std::size_t>(in_use(), 1) : in_use(); }
  std::uint64_t finite(std::size_t k) const { return static_cast<std::uint64_t>(finite_[k]); }
  std::uint64_t nonfinite(std::size_t k) const { return static_cast<std::uint64_t>(numbers_ - finite_[k]); }
  double mean(std::size_t k) const { return pivots_[k] + means_[k]; }
  double deviation(std::size_t k) const { return deviations_[k]; }
  float largest(std::size_t k) const { return std::bit_cast<float>(largest_[k]); }

  struct tail {
    std::uint64_t far = 0;     // further from the mean than the deviation
    std::uint64_t beyond = 0;  // of larger magnitude than the limit
  };
  /// The tails of the matrix that the moments are of; moments k come with the positive limit k.
  template <class T> std::vector<tail> tails(matrix_view<const T> m, std::span<const float> limits) const {
    std::vector<double> means(means_), deviations(deviations_);
    std::vector<std::int32_t> bits(pivots_.size());
    for (std::size_t place = 0; place < in_use(); ++place) {
      means[place] = means_[owner(place)];
      deviations[place] = deviations_[owner(place)];
      bits[place] = std::bit_cast<std::int32_t>(limits[owner(place)]);
    }
    std::vector<std::int64_t> far(pivots_.size()), beyond(pivots_.size());
    for_each_piece(m, [&](const float* from, const kernel::strided_lines& lines, std::ptrdiff_t place) {
      kernel::count_tails(from, lines,
                          {.pivots = pivots_.data() + place,
                           .means = means.data() + place,
                           .deviations = deviations.data() + place,
                           .limits = bits.data() + place,
                           .far = far.data() + place,
                           .beyond = beyond.data() + place});
    });
    std::vector<tail> result(count());
    for (std::size_t place = 0; place < in_use(); ++place) {
      result[owner(place)].far += static_cast<std::uint64_t>(far[place]);
      result[owner(place)].beyond += static_cast<std::uint64_t>(beyond[place]);
    }
    return result;
  }

 private:
  static constexpr std::ptrdiff_t lanes = kernel::moment_places;
  static std::size_t in_whole_vectors(std::ptrdiff_t places) {
    return static_cast<std::size_t>((places + lanes - 1) / lanes * lanes);
  }

  std::size_t in_use() const { return static_cast<std::size_t>(places_in_use_); }
  /// The moments that the numbers at a place count in.
  std::size_t owner(std::size_t place) const { return shared_ ? 0 : place; }

  /// visit(from, lines, place) for pieces of the matrix as lines of floats, the first of a line at this
  /// place: its columns, or of a single row `lanes` numbers after another.
  template <class T, class Visit> static void for_each_piece(const matrix_view<const T>& m, Visit visit) {
    if (m.rows != 1) return for_each_column(m, visit);
    const std::ptrdiff_t whole = m.cols / lanes, rest = m.cols % lanes, step = m.col_stride;
    for_each_column(matrix_view<const T>{m.data, lanes, whole, step, step * lanes}, visit);
    const auto last = m.block(0, m.cols - rest, 1, rest);
    for_each_column(matrix_view<const T>{last.data, rest, 1, step, step * lanes}, visit);
  }

  /// visit(from, lines, place) for columns, in their order. Where columns have to be copied, infinities,
  /// which no sum counts, fill the last vector up.
  template <class T, class Visit> static void for_each_column(const matrix_view<const T>& m, Visit visit) {
    std::ptrdiff_t done = 0;
    if constexpr (std::same_as<T, float>)
      if (m.row_stride == 1) {
        done = m.rows - m.rows % lanes;
        if (done > 0) visit(m.data, {.n = done, .lines = m.cols, .from_stride = m.col_stride}, 0);
      }
    constexpr std::ptrdiff_t places = 32, some = 128;
    static_assert(places % lanes == 0 && some % kernel::moment_parts == 0);
    float piece[places * some];
    for (std::ptrdiff_t i = done; i < m.rows; i += places) {
      const std::ptrdiff_t rows = std::min(places, m.rows - i), n = (rows + lanes - 1) / lanes * lanes;
      std::fill_n(piece, n * some, std::numeric_limits<float>::infinity());
      for (std::ptrdiff_t j = 0; j < m.cols; j += some) {
        const auto part = m.block(i, j, rows, std::min(some, m.cols - j));
        kernel::for_each_place(part, [&](std::ptrdiff_t r, std::ptrdiff_t c) {
          piece[c * n + r] = to_value<float>(part(r, c));
        });
        visit(piece, {.n = n, .lines = part.cols, .from_stride = n}, i);
      }
    }
  }

  /// The first finite number of each row, or of the first row that has one.
  template <class T> void choose_pivots(const matrix_view<const T>& m) {
    for (std::ptrdiff_t i = 0; i < m.rows; ++i) {
      float pivot = 0;
      bool found = false;
      for (std::ptrdiff_t j = 0; j < m.cols && !found; ++j) {
        const float x = to_value<float>(m(i, j));
        found = is_finite(x);
        if (found) pivot = x;
      }
      if (!shared_) pivots_[static_cast<std::size_t>(i)] = double(pivot);
      if (shared_ && found) return std::fill(pivots_.begin(), pivots_.end(), pivot);
    }
  }

  void add_to_first(std::size_t place) {
    for (std::size_t part = 0; part < kernel::moment_parts; ++part) {
      const std::size_t first = part * pivots_.size();
      sums_[first] += sums_[first + place];
      squares_[first] += squares_[first + place];
    }
    finite_[0] += finite_[place];
    largest_[0] = std::max(largest_[0], largest_[place]);
  }

  void finish(std::size_t k) {
    if (finite_[k] == 0) return;
    const auto n = static_cast<double>(finite_[k]);
    const auto total = [&](const std::vector<double>& parts) {
      static_assert(kernel::moment_parts == 4);
      const std::size_t places = pivots_.size();
      return (parts[k] + parts[k + places]) + (parts[k + 2 * places] + parts[k + 3 * places]);
    };
    means_[k] = total(sums_) / n;
    const double variance = total(squares_) / n - uncontracted(means_[k] * means_[k]);
    deviations_[k] = std::sqrt(std::max(variance, 0.0));
  }

  std::ptrdiff_t places_in_use_;  // one for each row, or those that a single row's numbers take turns at
  bool shared_;                   // whether all places are of the same moments, which the first one holds
  std::ptrdiff_t numbers_;        // finite or not, that each moment is of
  // These have an element, or sums_ and squares_ moment_parts elements, for each place of
  // kernel::moment_sums.
  std::vector<double> pivots_, sums_, squares_;
  std::vector<std::int64_t> finite_;
  std::vector<std::int32_t> largest_;
  std::vector<double> means_, deviations_;  // means_ are those of differences from the pivot
};

}  // namespace narrow::detail

NARROW_STRICT_END
