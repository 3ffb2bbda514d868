// Checkpoints of the example trainer: runs in two parts equal runs in one, and no damaged file is believed.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "files/checkpoint.hpp"
#include "formats/formats.hpp"
#include "trainer_fixtures.hpp"
#include "training/trainee.hpp"

using namespace narrow_train;
using Catch::Matchers::Contains;

namespace {

/// Stops a run as a signal would, after an epoch.
struct stopped {};
class watcher final : public observer {
 public:
  explicit watcher(int last_epoch = 0) : last_epoch_(last_epoch) {}
  void batch_done(std::size_t images, float, float, std::uint64_t) override { images_ += images; }
  void epoch_done(const curve_point& p) override {
    if (p.epoch == last_epoch_) throw stopped();
  }
  void epochs_left_out(int count) override { left_out_ += count; }
  std::size_t images_ = 0;
  int left_out_ = 0;

 private:
  int last_epoch_;
};

train_and_test few_digits() { return {draw_digits(56, 1), draw_digits(20, 2)}; }

training_settings small(const folder& f) {
  training_settings settings;
  settings.epochs = 4;
  settings.batch = 8;
  settings.accumulate_steps = 3;
  settings.step.rate = 0.02f;
  settings.augment = augmentation::crop_and_flip;
  settings.checkpoints = f.path();
  return settings;
}

template <class Item> const Item& named(std::span<const Item> items, std::string_view name) {
  const auto found = std::ranges::find(items, name, &Item::name);
  REQUIRE(found != items.end());
  return *found;
}

/// Everything but the times, bit for bit.
void check_same(const training_result& a, const training_result& b) {
  REQUIRE(a.curve.size() == b.curve.size());
  for (std::size_t i = 0; i < a.curve.size(); ++i) {
    const curve_point &p = a.curve[i], &q = b.curve[i];
    CHECK(p.epoch == q.epoch);
    CHECK(p.step == q.step);
    CHECK(std::bit_cast<std::uint32_t>(p.loss) ==
          std::bit_cast<std::uint32_t>(q.loss));  // NaN where it diverged
    CHECK(p.accuracy == q.accuracy);
    CHECK(p.rate == q.rate);
    CHECK(p.scale == q.scale);
    CHECK(p.skipped == q.skipped);
    CHECK(p.nonfinite == q.nonfinite);
  }
  CHECK(a.overflows == b.overflows);
  CHECK(a.weight_bytes == b.weight_bytes);
  CHECK(a.master_bytes == b.master_bytes);
  CHECK(a.activation_bytes == b.activation_bytes);
  CHECK(a.diverged == b.diverged);
}

/// A checkpoint without the section of the curve, whose times differ.
std::string state_of(const std::string& checkpoint) {
  const auto curve = checkpoint.find(std::string("\5\0\0\0curve", 9));
  REQUIRE(curve != std::string::npos);
  return checkpoint.substr(0, curve);
}

std::string file_of(const training_settings& settings, const format& f) {
  return checkpoint_path(f.adapted(settings), 1).filename();
}

/// The message of the data_error of resuming; it must be one line and name the file.
template <class Resume> std::string refusal(const Resume& resume, const std::string& file) {
  try {
    resume();
  } catch (const data_error& e) {
    const std::string message = e.what();
    if (message.find('\n') != std::string::npos || message.find(file) == std::string::npos) return {};
    return message;
  }
  return "nothing was thrown";
}

/// Trains with f for two epochs of four, stopped then, and again to the end; compares with four at once.
void check_in_two_parts(const format& f, const train_and_test& data,
                        training_settings (*make)(const folder&)) {
  INFO(std::string(f.name));
  const folder whole, parts;
  watcher all, resumed;
  const auto once = f.train(make(whole), data, 1, all);

  auto settings = make(parts);
  watcher first(2);
  if (!once.diverged.empty()) {  // then there is no second part
    CHECK(f.name == "float_e2m16");
    return;
  }
  CHECK_THROWS_AS(f.train(settings, data, 1, first), stopped);
  settings.start = run_start::checkpoint;
  const auto twice = f.train(settings, data, 1, resumed);
  CHECK(resumed.left_out_ == 2);
  CHECK(resumed.images_ == 2 * data.train.count());
  check_same(twice, once);

  const auto name = file_of(settings, f);
  CHECK(name == std::string(settings.network->name) + '-' + std::string(f.name) + "-1.checkpoint");
  CHECK(state_of(parts.read(name)) == state_of(whole.read(name)));
  CHECK(parts.partial_files() == 0);

  // Once more: nothing is left to train, and all is known.
  watcher none;
  check_same(f.train(settings, data, 1, none), once);
  CHECK(none.left_out_ == 4);
  CHECK(none.images_ == 0);
}

}  // namespace

