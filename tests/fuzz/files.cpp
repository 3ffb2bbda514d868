// Fuzz target: .npy and safetensors files. What is read is written again as a file from which the same comes.
#include <narrow/files/npy.hpp>
#include <narrow/files/safetensors.hpp>
#include <sstream>

#include "input.hpp"

using namespace narrow;

namespace {

template <class T> void check_npy(const std::string& bytes) {
  std::istringstream in(bytes);
  shaped_array<T> x;
  try {
    read_npy(in, x);
  } catch (const std::runtime_error&) {
    fuzz::require(in.fail() && x.values.empty(), [] { return "refused, but changed"; });
    return;
  }
  std::ostringstream out;
  write_npy(out, x);
  std::istringstream again(out.str());
  const auto y = read_npy<T>(again);
  fuzz::require(x.shape == y.shape && fuzz::same_bytes(x.values, y.values),
                [] { return "another array comes back"; });
}

template <class T>
void copy_tensor(safetensors_reader& reader, const safetensors_entry& entry, safetensors_writer& writer,
                 std::vector<shaped_array<T>>& kept) {
  try {
    kept.push_back(reader.read<T>(entry.name));
  } catch (const std::runtime_error&) {
    return;
  }
  writer.add(entry.name, kept.back());
}

/// The tensors that are float, bf16 or fp8.
template <class T> void check_tensors(const std::string& bytes) {
  std::istringstream in(bytes);
  try {
    safetensors_reader reader(in);
    safetensors_writer writer;
    std::vector<shaped_array<T>> kept;
    kept.reserve(reader.entries().size());  // the writer keeps where they are
    for (const safetensors_entry& entry : reader.entries()) copy_tensor(reader, entry, writer, kept);
    std::ostringstream out;
    writer.write(out);
    std::istringstream written(out.str());
    safetensors_reader again(written);
    fuzz::require(again.entries().size() == kept.size(), [] { return "other tensors come back"; });
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto y = again.read<T>(again.entries()[i].name);
      const bool is_there = std::any_of(kept.begin(), kept.end(), [&](const auto& x) {
        return x.shape == y.shape && fuzz::same_bytes(x.values, y.values);
      });
      fuzz::require(is_there, [] { return "another tensor comes back"; });
    }
  } catch (const std::runtime_error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::size_t which = in.below(12);
  const std::string bytes = in.text();
  if (which < 8)
    fuzz::with_type<fp16, bf16, fp4_e2m1, fixed<12, 6>, float, double, std::int64_t, std::uint8_t>(
        which, [&]<class T>() { check_npy<T>(bytes); });
  else
    fuzz::with_type<bf16, float, fp8_e4m3fn, fixed<8, 4>>(which, [&]<class T>() { check_tensors<T>(bytes); });
  return 0;
}
