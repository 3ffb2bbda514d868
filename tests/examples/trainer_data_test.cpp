// The data of the example trainer: files that are right, cut, padded and mislabelled; drawn digits; batches.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "data/batches.hpp"
#include "data/dataset.hpp"
#include "trainer_fixtures.hpp"

using namespace narrow_train;

namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// `count` images of 3 x 2 whose pixels count up from `first`, as an idx file.
std::string idx_images(std::uint32_t count, unsigned first) {
  std::string bytes = big_endian(2051) + big_endian(count) + big_endian(3) + big_endian(2);
  for (unsigned i = 0; i < 6 * count; ++i) bytes += static_cast<char>(first + i);
  return bytes;
}
std::string idx_labels(const std::string& labels) {
  return big_endian(2049) + big_endian(static_cast<std::uint32_t>(labels.size())) + labels;
}

const std::string train_images = "train-images-idx3-ubyte", train_labels = "train-labels-idx1-ubyte",
                  test_images = "t10k-images-idx3-ubyte", test_labels = "t10k-labels-idx1-ubyte";

void write_mnist(const folder& f) {
  f.write(train_images, idx_images(4, 0));
  f.write(train_labels, idx_labels(std::string("\5\0\4\1", 4)));
  f.write(test_images, idx_images(2, 200));
  f.write(test_labels, idx_labels("\7\2"));
}