TEST_CASE("two epochs and two more are four, bit for bit, in every format", "[train][checkpoint]") {
  const auto data = few_digits();
  for (const format& f : formats()) check_in_two_parts(f, data, small);
}

TEST_CASE("optimisers, schedules and ablations continue too", "[train][checkpoint]") {
  const auto data = few_digits();
  const format& fp16 = named(formats(), "fp16");
  check_in_two_parts(fp16, data, [](const folder& f) {
    auto s = small(f);
    s.network = &named(models(), "mlp");
    s.optimizer = &named(optimizers(), "adam");
    s.step.rate = 0.002f;
    s.schedule.kind = &named(schedules(), "plateau");
    s.schedule.patience = 0;
    s.schedule.warmup = 2.5;
    return s;
  });
  check_in_two_parts(fp16, data, [](const folder& f) {
    auto s = small(f);
    s.network = &named(models(), "mlp");
    s.schedule.kind = &named(schedules(), "cosine");
    s.master = master_copy::absent;
    s.loss_scale = "1e9";  // every step overflows and is skipped
    return s;
  });
  check_in_two_parts(named(formats(), "hbfp8"), data, [](const folder& f) {
    auto s = small(f);
    s.recipes.rounding = rounding_choice::stochastic;
    s.recipes.exponent = exponent_choice::avg;
    s.recipes.weight_scales = sharing::tile;
    return s;
  });
}

TEST_CASE("more epochs than were asked for at first", "[train][checkpoint]") {
  const auto data = few_digits();
  const format& f = named(formats(), "fp32");
  const folder once, twice;
  watcher w;
  const auto whole = f.train(small(once), data, 1, w);
  auto settings = small(twice);
  settings.epochs = 2;
  f.train(settings, data, 1, w);
  settings.epochs = 4;
  settings.start = run_start::checkpoint;
  check_same(f.train(settings, data, 1, w), whole);

  settings.epochs = 3;
  const auto message = refusal([&] { f.train(settings, data, 1, w); }, file_of(settings, f));
  CHECK_THAT(message, Contains("4 epochs, --epochs asks for 3"));
  CHECK(refusal([&] { f.resumable(settings, data, 1); }, file_of(settings, f)) == message);
}

TEST_CASE("without a file, or without --resume, a run starts at the beginning", "[train][checkpoint]") {
  const auto data = few_digits();
  const format& f = named(formats(), "fp32");
  const folder place;
  auto settings = small(place);
  settings.epochs = 1;
  settings.start = run_start::checkpoint;
  CHECK_FALSE(f.resumable(settings, data, 1).has_value());
  watcher first, second;
  const auto a = f.train(settings, data, 1, first);
  CHECK(f.resumable(settings, data, 1)->curve.size() == 1);
  settings.start = run_start::beginning;
  CHECK_FALSE(f.resumable(settings, data, 1).has_value());
  check_same(f.train(settings, data, 1, second), a);
  CHECK(second.images_ == data.train.count());
}

