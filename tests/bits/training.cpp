// The state of what helps to train, as text, after some steps.
#include "bits.hpp"

namespace bits {

template <class T> void add_text(digest& hash, const T& state) {
  std::ostringstream out;
  out << state;
  hash.text(out.str());
}

template <class T> void loss_scalers() {
  report("training", "loss_scaler/" + name<T>(), [](digest& hash) {
    narrow::loss_scaler scaler({.init_scale = 1024, .growth_interval = 3, .hysteresis = 2});
    for (std::uint64_t step = 0; step < 40; ++step) {
      for (const char* layer : {"first", "second"}) {
        const auto gradients = array<T>(1500, step % 7 == 3 ? kind::special : kind::ordinary, step);
        std::vector<float> out;
        hash.bits_of(scaler.unscale(gradients, out, layer));
        hash.values(out);
      }
      scaler.update();
    }
    add_text(hash, scaler);
  });
}

void adaptive_clips() {
  for (const auto granularity : {narrow::clip_granularity::per_layer, narrow::clip_granularity::per_channel})
    report(
        "training",
        granularity == narrow::clip_granularity::per_layer ? "adaptive_clip/layer" : "adaptive_clip/channel",
        [&](digest& hash) {
          narrow::adaptive_clip_options options;
          options.granularity = granularity;
          narrow::adaptive_clip clip(options);
          for (std::uint64_t step = 0; step < 30; ++step) {
            const auto m =
                matrix<float>(9, 131, all_layouts[step % 5], all_kinds[step % std::size(all_kinds)], step);
            clip.observe(m.view);
            hash.values(clip.clips());
            hash.value(clip.max_abs());
          }
          clip.observe(matrix<narrow::bf16>(9, 40, layout::by_columns, kind::spread, 3).view);
          add_text(hash, clip);
        });
}

void precision_switches() {
  report("training", "precision_switch", [](digest& hash) {
    narrow::precision_switch formats({.min_lookback = 3, .max_lookback = 9});
    for (std::uint64_t step = 0; step < 60; ++step)
      for (const char* layer : {"first", "second"}) {
        const auto weights = array<float>(700, kind::ordinary, 5 + step / 20);
        const auto gradient = array<float>(700, step % 9 == 4 ? kind::special : kind::ordinary, step);
        add_text(hash, formats.observe(layer, weights, gradient, 1.0 / static_cast<double>(1 + step % 11)));
      }
    add_text(hash, formats);
  });
  report("training", "muppet_switch", [](digest& hash) {
    narrow::muppet_switch words({.window = 2, .amplitude = 0.1});
    for (std::uint64_t epoch = 0; epoch < 40; ++epoch) {
      for (const char* layer : {"first", "second"})
        words.observe(layer, array<float>(600, kind::ordinary, epoch % 8 < 5 ? epoch : 1));
      hash.bits_of(words.update());
    }
    add_text(hash, words);
    for (const kind of : all_kinds) {
      const auto x = array<float>(600, of, 4);
      std::vector<float> to(x.size());
      hash.bits_of(narrow::muppet_quantize(x, to, 12, narrow::rounding::stochastic(3)));
      hash.values(to);
    }
  });
}

template <class T> void histograms_and_masters() {
  report("training", "histogram_and_master/" + name<T>(), [](digest& hash) {
    narrow::exponent_histogram histogram;
    for (const kind of : all_kinds) histogram.add(array<T>(900, of, 6));
    add_text(hash, histogram);
    std::ostringstream csv;
    histogram.csv(csv);
    hash.text(csv.str());
    narrow::master_weights<T> weights(array<float>(900, kind::ordinary, 7));
    weights.update([](auto&& master) {
      for (float& x : master) x *= 0.75f;
    });
    weights.round(narrow::rounding::stochastic(11));
    add_text(hash, weights);
  });
}

}  // namespace bits

void bits::training_states() {
  for_each_type<std::tuple<float, narrow::fp16, narrow::bf16, narrow::fp8_e5m2>>(
      []<class T>() { loss_scalers<T>(); });
  adaptive_clips();
  precision_switches();
  for_each_type<std::tuple<narrow::fp16, narrow::bf16, narrow::fixed<16, 8>>>(
      []<class T>() { histograms_and_masters<T>(); });
  report("training", "truncated_normal", [](digest& hash) {
    std::vector<float> weights(1000);
    narrow::truncated_normal(weights, 64, 42);
    hash.values(weights);
  });
}
