// .safetensors files: what a few lines of Python read of ours and what is read of theirs, bit for bit; what
// is wrong in a file.
#include <narrow/files/safetensors.hpp>

#include "../allocation_counter.hpp"
#include "../refusal.hpp"
#include "../tally.hpp"
#include "peer.hpp"
#include "stored_elements.hpp"

using namespace test;
using namespace narrow;

namespace {

/// Names with everything that JSON escapes.
const std::vector<std::string> names{"w", "layer.0/weight", "a \"quoted\" \\ name", "line\nand\ttab\x01", ""};

/// The bytes of a file.
std::string written(const safetensors_writer& writer) {
  std::ostringstream out;
  writer.write(out);
  return out.str();
}

/// A file of any header.
std::string file_of(std::string_view header, std::size_t bytes) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(std::uint64_t{header.size()} >> (8 * i) & 0xff);
  return file + std::string(header) + std::string(bytes, '\0');
}

std::string failure_of(const std::string& bytes) {
  std::istringstream in(bytes);
  return failure([&] { safetensors_reader reader(in); });
}

/// One tensor of each type.
template <class F> void for_each_tensor(generator& random, const F& f) {
  std::size_t i = 0;
  for_each_stored_type([&]<class T>(in_files<T> type) {
    const std::size_t rows = i % 4, cols = 1 + i % 3;  // of no rows, too
    f(type, std::to_string(i) + names[i % names.size()],
      shaped_array<T>{{rows, cols}, any_elements<T>(rows * cols, random)});
    ++i;
  });
}

}  // namespace

TEST_CASE("tensors come back bit for bit, aligned, with their formats and the metadata", "[files]") {
  generator random(1);
  safetensors_writer writer;
  writer.metadata = {{"format", "pt"}, {"by \"whom\"", "nobody"}};
  for_each_tensor(random, [&](auto, const std::string& name, const auto& x) { writer.add(name, x); });
  const std::string bytes = written(writer);
  std::istringstream in("before" + bytes);  // the file begins where the stream stands
  in.seekg(6);
  safetensors_reader reader(in);
  REQUIRE(reader.entries().size() == stored_type_count);
  REQUIRE(reader.metadata().at("format") == "pt");
  REQUIRE(reader.metadata().at("by \"whom\"") == "nobody");
  REQUIRE((8 + static_cast<unsigned char>(bytes[0])) % 8 == 0);  // the bytes of the tensors begin so
  REQUIRE(reader.contains("0w"));
  REQUIRE(!reader.contains("w"));
  tally count;
  random.seed(1);
  for_each_tensor(random, [&]<class T>(in_files<T> type, const std::string& name, const shaped_array<T>& x) {
    const auto y = reader.read<T>(name);
    const auto& entry = *std::find_if(reader.entries().begin(), reader.entries().end(),
                                      [&](const auto& e) { return e.name == name; });
    count.expect(y.shape == x.shape && same_bytes(x.values, y.values) && entry.type == type.safetensors &&
                     entry.begin % sizeof(T) == 0,
                 [&] { return name; });
  });
  count.require(stored_type_count);
}

TEST_CASE("Python reads what is written, and what it writes is read", "[files]") {
  NEEDS_NUMPY();
  const folder in("safetensors_test");
  generator random(2);
  safetensors_writer writer;
  std::vector<std::pair<std::string, std::string>> expected;  // by name, as Python sorts them
  std::string made;
  const auto quoted = [](const std::string& name) {  // without spaces, as a word
    std::string text = "\"";
    for (const char c : name) {
      constexpr std::string_view digits = "0123456789abcdef";
      text += std::string("\\u00") + digits[static_cast<unsigned char>(c) >> 4] + digits[c & 0xf];
    }
    return text + '"';
  };
  for_each_tensor(random, [&]<class T>(in_files<T> type, const std::string& name, const shaped_array<T>& x) {
    writer.add(name, x);
    const std::string rest = ' ' + std::string(type.safetensors) + ' ' + std::to_string(x.shape[0]) + ',' +
                             std::to_string(x.shape[1]) + ' ' + hexadecimal(x.values);
    expected.emplace_back(name, rest);
    made += ' ' + quoted(name) + rest;
  });
  std::sort(expected.begin(), expected.end());
  const std::string ours = in / "ours.safetensors", theirs = in / "theirs.safetensors";
  writer.save(ours);
  auto lines = answers(in, "tensors " + ours + "\nwrite " + theirs + made + '\n');
  REQUIRE(lines.size() == stored_type_count + 1);
  REQUIRE(lines.back().find("fixed<12,6>") != std::string::npos);
  tally count;
  for (std::size_t i = 0; i < expected.size(); ++i)
    count.expect(lines[i].ends_with(expected[i].second), [&] { return lines[i]; });
  safetensors_reader reader(theirs);
  random.seed(2);
  for_each_tensor(random, [&]<class T>(in_files<T>, const std::string& name, const shaped_array<T>& x) {
    const auto y = reader.read<T>(name);
    count.expect(y.shape == x.shape && same_bytes(x.values, y.values), [&] { return name; });
  });
  count.require(2 * stored_type_count);
}