TEST_CASE("checkpoints of other runs are refused, with the first difference", "[train][checkpoint]") {
  auto data = few_digits();
  const format& f = named(formats(), "hbfp8");
  const folder place;
  auto made = small(place);
  made.epochs = 1;
  made.network = &named(models(), "linear");
  watcher w;
  f.train(made, data, 1, w);
  const auto file = file_of(made, f), bytes = place.read(file);
  made.start = run_start::checkpoint;
  const auto complaint = [&](auto change) {
    auto asked = made;
    change(asked);
    return refusal([&] { f.train(asked, data, 1, w); }, file);
  };
  using settings = training_settings;
  CHECK_THAT(complaint([](settings& s) { s.step.rate = 0.1f; }),
             Contains("was written with --lr 0.02, not 0.1"));
  CHECK_THAT(complaint([](settings& s) { s.batch = 16; }), Contains("--batch 8, not 16"));
  CHECK_THAT(complaint([](settings& s) { s.accumulate_steps = 1; }), Contains("--accumulate-steps 3, not 1"));
  CHECK_THAT(complaint([](settings& s) { s.augment = augmentation::none; }),
             Contains("--augment crop-flip, not none"));
  CHECK_THAT(complaint([](settings& s) { s.schedule.decay = 0.5f; }), Contains("--lr-decay 0.6, not 0.5"));
  CHECK_THAT(complaint([](settings& s) { s.schedule.warmup = 1; }), Contains("--warmup 0, not 1"));
  CHECK_THAT(complaint([](settings& s) { s.schedule.kind = &schedules()[1]; }),
             Contains("--schedule decay, not step"));
  CHECK_THAT(complaint([](settings& s) { s.optimizer = &optimizers().back(); }),
             Contains("--optimizer sgd, not adam"));
  CHECK_THAT(complaint([](settings& s) { s.step.momentum = 0; }), Contains("--momentum 0.9, not 0"));
  CHECK_THAT(complaint([](settings& s) { s.step.weight_decay = 0.5f; }),
             Contains("--weight-decay 0, not 0.5"));
  CHECK_THAT(complaint([](settings& s) { s.clip_norm = 2; }), Contains("--clip-norm 0, not 2"));
  CHECK_THAT(complaint([](settings& s) { s.loss_scale = "none"; }),
             Contains("--loss-scale dynamic, not none"));
  CHECK_THAT(complaint([](settings& s) { s.loss_weight = 2; }), Contains("--loss-weight 1, not 2"));
  CHECK_THAT(complaint([](settings& s) { s.recipes.rounding = rounding_choice::nearest; }),
             Contains("was written without --rounding, not with nearest"));
  data.test.labels[0] = static_cast<std::uint8_t>(9 - data.test.labels[0]);
  CHECK_THAT(complaint([](settings&) {}), Contains("test-images"));
  CHECK(place.read(file) == bytes);

  // Runs whose files have other names, in the place of this one.
  data = few_digits();
  std::filesystem::rename(place.path() / file, place.path() / "linear-hbfp8-2.checkpoint");
  CHECK_THAT(refusal([&] { f.train(made, data, 2, w); }, "linear-hbfp8-2.checkpoint"),
             Contains("--seed 1, not 2"));
}

namespace {

/// A network that was trained for a moment, and everything that it would save.
template <class S> struct state {
  training_settings settings;
  dataset images = draw_digits(16, 1);
  trainee<S> trained;

  static training_settings describe() {
    training_settings s;
    s.network = &named(models(), "linear");
    s.step.rate = 0.1f;
    return s;
  }
  explicit state(std::uint64_t seed, int steps) : settings(describe()), trained(settings, images, seed) {
    batches<S> batch(images, normalised(images), 16);
    batch.select(0);
    for (int i = 0; i < steps; ++i) trained.step(batch);
  }
  std::string bytes() {
    std::ostringstream out;
    for (const auto& part : trained.parts()) part.save(out);
    return out.str();
  }
};

const std::vector<setting> told{{"--lr", "0.1"}, {"--batch", "16"}};

}  // namespace

