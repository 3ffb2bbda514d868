// The example trainer as a whole: every format trains and repeats itself; options, curves and the final
// table.
#ifdef __linux__
#include <sched.h>
#endif
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "files/whole_file.hpp"
#include "formats/formats.hpp"
#include "formats/stored_format.hpp"
#include "options/options.hpp"
#include "report/report.hpp"
#include "tensor/parallel.hpp"
#include "trainer_fixtures.hpp"
#include "training/train_network.hpp"

using namespace narrow_train;

namespace {

class silent final : public observer {
 public:
  void batch_done(std::size_t images, float, float, std::uint64_t) override { images_ += images; }
  void epoch_done(const curve_point&) override { ++epochs_; }
  std::size_t images_ = 0;
  int epochs_ = 0;
};

train_and_test few_digits() { return {draw_digits(600, 1), draw_digits(200, 2)}; }

/// What the curve says about the weights, without the time it took.
std::string fingerprint(const training_result& r) {
  std::ostringstream text;
  text.precision(17);
  for (const auto& p : r.curve)
    text << p.epoch << ' ' << p.step << ' ' << p.loss << ' ' << p.accuracy << ' ' << p.skipped << '\n';
  return text.str();
}

}  // namespace

TEST_CASE("every format trains, and twice the same", "[train][run]") {
  const auto data = few_digits();
  training_settings settings;
  settings.epochs = 4;
  settings.batch = 16;
  settings.optimizer = &optimizers().back();
  settings.step.rate = settings.optimizer->usual_rate;
  for (const format& f : formats()) {
    INFO(std::string(f.name));
    silent watcher;
    const auto first = f.train(settings, data, 1, watcher);
    if (f.name == "float_e2m16") {  // 4 is infinite: it cannot train, see Drumond et al. (2018), Table 1
      CHECK_FALSE(first.diverged.empty());
      continue;
    }
    REQUIRE(first.curve.size() == 4);
    CHECK(watcher.images_ == 2400);
    CHECK(watcher.epochs_ == 4);
    CHECK(first.curve.back().step == 4 * 38);
    if (f.name != "hbfp2" && f.name != "hbfp3") {  // their weights are all that is kept of them: too few bits
      CHECK(first.curve.back().accuracy > 0.3);    // hbfp4: 0.41, a guess: 0.1
      CHECK(first.curve.back().loss < first.curve.front().loss);
    }
    training_settings shorter = settings;
    shorter.epochs = 1;
    const auto again = f.train(shorter, data, 1, watcher), other = f.train(shorter, data, 2, watcher);
    CHECK(fingerprint(again) == fingerprint(first).substr(0, fingerprint(again).size()));
    CHECK(fingerprint(again) != fingerprint(other));
  }
}

TEST_CASE("in fp32 a loss scale that is a power of two changes nothing", "[train][run]") {
  const auto data = few_digits();
  training_settings settings;
  settings.epochs = 1;
  settings.step.rate = 0.01f;
  silent watcher;
  settings.loss_scale = "none";
  const auto plain = stored_format<float>::train(settings, data, 1, watcher);
  settings.loss_scale = "1024";
  CHECK(fingerprint(stored_format<float>::train(settings, data, 1, watcher)) == fingerprint(plain));
  settings.products.sums = accumulation::narrow;  // fp32 sums are as narrow as they get
  CHECK(fingerprint(stored_format<float>::train(settings, data, 1, watcher)) == fingerprint(plain));
}

namespace {

/// parse() of a command line; a refusal's message goes to `complaint`.
std::optional<options> parse_line(std::vector<const char*> words, int& exit_code, std::string& complaint) {
  words.insert(words.begin(), "train");
  std::ostringstream captured;
  auto* const before = std::cerr.rdbuf(captured.rdbuf());
  auto result = parse(static_cast<int>(words.size()), words.data(), exit_code);
  std::cerr.rdbuf(before);
  complaint = captured.str();
  return result;
}

}  // namespace

