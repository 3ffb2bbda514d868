// Operands with scales from the data: block floating point and int8. See fixed_operand.cpp for those of a
// layer's own format, floating_operand.hpp for narrow floats.
#include "operands/block_operand.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "operands/fixed_operand.hpp"

namespace narrow_train {
namespace {

/// What can be said of any operand in blocks of integers from its view.
class integer_operand : public block_operand {
  template <class Use> auto with_view(Use use) const {
    return std::visit(
        [&](const auto& v) {
          if constexpr (std::integral<typename std::remove_cvref_t<decltype(v)>::element_type>)
            return use(v);
          else
            return use(narrow::block_view<std::int8_t, float>{});  // not reached
        },
        view());
  }
  template <class View> static auto elements_of(const View& v) {
    return std::span(v.elements.data, static_cast<std::size_t>(v.rows() * v.cols()));
  }
  template <class View> static std::span<const float> scales_of(const View& v) {
    return {v.scales.data, static_cast<std::size_t>(v.scales.rows * v.scales.cols)};
  }

 public:
  std::size_t bytes() const override {
    return with_view([](const auto& view) {
      return static_cast<std::size_t>(view.rows() * view.cols()) * sizeof(*view.elements.data) +
             scales_of(view).size_bytes();
    });
  }
  std::size_t scale_count() const override {
    return with_view([](const auto& view) { return scales_of(view).size(); });
  }

  void save(std::ostream& out) const override {
    with_view([&](const auto& view) {
      write_number(out, static_cast<std::uint64_t>(view.rows() * view.cols()));
      write_number(out, static_cast<std::uint64_t>(scales_of(view).size()));
      write_numbers(out, elements_of(view));
      write_numbers(out, scales_of(view));
    });
  }

  void load(std::istream& in) override {
    with_view([&](const auto& view) {
      expect_size(in, static_cast<std::size_t>(view.rows() * view.cols()), "mantissas");
      expect_size(in, scales_of(view).size(), "scales");
      std::vector<typename std::remove_cvref_t<decltype(view)>::element_type> mantissas(
          elements_of(view).size());
      std::vector<float> scales(scales_of(view).size());
      read_numbers(in, std::span(mantissas));
      read_numbers(in, std::span(scales));
      take(view, mantissas, scales);
    });
  }

  coded_matrix coded() const override {
    return with_view([](const auto& view) {
      coded_matrix result{format_of(view), view.rows(), view.cols(), {}, {}};
      for (const auto mantissa : elements_of(view))
        result.codes.push_back(low_bits(mantissa, result.format.bits));
      const auto scales = scales_of(view);
      result.scales.assign(scales.begin(), scales.end());
      return result;
    });
  }

  void restore(const coded_matrix& numbers) override {
    with_view([&](const auto& view) {
      using element = typename std::remove_cvref_t<decltype(view)>::element_type;
      numbers.expect(format_of(view), view.rows(), view.cols(), scales_of(view).size());
      std::vector<element> mantissas;
      for (const auto code : numbers.codes)
        mantissas.push_back(static_cast<element>(signed_number(code, numbers.format.bits)));
      take(view, mantissas, numbers.scales);
    });
  }

 private:
  template <class View> static number_format format_of(const View& v) {
    const auto bits = std::bit_width(static_cast<std::uint64_t>(v.largest)) + 1;
    return {number_format::kind::scaled, static_cast<std::uint8_t>(bits), 0};
  }

