// The state of a training helper as text. One list of its fields, each with its name and its range, serves to
// write, to read and to check it.
#pragma once

#include <charconv>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../errors.hpp"
#include "../format/operators.hpp"
#include "../stream_errors.hpp"
#include "parameter.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Types that come back bit for bit as their bits, in hexadecimal, and the unsigned integer that holds those.
template <class T> struct saved_bits {};
template <> struct saved_bits<float> { using type = std::uint32_t; };
template <> struct saved_bits<double> { using type = std::uint64_t; };
template <narrow_scalar T> struct saved_bits<T> { using type = std::make_unsigned_t<typename T::bits_type>; };
template <class T>
concept saved_as_bits = requires {
  typename saved_bits<T>::type;
};

template <class T>
concept saved_pair = requires(T x) {
  x.first;
  x.second;
};

/// Part of a state that is a list of fields itself: a class with a public static `fields(field, self)`, see
/// `saved_state`.
template <class T, class Visitor>
concept saved_fields = requires(Visitor& field, T& x) {
  T::fields(field, x);
};

/// Writes values separated by spaces: integers in decimal, strings as `length:bytes`, containers as their
/// size and elements. The stream's flags, width and locale have no part in it.
class state_writer {
 public:
  explicit state_writer(std::ostream& out) : out_(out) { out_.width(0); }

  void begin(std::string_view type) {
    put(type);
    put(" {");
  }
  void end() { put(" }"); }

  template <class T> void operator()(std::string_view name, const T& value, const auto&...) {
    put(" ");
    put(name);
    write(value);
  }

 private:
  template <std::integral T> void write(T value) { number(value, 10); }
  void write(bool value) { number(int{value}, 10); }
  template <class T>
  requires std::is_enum_v<T>
  void write(T value) { write(static_cast<int>(value)); }
  template <saved_as_bits T> void write(T value) {
    using bits = typename saved_bits<T>::type;
    if constexpr (narrow_scalar<T>)
      number(static_cast<bits>(value.bits()), 16);
    else
      number(std::bit_cast<bits>(value), 16);
  }
  template <saved_fields<state_writer> T> void write(const T& fields) {
    put(" {");
    T::fields(*this, fields);
    end();
  }
  void write(const std::string& text) {
    number(text.size(), 10);
    put(":");
    put(text);
  }
  template <saved_pair T> void write(const T& pair) {
    write(pair.first);
    write(pair.second);
  }
  template <std::ranges::sized_range T> void write(const T& elements) {
    number(std::ranges::size(elements), 10);
    for (const auto& element : elements) write(element);
  }

  template <std::integral T> void number(T value, int base) {
    char digits[24] = {' '};
    const auto end = std::to_chars(digits + 1, std::end(digits), value, base).ptr;
    put({digits, static_cast<std::size_t>(end - digits)});
  }
  void put(std::string_view text) { out_.write(text.data(), static_cast<std::streamsize>(text.size())); }

  std::ostream& out_;
};

/// Reads what `state_writer` wrote. Throws std::runtime_error where the text has another form.
class state_reader {
 public:
  explicit state_reader(std::istream& in, std::string_view type) : in_(in), type_(type) {
    if (const std::istream::sentry ready(in_, true); !ready) refuse("the stream cannot be read");
    constexpr std::string_view white_space = " \t\n\v\f\r";
    while (white_space.find(peek()) != white_space.npos) next();
  }

  void begin() {
    expect(type_);
    expect(" {");
  }
  void end() { expect(" }"); }

  template <class T> void operator()(std::string_view name, T& value, const auto&...) {
    expect(" ");
    expect(name);
    read(value);
  }

  /// How a message begins that says why the text is refused.
  std::string refusal() const { return "narrow: no saved state of " + std::string(type_) + ": "; }
  [[noreturn]] void refuse(std::string_view why) const {
    const std::string message = refusal() + std::string(why);
    in_.setstate(std::ios_base::failbit);
    detail::fail<std::runtime_error>(message);
  }

 private:
  template <std::integral T> void read(T& value) { value = number<T>(10, ' '); }
  void read(bool& value) {
    const int read = number<int>(10, ' ');
    if (read != 0 && read != 1) refuse("neither true nor false");
    value = read == 1;
  }
  template <class T>
  requires std::is_enum_v<T>
  void read(T& value) { value = static_cast<T>(number<int>(10, ' ')); }
  template <saved_as_bits T> void read(T& value) {
    const auto bits = number<typename saved_bits<T>::type>(16, ' ');
    if constexpr (narrow_scalar<T>) {
      value = T::from_bits(static_cast<typename T::bits_type>(bits));
      if (static_cast<typename T::bits_type>(bits) != value.bits()) refuse("a code of the wrong format");
    } else {
      value = std::bit_cast<T>(bits);
    }
  }
  template <saved_fields<state_reader> T> void read(T& fields) {
    expect(" {");
    T::fields(*this, fields);
    end();
  }
  void read(std::string& text) {
    const auto size = number<std::size_t>(10, ':');
    expect(":");
    text.clear();
    while (text.size() < size) text.push_back(next());
  }
  template <saved_pair T> void read(T& pair) {
    read(pair.first);
    read(pair.second);
  }
  // Grows as elements arrive: a false size must not allocate what the text does not hold.
  template <std::ranges::sized_range T> void read(T& elements) {
    const auto size = number<std::size_t>(10, ' ');
    elements.clear();
    for (std::size_t i = 0; i < size; ++i) {
      mutable_element<T> item{};
      read(item);
      elements.insert(elements.end(), std::move(item));
    }
    if (elements.size() != size) refuse("a repeated key");
  }

