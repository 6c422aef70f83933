#include "train/data/images/image.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/message.h"
#include "train/data/images/exif.h"

namespace loom {
namespace {

constexpr std::int64_t kLongestSide = 64, kShortestSide = 8;

Status corrupt(const std::string& what) { return Status(Code::corrupt, what); }

// The head of a PGM or PPM file (netpbm: P2, P3 in digits, P5, P6 in bytes), and its values.
class Pnm {
 public:
  explicit Pnm(std::span<const std::byte> bytes) : bytes_(bytes) {}

  static bool is_one(std::span<const std::byte> bytes) {
    const auto at = [&](std::size_t i) {
      return i < bytes.size() ? static_cast<char>(bytes[i]) : '\0';
    };
    return at(0) == 'P' && (at(1) == '2' || at(1) == '3' || at(1) == '5' || at(1) == '6') &&
           (is_space(at(2)) || at(2) == '#');
  }

  Result<ImageSize> head() {
    const char kind = static_cast<char>(bytes_[1]);
    digits_ = kind == '2' || kind == '3';
    channels_ = kind == '3' || kind == '6' ? 3 : 1;
    at_ = 2;
    ImageSize size;
    LOOM_ASSIGN(size.width, number("width"));
    LOOM_ASSIGN(size.height, number("height"));
    LOOM_ASSIGN(max_, number("largest value"));
    if (size.width < 1 || size.height < 1)
      return corrupt(message("a PGM or PPM of ", size.width, " x ", size.height, " pixels"));
    if (max_ < 1 || max_ > 65535)
      return corrupt(
          message("the largest value of a PGM or PPM is from 1 to 65535, this says ", max_));
    // One blank, then bytes.
    if (!digits_ && (at_ >= bytes_.size() || !is_space(static_cast<char>(bytes_[at_++]))))
      return corrupt("the head of a PGM or PPM ends with a blank");
    return size;
  }

