// Operations of narrow formats beside the same ones of float, each side with its own flags.
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "limits.hpp"
#include "operation.hpp"
#include "register.hpp"
#include "row.hpp"

namespace narrow_bench {

namespace {

std::optional<limit> ceiling_of(const operation& it) {
  if (const auto* const moved = std::get_if<copying>(&it.limited_by))
    return copy_limit(moved->bytes, it.amount);
  if (const auto* const read = std::get_if<reading>(&it.limited_by))
    return read_limit(read->bytes, it.amount);
  if (const auto* const kind = std::get_if<arithmetic>(&it.limited_by)) return compute_limit(*kind);
  return std::nullopt;
}

const operation& find(const operations& in, const operation& like, const std::string& format) {
  const auto found = std::ranges::find_if(in, [&](const operation& x) {
    return x.name == like.name && x.size == like.size && x.format == format;
  });
  if (found == in.end()) throw std::logic_error("no " + like.name + " of " + format);
  return *found;
}

/// The sides beside which the operations of another are measured.
struct sides {
  operations in_float;              // at its best
  operations alike;                 // in float with the same flags
  operations native, native_float;  // both for this processor
};

void register_beside(const operations& narrow, const sides& beside) {
  const auto others = std::make_shared<const sides>(beside);
  for (const operation& it : narrow) {
    const std::string name = it.name + "/" + it.format + (it.size.empty() ? "" : "/" + it.size);
    register_row(name, [=] {
      const subject measured = it.prepare();
      row result{it.amount, measured.run, {}, ceiling_of(it), measured.error};
      const auto add = [&](const std::string& counter, const operations& side, const call& instead = {}) {
        if (!side.empty()) result.rivals.push_back({counter, find(side, it, "float").prepare().run, instead});
      };
      add("x_float", others->in_float);
      add("x_float_alike", others->alike);
      if (!others->native.empty())
        add("x_float_native", others->native_float, find(others->native, it, it.format).prepare().run);
      if (measured.by_casts) result.rivals.push_back({"x_cast", measured.by_casts});
      return result;
    });
  }
}

}  // namespace

void register_comparisons() {
  register_beside(narrow_side::elementwise(), {float_side::elementwise(), {}, {}, {}});
  register_beside(narrow_side::functions(), {float_side::functions(), {}, {}, {}});
  register_beside(narrow_side::scalars(), {float_side::scalars(), {}, {}, {}});
  register_beside(narrow_side::fixed_sizes(), {float_side::fixed_sizes(), {}, {}, {}});
  register_beside(narrow_side::vectors(), {float_side::vectors(), {}, {}, {}});
#ifdef NARROW_BENCH_ONE_SET_OF_FLAGS
  register_beside(narrow_side::programs(), {float_side::programs(), {}, {}, {}});
#else
  register_beside(narrow_side::programs(), {float_side::programs(), float_alike::programs(),
                                            narrow_native::programs(), float_native::programs()});
#endif
}

}  // namespace narrow_bench
