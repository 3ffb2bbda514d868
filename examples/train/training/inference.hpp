// Networks after their training: what they take images for, and how they get into files and out of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/batches.hpp"
#include "layers/softmax.hpp"
#include "models/network.hpp"
#include "training/model_file.hpp"

namespace narrow_train {

/// What the network makes of images, the same each time: its stochastic rounding depends on the seed alone.
template <class S>
evaluation evaluate(network<S>& net, const dataset& images, const pixel_scaling& pixels, int batch,
                    std::uint64_t seed) {
  narrow::seed(random_stream(seed, purpose::evaluation).bits());
  batches<S> all(images, values_of(pixels), batch);
  evaluation result;
  result.logits.resize(images.classes, static_cast<Eigen::Index>(images.count()));
  classification<S> some;
  std::size_t correct = 0, count = 0;
  for (std::size_t i = 0; i < all.count(); ++i) {
    all.select(i);
    const auto& logits = net.forward(all.images, phase::inference);
    softmax_cross_entropy(logits, all.labels, 1, some);
    correct += some.correct;
    result.logits.middleCols(static_cast<Eigen::Index>(count), logits.cols()) = logits.template cast<float>();
    count += all.labels.size();
  }
  result.accuracy = static_cast<double>(correct) / static_cast<double>(count);
  return result;
}

/// The numbers that products use.
template <class T> coded_matrix coded(const parameter<T>& p) {
  return p.block ? p.block->coded() : coded(p.value.data(), p.value.rows(), p.value.cols());
}

/// The tensors of a network as the parts of its file. They refer to the parameters' targets.
template <class S> std::vector<saved_part> model_parts(const parameter_list<S>& parameters) {
  std::vector<saved_part> all;
  std::map<std::string, int> count;
  const auto numbered = [&](std::string kind) {
    const int number = ++count[kind];
    return kind + ' ' + std::to_string(number);
  };
  const auto add = [&]<class T>(parameter<T>& p) {
    all.push_back({numbered(std::string(p.kind)),
                   [&p](std::ostream& out) {
                     write_coded(out, coded(p));
                     if (!p.format) return;
                     // The activations': that of the weights may be an older one.
                     write_number(out, static_cast<std::int8_t>(p.format->word_length));
                     write_number(out, static_cast<std::int8_t>(p.format->fraction_length));
                   },
                   [&p](std::istream& in) {
                     fp32_matrix now;
                     p.read_operand(now);
                     const coded_matrix numbers = read_coded(in, now.rows(), now.cols());
                     if (p.block) {
                       p.block->restore(numbers);
                     } else {
                       numbers.expect(format_of_number<T>::value, now.rows(), now.cols(), 0);
                       decode(numbers.codes, p.value.data());
                     }
                     if (!p.format) return;
                     const int wl = read_number<std::int8_t>(in), fl = read_number<std::int8_t>(in);
                     static_cast<void>(narrow::fixed_format(wl, fl));  // throws for what is none
                     *p.format = {wl, fl};
                   }});
  };
  for (auto* weights : parameters.weights) add(*weights);
  for (auto* tensor : parameters.per_channel) add(*tensor);
  for (fp32_matrix* buffer : parameters.buffers)
    all.push_back({numbered("buffer"),
                   [buffer](std::ostream& out) {
                     write_coded(out, coded(buffer->data(), buffer->rows(), buffer->cols()));
                   },
                   [buffer](std::istream& in) {
                     const coded_matrix numbers = read_coded(in, buffer->rows(), buffer->cols());
                     numbers.expect(format_of_number<float>::value, buffer->rows(), buffer->cols(), 0);
                     decode(numbers.codes, buffer->data());
                   }});
  for (saved_state* state : parameters.states) {
    const saved_part part{numbered("activations"),
                          [state](std::ostream& out) { state->save_for_inference(out); },
                          [state](std::istream& in) { state->load_for_inference(in); }};
    if (!contents_of(part).empty()) all.push_back(part);
  }
  return all;
}

/// Sizes of a file of so many bytes that model_parts went to.
template <class S> model_size size_of_model(const parameter_list<S>& parameters, std::uint64_t file) {
  std::uint64_t weights = 0, bits = 0;
  model_size size{file, file, file, 0};
  for (const auto* p : parameters.weights) {
    const coded_matrix m = coded(*p);
    const std::uint64_t count = m.codes.size(), now = m.packed_bytes() + m.scales.size() * sizeof(float);
    weights += count;
    bits += count * m.format.bits;
    size.in_fp32 = size.in_fp32 - now + count * 4;
    size.in_fp16 = size.in_fp16 - now + count * 2;
  }
  size.bits_per_weight = static_cast<double>(bits) / static_cast<double>(weights);
  return size;
}

/// What a model makes of images that it is for. Throws data_error where its file is unusable.
template <class S> evaluated_model evaluate_model(const model_file& file, const dataset& images) {
  const model_description& about = file.about;
  network<S> net(*about.settings.network, about.shape, about.classes, about.settings.products);
  const auto parameters = net.parameters();
  load_model(file, model_parts(parameters));
  return {evaluate(net, images, about.pixels, about.settings.batch, about.seed),
          size_of_model(parameters, file.contents.size)};
}

}  // namespace narrow_train
