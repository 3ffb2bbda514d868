// Named tensors in .safetensors files: https://github.com/huggingface/safetensors, "Format".
//
// fp16, bf16, fp8_e5m2, fp8_e4m3fn, float, double and integers are F16, BF16, F8_E5M2, F8_E4M3, F32, F64, I8
// to I64 and U8 to U64 there. Other formats are in the file as their codes, U8 to U32, and `fixed` as its
// mantissas, I8 to I32; the file's metadata says of tensor NAME under "narrow.NAME" what format they are
// codes of.
#pragma once

#include <memory>

#include "tensor_header.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A tensor that a file is to have: what the header says of it, its format by the file's metadata, and its
/// bytes.
struct tensor_to_write {
  safetensors_entry entry;
  std::string format;
  std::size_t element_size;
  std::vector<char> bytes;
};

inline std::string format_key(const std::string& tensor) { return "narrow." + tensor; }

/// The format is little-endian.
inline constexpr byte_order safetensors_order = is_little_endian ? byte_order::native : byte_order::reversed;

/// What the header takes at most, as in the library that the format comes from.
inline constexpr std::uint64_t longest_tensor_header = 100'000'000;

}  // namespace detail

/// Tensors for a file, in memory until it is written.
class safetensors_writer {
 public:
  /// Texts of the file's own: {"format", "pt"} is what some programs want. The key "narrow.NAME", where a
  /// tensor has that name, is the library's.
  std::map<std::string, std::string> metadata{};

  /// Keeps a copy of the elements of x: a matrix, a range or a shaped_array. Throws std::invalid_argument
  /// where there is a tensor of this name already, where the name is "__metadata__", or where a shaped_array
  /// has not as many values as its shape says.
  template <file_source X> void add(const std::string& name, const X& x) {
    using T = typename detail::stored_array<X>::element;
    for (const tensor& t : tensors_)
      if (t.entry.name == name) refuse("a tensor of the name \"" + name + "\" is there already");
    if (name == detail::metadata_key) refuse("a tensor must not be called \"" + name + '"');
    constexpr detail::stored_type type = detail::storing<T>::type;
    tensor t{{name, std::string(type.name), {}, 0, 0},
             type.is_whole_truth ? "" : detail::stored_name<T>(),
             type.size,
             {}};
    detail::visit_array(
        x, "safetensors_writer::add", [&](const detail::extent_list& shape, const auto& view) {
          t.entry.shape = shape;
          detail::for_all_bytes(view, detail::safetensors_order, [&](const char* bytes, std::size_t size) {
            t.bytes.insert(t.bytes.end(), bytes, bytes + size);
          });
        });
    tensors_.push_back(std::move(t));
  }

  /// Writes the file; that the stream fails is to be asked of the stream. The elements of each tensor lie at
  /// a multiple of their size. Throws std::invalid_argument where `metadata` has a key of the library's.
  void write(std::ostream& out) const {
    check_metadata("write");
    std::vector<const tensor*> order;
    for (const tensor& t : tensors_) order.push_back(&t);
    std::stable_sort(order.begin(), order.end(),
                     [](const tensor* a, const tensor* b) { return a->element_size > b->element_size; });
    detail::tensor_header header{metadata, {}};
    std::uint64_t at = 0;
    for (const tensor* t : order) {
      header.entries.push_back(t->entry);
      header.entries.back().begin = at;
      header.entries.back().end = at += t->bytes.size();
      if (!t->format.empty()) header.metadata[detail::format_key(t->entry.name)] = t->format;
    }
    std::string text = header_text(header);
    constexpr std::size_t alignment = sizeof(std::uint64_t);
    text.append((alignment - text.size() % alignment) % alignment, ' ');
    for (std::size_t i = 0; i < alignment; ++i)
      out.put(static_cast<char>(std::uint64_t{text.size()} >> (8 * i) & 0xff));
    out << text;
    for (const tensor* t : order) out.write(t->bytes.data(), static_cast<std::streamsize>(t->bytes.size()));
  }
  /// To the file `path`. Throws std::runtime_error with its name where it cannot be written, and what `write`
  /// throws; a file that is there then is as it was.
  void save(const std::string& path) const {
    check_metadata("save");
    detail::write_file(path, "safetensors_writer::save", [&](std::ostream& out) { write(out); });
  }

 private:
  using tensor = detail::tensor_to_write;

  [[noreturn]] static void refuse(const std::string& why, const std::string& function = "add") {
    detail::fail<std::invalid_argument>("narrow::safetensors_writer::" + function + ": " + why);
  }
  void check_metadata(const std::string& function) const {
    for (const tensor& t : tensors_)
      if (const std::string key = detail::format_key(t.entry.name); metadata.contains(key))
        refuse("metadata must not have \"" + key + "\", which tells the format of tensor \"" + t.entry.name +
                   '"',
               function);
  }

  std::vector<tensor> tensors_{};
};