  template <class T> struct element { using type = typename T::value_type; };
  template <class T>
  requires requires { typename T::mapped_type; }
  struct element<T> {
    using type = std::pair<typename T::key_type, typename T::mapped_type>;
  };
  template <class T> using mutable_element = typename element<T>::type;

  /// The number after a space, up to the character `stop`, which is left where it is.
  template <std::integral T> T number(int base, char stop) {
    expect(" ");
    char digits[24];
    char* end = digits;
    while (peek() != stop) {
      if (end == std::end(digits)) refuse("a number of too many digits");
      *end++ = next();
    }
    T value{};
    const auto [parsed, error] = std::from_chars(digits, end, value, base);
    if (error != std::errc{} || parsed != end)
      refuse("\"" + std::string(digits, end) + "\" is not its number");
    return value;
  }

  void expect(std::string_view text) {
    for (const char c : text)
      if (next() != c) refuse("\"" + std::string(text) + "\" is missing");
  }

  char peek() const {
    const auto c = in_.rdbuf()->sgetc();
    if (c == std::char_traits<char>::eof()) refuse("the text ends too early");
    return std::char_traits<char>::to_char_type(c);
  }
  char next() {
    const char c = peek();
    in_.rdbuf()->sbumpc();
    return c;
  }

  std::istream& in_;
  std::string_view type_;
};

/// Throws std::invalid_argument where a field is out of its range.
class state_checker {
 public:
  /// Where a field is wrong that bounds other ones, that field is to be named. So in a first walk over the
  /// fields an empty range accuses no value: the field that is its bound is wrong. A second walk finds what
  /// is left.
  enum class walk { first, second };

  state_checker(std::string_view owner, walk which) : owner_(owner), walk_(which) {}

  template <class T, class... Ranges>
  void operator()([[maybe_unused]] std::string_view name, const T& value, const Ranges&... ranges) {
    (check(name, value, ranges), ...);
    check_within(value);
  }

 private:
  template <class T, class Range> void check(std::string_view name, const T& value, const Range& range) {
    if (walk_ == walk::first && range.template empty<ranged_t<T>>()) return;
    check_parameter(owner_, name, value, range);
  }
  template <class T, class Range>
  void check(std::string_view name, const T& value, const size_range<Range>& size) {
    check("the size of " + std::string(name), std::ranges::size(value), size.range);
  }
  template <class T, class Range>
  void check(std::string_view name, const T& value, const each_range<Range>& elements) {
    const std::string one = "an element of " + std::string(name);
    for (const auto& element : value)
      if constexpr (saved_pair<decltype(element)>)
        check(one, element.second, elements.range);
      else
        check(one, element, elements.range);
  }

  /// The fields of a field.
  template <class T> void check_within(const T& value) {
    if constexpr (saved_fields<const T, state_checker>)
      T::fields(*this, value);
    else if constexpr (requires { typename T::mapped_type; })
      for (const auto& element : value) check_within(element.second);
  }

  std::string_view owner_;
  walk walk_;
};

/// Checks, saves and loads the training helpers. Each of their classes befriends this one and has a default
/// constructor and
///
///   state_type()         its name in the text and in messages
///   fields(field, self)  calls field(name, member, ranges...) for every member in the order of the text. A
///                        range is `within` or `inside`, of containers `size` or `each` of one; it may depend
///                        on other members, whatever they hold
///   check_relations()    throws std::invalid_argument where members in their ranges contradict one another;
///                        needed only where some can
struct saved_state {
  template <class T> static void check(const T& x) {
    const std::string owner = T::state_type();
    for (const auto which : {state_checker::walk::first, state_checker::walk::second}) {
      state_checker checker(owner, which);
      T::fields(checker, x);
    }
    x.check_relations();
  }

  template <class T> static std::ostream& save(std::ostream& out, const T& x) {
    state_writer writer(out);
    writer.begin(T::state_type());
    T::fields(writer, x);
    writer.end();
    return out;
  }

  template <class T> static std::istream& load(std::istream& in, T& x) {
    const held_stream_exceptions held(in);
    const std::string type = T::state_type();
    state_reader reader(in, type);
    T loaded;
    reader.begin();
    T::fields(reader, loaded);
    reader.end();
    if (const auto why = refusal_of(reader.refusal(), [&] { check(loaded); })) reader.refuse(*why);
    x = std::move(loaded);
    return in;
  }
};

/// Base of the classes with a saved state.
///
/// `<<` writes an object as one line of text, `>>` reads it back bit for bit, after any white space; several
/// objects may follow one another. Text that is truncated, or of another type or format, makes `>>` throw
/// std::runtime_error; the object then is as it was and the stream's failbit is set.
template <class T> struct streamable {
  friend std::ostream& operator<<(std::ostream& out, const T& x) { return saved_state::save(out, x); }
  friend std::istream& operator>>(std::istream& in, T& x) { return saved_state::load(in, x); }
  friend bool operator==(const streamable&, const streamable&) = default;

 protected:
  void check_relations() const {}
};

}  // namespace narrow::detail
