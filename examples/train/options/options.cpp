#include "options/options.hpp"

#include "options/checks.hpp"
#include "options/command_line.hpp"
#include "options/option_row.hpp"
#include "options/ranges.hpp"

namespace narrow_train {
namespace {

option_group run_options(options& o) {
  training_settings& t = o.training;
  return {
      "Options",
      {{"--formats", item_list(o.formats, formats()), "Formats, separated by commas: " + choices(formats())},
       {"--model", item(t.network, models()), "Network: " + choices(models())},
       {"--seed", list(o.seeds, {seed_number()}),
        "Seeds of initial weights and batch order, separated by commas; one run each"},
       {"--jobs", value(o.jobs, {between(1, 256)}),
        "Runs at a time, each in a thread of its own; results do not depend on it"},
       {"--threads", value(o.threads, {between(1, 256)}),
        "Threads of each run; fp32 products of dense layers, which are Eigen's, may then round differently"},
       {"--checkpoint", value(t.checkpoints),
        "Folder for the state of each run after each epoch: MODEL-FORMAT-SEED.checkpoint"},
       {"--resume", flag(t.start, run_start::checkpoint),
        "Continue what is in --checkpoint; runs of which nothing is there start at the beginning"},
       {"--other-build", flag(t.others, other_builds::accepted),
        "Continue checkpoints of another build, too, which may round differently from there on"},
       {"--csv", value(o.csv), "File for the curves: one line for each run and epoch"},
       {"--switches-csv", value(o.switches),
        "File for the formats that layers switch to: one line for each run, layer and change"},
       {"--statistics-csv", value(o.statistics),
        "File for histograms of weights, activations and gradients, and what else there is to know of "
        "them: one line for each run, step that is looked at, layer, tensor and number"},
       {"--statistics-every", value(t.look.every, {between(1, unlimited)}),
        "Steps from one look at the tensors to the next, for --statistics-csv and --loss-scale auto"},
       {"--export", value(t.exports),
        "Folder for the model that each run ends with, its weights in their formats: "
        "MODEL-FORMAT-SEED.model"},
       {"--eval", list(o.models),
        "Models that --export wrote, separated by commas: trains nothing, tests them"}}};
}

option_group data_options(options& o) {
  return {
      "Data",
      {{"--dataset", item(o.data, sources()), "Images: " + choices(sources())},
       {"--data", value(o.folder), "Folder of the files, for every data set but digits"},
       {"--validation", value(o.validation, {between(0, unlimited)}),
        "Training images that are held out, the last N: accuracies are of these, and the test images are "
        "not looked at; to choose other options by"},
       {"--limit", value(o.limit, {between(0, unlimited)}), "Train on the first N images only; 0: on all"},
       {"--augment", choice_without_default(o.training.augment, augmentations),
        "none | crop-flip: images padded by 4, cut to size at random, mirrored at random; by default "
        "crop-flip for cifar10, none for other images"}}};
}

option_group rank_options(training_settings& t) {
  return {"Several ranks (mpirun -n N train ...; of a program that is built with NARROW_MPI)",
          {{"--reduce", choice_without_default(t.ranks.form, reductions),
            "wide | fp16 | bf16 | exact16 | exact8: the numbers in which gradients are summed over the "
            "ranks; with exact16 "
            "and exact8 and a --micro-batch, weights do not depend on the number of ranks; by default wide"},
           {"--micro-batch", value(t.ranks.micro_batch, {between(1, 65536)}),
            "Images whose gradients are one term of the sum; by default as many as make one for each rank"},
           {"--rest", choice_without_default(t.ranks.rest, gradient_rests),
            "carried | dropped: whether what rounding cuts off gradients joins those of the next step; by "
            "default carried "
            "with exact8"}}};
}

option_group training_options(training_settings& t) {
  return {
      "Training",
      {{"--epochs", value(t.epochs, {between(1, 10000)}), "Passes through the training images"},
       {"--batch", value(t.batch, {between(1, 65536)}), "Images a step"},
       {"--accumulate-steps", value(t.accumulate_steps, {between(1, 65536)}),
        "Batches whose gradients are averaged in fp32 for one update"},
       {"--optimizer", item(t.optimizer, optimizers()), "Update rule: " + choices(optimizers())},
       {"--lr", value(t.step.rate, {above(0, unlimited)}),
        "Learning rate; a usual one for the optimiser if not given"},
       {"--schedule", item(t.schedule.kind, schedules()),
        "Learning rate over the run: " + described(schedules())},
       {"--lr-decay", value(t.schedule.decay, {above(0, 1)}), "decay: the factor"},
       {"--milestones", list(t.schedule.milestones, {between(0, 1)}),
        "step: parts of the run, ascending, separated by commas"},
       {"--lr-factor", value(t.schedule.factor, {above(0, 1)}), "step, plateau: the factor"},
       {"--patience", value(t.schedule.patience, {between(0, 10000)}),
        "plateau: epochs in a row without a lower training loss that are borne"},
       {"--warmup", value(t.schedule.warmup, {between(0, 10000)}),
        "Epochs, whole or not, in which the learning rate rises from nothing"},
       {"--momentum", value(t.step.momentum, {between(0, 0.9999)}), "Momentum of sgd and nesterov"},
       {"--weight-decay", value(t.step.weight_decay, {between(0, 1)}), "L2 regularisation of the weights"},
       {"--clip-norm", value(t.clip_norm, {between(0, unlimited)}),
        "Largest norm of all (unscaled) gradients together; 0: any"},
       {"--l1", value(t.l1, {between(0, 1)}), "L1 regularisation of the weights"},
       {"--init", choice(t.start_weights, starts_of_weights),
        "Initial weights: he (normal, variance 2 / inputs) | truncated (as marvin has it, 0.5 / inputs)"}}};
}

option_group precision_options(training_settings& t) {
  const auto flush_below = [&t](CLI::App& app, const char* name, const std::string& help) {
    return value(t.flush_below, {between(0, unlimited)})(app, name, help)->transform(power_of_two());
  };
  return {
      "Mixed precision and what happens without it",
      {{"--loss-scale", value(t.loss_scale, {scale_choice()}),
        "none | dynamic | auto: by the largest gradients at times | a number, the constant scale, at which "
        "the largest gradient of a logit, --loss-weight / --batch, is in the range of the formats"},
       {"--loss-weight", value(t.loss_weight, {above(0, unlimited)}),
        "Factor on the loss itself, and so on all gradients; divide --lr by it for the same steps"},
       {"--flush-below", flush_below,
        "Activation gradients of smaller magnitude, without the loss scale, become zero; 2^-T or a number"},
       {"--no-master", flag(t.master, master_copy::absent),
        "No fp32 copy: updates go to the weights as stored"},
       {"--accumulate", choice(t.products.sums, accumulations),
        "wide: products are summed in fp32 | narrow: every addition is rounded to the format (slow)"}}};
}

/// The recipes whose weights are of one of these kinds.
template <class... Kind> recipes_with recipes_of(const char* description, Kind... kinds) {
  return {[=](const recipe& r) { return ((r.weights.kind == kinds) || ...); }, description};
}

option_group recipe_options(training_settings& t) {
  using enum operand_kind;
  const recipes_with any{[](const recipe&) { return true; }, "a format of operands"};
  const recipes_with hbfp = recipes_of("hbfp", bfp);
  const recipes_with marvin{[](const recipe& r) { return r.switching == recipe::precision::marvin; },
                            "marvin"};
  recipe_choices& chosen = t.recipes;
  return {
      "Formats of operands (hbfp, int8, fp8, float_*, marvin, muppet)",
      {{"--rounding", choice_without_default(chosen.rounding, rounding_choices),
        "nearest | stochastic, of all operands; by default stochastic in hbfp, marvin and muppet, with int8 "
        "of gradients only",
        any},
       {"--exponent", choice_without_default(chosen.exponent, exponent_choices),
        "max | min | avg: what the shared exponents of hbfp are chosen by", hbfp},
       {"--exponent-bits", choice_without_default(chosen.kept, exponent_bit_choices),
        "half | 1: bits of the mantissa, sign not included, that min and avg keep of the magnitude which "
        "they look at; larger ones saturate",
        hbfp},
       {"--tile", choice_without_default(chosen.weight_scales, weight_sharings),
        "tensor | 24: what shares a scale in the weights of hbfp and int8, everything or squares of 24 x 24",
        recipes_of("hbfp or int8", bfp, int8)},
       {"--weight-bits", value(chosen.stored_mantissa, {between(2, 16)}),
        "Mantissas of a wider copy of hbfp's weights, which the updates go to", hbfp},
       {"--saturate-output", flag(chosen.output, recipe::product_output::saturating),
        "Sums of products of integers saturate at 32 bits, as accumulators do",
        recipes_of("integers", bfp, int8, fixed, held_words)},
       {"--clip", choice_without_default(chosen.clip, gradient_clips),
        "global | gvq | mcs | both: gradients of int8 for the weight gradient, one scale or one for each "
        "channel (gvq, both), at the maximum or by their distribution (mcs, both)",
        recipes_of("int8", int8)},
       {"--push-up", choice(t.switching.push_up, push_up_forms),
        "adapt | printed: which form of PushUp marvin has", marvin},
       {"--buffer-bits", value(t.switching.buffer_bits, {between(0, 30)}),
        "Bits before the point that marvin leaves for activations", marvin},
       {"--lookback-weight", value(t.switching.gamma, {between(0, 1)}),
        "Weight of the newest lookback of marvin", marvin}}};
}

}  // namespace

std::optional<options> parse(int argc, const char* const* argv, int& exit_code) {
  options o;
  training_settings& t = o.training;
  for (const char* name : {"fp32", "fp16", "bf16", "hbfp8", "int8"})
    o.formats.push_back(find(formats(), name));
  const option_group groups[] = {run_options(o),       data_options(o),   training_options(t),
                                 precision_options(t), recipe_options(t), rank_options(t)};
  CLI::App app(
      "Trains the same small network in several number formats, one after another, from the same initial "
      "weights and with the same batches, and compares them. Without options: LeNet on digits that the "
      "program draws itself.");
  app.option_defaults()->always_capture_default();
  for (const option_group& group : groups)
    for (const option_row& row : group.rows) row.into(app, row.name, row.help)->group(group.title);
  try {
    app.parse(argc, argv);
    require_consistent(app, o, groups);
  } catch (const CLI::ParseError& e) {
    exit_code = answer(app, e, "train");
    return std::nullopt;
  }
  if (!is_given(app, "--lr")) t.step.rate = t.optimizer->usual_rate;
  if (!is_given(app, "--augment")) t.augment = o.data->usual_augmentation;
  t.look.statistics = !o.statistics.empty();
  if (this_team() != nullptr &&
      (this_team()->ranks() > 1 || is_given(app, "--reduce") || is_given(app, "--micro-batch")))
    t.ranks.members = this_team();
  return o;
}

}  // namespace narrow_train