/// The message of the data_error that load(path) throws; it must be one line.
template <class Load> std::string refusal(const Load& load, const folder& f) {
  try {
    static_cast<void>(load(f.path()));
  } catch (const data_error& e) {
    const std::string message = e.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("idx files, plain and packed", "[train][data]") {
  const folder f;
  write_mnist(f);
  if (GENERATE(false, true)) {
    for (const auto& name : {train_images, train_labels, test_labels}) {
      f.write_packed(name + ".gz", f.read(name));
      std::filesystem::remove(f.path() / name);
    }
  }
  const auto data = load_mnist(f.path());
  CHECK(data.train.shape == image_shape{3, 2, 1});
  CHECK(data.train.classes == 10);
  CHECK(data.train.labels == std::vector<std::uint8_t>{5, 0, 4, 1});
  CHECK(data.test.labels == std::vector<std::uint8_t>{7, 2});
  REQUIRE(data.train.pixels.size() == 24);
  CHECK(data.train.image(1)[0] == 6);
  CHECK(data.train.image(3)[5] == 23);
  CHECK(data.test.image(0)[0] == 200);
}

TEST_CASE("idx files that are not right are named", "[train][data]") {
  using Catch::Matchers::Contains;
  const folder f;
  write_mnist(f);
  const std::string images = idx_images(4, 0), labels = idx_labels(std::string("\5\0\4\1", 4));
  const auto message = [&] { return refusal(load_mnist, f); };
  const auto check_names = [&](const std::string& name, const std::string& what) {
    const auto complaint = message();
    CHECK_THAT(complaint, Contains((f.path() / name).string()));
    CHECK_THAT(complaint, Contains(what));
  };

  SECTION("missing") {
    std::filesystem::remove(f.path() / test_labels);
    check_names(test_labels, "cannot open");
  }
  SECTION("a folder") {
    std::filesystem::remove(f.path() / test_labels);
    std::filesystem::create_directory(f.path() / test_labels);
    check_names(test_labels, "");
  }
  SECTION("wrong magic number") {
    f.write(train_images, labels);
    check_names(train_images, "starts with 2049 instead of 2051");
  }
  SECTION("cut at every byte") {
    std::size_t cuts = 0;
    for (std::size_t length = 0; length < images.size(); ++length, ++cuts) {
      f.write(train_images, images.substr(0, length));
      if (const auto m = message(); m != (f.path() / train_images).string() + " ends too early")
        FAIL(length << ": " << m);
    }
    CHECK(cuts == 16 + 24);
    f.write(train_images, images);
    for (std::size_t length = 0; length < labels.size(); ++length, ++cuts) {
      f.write(train_labels, labels.substr(0, length));
      if (const auto m = message(); m != (f.path() / train_labels).string() + " ends too early")
        FAIL(length << ": " << m);
    }
    CHECK(cuts == 40 + 12);
  }
  SECTION("packed and cut at every byte") {
    f.write_packed("whole.gz", images);
    const auto packed = f.read("whole.gz");
    std::filesystem::remove(f.path() / train_images);
    for (std::size_t length = 0; length < packed.size(); ++length) {
      f.write(train_images + ".gz", packed.substr(0, length));
      if (const auto m = message(); m.find(train_images + ".gz") == std::string::npos)
        FAIL(length << ": " << m);
    }
  }
  SECTION("packed and damaged") {
    f.write_packed("whole.gz", images);
    auto packed = f.read("whole.gz");
    packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // in the checksum
    std::filesystem::remove(f.path() / train_images);
    f.write(train_images + ".gz", packed);
    check_names(train_images + ".gz", "not readable");
  }
  SECTION("too long") {
    f.write(train_images, images + "x");
    check_names(train_images, "longer");
    f.write(train_images, images);
    f.write(train_labels, labels + "x");
    check_names(train_labels, "longer");
  }
  SECTION("a label too large") {
    f.write(train_labels, idx_labels(std::string("\5\0\12\1", 4)));
    check_names(train_labels, "label 10");
  }
  SECTION("counts that differ") {
    f.write(train_labels, idx_labels("\1\2\3"));
    check_names(train_labels, "3 labels for the 4 images");
  }
  SECTION("dimensions that make no sense") {
    for (const std::uint32_t count : {0u, 0x80000000u, 0xffffffffu}) {
      f.write(train_images, big_endian(2051) + big_endian(count) + big_endian(3) + big_endian(2));
      check_names(train_images, "dimension of " + std::to_string(count));
    }
  }
  SECTION("test images of another size") {
    f.write(test_images, big_endian(2051) + big_endian(2) + big_endian(1) + big_endian(1) + "ab");
    CHECK_THAT(message(), Contains("differ in size"));
  }
}

TEST_CASE("CIFAR-10 files", "[train][data]") {
  using Catch::Matchers::Contains;
  const folder f;
  const auto record = [](int label, int first) {
    std::string bytes(1, static_cast<char>(label));
    for (int i = 0; i < 3072; ++i) bytes += static_cast<char>(first + i / 1024 * 80 + i % 1024 % 7);
    return bytes;
  };
  for (int i = 1; i <= 5; ++i)
    f.write("data_batch_" + std::to_string(i) + ".bin", record(i, i) + record(9 - i, 10 * i));
  f.write("test_batch.bin", record(3, 0));

  SECTION("right") {
    const auto data = load_cifar10(f.path());
    CHECK(data.train.shape == image_shape{32, 32, 3});
    CHECK(data.train.labels == std::vector<std::uint8_t>{1, 8, 2, 7, 3, 6, 4, 5, 5, 4});
    CHECK(data.test.labels == std::vector<std::uint8_t>{3});
    REQUIRE(data.train.pixels.size() == 30720);
    const auto image =
        data.train.image(3);  // the second of file 2: red from 20, green from 100, blue from 180
    CHECK(image[0] == 20);
    CHECK(image[1] == 100);
    CHECK(image[2] == 180);
    CHECK(image[3] == 21);
    CHECK(image[3071] == 180 + 1023 % 7);
  }
  SECTION("missing") {
    std::filesystem::remove(f.path() / "data_batch_4.bin");
    CHECK_THAT(refusal(load_cifar10, f), Contains((f.path() / "data_batch_4.bin").string()));
  }
  SECTION("cut inside a record") {
    f.write("data_batch_5.bin", (record(1, 1) + record(2, 2)).substr(0, 6145));
    CHECK_THAT(refusal(load_cifar10, f), Contains("data_batch_5.bin ends inside a record"));
  }
  SECTION("empty") {
    f.write("test_batch.bin", "");
    CHECK_THAT(refusal(load_cifar10, f), Contains("test_batch.bin is empty"));
  }
  SECTION("a label too large") {
    f.write("data_batch_2.bin", record(10, 0));
    CHECK_THAT(refusal(load_cifar10, f), Contains("data_batch_2.bin has a label 10"));
  }
}

TEST_CASE("images that are held out: the last ones, which the others then lack", "[train][data]") {
  const dataset all = draw_digits(20, 1);
  int images = 0;
  for (const std::size_t n : {0u, 1u, 7u, 19u}) {
    dataset kept = all;
    const dataset held = kept.hold_out(n);
    CHECK(held.shape == all.shape);
    CHECK(held.classes == all.classes);
    REQUIRE(held.count() == n);
    REQUIRE(kept.count() == 20 - n);
    REQUIRE(kept.pixels.size() == kept.count() * 784);
    for (std::size_t i = 0; i < 20; ++i, ++images) {
      const bool is_held = i >= 20 - n;
      const dataset& place = is_held ? held : kept;
      const std::size_t at = is_held ? i - (20 - n) : i;
      CHECK(place.labels[at] == all.labels[i]);
      CHECK(std::ranges::equal(place.image(at), all.image(i)));
    }
  }
  CHECK(images == 80);
  dataset kept = all;
  for (const std::size_t n : {20u, 21u}) CHECK_THROWS_AS(kept.hold_out(n), std::invalid_argument);
  CHECK(kept.labels == all.labels);
}

TEST_CASE("drawn digits: the same every time, each from its own index", "[train][data]") {
  const auto a = draw_digits(300, 1), b = draw_digits(100, 1), c = draw_digits(100, 2);
  CHECK(a.shape == image_shape{28, 28, 1});
  CHECK(std::equal(b.labels.begin(), b.labels.end(), a.labels.begin()));
  CHECK(std::equal(b.pixels.begin(), b.pixels.end(), a.pixels.begin()));
  CHECK(b.pixels != c.pixels);
  std::array<int, 10> seen{};
  for (const auto label : a.labels) ++seen[label];
  CHECK(std::ranges::min(seen) > 10);  // 30 expected of each
}

TEST_CASE("normalisation: mean 0 and variance 1 in every channel", "[train][data]") {
  dataset data{.shape = {1, 2, 2}, .classes = 10, .pixels = {0, 7, 100, 7, 50, 7, 250, 7}, .labels = {1, 2}};
  const auto values = normalised(data);
  REQUIRE(values.size() == 2);
  double sum = 0, squares = 0;
  for (const std::size_t byte : {0u, 100u, 50u, 250u}) {
    sum += double{values[0][byte]};
    squares += double{values[0][byte]} * double{values[0][byte]};
  }
  CHECK(sum == Approx(0).margin(1e-5));
  CHECK(squares / 4 == Approx(1).epsilon(1e-5));
  CHECK(values[1][7] == 0);  // one colour only: no division by zero
}

TEST_CASE("batches: every image once an epoch, in an order of its own", "[train][data]") {
  const auto data = draw_digits(25, 3);
  const auto values = normalised(data);
  batches<float> cut(data, values, 10);
  REQUIRE(cut.count() == 3);
  std::vector<std::vector<std::uint8_t>> orders;
  for (const int epoch : {0, 1, 2, 1}) {
    if (epoch > 0) cut.shuffle(7, epoch);
    orders.emplace_back();
    for (std::size_t i = 0; i < 3; ++i) {
      cut.select(i);
      CHECK(cut.images.cols() == (i < 2 ? 10 : 5));
      REQUIRE(cut.labels.size() == static_cast<std::size_t>(cut.images.cols()));
      orders.back().insert(orders.back().end(), cut.labels.begin(), cut.labels.end());
    }
  }
  CHECK(orders[0] == data.labels);
  CHECK(orders[1] == orders[3]);
  CHECK(orders[1] != orders[2]);
  auto sorted = orders[2], all = data.labels;
  std::ranges::sort(sorted);
  std::ranges::sort(all);
  CHECK(sorted == all);
  cut.shuffle(7, 0);
  batches<float> unshuffled(data, values, 25);
  unshuffled.select(0);
  CHECK(unshuffled.images(300, 4) == values[0][data.image(4)[300]]);
}

TEST_CASE("crop and flip: what a slow loop over padded images gives", "[train][data]") {
  // 3 channels of 7 x 6, all bytes different from their neighbours'
  dataset data{.shape = {7, 6, 3}, .classes = 10, .pixels = {}, .labels = {}};
  for (int i = 0; i < 40 * 7 * 6 * 3; ++i) data.pixels.push_back(static_cast<std::uint8_t>(i * 37 % 251));
  for (int i = 0; i < 40; ++i) data.labels.push_back(static_cast<std::uint8_t>(i % 10));
  const auto values = normalised(data);
  const auto pixel = [&](std::size_t image, int row, int column, int channel) {
    if (row < 4 || row >= 11 || column < 4 || column >= 10) return 0.0f;  // of the padded image, 15 x 14
    const int at = ((row - 4) * 6 + column - 4) * 3 + channel;
    return values[static_cast<std::size_t>(channel)][data.image(image)[static_cast<std::size_t>(at)]];
  };
  batches<float> plain(data, values, 40), varied(data, values, 40, augmentation::crop_and_flip);
  plain.select(0);
  varied.select(0);
  CHECK(varied.images == plain.images);  // not shuffled yet

  // Which image is where: labels are not enough, so shuffle the numbers of the images the same way.
  std::vector<std::size_t> order(40);
  std::iota(order.begin(), order.end(), std::size_t{0});
  random_stream(7, purpose::batch_order, 2).shuffle(std::span(order));
  varied.shuffle(7, 2);
  varied.select(0);
  int mirrored = 0;
  std::set<std::array<int, 2>> offsets;
  for (std::size_t n = 0; n < 40; ++n) {
    // The offset and the side are found by trying all of them: exactly one must fit.
    int fits = 0;
    for (int down = 0; down < 9; ++down)
      for (int right = 0; right < 9; ++right)
        for (const bool mirror : {false, true}) {
          bool same = true;
          for (int row = 0; row < 7; ++row)
            for (int column = 0; column < 6; ++column)
              for (int channel = 0; channel < 3; ++channel)
                same =
                    same && varied.images((row * 6 + column) * 3 + channel, static_cast<Eigen::Index>(n)) ==
                                pixel(order[n], down + row, right + (mirror ? 5 - column : column), channel);
          if (!same) continue;
          ++fits;
          mirrored += mirror;
          offsets.insert({down, right});
        }
    CHECK(fits == 1);
  }
  CHECK(mirrored > 8);
  CHECK(mirrored < 32);
  CHECK(offsets.size() > 20);

  // From the seed, the epoch and the image alone: not from what was selected before, nor the size of a batch.
  batches<float> single(data, values, 1, augmentation::crop_and_flip);
  single.shuffle(1, 1);
  single.select(3);
  single.shuffle(7, 2);
  for (const std::size_t n : {17u, 3u, 17u}) {
    single.select(n);
    CHECK(single.images.col(0) == varied.images.col(static_cast<Eigen::Index>(n)));
  }
  const fp32_matrix second = varied.images;
  varied.shuffle(7, 3);
  varied.select(0);
  CHECK(varied.images != second);
}

TEST_CASE("views of images: every offset and both sides, evenly", "[train][data]") {
  std::array<std::array<int, 9>, 2> offsets{};
  int mirrored = 0;
  for (std::size_t image = 0; image < 9000; ++image) {
    const auto view = random_view(3, 1, image);
    ++offsets[0].at(static_cast<std::size_t>(view.down + 4));
    ++offsets[1].at(static_cast<std::size_t>(view.right + 4));
    mirrored += view.facing == view_of_image::side::mirrored;
  }
  for (const auto& axis : offsets)
    for (const int count : axis) CHECK(std::abs(count - 1000) < 150);  // 5 standard deviations
  CHECK(std::abs(mirrored - 4500) < 240);
}
