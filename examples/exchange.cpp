// Numbers that go elsewhere and come back: to the types of other libraries, to text, to files that Python
// reads.
#include <narrow/eigen.hpp>
#include <narrow/files/npy.hpp>
#include <narrow/files/safetensors.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

using narrow::bf16, narrow::fp16;
template <class S> using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

/// Products of matrices that belong to a program written with Eigen's own half.
bool with_eigen_half() {
  Matrix<Eigen::half> theirs = Eigen::MatrixXf::Random(64, 64).cast<Eigen::half>();
  auto ours = narrow::view_as<fp16>(theirs);  // an Eigen::Map of the same memory
  ours = (0.125f * ours * ours).eval();       // summed in float, where half would sum in 11 bits

  const auto seen_again = narrow::view_as<Eigen::half>(ours);
  const fp16 copy = seen_again(0, 0);  // one number is converted without a word
  const Matrix<fp16> copies = seen_again.cast<fp16>();
  return copy == copies(0, 0) && std::isfinite(copies.norm());
}

bool as_text() {
  const std::string text = "0.1 and more";
  fp16 x;
  const auto [rest, error] = from_chars(text.data(), text.data() + text.size(), x);  // rounded once
  char digits[32];
  const auto written = to_chars(digits, digits + sizeof digits, x);  // as few digits as say which fp16 it is
  std::printf("%.*s\n", static_cast<int>(written.ptr - digits), digits);
  return error == std::errc{} && std::string(rest) == " and more" && x == fp16(0.1);
}

bool through_files(const std::string& folder) {
  const Matrix<fp16> weights = Matrix<fp16>::Random(10, 784);
  narrow::save_npy(folder + "/weights.npy", weights);  // float16 in numpy
  Matrix<fp16> same;
  narrow::load_npy(folder + "/weights.npy", same);  // takes the shape that is in the file

  const std::vector<bf16> bias(10, bf16(0.5));
  narrow::safetensors_writer file;
  file.add("layer.weight", weights);  // F16
  file.add("layer.bias", bias);       // BF16
  file.save(folder + "/model.safetensors");

  narrow::safetensors_reader reader(folder + "/model.safetensors");
  Matrix<fp16> again;
  reader.read("layer.weight", again);
  const auto read = reader.read<bf16>("layer.bias");  // values and a shape
  for (const auto& entry : reader.entries()) std::printf("%s %s\n", entry.name.c_str(), entry.type.c_str());
  return same == weights && again == weights && read.values == bias;
}

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "narrow_exchange";
  std::filesystem::create_directories(folder);
  const bool good = with_eigen_half() && as_text() && through_files(folder.string());
  std::filesystem::remove_all(folder);
  return good ? 0 : 1;
}
