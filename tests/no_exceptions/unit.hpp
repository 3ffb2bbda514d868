// What a source file does with the library, compiled with exceptions and without.
#pragma once

#include <cstddef>

/// What a file can be asked for that the library refuses.
enum class offence { argument, shape, length, state, instruction_set, threads, step };
inline constexpr const char* names_of_offences[] = {"argument",        "shape",   "length", "state",
                                                    "instruction_set", "threads", "step"};

namespace plain {  // without exceptions
int failures();
void commit(offence);
}  // namespace plain
namespace excepting {
int failures();
void commit(offence);
}  // namespace excepting
