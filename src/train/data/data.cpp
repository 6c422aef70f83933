#include "train/data/data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/random.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, "data: " + std::move(what)); }

// Hashes 32-bit values as their little-endian bytes.
template <class T>
void update_u32(Sha256& sha, std::span<const T> values) {
  sha.update_u64(values.size());
  std::array<std::byte, 4096> buffer;
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t n = std::min(values.size() - i, buffer.size() / 4);
    for (std::size_t j = 0; j < n; ++j) store_le(buffer.data() + 4 * j, values[i + j]);
    sha.update(std::span(buffer).first(4 * n));
    i += n;
  }
}

}  // namespace

void Batch::clear() {
  ids.clear();
  positions.clear();
  x.clear();
  values.clear();
  classes.clear();
  rows = counted = 0;
}

Result<std::unique_ptr<TokenData>> TokenData::create(std::vector<std::uint32_t> ids, std::span<const std::uint64_t> document_ends, std::int64_t length) {
  if (length < 1 || length > INT32_MAX) return bad("a sequence has 1..2^31-1 rows, got \"length\" " + std::to_string(length));
  auto data = std::unique_ptr<TokenData>(new TokenData);
  const std::uint64_t whole = ids.size();
  if (document_ends.empty()) document_ends = {&whole, 1};
  std::uint64_t begin = 0;
  for (const std::uint64_t end : document_ends) {
    if (end < begin || end > ids.size())
      return bad("document ends must ascend up to " + std::to_string(ids.size()) + " ids, got " + std::to_string(end) + " after " + std::to_string(begin));
    for (; end - begin > 1; begin += data->pieces_.back().rows) {
      const auto rows = std::min<std::uint64_t>(end - begin - 1, static_cast<std::uint64_t>(length));
      data->pieces_.push_back({begin, static_cast<std::uint32_t>(rows)});
      data->longest_ = std::max(data->longest_, static_cast<std::int64_t>(rows));
    }
    begin = end;
  }
  if (data->pieces_.empty()) return bad("no sequence of two ids or more in " + std::to_string(ids.size()) + " ids");
  for (const std::uint32_t id : ids) {
    if (id > INT32_MAX) return bad("id " + std::to_string(id) + " is above 2^31-1");
    data->limit_ = std::max(data->limit_, id + 1);
  }
  Sha256 sha;
  sha.update_text("tokens");
  update_u32(sha, std::span<const std::uint32_t>(ids));
  for (const Piece& p : data->pieces_) {
    sha.update_u64(p.begin);
    sha.update_u64(p.rows);
  }
  data->hash_ = Sha256::hex(sha.finish());
  data->ids_ = std::move(ids);
  return data;
}

DataSource::Form TokenData::form() const { return {.ids = limit_, .classes = limit_}; }

void TokenData::append(std::int64_t sample, Batch& batch) const {
  const Piece& p = pieces_[static_cast<std::size_t>(sample)];
  for (std::uint32_t r = 0; r < p.rows; ++r) {
    batch.ids.push_back(ids_[p.begin + r]);
    batch.positions.push_back(r);
    batch.classes.push_back(static_cast<std::int32_t>(ids_[p.begin + r + 1]));
  }
  batch.rows += p.rows;
  batch.counted += p.rows;
}

std::vector<std::uint64_t> document_ends(std::span<const std::uint32_t> ids, std::uint32_t id) {
  std::vector<std::uint64_t> ends;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == id) ends.push_back(i + 1);
  if (!ids.empty() && (ends.empty() || ends.back() != ids.size())) ends.push_back(ids.size());
  return ends;
}

