// Drawn digits: a handful of pen strokes per glyph, bent, slanted, thickened, blurred and covered with noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "data/dataset.hpp"
#include "tensor/random.hpp"

namespace narrow_train {
namespace {

constexpr int side = 28;
constexpr int classes = 10;

struct point {
  double x, y;
};

/// Points on a grid 8 wide and 12 high, y downwards. `curve` passes smoothly through them, `line` straight.
enum class pen { line, curve };
struct stroke {
  pen kind;
  std::vector<point> points;
};
using glyph = std::vector<stroke>;

using enum pen;

/// The ways to write each digit.
const std::array<std::vector<glyph>, classes> styles{{
    // 0: round, narrow, with a slash
    {{{curve, {{4, 0}, {1, 2}, {0, 6}, {1, 10}, {4, 12}, {7, 10}, {8, 6}, {7, 2}, {4, 0}}}},
     {{curve, {{4.5, 0}, {2, 3}, {1.5, 7}, {3, 11.5}, {5, 11}, {6.5, 7}, {6, 2}, {4, 0.5}}}},
     {{curve, {{4, 0}, {1, 2}, {0, 6}, {1, 10}, {4, 12}, {7, 10}, {8, 6}, {7, 2}, {4, 0}}},
      {line, {{6.5, 2}, {1.5, 10}}}}},
    // 1: bare, with a flag, with flag and foot
    {{{line, {{4, 0}, {4, 12}}}},
     {{line, {{1.5, 3}, {4.5, 0}, {4.5, 12}}}},
     {{line, {{1.5, 2.5}, {4, 0}, {4, 12}}}, {line, {{1.5, 12}, {6.5, 12}}}}},
    // 2: straight foot, looped, angular
    {{{curve, {{0.5, 3}, {2, 0.5}, {5, 0}, {7.5, 2.5}, {6, 6}, {3, 9}, {0, 12}}}, {line, {{0, 12}, {8, 12}}}},
     {{curve,
       {{1, 2}, {4, 0}, {7, 2}, {6, 6}, {2.5, 10.5}, {0.5, 11.5}, {0.5, 10}, {3, 10}, {5.5, 12}, {8, 11}}}},
     {{curve, {{0.5, 2}, {4, 0}, {7, 2}, {6.5, 5}}}, {line, {{6.5, 5}, {0.5, 12}, {7.5, 12}}}}},
    // 3: two bows, flat top, one line
    {{{curve, {{0.5, 1.5}, {4, 0}, {7, 2}, {6, 5}, {3, 5.7}}},
      {curve, {{3, 5.7}, {7, 7}, {7.5, 10}, {4, 12}, {0.5, 10.5}}}},
     {{line, {{1, 0}, {7, 0}, {3.5, 4.5}}},
      {curve, {{3.5, 4.5}, {7, 6}, {7.5, 9.5}, {4.5, 12}, {0.5, 10.5}}}},
     {{curve, {{1, 1}, {5, 0}, {6.5, 2.5}, {4, 5.5}, {2.5, 6}, {5, 6.2}, {7.5, 9}, {5, 12}, {0.5, 11}}}}},
    // 4: open, closed, slanted
    {{{line, {{1.5, 0}, {0.5, 7}, {8, 7}}}, {line, {{6, 3}, {6, 12}}}},
     {{line, {{6, 12}, {6, 0}, {0, 8.5}, {8, 8.5}}}},
     {{curve, {{2, 0}, {1, 4}, {1.5, 6.5}, {4, 7}, {7, 6}}}, {line, {{7, 0.5}, {5.5, 12}}}}},
    // 5: pen lifted for the roof, in one line, steep
    {{{line, {{7.5, 0}, {1.5, 0}, {1, 5.5}}},
      {curve, {{1, 5.5}, {4.5, 4.5}, {7.5, 7.5}, {6, 11}, {3, 12}, {0.5, 10.5}}}},
     {{curve, {{7, 0.2}, {2, 0.5}, {1.5, 5}, {5, 5.5}, {7, 8.5}, {4.5, 12}, {0.5, 11.5}}}},
     {{line, {{7, 0}, {2.5, 0.5}, {1, 6}}}, {curve, {{1, 6}, {5, 6}, {6, 9}, {3.5, 12}, {0.5, 11}}}}},
    // 6: bent, straight-backed, narrow
    {{{curve,
       {{6.5, 0.5}, {3, 2.5}, {0.5, 7}, {2, 11.3}, {5, 12}, {7.5, 9.3}, {6, 6.5}, {3, 6.5}, {0.8, 9}}}},
     {{line, {{5, 0}, {1, 7.5}}}, {curve, {{1, 7.5}, {1, 10.5}, {4, 12}, {7, 10}, {5.5, 7}, {1.5, 8}}}},
     {{curve, {{5, 0}, {2.5, 4}, {1.5, 9}, {3.5, 12}, {6, 10}, {5, 7.5}, {2, 9}}}}},
    // 7: bare, crossed, bent
    {{{line, {{0.5, 0}, {7.5, 0}, {3, 12}}}},
     {{line, {{0.5, 0}, {7.5, 0}, {2.5, 12}}}, {line, {{2.5, 6}, {7, 6}}}},
     {{line, {{0.5, 1.5}, {0.5, 0}, {7.5, 0.5}}}, {curve, {{7.5, 0.5}, {5, 4.5}, {4, 8}, {4, 12}}}}},
    // 8: one line, two rings, open top
    {{{curve,
       {{6.5, 1},
        {4, 0},
        {1.3, 2},
        {2.5, 5},
        {5.5, 7},
        {7.2, 9.5},
        {4, 12},
        {0.8, 9.5},
        {2.5, 7},
        {5.8, 4.5},
        {6.5, 1}}}},
     {{curve, {{4, 0}, {1.5, 2.8}, {4, 5.6}, {6.5, 2.8}, {4, 0}}},
      {curve, {{4, 5.6}, {0.8, 8.8}, {4, 12}, {7.2, 8.8}, {4, 5.6}}}},
     {{curve,
       {{7, 0.5}, {2.5, 0.5}, {1.5, 3}, {6, 7.5}, {6.5, 10.5}, {3.5, 12}, {1.5, 10}, {3, 7}, {7, 1.5}}}}},
    // 9: straight tail, bent tail, narrow
    {{{curve, {{7, 2}, {4, 0}, {1, 2.5}, {2, 6}, {5.5, 5.5}, {7, 2}}}, {line, {{7, 1.5}, {6.5, 12}}}},
     {{curve,
       {{7, 3},
        {5, 0},
        {1.5, 1.5},
        {1, 4.5},
        {4, 6.2},
        {6.8, 4},
        {7.2, 3},
        {6.5, 8.5},
        {4.5, 11.5},
        {1, 11.5}}}},
     {{curve, {{6, 3}, {4, 0.5}, {2, 3}, {3, 6}, {6, 3.5}}}, {curve, {{6, 3.5}, {5.5, 8}, {4, 12}}}}},
}};

/// Catmull-Rom: through all points, each tangent parallel to the chord of its neighbours.
std::vector<point> smooth(const std::vector<point>& through) {
  constexpr int pieces = 5;
  std::vector<point> out;
  for (std::size_t i = 0; i + 1 < through.size(); ++i) {
    const point a = through[i == 0 ? 0 : i - 1];
    const point b = through[i];
    const point c = through[i + 1];
    const point d = through[std::min(i + 2, through.size() - 1)];
    for (int k = 0; k < pieces; ++k) {
      const double t = static_cast<double>(k) / pieces;
      const auto blend = [t](double p, double q, double r, double s) {
        return 0.5 * (2 * q + t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p))));
      };
      out.push_back({blend(a.x, b.x, c.x, d.x), blend(a.y, b.y, c.y, d.y)});
    }
  }
  out.push_back(through.back());
  return out;
}

