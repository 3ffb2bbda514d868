// Models of the example trainer as files: what is read infers as what was written, and no damaged file is
// believed.
#include <bit>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "formats/formats.hpp"
#include "trainer_fixtures.hpp"

using namespace narrow_train;
using Catch::Matchers::Contains;

namespace {

class silent final : public observer {
 public:
  void batch_done(std::size_t, float, float, std::uint64_t) override {}
  void epoch_done(const curve_point&) override {}
};

template <class Item> const Item& named(std::span<const Item> items, std::string_view name) {
  const auto found = std::ranges::find(items, name, &Item::name);
  REQUIRE(found != items.end());
  return *found;
}

/// The bits of floats, which tell zeros and NaNs apart.
std::vector<std::uint32_t> bits_of(const fp32_matrix& m) {
  std::vector<std::uint32_t> bits;
  for (Eigen::Index i = 0; i < m.size(); ++i) bits.push_back(std::bit_cast<std::uint32_t>(m.data()[i]));
  return bits;
}

struct exported {
  training_result result;
  evaluated_model read;
  std::string bytes;
};

/// Trains, and evaluates the model that was written.
exported there_and_back(const format& f, training_settings settings, const train_and_test& data) {
  const folder place;
  settings.exports = place.path();
  silent watcher;
  exported all{f.train(settings, data, 5, watcher), {}, {}};
  if (!all.result.diverged.empty()) return all;
  const auto path = model_path(f.adapted(settings), 5);
  all.bytes = place.read(path.filename());
  // Whatever happens in between: drawing random numbers, evaluating another time.
  narrow::seed(77);
  const model_file file = read_model(path);
  CHECK(file.kind == &f);
  static_cast<void>(f.evaluate(file, data.train));
  all.read = f.evaluate(file, data.test);
  CHECK(place.partial_files() == 0);
  return all;
}

void check_same(const exported& e) {
  REQUIRE(e.result.exported.has_value());
  CHECK(e.read.result.accuracy == e.result.curve.back().accuracy);
  CHECK(bits_of(e.read.result.logits) == bits_of(e.result.logits));
  CHECK(e.read.size.file == e.bytes.size());
  CHECK(e.result.exported->file == e.bytes.size());
  CHECK(e.read.size.in_fp32 == e.result.exported->in_fp32);
}

training_settings small(std::string_view network) {
  training_settings s;
  s.network = &named(models(), network);
  s.epochs = 1;
  s.batch = 8;
  s.step.rate = 0.01f;
  return s;
}

train_and_test few_digits() { return {draw_digits(40, 1), draw_digits(21, 2)}; }

/// Bits of a weight in a format, from its name.
int bits_of_weights(std::string_view format, int word_length) {
  const std::map<std::string_view, int> others{{"fp32", 32},       {"fp16", 16}, {"bf16", 16},
                                               {"fixed16_12", 16}, {"int8", 8},  {"fp8", 8}};
  if (const auto found = others.find(format); found != others.end()) return found->second;
  if (format.starts_with("hbfp")) return std::stoi(std::string(format.substr(4)));
  if (format.starts_with("float_e"))
    return 1 + std::stoi(std::string(format.substr(7, 1))) + std::stoi(std::string(format.substr(9)));
  return word_length;
}

}  // namespace

TEST_CASE("numbers are packed to their bits, the lowest first", "[train][model]") {
  for (int bits = 1; bits <= 32; ++bits)
    for (const std::size_t count : {0u, 1u, 2u, 7u, 8u, 9u, 100u}) {
      random_stream random(3, purpose::weights, static_cast<std::uint64_t>(bits));
      std::vector<std::uint32_t> codes;
      for (std::size_t i = 0; i < count; ++i)
        codes.push_back(static_cast<std::uint32_t>(random.below(std::uint64_t{1} << bits)));
      // The oracle: a text of zeros and ones.
      std::string ones;
      for (const auto code : codes)
        for (int b = 0; b < bits; ++b) ones += (code >> b & 1) != 0 ? '1' : '0';
      while (ones.size() % 8 != 0) ones += '0';
      std::string expected;
      for (std::size_t i = 0; i < ones.size(); i += 8) {
        int byte = 0;
        for (std::size_t b = 8; b-- > 0;) byte = 2 * byte + (ones[i + b] == '1' ? 1 : 0);
        expected += static_cast<char>(byte);
      }
      CHECK(packed(codes, bits) == expected);
      CHECK(unpacked(expected, count, bits) == codes);
      CHECK_THROWS_AS(unpacked(expected + "x", count, bits), std::invalid_argument);
    }
  CHECK(low_bits(-1, 5) == 31);
  CHECK(low_bits(-2147483647 - 1, 32) == 0x80000000u);
  CHECK(signed_number(0x80000000u, 32) == -2147483647 - 1);
  CHECK(signed_number(16, 5) == -16);
  CHECK(signed_number(15, 5) == 15);
}

