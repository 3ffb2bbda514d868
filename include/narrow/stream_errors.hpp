// Errors of streams: the library's own messages in place of those of the standard library.
#pragma once

#include <ios>

#include "errors.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// While it lives, a stream throws nothing by itself (std::ios::exceptions), since what it would throw does
/// not say what is wrong with the text or the file.
class held_stream_exceptions {
 public:
  explicit held_stream_exceptions(std::ios& stream) : stream_(stream), mask_(stream.exceptions()) {
    stream.exceptions(std::ios_base::goodbit);
  }
  held_stream_exceptions(const held_stream_exceptions&) = delete;
  held_stream_exceptions& operator=(const held_stream_exceptions&) = delete;
  /// Sets what the stream throws from now on as it was; std::ios throws at once where it is to throw because
  /// of its present state, of which the library has thrown already.
  ~held_stream_exceptions() {
    (void)attempt([&] { stream_.exceptions(mask_); });
  }

 private:
  std::ios& stream_;
  std::ios_base::iostate mask_;
};

}  // namespace narrow::detail