TEST_CASE("options are read", "[train][options]") {
  int exit_code = 0;
  std::string complaint;
  const auto plain = parse_line({}, exit_code, complaint);
  REQUIRE(plain.has_value());
  std::string names;
  for (const format* f : plain->formats) names += std::string(f->name) + ' ';
  CHECK(names == "fp32 fp16 bf16 hbfp8 int8 ");
  CHECK_FALSE(plain->training.recipes.rounding.has_value());
  CHECK(plain->training.step.rate == optimizers().front().usual_rate);
  CHECK(plain->training.network->name == "lenet");
  CHECK(plain->data->name == "digits");

  const auto o = parse_line({"--formats", "fp16", "--seed", "4,5", "--model", "mlp", "--optimizer", "adam",
                             "--lr", "0.5", "--no-master", "--loss-scale", "128", "--accumulate", "narrow",
                             "--dataset", "mnist", "--data", "somewhere"},
                            exit_code, complaint);
  REQUIRE(o.has_value());
  REQUIRE(o->formats.size() == 1);
  CHECK(o->formats[0]->name == "fp16");
  CHECK(o->seeds == std::vector<std::uint64_t>{4, 5});
  CHECK(o->training.network->name == "mlp");
  CHECK(o->training.optimizer->name == "adam");
  CHECK(o->training.step.rate == 0.5f);
  CHECK(o->training.master == master_copy::absent);
  CHECK(o->training.products.sums == accumulation::narrow);
  CHECK(make_scaler(o->training.loss_scale).scale() == 128);
  CHECK(o->folder == "somewhere");
}

TEST_CASE("options of block formats are read", "[train][options]") {
  int exit_code = 0;
  std::string complaint;
  const auto o =
      parse_line({"--formats", "hbfp4,int8", "--rounding", "nearest", "--exponent", "avg", "--tile", "24"},
                 exit_code, complaint);
  REQUIRE(o.has_value());
  const recipe_choices& choices = o->training.recipes;
  REQUIRE(o->formats[0]->quantised.has_value());
  const narrow_train::recipe r = choices.applied_to(*o->formats[0]->quantised);
  CHECK(r.weights.mantissa == 4);
  for (const operand_format& f : {r.weights, r.activations, r.gradients}) {
    CHECK(f.rounding == rounding_choice::nearest);
    CHECK(f.exponent == exponent_choice::avg);
  }
  CHECK(r.weight_scales == sharing::tile);
  CHECK(r.sample_scales == sharing::column);
}

TEST_CASE("what exponents keep is an option of those that keep something", "[train][options]") {
  int exit_code = 0;
  std::string complaint;
  using words = std::vector<const char*>;
  for (const char* exponent : {"min", "avg"})
    for (const auto& [bits, kept] : exponent_bit_choices) {
      const std::string text(bits);
      const auto o =
          parse_line({"--formats", "hbfp8", "--exponent", exponent, "--exponent-bits", text.c_str()},
                     exit_code, complaint);
      REQUIRE(o.has_value());
      CHECK(o->training.recipes.applied_to(*o->formats[0]->quantised).gradients.kept == kept);
    }
  for (const words& line : {words{"--exponent-bits", "1", "--formats", "hbfp8"},
                            {"--exponent-bits", "1", "--formats", "hbfp8", "--exponent", "max"},
                            {"--exponent-bits", "1", "--formats", "int8"},
                            {"--exponent-bits", "2", "--formats", "hbfp8", "--exponent", "min"}}) {
    CHECK_FALSE(parse_line(line, exit_code, complaint).has_value());
    CHECK(exit_code == 2);
    CHECK(complaint.find("--exponent-bits") != std::string::npos);
    CHECK(std::ranges::count(complaint, '\n') == 1);
  }
}

TEST_CASE("options of recipes are read", "[train][options]") {
  int exit_code = 0;
  std::string complaint;
  const auto o =
      parse_line({"--formats", "hbfp8,int8,marvin", "--clip", "both", "--weight-bits", "12",
                  "--saturate-output", "--push-up", "printed", "--buffer-bits", "8", "--lookback-weight",
                  "0.5", "--l1", "0.25", "--init", "truncated", "--threads", "2"},
                 exit_code, complaint);
  REQUIRE(o.has_value());
  const auto with_choices = [&](std::size_t i) {
    return o->training.recipes.applied_to(*o->formats[i]->quantised);
  };
  CHECK(with_choices(0).stored_mantissa == 12);
  CHECK_FALSE(with_choices(1).stored_mantissa.has_value());
  CHECK(with_choices(1).clip == gradient_clip::both);
  CHECK(with_choices(0).clip == gradient_clip::global);
  CHECK(with_choices(2).output == recipe::product_output::saturating);
  CHECK(o->training.switching.push_up == narrow::push_up_form::printed);
  CHECK(o->training.switching.buffer_bits == 8);
  CHECK(o->training.switching.gamma == 0.5);
  CHECK(o->training.l1 == 0.25f);
  CHECK(o->training.start_weights == initial_weights::truncated);
  CHECK(o->threads == 2);
}

