// Fuzz target: programs of Eigen expressions. The bytes choose a format, how the matrices lie in memory,
// their numbers, and which statements of nodes.hpp follow one another, each with which of three matrices.
// Every instruction set gives what single numbers give, sums of floats within their bound; block formats give
// what the floats in them do.
#include <array>

#include "block_nodes.hpp"

using namespace narrow;
using Eigen::Dynamic;
using Eigen::Index;

namespace {

constexpr std::size_t most_statements = 6;
constexpr std::size_t variables = 3;

/// Numbers column by column, wherever they lie in memory while a statement runs.
template <class T> struct table {
  Index rows = 0, cols = 0;
  std::vector<T> numbers;

  table(const fuzz::words& words, std::size_t first, Index r, Index c) : rows(r), cols(c) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(r * c); ++i)
      numbers.push_back(words.number<T>(first + i));
  }
  T& operator()(Index i, Index j) { return numbers[static_cast<std::size_t>(j * rows + i)]; }
  const T& operator()(Index i, Index j) const { return numbers[static_cast<std::size_t>(j * rows + i)]; }
};

template <class T> std::uint64_t bits_of(T x) {
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<std::uint32_t>(x);
  else
    return static_cast<std::make_unsigned_t<typename T::bits_type>>(x.bits());
}
/// NaN is NaN.
template <class T> bool same(T a, T b) { return bits_of(a) == bits_of(b) || (a != a && b != b); }

/// How a matrix lies in memory: by columns or by rows, every number or each second one, with numbers between
/// the lines that no statement may touch.
enum class layout { columns, rows, strided, transposed, small };
constexpr Index small_size = 3;  // known at compile time

template <class T, layout L> class place {
 public:
  static constexpr int size = L == layout::small ? int(small_size) : Dynamic;
  static constexpr bool by_rows = L == layout::rows;
  static constexpr Index inner = L == layout::strided ? 2 : 1;
  using matrix = Eigen::Matrix<T, size, size, by_rows ? Eigen::RowMajor : Eigen::ColMajor>;
  using stride =
      std::conditional_t<L == layout::strided, Eigen::Stride<Dynamic, Dynamic>, Eigen::OuterStride<>>;

  explicit place(const table<T>& from) : rows_(from.rows), cols_(from.cols) {
    const T between = T(1);
    memory_.assign(static_cast<std::size_t>(lines() * outer()), between);
    auto&& to = view();
    for (Index j = 0; j < cols_; ++j)
      for (Index i = 0; i < rows_; ++i) to(i, j) = from(i, j);
  }
  auto view() {
    if constexpr (L == layout::transposed)
      return Eigen::Map<matrix, 0, stride>(memory_.data(), cols_, rows_, Eigen::OuterStride<>(outer()))
          .transpose();
    else if constexpr (L == layout::strided)
      return Eigen::Map<matrix, 0, stride>(memory_.data(), rows_, cols_, stride(outer(), inner));
    else
      return Eigen::Map<matrix, 0, stride>(memory_.data(), rows_, cols_, stride(outer()));
  }
  /// What is there now; what lies between is as before.
  void read(table<T>& to, const std::string& isa) {
    auto&& from = view();
    for (Index j = 0; j < cols_; ++j)
      for (Index i = 0; i < rows_; ++i) {
        to(i, j) = from(i, j);
        from(i, j) = T(1);
      }
    for (const T& number : memory_)
      fuzz::require(same(number, T(1)), [&] { return isa + ": wrote beside the matrix"; });
  }

 private:
  static constexpr bool lines_are_rows = L == layout::rows || L == layout::transposed;
  Index lines() const { return lines_are_rows ? rows_ : cols_; }
  Index outer() const { return (lines_are_rows ? cols_ : rows_) * inner + 1; }

  Index rows_, cols_;
  std::vector<T> memory_;
};

/// A statement of a program: which node, of which variables, with which factor.
struct statement {
  std::size_t node, to, a, b;
  float k;
  explicit statement(fuzz::input& in)
      : node(in.below(nodes::coefficient_nodes + nodes::sum_nodes + nodes::whole_nodes)) {
    const std::size_t which = in.below(variables * variables * variables);
    to = which % variables;
    a = which / variables % variables;
    b = which / variables / variables;
    k = in.number<float>();
  }
  bool is_whole() const { return node >= nodes::coefficient_nodes + nodes::sum_nodes; }
  bool is_sum() const { return node >= nodes::coefficient_nodes && !is_whole(); }
  nodes::sum_node sum() const { return static_cast<nodes::sum_node>(node - nodes::coefficient_nodes); }
  nodes::whole_node whole() const {
    return static_cast<nodes::whole_node>(node - nodes::coefficient_nodes - nodes::sum_nodes);
  }
};