TEST_CASE("a model in every format infers as it did in training, from as many bits as its format has",
          "[train][model]") {
  const auto data = few_digits();
  for (const format& f : formats())
    for (const char* network : {"lenet", "linear"}) {
      INFO(std::string(f.name) << ' ' << network);
      const exported e = there_and_back(f, small(network), data);
      if (!e.result.diverged.empty()) {  // 4 is infinite in it
        CHECK(f.name == "float_e2m16");
        CHECK_FALSE(e.result.exported.has_value());
        continue;
      }
      check_same(e);
      if (std::string_view(network) == "linear") {
        // 7840 weights, their scale where they have one, and ten biases. The rest: what is said of them.
        std::map<std::string, int> last;
        for (const format_change& c : e.result.formats) last[c.layer] = c.format.word_length;
        const int bits = bits_of_weights(f.name, last["weights 1"]);
        CHECK(e.read.size.bits_per_weight == bits);
        const bool scaled =
            f.quantised && f.quantised->weights.kind != operand_kind::fixed && !f.name.starts_with("float_");
        const std::size_t numbers = static_cast<std::size_t>(7840 * bits + 7) / 8 + (scaled ? 4 : 0) + 40;
        CHECK(e.bytes.size() > numbers);
        CHECK(e.bytes.size() < numbers + 450);
        CHECK(e.read.size.in_fp32 == e.bytes.size() - numbers + 40 + 7840 * 4);
        CHECK(e.read.size.in_fp16 == e.bytes.size() - numbers + 40 + 7840 * 2);
      }
    }
}

TEST_CASE("deep networks are kept whole, buffers of batch normalisation too", "[train][model]") {
  const train_and_test data{draw_digits(12, 1), draw_digits(5, 2)};
  for (const char* network : {"resnet20", "mobilenet"})
    for (const char* name : {"fp32", "fp16", "fixed16_12", "hbfp6", "int8", "marvin", "muppet", "fp8"}) {
      INFO(name << ' ' << network);
      auto settings = small(network);
      settings.batch = 4;
      check_same(there_and_back(named(formats(), name), settings, data));
    }
}

TEST_CASE("what changes the products in inference is kept with the model", "[train][model]") {
  const auto data = few_digits();
  const auto check = [&](const char* name, const char* network, auto change) {
    INFO(name << ' ' << network);
    auto settings = small(network);
    change(settings);
    const exported e = there_and_back(named(formats(), name), settings, data);
    check_same(e);
    return e;
  };
  using settings = training_settings;
  check("fp16", "lenet", [](settings& s) { s.products.sums = accumulation::narrow; });
  check("fp16", "lenet", [](settings& s) { s.master = master_copy::absent; });
  check("int8", "lenet", [](settings& s) {
    s.recipes.rounding = rounding_choice::stochastic;
    s.recipes.weight_scales = sharing::tile;
    s.recipes.clip = gradient_clip::both;
  });
  for (const auto exponent : {exponent_choice::min, exponent_choice::avg})
    check("hbfp5", "lenet", [&](settings& s) {
      s.recipes.exponent = exponent;
      s.recipes.rounding = rounding_choice::nearest;
      s.recipes.output = recipe::product_output::saturating;
    });
  for (const char* network : {"lenet", "mobilenet"}) {
    const auto tiled = [](settings& s) { s.recipes.weight_scales = sharing::tile; };
    const auto narrow = check("hbfp4", network, tiled);
    // The wider copy is not in the file: products do not use it.
    const auto wide = check("hbfp4", network, [&](settings& s) {
      tiled(s);
      s.recipes.stored_mantissa = 12;
    });
    CHECK(wide.bytes.size() == narrow.bytes.size());
    CHECK(wide.read.result.logits != narrow.read.result.logits);
  }
}