/// The tensors of a file, each of which is read when it is asked for.
///
/// Throws    std::runtime_error with the name of the file where this cannot be opened, is truncated, has
///           another header than the format's, or tensors that overlap or leave bytes between them, as the
///           library refuses them that the format comes from.
class safetensors_reader {
 public:
  /// From the file `path`.
  explicit safetensors_reader(const std::string& path)
      : file_(std::make_unique<std::ifstream>(detail::open_to_read(path, function))),
        in_(*file_, function, '"' + path + '"') {
    read_header();
  }
  /// From a stream, which must know its positions and outlive this; the file begins where it stands.
  explicit safetensors_reader(std::istream& in) : in_(in, function, "the stream") { read_header(); }

  /// In the order of the header.
  const std::vector<safetensors_entry>& entries() const { return header_.entries; }
  /// What the header says of the file beside its tensors.
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  /// Whether there is a tensor of this name.
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  /// Reads a tensor into x, bit for bit.
  ///
  /// Shapes    as `read_npy`.
  /// Throws    std::runtime_error with the name of the file where it has no such tensor, or this has another
  ///           type, or is of another format by the file's metadata, or has codes that x's format has not, or a
  ///           shape that x cannot have. x then is as it was.
  template <file_destination X> void read(std::string_view name, X&& x) {
    const detail::held_stream_exceptions held(in_.stream());
    using T = typename detail::stored_array<std::remove_cvref_t<X>>::element;
    const safetensors_entry* const entry = find(name);
    const std::string tensor = "tensor \"" + std::string(name) + '"';
    if (entry == nullptr) in_.refuse(tensor + " is not there");
    constexpr detail::stored_type type = detail::storing<T>::type;
    if (entry->type != type.name)
      in_.refuse(tensor + " is of type " + entry->type + ", must be " + std::string(type.name) + " for " +
                 detail::stored_name<T>());
    const auto format = header_.metadata.find(detail::format_key(entry->name));
    if (format != header_.metadata.end() && format->second != detail::stored_name<T>())
      in_.refuse(tensor + " is of format " + format->second + ", not " + detail::stored_name<T>());
    const auto count = detail::element_count(entry->shape, sizeof(T));
    const std::uint64_t bytes = entry->end - entry->begin;
    if (!count || *count * sizeof(T) != bytes)
      in_.refuse(tensor + " of shape " + detail::shape_text(entry->shape) + " has " + std::to_string(bytes) +
                 " bytes");
    detail::check_shape(x, entry->shape, in_, tensor);
    in_.stream().clear();
    in_.stream().seekg(data_ + static_cast<std::streamoff>(entry->begin));
    auto values = detail::read_array<T>(*count, detail::safetensors_order, in_, tensor);
    detail::stored_array<std::remove_cvref_t<X>>::assign(x, entry->shape, std::move(values));
  }
  /// The tensor as an array of its own shape; throws likewise.
  template <storable T> shaped_array<T> read(std::string_view name) {
    shaped_array<T> result;
    read(name, result);
    return result;
  }

 private:
  static constexpr const char* function = "safetensors_reader";

  const safetensors_entry* find(std::string_view name) const {
    for (const safetensors_entry& entry : header_.entries)
      if (entry.name == name) return &entry;
    return nullptr;
  }

  void read_header() {
    const detail::held_stream_exceptions held(in_.stream());
    const auto size = in_.read_number<std::uint64_t>("the header's length");
    if (size > detail::longest_tensor_header)
      in_.refuse("its header has " + std::to_string(size) + " bytes, at most " +
                 std::to_string(detail::longest_tensor_header) + " are read");
    std::string text;
    in_.read_elements(text, static_cast<std::size_t>(size), "the header");
    header_ = detail::tensor_header_parser(text, in_).parse();
    std::istream& stream = in_.stream();
    data_ = stream.tellg();
    stream.seekg(0, std::ios_base::end);
    const std::streamoff length = stream.tellg() - data_;
    if (!stream || length < 0) in_.refuse("it does not know its positions");
    check_entries(static_cast<std::uint64_t>(length));
  }

  /// One tensor's bytes begin where those of another end, and no name is there twice.
  void check_entries(std::uint64_t length) const {
    std::vector<const safetensors_entry*> order;
    for (const safetensors_entry& entry : header_.entries) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->name < b->name; });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (order[i]->name == order[i - 1]->name)
        in_.refuse("tensor \"" + order[i]->name + "\" is there twice");
    std::sort(order.begin(), order.end(),
              [](auto* a, auto* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
    std::uint64_t at = 0;
    for (const safetensors_entry* entry : order) {
      if (entry->begin != at)
        in_.refuse("tensor \"" + entry->name + "\" begins at byte " + std::to_string(entry->begin) +
                   ", the one before it ends at " + std::to_string(at));
      at = entry->end;
    }
    if (at != length)
      in_.refuse("the tensors have " + std::to_string(at) + " bytes, there are " + std::to_string(length));
  }

  std::unique_ptr<std::ifstream> file_{};
  detail::byte_reader in_;
  detail::tensor_header header_{};
  std::streampos data_{};
};

}  // namespace narrow
