#include "base/files/inflate.h"

#include <algorithm>
#include <array>

#include "base/files/bytes.h"

namespace loom {
namespace {

constexpr int kMaxBits = 15, kFastBits = 10;
constexpr std::size_t kWindow = 32768;

// Bits of a stream, the lowest of each byte first. Past the end it gives zeros and remembers.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // At least 32 bits are there afterwards, those past the end as zeros.
  void fill() {
    while (have_ <= 56) {
      if (at_ < bytes_.size()) bits_ |= std::to_integer<std::uint64_t>(bytes_[at_]) << have_;
      ++at_;
      have_ += 8;
    }
  }
  std::uint32_t peek(int n) const {
    return static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << n) - 1));
  }
  void drop(int n) {
    bits_ >>= n;
    have_ -= n;
  }
  std::uint32_t take(int n) {
    const std::uint32_t v = peek(n);
    drop(n);
    return v;
  }
  void to_byte() { drop(have_ % 8); }
  // Bytes used so far, counting a begun one.
  std::size_t used() const { return at_ - static_cast<std::size_t>(have_ / 8); }
  bool past_end() const { return used() > bytes_.size(); }
  // `n` whole bytes, after to_byte().
  bool bytes(std::size_t n, std::vector<std::byte>& out) {
    const std::size_t from = used();
    if (from > bytes_.size() || n > bytes_.size() - from) return false;
    out.insert(out.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(from),
               bytes_.begin() + static_cast<std::ptrdiff_t>(from + n));
    at_ = from + n;
    bits_ = 0;
    have_ = 0;
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t bits_ = 0;
  int have_ = 0;
};

// A canonical Huffman code: codes of up to kFastBits bits by table, longer ones by counting (RFC
// 1951, 3.2.2).
class Huffman {
 public:
  // False for lengths that are no code. An incomplete one is taken where it is a single code of one
  // bit, or none: then every use of it is an error.
  bool build(std::span<const std::uint8_t> lengths) {
    count_.fill(0);
    for (const std::uint8_t l : lengths) ++count_[l];
    const bool empty = count_[0] == static_cast<int>(lengths.size());
    count_[0] = 0;
    int left = 1;
    for (int l = 1; l <= kMaxBits; ++l) {
      left = 2 * left - count_[static_cast<std::size_t>(l)];
      if (left < 0) return false;
    }
    if (left > 0 && !empty &&
        !(count_[1] == 1 && std::count_if(lengths.begin(), lengths.end(),
                                          [](std::uint8_t l) { return l != 0; }) == 1))
      return false;
    std::array<int, kMaxBits + 1> next{}, code{};
    for (std::size_t l = 1; l < kMaxBits; ++l) {
      next[l + 1] = next[l] + count_[l];
      code[l + 1] = 2 * (code[l] + count_[l]);
    }
    fast_.fill(0);
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      const std::size_t l = lengths[s];
      if (l == 0) continue;
      symbol_[static_cast<std::size_t>(next[l]++)] = static_cast<std::uint16_t>(s);
      const int c = code[l]++;
      if (l > kFastBits) continue;
      unsigned reversed = 0;
      for (std::size_t b = 0; b < l; ++b)
        reversed |= static_cast<unsigned>(c >> b & 1) << (l - 1 - b);
      for (unsigned i = reversed; i < fast_.size(); i += 1u << l)
        fast_[i] = static_cast<std::uint16_t>(s << 4 | l);
    }
    return true;
  }
  // The next symbol, or -1. The reader holds enough bits.
  int next(BitReader& in) const {
    const std::uint16_t entry = fast_[in.peek(kFastBits)];
    if (entry != 0) {
      in.drop(entry & 15);
      return entry >> 4;
    }
    const std::uint32_t bits = in.peek(kMaxBits);
    int code = 0, first = 0, index = 0;
    for (int l = 1; l <= kMaxBits; ++l) {
      code |= static_cast<int>(bits >> (l - 1) & 1);
      const int n = count_[static_cast<std::size_t>(l)];
      if (code - n < first) {
        in.drop(l);
        return symbol_[static_cast<std::size_t>(index + code - first)];
      }
      index += n;
      first = 2 * (first + n);
      code *= 2;
    }
    return -1;
  }

 private:
  std::array<int, kMaxBits + 1> count_{};
  std::array<std::uint16_t, 288> symbol_{};
  std::array<std::uint16_t, 1 << kFastBits> fast_{};  // symbol << 4 | length; 0: longer, or none
};

