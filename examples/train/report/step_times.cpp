#include "report/step_times.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>

#include "tensor/stopwatch.hpp"

namespace narrow_train {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The times of the steps of one network.
class series {
 public:
  explicit series(std::unique_ptr<stepper> network) : network_(std::move(network)) { network_->step(); }

  void step() {
    seconds_of_work().fill(0);
    const auto start = clock::now();
    network_->step();
    whole_.push_back(std::chrono::duration<double>(clock::now() - start).count());
    products_.push_back(seconds_of_work()[static_cast<std::size_t>(work::products)]);
    conversions_.push_back(seconds_of_work()[static_cast<std::size_t>(work::conversions)]);
  }

  [[nodiscard]] double whole() const { return median(whole_); }
  [[nodiscard]] double products() const { return median(products_); }
  [[nodiscard]] double conversions() const { return median(conversions_); }
  [[nodiscard]] std::optional<double> modelled() const { return network_->modelled_speed_up(); }

 private:
  using clock = std::chrono::steady_clock;

  std::unique_ptr<stepper> network_;
  std::vector<double> whole_, products_, conversions_;
};

}  // namespace

dataset random_images(std::span<const int> widths, int batch) {
  dataset images{{1, widths.front(), 1}, widths.back(), {}, {}};
  random_stream random(1, purpose::batch_order);
  const int labels = std::min(images.classes, 256);  // as many as a byte tells apart
  for (int i = 0; i < batch * images.shape.size(); ++i)
    images.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
  for (int i = 0; i < batch; ++i)
    images.labels.push_back(static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(labels))));
  return images;
}

model dense_layers(std::span<const int> widths) {
  model result{"dense", "dense layers", {}};
  for (const int width : widths.subspan(1, widths.size() - 2)) {
    result.layers.emplace_back(dense_spec{width});
    result.layers.emplace_back(relu_spec{});
  }
  return result;
}

std::vector<step_time> time_steps(const training_settings& settings, const dataset& batch,
                                  std::span<const format* const> kinds, int rounds) {
  const format& fp32 = formats().front();
  std::vector<step_time> times;
  for (const format* kind : kinds) {
    series plain(fp32.prepare(settings, batch)), narrow(kind->prepare(settings, batch));
    for (int round = 0; round < rounds; ++round) {
      plain.step();
      narrow.step();
    }
    times.push_back({kind->name, narrow.whole(), narrow.products(), narrow.conversions(), plain.whole(),
                     narrow.modelled()});
  }
  return times;
}

void print_times(std::ostream& out, std::span<const step_time> times) {
  const auto percent = [&](double part, double whole) {
    out << std::setw(10) << std::setprecision(0) << 100 * part / whole << " %";
  };
  out << "format       ms a step      fp32   speedup   model    products conversions        rest\n"
      << std::fixed;
  for (const step_time& t : times) {
    out << std::left << std::setw(12) << t.format << std::right << std::setprecision(2) << std::setw(10)
        << 1e3 * t.whole << std::setw(10) << 1e3 * t.of_fp32 << std::setw(9) << t.of_fp32 / t.whole << 'x';
    if (t.modelled)
      out << std::setw(7) << *t.modelled << 'x';
    else
      out << std::setw(8) << "";
    percent(t.products, t.whole);
    percent(t.conversions, t.whole);
    percent(t.whole - t.products - t.conversions, t.whole);
    out << '\n';
  }
}

}  // namespace narrow_train