TEST_CASE("options that make no sense are refused in one line that names them", "[train][options]") {
  using words = std::vector<const char*>;
  const std::vector<words> wrong{{"--lr", "0"},
                                 {"--lr", "nan"},
                                 {"--lr", "x"},
                                 {"--epochs", "0"},
                                 {"--batch", "0"},
                                 {"--batch", "1.5"},
                                 {"--momentum", "1"},
                                 {"--weight-decay", "-1"},
                                 {"--clip-norm", "-1"},
                                 {"--loss-scale", "0"},
                                 {"--loss-scale", "-1"},
                                 {"--loss-scale", "inf"},
                                 {"--loss-scale", "2x"},
                                 {"--loss-weight", "0"},
                                 {"--limit", "-3"},
                                 {"--formats", "fp99"},
                                 {"--model", "resnet"},
                                 {"--optimizer", "lion"},
                                 {"--dataset", "mnist"},
                                 {"--data", "folder"},
                                 {"--accumulate", "big"},
                                 {"--seed", "-1"},
                                 {"--seed", "18446744073709551616"},
                                 {"--seed", "010"},
                                 {"--epochs", "010"},
                                 {"--batch", "-010"},
                                 {"--lr", "1e-50"},
                                 {"--clip-norm", "1e-50"},
                                 {"--loss-weight", "1e-46"},
                                 {"--jobs", "0"},
                                 {"--lr-decay", "1.5"},
                                 {"--augment", "flip"},
                                 {"--warmup", "-1"},
                                 {"--warmup", "5"},
                                 {"--schedule", "linear"},
                                 {"--milestones", "2", "--schedule", "step"},
                                 {"--milestones", "0.75,0.5", "--schedule", "step"},
                                 {"--milestones", "0.5,0.5", "--schedule", "step"},
                                 {"--lr-factor", "0", "--schedule", "step"},
                                 {"--lr-factor", "nan", "--schedule", "plateau"},
                                 {"--patience", "-1", "--schedule", "plateau"},
                                 {"--patience", "1.5", "--schedule", "plateau"},
                                 {"--accumulate-steps", "0"},
                                 {"--accumulate-steps", "x"},
                                 {"--nonsense", "1"},
                                 {"--rounding", "up"},
                                 {"--exponent", "mean"},
                                 {"--tile", "23"}};
  for (const auto& line : wrong) {
    int exit_code = 0;
    std::string complaint;
    INFO(line[0] << ' ' << line[1]);
    CHECK_FALSE(parse_line(line, exit_code, complaint).has_value());
    CHECK(exit_code == 2);
    CHECK(complaint.find(line[0]) != std::string::npos);
    CHECK(complaint.find(line[1]) != std::string::npos);
    CHECK(std::ranges::count(complaint, '\n') == 1);
  }
}

TEST_CASE("options of formats that are not selected are refused", "[train][options]") {
  const std::vector<std::vector<const char*>> wrong{{"--rounding", "nearest", "--formats", "fp32,fp16"},
                                                    {"--tile", "24", "--formats", "bf16"},
                                                    {"--exponent", "min", "--formats", "fp16,int8"},
                                                    {"--clip", "both", "--formats", "hbfp8"},
                                                    {"--weight-bits", "12", "--formats", "int8"},
                                                    {"--push-up", "printed", "--formats", "muppet"},
                                                    {"--buffer-bits", "8", "--formats", "fp32"},
                                                    {"--no-master", "--formats", "fp16,marvin"},
                                                    {"--no-master", "--formats", "fp32,hbfp8"},
                                                    {"--accumulate", "narrow", "--formats", "fp32,int8"},
                                                    {"--momentum", "0.5", "--optimizer", "adam"}};
  for (const auto& line : wrong) {
    int exit_code = 0;
    std::string complaint;
    INFO(line[0] << ' ' << line[1]);
    CHECK_FALSE(parse_line(line, exit_code, complaint).has_value());
    CHECK(exit_code == 2);
    CHECK(complaint.find(line[0]) != std::string::npos);
    CHECK(std::ranges::count(complaint, '\n') == 1);
  }
}

