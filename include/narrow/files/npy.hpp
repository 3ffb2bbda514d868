// Arrays in .npy files, as numpy.save writes and numpy.load reads them: "NEP 1 -- A simple file format for
// NumPy arrays", versions 1 to 3.
//
// fp16 is numpy's float16 ('<f2'), float and double are '<f4' and '<f8', integers themselves. What numpy has
// no type for is in the file as its codes: other floating formats as unsigned integers ('<u2', '|u1'),
// `fixed` as signed ones, which are its mantissas. In Python
//
//     numpy.load(file).view(ml_dtypes.bfloat16)     codes of bf16
//     numpy.load(file) * 2.0**-FL                   mantissas of fixed<WL, FL>
//
// From files of ml_dtypes, in which such types are '<V2' and '|V1', the codes are read, too.
#pragma once

#include <charconv>

#include "bytes.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// What a file says of its array.
struct npy_header {
  std::string descr;
  bool by_columns = false;
  extent_list shape;
};

/// The dictionary of a header: in the syntax of Python, but only what numpy writes.
class npy_header_parser : header_scanner {
 public:
  npy_header_parser(std::string_view text, const byte_reader& from) : header_scanner(text, from, " \n") {}

  npy_header parse() {
    npy_header result;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!skip('}')) {
      const std::string key = string();
      expect(':');
      bool* const seen = key == "descr"           ? &has_descr
                         : key == "fortran_order" ? &has_order
                         : key == "shape"         ? &has_shape
                                                  : nullptr;
      if (seen == nullptr || *seen) refuse_key(key);
      *seen = true;
      if (seen == &has_descr)
        result.descr = type();
      else if (seen == &has_order)
        result.by_columns = truth();
      else
        result.shape = tuple();
      if (!skip(',') && peek() != '}') refuse("a comma or a brace");
    }
    if (!has_descr || !has_order || !has_shape)
      from_.refuse("its header must have 'descr', 'fortran_order' and 'shape'");
    expect_end();
    return result;
  }

 private:
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse("a string");
    const auto end = text_.find(quote, at_ + 1);
    if (end == text_.npos) refuse("the end of a string");
    const auto begin = std::exchange(at_, end + 1) + 1;
    return std::string(text_.substr(begin, end - begin));
  }
  std::string type() {
    if (peek() == '[') from_.refuse("its elements are structures, not numbers");
    return string();
  }
  bool truth() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    refuse("True or False");
  }
  extent_list tuple() {
    extent_list result;
    expect('(');
    while (!skip(')')) {
      skip_spaces();
      std::size_t n = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), n);
      if (error == std::errc::result_out_of_range)
        from_.refuse("its shape has a number beyond " + std::to_string(8 * sizeof n) + " bits");
      if (error != std::errc{}) refuse("a number");
      at_ += static_cast<std::size_t>(end - begin);
      result.push_back(n);
      skip('L');  // a long of Python 2
      if (!skip(',') && peek() != ')') refuse("a comma or a parenthesis");
    }
    return result;
  }
};

inline npy_header read_npy_header(byte_reader& in) {
  std::string magic(npy_magic.size(), '\0');
  in.read(magic.data(), magic.size(), "the first bytes");
  if (magic != npy_magic) in.refuse("it is no .npy file, which begins with \"\\x93NUMPY\"");
  const auto major = in.read_number<std::uint8_t>("the version"),
             minor = in.read_number<std::uint8_t>("the version");
  if (major < 1 || major > 3 || minor != 0)
    in.refuse("its version is " + std::to_string(major) + "." + std::to_string(minor) +
              ", known are 1.0, 2.0 and 3.0");
  constexpr std::uint32_t longest = std::numeric_limits<std::uint16_t>::max();  // of version 1
  const std::uint32_t length = major == 1 ? in.read_number<std::uint16_t>("the header's length")
                                          : in.read_number<std::uint32_t>("the header's length");
  if (length > longest)
    in.refuse("its header has " + std::to_string(length) + " bytes, at most " + std::to_string(longest) +
              " are read");
  std::string text;
  in.read_elements(text, length, "the header");
  return npy_header_parser(text, in).parse();
}

template <storable T> std::string npy_type() {
  constexpr stored_type type = storing<T>::type;
  const char order = type.size == 1 ? '|' : is_little_endian ? '<' : '>';
  return std::string{order, static_cast<char>(type.kind)} + std::to_string(type.size);
}

/// The order of the bytes of elements of type `descr`, which must be T's.
template <storable T> byte_order npy_order(const std::string& descr, const byte_reader& from) {
  const std::string own = npy_type<T>();
  const std::string_view type = std::string_view(descr).substr(std::min<std::size_t>(1, descr.size()));
  const bool is_own = type == std::string_view(own).substr(1);
  const bool is_void = storing<T>::type.kind == number_kind::natural && !std::integral<T> &&
                       type == "V" + std::to_string(sizeof(T));
  const char order = descr.empty() ? '\0' : descr[0];
  const bool is_order = order == '<' || order == '>' || order == '=' || order == '|';
  if (!is_order || !(is_own || is_void))
    from.refuse("its elements are of type '" + descr + "', must be '" + own + "' for " + stored_name<T>());
  return order == (is_little_endian ? '>' : '<') ? byte_order::reversed : byte_order::native;
}