TEST_CASE("what is wrong with a tensor is said, and leaves what is there", "[files]") {
  safetensors_writer writer;
  writer.add("w", std::vector<fp16>{1, 2, 3});
  writer.add("f", std::vector<fixed<8, 4>>{1, 2, 3});
  REQUIRE(refusal([&] { writer.add("w", std::vector<float>{1}); }) ==
          "narrow::safetensors_writer::add: a tensor of the name \"w\" is there already");
  REQUIRE(refusal([&] { writer.add("__metadata__", std::vector<float>{1}); }) ==
          "narrow::safetensors_writer::add: a tensor must not be called \"__metadata__\"");
  REQUIRE(refusal([&] {
            writer.add("x", shaped_array<float>{{3}, {1}});
          }) == "narrow::safetensors_writer::add: a shape of (3,) must be that of the 1 elements");
  std::istringstream in(written(writer));
  safetensors_reader reader(in);
  REQUIRE(reader.entries().size() == 2);
  std::array<fp16, 2> two{7, 7};
  const std::string begin = "narrow::safetensors_reader: the stream: tensor \"";
  REQUIRE(failure([&] { reader.read("w", two); }) ==
          begin + "w\" has the shape (3,), which must be that of a range of 2 elements");
  REQUIRE(two == std::array<fp16, 2>{7, 7});
  REQUIRE(failure([&] { reader.read<bf16>("w"); }) == begin + "w\" is of type F16, must be BF16 for bf16");
  REQUIRE(failure([&] { reader.read<fp16>("v"); }) == begin + "v\" is not there");
  REQUIRE(failure([&] { reader.read<fixed<8, 5>>("f"); }) ==
          begin + "f\" is of format fixed<8,4>, not fixed<8,5>");
  REQUIRE(reader.read<fixed<8, 4, rounding::downward>>("f").values[2] == 3);  // another policy
  REQUIRE(reader.read<fp16>("w").values == std::vector<fp16>{1, 2, 3});       // after all that
  REQUIRE(failure([] { safetensors_reader("no/such.file"); }) ==
          "narrow::safetensors_reader: \"no/such.file\" cannot be opened");
  REQUIRE(failure([&] { writer.save("no/such.file"); }) ==
          "narrow::safetensors_writer::save: \"no/such.file\" cannot be written");
  writer.metadata["narrow.v"] = "any text";
  written(writer);
  writer.metadata["narrow.f"] = "any text";
  REQUIRE(refusal([&] { written(writer); }) ==
          "narrow::safetensors_writer::write: metadata must not have \"narrow.f\", which tells the format of "
          "tensor \"f\"");
  std::istringstream broken("no such file");
  broken.exceptions(std::ios_base::failbit);
  REQUIRE(says(failure([&] { safetensors_reader unread(broken); }),
               {"narrow::safetensors_reader: the stream: "}));
}