TEST_CASE("options of schedules and checkpoints are read", "[train][options]") {
  int exit_code = 0;
  std::string complaint;
  const auto plain = parse_line({}, exit_code, complaint);
  REQUIRE(plain.has_value());
  CHECK(plain->training.schedule.kind->name == "decay");
  CHECK(plain->training.accumulate_steps == 1);
  CHECK(plain->training.augment == augmentation::none);
  CHECK(plain->training.checkpoints.empty());
  const auto o = parse_line(
      {"--schedule", "step", "--milestones", "0.25,0.5,0.875", "--lr-factor", "0.5", "--warmup", "0.5",
       "--accumulate-steps", "4", "--checkpoint", "there", "--resume", "--augment", "crop-flip"},
      exit_code, complaint);
  REQUIRE(o.has_value());
  CHECK(o->training.schedule.kind->name == "step");
  CHECK(o->training.schedule.milestones == std::vector<double>{0.25, 0.5, 0.875});
  CHECK(o->training.schedule.factor == 0.5f);
  CHECK(o->training.schedule.warmup == 0.5);
  CHECK(o->training.accumulate_steps == 4);
  CHECK(o->training.checkpoints == "there");
  CHECK(o->training.start == run_start::checkpoint);
  CHECK(o->training.augment == augmentation::crop_and_flip);

  const auto augment = [&](std::vector<const char*> more) {
    more.insert(more.end(), {"--data", "d"});
    return parse_line(more, exit_code, complaint).value().training.augment;
  };
  CHECK(augment({"--dataset", "cifar10"}) == augmentation::crop_and_flip);
  CHECK(augment({"--dataset", "cifar10", "--augment", "none"}) == augmentation::none);
  CHECK(augment({"--dataset", "mnist"}) == augmentation::none);
}

TEST_CASE("options without what they need are refused", "[train][options]") {
  const std::vector<std::vector<const char*>> wrong{{"--lr-decay", "0.5", "--schedule", "step"},
                                                    {"--milestones", "0.5"},
                                                    {"--lr-factor", "0.5", "--schedule", "cosine"},
                                                    {"--patience", "3", "--schedule", "step"},
                                                    {"--resume"},
                                                    {"--seed", "1,x"},
                                                    {"--seed", "1,1", "--checkpoint", "there"},
                                                    {"--formats", "fp32,fp32", "--checkpoint", "x"},
                                                    {"--other-build", "--checkpoint", "there"},
                                                    {"--warmup", "3", "--epochs", "2"}};
  for (const auto& line : wrong) {
    int exit_code = 0;
    std::string complaint;
    INFO(line[0]);
    CHECK_FALSE(parse_line(line, exit_code, complaint).has_value());
    CHECK(exit_code == 2);
    CHECK(complaint.find(line[0]) != std::string::npos);
    CHECK(std::ranges::count(complaint, '\n') == 1);
  }
}

TEST_CASE("options of models as files are read, and those of training refused beside --eval",
          "[train][options]") {
  int exit_code = 0;
  std::string complaint;
  const auto training = parse_line({"--export", "there"}, exit_code, complaint);
  REQUIRE(training.has_value());
  CHECK(training->training.exports == "there");
  CHECK(training->models.empty());
  const auto o =
      parse_line({"--eval", "a.model,b.model", "--dataset", "mnist", "--data", "d", "--threads", "2"},
                 exit_code, complaint);
  REQUIRE(o.has_value());
  CHECK(o->models == std::vector<std::filesystem::path>{"a.model", "b.model"});
  CHECK(o->threads == 2);
  CHECK(o->folder == "d");

  const std::vector<std::vector<const char*>> wrong{{"--epochs", "2", "--eval", "a"},
                                                    {"--checkpoint", "d", "--eval", "a"},
                                                    {"--resume", "--eval", "a"},
                                                    {"--export", "d", "--eval", "a"},
                                                    {"--formats", "fp16", "--eval", "a"},
                                                    {"--model", "mlp", "--eval", "a"},
                                                    {"--batch", "8", "--eval", "a"},
                                                    {"--rounding", "nearest", "--eval", "a"},
                                                    {"--no-master", "--eval", "a"},
                                                    {"--seed", "1,1", "--export", "d"},
                                                    {"--formats", "fp32,fp32", "--export", "d"},
                                                    {"--export"},
                                                    {"--eval"},
                                                    {"--eval", ""}};
  for (const auto& line : wrong) {
    INFO(line[0]);
    exit_code = 0;
    CHECK_FALSE(parse_line(line, exit_code, complaint).has_value());
    CHECK(exit_code == 2);
    CHECK(complaint.find(line[0]) != std::string::npos);
    CHECK(std::ranges::count(complaint, '\n') == 1);
  }
}

TEST_CASE("models as files, in one line each", "[train][report]") {
  const format& f = formats().front();
  std::vector<run> runs{{&f, 1, {}, true}, {&f, 2, {}, true}};
  runs[0].result.exported = {25000, 100000, 50000, 8.25};
  training_settings settings;
  settings.exports = "there";
  std::ostringstream models;
  print_models(models, runs, settings);
  CHECK(
      models.str() ==
      "there/lenet-fp32-1.model has 25000 bytes, 8.2 bits a weight: 25.0 % of the 100000 in fp32, 50.0 % of "
      "the 50000 in fp16\n"
      "there/lenet-fp32-2.model was not written: the run diverged\n");

  std::vector<evaluated_file> files(1);
  files[0].model.kind = &f;
  files[0].model.contents.path = "there/a.model";
  files[0].outcome = {{0.975, {}}, {25000, 100000, 50000, 8.25}};
  std::ostringstream table;
  print_evaluations(table, files);
  CHECK(std::ranges::count(table.str(), '\n') == 2);
  for (const char* part : {"there/a.model   lenet ", " fp32 ", " 97.50 % ", " 25000 ", " 100000 ", " 50000 ",
                           " 25.0 % ", " 50.0 %\n"}) {
    INFO(part);
    CHECK(table.str().find(part) != std::string::npos);
  }
}

