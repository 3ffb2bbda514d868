// .npy files: what numpy reads of ours and what is read of numpy's, bit for bit; what is wrong in a file.
#include <narrow/files/npy.hpp>

#include "../allocation_counter.hpp"
#include "../refusal.hpp"
#include "../tally.hpp"
#include "peer.hpp"
#include "stored_elements.hpp"

using namespace test;
using namespace narrow;

namespace {

using shape = std::vector<std::size_t>;
const std::vector<shape> shapes{{}, {5}, {0}, {3, 4}, {4, 0}, {2, 3, 5}, {2, 1, 3, 2}};

std::size_t count_of(const shape& s) {
  std::size_t n = 1;
  for (const std::size_t extent : s) n *= extent;
  return n;
}
std::string text_of(const shape& s) {
  std::string text;
  for (const std::size_t n : s) text += std::to_string(n) + ",";
  return text.empty() ? "-" : text.substr(0, text.size() - 1);
}

/// The bytes of a file.
template <class X> std::string written(const X& x) {
  std::ostringstream out;
  write_npy(out, x);
  return out.str();
}

/// A file of version 1 with any header.
std::string file_of(std::string header, std::string_view elements) {
  header += '\n';
  const char length[] = {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return "\x93NUMPY" + std::string{1, 0} + std::string(length, 2) + header + std::string(elements);
}

template <class T> std::string failure_of(const std::string& bytes) {
  std::istringstream in(bytes);
  return failure([&] { read_npy<T>(in); });
}

}  // namespace

TEST_CASE("what is written as .npy comes back bit for bit", "[files]") {
  generator random(1);
  tally count;
  for_each_stored_type([&]<class T>(in_files<T> type) {
    for (const shape& s : shapes) {
      const shaped_array<T> x{s, any_elements<T>(count_of(s), random)};
      std::stringstream stream;
      write_npy(stream, x);
      write_npy(stream, x);  // one after another
      for (int i = 0; i < 2; ++i) {
        const auto y = read_npy<T>(stream);
        count.expect(y.shape == s && same_bytes(x.values, y.values),
                     [&] { return std::string(type.numpy) + text_of(s); });
      }
    }
  });
  count.require(2 * stored_type_count * shapes.size());
}

TEST_CASE("numpy reads what is written, and what it writes is read", "[files]") {
  NEEDS_NUMPY();
  const folder in("npy_test");
  generator random(2);
  std::string commands;
  std::vector<std::string> expected;
  std::vector<std::function<bool()>> checks;
  int number = 0;
  for_each_stored_type([&]<class T>(in_files<T> type) {
    for (const shape& s : shapes) {
      const shaped_array<T> x{s, any_elements<T>(count_of(s), random)};
      const std::string file = in / (std::to_string(++number) + ".npy"), description(type.numpy);
      save_npy(file, x);
      commands += "dump " + file + '\n';
      expected.push_back(description + ' ' + text_of(s) + ' ' + hexadecimal(x.values));
      for (const std::string order : {"C", "F"}) {
        // Of numpy's in the other byte order, too.
        std::string descr = description, hex = hexadecimal(x.values);
        if (order == "C" && sizeof(T) > 1) {
          descr[0] = '>';
          auto reversed = x.values;
          for (T& value : reversed) narrow::detail::reverse_bytes(value);
          hex = hexadecimal(reversed);
        }
        const std::string made = in / (std::to_string(number) + order + ".npy");
        commands += "make " + made + ' ' + descr + ' ' + text_of(s) + ' ' + order + ' ' + hex + '\n';
        checks.emplace_back([made, x] {
          const auto y = load_npy<T>(made);
          return y.shape == x.shape && same_bytes(y.values, x.values);
        });
      }
    }
  });
  REQUIRE(answers(in, commands) == expected);
  tally count;
  for (std::size_t i = 0; i < checks.size(); ++i)
    count.expect(checks[i](), [&] { return "check " + std::to_string(i); });
  count.require(2 * stored_type_count * shapes.size());
}

TEST_CASE("ranges and views are written, and are read into where they have the shape", "[files]") {
  const std::vector<fp16> x{1, 2, 3, 4, 5, 6};
  std::vector<fp16> y;
  std::istringstream in(written(x));
  read_npy(in, y);
  REQUIRE(x == y);
  // A transposed view, by rows.
  std::istringstream transposed(written(row_major(x, 2, 3).transposed()));
  const auto z = read_npy<fp16>(transposed);
  REQUIRE(z.shape == shape{3, 2});
  REQUIRE(z.values == std::vector<fp16>{1, 4, 2, 5, 3, 6});
  std::vector<fp16> columns(6);
  std::istringstream again(written(row_major(x, 2, 3)));
  read_npy(again, column_major(columns, 2, 3));
  REQUIRE(columns == std::vector<fp16>{1, 4, 2, 5, 3, 6});
  std::array<fp16, 6> exactly{};
  std::istringstream third(written(x));
  read_npy(third, std::span(exactly));
  REQUIRE(exactly[5] == 6);

  std::array<fp16, 4> four{1, 1, 1, 1};
  std::istringstream fourth(written(x));
  REQUIRE(failure([&] { read_npy(fourth, four); }) ==
          "narrow::read_npy: the stream: its array has the shape (6,), which must be that of a range of 4 "
          "elements");
  REQUIRE(fourth.fail());
  REQUIRE(four == std::array<fp16, 4>{1, 1, 1, 1});
  REQUIRE(refusal([&] {
            written(shaped_array<fp16>{{2, 2}, x});
          }) == "narrow::write_npy: a shape of (2, 2) must be that of the 6 elements");
  REQUIRE(failure([] { load_npy<fp16>("no/such/file.npy"); }) ==
          "narrow::load_npy: \"no/such/file.npy\" cannot be opened");
  REQUIRE(failure([&] { save_npy("no/such/file.npy", x); }) ==
          "narrow::save_npy: \"no/such/file.npy\" cannot be written");
}

TEST_CASE("a file stays as it is where what is to replace it cannot be written", "[files]") {
  const folder in("keeps");
  const std::string path = in / "keeps.npy";
  const std::vector<fp16> x{1, 2, 3};
  save_npy(path, x);
  REQUIRE(refusal([&] {
            save_npy(path, shaped_array<fp16>{{7}, x});
          }) == "narrow::save_npy: a shape of (7,) must be that of the 3 elements");
  REQUIRE(load_npy<fp16>(path).values == x);
}

TEST_CASE("a stream's own exceptions do not hide what is wrong", "[files]") {
  for (const auto mask : {std::ios_base::failbit, std::ios_base::eofbit, std::ios_base::badbit}) {
    std::istringstream in(written(std::vector<double>(1 << 20)).substr(0, 200));
    in.exceptions(mask);
    std::vector<double> x{1};
    REQUIRE(failure([&] { read_npy(in, x); }) ==
            "narrow::read_npy: the stream: it ends 8388536 bytes too early, in the elements of its array");
    REQUIRE(x == std::vector<double>{1});
    REQUIRE(in.exceptions() == mask);
    REQUIRE(in.fail());
  }
}

TEST_CASE("arrays without elements are written at once, however many rows they have", "[files]") {
  const std::vector<fp16> none;
  std::istringstream in(written(row_major(none, std::ptrdiff_t{1} << 40, 0)));
  REQUIRE(read_npy<fp16>(in).shape == shape{std::size_t{1} << 40, 0});
}

TEST_CASE("what is wrong in a .npy file is said", "[files]") {
  const auto said = [](const std::string& bytes, const std::string& why) {
    INFO(failure_of<fp16>(bytes));
    return failure_of<fp16>(bytes).find(why) != std::string::npos;
  };
  const std::string four(4, '\0');
  const auto header = [](const std::string& descr, const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  };
  const std::string largest = std::to_string(std::numeric_limits<std::size_t>::max());
  REQUIRE(said(file_of(header("<f2", "(2,)"), four), "nothing was thrown"));
  REQUIRE(said(file_of("{ \"shape\" :(2L, ) ,'fortran_order':True,'descr' : '=f2'}  ", four),
               "nothing was thrown"));
  REQUIRE(said("", "it ends 6 bytes too early, in the first bytes"));
  REQUIRE(said("PK\x03\x04 and so on", "it is no .npy file"));
  REQUIRE(said("\x93NUMPY\x04" + four, "its version is 4.0, known are 1.0, 2.0 and 3.0"));
  REQUIRE(said(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), "its header has 4294967295 bytes"));
  REQUIRE(
      said(file_of(header("<f4", "(1,)"), four), "its elements are of type '<f4', must be '<f2' for fp16"));
  REQUIRE(said(file_of(header("|V2", "(2,)"), four), "must be '<f2' for fp16"));
  REQUIRE(said(file_of("{'descr': [('a', '<f2')], }", four), "its elements are structures, not numbers"));
  REQUIRE(
      said(file_of(header("<f2", "(3,)"), four), "it ends 2 bytes too early, in the elements of its array"));
  REQUIRE(said(file_of(header("<f2", "(2, " + largest + ")"), four), "more than memory can hold"));
  REQUIRE(said(file_of(header("<f2", "(3037000500, 3037000500)"), four), "more than memory can hold"));
  REQUIRE(said(file_of(header("<f2", "(99999999999999999999,)"), four),
               "its shape has a number " + beyond_sizes));
  REQUIRE(said(file_of(header("<f2", "(-1,)"), four), "its header has not a number at byte"));
  REQUIRE(said(file_of("{'descr': '<f2', 'shape': (2,)}", four), "its header must have"));
  REQUIRE(
      said(file_of("{'descr': '<f2', 'descr': '<f2'}", four), "its header has \"descr\", unknown or twice"));
  REQUIRE(said(file_of(header("<f2", "(2,)") + "x", four), "its header has not nothing more"));
  // A type of ml_dtypes; codes that a format has not.
  std::istringstream brain(file_of(header("<V2", "(2,)"), std::string("\x80\x3f\x80\xbf", 4)));
  REQUIRE(read_npy<bf16>(brain).values == std::vector<bf16>{1, -1});
  REQUIRE(failure_of<fp6_e2m3>(file_of(header("|u1", "(4,)"), std::string("\0\x3f\x40\0", 4)))
              .find("element 2 of its array is 64, which is no code of fp6_e2m3") != std::string::npos);
  REQUIRE(failure_of<fixed<12, 6>>(file_of(header("<i2", "(2,)"), std::string("\xff\x07\x00\x08", 4)))
              .find("element 1 of its array is 2048, which is no code of fixed<12,6>") != std::string::npos);
}

TEST_CASE("no faulty .npy file crashes, takes memory that it has not, or changes what is there", "[files]") {
  generator random(4);
  std::vector<std::string> files;
  for (const shape& s : shapes)
    files.push_back(written(shaped_array<bf16>{s, any_elements<bf16>(count_of(s), random)}));
  files.push_back(written(std::vector<bf16>(3000, bf16(2))));
  const std::vector<bf16> before{1, 2, 3};
  std::uint64_t read = 0;
  tally count;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = with_faults(files[static_cast<std::size_t>(i) % files.size()], random);
    shaped_array<bf16> x{{3}, before};
    std::istringstream in(bytes);
    allowed = held + (std::size_t{8} << 20);
    const std::string said = failure_if_any([&] { read_npy(in, x); });
    allowed = static_cast<std::size_t>(-1);
    read += said.empty();
    const bool is_right = said.empty()
                              ? x.values.size() == count_of(x.shape) && x.values.size() <= bytes.size()
                              : said.starts_with("narrow::read_npy: ") && x.values == before;
    count.expect(is_right, [&] { return said + bytes; });
  }
  count.require(20'000);
  REQUIRE(read > 500);
  REQUIRE(read < 19'000);
}
