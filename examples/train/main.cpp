// train: the same network in several number formats, side by side. `train --help` lists the options.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <iostream>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "files/checkpoint.hpp"
#include "files/whole_file.hpp"
#include "models/network.hpp"
#include "ranks/team.hpp"
#include "report/report.hpp"
#include "tensor/parallel.hpp"
#include "training/model_file.hpp"

namespace {

using namespace narrow_train;

/// Makes the folder if it is not there; one that cannot be written is refused.
void prepare_folder(const char* option, const std::filesystem::path& folder) {
  if (folder.empty()) return;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (!failure && access(folder.c_str(), W_OK | X_OK) != 0) failure = {errno, std::generic_category()};
  if (failure)
    throw data_error(std::string(option) + ": cannot write to " + folder.string() + ": " + failure.message());
}

/// Writes the files that are asked for, of the runs that are complete.
void write_files(const options& asked, const std::vector<run>& runs) {
  if (!asked.csv.empty()) write_csv(asked.csv, runs);
  if (!asked.switches.empty()) write_switches(asked.switches, runs);
  if (!asked.statistics.empty()) write_statistics(asked.statistics, runs);
}

/// Images that are too small, files that cannot be written: better known now than after an hour.
void require_possible(const options& asked, const dataset& images, const std::vector<run>& runs) {
  try {
    static_cast<void>(network<float>(*asked.training.network, images.shape, images.classes, {}));
  } catch (const std::invalid_argument& e) {
    throw data_error("--" + std::string(e.what()));  // it begins with "model"
  }
  const std::pair<const char*, const std::filesystem::path*> files[] = {
      {"--csv", &asked.csv}, {"--switches-csv", &asked.switches}, {"--statistics-csv", &asked.statistics}};
  for (const auto& [option, file] : files) {
    if (file->empty()) continue;
    require_writable(*file);
    for (const auto& [other, its_file] : files)
      if (file != its_file && !its_file->empty() && same_file(*file, *its_file))
        throw data_error(std::string(option) + ": " + file->string() + " is the file of " + other);
  }
  if (!asked.training.exports.empty())
    for (const run& r : runs) require_writable(model_path(r.kind->adapted(asked.training), r.seed));
}

/// The images to train on and to test, of which those of --validation are no part of the training.
train_and_test images_for(const options& asked) {
  train_and_test data = asked.data->load(asked.folder);
  if (asked.validation >= data.train.count())
    throw data_error("--validation: " + std::to_string(asked.validation) + " images held out of " +
                     std::to_string(data.train.count()) + " leave none to train on");
  if (asked.validation > 0) data.test = data.train.hold_out(asked.validation);
  if (asked.limit > 0) data.train.truncate(asked.limit);
  return data;
}

/// A checkpoint that cannot be used is refused; one of another build, which was asked for, gets a word.
void require_resumable(const options& asked, const train_and_test& data, const run& r) {
  const auto before = r.kind->resumable(asked.training, data, r.seed);
  if (before && !before->other_build.empty() && (this_team() == nullptr || this_team()->leads()))
    std::cerr << "train: " << name_of_run(r.kind->adapted(asked.training), r.seed)
              << " goes on from a checkpoint of another build (" << before->other_build << "); this one ("
              << this_program().build << ") may round otherwise\n";
}

/// Says on stderr which runs trained little or nothing. The exit code: 2 where none has trained anything.
int report_failures(const std::vector<run>& runs) {
  for (const run& r : runs)
    if (const std::string remark = untrained(r); !remark.empty()) std::cerr << "train: " << remark << '\n';
  if (!std::ranges::all_of(runs, trained_nothing)) return 0;
  const run& first = runs.front();
  std::cerr << "train: no run has trained anything: " << first.kind->name << " seed " << first.seed;
  if (first.result.diverged.empty())
    std::cerr << " changed no weight by a gradient\n";
  else
    std::cerr << " diverged, " << first.result.diverged << '\n';
  return 2;
}

/// Is told of a run on the ranks that do not tell the user.
class silent final : public observer {
 public:
  void batch_done(std::size_t, float, float, std::uint64_t) override {}
  void epoch_done(const curve_point&) override {}
};

/// Whether this process is the one that talks and writes.
bool leads() { return this_team() == nullptr || this_team()->leads(); }

/// Runs everything that is asked for, --jobs at a time, and keeps the CSV files up to date.
void train_all(const options& asked, const train_and_test& data, std::vector<run>& runs) {
  const auto epochs = static_cast<std::size_t>(asked.training.epochs);
  progress shown(runs.size() * epochs * data.train.count(), asked.tested());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;

  const auto work = [&] {
    use_threads(asked.threads);
    for (std::size_t i = next++; i < runs.size(); i = next++) try {
        run& r = runs[i];
        progress::run_observer watcher(shown, r, asked.training.epochs, data.train.count());
        silent unheard;
        auto result = leads() ? r.kind->train(asked.training, data, r.seed, watcher)
                              : r.kind->train(asked.training, data, r.seed, unheard);
        const std::lock_guard lock(mutex);
        r.result = std::move(result);
        r.complete = true;
        if (leads()) write_files(asked, runs);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = runs.size();
      }
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < asked.jobs; ++i) helpers.emplace_back(work);
  work();
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

/// The models that --eval names on the test images. All are read before the first is evaluated.
std::vector<evaluated_file> evaluate_all(const options& asked) {
  std::vector<evaluated_file> files;
  for (const auto& path : asked.models) files.push_back({read_model(path), {}});
  const dataset images = asked.data->load(asked.folder).test;
  for (const auto& [model, outcome] : files)
    require_fit(model, images, "--dataset " + std::string(asked.data->name));
  use_threads(asked.threads);
  for (auto& [model, outcome] : files) outcome = model.kind->evaluate(model, images);
  return files;
}

/// The program on one rank. Returns its exit code.
int run_program(int argc, char** argv) {
  int exit_code = 0;
  // One rank tells what is wrong with the command line, which all have.
  std::streambuf* const told = leads() ? nullptr : std::cerr.rdbuf(nullptr);
  std::streambuf* const shown = leads() ? nullptr : std::cout.rdbuf(nullptr);
  const auto asked = parse(argc, argv, exit_code);
  if (!leads()) {
    std::cerr.rdbuf(told);
    std::cout.rdbuf(shown);
  }
  if (!asked) return exit_code;
  if (leads()) tell_of_fewer_threads("train", asked->threads);

  if (!asked->models.empty()) {
    print_evaluations(std::cout, evaluate_all(*asked));
    return 0;
  }

  const train_and_test data = images_for(*asked);
  std::vector<run> runs;
  for (const format* kind : asked->formats)
    for (const auto seed : asked->seeds) runs.push_back({kind, seed, {}, false});
  std::optional<checkpoint_folder> held;
  if (leads()) {
    prepare_folder("--checkpoint", asked->training.checkpoints);
    prepare_folder("--export", asked->training.exports);
    if (!asked->training.checkpoints.empty()) held.emplace(asked->training.checkpoints);
    require_possible(*asked, data.train, runs);
  }
  if (this_team() != nullptr) static_cast<void>(this_team()->of_leader(0));  // who has made what others read
  for (const run& r : runs) require_resumable(*asked, data, r);

  train_all(*asked, data, runs);
  if (!leads()) return 0;
  print_table(std::cout, runs, asked->tested());
  if (!asked->training.exports.empty()) print_models(std::cout, runs, asked->training);
  return report_failures(runs);
}

/// Says what ended the program. A rank that fails ends them all: the others would wait for it.
int fail(const char* what, int code) {
  const team* const members = this_team();
  const bool several = members != nullptr && members->ranks() > 1;
  std::cerr << "train: " << (several ? "rank " + std::to_string(members->rank()) + ": " : "") << what
            << std::endl;
  if (several) members->abort(code);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const membership joined(argc, argv);
  try {
    return run_program(argc, argv);
  } catch (const narrow_train::data_error& e) {
    return fail(e.what(), 2);
  } catch (const std::exception& e) {
    return fail(e.what(), 1);
  }
}