TEST_CASE("gradients of several batches make the steps of one large batch", "[train][run]") {
  const train_and_test data{draw_digits(96, 1), draw_digits(50, 2)};
  training_settings settings;
  settings.network = &models().back();
  settings.epochs = 2;
  settings.step.rate = 0.01f;
  silent watcher;
  settings.batch = 48;
  const auto large = stored_format<float>::train(settings, data, 1, watcher);
  settings.batch = 16;
  settings.accumulate_steps = 3;
  const auto small = stored_format<float>::train(settings, data, 1, watcher);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(small.curve[i].step == 2 * (i + 1));
    CHECK(small.curve[i].step == large.curve[i].step);
    CHECK(double{small.curve[i].loss} == Approx(double{large.curve[i].loss}).epsilon(1e-5));
    CHECK(small.curve[i].accuracy == large.curve[i].accuracy);
  }
  settings.accumulate_steps = 4;  // the last step of an epoch has two batches
  CHECK(stored_format<float>::train(settings, data, 1, watcher).curve.back().step == 4);
  settings.accumulate_steps = 100;
  CHECK(stored_format<float>::train(settings, data, 1, watcher).curve.back().step == 2);
}

TEST_CASE("a run that diverges ends there, and says so", "[train][run]") {
  class counting final : public observer {
   public:
    void batch_done(std::size_t, float, float, std::uint64_t) override {}
    void epoch_done(const curve_point&) override { ++epochs; }
    void epochs_left_out(int count) override { left_out += count; }
    int epochs = 0, left_out = 0;
  };
  const auto data = few_digits();
  training_settings settings;
  settings.network = &models().back();
  settings.batch = 100;
  for (const char* name : {"fp32", "fp16", "bf16", "hbfp8", "int8"}) {
    INFO(name);
    counting watcher;
    settings.step.rate = 1e38f;
    const auto& f = *std::ranges::find(formats(), std::string_view(name), &format::name);
    const auto result = f.train(settings, data, 1, watcher);
    CHECK_FALSE(result.diverged.empty());
    CHECK(result.curve.size() < 4);
    CHECK(result.curve.back().nonfinite > 0);
    CHECK(watcher.epochs == static_cast<int>(result.curve.size()));
    CHECK(watcher.left_out == 4 - watcher.epochs);
    settings.step.rate = 0.001f;
    const auto good = f.train(settings, data, 1, watcher);
    CHECK(good.diverged.empty());
    CHECK(good.curve.size() == 4);
    CHECK(good.curve.back().nonfinite == 0);
  }
}

TEST_CASE("steps without a gradient are counted, in every format", "[train][run]") {
  const train_and_test data{draw_digits(160, 1), draw_digits(20, 2)};
  training_settings settings;
  settings.network = &models().back();
  settings.epochs = 2;
  settings.step.rate = 0.01f;
  settings.step.weight_decay = 0.1f;  // it moves weights, and is no training
  silent watcher;
  int lost = 0, kept = 0;
  for (const format& f : formats()) {
    INFO(std::string(f.name));
    if (f.name == "float_e2m16") continue;  // no batch of it has a finite loss
    settings.flush_below = 1e30f;
    run none{&f, 1, f.train(settings, data, 1, watcher), true};
    const curve_point last = none.result.curve.back();
    CHECK(last.step == 10);
    CHECK(last.lost == 10);
    CHECK(none.result.curve.front().lost == 5);
    CHECK(trained_nothing(none));
    CHECK_THAT(untrained(none),
               Catch::Contains(std::string(f.name) + " seed 1 trained nothing: of 10 steps 0 ") &&
                   Catch::Contains("in 10 the gradients of all weights were zero"));
    ++lost;
    settings.flush_below = 0;
    run some{&f, 1, f.train(settings, data, 1, watcher), true};
    CHECK(some.result.curve.back().lost == 0);
    CHECK_FALSE(trained_nothing(some));
    CHECK(untrained(some).empty());
    ++kept;
  }
  CHECK(lost == static_cast<int>(formats().size()) - 1);
  CHECK(kept == lost);
}

