// step_time: how long forward, backward and update of one batch take in each format, against fp32.
#include <exception>
#include <iostream>

#include "options/command_line.hpp"
#include "report/step_times.hpp"
#include "tensor/parallel.hpp"

int main(int argc, char** argv) try {
  using namespace narrow_train;

  std::vector<std::string> names;
  for (const format& f : formats()) names.emplace_back(f.name);
  std::vector<int> widths{1024, 1024, 1024};
  training_settings settings;
  settings.batch = 256;
  int rounds = 15, threads = 1;

  CLI::App app("Times training steps of a network of dense layers in several formats, in turn with fp32.");
  app.option_defaults()->always_capture_default();
  app.add_option("--formats", names, "Formats, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(names).description(""));
  app.add_option("--widths", widths, "Inputs, hidden widths, classes, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 65536))
      ->expected(2, 64);
  app.add_option("--batch", settings.batch, "Images a step")->check(CLI::Range(1, 65536));
  app.add_option("--rounds", rounds, "Steps of each format, of which the median counts")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--threads", threads, "Threads of both")->check(CLI::Range(1, 256));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return answer(app, e, "step_time");
  }
  tell_of_fewer_threads("step_time", threads);
  use_threads(threads);

  const model network = dense_layers(widths);
  settings.network = &network;
  settings.step.rate = settings.optimizer->usual_rate;
  std::vector<const format*> kinds;
  for (const format& f : formats())
    if (std::ranges::find(names, f.name) != names.end()) kinds.push_back(&f);
  print_times(std::cout, time_steps(settings, random_images(widths, settings.batch), kinds, rounds));
  return 0;
} catch (const std::exception& e) {
  std::cerr << "step_time: " << e.what() << '\n';
  return 2;
}
