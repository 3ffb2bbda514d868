// What a side of a comparison offers. The sides are shared objects, each compiled with flags of its own; of
// their code nothing is visible but the functions below, since an inline function of Eigen that two sides
// compile with different flags would else be, for both, the one that is found first.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace narrow_bench {

using call = std::function<void()>;

struct work {
  std::string unit;  // of the rate, such as FLOP/s
  double per_call;
};

/// What the multipliers of a product take.
enum class arithmetic { fp64, fp32, fp16, bf16, int16, int8 };

// What an operation cannot be faster than: moving its bytes, reading them, or its multiply-adds.
struct copying {
  std::size_t bytes;  // read and written
};
struct reading {
  std::size_t bytes;
};
using bottleneck = std::variant<std::monostate, copying, reading, arithmetic>;

/// An operation that is ready to be run, again and again.
struct subject {
  call run;
  call by_casts;  // the same by way of cast<float>(), where that is another way
  std::function<std::optional<double>()> error;  // after the first run; nothing where the result is wrong
};

struct operation {
  std::string name, format, size;  // of the row: the parts of its name
  work amount;
  bottleneck limited_by;
  std::function<subject()> prepare;
};

using operations = std::vector<operation>;

// Narrow formats as most programs are compiled, and floats as Eigen is at its best.
namespace narrow_side {
operations elementwise();
operations fixed_sizes();
operations functions();
operations programs();
operations scalars();
operations vectors();
}  // namespace narrow_side
namespace float_side {
operations elementwise();
operations fixed_sizes();
operations functions();
operations programs();
operations scalars();
operations vectors();
}  // namespace float_side

// Both with the same flags: floats with those of narrow_side, and both for this processor.
namespace float_alike {
operations programs();
}
namespace narrow_native {
operations programs();
}
namespace float_native {
operations programs();
}

}  // namespace narrow_bench