TEMPLATE_TEST_CASE("no damage to a checkpoint goes unnoticed, and none changes the run",
                   "[train][checkpoint]", float, narrow::fp16) {
  const folder place;
  const auto path = place.path() / "a.checkpoint";
  state<TestType> saved(1, 3), other(2, 1);
  write_checkpoint(path, told, saved.trained.parts());
  const auto whole = place.read("a.checkpoint");
  const auto before = other.bytes();
  const auto parts = other.trained.parts();
  const auto complaint = [&] { return refusal([&] { read_checkpoint(path, told, parts); }, "a.checkpoint"); };
  const auto with = [&](const std::string& bytes) {
    place.write("a.checkpoint", bytes);
    return complaint();
  };

  SECTION("cut") {
    for (std::size_t length = 0; length < whole.size(); length += 1 + length / 50)
      if (const auto m = with(whole.substr(0, length)); m.find("ends too early") == m.npos)
        FAIL(length << ": " << m);
    CHECK_THAT(with(whole.substr(0, whole.size() - 1)), Contains("ends too early"));
  }
  SECTION("a byte is another") {
    for (std::size_t place_of = 0; place_of < whole.size(); place_of += 1 + place_of / 80) {
      auto damaged = whole;
      damaged[place_of] = static_cast<char>(damaged[place_of] ^ (1 << place_of % 8));
      const auto m = with(damaged);
      const bool told_why = m.find("damaged") != m.npos || m.find("ends too early") != m.npos ||
                            m.find("is no checkpoint") != m.npos;
      if (!told_why) FAIL(place_of << ": " << m);
    }
  }
  SECTION("longer") { CHECK_THAT(with(whole + "x"), Contains("longer")); }
  SECTION("foreign") {
    CHECK_THAT(with("format,seed,epoch\n"), Contains("is no checkpoint"));
    CHECK_THAT(with(std::string(5000, '\0')), Contains("is no checkpoint"));
    CHECK_THAT(with(""), Contains("ends too early"));
  }
  SECTION("missing, a folder") {
    std::filesystem::remove(path);
    CHECK_THAT(complaint(), Contains("cannot be opened"));
    std::filesystem::create_directory(path);
    CHECK_THAT(complaint(), Contains("cannot be opened"));
    std::filesystem::remove(path);
  }
  SECTION("whole, but the last part is of no use") {
    auto wrong = saved.trained.parts();
    wrong.back().save = [](std::ostream& out) { out << "narrow::loss_scaler { init_scale 0"; };
    write_checkpoint(path, told, wrong);
    CHECK_THAT(complaint(), Contains("statistics"));
    wrong.back().save = [&](std::ostream& out) {
      saved.trained.parts().back().save(out);
      out << ' ';
    };
    write_checkpoint(path, told, wrong);
    CHECK_THAT(complaint(), Contains("statistics: is longer"));
    wrong.pop_back();
    write_checkpoint(path, told, wrong);
    CHECK_THAT(complaint(), Contains("has no statistics"));
  }
  SECTION("another shape") {
    auto wrong = saved.trained.parts();
    wrong.front().save = [](std::ostream& out) { write_matrix(out, fp32_matrix(9, 784)); };
    write_checkpoint(path, told, wrong);
    CHECK_THAT(complaint(), Contains("weights 1: has 9 rows instead of 10"));
  }
  SECTION("other settings") {
    auto others = told;
    others[1].value = "8";
    const auto message = refusal([&] { read_checkpoint(path, others, parts); }, "a.checkpoint");
    CHECK_THAT(message, Contains("was written with --batch 16, not 8"));
    others.pop_back();
    CHECK_THAT(refusal([&] { read_checkpoint(path, others, parts); }, "a.checkpoint"),
               Contains("was written with --batch 16, not without"));
  }
  CHECK(other.bytes() == before);

  write_checkpoint(path, told, saved.trained.parts());
  read_checkpoint(path, told, parts);
  CHECK(other.bytes() == saved.bytes());
  CHECK(other.bytes() != before);
}

TEST_CASE("checkpoints of another version, or another build, are refused, and both are named",
          "[train][checkpoint]") {
  const folder place;
  const auto path = place.path() / "a.checkpoint";
  state<float> saved(1, 3), other(2, 1);
  const auto before = other.bytes();
  const auto parts = other.trained.parts();
  const auto complaint = [&](const program_build& reader, other_builds others = other_builds::refused) {
    return refusal([&] { read_checkpoint(path, told, parts, others, reader); }, "a.checkpoint");
  };
  write_checkpoint(path, told, saved.trained.parts(), {"7.8.9", "a machine far away"});

  for (const auto others : {other_builds::refused, other_builds::accepted})
    CHECK_THAT(complaint({"7.8.10", "a machine far away"}, others),
               Contains("was written by narrow 7.8.9, this is narrow 7.8.10"));
  CHECK_THAT(complaint({"7.8.9", "this one"}), Contains("another build (a machine far away)") &&
                                                   Contains("(this one)") && Contains("--other-build"));
  CHECK_THAT(complaint(this_program()), Contains("7.8.9") && Contains(this_program().version));
  CHECK(other.bytes() == before);

  CHECK(read_checkpoint(path, told, parts, other_builds::accepted, {"7.8.9", "this one"}) ==
        "a machine far away");
  CHECK(other.bytes() == saved.bytes());
  CHECK(read_checkpoint(path, told, parts, other_builds::refused, {"7.8.9", "a machine far away"}).empty());

  // Versions of the file: this program's, and all others, damaged or from the past.
  write_checkpoint(path, told, saved.trained.parts());
  const auto whole = place.read("a.checkpoint");
  const auto line = whole.substr(0, whole.find('\n'));
  REQUIRE(line == "narrow checkpoint 2");
  for (const char* version : {"1", "3", "02", "123456789"}) {
    INFO(version);
    place.write("a.checkpoint", line.substr(0, line.size() - 1) + version + whole.substr(line.size()));
    CHECK_THAT(complaint(this_program()),
               Contains("is no checkpoint of version 2, which this program reads, but "
                        "one of version " +
                        std::string(version)));
  }
  for (const char* version : {"", "x", "-2", "1234567890"}) {
    INFO(version);
    place.write("a.checkpoint", line.substr(0, line.size() - 1) + version + whole.substr(line.size()));
    CHECK_THAT(complaint(this_program()), Contains("is no checkpoint of this program"));
  }
}