  Result<Image> values(const ImageSize& size) {
    Image image{size.height, size.width, channels_, {}};
    const auto count = static_cast<std::size_t>(size.height * size.width * channels_),
               each = static_cast<std::size_t>(max_ > 255 ? 2 : 1);
    const std::size_t left = bytes_.size() - at_, needed = digits_ ? count : count * each;
    if (left < needed)
      return Status(Code::truncated, message("has ", left, " bytes of pixels, expected ",
                                             digits_ ? "at least " : "", needed));
    image.values.resize(count);
    for (std::uint8_t& out : image.values) {
      std::int64_t v = 0;
      if (digits_) {
        LOOM_ASSIGN(v, number("pixel"));
      } else {
        for (std::size_t i = 0; i < each; ++i)
          v = v * 256 + static_cast<std::int64_t>(bytes_[at_++]);
      }
      if (v > max_)
        return corrupt(message("a pixel of ", v, ", the largest value is said to be ", max_));
      out = static_cast<std::uint8_t>((v * 255 + max_ / 2) / max_);
    }
    return image;
  }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  Result<std::int64_t> number(const char* what) {
    for (; at_ < bytes_.size(); ++at_) {
      const char c = static_cast<char>(bytes_[at_]);
      if (c == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != std::byte{'\n'}) ++at_;
        if (at_ == bytes_.size()) break;
      } else if (!is_space(c)) {
        break;
      }
    }
    std::int64_t v = 0;
    const std::size_t begin = at_;
    for (; at_ < bytes_.size() && bytes_[at_] >= std::byte{'0'} && bytes_[at_] <= std::byte{'9'};
         ++at_) {
      v = v * 10 + static_cast<std::int64_t>(bytes_[at_]) - '0';
      if (v > std::int64_t{1} << 31)
        return corrupt(message("the ", what, " is too large a number"));
    }
    if (at_ == begin)
      return Status(
          at_ == bytes_.size() ? Code::truncated : Code::corrupt,
          std::string(at_ == bytes_.size() ? "ends before the " : "has no number for the ") + what);
    return v;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 2;
  bool digits_ = false;
  std::int64_t channels_ = 1, max_ = 255;
};

Status check(const ImageSize& size) {
  // Each at most 2^31, from a head or a decoder of 32 bits.
  if (size.height > kMaxPixels / size.width)
    return Status(Code::out_of_range,
                  message(size.width, " x ", size.height, " pixels, the most is ", kMaxPixels));
  return {};
}

// The decoder's, once it is known that it is one and has bytes to read.
Status decodable(std::span<const std::byte> bytes, const ImageDecoder& decoder) {
  if (bytes.empty()) return Status(Code::truncated, "is empty");
  if (!decoder.size || !decoder.decode)
    return Status(Code::unsupported,
                  "is no PGM or PPM image, and no decoder for other formats is here");
  return {};
}

// On white, and one channel where all three are the same everywhere.
void simplify(Image& image) {
  const auto pixels = static_cast<std::size_t>(image.height * image.width),
             from = static_cast<std::size_t>(image.channels);
  const std::size_t colours = from >= 3 ? 3 : 1;
  std::uint8_t* out = image.values.data();
  bool grey = true;
  for (std::size_t p = 0; p < pixels; ++p) {
    const std::uint8_t* in = image.values.data() + p * from;
    const unsigned alpha = from == colours ? 255u : in[colours];
    for (std::size_t c = 0; c < colours; ++c)
      out[p * colours + c] =
          static_cast<std::uint8_t>((in[c] * alpha + 255u * (255u - alpha) + 127u) / 255u);
    grey = grey && out[p * colours] == out[p * colours + colours - 1] &&
           out[p * colours] == out[p * colours + colours / 2];
  }
  if (grey && colours == 3)
    for (std::size_t p = 0; p < pixels; ++p) out[p] = out[p * 3];
  image.channels = grey ? 1 : 3;
  image.values.resize(pixels * static_cast<std::size_t>(image.channels));
}

// What of a line of `from` places each of `to` places covers, in parts of 1 / to: the sum over all
// of a place's parts is `from`.
struct Part {
  std::int64_t at, weight;
};
std::vector<std::vector<Part>> parts_of(std::int64_t from, std::int64_t to) {
  std::vector<std::vector<Part>> all(static_cast<std::size_t>(to));
  for (std::int64_t o = 0; o < to; ++o) {
    const std::int64_t begin = o * from, end = begin + from;
    for (std::int64_t i = begin / to; i * to < end; ++i)
      all[static_cast<std::size_t>(o)].push_back(
          {i, std::min(end, (i + 1) * to) - std::max(begin, i * to)});
  }
  return all;
}

}  // namespace

Result<ImageSize> image_size(std::span<const std::byte> bytes, const ImageDecoder& decoder) {
  ImageSize size;
  if (Pnm::is_one(bytes)) {
    LOOM_ASSIGN(size, Pnm(bytes).head());
  } else {
    LOOM_TRY(decodable(bytes, decoder));
    LOOM_ASSIGN(size, decoder.size(bytes));
    if (size.width < 1 || size.height < 1) return corrupt("an image without pixels");
    if (lies(orientation_of(bytes))) std::swap(size.width, size.height);
  }
  LOOM_TRY(check(size));
  return size;
}

Result<Image> read_image(std::span<const std::byte> bytes, const ImageDecoder& decoder) {
  LOOM_ASSIGN(const ImageSize size, image_size(bytes, decoder));
  Image image;
  if (Pnm::is_one(bytes)) {
    Pnm pnm(bytes);
    LOOM_TRY(pnm.head().status());
    LOOM_ASSIGN(image, pnm.values(size));
  } else {
    LOOM_ASSIGN(image, decoder.decode(bytes));
    const int orientation = orientation_of(bytes);
    const bool turned = lies(orientation);
    const std::int64_t c = image.channels;
    if (image.height != (turned ? size.width : size.height) ||
        image.width != (turned ? size.height : size.width) || c < 1 || c > 4 ||
        static_cast<std::int64_t>(image.values.size()) != size.height * size.width * c)
      return Status(Code::internal, "the decoder gave another image than it said");
    image = upright(std::move(image), orientation);
  }
  simplify(image);
  return image;
}

Json ImageForm::to_json() const {
  Json json = Json::object();
  json.set("channels", channels);
  json.set("height", height);
  json.set("width", width);
  return json;
}

Result<ImageForm> ImageForm::from_json(const Json& json) {
  ImageForm form;
  if (!json.is_object()) return corrupt("inputs: 'images' is no object");
  LOOM_ASSIGN(form.channels, json.get_integer("channels", 0));
  LOOM_ASSIGN(form.height, json.get_integer("height", 0));
  LOOM_ASSIGN(form.width, json.get_integer("width", 0));
  if ((form.channels != 1 && form.channels != 3) || form.height < 1 || form.width < 1 ||
      form.height > 4096 || form.width > 4096)
    return corrupt(message("inputs: images of ", form.channels, " x ", form.height, " x ",
                           form.width, ", expected 1 or 3 channels and sides from 1 to 4096"));
  return form;
}

ImageSize common_size(std::span<const ImageSize> sizes) {
  const ImageSize first = sizes[0];
  const bool one = std::all_of(sizes.begin(), sizes.end(), [&](const ImageSize& s) {
    return s.height == first.height && s.width == first.width;
  });
  const std::int64_t longer = std::max(first.height, first.width);
  if (one && longer <= kLongestSide) return first;
  if (one) {
    const auto scaled = [&](std::int64_t side) {
      return std::max(kShortestSide, (side * kLongestSide + longer / 2) / longer);
    };
    return {scaled(first.height), scaled(first.width)};
  }
  std::vector<std::int64_t> shorter;
  for (const ImageSize& s : sizes) shorter.push_back(std::min(s.height, s.width));
  const auto middle = shorter.begin() + static_cast<std::ptrdiff_t>((shorter.size() - 1) / 2);
  std::nth_element(shorter.begin(), middle, shorter.end());
  const std::int64_t side = std::clamp(*middle / 8 * 8, kShortestSide, kLongestSide);
  return {side, side};
}

void fit(const Image& image, const ImageForm& form, std::span<std::uint8_t> out) {
  // The part that has the form's proportions.
  std::int64_t height = image.height, width = image.width;
  if (width * form.height > height * form.width)
    width = std::max<std::int64_t>(1, height * form.width / form.height);
  else height = std::max<std::int64_t>(1, width * form.height / form.width);
  const std::int64_t top = (image.height - height) / 2, left = (image.width - width) / 2;
  const auto rows = parts_of(height, form.height), columns = parts_of(width, form.width);
  const auto total = static_cast<std::uint64_t>(height * width);
  std::size_t at = 0;
  const auto plane = static_cast<std::size_t>(form.height * form.width);
  for (const auto& row : rows)
    for (const auto& column : columns) {
      std::uint64_t sums[3] = {};  // at most 255 * kMaxPixels each
      for (const Part& y : row)
        for (const Part& x : column) {
          const std::uint8_t* pixel =
              image.values.data() + ((top + y.at) * image.width + left + x.at) * image.channels;
          for (std::int64_t c = 0; c < image.channels; ++c)
            sums[c] += static_cast<std::uint64_t>(y.weight * x.weight) * pixel[c];
        }
      std::uint64_t means[3];
      for (std::int64_t c = 0; c < 3; ++c)
        means[c] = (sums[c < image.channels ? c : 0] + total / 2) / total;
      if (form.channels == 1) {
        out[at] =
            static_cast<std::uint8_t>((77 * means[0] + 150 * means[1] + 29 * means[2] + 128) >> 8);
      } else {
        for (std::size_t c = 0; c < 3; ++c)
          out[c * plane + at] = static_cast<std::uint8_t>(means[c]);
      }
      ++at;
    }
}

}  // namespace loom
