// The bytes of files: read without trust in what they say of themselves, written element by element.
#pragma once

#include <bit>
#include <cstring>
#include <fstream>
#include <istream>
#include <ostream>

#include "../stream_errors.hpp"
#include "arrays.hpp"

namespace narrow::inline NARROW_ABI::detail {

inline constexpr bool is_little_endian = std::endian::native == std::endian::little;

/// Reads a stream, and refuses what is wrong in it by name.
class byte_reader {
 public:
  byte_reader(std::istream& in, std::string function, std::string name)
      : in_(in), function_(std::move(function)), name_(std::move(name)) {}

  [[noreturn]] void refuse(const std::string& why) const {
    in_.setstate(std::ios_base::failbit);
    fail<std::runtime_error>("narrow::" + function_ + ": " + name_ + ": " + why);
  }

  std::istream& stream() const { return in_; }

  /// `what` is what these bytes are, in a message; so many more must follow.
  void read(char* to, std::size_t size, std::string_view what, std::size_t more = 0) {
    in_.read(to, static_cast<std::streamsize>(size));
    const auto count = static_cast<std::size_t>(in_.gcount());
    if (count != size)
      refuse("it ends " + std::to_string(size - count + more) + " bytes too early, in " + std::string(what));
  }

  /// An unsigned number, its lowest byte first.
  template <std::unsigned_integral T> T read_number(std::string_view what) {
    unsigned char bytes[sizeof(T)];
    read(reinterpret_cast<char*>(bytes), sizeof(T), what);
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) value = value << 8 | bytes[i];
    return static_cast<T>(value);
  }

  /// So many elements. Memory is taken as they arrive: what a file says of its size may be wrong.
  template <class Elements> void read_elements(Elements& elements, std::size_t count, std::string_view what) {
    using T = typename Elements::value_type;
    constexpr std::size_t at_once = (std::size_t{1} << 20) / sizeof(T);
    elements.clear();
    while (elements.size() < count) {
      const std::size_t had = elements.size(), more = std::min(count - had, at_once);
      elements.resize(had + more);
      read(reinterpret_cast<char*>(elements.data() + had), more * sizeof(T), what,
           (count - had - more) * sizeof(T));
    }
  }

 private:
  std::istream& in_;
  std::string function_, name_;
};

/// The element with its bytes in the other order.
template <class T> void reverse_bytes(T& x) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &x, sizeof(T));
  std::reverse(std::begin(bytes), std::end(bytes));
  std::memcpy(&x, bytes, sizeof(T));
}

enum class byte_order { native, reversed };

/// So many elements of an array, `what`, as such of this processor. Refuses codes that T does not have.
template <class T>
std::vector<T> read_array(std::size_t count, byte_order order, byte_reader& from, const std::string& what) {
  std::vector<T> values;
  from.read_elements(values, count, "the elements of " + what);
  if (order == byte_order::reversed && sizeof(T) > 1)
    for (T& x : values) reverse_bytes(x);
  if constexpr (requires(T x) { storing<T>::has(x); })
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!storing<T>::has(values[i]))
        from.refuse("element " + std::to_string(i) + " of " + what + " is " +
                    std::to_string(values[i].bits()) + ", which is no code of " + stored_name<T>());
  return values;
}

/// Calls put(bytes, size) for the elements of a matrix, row by row.
template <class T, class Put>
void for_all_bytes(const matrix_view<const T>& m, byte_order order, const Put& put) {
  constexpr std::size_t at_once = (std::size_t{1} << 16) / sizeof(T);
  std::vector<T> line;
  const auto flush = [&] {
    if (order == byte_order::reversed && sizeof(T) > 1)
      for (T& x : line) reverse_bytes(x);
    put(reinterpret_cast<const char*>(line.data()), line.size() * sizeof(T));
    line.clear();
  };
  if (m.cols == 0) return;  // of however many rows
  for (std::ptrdiff_t i = 0; i < m.rows; ++i)
    for (std::ptrdiff_t j = 0; j < m.cols; ++j) {
      line.push_back(m(i, j));
      if (line.size() == at_once) flush();
    }
  if (!line.empty()) flush();
}

/// Refuses an array, `what`, of a shape that x cannot have.
template <class X>
void check_shape(const X& x, const extent_list& shape, const byte_reader& from, const std::string& what) {
  if (const std::string own = stored_array<X>::refusal(x, shape); !own.empty())
    from.refuse(what + " has the shape " + shape_text(shape) + ", which must be that of " + own);
}

/// The shape and the elements of x; an array that says more or fewer elements than it has is refused.
template <class X, class F> void visit_array(const X& x, std::string_view function, const F& f) {
  using array = stored_array<X>;
  array::visit(x, [&](const extent_list& shape, const auto& view) {
    const auto count = element_count(shape, sizeof(typename array::element));
    const auto size = static_cast<std::size_t>(view.rows) * static_cast<std::size_t>(view.cols);
    if (count != size)
      fail<std::invalid_argument>("narrow::" + std::string(function) + ": a shape of " + shape_text(shape) +
                                  " must be that of the " + std::to_string(size) + " elements");
    f(shape, view);
  });
}

/// Reads the text of a header from its beginning on, and says where it is not as it must be.
class header_scanner {
 public:
  /// Between the parts of the text any of these blanks may stand.
  header_scanner(std::string_view text, const byte_reader& from, std::string_view blanks)
      : text_(text), from_(from), blanks_(blanks) {}

 protected:
  [[noreturn]] void refuse(std::string_view expected) const {
    from_.refuse("its header has not " + std::string(expected) + " at byte " + std::to_string(at_));
  }
  [[noreturn]] void refuse_key(const std::string& key) const {
    from_.refuse("its header has \"" + key + "\", unknown or twice");
  }
  void skip_spaces() {
    while (at_ < text_.size() && blanks_.find(text_[at_]) != blanks_.npos) ++at_;
  }
  /// The next character; 0 at the end.
  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool skip(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!skip(c)) refuse(std::string("'") + c + "'");
  }
  void expect_end() {
    skip_spaces();
    if (at_ != text_.size()) refuse("nothing more");
  }

  std::string_view text_;
  const byte_reader& from_;
  std::string_view blanks_;
  std::size_t at_ = 0;
};

/// A file that is open for reading, or an error that names it.
inline std::ifstream open_to_read(const std::string& path, std::string_view function) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    fail<std::runtime_error>("narrow::" + std::string(function) + ": \"" + path + "\" cannot be opened");
  return in;
}
/// Opens a file, writes it, and makes sure that it was written.
template <class Write>
void write_file(const std::string& path, std::string_view function, const Write& write) {
  std::ofstream out(path, std::ios::binary);
  if (out) write(out);
  out.close();
  if (!out)
    fail<std::runtime_error>("narrow::" + std::string(function) + ": \"" + path + "\" cannot be written");
}

}  // namespace narrow::detail