double distance(point p, point a, point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length2 = dx * dx + dy * dy;
  const double t = length2 > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0) : 0.0;
  const double x = p.x - a.x - t * dx;
  const double y = p.y - a.y - t * dy;
  return std::sqrt(x * x + y * y);
}

/// Grey values in [0, 1], ink is 1.
using canvas = std::array<double, side * side>;

/// Ink within `radius` of the line a-b, fading to nothing over `blur` pixels.
void draw(canvas& image, point a, point b, double radius, double blur, double ink) {
  const double reach = radius + blur;
  const auto pixel = [](double v) { return static_cast<int>(std::clamp(v, 0.0, double{side - 1})); };
  for (int y = pixel(std::min(a.y, b.y) - reach); y <= pixel(std::max(a.y, b.y) + reach + 1); ++y)
    for (int x = pixel(std::min(a.x, b.x) - reach); x <= pixel(std::max(a.x, b.x) + reach + 1); ++x) {
      const double away = distance({double(x), double(y)}, a, b);
      const double value = ink * std::clamp((reach - away) / blur, 0.0, 1.0);
      double& grey = image[static_cast<std::size_t>(y * side + x)];
      grey = std::max(grey, value);
    }
}

/// One picture of `digit`, in a hand, with a pen and on a paper chosen at random.
canvas draw_digit(int digit, random_stream& random) {
  const auto& ways = styles[static_cast<std::size_t>(digit)];
  const glyph& shape = ways[random.below(ways.size())];

  // Grid to pixels: shake, centre, scale, slant, turn, move.
  const double angle = random.uniform(-18, 18) * std::numbers::pi / 180;
  const double slant = random.uniform(-0.3, 0.3);
  const double width = random.uniform(1.0, 1.8);
  const double height = random.uniform(1.1, 1.7);
  const double right = random.uniform(-3.5, 3.5);
  const double down = random.uniform(-3.5, 3.5);
  const double shake = random.uniform(0.1, 0.4);
  const auto place = [&](point p) {
    const double y = (p.y - 6 + shake * random.normal()) * height;
    const double x = (p.x - 4 + shake * random.normal()) * width - slant * y;
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    constexpr double middle = (side - 1) / 2.0;
    return point{middle + right + c * x - s * y, middle + down + s * x + c * y};
  };

  canvas image{};
  const double radius = random.uniform(0.2, 1.4);
  const double blur = random.uniform(0.7, 1.8);
  const double ink = random.uniform(0.45, 1.0);
  for (const auto& [kind, grid] : shape) {
    std::vector<point> path;
    for (const point p : grid) path.push_back(place(p));
    if (kind == pen::curve) path = smooth(path);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) draw(image, path[i], path[i + 1], radius, blur, ink);
  }

  // A stray line now and then, and noise everywhere.
  if (random.uniform() < 0.3) {
    const auto anywhere = [&] { return point{random.uniform(0, side), random.uniform(0, side)}; };
    const point start = anywhere();
    const point end{start.x + random.uniform(-8, 8), start.y + random.uniform(-8, 8)};
    draw(image, start, end, 0.5 * radius, blur, ink * random.uniform(0.5, 1.0));
  }
  const double noise = random.uniform(0.02, 0.18);
  for (double& grey : image) grey = std::clamp(grey + noise * random.normal(), 0.0, 1.0);
  return image;
}

}  // namespace

dataset draw_digits(std::size_t count, std::uint64_t seed) {
  dataset data{.shape = {side, side, 1}, .classes = classes, .pixels = {}, .labels = {}};
  data.pixels.reserve(count * side * side);
  for (std::size_t i = 0; i < count; ++i) {
    random_stream random(seed, purpose::glyphs, i);
    const auto digit = static_cast<int>(random.below(classes));
    data.labels.push_back(static_cast<std::uint8_t>(digit));
    for (const double grey : draw_digit(digit, random))
      data.pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * grey)));
  }
  return data;
}

train_and_test draw_digits() { return {draw_digits(12000, 1), draw_digits(4000, 2)}; }

}  // namespace narrow_train
