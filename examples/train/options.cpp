#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

#include "command_line.hpp"

namespace narrow_train {
namespace {

/// The names of a list such as models().
template <class Item> std::vector<std::string> names(std::span<const Item> items) {
  std::vector<std::string> all;
  for (const Item& item : items) all.emplace_back(item.name);
  return all;
}

/// "a or b or c", for help texts.
template <class Item> std::string choices(std::span<const Item> items) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : " | ") + std::string(item.name);
  return text;
}

template <class Item> const Item* find(std::span<const Item> items, std::string_view name) {
  for (const Item& item : items)
    if (item.name == name) return &item;
  return nullptr;  // not reached: the parser has checked the name
}

/// The name of each, and what it says about itself.
template <class Item> std::string described(std::span<const Item> items) {
  std::string text;
  for (const Item& item : items)
    text += (text.empty() ? "" : " | ") + std::string(item.name) + " (" + std::string(item.description) + ')';
  return text;
}

/// 010, which some would read as 8.
bool has_leading_zero(const std::string& text) {
  const std::size_t first = text.find_first_not_of("+-");
  return first != text.npos && first + 1 < text.size() && text[first] == '0' && text[first + 1] >= '0' &&
         text[first + 1] <= '9';
}

const CLI::Validator seed(
    [](const std::string& text) -> std::string {
      std::uint64_t number = 0;
      const char* const end = text.data() + text.size();
      const auto [rest, failure] = std::from_chars(text.data(), end, number);
      if (failure == std::errc{} && rest == end && !has_leading_zero(text)) return {};
      return text + " is not a whole number from 0 to " +
             std::to_string(std::numeric_limits<std::uint64_t>::max());
    },
    "");

/// A validator that accepts the numbers x with low <= x <= high, or low < x where `low` itself is excluded.
enum class lower_end { included, excluded };
CLI::Validator between(double low, double high, lower_end end = lower_end::included) {
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        double x = 0;
        const bool number = CLI::detail::lexical_cast(text, x) && std::isfinite(x);
        if (number && has_leading_zero(text))
          return text + " is not written as a decimal number: it begins with 0";
        if (number && x != 0 && static_cast<float>(x) == 0)
          return text + " is too small: no float other than 0";
        if (number && x <= high && (x > low || (x == low && end == lower_end::included))) return {};
        std::ostringstream message;
        message << text << " is not " << (end == lower_end::included ? "from " : "above ") << low
                << (end == lower_end::included ? " to " : " and at most ") << high;
        return message.str();
      },
      "");
}

const CLI::Validator scale_choice(
    [](const std::string& text) -> std::string {
      try {
        static_cast<void>(make_scaler(text));
        return {};
      } catch (const std::invalid_argument& e) {
        return e.what();
      }
    },
    "");

/// Makes a number of "2^-24".
const CLI::Validator power_of_two(
    [](std::string& text) -> std::string {
      int exponent = 0;
      if (!text.starts_with("2^")) return {};
      if (!CLI::detail::lexical_cast(text.substr(2), exponent) || exponent < -149 || exponent > 127)
        return text + " is not from 2^-149 to 2^127";
      std::ostringstream number;
      number.precision(9);
      number << std::ldexp(1.0, exponent);
      text = number.str();
      return {};
    },
    "");

bool strictly_ascending(const std::vector<double>& numbers) {
  return std::ranges::adjacent_find(numbers, std::greater_equal{}) == numbers.end();
}

template <class T> bool has_repeated(std::vector<T> items) {
  std::ranges::sort(items);
  return std::ranges::adjacent_find(items) != items.end();
}

/// Refuses a constant loss scale that a format has no room for.
void check_scale(const training_settings& t, const format& f) {
  const auto [low, high] = range_of_scales(f.gradients.smallest, f.gradients.largest, t.loss_weight, t.batch);
  const double scale = double{make_scaler(t.loss_scale).scale()};
  if (low <= scale && scale <= high) return;
  std::ostringstream message;
  message << t.loss_scale << " is not from " << low << " to " << high
          << ", where the largest gradient of a logit, "
          << "--loss-weight " << t.loss_weight << " / --batch " << t.batch << ", is in the range of "
          << f.name;
  throw CLI::ValidationError("--loss-scale", message.str());
}