TEST_CASE("what this program says of itself", "[train][checkpoint]") {
  const program_build here = this_program();
  CHECK(std::ranges::count(here.version, '.') == 2);
  for (const std::string& part : {std::string("sources "), std::string("compiler "), std::string("Eigen "),
                                  "kernels " + std::string(narrow::isa_name())}) {
    INFO(part);
    CHECK(here.build.find(part) != std::string::npos);
  }
  CHECK(here.build.find('\n') == std::string::npos);
  const std::string before(narrow::isa_name());
  narrow::use_isa("portable");
  CHECK_THAT(this_program().build, Contains("kernels portable"));
  narrow::use_isa(before);
}

TEST_CASE("a folder of checkpoints is one run's at a time", "[train][checkpoint]") {
  const folder place;
  const auto locked = [&] {
    return refusal([&] { const checkpoint_folder second(place.path()); }, place.path().string());
  };
  CHECK(locked() == "nothing was thrown");
  {
    const checkpoint_folder first(place.path());
    CHECK_THAT(locked(), Contains("another run uses"));
  }
  CHECK(locked() == "nothing was thrown");

  // Another process has it until that is killed.
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const checkpoint_folder first(place.path());
    const char byte = write(ready[1], "x", 1) == 1 ? 'x' : '-';
    for (;;) pause();
    static_cast<void>(byte);
  }
  REQUIRE(child > 0);
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK_THAT(locked(), Contains("another run uses"));
  REQUIRE(kill(child, SIGKILL) == 0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(locked() == "nothing was thrown");

  CHECK_THAT(refusal([&] { const checkpoint_folder none(place.path() / "none"); }, "none"),
             Contains("cannot lock"));
  for (const int end : ready) close(end);
}

TEST_CASE("what killed writers have left is removed, and nothing else", "[train][checkpoint]") {
  const folder place;
  const std::vector<std::string> left{"lenet-fp32-1.checkpoint.123-0.partial",
                                      "lenet-fp16-12.checkpoint.9-77.partial",
                                      "lenet-fp32-1.checkpoint.partial"},
      kept{"lenet-fp32-1.checkpoint", "curves.csv.1-2.partial", "notes.partial",
           "lenet-fp32-1.checkpoint.old"};
  for (const auto& names : {left, kept})
    for (const auto& name : names) place.write(name, name);
  std::filesystem::create_directory(place.path() / "a.checkpoint.partial");
  const checkpoint_folder held(place.path());
  for (const auto& name : left) CHECK_FALSE(std::filesystem::exists(place.path() / name));
  for (const auto& name : kept) CHECK(place.read(name) == name);
  CHECK(std::filesystem::is_directory(place.path() / "a.checkpoint.partial"));
}

