// narrow_bits: prints the hashes of all groups, or of those that its arguments name.
#include <algorithm>
#include <string_view>

#include "bits.hpp"

int main(int argc, char** argv) {
  const std::span arguments(argv + 1, static_cast<std::size_t>(argc - 1));
  const struct {
    std::string_view name;
    void (*run)();
  } groups[] = {{"scalars", bits::scalars_of_all_formats},
                {"conversions_wide", bits::conversions_from_wide},
                {"conversions_floating", bits::conversions_from_floating},
                {"conversions_fixed", bits::conversions_from_fixed},
                {"quantizations", bits::quantizations},
                {"quantizations_wide", bits::quantizations_of_wide},
                {"products_floating", bits::floating_products},
                {"products_fixed", bits::fixed_products},
                {"products_blocks", bits::block_products},
                {"sums", bits::sums},
                {"matrices_floating", bits::floating_matrices},
                {"matrices_fixed", bits::fixed_matrices},
                {"matrices_blocks", bits::block_matrices},
                {"training", bits::training_states}};
  for (const auto& group : groups)
    if (arguments.empty() || std::ranges::find(arguments, group.name) != arguments.end()) group.run();
}
