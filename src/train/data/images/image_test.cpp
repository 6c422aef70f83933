#include "train/data/images/image.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "train/data/images/augment.h"
#include "train/data/images/exif.h"

namespace loom {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::vector<int> fitted(const Image& image, const ImageForm& form) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(form.values()));
  fit(image, form, out);
  return {out.begin(), out.end()};
}

std::vector<int> values(const Image& image) { return {image.values.begin(), image.values.end()}; }

// Two planes of 3 x 4 values move together, to each of nine places, and nowhere else.
TEST(Shift, MovesUpToSoFarAndRepeatsTheEdge) {
  const std::vector<float> image = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                    13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
  auto moved = [&](int down, int right) {
    std::vector<float> v;
    for (int plane = 0; plane < 2; ++plane)
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 4; ++x)
          v.push_back(image[static_cast<std::size_t>(12 * plane + 4 * std::clamp(y - down, 0, 2) +
                                                     std::clamp(x - right, 0, 3))]);
    return v;
  };
  EXPECT_EQ(moved(1, -1), (std::vector<float>{2,  3,  4,  4,  2,  3,  4,  4,  6,  7,  8,  8,
                                              14, 15, 16, 16, 14, 15, 16, 16, 18, 19, 20, 20}));
  std::vector<int> seen(9);
  for (std::uint64_t sample = 0; sample < 900; ++sample) {
    std::vector<float> v = image;
    random_translate(std::span(v), 3, 4, 1, 7, sample);
    int found = -1;
    for (int place = 0; place < 9; ++place)
      if (v == moved(place / 3 - 1, place % 3 - 1)) found = place;
    ASSERT_GE(found, 0) << sample;
    ++seen[static_cast<std::size_t>(found)];
  }
  for (const int times : seen) EXPECT_NEAR(times, 100, 40);
}

// Each expected number is a mean worked out by hand.
TEST(Image, IsScaledByTheMeansOfAreas) {
  const Image four{4, 4, 1, {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150}};
  EXPECT_EQ(fitted(four, {1, 4, 4}), values(four));
  // (0 + 10 + 40 + 50) / 4, ...
  EXPECT_EQ(fitted(four, {1, 2, 2}), (std::vector<int>{25, 45, 105, 125}));
  EXPECT_EQ(fitted(four, {1, 1, 1}), (std::vector<int>{75}));
  // Three to two: each covers one and a half of a line: (2 a + b) / 3.
  const Image three{3, 3, 1, {0, 30, 90, 0, 30, 90, 0, 30, 90}};
  EXPECT_EQ(fitted(three, {1, 2, 2}), (std::vector<int>{10, 70, 10, 70}));
  // Two to three: the middle lies half in either.
  const Image two{2, 2, 1, {0, 100, 200, 50}};
  EXPECT_EQ(fitted(two, {1, 3, 3}), (std::vector<int>{0, 50, 100, 100, 88, 75, 200, 125,
                                                      50}));  // 350 / 4 = 87.5, halves up
}