constexpr std::uint16_t kLengthBase[29] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                           15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                           67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::uint8_t kLengthBits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::uint16_t kDistanceBase[30] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::uint8_t kDistanceBits[30] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                            6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
constexpr std::uint8_t kLengthOrder[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};

class Inflater {
 public:
  Inflater(std::span<const std::byte> in, std::vector<std::byte>& out, std::uint64_t limit,
           const std::string& name)
      : in_(in), out_(out), begin_(out.size()), limit_(limit), name_(name) {}

  // One deflate stream; the bytes that it took.
  Result<std::size_t> run() {
    for (bool last = false; !last;) {
      in_.fill();
      last = in_.take(1) != 0;
      const std::uint32_t kind = in_.take(2);
      if (kind == 0) LOOM_TRY(stored());
      else if (kind == 1) LOOM_TRY(fixed());
      else if (kind == 2) LOOM_TRY(dynamic());
      else return damage("a block of an unknown kind");
    }
    if (in_.past_end()) return cut();
    return in_.used();
  }

 private:
  Status damage(const char* what) const {
    return in_.past_end() ? cut() : Status(Code::corrupt, name_ + ": damaged gzip data: " + what);
  }
  Status cut() const {
    return Status(Code::truncated, name_ + ": the gzip data ends early, after " +
                                       std::to_string(out_.size()) + " bytes of content");
  }
  Status full() const {
    return Status(Code::out_of_range,
                  name_ + ": holds more than the limit of " + std::to_string(limit_) + " bytes");
  }

  Status stored() {
    in_.to_byte();
    in_.fill();
    const std::uint32_t n = in_.take(16), inverse = in_.take(16);
    if (n != (inverse ^ 0xFFFF)) return damage("the length of a stored block");
    if (n > limit_ - out_.size()) return full();
    return in_.bytes(n, out_) ? Status() : cut();
  }
  Status fixed() {
    std::array<std::uint8_t, 288> lengths;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    (void)literals_.build(lengths);
    std::array<std::uint8_t, 32> distances;
    distances.fill(5);
    (void)distances_.build(distances);
    return block();
  }
  Status dynamic() {
    in_.fill();
    const std::size_t n_literals = in_.take(5) + 257, n_distances = in_.take(5) + 1,
                      n_lengths = in_.take(4) + 4;
    if (n_literals > 286 || n_distances > 30) return damage("too many codes");
    std::array<std::uint8_t, 19> order{};
    for (std::size_t i = 0; i < n_lengths; ++i) {
      in_.fill();
      order[kLengthOrder[i]] = static_cast<std::uint8_t>(in_.take(3));
    }
    if (!literals_.build(order)) return damage("the code of code lengths");
    std::array<std::uint8_t, 286 + 30> lengths{};
    for (std::size_t i = 0; i < n_literals + n_distances;) {
      in_.fill();
      const int symbol = literals_.next(in_);
      if (symbol < 0) return damage("a code length");
      if (symbol < 16) {
        lengths[i++] = static_cast<std::uint8_t>(symbol);
        continue;
      }
      if (symbol == 16 && i == 0) return damage("a repeated code length without one before");
      const std::uint8_t value = symbol == 16 ? lengths[i - 1] : 0;
      const std::size_t times = symbol == 16   ? 3 + in_.take(2)
                                : symbol == 17 ? 3 + in_.take(3)
                                               : 11 + in_.take(7);
      if (times > n_literals + n_distances - i) return damage("too many code lengths");
      for (std::size_t t = 0; t < times; ++t) lengths[i++] = value;
    }
    if (lengths[256] == 0) return damage("no code for the end of a block");
    if (!literals_.build(std::span(lengths).first(n_literals)))
      return damage("the code of literals and lengths");
    if (!distances_.build(std::span(lengths).subspan(n_literals, n_distances)))
      return damage("the code of distances");
    return block();
  }
  Status block() {
    for (;;) {
      in_.fill();
      const int symbol = literals_.next(in_);
      if (symbol < 0) return damage("a literal or length");
      if (in_.past_end()) return cut();
      if (symbol == 256) return {};
      if (symbol < 256) {
        if (out_.size() >= limit_) return full();
        out_.push_back(static_cast<std::byte>(symbol));
        continue;
      }
      if (symbol > 285) return damage("a length");
      const auto l = static_cast<std::size_t>(symbol - 257);
      const std::size_t length = kLengthBase[l] + in_.take(kLengthBits[l]);
      const int d = distances_.next(in_);
      if (d < 0 || d > 29) return damage("a distance");
      in_.fill();
      const std::size_t distance = kDistanceBase[d] + in_.take(kDistanceBits[d]);
      if (distance > out_.size() - begin_ || distance > kWindow)
        return damage("a distance to before the start");
      if (length > limit_ - out_.size()) return full();
      const std::size_t from = out_.size() - distance;
      out_.resize(out_.size() + length);
      for (std::size_t i = 0; i < length; ++i)
        out_[from + distance + i] = out_[from + i];  // may overlap: one by one
    }
  }