template <class T> struct state {
  std::vector<table<T>> v;
  table<float> x;

  state(const fuzz::words& words, Index rows, Index cols)
      : x(words, variables * static_cast<std::size_t>(rows * cols), rows, cols) {
    for (std::size_t i = 0; i < variables; ++i)
      v.emplace_back(words, i * static_cast<std::size_t>(rows * cols), rows, cols);
  }
};

/// Runs a statement with its matrices in these layouts. Where two lie alike, operands are the destination
/// itself.
template <class T, layout To, layout A, layout B>
void run(const statement& s, state<T>& on, const std::string& isa) {
  place<T, To> to(on.v[s.to]);
  place<T, A> a(on.v[s.a]);
  place<T, B> b(on.v[s.b]);
  place<float, To == layout::small ? layout::small : layout::columns> x(on.x);
  auto destination = to.view();
  if (s.is_sum()) {
    nodes::assign<T>(s.sum(), destination, a.view(), b.view(), s.k);
  } else if (s.is_whole()) {
    nodes::assign<T>(s.whole(), destination, a.view(), b.view(), s.k);
  } else {
    auto p = a.view();
    auto q = b.view();
    if constexpr (To == A && To == B) {
      const auto own = [&](std::size_t which, auto& view) {
        if (which == s.to) std::construct_at(&view, to.view());
      };
      own(s.a, p);
      own(s.b, q);
    }
    nodes::assign<T>(s.node, destination, p, q, x.view(), s.k);
  }
  to.read(on.v[s.to], isa);
}

/// In how many layouts statements are compiled for T: in all for one format, since each takes the compiler as
/// long again.
template <class T>
inline constexpr std::size_t layouts_of = std::same_as<T, fp16>                                          ? 5
                                          : std::same_as<T, fp8_e4m3fn> || std::same_as<T, fixed<16, 8>> ? 2
                                                                                                         : 1;

template <class T>
void run_in(std::size_t layouts, const statement& s, state<T>& on, const std::string& isa) {
  using enum layout;
  if (layouts == 0) run<T, columns, columns, columns>(s, on, isa);
  if constexpr (1 < layouts_of<T>)
    if (layouts == 1) run<T, rows, strided, columns>(s, on, isa);
  if constexpr (2 < layouts_of<T>) {
    if (layouts == 2) run<T, columns, transposed, rows>(s, on, isa);
    if (layouts == 3) run<T, strided, columns, transposed>(s, on, isa);
    if (layouts == 4) run<T, small, small, small>(s, on, isa);
  }
}

std::string told(const char* what, const statement& s, Index i, Index j, const auto& got) {
  return std::string(what) + ": node " + std::to_string(s.node) + " of " + std::to_string(s.to) +
         std::to_string(s.a) + std::to_string(s.b) + " with " + std::to_string(s.k) + " at " +
         std::to_string(i) + ", " + std::to_string(j) + " gives " + std::to_string(static_cast<double>(got));
}

/// The sum that a node stores at i, j; no terms where it stores nothing.
template <class T> fuzz::sums sum_of(const statement& s, const state<T>& on, Index i, Index j) {
  const table<T>&a = on.v[s.a], &b = on.v[s.b];
  const auto number = [](const auto& x) { return static_cast<double>(x); };
  fuzz::sums result;
  switch (s.sum()) {
    case nodes::sum_node::product:
    case nodes::sum_node::scaled_product:
      for (Index k = 0; k < std::min(a.rows, a.cols); ++k) result.add(number(a(i, k)), number(b(k, j)));
      break;
    case nodes::sum_node::sums_of_rows:
      for (Index k = 0; j == 0 && k < a.cols; ++k) result.add(number(a(i, k)), 1);
      break;
    case nodes::sum_node::sums_of_columns:
      for (Index k = 0; i == 0 && k < a.rows; ++k) {
        if constexpr (narrow_fixed<T>)
          result.add(number(a(k, j) * b(k, j)), 1);
        else
          result.add(number(a(k, j)), number(b(k, j)));
      }
      break;
    case nodes::sum_node::whole:
      for (std::size_t k = 0; i == 0 && j == 0 && k < a.numbers.size(); ++k) {
        if constexpr (narrow_fixed<T>)
          result.add(number(a.numbers[k] + b.numbers[k]), 1);
        else
          result.add(number(a.numbers[k]) + number(b.numbers[k]), 1);
      }
      break;
    case nodes::sum_node::dot:
      for (Index k = 0; i == 0 && j == 0 && k < a.cols; ++k) result.add(number(a(0, k)), number(b(0, k)));
      break;
    case nodes::sum_node::squared_norm:
      for (std::size_t k = 0; i == 0 && j == 0 && k < a.numbers.size(); ++k)
        result.add(number(a.numbers[k]), number(a.numbers[k]));
      break;
    case nodes::sum_node::product_of_all:
      for (std::size_t k = 0; i == 0 && j == 0 && k < a.numbers.size(); ++k)
        result.multiply(number(a.numbers[k]));
      break;
  }
  return result;
}

