#include "options/checks.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace narrow_train {
namespace {

/// The command line, and what has been read of it.
struct command {
  const CLI::App& app;
  const options& asked;

  [[nodiscard]] bool given(const char* name) const { return is_given(app, name); }
  /// The values of an option as they were given, separated by commas.
  [[nodiscard]] std::string text(const char* name) const {
    return CLI::detail::join(app.get_option(name)->results(), ",");
  }
  [[nodiscard]] bool any_format(const std::function<bool(const format&)>& has) const {
    return std::ranges::any_of(asked.formats, [&](const format* f) { return has(*f); });
  }
  [[nodiscard]] bool any_recipe(const std::function<bool(const recipe&)>& has) const {
    return any_format([&](const format& f) { return f.quantised && has(*f.quantised); });
  }
};

void require(bool holds, const std::string& option, const std::string& complaint) {
  if (!holds) throw CLI::ValidationError(option, complaint);
}

/// An option that is given where it has no effect.
void refuse_without_effect(const command& c, const char* option, bool has_effect, const std::string& where) {
  if (c.given(option) && !has_effect)
    throw CLI::ValidationError(option,
                               c.app.get_option(option)->results().front() + " is of no use " + where);
}

template <class T> bool has_repeated(std::vector<T> items) {
  std::ranges::sort(items);
  return std::ranges::adjacent_find(items) != items.end();
}

void check_evaluation(const command& c) {
  require(std::ranges::none_of(c.asked.models, [](const auto& path) { return path.empty(); }), "--eval",
          "needs the names of files, none of them empty");
  if (!c.given("--eval")) return;
  constexpr std::string_view of_use[] = {"--eval", "--dataset", "--data", "--threads"};
  for (const CLI::Option* option : c.app.get_options()) {
    const std::string name = option->get_name();
    if (!option->empty() && std::ranges::find(of_use, name) == std::end(of_use))
      throw CLI::ValidationError(
          name, CLI::detail::join(option->results(), ",") + " is of no use to --eval, which trains nothing");
  }
}

void check_data(const command& c) {
  const source& data = *c.asked.data;
  const std::string name(data.name);
  if (data.needs_folder)
    require(!c.asked.folder.empty(), "--dataset", name + " needs --data DIR, the folder of its files");
  else
    require(c.asked.folder.empty(), "--data", c.asked.folder.string() + " is of no use to --dataset " + name);
}

void check_schedule(const command& c) {
  const schedule_settings& schedule = c.asked.training.schedule;
  const schedule_uses& uses = schedule.kind->uses;
  const std::string where = "to --schedule " + std::string(schedule.kind->name);
  refuse_without_effect(c, "--lr-decay", uses.decay, where);
  refuse_without_effect(c, "--milestones", uses.milestones, where);
  refuse_without_effect(c, "--lr-factor", uses.factor, where);
  refuse_without_effect(c, "--patience", uses.patience, where);
  require(std::ranges::adjacent_find(schedule.milestones, std::greater_equal{}) == schedule.milestones.end(),
          "--milestones", c.text("--milestones") + " is not ascending");
  require(schedule.warmup <= c.asked.training.epochs, "--warmup",
          CLI::detail::to_string(schedule.warmup) + " is longer than --epochs " +
              std::to_string(c.asked.training.epochs));
}

void check_files(const command& c) {
  const training_settings& t = c.asked.training;
  const bool checkpoints = !t.checkpoints.empty();
  require(t.start == run_start::beginning || checkpoints, "--resume",
          "needs --checkpoint DIR, the folder to resume from");
  if (checkpoints || !t.exports.empty()) {
    const std::string with = checkpoints ? "with --checkpoint" : "with --export";
    require(!has_repeated(c.asked.seeds), "--seed", with + " every seed must be another");
    require(!has_repeated(c.asked.formats), "--formats", with + " every format must be another");
  }
  refuse_without_effect(c, "--statistics-every",
                        !c.asked.statistics.empty() || t.loss_scale == automatic_scale,
                        "without --statistics-csv or --loss-scale auto");
}

void check_ranks(const command& c) {
  const training_settings& t = c.asked.training;
  const bool several = this_team() != nullptr && this_team()->ranks() > 1;
  for (const char* option : {"--reduce", "--micro-batch", "--rest"})
    require(!c.given(option) || this_team() != nullptr, option,
            "needs a program that is built with MPI: cmake -D NARROW_MPI=ON");
  refuse_without_effect(c, "--rest", several || c.given("--reduce") || c.given("--micro-batch"),
                        "on one rank");
  if (!several && !c.given("--reduce") && !c.given("--micro-batch")) return;
  require(t.accumulate_steps == 1, "--accumulate-steps",
          "does not go with several ranks, whose batches have micro-batches: take a larger --batch");
  require(c.asked.jobs == 1, "--jobs", "must be 1 where there are several ranks");
  require(t.loss_scale != automatic_scale, "--loss-scale",
          "auto looks at the gradients of one rank: take dynamic or a number where there are several");
  require(c.asked.statistics.empty() && c.asked.models.empty(),
          c.asked.models.empty() ? "--statistics-csv" : "--eval", "is a matter of one rank");
  const int micro = t.ranks.micro_batch > 0 ? t.ranks.micro_batch : 1;
  require((t.batch + micro - 1) / micro >= this_team()->ranks(),
          t.ranks.micro_batch > 0 ? "--micro-batch" : "--batch",
          text(t.ranks.micro_batch > 0 ? t.ranks.micro_batch : t.batch) + " leaves some of the " +
              text(this_team()->ranks()) + " ranks without images of a batch of " + text(t.batch));
}

void check_recipes(const command& c, std::span<const option_group> groups) {
  for (const option_group& group : groups)
    for (const option_row& row : group.rows)
      if (row.only)
        refuse_without_effect(c, row.name, c.any_recipe(row.only->effect),
                              "without " + std::string(row.only->description) + " in --formats");
  const recipe_choices& chosen = c.asked.training.recipes;
  refuse_without_effect(c, "--exponent-bits",
                        chosen.exponent.value_or(exponent_choice::max) != exponent_choice::max,
                        "without --exponent min or avg");
}

/// Refuses a constant loss scale that a format has no room for.
void check_scale(const training_settings& t, const format& f) {
  const auto [low, high] = range_of_scales(f.gradients.smallest, f.gradients.largest, t.loss_weight, t.batch);
  const double scale = double{make_scaler(t.loss_scale).scale()};
  if (low <= scale && scale <= high) return;
  std::ostringstream message;
  message << t.loss_scale << " is not from " << low << " to " << high
          << ", where the largest gradient of a logit, --loss-weight " << t.loss_weight << " / --batch "
          << t.batch << ", is in the range of " << f.name;
  throw CLI::ValidationError("--loss-scale", message.str());
}

void check_precision(const command& c) {
  const training_settings& t = c.asked.training;
  if (is_constant_scale(t.loss_scale))
    for (const format* f : c.asked.formats) check_scale(t, *f);
  if (t.master == master_copy::absent) {
    require(!c.any_recipe([](const recipe& r) { return r.switching == recipe::precision::marvin; }),
            "--no-master", "is of no use to marvin, which chooses its formats by the fp32 copy");
    require(c.any_format(
                [](const format& f) { return f.quantised ? f.quantised->master_copy : f.stored_narrow; }),
            "--no-master", "is of no use: no format of --formats has an fp32 copy of its weights");
  }
  require(t.products.sums == accumulation::wide || c.any_format(&format::stored_narrow), "--accumulate",
          "narrow is of no use: no format of --formats stores its tensors narrow");
}

}  // namespace

void require_consistent(const CLI::App& app, const options& asked, std::span<const option_group> groups) {
  const command c{app, asked};
  check_evaluation(c);
  check_data(c);
  check_schedule(c);
  check_files(c);
  check_ranks(c);
  check_recipes(c, groups);
  require(asked.training.others == other_builds::refused || asked.training.start == run_start::checkpoint,
          "--other-build", "is of no use without --resume");
  check_precision(c);
  refuse_without_effect(c, "--momentum", asked.training.optimizer->name != "adam", "to --optimizer adam");
}

}  // namespace narrow_train