TEST(Image, IsCutToTheProportionsAroundItsCentre) {
  const Image wide{2, 5, 1, {9, 1, 2, 3, 8, 9, 4, 5, 6, 8}};
  // Two of five columns stay, one and a half on either side: the left one is whole.
  EXPECT_EQ(fitted(wide, {1, 2, 2}), (std::vector<int>{1, 2, 4, 5}));
  const Image tall{4, 2, 1, {1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_EQ(fitted(tall, {1, 2, 2}), (std::vector<int>{3, 4, 5, 6}));
  EXPECT_EQ(fitted(tall, {1, 4, 2}), values(tall));
  // Proportions that no part has: at least a pixel is left.
  const Image line{1, 3, 1, {10, 20, 30}};
  EXPECT_EQ(fitted(line, {1, 8, 2}), std::vector<int>(16, 20));
}

TEST(Image, BecomesPlanesOfColorOrGrey) {
  const Image red{1, 2, 3, {255, 0, 0, 10, 20, 30}};
  EXPECT_EQ(fitted(red, {3, 1, 2}), (std::vector<int>{255, 10, 0, 20, 0, 30}));
  // (77 * 255 + 128) / 256 = 77.2; (770 + 3000 + 870 + 128) / 256 = 18.6
  EXPECT_EQ(fitted(red, {1, 1, 2}), (std::vector<int>{77, 18}));
  const Image grey{1, 2, 1, {0, 255}};
  EXPECT_EQ(fitted(grey, {3, 1, 2}), (std::vector<int>{0, 255, 0, 255, 0, 255}));
  EXPECT_EQ(fitted(grey, {1, 1, 2}), (std::vector<int>{0, 255}));
}

TEST(Image, PgmAndPpmAreRead) {
  const auto read = [](const std::string& text) { return read_image(bytes_of(text), {}); };
  auto p = read("P2\n# a comment\n3 2\n# and one\n15\n0 5 10\n15 1\t2\n");
  ASSERT_TRUE(p.ok()) << p.status().to_string();
  EXPECT_EQ(p->width, 3);
  EXPECT_EQ(p->height, 2);
  EXPECT_EQ(values(*p), (std::vector<int>{0, 85, 170, 255, 17, 34}));
  p = read(std::string("P5 2 1 255\n\x07\xFF", 14 - 1));
  ASSERT_TRUE(p.ok()) << p.status().to_string();
  EXPECT_EQ(values(*p), (std::vector<int>{7, 255}));
  p = read(std::string("P5 1 1 65535\n\x80\x00", 15));  // 32768 * 255 / 65535 = 127.5
  ASSERT_TRUE(p.ok()) << p.status().to_string();
  EXPECT_EQ(values(*p), (std::vector<int>{128}));
  p = read("P6 1 1 255\nabc");
  ASSERT_TRUE(p.ok()) << p.status().to_string();
  EXPECT_EQ(p->channels, 3);
  EXPECT_EQ(values(*p), (std::vector<int>{'a', 'b', 'c'}));
  // Three equal channels are one.
  p = read("P6 2 1 255\naaabbb");
  ASSERT_TRUE(p.ok()) << p.status().to_string();
  EXPECT_EQ(p->channels, 1);
  EXPECT_EQ(values(*p), (std::vector<int>{'a', 'b'}));
}

TEST(Image, BadFilesSayWhatIsWrong) {
  struct Case {
    std::string bytes;
    Code code;
    const char* part;
  };
  const Case cases[] = {
      {"", Code::truncated, "is empty"},
      {"P5 4 4 255\nabc", Code::truncated, "has 3 bytes of pixels, expected 16"},
      {"P5 4", Code::truncated, "ends before the height"},
      {"P5 0 4 255\n", Code::corrupt, "0 x 4 pixels"},
      {"P5 x 4 255\n", Code::corrupt, "no number for the width"},
      {"P5 1 1 70000\nab", Code::corrupt, "from 1 to 65535"},
      {"P5 1 1 0\na", Code::corrupt, "from 1 to 65535"},
      {"P5 1 1 10\na", Code::corrupt, "a pixel of 97"},
      {"P5 1 1 255", Code::corrupt, "ends with a blank"},
      {"P2 2 1 9\n1 # no more", Code::truncated, "ends before the pixel"},
      {"P5 99999999999 1 255\n", Code::corrupt, "too large"},
      {"P5 65536 65536 255\n", Code::out_of_range, "the most is 67108864"},
      {"\x89PNG\r\n", Code::unsupported, "no decoder"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.bytes);
    const auto p = read_image(bytes_of(c.bytes), {});
    ASSERT_FALSE(p.ok());
    EXPECT_EQ(p.status().code(), c.code);
    EXPECT_NE(p.status().message().find(c.part), std::string::npos) << p.status().to_string();
  }
}

TEST(Image, TheDecoderReadsWhatIsNoPgm) {
  Image made{1, 2, 4, {255, 0, 0, 255, 0, 0, 0, 51}};
  ImageDecoder decoder{
      [&](std::span<const std::byte>) { return Result<ImageSize>(ImageSize{1, 2}); },
      [&](std::span<const std::byte>) { return Result<Image>(made); }};
  auto p = read_image(bytes_of("xyz"), decoder);
  ASSERT_TRUE(p.ok()) << p.status().to_string();
  EXPECT_EQ(values(*p), (std::vector<int>{255, 0, 0, 204, 204, 204}));  // a fifth of black on white
  made = {1, 2, 2, {0, 0, 100, 255}};
  p = read_image(bytes_of("xyz"), decoder);
  ASSERT_TRUE(p.ok()) << p.status().to_string();
  EXPECT_EQ(values(*p), (std::vector<int>{255, 100}));
  // Fewer values than it says.
  made = {1, 2, 3, {0, 0}};
  EXPECT_EQ(read_image(bytes_of("xyz"), decoder).status().code(), Code::internal);
  decoder.size = [](std::span<const std::byte>) {
    return Result<ImageSize>(ImageSize{20000, 20000});
  };
  EXPECT_EQ(read_image(bytes_of("xyz"), decoder).status().code(), Code::out_of_range);
}

// A JPEG as far as its Exif segment, whose TIFF structure is given; what follows is the decoder's.
std::vector<std::byte> jpeg_with(const std::string& tiff) {
  const std::string body = std::string("Exif\0\0", 6) + tiff;
  const auto length = static_cast<char>(body.size() + 2);
  return bytes_of(std::string("\xFF\xD8\xFF\xE0\0\x04JF", 8) + "\xFF\xFF\xE1" + '\0' + length +
                  body + "\xFF\xDA");
}
// A directory of two entries, the second the orientation, in either order of bytes.
std::string tiff_of(bool little, int orientation, int type = 3, int count = 1, int directory = 8) {
  std::string tiff = little ? "II" : "MM";
  auto put = [&](int value, int size) {
    for (int i = 0; i < size; ++i)
      tiff += static_cast<char>(value >> 8 * (little ? i : size - 1 - i) & 0xFF);
  };
  put(42, 2), put(directory, 4), put(2, 2);
  put(0x010F, 2), put(2, 2), put(1, 4), put(0, 4);
  put(0x0112, 2), put(type, 2), put(count, 4), put(orientation, 2), put(0, 2);
  return tiff;
}

// What Exif says of each orientation: where the stored first row and first column are seen.
TEST(Image, IsTurnedAsItWasTaken) {
  const Image stored{2, 3, 1, {1, 2, 3, 4, 5, 6}};
  const ImageDecoder decoder{
      [&](std::span<const std::byte>) { return Result<ImageSize>(ImageSize{2, 3}); },
      [&](std::span<const std::byte>) { return Result<Image>(stored); }};
  const std::vector<int> seen[] = {{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1},
                                   {4, 5, 6, 1, 2, 3}, {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3},
                                   {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const bool little : {false, true}) {
      const auto bytes = jpeg_with(tiff_of(little, orientation));
      const auto size = image_size(bytes, decoder);
      const auto image = read_image(bytes, decoder);
      ASSERT_TRUE(size.ok() && image.ok()) << orientation;
      EXPECT_EQ(values(*image), seen[orientation - 1]) << orientation;
      EXPECT_EQ(image->height, orientation < 5 ? 2 : 3);
      EXPECT_EQ(size->height, image->height);
      EXPECT_EQ(size->width, image->width);
    }
  // Pixels of several values stay together.
  Image color = upright({1, 2, 3, {1, 2, 3, 4, 5, 6}}, 8);
  EXPECT_EQ(values(color), (std::vector<int>{4, 5, 6, 1, 2, 3}));
}

TEST(Image, DamagedExifSaysNothing) {
  const std::string good = tiff_of(true, 6);
  EXPECT_EQ(orientation_of(jpeg_with(good)), 6);
  for (const std::string& bad :
       {tiff_of(true, 0), tiff_of(true, 9), tiff_of(true, 6, 4), tiff_of(true, 6, 3, 70000),
        tiff_of(true, 6, 3, 1, 40000), tiff_of(true, 6, 3, 1, -2), std::string("II"),
        std::string("XX") + good.substr(2)})
    EXPECT_EQ(orientation_of(jpeg_with(bad)), 1);
  // Ends anywhere.
  const auto whole = jpeg_with(good);
  for (std::size_t n = 0; n < whole.size() - 2; ++n)
    EXPECT_EQ(orientation_of(std::span(whole).first(n)), 1) << n;
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_EQ(orientation_of(jpeg_with(good.substr(0, n))), 1) << n;
  EXPECT_EQ(orientation_of(bytes_of("\x89PNG")), 1);
}

TEST(Image, SizesBecomeOne) {
  const auto size = [](std::vector<ImageSize> sizes) {
    const ImageSize s = common_size(sizes);
    return std::to_string(s.height) + " x " + std::to_string(s.width);
  };
  EXPECT_EQ(size({{28, 28}, {28, 28}}), "28 x 28");
  EXPECT_EQ(size({{5, 64}}), "5 x 64");
  EXPECT_EQ(size({{480, 640}, {480, 640}}), "48 x 64");
  EXPECT_EQ(size({{1000, 20}}), "64 x 8");
  EXPECT_EQ(size({{30, 40}, {40, 30}}), "24 x 24");
  EXPECT_EQ(size({{30, 40}, {41, 50}, {500, 400}}), "40 x 40");
  EXPECT_EQ(size({{3, 4}, {4, 5}}), "8 x 8");
  EXPECT_EQ(size({{300, 400}, {400, 500}}), "64 x 64");
}

TEST(Image, TheFormIsChecked) {
  const ImageForm form{3, 32, 48};
  const auto back = ImageForm::from_json(form.to_json());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->values(), 3 * 32 * 48);
  EXPECT_EQ(back->width, 48);
  for (const char* text : {"3", "{}", R"({"channels":2,"height":8,"width":8})",
                           R"({"channels":1,"height":-8,"width":8})",
                           R"({"channels":1,"height":8,"width":100000000})", R"({"channels":"x"})"})
    EXPECT_FALSE(ImageForm::from_json(*Json::parse(text)).ok()) << text;
}

}  // namespace
}  // namespace loom