/// Whether T's products and their sums are exact in double.
template <class T> constexpr bool has_exact_sums() {
  if constexpr (narrow_fixed<T>)
    return 2 * T::word_length + 8 <= std::numeric_limits<double>::digits;
  else
    return false;
}

template <class T> void check_sum(const statement& s, const state<T>& before, Index i, Index j, T got) {
  const fuzz::sums sum = sum_of(s, before, i, j);
  if (sum.terms == 0) {
    fuzz::require(same(got, before.v[s.to](i, j)),
                  [&] { return told("written beside a sum", s, i, j, got); });
    return;
  }
  // Of fixed-point numbers these are rounded after each step.
  const bool in_steps =
      s.sum() == nodes::sum_node::scaled_product || s.sum() == nodes::sum_node::product_of_all;
  if (narrow_fixed<T> && (!has_exact_sums<T>() || in_steps)) return;
  if (!sum.bounds()) return;
  double factor = 1, error = has_exact_sums<T>() ? 0 : sum.bound();
  if (s.sum() == nodes::sum_node::scaled_product) {
    factor = static_cast<double>(s.k);
    error = 2 * error * std::max(1.0, std::abs(factor));  // the factor is rounded into the one or the other
    if (!(sum.magnitude * std::abs(factor) < double{std::numeric_limits<float>::max()} / 2)) return;
  }
  const T low(sum.value * factor - error), high(sum.value * factor + error);
  // Where an end of the range is no number of T it may be a NaN, which is no bound.
  const auto number = [](T x) { return static_cast<double>(x); };
  const bool may_be_nan = low != low || high != high;
  const bool in_range =
      !(number(got) < number(low)) && !(number(high) < number(got)) && (got == got || may_be_nan);
  fuzz::require(in_range,
                [&] { return told("a sum", s, i, j, got) + ", not " + std::to_string(sum.value * factor); });
}

template <class T> void check_portable(const statement& s, const state<T>& before, const state<T>& after) {
  for (Index j = 0; j < before.x.cols; ++j)
    for (Index i = 0; i < before.x.rows; ++i) {
      const T got = after.v[s.to](i, j);
      if (s.is_sum()) {
        check_sum(s, before, i, j, got);
        continue;
      }
      const table<T>&a = before.v[s.a], &b = before.v[s.b];
      const T old = before.v[s.to](i, j);
      const T right = s.is_whole() ? nodes::value<T>(s.whole(), old, a, b, s.k, i, j)
                                   : nodes::value<T>(s.node, old, a(i, j), b(i, j), before.x(i, j), s.k);
      fuzz::require(same(got, right), [&] {
        return told("one number", s, i, j, got) + ", not " + std::to_string(static_cast<double>(right));
      });
    }
}

/// A program of matrices of T.
template <class T> void check_numbers(fuzz::input& in) {
  const std::size_t layouts = in.below(layouts_of<T>);
  const bool is_small = layouts == 4;
  const Index rows = is_small ? small_size : static_cast<Index>(1 + in.below(40));
  const Index cols =
      is_small ? small_size : static_cast<Index>(1 + in.below(std::size_t{rows > 20 ? 4u : 40u}));
  std::vector<statement> program;
  for (std::size_t i = 1 + in.below(most_statements); i > 0; --i) program.emplace_back(in);
  state<T> now(fuzz::words(in), rows, cols);
  for (const statement& s : program) {
    const state<T> before = now;
    fuzz::for_each_isa([&](const std::string& isa) {
      state<T> after = before;
      run_in(layouts, s, after, isa);
      if (isa == "portable") {
        check_portable(s, before, after);
        now = after;
        return;
      }
      for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) {
          const T got = after.v[s.to](i, j);
          if (s.is_sum() && !narrow_fixed<T>)
            check_sum(s, before, i, j, got);
          else
            fuzz::require(same(got, now.v[s.to](i, j)), [&] {
              return told(isa.c_str(), s, i, j, got) + ", as the portable kernels do not";
            });
        }
    });
  }
}

template <class M> std::vector<float> floats_of(const M& m) {
  const Eigen::MatrixXf x = m;
  return {x.data(), x.data() + x.size()};
}

/// Whether products of two such matrices are the same bits on every instruction set: where no scale changes
/// with every term. The others are sums of floats.
template <class Format>
inline constexpr bool has_same_products =
    std::same_as<Format, narrow::int8> || std::same_as<Format, bfp<8>> ||
    std::same_as<Format, bfp<14, tile<3, 5>>>;