TEST_CASE("a loss scale that loses every gradient, or lets every one overflow, is told", "[train][run]") {
  const train_and_test data{draw_digits(160, 1), draw_digits(20, 2)};
  training_settings settings;
  settings.network = &models().back();
  settings.epochs = 1;
  settings.step.rate = 0.01f;
  silent watcher;
  const auto& fp16 = *std::ranges::find(formats(), std::string_view("fp16"), &format::name);
  for (const auto& [scale, skipped, lost] :
       {std::tuple{"1e38", 5u, 0u}, {"1e-30", 0u, 5u}, {"128", 0u, 0u}}) {
    INFO(scale);
    settings.loss_scale = scale;
    run r{&fp16, 1, fp16.train(settings, data, 1, watcher), true};
    CHECK(r.result.curve.back().skipped == skipped);
    CHECK(r.result.curve.back().lost == lost);
    CHECK(trained_nothing(r) == (skipped + lost > 0));
    CHECK(untrained(r).empty() == (skipped + lost == 0));
    std::ostringstream table;
    print_table(table, {r});
    CHECK((table.str().find("trained nothing") != std::string::npos) == (skipped + lost > 0));
  }

  // Most of the steps, half of them.
  run r{&fp16, 1, {}, true};
  r.result.curve = {{1, 10, 0.5f, 0.5, 0.1f, 1024, 4, 0, 1, 2}};
  CHECK_THAT(untrained(r), Catch::Contains("trained little: of 10 steps 4 were skipped"));
  CHECK_FALSE(trained_nothing(r));
  r.result.curve.back().skipped = 3;
  CHECK(untrained(r).empty());
}

TEST_CASE("constant loss scales are refused where a format has no room for them", "[train][options]") {
  int exit_code = 0, refused = 0, taken = 0;
  std::string complaint;
  const auto taken_by = [&](const char* name, double scale) {
    std::ostringstream text;
    text << scale;
    const bool result = parse_line({"--formats", name, "--batch", "16", "--loss-weight", "0.5",
                                    "--loss-scale", text.str().c_str()},
                                   exit_code, complaint)
                            .has_value();
    if (!result) {
      CHECK(exit_code == 2);
      CHECK_THAT(complaint, Catch::Contains("--loss-scale: " + text.str()));
      CHECK(std::ranges::count(complaint, '\n') == 1);
    }
    return result;
  };
  // The largest gradient of a logit, 0.5 / 16, becomes fp16's largest number and its smallest one.
  const std::tuple<const char*, double, double> ranges[] = {{"fp16", 0x1p-24 * 32, 65504.0 * 32},
                                                            {"fixed16_12", 0x1p-12 * 32, (8 - 0x1p-12) * 32},
                                                            {"float_e4m16", 0x1p-22 * 32, 0x1.ffffp7 * 32}};
  for (const auto& [name, low, high] : ranges) {
    INFO(name);
    for (const double scale : {low * 1.01, 1.0, high * 0.99}) {
      CHECK(taken_by(name, scale));
      ++taken;
    }
    for (const double scale : {low * 0.99, high * 1.01, 1e38, 1e-30}) {
      CHECK_FALSE(taken_by(name, scale));
      CHECK_THAT(complaint, Catch::Contains(std::string(" in the range of ") + name));
      ++refused;
    }
  }
  for (const char* name : {"fp32", "hbfp8", "int8", "bf16"}) {
    INFO(name);
    CHECK(taken_by(name, 1e-30));
    CHECK(taken_by(name, 1e30));
    taken += 2;
    CHECK_FALSE(taken_by(name, 1e-45));
    CHECK_THAT(complaint, Catch::Contains("a number from 1.17549e-38 to 3.40282e+38"));
    ++refused;
  }
  CHECK(taken == 9 + 8);
  CHECK(refused == 12 + 4);
}

TEST_CASE("the loss of an epoch: of the batches that have one", "[train][run]") {
  mean_loss some, none;
  some.add(1, 10);
  some.add(std::numeric_limits<float>::infinity(), 10);
  some.add(std::numeric_limits<float>::quiet_NaN(), 7);
  some.add(4, 5);
  CHECK(double{some.value()} == Approx(2));
  CHECK(some.nonfinite() == 2);
  none.add(std::numeric_limits<float>::quiet_NaN(), 7);
  CHECK(std::isnan(none.value()));
}