/// An option of some recipes only.
struct recipe_option {
  const CLI::Option* option;
  std::function<bool(const recipe&)> applies;
  std::string needed;  // for the message where no format has such a recipe
};

}  // namespace

std::optional<options> parse(int argc, const char* const* argv, int& exit_code) {
  options o;
  training_settings& t = o.training;
  CLI::App app(
      "Trains the same small network in several number formats, one after another, from the same initial "
      "weights and "
      "with the same batches, and compares them. Without options: LeNet on digits that the program draws "
      "itself.");
  app.option_defaults()->always_capture_default();

  std::vector<std::string> format_names{"fp32", "fp16", "bf16", "hbfp8", "int8"};
  std::string dataset{o.data->name}, model{t.network->name}, rule{t.optimizer->name};
  bool no_master = false;
  std::string schedule{t.schedule.kind->name};
  std::optional<augmentation> augment;
  bool resume = false;
  constexpr double unlimited = 1e9;

  // One of some names, which stand for values.
  const auto add_named = [&app](const char* name, auto& value, const auto& choices, const char* help) {
    std::vector<std::string> allowed;
    for (const auto& choice : choices) allowed.emplace_back(choice.first);
    auto* option = app.add_option_function<std::string>(
                          name,
                          [&value, choices](const std::string& chosen) {
                            for (const auto& [text, meaning] : choices)
                              if (text == chosen) value = meaning;
                          },
                          help)
                       ->check(CLI::IsMember(allowed).description(""))
                       ->always_capture_default(false);
    if constexpr (requires { name_of(choices, value); }) option->default_str(name_of(choices, value));
    return option;
  };

  app.add_option("--formats", format_names, "Formats, separated by commas: " + choices(formats()))
      ->delimiter(',')
      ->check(CLI::IsMember(names(formats())).description(""));
  app.add_option("--model", model, "Network: " + choices(models()))
      ->check(CLI::IsMember(names(models())).description(""));
  app.add_option("--seed", o.seeds,
                 "Seeds of initial weights and batch order, separated by commas; one run each")
      ->delimiter(',')
      ->check(seed);
  app.add_option("--jobs", o.jobs, "Runs at a time, each in a thread of its own; results do not depend on it")
      ->check(between(1, 256));
  app.add_option(
         "--threads", o.threads,
         "Threads of each run; fp32 products of dense layers, which are Eigen's, may then round differently")
      ->check(between(1, 256));
  app.add_option("--checkpoint", t.checkpoints,
                 "Folder for the state of each run after each epoch: MODEL-FORMAT-SEED.checkpoint")
      ->always_capture_default(false);
  app.add_flag("--resume", resume,
               "Continue what is in --checkpoint; runs of which nothing is there start at the beginning");
  bool other_build = false;
  app.add_flag("--other-build", other_build,
               "Continue checkpoints of another build, too, which may round differently from there on");
  app.add_option("--csv", o.csv, "File for the curves: one line for each run and epoch")
      ->always_capture_default(false);
  app.add_option("--switches-csv", o.switches,
                 "File for the formats that layers switch to: one line for each run, layer and change")
      ->always_capture_default(false);

  app.add_option(
         "--statistics-csv", o.statistics,
         "File for histograms of weights, activations and gradients, and what else there is to know of "
         "them: one line for each run, step that is looked at, layer, tensor and number")
      ->always_capture_default(false);
  auto* every = app.add_option("--statistics-every", t.look.every,
                               "Steps from one look at the tensors to the next, for --statistics-csv and "
                               "--loss-scale auto")
                    ->check(between(1, unlimited));
  app.add_option("--export", t.exports,
                 "Folder for the model that each run ends with, its weights in their formats: "
                 "MODEL-FORMAT-SEED.model")
      ->always_capture_default(false);
  auto* evaluated =
      app.add_option("--eval", o.models,
                     "Models that --export wrote, separated by commas: trains nothing, tests them")
          ->delimiter(',')
          ->always_capture_default(false);

  const std::string data_group = "Data";
  app.add_option("--dataset", dataset, "Images: " + choices(sources()))
      ->check(CLI::IsMember(names(sources())).description(""))
      ->group(data_group);
  app.add_option("--data", o.folder, "Folder of the files, for every data set but digits")
      ->always_capture_default(false)
      ->group(data_group);
  app.add_option(
         "--validation", o.validation,
         "Training images that are held out, the last N: accuracies are of these, and the test images are "
         "not looked at; to choose other options by")
      ->check(between(0, unlimited))
      ->group(data_group);
  app.add_option("--limit", o.limit, "Train on the first N images only; 0: on all")
      ->check(between(0, unlimited))
      ->group(data_group);
  add_named("--augment", augment, augmentations,
            "none | crop-flip: images padded by 4, cut to size at random, mirrored at random; by default "
            "crop-flip for cifar10, none for other images")
      ->group(data_group);

  const std::string training_group = "Training";
  app.add_option("--epochs", t.epochs, "Passes through the training images")
      ->check(between(1, 10000))
      ->group(training_group);
  app.add_option("--batch", t.batch, "Images a step")->check(between(1, 65536))->group(training_group);
  app.add_option("--accumulate-steps", t.accumulate_steps,
                 "Batches whose gradients are averaged in fp32 for one update")
      ->check(between(1, 65536))
      ->group(training_group);
  app.add_option("--optimizer", rule, "Update rule: " + choices(optimizers()))
      ->check(CLI::IsMember(names(optimizers())).description(""))
      ->group(training_group);
  auto* rate =
      app.add_option("--lr", t.step.rate, "Learning rate; a usual one for the optimiser if not given")
          ->check(between(0, unlimited, lower_end::excluded))
          ->always_capture_default(false)
          ->group(training_group);
  app.add_option("--schedule", schedule, "Learning rate over the run: " + described(schedules()))
      ->check(CLI::IsMember(names(schedules())).description(""))
      ->group(training_group);
  auto* decay = app.add_option("--lr-decay", t.schedule.decay, "decay: the factor")
                    ->check(between(0, 1, lower_end::excluded))
                    ->group(training_group);
  auto* milestones = app.add_option("--milestones", t.schedule.milestones,
                                    "step: parts of the run, ascending, separated by commas")
                         ->delimiter(',')
                         ->check(between(0, 1))
                         ->group(training_group);
  auto* factor = app.add_option("--lr-factor", t.schedule.factor, "step, plateau: the factor")
                     ->check(between(0, 1, lower_end::excluded))
                     ->group(training_group);
  auto* patience = app.add_option("--patience", t.schedule.patience,
                                  "plateau: epochs in a row without a lower training loss that are borne")
                       ->check(between(0, 10000))
                       ->group(training_group);
  app.add_option("--warmup", t.schedule.warmup,
                 "Epochs, whole or not, in which the learning rate rises from nothing")
      ->check(between(0, 10000))
      ->group(training_group);
  auto* momentum = app.add_option("--momentum", t.step.momentum, "Momentum of sgd and nesterov")
                       ->check(between(0, 0.9999))
                       ->group(training_group);
  app.add_option("--weight-decay", t.step.weight_decay, "L2 regularisation of the weights")
      ->check(between(0, 1))
      ->group(training_group);
  app.add_option("--clip-norm", t.clip_norm, "Largest norm of all (unscaled) gradients together; 0: any")
      ->check(between(0, unlimited))
      ->group(training_group);

  app.add_option("--l1", t.l1, "L1 regularisation of the weights")
      ->check(between(0, 1))
      ->group(training_group);
  add_named("--init", t.start_weights, starts_of_weights,
            "Initial weights: he (normal, variance 2 / inputs) | truncated (as marvin has it, 0.5 / inputs)")
      ->group(training_group);

  const std::string precision_group = "Mixed precision and what happens without it";
  app.add_option("--loss-scale", t.loss_scale,
                 "none | dynamic | auto: by the largest gradients at times | a number, the constant scale, "
                 "at which the "
                 "largest gradient of a logit, --loss-weight / --batch, is in the range of the formats")
      ->check(scale_choice)
      ->group(precision_group);
  app.add_option("--loss-weight", t.loss_weight,
                 "Factor on the loss itself, and so on all gradients; divide --lr by it for the same steps")
      ->check(between(0, unlimited, lower_end::excluded))
      ->group(precision_group);
  app.add_option(
         "--flush-below", t.flush_below,
         "Activation gradients of smaller magnitude, without the loss scale, become zero; 2^-T or a number")
      ->transform(power_of_two)
      ->check(between(0, unlimited))
      ->group(precision_group);
  app.add_flag("--no-master", no_master, "No fp32 copy: updates go to the weights as stored")
      ->group(precision_group);
  add_named("--accumulate", t.products.sums, accumulations,
            "wide: products are summed in fp32 | narrow: every addition is rounded to the format (slow)")
      ->group(precision_group);

  const std::string recipe_group = "Formats of operands (hbfp, int8, fp8, float_*, marvin, muppet)";
  std::vector<recipe_option> recipe_options;
  const auto add_choice = [&](const char* name, auto& value, const char* help, const auto& choices,
                              auto applies, const char* needed) {
    recipe_options.push_back({add_named(name, value, choices, help)->group(recipe_group), applies, needed});
  };
  const auto is = [](auto... kinds) {
    return [=](const recipe& r) { return ((r.weights.kind == kinds) || ...); };
  };
  const auto any = [](const recipe&) { return true; };
  const auto marvin = [](const recipe& r) { return r.switching == recipe::precision::marvin; };
  using enum operand_kind;
  add_choice(
      "--rounding", t.recipes.rounding,
      "nearest | stochastic, of all operands; by default stochastic in hbfp, marvin and muppet, with int8 of "
      "gradients only",
      rounding_choices, any, "a format of operands");
  add_choice("--exponent", t.recipes.exponent,
             "max | min | avg: what the shared exponents of hbfp are chosen by", exponent_choices, is(bfp),
             "hbfp");
  add_choice(
      "--exponent-bits", t.recipes.kept,
      "half | 1: bits of the mantissa, sign not included, that min and avg keep of the magnitude which they "
      "look at; larger ones saturate",
      exponent_bit_choices, is(bfp), "hbfp");
  add_choice(
      "--tile", t.recipes.weight_scales,
      "tensor | 24: what shares a scale in the weights of hbfp and int8, everything or squares of 24 x 24",
      weight_sharings, is(bfp, int8), "hbfp or int8");
  recipe_options.push_back(
      {app.add_option("--weight-bits", t.recipes.stored_mantissa,
                      "Mantissas of a wider copy of hbfp's weights, which the updates go to")
           ->check(between(2, 16))
           ->always_capture_default(false)
           ->group(recipe_group),
       is(bfp), "hbfp"});
  bool saturate = false;
  recipe_options.push_back(
      {app.add_flag("--saturate-output", saturate,
                    "Sums of products of integers saturate at 32 bits, as accumulators do")
           ->group(recipe_group),
       is(bfp, int8, fixed, held_words), "integers"});
  add_choice("--clip", t.recipes.clip,
             "global | gvq | mcs | both: gradients of int8 for the weight gradient, one scale or one for "
             "each channel "
             "(gvq, both), at the maximum or by their distribution (mcs, both)",
             gradient_clips, is(int8), "int8");
  add_choice("--push-up", t.switching.push_up, "adapt | printed: which form of PushUp marvin has",
             push_up_forms, marvin, "marvin");
  const auto add_number = [&](const char* name, auto& value, const char* help, double low, double high) {
    recipe_options.push_back(
        {app.add_option(name, value, help)->check(between(low, high))->group(recipe_group), marvin,
         "marvin"});
  };
  add_number("--buffer-bits", t.switching.buffer_bits,
             "Bits before the point that marvin leaves for activations", 0, 30);
  add_number("--lookback-weight", t.switching.gamma, "Weight of the newest lookback of marvin", 0, 1);

  try {
    app.parse(argc, argv);
    if (std::ranges::any_of(o.models, [](const auto& path) { return path.empty(); }))
      throw CLI::ValidationError("--eval", "needs the names of files, none of them empty");
    if (!evaluated->empty())
      for (const CLI::Option* option : app.get_options())
        if (!option->empty() && !option->check_name("--eval") && !option->check_name("--dataset") &&
            !option->check_name("--data") && !option->check_name("--threads"))
          throw CLI::ValidationError(option->get_name(), CLI::detail::join(option->results(), ",") +
                                                             " is of no use to --eval, which trains nothing");
    o.data = find(sources(), dataset);
    if (o.data->needs_folder && o.folder.empty())
      throw CLI::ValidationError("--dataset", dataset + " needs --data DIR, the folder of its files");
    if (!o.data->needs_folder && !o.folder.empty())
      throw CLI::ValidationError("--data", o.folder.string() + " is of no use to --dataset " + dataset);
    t.schedule.kind = find(schedules(), schedule);
    const auto refuse_unused = [&](const CLI::Option* option, bool used) {
      if (!option->empty() && !used)
        throw CLI::ValidationError(option->get_name(),
                                   option->results().front() + " is of no use to --schedule " + schedule);
    };
    const schedule_uses& uses = t.schedule.kind->uses;
    refuse_unused(decay, uses.decay);
    refuse_unused(milestones, uses.milestones);
    refuse_unused(factor, uses.factor);
    refuse_unused(patience, uses.patience);
    if (!strictly_ascending(t.schedule.milestones))
      throw CLI::ValidationError("--milestones",
                                 CLI::detail::join(milestones->results(), ",") + " is not ascending");
    if (t.schedule.warmup > t.epochs)
      throw CLI::ValidationError("--warmup", CLI::detail::to_string(t.schedule.warmup) +
                                                 " is longer than --epochs " + std::to_string(t.epochs));
    if (resume && t.checkpoints.empty())
      throw CLI::ValidationError("--resume", "needs --checkpoint DIR, the folder to resume from");
    const std::string with_files = !t.checkpoints.empty() ? "--checkpoint" : "--export";
    const bool files = !t.checkpoints.empty() || !t.exports.empty();
    if (files && has_repeated(o.seeds))
      throw CLI::ValidationError("--seed", "with " + with_files + " every seed must be another");
    if (files && has_repeated(format_names))
      throw CLI::ValidationError("--formats", "with " + with_files + " every format must be another");
    if (!every->empty() && o.statistics.empty() && t.loss_scale != automatic_scale)
      throw CLI::ValidationError("--statistics-every", every->results().front() +
                                                           " is of no use without --statistics-csv or "
                                                           "--loss-scale auto");
    const auto any_format = [&](auto has) {
      return std::ranges::any_of(
          format_names, [&](const std::string& name) { return std::invoke(has, *find(formats(), name)); });
    };
    const auto selected = [&](auto has) {
      return any_format([&](const format& f) { return f.quantised && has(*f.quantised); });
    };
    for (const recipe_option& asked : recipe_options)
      if (!asked.option->empty() && !selected(asked.applies))
        throw CLI::ValidationError(
            asked.option->get_name(),
            asked.option->results().front() + " is of no use without " + asked.needed + " in --formats");
    if (t.recipes.kept && t.recipes.exponent.value_or(exponent_choice::max) == exponent_choice::max)
      throw CLI::ValidationError("--exponent-bits", name_of(exponent_bit_choices, *t.recipes.kept) +
                                                        " is of no use without --exponent min or avg");
    if (other_build && !resume) throw CLI::ValidationError("--other-build", "is of no use without --resume");
    if (is_constant_scale(t.loss_scale))
      for (const std::string& name : format_names) check_scale(t, *find(formats(), name));
    if (no_master && selected(marvin))
      throw CLI::ValidationError("--no-master",
                                 "is of no use to marvin, which chooses its formats by the fp32 copy");
    const auto has_master = [](const format& f) {
      return f.quantised ? f.quantised->master_copy : f.stored_narrow;
    };
    if (no_master && !any_format(has_master))
      throw CLI::ValidationError("--no-master",
                                 "is of no use: no format of --formats has an fp32 copy of its weights");
    if (t.products.sums == accumulation::narrow && !any_format(&format::stored_narrow))
      throw CLI::ValidationError("--accumulate",
                                 "narrow is of no use: no format of --formats stores its tensors narrow");
    if (!momentum->empty() && rule == "adam")
      throw CLI::ValidationError("--momentum",
                                 momentum->results().front() + " is of no use to --optimizer adam");
  } catch (const CLI::ParseError& e) {
    exit_code = answer(app, e, "train");
    return std::nullopt;
  }

  for (const auto& name : format_names) o.formats.push_back(find(formats(), name));
  t.network = find(models(), model);
  t.optimizer = find(optimizers(), rule);
  if (rate->empty()) t.step.rate = t.optimizer->usual_rate;
  if (saturate) t.recipes.output = recipe::product_output::saturating;
  t.augment = augment.value_or(o.data->usual_augmentation);
  t.look.statistics = !o.statistics.empty();
  t.start = resume ? run_start::checkpoint : run_start::beginning;
  t.others = other_build ? other_builds::accepted : other_builds::refused;
  t.master = no_master ? master_copy::absent : master_copy::kept;
  return o;
}

}  // namespace narrow_train