/// Elements of which the first index runs fastest, in the order in which the last one does.
template <class T> std::vector<T> by_last_index(const extent_list& shape, const std::vector<T>& values) {
  std::vector<std::size_t> strides, index(shape.size(), 0);
  std::size_t stride = 1;
  for (const std::size_t n : shape) {
    strides.push_back(stride);
    stride *= n;
  }
  std::vector<T> result;
  result.reserve(values.size());
  std::size_t at = 0;
  while (result.size() < values.size()) {
    result.push_back(values[at]);
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[d]) break;
      at -= strides[d] * std::exchange(index[d], std::size_t{0});
    }
  }
  return result;
}

/// What stands before the elements of an array.
template <storable T> std::string npy_beginning(const extent_list& shape, std::string_view function) {
  std::string header =
      "{'descr': '" + npy_type<T>() + "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  constexpr std::size_t alignment = 64, before = npy_magic.size() + 4;
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  constexpr std::size_t longest = std::numeric_limits<std::uint16_t>::max();
  if (header.size() > longest)
    fail<std::invalid_argument>("narrow::" + std::string(function) + ": " + std::to_string(shape.size()) +
                                " dimensions are more than a header of " + std::to_string(longest) +
                                " bytes holds");
  const char version_and_length[] = {1, 0, static_cast<char>(header.size() & 0xff),
                                     static_cast<char>(header.size() >> 8)};
  return std::string(npy_magic) + std::string(version_and_length, sizeof version_and_length) + header;
}

/// use(write) for an array that can be written, where write(out) writes it.
template <class X, class Use> void visit_npy(const X& x, std::string_view function, const Use& use) {
  visit_array(x, function, [&](const extent_list& shape, const auto& view) {
    const std::string beginning = npy_beginning<typename stored_array<X>::element>(shape, function);
    use([&](std::ostream& out) {
      out << beginning;
      for_all_bytes(view, byte_order::native, [&](const char* bytes, std::size_t size) {
        out.write(bytes, static_cast<std::streamsize>(size));
      });
    });
  });
}

template <class X>
void read_npy(std::istream& stream, X& x, std::string_view function, const std::string& name) {
  using T = typename stored_array<X>::element;
  const held_stream_exceptions held(stream);
  byte_reader in(stream, std::string(function), name);
  const npy_header header = read_npy_header(in);
  const byte_order order = npy_order<T>(header.descr, in);
  const std::string what = "its array";
  const auto count = element_count(header.shape, sizeof(T));
  if (!count) in.refuse(what + " has the shape " + shape_text(header.shape) + ", more than memory can hold");
  check_shape(x, header.shape, in, what);
  std::vector<T> values = read_array<T>(*count, order, in, what);
  if (header.by_columns && header.shape.size() > 1) values = by_last_index(header.shape, values);
  stored_array<X>::assign(x, header.shape, std::move(values));
}

}  // namespace detail

/// Writes an array in numpy's format, the last index running fastest, its elements in the processor's byte
/// order.
///
/// Shapes    a range has shape (n), a matrix (rows, cols), a shaped_array its own.
/// Throws    std::invalid_argument where a shaped_array has not as many values as its shape says. That the
///           stream fails is to be asked of the stream.
template <file_source X> void write_npy(std::ostream& out, const X& x) {
  detail::visit_npy(x, "write_npy", [&](const auto& write) { write(out); });
}
/// To the file `path`. Throws std::runtime_error with its name where it cannot be written, and what
/// `write_npy` throws; a file that is there then is as it was.
template <file_source X> void save_npy(const std::string& path, const X& x) {
  detail::visit_npy(x, "save_npy", [&](const auto& write) { detail::write_file(path, "save_npy", write); });
}

/// Reads an array in numpy's format into x, bit for bit; in either byte order, and order of the indices.
///
/// Shapes    vectors, matrices of dynamic sizes and shaped_array take the one that is there, as far as they
///           can: one dimension is a column of a matrix, or a row if it is a row vector, none a single number.
/// Throws    std::runtime_error with the name of the file where this is truncated or no .npy file, where its
///           elements have another type or codes that x's have not, or where x cannot have its shape. x then
///           is as it was, and the stream's failbit is set.
/// Cost      memory for the elements beside that of x.
template <file_destination X> void read_npy(std::istream& in, X&& x) {
  detail::read_npy<std::remove_cvref_t<X>>(in, x, "read_npy", "the stream");
}
/// The array in its own shape; throws likewise.
template <storable T> shaped_array<T> read_npy(std::istream& in) {
  shaped_array<T> result;
  read_npy(in, result);
  return result;
}
/// From the file `path`.
template <file_destination X> void load_npy(const std::string& path, X&& x) {
  std::ifstream in = detail::open_to_read(path, "load_npy");
  detail::read_npy<std::remove_cvref_t<X>>(in, x, "load_npy", '"' + path + '"');
}
/// From the file `path`, in its own shape.
template <storable T> shaped_array<T> load_npy(const std::string& path) {
  shaped_array<T> result;
  load_npy(path, result);
  return result;
}

}  // namespace narrow