TEST_CASE("layers that switched formats are as large as their words", "[train][model]") {
  const train_and_test data{draw_digits(320, 1), draw_digits(21, 2)};
  for (const char* name : {"marvin", "marvin_extension"}) {
    auto settings = small("mlp");
    settings.epochs = 2;
    settings.step.rate = 0.02f;
    const exported e = there_and_back(named(formats(), name), settings, data);
    check_same(e);
    std::map<std::string, int> last;
    for (const format_change& c : e.result.formats) last[c.layer] = c.format.word_length;
    REQUIRE(last.size() == 3);
    CHECK(last != std::map<std::string, int>{{"weights 1", 8}, {"weights 2", 8}, {"weights 3", 8}});
    const double bits =
        256.0 * 784 * last["weights 1"] + 128.0 * 256 * last["weights 2"] + 10.0 * 128 * last["weights 3"];
    CHECK(e.read.size.bits_per_weight == Approx(bits / (256 * 784 + 128 * 256 + 1280)));
  }
}

TEST_CASE("matrices in every format are their codes and scales", "[train][model]") {
  fp32_matrix values = spread(50, 30, 0.01f, 1);
  values.row(7) *= 1e-30f;
  values.col(3).setZero();
  const auto layer = std::make_shared<layer_format>(), other = std::make_shared<layer_format>();
  const auto check = [&](const operand_format& format, sharing scales) {
    const auto a = make_operand(format, scales, layer), b = make_operand(format, scales, other);
    for (const fp32_matrix& m :
         {values, fp32_matrix(-1e20f * values), fp32_matrix(fp32_matrix::Zero(50, 30))}) {
      a->assign(m);
      b->assign(fp32_matrix::Zero(50, 30));
      const coded_matrix codes = a->coded();
      REQUIRE(codes.codes.size() == 1500);
      CHECK(std::uint64_t{std::ranges::max(codes.codes)} >> codes.format.bits == 0);
      std::stringstream file;
      write_coded(file, codes);
      b->restore(read_coded(file, 50, 30));
      CHECK(bits_of(b->values()) == bits_of(a->values()));
      CHECK(b->scale_count() == a->scale_count());
      CHECK(b->coded().codes == codes.codes);
      CHECK(b->coded().scales == codes.scales);

      // Another shape, another format, other scales, numbers that it has not.
      auto wrong = codes;
      std::swap(wrong.rows, wrong.cols);
      CHECK_THROWS_AS(b->restore(wrong), std::runtime_error);
      wrong = codes;
      wrong.format.what = number_format::kind((static_cast<int>(wrong.format.what) + 1) % 3);
      CHECK_THROWS(b->restore(wrong));
      wrong = codes;
      wrong.scales.push_back(1);
      CHECK_THROWS(b->restore(wrong));
      if (codes.scales.empty()) continue;
      for (const float scale : {-1.0f, 0.0f, std::nanf(""), std::numeric_limits<float>::infinity()}) {
        wrong = codes;
        wrong.scales.back() = scale;
        CHECK_THROWS(b->restore(wrong));
      }
    }
  };
  for (const int mantissa : {2, 3, 8, 9, 12, 16, 0})
    for (const auto exponent : {exponent_choice::max, exponent_choice::min, exponent_choice::avg})
      for (const auto scales : {sharing::tensor, sharing::column, sharing::row, sharing::tile}) {
        const bool int8 = mantissa == 0;
        if (scales == sharing::row && !int8) continue;  // no recipe has it
        operand_format format = (int8 ? recipe::int8() : recipe::hbfp(mantissa)).weights;
        format.exponent = exponent;
        check(format, scales);
      }
  for (const char* name : {"fp8", "float_e8m1", "float_e2m16", "float_e6m16"})
    check(named(formats(), name).quantised->weights, sharing::tensor);
  for (const int wl : {2, 8, 9, 16, 17, 25, 32})
    for (const auto kind : {operand_kind::fixed, operand_kind::words, operand_kind::held_words}) {
      *layer = {wl, wl / 2};
      operand_format format;
      format.kind = kind;
      check(format, sharing::tensor);
    }
  check({.kind = operand_kind::fp32}, sharing::tensor);
  // A mantissa without its positive counterpart.
  const auto a = make_operand(recipe::hbfp(8).weights, sharing::tensor, layer);
  a->assign(values);
  auto wrong = a->coded();
  wrong.codes[5] = 0x80;
  CHECK_THROWS_WITH(a->restore(wrong), Contains("numbers that its format has not"));
}