TEST_CASE("a checkpoint that cannot be written leaves the last one", "[train][checkpoint]") {
  const folder place;
  state<float> s(1, 1);
  CHECK_THAT(refusal([&] { write_checkpoint(place.path() / "none" / "a", told, s.trained.parts()); }, "none"),
             Contains("cannot write"));
  const auto taken = place.path() / "taken";
  std::filesystem::create_directory(taken);
  CHECK_THAT(refusal([&] { write_checkpoint(taken, told, s.trained.parts()); }, "taken"),
             Contains("cannot write"));
  CHECK(place.partial_files() == 0);

  write_checkpoint(place.path() / "a", told, s.trained.parts());
  const auto before = place.read("a");
  auto failing = s.trained.parts();
  failing.back().save = [](std::ostream&) { throw std::runtime_error("no"); };
  CHECK_THROWS(write_checkpoint(place.path() / "a", told, failing));
  CHECK(place.read("a") == before);
  CHECK(place.partial_files() == 0);
  {
    const limited_files full(before.size() / 2);
    CHECK_THAT(refusal([&] { write_checkpoint(place.path() / "a", told, s.trained.parts()); }, "a"),
               Contains("cannot write"));
  }
  CHECK(place.read("a") == before);
  CHECK(place.partial_files() == 0);
}

TEST_CASE("matrices in block formats are saved to the bit", "[train][checkpoint]") {
  fp32_matrix values = spread(50, 30, 0.01f, 1);
  values.row(7) *= 1e-30f;
  values.col(3).setZero();
  values.col(4) *= 1e30f;
  values.col(5) *= 1e-41f;  // subnormal
  for (const int mantissa : {4, 8, 12, 16, 0})
    for (const auto& [exponent, kept] : {std::pair{exponent_choice::max, exponent_bits::half},
                                         {exponent_choice::min, exponent_bits::half},
                                         {exponent_choice::min, exponent_bits::one},
                                         {exponent_choice::avg, exponent_bits::half},
                                         {exponent_choice::avg, exponent_bits::one}})
      for (const auto rounding : {rounding_choice::nearest, rounding_choice::stochastic})
        for (const auto scales : {sharing::tensor, sharing::column, sharing::tile}) {
          operand_format format = (mantissa == 0 ? recipe::int8() : recipe::hbfp(mantissa)).weights;
          format.exponent = exponent;
          format.kept = kept;
          format.rounding = rounding;
          const auto a = make_operand(format, scales, nullptr), b = make_operand(format, scales, nullptr);
          for (const fp32_matrix& m : {values, fp32_matrix(fp32_matrix::Zero(50, 30))}) {
            a->assign(m);
            b->assign(fp32_matrix::Ones(50, 30));
            std::stringstream saved;
            a->save(saved);
            b->load(saved);
            std::ostringstream again;
            b->save(again);
            CHECK(again.str() == saved.str());
            CHECK(b->values() == a->values());
          }
          // A scale that is none, a text that ends, another shape.
          std::ostringstream whole;
          a->assign(values);
          a->save(whole);
          auto wrong = whole.str();
          std::fill(wrong.end() - 4, wrong.end(), '\xff');  // a NaN
          for (const auto& bytes : {wrong, whole.str().substr(0, wrong.size() - 1), std::string()}) {
            std::istringstream in(bytes);
            CHECK_THROWS(b->load(in));
          }
          std::istringstream in(whole.str());
          const auto smaller = make_operand(format, scales, nullptr);
          smaller->assign(fp32_matrix::Ones(30, 50).topRows(29));
          CHECK_THROWS_AS(smaller->load(in), std::runtime_error);
        }
}

TEST_CASE("words of any length are loaded into operands that held another", "[train][checkpoint]") {
  const fp32_matrix values = spread(20, 30, 0.3f, 1);
  int loaded = 0;
  for (const auto kind : {operand_kind::fixed, operand_kind::words, operand_kind::held_words})
    for (const int before : {2, 8, 12, 16, 20, 32})
      for (const int after : {2, 8, 12, 16, 17, 24, 32}) {
        operand_format format;
        format.kind = kind;
        const auto layer = std::make_shared<layer_format>(layer_format{before, before / 2});
        const auto a = make_operand(format, sharing::tensor, layer),
                   b = make_operand(format, sharing::tensor, layer);
        a->assign(values);
        b->assign(values);
        *layer = {after, after / 2};
        a->assign(values);
        std::stringstream saved, again;
        a->save(saved);
        b->load(saved);
        b->save(again);
        CHECK(again.str() == saved.str());
        CHECK(b->values() == a->values());
        CHECK(b->view().index() == a->view().index());
        ++loaded;
      }
  CHECK(loaded == 3 * 6 * 7);
}