  /// Mantissas and scales of this shape, which must be some that the format has.
  template <class View, class Mantissa>
  void take(const View& view, const std::vector<Mantissa>& mantissas, std::vector<float> scales) {
    // A tensor takes values, not mantissas. Each is a mantissa times its scale, exact in fp32, and a scale is
    // what the largest mantissa times it asks for.
    auto loaded = view;
    loaded.scales.data = scales.data();
    fp32_matrix values(view.rows(), view.cols());
    for (Eigen::Index j = 0; j < values.cols(); ++j)
      for (Eigen::Index i = 0; i < values.rows(); ++i)
        values(i, j) = static_cast<float>(mantissas[static_cast<std::size_t>(i + j * values.rows())] *
                                          loaded.scale(i, j));
    for (const float scale : scales)
      if (!(scale > 0 && scale <= std::numeric_limits<float>::max()))
        throw std::runtime_error("has a scale of " + std::to_string(scale));
    std::vector<float> largest(scales);
    for (float& x : largest) x *= static_cast<float>(view.largest);
    assign(values, largest);
    with_view([&](const auto& now) {
      bool same = std::ranges::equal(scales_of(now), scales);
      if constexpr (std::same_as<decltype(now), decltype(view)>)
        same = same && std::ranges::equal(elements_of(now), mantissas);
      if (!same) throw std::runtime_error("has numbers that its format has not");
    });
  }
};

template <class Format> class operand final : public integer_operand {
 public:
  void assign(const Eigen::Ref<const fp32_matrix>& values, std::span<const float> clips) override {
    tensor_.assign(view_of(values), typename Format::round_policy{}, clips);
  }
  std::unique_ptr<narrow::assignment_in_parts> assignment(narrow::matrix_view<const float> values,
                                                          std::span<const float> clips) override {
    return std::make_unique<narrow::tensor_assignment<Format, const float>>(tensor_, values, clips);
  }
  void read(fp32_matrix& values) const override {
    values.resize(tensor_.rows(), tensor_.cols());
    tensor_.dequantize(view_of(values));
  }
  block_matrix view() const override { return tensor_.view(); }

 private:
  narrow::block_tensor<Format> tensor_{0, 0, narrow::storage_order::column_major};
};

// One choice after another becomes a template parameter.

template <class T> struct type { using name = T; };

template <class Use> auto with_sharing(sharing s, Use use) {
  switch (s) {
    case sharing::tensor:
      return use(type<narrow::per_tensor>{});
    case sharing::column:
      return use(type<narrow::per_column>{});
    case sharing::row:
      return use(type<narrow::per_row>{});
    case sharing::tile:
      return use(type<narrow::tile<tile_size, tile_size>>{});
  }
  throw std::invalid_argument("unknown sharing");
}

template <class Use> auto with_exponent(exponent_choice e, exponent_bits kept, Use use) {
  const bool one = kept == exponent_bits::one;
  switch (e) {
    case exponent_choice::max:
      return use(type<narrow::exponent::max>{});
    case exponent_choice::min:
      return one ? use(type<narrow::exponent::min<1>>{}) : use(type<narrow::exponent::min<>>{});
    case exponent_choice::avg:
      return one ? use(type<narrow::exponent::avg<1>>{}) : use(type<narrow::exponent::avg<>>{});
  }
  throw std::invalid_argument("unknown exponent policy");
}

using operand_pointer = std::unique_ptr<block_operand>;

template <class Block, class Round, class Exponent> operand_pointer make_bfp(int mantissa) {
  constexpr int narrowest = 2, widest = 16;
  operand_pointer made;
  [&]<int... I>(std::integer_sequence<int, I...>) {
    static_cast<void>(
        ((mantissa == narrowest + I &&
          (made = std::make_unique<operand<narrow::bfp<narrowest + I, Block, Round, Exponent>>>())) ||
         ...));
  }
  (std::make_integer_sequence<int, widest - narrowest + 1>{});
  if (!made)
    throw std::invalid_argument("mantissas of " + std::to_string(mantissa) + " bits: must be 2 to 16");
  return made;
}

}  // namespace

operand_pointer make_operand(const operand_format& format, sharing scales,
                             const std::shared_ptr<const layer_format>& layer) {
  switch (format.kind) {
    case operand_kind::fp32:
    case operand_kind::fixed:
    case operand_kind::words:
    case operand_kind::held_words:
      return make_fixed_operand(format, layer);
    case operand_kind::floating:
      return format.make_floating(format.rounding);
    case operand_kind::bfp:
    case operand_kind::int8:
      break;
  }
  return with_sharing(scales, [&]<class Block>(type<Block>) {
    return with_rounding(format.rounding, [&]<class Round>(Round) -> operand_pointer {
      if (format.kind == operand_kind::int8)
        return std::make_unique<operand<narrow::basic_int8<Block, Round>>>();
      if constexpr (std::same_as<Block, narrow::per_row>)  // of int8 alone, and 90 types less to compile
        throw std::invalid_argument("no recipe has block floating point by rows");
      else
        return with_exponent(format.exponent, format.kept, [&]<class Exponent>(type<Exponent>) {
          return make_bfp<Block, Round, Exponent>(format.mantissa);
        });
    });
  });
}

void read(const block_matrix& numbers, Eigen::Index rows, fp32_matrix& values) {
  std::visit(
      [&](const auto& view) {
        values.resize(rows, view.rows() * view.cols() / rows);
        float* to = values.data();
        for (Eigen::Index j = 0; j < view.cols(); ++j)
          for (Eigen::Index i = 0; i < view.rows(); ++i)
            *to++ = static_cast<float>(view.elements(i, j)) * static_cast<float>(view.scale(i, j));
      },
      numbers);
}

}  // namespace narrow_train
