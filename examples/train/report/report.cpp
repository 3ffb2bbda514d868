#include "report/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iomanip>
#include <map>
#include <sstream>
#include <utility>

#include "files/whole_file.hpp"

namespace narrow_train {
namespace {

/// 75 -> "1:15".
std::string minutes(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  const auto rest = std::to_string(whole % 60);
  return std::to_string(whole / 60) + (rest.size() < 2 ? ":0" : ":") + rest;
}

/// 182340 -> "182 kB". Decimal units.
std::string human(std::size_t bytes) {
  const auto value = static_cast<double>(bytes);
  char text[32];
  if (bytes == 0)
    return "-";
  else if (value < 1e6)
    std::snprintf(text, sizeof text, "%.1f kB", value / 1e3);
  else
    std::snprintf(text, sizeof text, "%.2f MB", value / 1e6);
  return text;
}

}  // namespace

progress::progress(std::size_t total_images, std::string_view tested)
    : terminal_(isatty(STDERR_FILENO) == 1), tested_(tested), total_(total_images) {}

void progress::erase_line() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

progress::run_observer::run_observer(progress& all, const run& described, int epochs,
                                     std::size_t images_per_epoch)
    : all_(all),
      name_(std::string(described.kind->name) + " seed " + std::to_string(described.seed)),
      epochs_(epochs),
      images_per_epoch_(images_per_epoch) {}

void progress::run_observer::batch_done(std::size_t images, float loss, float scale, std::uint64_t skipped) {
  images_done_ += images;
  const std::lock_guard lock(all_.mutex_);
  all_.done_ += images;
  const auto now = clock::now();
  if (!all_.terminal_ || now - all_.last_line_ < std::chrono::milliseconds(200)) return;
  all_.last_line_ = now;
  const double elapsed = std::chrono::duration<double>(now - all_.start_).count();
  const double rate = static_cast<double>(all_.done_) / elapsed;
  all_.erase_line();
  std::fprintf(stderr,
               "%s  epoch %zu/%d  %3.0f %%  loss %.4f  scale %g  skipped %llu  %.0f images/s  %s left",
               name_.c_str(), (images_done_ - 1) / images_per_epoch_ + 1, epochs_,
               100.0 * static_cast<double>(all_.done_) / static_cast<double>(all_.total_), double{loss},
               double{scale}, static_cast<unsigned long long>(skipped), rate,
               minutes(static_cast<double>(all_.total_ - all_.done_) / rate).c_str());
}

void progress::run_observer::epoch_done(const curve_point& p) {
  const std::lock_guard lock(all_.mutex_);
  all_.erase_line();
  const std::string lost = p.lost > 0 ? "without gradient " + std::to_string(p.lost) + "  " : "";
  std::fprintf(stderr, "%s  epoch %d/%d  loss %.4f  %s accuracy %.2f %%  scale %g  skipped %llu  %s%.1f s\n",
               name_.c_str(), p.epoch, epochs_, double{p.loss}, all_.tested_.c_str(), 100 * p.accuracy,
               double{p.scale}, static_cast<unsigned long long>(p.skipped), lost.c_str(), p.seconds);
}

void progress::run_observer::epochs_left_out(int count) {
  const auto images = static_cast<std::size_t>(count) * images_per_epoch_;
  images_done_ += images;
  const std::lock_guard lock(all_.mutex_);
  all_.total_ -= images;
}

namespace {

/// Writes a file with a line for each of the items that items(result) has of a complete run: format, seed,
/// and what line(stream, result, item) adds.
template <class Items, class Line>
void write_lines(const std::filesystem::path& path, const std::vector<run>& runs, const char* names,
                 Items items, Line line) {
  std::ostringstream text;
  text.precision(9);
  text << names << '\n';
  for (const run& r : runs) {
    if (!r.complete) continue;
    for (const auto& item : items(r.result)) {
      text << r.kind->name << ',' << r.seed;
      line(text, r.result, item);
      text << '\n';
    }
  }
  write_file(path, std::move(text).str());
}

template <class... Field> void add_fields(std::ostream& out, const Field&... fields) {
  ((out << ',' << fields), ...);
}

}  // namespace

void write_csv(const std::filesystem::path& path, const std::vector<run>& runs) {
  write_lines(
      path, runs,
      "format,seed,epoch,step,loss,accuracy,learning_rate,scale,skipped,nonfinite,seconds,diverged,lost",
      std::mem_fn(&training_result::curve),
      [](std::ostream& file, const training_result& result, const curve_point& p) {
        const bool diverged = !result.diverged.empty() && &p == &result.curve.back();
        add_fields(file, p.epoch, p.step, p.loss, p.accuracy, p.rate, p.scale, p.skipped, p.nonfinite,
                   p.seconds, diverged, p.lost);
      });
}

void write_switches(const std::filesystem::path& path, const std::vector<run>& runs) {
  write_lines(path, runs,
              "format,seed,step,layer,word_length,fraction_length,lookback,resolution,diversity,loss",
              std::mem_fn(&training_result::formats),
              [](std::ostream& file, const training_result&, const format_change& c) {
                add_fields(file, c.step, c.layer, c.format.word_length, c.format.fraction_length, c.lookback,
                           c.resolution, c.diversity, c.loss);
              });
}

void write_statistics(const std::filesystem::path& path, const std::vector<run>& runs) {
  write_lines(path, runs, "format,seed,epoch,step,layer,tensor,statistic,first_bin,values",
              std::mem_fn(&training_result::statistics),
              [](std::ostream& file, const training_result&, const statistic& s) {
                add_fields(file, s.epoch, s.step, s.layer, s.tensor, s.name, s.first_bin, "");
                for (const char* separator = ""; const double x : s.values)
                  file << std::exchange(separator, " ") << x;
              });
}

namespace {

/// What became of the formats of a run that switches them.
void describe_switches(std::ostream& out, const run& r) {
  const auto& [bytes, halves, wide, fp32] = r.result.words;
  const auto all = static_cast<double>(bytes + halves + wide + fp32);
  if (all == 0) return;
  std::map<std::string, int> last;  // word lengths, by layer
  for (const format_change& c : r.result.formats) last[c.layer] = c.format.word_length;
  double sum = 0;
  int min_length = layer_format::full_precision, max_length = 0;
  for (const auto& [layer, wl] : last) {
    sum += wl;
    min_length = std::min(min_length, wl);
    max_length = std::max(max_length, wl);
  }
  const auto percent = [all](std::uint64_t count) { return 100 * static_cast<double>(count) / all; };
  char line[240];
  std::snprintf(line, sizeof line,
                "%s seed %llu ends with word lengths of %d..%d, mean %.1f; forward passes of layers: %.0f %% "
                "in up to 8 "
                "bits, %.0f %% in up to 16, %.0f %% in more, %.0f %% in fp32; modelled speed %.2f x fp32\n",
                std::string(r.kind->name).c_str(), static_cast<unsigned long long>(r.seed), min_length,
                max_length, sum / static_cast<double>(last.size()), percent(bytes), percent(halves),
                percent(wide), percent(fp32), r.result.costs.speed_up_over(r.result.costs_in_fp32));
  out << line;
}

}  // namespace

bool trained_nothing(const run& r) {
  return !r.result.diverged.empty() || updates(r.result.curve.back()) == 0;
}

std::string untrained(const run& r) {
  const curve_point& last = r.result.curve.back();
  if (2 * updates(last) >= last.step) return {};
  std::ostringstream text;
  text << r.kind->name << " seed " << r.seed << (trained_nothing(r) ? " trained nothing" : " trained little")
       << ": of " << last.step << " steps " << last.skipped
       << " were skipped, as gradients times the loss scale were not finite, and in " << last.lost
       << " the gradients of all weights were zero; the loss scale is " << last.scale << " at the end";
  return std::move(text).str();
}

void print_table(std::ostream& out, const std::vector<run>& runs, std::string_view tested) {
  const std::string accuracy = std::string(tested) + " accuracy";
  const auto width = static_cast<int>(std::max(accuracy.size(), std::size_t{13}));
  out << "format           " << accuracy
      << "   lowest..highest   s/epoch     weights   fp32 copy   activations   "
         "skipped\n";
  std::ostringstream remarks;
  for (std::size_t i = 0; i < runs.size();) {
    const format* kind = runs[i].kind;
    double sum = 0, lowest = 1, highest = 0, seconds = 0;
    std::uint64_t skipped = 0, steps = 0, nonfinite = 0;
    std::size_t seeds = 0, epochs = 0, diverged = 0;
    const training_result& sizes = runs[i].result;  // equal for every seed
    overflow_counts where;
    for (; i < runs.size() && runs[i].kind == kind; ++i, ++seeds) {
      const curve_point& last = runs[i].result.curve.back();
      sum += last.accuracy;
      lowest = std::min(lowest, last.accuracy);
      highest = std::max(highest, last.accuracy);
      seconds += last.seconds;
      skipped += last.skipped;
      steps += last.step;
      nonfinite += last.nonfinite;
      if (const auto& reason = runs[i].result.diverged; !reason.empty()) {
        ++diverged;
        remarks << kind->name << " seed " << runs[i].seed << " diverged in epoch " << last.epoch << ": "
                << reason << '\n';
      }
      if (const std::string remark = untrained(runs[i]); !remark.empty()) remarks << remark << '\n';
      describe_switches(remarks, runs[i]);
      epochs += runs[i].result.curve.size();
      for (const auto& [tensor, count] : runs[i].result.overflows) where[tensor] += count;
    }
    char line[160];
    std::snprintf(line, sizeof line, "%-16s %*.2f %%   %7.2f..%-7.2f %8.2f %11s %11s %13s %9lld",
                  std::string(kind->name).c_str(), width - 2, 100 * sum / static_cast<double>(seeds),
                  100 * lowest, 100 * highest, seconds / static_cast<double>(epochs),
                  human(sizes.weight_bytes).c_str(), human(sizes.master_bytes).c_str(),
                  human(sizes.activation_bytes).c_str(), static_cast<unsigned long long>(skipped));
    out << line;
    if (diverged > 0) out << "   diverged: " << diverged << " of " << seeds;
    out << '\n';
    if (nonfinite > 0)
      remarks << kind->name << " had " << nonfinite << " batches whose loss was not finite\n";
    if (where.empty()) continue;
    remarks << kind->name << " skipped " << skipped << " of " << steps
            << " steps, with overflow in the gradients of";
    for (const char* separator = " "; const auto& [tensor, count] : where)
      remarks << std::exchange(separator, ", ") << tensor << " (" << count << ')';
    remarks << '\n';
  }
  out << remarks.str();
}

namespace {

std::string percent(std::uint64_t part, std::uint64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

}  // namespace

void print_models(std::ostream& out, const std::vector<run>& runs, const training_settings& settings) {
  for (const run& r : runs) {
    const auto path = model_path(r.kind->adapted(settings), r.seed).string();
    if (!r.result.exported) {
      out << path << " was not written: the run diverged\n";
      continue;
    }
    const auto& [file, in_fp32, in_fp16, bits] = *r.result.exported;
    char mean[32];
    std::snprintf(mean, sizeof mean, "%.1f", bits);
    out << path << " has " << file << " bytes, " << mean << " bits a weight: " << percent(file, in_fp32)
        << " of the " << in_fp32 << " in fp32, " << percent(file, in_fp16) << " of the " << in_fp16
        << " in fp16\n";
  }
}

void print_evaluations(std::ostream& out, const std::vector<evaluated_file>& files) {
  std::size_t width = 4;
  for (const evaluated_file& f : files) width = std::max(width, f.model.contents.path.string().size());
  out << std::left << std::setw(static_cast<int>(width)) << "file"
      << "   model      format             test accuracy   bits a weight       bytes     in fp32     in fp16 "
         "  "
         "of fp32   of fp16\n";
  for (const evaluated_file& f : files) {
    const model_size& size = f.outcome.size;
    char line[240];
    std::snprintf(
        line, sizeof line, "   %-10s %-18s %11.2f %%   %13.1f %11llu %11llu %11llu %9s %9s\n",
        std::string(f.model.about.settings.network->name).c_str(), std::string(f.model.kind->name).c_str(),
        100 * f.outcome.result.accuracy, size.bits_per_weight, static_cast<unsigned long long>(size.file),
        static_cast<unsigned long long>(size.in_fp32), static_cast<unsigned long long>(size.in_fp16),
        percent(size.file, size.in_fp32).c_str(), percent(size.file, size.in_fp16).c_str());
    out << std::left << std::setw(static_cast<int>(width)) << f.model.contents.path.string() << line;
  }
}

}  // namespace narrow_train