/// The floats of w, v and y.
template <class Blocks> std::array<std::vector<float>, 3> floats_of(const nodes::block_state<Blocks>& on) {
  return {floats_of(on.w), floats_of(on.v), floats_of(on.y)};
}

template <class Format>
using block_state = nodes::block_state<Eigen::Matrix<Format, Eigen::Dynamic, Eigen::Dynamic>>;

template <class Format>
void check_product(const std::string& isa, const block_state<Format>& before, const Eigen::MatrixXf& got) {
  const Eigen::MatrixXf w = before.w, v = before.v;
  for (Index i = 0; i < got.rows(); ++i)
    for (Index j = 0; j < got.cols(); ++j) {
      fuzz::sums sum;
      for (Index k = 0; k < std::min(w.rows(), w.cols()); ++k)
        sum.add(static_cast<double>(w(i, k)), static_cast<double>(v(k, j)));
      fuzz::require(!sum.bounds() || sum.allows(static_cast<double>(got(i, j))), [&] {
        return isa + ": a product of blocks is " + std::to_string(got(i, j)) + ", not " +
               std::to_string(sum.value);
      });
    }
}

/// What a statement makes of the floats in the matrices, those that it stores in blocks rounded into them.
template <class Format>
std::array<std::vector<float>, 3> expected_of(std::size_t node, const block_state<Format>& before, float k) {
  nodes::block_state<Eigen::MatrixXf> floats{before.w, before.v, before.x, before.y};
  if (node < nodes::block_coefficient_nodes)
    nodes::assign_one_by_one(node, floats, k);
  else
    nodes::assign(node, floats, k);
  block_state<Format> blocks = before;
  if (nodes::destination(node) == 'w') blocks.w = floats.w;
  if (nodes::destination(node) == 'v') blocks.v = floats.v;
  blocks.y = floats.y;
  return floats_of(blocks);
}

template <class Format> void check_step(std::size_t node, float k, block_state<Format>& now) {
  const block_state<Format> before = now;
  std::array<std::vector<float>, 3> expected = expected_of(node, before, k);
  fuzz::for_each_isa([&](const std::string& isa) {
    block_state<Format> after = before;
    nodes::assign(node, after, k);
    const auto got = floats_of(after);
    const bool is_product = node == nodes::block_product;
    if (isa == "portable") {
      now = after;
      if (is_product) expected[2] = got[2];
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (i == 2 && is_product && !has_same_products<Format>) {
        check_product(isa, before, after.y);
        continue;
      }
      for (std::size_t at = 0; at < got[i].size(); ++at)
        fuzz::require(got[i].size() == expected[i].size() && same(got[i][at], expected[i][at]), [&] {
          return isa + ": block node " + std::to_string(node) + ", matrix " + std::to_string(i) +
                 ", number " + std::to_string(at) + " is " + std::to_string(got[i][at]) + ", not " +
                 std::to_string(expected[i][at]);
        });
    }
  });
}

template <class Format> void check_blocks(fuzz::input& in) {
  const Index rows = static_cast<Index>(1 + in.below(40));
  const Index cols = static_cast<Index>(1 + in.below(std::size_t{rows > 20 ? 4u : 40u}));
  std::vector<std::pair<std::size_t, float>> program;
  for (std::size_t i = 1 + in.below(most_statements); i > 0; --i) {
    const std::size_t node = in.below(nodes::block_nodes);
    program.emplace_back(node, in.number<float>());
  }
  const fuzz::words words(in);
  auto matrix = [&, first = std::size_t{0}]() mutable {
    const table<float> numbers(words, first, rows, cols);
    first += numbers.numbers.size();
    return Eigen::MatrixXf(Eigen::Map<const Eigen::MatrixXf>(numbers.numbers.data(), rows, cols));
  };
  block_state<Format> now{{}, {}, matrix(), matrix()};
  now.w = matrix();
  now.v = matrix();
  for (const auto& [node, k] : program) check_step(node, k, now);
}

template <class... Formats> void check_any(std::tuple<Formats...>, std::size_t place, fuzz::input& in) {
  fuzz::with_type<Formats...>(place, [&]<class T>() { check_numbers<T>(in); });
}

using number_formats = decltype(std::tuple_cat(
    all_formats{}, std::tuple<floating<6, 16, specials::fnuz>, fixed<8, 4>, fixed<16, 8>, fixed<32, 20>>{}));

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::size_t place = in.below(256);
  if (place % 4 != 0)
    check_any(number_formats{}, place / 4, in);
  else
    fuzz::with_type<narrow::int8, basic_int8<per_row>, bfp<8>, bfp<4, per_column>, bfp<14, tile<3, 5>>,
                    mx<fp8_e4m3fn>>(place / 4, [&]<class Format>() { check_blocks<Format>(in); });
  return 0;
}