namespace {

/// The message of the data_error that reading and evaluating ends with: one line that names the file.
std::string refusal(const std::filesystem::path& path, const dataset& images) {
  try {
    const model_file file = read_model(path);
    require_fit(file, images, "these");
    static_cast<void>(file.kind->evaluate(file, images));
  } catch (const data_error& e) {
    const std::string message = e.what();
    if (message.find('\n') == message.npos && message.find(path.string()) != message.npos) return message;
    return "bad message: " + message;
  }
  return "nothing was thrown";
}

/// A small model as a file.
struct written {
  folder place;
  std::filesystem::path path;
  dataset images = draw_digits(3, 2);
  std::string bytes;

  explicit written(const char* name) {
    const format& f = named(formats(), name);
    auto settings = small("linear");
    settings.exports = place.path();
    silent watcher;
    f.train(settings, {draw_digits(16, 1), images}, 5, watcher);
    path = model_path(f.adapted(settings), 5);
    CHECK(path.filename() == "linear-" + std::string(name) + "-5.model");
    bytes = place.read(path.filename());
  }
  std::string with(const std::string& changed) const {
    place.write(path.filename(), changed);
    return refusal(path, images);
  }
};

}  // namespace

TEST_CASE("no damage to a model goes unnoticed", "[train][model]") {
  const written model("hbfp2");
  CHECK(refusal(model.path, model.images) == "nothing was thrown");
  for (std::size_t length = 0; length < model.bytes.size(); ++length)
    if (const auto m = model.with(model.bytes.substr(0, length)); m.find("ends too early") == m.npos)
      FAIL(length << ": " << m);
  for (std::size_t place = 0; place < model.bytes.size(); ++place) {
    auto damaged = model.bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << place % 8));
    const auto m = model.with(damaged);
    if (m.find("damaged") == m.npos && m.find("ends too early") == m.npos && m.find("is no model") == m.npos)
      FAIL(place << ": " << m);
  }
  CHECK_THAT(model.with(model.bytes + "x"), Contains("longer"));
  CHECK_THAT(model.with(model.bytes + model.bytes), Contains("longer"));
  CHECK_THAT(model.with(""), Contains("ends too early"));
  CHECK_THAT(model.with("narrow checkpoint 1\n"), Contains("is no model"));
  CHECK_THAT(model.with(std::string(5000, '\0')), Contains("is no model"));
  CHECK_THAT(refusal(model.place.path() / "none" / "a.model", model.images), Contains("cannot be opened"));
  CHECK_THAT(refusal(model.place.path(), model.images), Contains("cannot be opened"));
}