TEST_CASE("the curves as a file", "[train][report]") {
  const folder f;
  const std::string header =
      "format,seed,epoch,step,loss,accuracy,learning_rate,scale,skipped,nonfinite,seconds,diverged,lost\n";
  std::vector<run> runs{{&formats().front(), 7, {}, false}, {&formats().front(), 8, {}, true}};
  runs[1].result.curve = {{1, 10, 0.5f, 0.75, 0.25f, 1024, 2, 1, 1.5},
                          {2, 20, 0.25f, 0.5, 0.125f, 512, 3, 4, 2, 5}};
  write_csv(f.path() / "curves.csv", runs);
  const std::string lines =
      header + "fp32,8,1,10,0.5,0.75,0.25,1024,2,1,1.5,0,0\nfp32,8,2,20,0.25,0.5,0.125,512,3,4,2,";
  CHECK(f.read("curves.csv") == lines + "0,5\n");
  runs[1].result.diverged = "of a reason";
  write_csv(f.path() / "curves.csv", runs);
  CHECK(f.read("curves.csv") == lines + "1,5\n");

  CHECK_THROWS_AS(write_csv(f.path() / "no such folder" / "curves.csv", runs), data_error);
}

TEST_CASE("of several writers of a file the last one's stays, whole", "[train][report]") {
  const folder f;
  const auto path = f.path() / "a.csv";
  constexpr int writers = 4, files = 100;
  const auto contents = [](int writer) {
    return std::string(100'000 + static_cast<std::size_t>(writer), static_cast<char>('a' + writer));
  };
  std::atomic<int> written = 0, torn = 0;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < files; ++i) try {
          write_file(path, contents(writer));
          ++written;
          const std::string now = f.read("a.csv");
          const int whose = now.empty() ? 0 : now.front() - 'a';
          torn += whose < 0 || whose >= writers || now != contents(whose);
        } catch (const data_error&) {
        }
    });
  for (std::thread& t : threads) t.join();
  CHECK(written == writers * files);
  CHECK(torn == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(f.path()), {}) == 1);
}

TEST_CASE("files are written whole or not at all", "[train][report]") {
  using Catch::Contains;
  const folder f;
  const auto here = [&](const char* name) { return f.path() / name; };
  CHECK(write_file(here("a"), "first") == 5);
  CHECK(write_file(here("a"), "second") == 6);
  CHECK(f.read("a") == "second");
  require_writable(here("a"));
  CHECK(f.read("a") == "second");
  require_writable(here("new"));
  CHECK_FALSE(std::filesystem::exists(here("new")));

  std::filesystem::create_directory(here("taken"));
  const auto nowhere = here("no such folder") / "a";
  for (const auto& refused : {here("taken"), nowhere}) {
    CHECK_THROWS_WITH(write_file(refused, "x"), Contains(refused.string()) && Contains("irectory"));
    CHECK_THROWS_WITH(require_writable(refused), Contains(refused.string()) && Contains("irectory"));
  }

  // A link leads to its file.
  std::filesystem::create_symlink(here("a"), here("link"));
  write_file(here("link"), "third");
  CHECK(std::filesystem::is_symlink(here("link")));
  CHECK(f.read("a") == "third");

  // What is no file stays what it is.
  REQUIRE(mkfifo(here("pipe").c_str(), 0600) == 0);
  std::string received;
  std::thread reader([&] { received = f.read("pipe"); });
  write_file(here("pipe"), "through it");
  reader.join();
  CHECK(received == "through it");
  CHECK(std::filesystem::is_fifo(here("pipe")));
  const std::filesystem::path full = "/dev/full";
  if (std::filesystem::exists(full)) {
    CHECK_THROWS_WITH(write_file(full, "x"), Contains("/dev/full: No space left"));
    CHECK(std::filesystem::is_character_file(full));
  }
  for (const auto& entry : std::filesystem::directory_iterator(f.path()))
    CHECK(entry.path().extension() != ".partial");

  CHECK(same_file(here("a"), here("link")));
  CHECK(same_file(here("new"), f.path() / "taken" / ".." / "new"));
  CHECK_FALSE(same_file(here("a"), here("new")));
}

TEST_CASE("formats that layers switched to, as a file and in the table", "[train][report]") {
  const folder f;
  std::vector<run> runs{{&formats().front(), 7, {}, true}};
  training_result& result = runs[0].result;
  result.curve = {{1, 10, 0.5f, 0.75, 0.1f, 1024, 2, 0, 1.5}};
  result.formats = {{1, "weights 1", {8, 4}, 25, 1.5, 50, 0.25},
                    {9, "weights 1", {14, 10}, 30, 2, 51, 0.125},
                    {1, "weights 2", {8, 4}, 25, 1, 50, 0.5}};
  result.words = {3, 1, 0, 0};
  const auto step = [](int wl) { return std::vector<narrow::layer_cost>{{100, wl, 10, 0}}; };
  result.costs.step(step(8));
  result.costs_in_fp32.step(step(32));
  write_switches(f.path() / "switches.csv", runs);
  CHECK(f.read("switches.csv") ==
        "format,seed,step,layer,word_length,fraction_length,lookback,resolution,diversity,loss\n"
        "fp32,7,1,weights 1,8,4,25,50,1.5,0.25\n"
        "fp32,7,9,weights 1,14,10,30,51,2,0.125\n"
        "fp32,7,1,weights 2,8,4,25,50,1,0.5\n");
  std::ostringstream out;
  print_table(out, runs);
  CHECK(out.str().find(
            "fp32 seed 7 ends with word lengths of 8..14, mean 11.0; forward passes of layers: 75 % in up "
            "to 8 bits, 25 % in up to 16, 0 % in more, 0 % in fp32; modelled speed 1.60 x fp32\n") !=
        std::string::npos);
}