  BitReader in_;
  std::vector<std::byte>& out_;
  const std::size_t begin_;
  const std::uint64_t limit_;
  const std::string& name_;
  Huffman literals_, distances_;
};

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t crc) {
  static constexpr auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int b = 0; b < 8; ++b) c = (c & 1) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
      table[i] = c;
    }
    return table;
  }();
  crc = ~crc;
  for (const std::byte b : bytes)
    crc = kTable[(crc ^ std::to_integer<std::uint32_t>(b)) & 255] ^ (crc >> 8);
  return ~crc;
}

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B} &&
         bytes[2] == std::byte{8};
}

namespace {

// Every member; or until `limit` is met, where that is no error.
Result<std::vector<std::byte>> members(std::span<const std::byte> bytes, std::uint64_t limit,
                                       bool start_only, const std::string& name) {
  const Status cut(Code::truncated, name + ": the gzip data ends early");
  std::vector<std::byte> out;
  // One byte holds 1,032 at most. So that what is known to come does not take twice its room on the
  // way.
  out.reserve(
      static_cast<std::size_t>(std::min<std::uint64_t>(limit, 1032 * std::uint64_t{bytes.size()})));
  do {
    if (!is_gzip(bytes))
      return Status(Code::corrupt, name + (out.empty() ? ": is no gzip file"
                                                       : ": has bytes behind its gzip data"));
    if (bytes.size() < 18) return cut;
    const unsigned flags = std::to_integer<unsigned>(bytes[3]);
    if ((flags & 0xE0) != 0)
      return Status(Code::corrupt, name + ": unknown flags in the gzip header");
    std::size_t at = 10;
    if ((flags & 4) != 0)
      at += 2 + (std::to_integer<std::size_t>(bytes[10]) | std::to_integer<std::size_t>(bytes[11])
                                                               << 8);
    for (const unsigned text : {8u, 16u})  // name, comment: each ends with a zero
      if ((flags & text) != 0) {
        while (at < bytes.size() && bytes[at] != std::byte{0}) ++at;
        ++at;
      }
    if ((flags & 2) != 0) at += 2;
    if (at > bytes.size()) return cut;
    const std::size_t begin = out.size();
    const auto used = Inflater(bytes.subspan(at), out, limit, name).run();
    if (start_only && used.status().code() == Code::out_of_range) return out;
    LOOM_TRY(used.status());
    at += *used;
    if (bytes.size() - at < 8) return cut;
    auto word = [&](std::size_t from) {
      std::uint32_t v = 0;
      for (std::size_t i = 0; i < 4; ++i)
        v |= std::to_integer<std::uint32_t>(bytes[from + i]) << (8 * i);
      return v;
    };
    if (word(at + 4) != static_cast<std::uint32_t>(out.size() - begin))
      return Status(Code::corrupt, name + ": the gzip data holds " +
                                       std::to_string(out.size() - begin) +
                                       " bytes, its end says " + std::to_string(word(at + 4)));
    if (word(at) != crc32(std::span(out).subspan(begin)))
      return Status(Code::corrupt, name + ": the checksum of the gzip data does not agree");
    bytes = bytes.subspan(at + 8);
  } while (!bytes.empty());
  return out;
}

}  // namespace

Result<std::vector<std::byte>> gunzip(std::span<const std::byte> bytes, std::uint64_t limit,
                                      const std::string& name) {
  return members(bytes, limit, false, name);
}

Result<std::vector<std::byte>> gunzip_start(std::span<const std::byte> bytes, std::uint64_t wanted,
                                            const std::string& name) {
  // A step decodes 65,535 bytes at most, all or nothing.
  return members(bytes, wanted + 65535, true, name);
}

}  // namespace loom