TEST_CASE("whole files that are of no use are refused, with the reason", "[train][model]") {
  const written model("fp8");
  const file_kind kind{"model", 1};
  const section_file whole = read_sections(model.path, kind);
  std::vector<setting> settings = whole.settings;
  std::vector<section> sections = whole.sections;
  const auto complaint = [&] {
    std::vector<saved_part> parts;
    for (const section& s : sections)
      parts.push_back({s.name, [&s](std::ostream& out) { out << s.contents; }, {}});
    write_sections(model.path, kind, settings, parts);
    settings = whole.settings;
    sections = whole.sections;
    return refusal(model.path, model.images);
  };
  CHECK(complaint() == "nothing was thrown");

  const auto told = [&](const std::string& name, const std::string& value) {
    std::ranges::find(settings, name, &setting::name)->value = value;
    return complaint();
  };
  CHECK_THAT(told("--formats", "fp99"), Contains("unknown --formats: fp99"));
  CHECK_THAT(told("--model", "lenet6"), Contains("unknown --model: lenet6"));
  CHECK_THAT(told("--model", "mlp"), Contains("has no weights 2"));
  CHECK_THAT(told("--batch", "0"), Contains("unknown --batch: 0"));
  CHECK_THAT(told("--batch", "99999999999"), Contains("unknown --batch"));
  CHECK_THAT(told("--seed", "-1"), Contains("unknown --seed"));
  CHECK_THAT(told("--accumulate", "big"), Contains("unknown --accumulate"));
  CHECK_THAT(told("height", "27"), Contains("is for images of 27 x 28 x 1 in 10 classes, not for these"));
  CHECK_THAT(told("classes", "11"), Contains("28 x 28 x 1 in 11 classes"));
  CHECK_THAT(told("channels", "2"), Contains("2 channels"));
  CHECK_THAT(told("pixel-means", "nan"), Contains("unknown pixel-means"));
  CHECK_THAT(told("pixel-scales", ""), Contains("1 channels"));
  // Formats that store tensors in other ways.
  CHECK_THAT(told("--formats", "fp16"), Contains("activations 1, which its network has not"));
  CHECK_THAT(told("--formats", "int8"), Contains("activations 1, which its network has not"));
  CHECK_THAT(told("--formats", "muppet"), Contains("has unusable weights 1") && Contains("float<4, 3>"));
  settings.erase(settings.begin());
  CHECK_THAT(complaint(), Contains("does not say its --formats"));
  settings.push_back({"--wings", "2"});
  CHECK_THAT(complaint(), Contains("--wings 2, which means nothing"));
  settings.push_back({"--rounding", "up"});
  CHECK_THAT(complaint(), Contains("unknown --rounding: up"));

  sections.push_back({"weights 2", "x"});
  CHECK_THAT(complaint(), Contains("has weights 2, which its network has not"));
  sections.erase(sections.begin() + 1);
  CHECK_THAT(complaint(), Contains("has no biases 1"));
  sections[0].contents += '\0';
  CHECK_THAT(complaint(), Contains("weights 1: is longer"));
  sections[0].contents.pop_back();
  CHECK_THAT(complaint(), Contains("weights 1: ends too early"));
  // Kind, bits, fraction; rows; columns; scales: see write_coded.
  const auto byte = [&](std::size_t section, std::size_t place, int value) {
    sections[section].contents[place] = static_cast<char>(value);
    return complaint();
  };
  CHECK_THAT(byte(0, 0, 3), Contains("unknown format"));
  CHECK_THAT(byte(0, 0, 1), Contains("fixed<8, 3> instead of float<4, 3>"));
  CHECK_THAT(byte(0, 1, 0), Contains("unknown format"));
  CHECK_THAT(byte(0, 1, 33), Contains("unknown format"));
  CHECK_THAT(byte(0, 2, 8), Contains("unknown format"));
  CHECK_THAT(byte(0, 2, 2), Contains("float<5, 2> instead of float<4, 3>"));
  CHECK_THAT(byte(0, 6, 0x7f), Contains("instead of 10 x 784"));
  CHECK_THAT(byte(0, 14, 0x7f), Contains("scales"));
  CHECK_THAT(byte(0, 18, 0xff), Contains("a scale of"));
  const std::size_t end = whole.sections[0].contents.size();
  CHECK_THAT(byte(0, end - 2, 1), Contains("word length"));
  CHECK_THAT(byte(0, end - 1, 40), Contains("fraction length"));
  CHECK(sections.back().name == "activations 1");
  CHECK_THAT(byte(sections.size() - 1, 3, 0xff), Contains("largest magnitude"));
  CHECK(complaint() == "nothing was thrown");
}

TEST_CASE("a model that cannot be written leaves the last one", "[train][model]") {
  const folder place;
  const train_and_test data{draw_digits(16, 1), draw_digits(3, 2)};
  const format& f = named(formats(), "hbfp8");
  auto settings = small("linear");
  const auto complaint = [&] {
    silent watcher;
    try {
      f.train(settings, data, 5, watcher);
    } catch (const data_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  settings.exports = place.path() / "none";
  CHECK_THAT(complaint(), Contains("cannot write") && Contains("linear-hbfp8-5.model"));
  CHECK_FALSE(std::filesystem::exists(settings.exports));

  settings.exports = place.path();
  const std::string name = "linear-hbfp8-5.model";
  CHECK(complaint().empty());
  const auto before = place.read(name);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, before.size() - 1}) {
    const std::string message = [&] {
      const limited_files full(bytes);
      return complaint();
    }();
    CHECK_THAT(message, Contains("cannot write") && Contains("File too large"));
    CHECK((place.read(name) == before));
    CHECK(std::distance(std::filesystem::directory_iterator(place.path()), {}) == 1);
  }
  settings.step.rate = 1e38f;  // it diverges: its numbers are of no use
  settings.epochs = 4;
  CHECK(complaint().empty());
  CHECK((place.read(name) == before));

  std::filesystem::remove(place.path() / name);
  std::filesystem::create_directory(place.path() / name);
  settings.step.rate = 0.01f;
  settings.epochs = 1;
  CHECK_THAT(complaint(), Contains("cannot write"));
  CHECK(place.partial_files() == 0);
}
