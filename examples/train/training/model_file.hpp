// Trained networks as files, for inference: the numbers that forward passes use, in the bits of their
// formats.
//
// The settings of a section_file say what inference depends on beside the tensors. A section for each of
// these follows: weights, biases, gamma and beta, buffers of batch normalisation (see write_coded), and what
// activations are rounded by where that has a past.
#pragma once

#include "data/batches.hpp"
#include "training/settings.hpp"

namespace narrow_train {

struct format;

/// What inference depends on beside the tensors.
struct model_description {
  training_settings settings;  // format, network, batch, products.sums, recipes; the others say nothing
  std::uint64_t seed = 0;
  image_shape shape;
  int classes = 0;
  pixel_scaling pixels;
};

struct model_file {
  model_description about;
  const format* kind = nullptr;
  section_file contents;
};

/// How large a model's file is, and would be if its weights were fp32 or fp16.
struct model_size {
  std::uint64_t file = 0, in_fp32 = 0, in_fp16 = 0;  // bytes
  double bits_per_weight = 0;                        // without the scales
};

struct evaluation {
  double accuracy = 0;  // share of the images that the network takes for what they are
  fp32_matrix logits;   // (classes x images)
};

struct evaluated_model {
  evaluation result;
  model_size size;
};

/// Where the model of a run is written.
std::filesystem::path model_path(const training_settings& settings, std::uint64_t seed);

/// Writes a model, whole or not at all, and returns the size of the file. Throws data_error naming it.
std::uint64_t write_model(const std::filesystem::path& path, const model_description& about,
                          const std::vector<saved_part>& tensors);

/// Reads a model; its tensors are for load_model. Throws data_error, with the file and the reason, where it
/// is none.
model_file read_model(const std::filesystem::path& path);

/// Gives the tensors what the file holds of them. Throws data_error, with the file and the reason, where its
/// network has others.
void load_model(const model_file& file, const std::vector<saved_part>& tensors);

/// Throws data_error unless the model is for such images.
void require_fit(const model_file& file, const dataset& images, std::string_view name_of_images);

}  // namespace narrow_train