TEST_CASE("what is wrong in a safetensors file is said", "[files]") {
  const auto said = [](const std::string& bytes, const std::string& why) {
    INFO(failure_of(bytes));
    return failure_of(bytes).find(why) != std::string::npos;
  };
  const auto tensor = [](const std::string& name, const std::string& offsets) {
    return '"' + name + R"(":{"dtype":"F16","shape":[2],"data_offsets":)" + offsets + '}';
  };
  const std::string first = tensor("a", "[0,4]");
  REQUIRE(said(file_of("{" + first + "}  ", 4), "nothing was thrown"));
  REQUIRE(said(file_of("{}", 0), "nothing was thrown"));
  REQUIRE(
      said(file_of(R"( { "__metadata__" : { "\u00e9\ud83d\ude00" : "\/" } } )", 0), "nothing was thrown"));
  REQUIRE(said("", "it ends 8 bytes too early, in the header's length"));
  REQUIRE(
      said(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8), "its header has 9223372036854775807 bytes"));
  REQUIRE(said(file_of("{}", 0).replace(0, 1, "\x09"), "it ends 7 bytes too early, in the header"));
  REQUIRE(said(file_of("{" + first + "}", 3), "the tensors have 4 bytes, there are 3"));
  REQUIRE(said(file_of("{" + first + "}", 5), "the tensors have 4 bytes, there are 5"));
  REQUIRE(said(file_of("{" + first + "," + tensor("b", "[2,6]") + "}", 6),
               "tensor \"b\" begins at byte 2, the one before it ends at 4"));
  REQUIRE(said(file_of("{" + first + "," + tensor("b", "[6,10]") + "}", 10), "begins at byte 6"));
  REQUIRE(said(file_of("{" + first + "," + tensor("a", "[4,8]") + "}", 8), "tensor \"a\" is there twice"));
  REQUIRE(said(file_of("{" + tensor("a", "[4,0]") + "}", 4), "must be a begin and an end"));
  REQUIRE(said(file_of("{" + tensor("a", "[0]") + "}", 4), "must be a begin and an end"));
  REQUIRE(said(file_of("{" + tensor("a", "[0,18446744073709551616]") + "}", 4), beyond_sizes));
  REQUIRE(said(file_of("{" + tensor("a", "[-1,4]") + "}", 4), "its header has not a number at byte"));
  REQUIRE(said(file_of("{" + tensor("a", "[00,4]") + "}", 4), "its header has not a number at byte"));
  REQUIRE(
      said(file_of(R"({"a":{"dtype":"F16","shape":[2]}})", 4), "must have dtype, shape and data_offsets"));
  REQUIRE(said(file_of(R"({"a":{"dtype":"F16","strides":[2]}})", 4), "\"strides\", unknown or twice"));
  REQUIRE(said(file_of(R"({"a":{"dtype":"F16","dtype":"F16"}})", 4), "\"dtype\", unknown or twice"));
  REQUIRE(said(file_of(R"({"__metadata__":{"a":"b","a":"b"}})", 0), "\"a\", unknown or twice"));
  REQUIRE(said(file_of(R"({"__metadata__":{"a":1}})", 0), "its header has not '\"' at byte"));
  REQUIRE(said(file_of(R"({"\ud800":{}})", 0), "its header has not a character at byte"));
  REQUIRE(said(file_of(R"({"\udc00":{}})", 0), "its header has not a character at byte"));
  REQUIRE(said(file_of(R"({"\u12)", 0), "its header has not an escaped character at byte"));
  REQUIRE(said(file_of("{" + first + "} x", 4), "its header has not nothing more at byte"));
  REQUIRE(said(file_of("{" + first + ",}", 4), "its header has not '\"' at byte"));
  // Characters by their numbers, here with one, two, three and four bytes of UTF-8.
  std::istringstream escaped(
      file_of(R"( { "__metadata__" : { "\u0041\u00e9\u20AC\ud83d\ude00" : "\/\t" } } )", 0));
  REQUIRE(safetensors_reader(escaped).metadata().at("A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == "/\t");
  // A tensor whose shape is not that of its bytes does no harm to others. (In a size this product is 1.)
  const std::string seventh = sizeof(std::size_t) == 8 ? "7905747460161236407" : "3067833783";
  std::istringstream in(file_of(
      "{" + first + R"(,"b":{"dtype":"F16","shape":[7,)" + seventh + R"(],"data_offsets":[4,6]}})", 6));
  safetensors_reader reader(in);
  REQUIRE(failure([&] { reader.read<fp16>("b"); }).find("(7, " + seventh + ") has 2 bytes") !=
          std::string::npos);
  REQUIRE(reader.read<fp16>("a").values.size() == 2);
}

TEST_CASE("no faulty safetensors file crashes, takes memory that it has not, or changes what is there",
          "[files]") {
  generator random(4);
  safetensors_writer writer;
  writer.metadata["format"] = "pt";
  writer.add("w", shaped_array<bf16>{{3, 4}, any_elements<bf16>(12, random)});
  writer.add("v \"x\"", std::vector<fixed<8, 4>>{1, 2, 3});
  writer.add("long", std::vector<float>(300, 1.0f));
  const std::string file = written(writer);
  const std::vector<bf16> before{1, 2, 3};
  std::uint64_t read = 0;
  tally count;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = with_faults(file, random);
    shaped_array<bf16> x{{3}, before};
    std::istringstream in(bytes);
    allowed = held + (std::size_t{8} << 20);
    const std::string said = failure_if_any([&] { safetensors_reader(in).read("w", x); });
    allowed = static_cast<std::size_t>(-1);
    read += said.empty();
    const bool is_right = said.empty()
                              ? x.values.size() == 12
                              : said.starts_with("narrow::safetensors_reader: ") && x.values == before;
    count.expect(is_right, [&] { return said + bytes; });
  }
  count.require(20'000);
  REQUIRE(read > 500);
  REQUIRE(read < 19'000);
}