#ifdef __linux__
TEST_CASE("threads are no more than the processors of the process", "[train][run]") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(available_processors() == CPU_COUNT(&before));
  use_threads(200);
  CHECK(narrow::num_threads() == CPU_COUNT(&before));
  int tried = 0;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &before)) continue;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(available_processors() == 1);
    use_threads(200);
    CHECK(narrow::num_threads() == 1);
    CHECK(Eigen::nbThreads() == 1);
    ++tried;
  }
  CHECK(tried == CPU_COUNT(&before));
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  use_threads(1);

  std::ostringstream said;
  auto* const cerr_before = std::cerr.rdbuf(said.rdbuf());
  tell_of_fewer_threads("train", CPU_COUNT(&before));
  CHECK(said.str().empty());
  tell_of_fewer_threads("train", 255);
  std::cerr.rdbuf(cerr_before);
  CHECK_THAT(said.str(), Catch::Contains("--threads 255 ") &&
                             Catch::Contains(": " + std::to_string(CPU_COUNT(&before)) + " thread"));
}
#endif

TEST_CASE("the final table averages over seeds", "[train][report]") {
  std::vector<run> runs{{&formats().front(), 1, {}, true}, {&formats().front(), 2, {}, true}};
  runs[0].result = {{{1, 10, 0.5f, 0.97, 0.1f, 1024, 0, 0, 2.0}}, 2000, 4000, 1500000, {}};
  runs[1].result = {{{1, 10, 0.5f, 0.99, 0.1f, 1024, 3, 0, 4.0}}, 2000, 4000, 1500000, {{"weights 1", 3}}};
  std::ostringstream out;
  print_table(out, runs);
  const std::string table = out.str();
  CHECK(std::ranges::count(table, '\n') == 3);
  for (const char* part : {"fp32", "98.00 %", "97.00..99.00", " 3.00", "2.0 kB", "4.0 kB", "1.50 MB", " 3\n",
                           "fp32 skipped 3 of 20 steps, with overflow in the gradients of weights 1 (3)\n"}) {
    INFO(part);
    CHECK(table.find(part) != std::string::npos);
  }
}

TEST_CASE("the final table says which images accuracies are of", "[train][report]") {
  std::vector<run> runs{{&formats().front(), 1, {}, true}};
  runs[0].result.curve = {{1, 10, 0.5f, 0.97, 0.1f, 1024, 0, 0, 2.0}};
  std::ostringstream out;
  print_table(out, runs, "validation");
  const std::string table = out.str(), head = "validation accuracy";
  REQUIRE(table.find(head) != std::string::npos);
  CHECK(table.find("test") == std::string::npos);
  // The figures end where their names do.
  const auto line = table.find('\n') + 1;
  CHECK(table.find(" %") + 1 - line == table.find(head) + head.size() - 1);
}

TEST_CASE("the final table marks what diverged", "[train][report]") {
  const format& f = formats().front();
  std::vector<run> runs{{&f, 1, {}, true}, {&f, 2, {}, true}};
  runs[0].result = {{{3, 10, 0.5f, 0.1, 0.1f, 1024, 0, 7, 2.0}}, 2000, 4000, 1500000, {}};
  runs[0].result.diverged = "of a reason";
  runs[1].result = {{{4, 10, 0.5f, 0.99, 0.1f, 1024, 0, 0, 4.0}}, 2000, 4000, 1500000, {}};
  std::ostringstream out;
  print_table(out, runs);
  const std::string table = out.str();
  CHECK(std::ranges::count(table, '\n') == 4);
  for (const char* part : {"   diverged: 1 of 2\n", "\nfp32 seed 1 diverged in epoch 3: of a reason\n",
                           "\nfp32 had 7 batches whose loss was not finite\n"}) {
    INFO(part);
    CHECK(table.find(part) != std::string::npos);
  }
}