Result<std::unique_ptr<ArrayData>> ArrayData::make(std::vector<float> x, std::int64_t width, std::vector<float> y, std::int64_t targets, std::vector<std::int32_t> classes) {
  if (width < 1 || x.empty() || x.size() % static_cast<std::size_t>(width) != 0)
    return bad("expects rows of " + std::to_string(width) + " values, got " + std::to_string(x.size()) + " values");
  auto data = std::unique_ptr<ArrayData>(new ArrayData);
  data->width_ = width;
  data->targets_ = targets;
  Sha256 sha;
  sha.update_text("arrays");
  sha.update_u64(static_cast<std::uint64_t>(width));
  sha.update_u64(static_cast<std::uint64_t>(targets));
  sha.update_f32(x);
  sha.update_f32(y);
  update_u32(sha, std::span<const std::int32_t>(classes));
  data->hash_ = Sha256::hex(sha.finish());
  data->x_ = std::move(x);
  data->y_ = std::move(y);
  data->classes_ = std::move(classes);
  return data;
}

Result<std::unique_ptr<ArrayData>> ArrayData::create(std::vector<float> x, std::int64_t width, std::vector<float> y, std::int64_t targets) {
  const std::size_t rows = width < 1 ? 0 : x.size() / static_cast<std::size_t>(width);
  if (targets < 1 || y.size() != rows * static_cast<std::size_t>(targets))
    return bad("expects " + std::to_string(rows) + " rows of " + std::to_string(targets) + " targets, got " + std::to_string(y.size()) + " values");
  return make(std::move(x), width, std::move(y), targets, {});
}

Result<std::unique_ptr<ArrayData>> ArrayData::create(std::vector<float> x, std::int64_t width, std::vector<std::int32_t> classes) {
  const std::size_t rows = width < 1 ? 0 : x.size() / static_cast<std::size_t>(width);
  if (classes.size() != rows) return bad("expects " + std::to_string(rows) + " classes, one per row, got " + std::to_string(classes.size()));
  return make(std::move(x), width, {}, 0, std::move(classes));
}

DataSource::Form ArrayData::form() const {
  std::int64_t limit = 0;
  for (const std::int32_t c : classes_) limit = std::max<std::int64_t>(limit, std::int64_t{c} + 1);
  return {.width = width_, .classes = limit, .targets = targets_};
}

void ArrayData::append(std::int64_t sample, Batch& batch) const {
  const auto i = static_cast<std::size_t>(sample), width = static_cast<std::size_t>(width_), targets = static_cast<std::size_t>(targets_);
  batch.x.insert(batch.x.end(), x_.begin() + static_cast<std::ptrdiff_t>(i * width), x_.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  batch.values.insert(batch.values.end(), y_.begin() + static_cast<std::ptrdiff_t>(i * targets), y_.begin() + static_cast<std::ptrdiff_t>((i + 1) * targets));
  if (!classes_.empty()) batch.classes.push_back(classes_[i]);
  batch.rows += 1;
  batch.counted += classes_.empty() || classes_[i] >= 0 ? 1 : 0;
}

Permutation::Permutation(std::int64_t count, std::uint64_t seed, std::uint64_t epoch)
    : count_(static_cast<std::uint64_t>(count)), seed_(seed), epoch_(epoch) {
  // At least 2^8 positions: a Feistel network on fewer bits reaches few permutations.
  half_bits_ = std::max(4, (static_cast<int>(std::bit_width(count_)) + 1) / 2);
}

std::int64_t Permutation::operator()(std::int64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)};
  auto v = static_cast<std::uint64_t>(i);
  // The counter's top bit keeps these draws apart from those of RandomStream with the same seed.
  do {
    std::uint64_t left = v >> half_bits_, right = v & mask;
    for (std::uint32_t round = 0; round < 6; ++round) {
      const auto r = philox4x32({static_cast<std::uint32_t>(right), 0x80000000u | round, static_cast<std::uint32_t>(epoch_), static_cast<std::uint32_t>(epoch_ >> 32)}, key);
      left = std::exchange(right, (left ^ r[0]) & mask);
    }
    v = left << half_bits_ | right;
  } while (v >= count_);
  return static_cast<std::int64_t>(v);
}

}  // namespace loom
