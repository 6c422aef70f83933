#include "train/shards.h"

#include <algorithm>
#include <utility>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/json/json.h"
#include "base/message.h"
#include "base/numerics_version.h"
#include "ops/cpu/kernel_args.h"
#include "train/check_data.h"

namespace loom {
namespace {

constexpr std::string_view kMagic = "LOOMGRAD";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHead = 16, kSha = 32;
constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 40;

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("training: ", std::move(what)));
}
Status broken(std::string what) {
  return Status(Code::corrupt, message("shard: ", std::move(what)));
}

template <class Tensor>
auto& list_of(Tensor& shard, bool averages) {
  return averages ? shard.averages : shard.gradients;
}

Json listed(const std::vector<TrainingTensor>& tensors) {
  Json list = Json::array();
  for (const TrainingTensor& t : tensors) {
    Json one = Json::object();
    one.set("name", t.name);
    one.set("rows", t.rows);
    one.set("cols", t.cols);
    one.set("type", t.f64.empty() ? "f32" : "f64");
    list.push(std::move(one));
  }
  return list;
}

Json head_of(const Shard& s) {
  Json json = Json::object(), heads = Json::array();
  json.set("run", s.run);
  json.set("weights", s.weights);
  json.set("step", s.step);
  json.set("shard", s.shard);
  json.set("shards", s.shards);
  json.set("rows", s.rows);
  json.set("counted", s.counted);
  json.set("loss", s.loss);
  json.set("weight", s.weight);
  for (const double loss : s.heads) heads.push(loss);
  json.set("heads", std::move(heads));
  json.set("gradients", listed(s.gradients));
  json.set("averages", listed(s.averages));
  return json;
}

// One tensor of a list, without its numbers; `room`: bytes that are left for them.
Result<TrainingTensor> tensor_of(const Json& json, std::uint64_t& room) {
  TrainingTensor t;
  LOOM_ASSIGN(t.name, json.get_string("name", ""));
  LOOM_ASSIGN(t.rows, json.get_integer("rows", 0));
  LOOM_ASSIGN(t.cols, json.get_integer("cols", 0));
  LOOM_ASSIGN(const std::string type, json.get_string("type", ""));
  if (t.rows < 1 || t.cols < 1 || (type != "f32" && type != "f64"))
    return broken("tensor \"" + t.name + "\": expects rows, cols and a type of f32 or f64");
  const auto values =
      checked_mul(static_cast<std::uint64_t>(t.rows), static_cast<std::uint64_t>(t.cols));
  const std::uint64_t width = type == "f64" ? 8 : 4;
  if (!values || *values > kMaxValues || *values * width > room)
    return broken("tensor \"" + t.name + "\": its numbers are not there");
  room -= *values * width;
  if (width == 8) t.f64.resize(static_cast<std::size_t>(*values));
  else t.f32.resize(static_cast<std::size_t>(*values));
  return t;
}

Status read_list(const Json& json, std::string_view key, std::uint64_t& room,
                 std::vector<TrainingTensor>& to) {
  const Json* list = json.find(key);
  if (!list || !list->is_array()) return broken("no list \"" + std::string(key) + "\"");
  for (const Json& one : list->as_array()) {
    LOOM_ASSIGN(TrainingTensor t, tensor_of(one, room));
    to.push_back(std::move(t));
  }
  return {};
}

Result<Shard> head_from(const Json& json, std::uint64_t& room) {
  Shard s;
  LOOM_ASSIGN(s.run, json.get_string("run", ""));
  LOOM_ASSIGN(s.weights, json.get_string("weights", ""));
  LOOM_ASSIGN(s.step, json.get_integer("step", 0));
  LOOM_ASSIGN(s.shard, json.get_integer("shard", -1));
  LOOM_ASSIGN(s.shards, json.get_integer("shards", 0));
  LOOM_ASSIGN(s.rows, json.get_integer("rows", -1));
  LOOM_ASSIGN(s.counted, json.get_integer("counted", -1));
  LOOM_ASSIGN(s.loss, json.get_number("loss", 0));
  LOOM_ASSIGN(s.weight, json.get_number("weight", -1));
  const Json* heads = json.find("heads");
  if (!heads || !heads->is_array() || s.shard < 0 || s.shard >= s.shards || s.rows < 0 ||
      s.counted < 0 || !(s.weight >= 0))
    return broken("its head is not that of a shard");
  for (const Json& loss : heads->as_array()) {
    if (!loss.is_number()) return broken("its head is not that of a shard");
    s.heads.push_back(loss.as_number());
  }
  LOOM_TRY(read_list(json, "gradients", room, s.gradients));
  LOOM_TRY(read_list(json, "averages", room, s.averages));
  if (room != 0) return broken("has more numbers than its tensors");
  return s;
}

// The values of a view that a learner computed, and back.
template <class F>
void each_row(Executor& executor, View view, std::int64_t rows, ValueType type, F f) {
  const auto part = [&]<class T>(std::span<T> row) {
    f(row.subspan(static_cast<std::size_t>(view.col), static_cast<std::size_t>(view.cols)));
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    if (type == ValueType::f64) part(executor.row<double>(view.buffer, r));
    else part(executor.row<float>(view.buffer, r));
  }
}

template <class T>
std::vector<T>& values_of(TrainingTensor& t) {
  if constexpr (sizeof(T) == 8) return t.f64;
  else return t.f32;
}

TrainingTensor taken(Executor& executor, std::string name, View view, std::int64_t rows,
                     ValueType type) {
  TrainingTensor t{std::move(name), rows, view.cols, {}, {}};
  each_row(executor, view, rows, type, [&]<class T>(std::span<T> row) {
    values_of<T>(t).insert(values_of<T>(t).end(), row.begin(), row.end());
  });
  return t;
}
void put(Executor& executor, TrainingTensor& t, View view, std::int64_t rows, ValueType type) {
  std::size_t at = 0;
  each_row(executor, view, rows, type, [&]<class T>(std::span<T> row) {
    std::copy_n(values_of<T>(t).begin() + static_cast<std::ptrdiff_t>(at), row.size(), row.begin());
    at += row.size();
  });
}

// The sum of a gradient over all shards, as grad_merge adds micro-batches: a binary tree over their
// numbers (numerics rule 3). `part(i)`: the values of shard i.
template <class T, class Part>
std::vector<T> merged(std::size_t shards, std::size_t count, Part part) {
  if (shards == 1) return {part(0), part(0) + count};
  std::vector<std::vector<T>> levels(32, std::vector<T>());
  std::vector<T> v(count);
  for (std::size_t micro = 0; micro < shards; ++micro) {
    std::copy_n(part(micro), count, v.begin());
    const auto add = [&](const std::vector<T>& older) {
      for (std::size_t i = 0; i < count; ++i) v[i] = older[i] + v[i];
    };
    std::size_t level = 0;
    for (; micro >> level & 1; ++level) add(levels[level]);
    if (micro + 1 == shards)
      for (++level; micro >> level != 0; ++level)
        if (micro >> level & 1) add(levels[level]);
    for (T& x : v) x = cpu::stored(x);
    if (micro + 1 < shards) levels[level] = v;
  }
  return v;
}

}  // namespace

std::vector<std::byte> Shard::to_bytes() const {
  const std::string json = head_of(*this).dump();
  std::size_t size = kHead + json.size() + kSha;
  for (const bool averages : {false, true})
    for (const TrainingTensor& t : list_of(*this, averages))
      size += 4 * t.f32.size() + 8 * t.f64.size();
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  store_le<std::uint32_t>(bytes.data() + 8, kVersion);
  store_le<std::uint32_t>(bytes.data() + 12, static_cast<std::uint32_t>(json.size()));
  std::memcpy(bytes.data() + kHead, json.data(), json.size());
  std::byte* at = bytes.data() + kHead + json.size();
  for (const bool averages : {false, true})
    for (const TrainingTensor& t : list_of(*this, averages)) {
      for (const float v : t.f32) store_le(std::exchange(at, at + 4), v);
      for (const double v : t.f64) store_le(std::exchange(at, at + 8), v);
    }
  const Sha256::Digest sha = Sha256::of(std::span(bytes).first(size - kSha));
  std::memcpy(at, sha.data(), kSha);
  return bytes;
}

Result<Shard> Shard::from_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() < kHead + kSha || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return broken("these bytes are none");
  if (const auto version = load_le<std::uint32_t>(bytes.data() + 8); version != kVersion)
    return Status(Code::unsupported,
                  message("shard: version ", version, ", this library reads ", kVersion));
  const std::size_t json = load_le<std::uint32_t>(bytes.data() + 12);
  if (json > bytes.size() - kHead - kSha) return broken("it ends early");
  const auto body = bytes.first(bytes.size() - kSha);
  const Sha256::Digest sha = Sha256::of(body);
  if (std::memcmp(bytes.data() + body.size(), sha.data(), kSha) != 0)
    return broken("its SHA-256 is another: some bytes are not those that were written");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data() + kHead), json);
  auto head = Json::parse(text);
  if (!head.ok()) return broken(std::string(head.status().message()));
  std::uint64_t room = body.size() - kHead - json;
  LOOM_ASSIGN(Shard shard, head_from(*head, room));
  const std::byte* at = bytes.data() + kHead + json;
  for (const bool averages : {false, true})
    for (TrainingTensor& t : list_of(shard, averages)) {
      for (float& v : t.f32) v = load_le<float>(std::exchange(at, at + 4));
      for (double& v : t.f64) v = load_le<double>(std::exchange(at, at + 8));
    }
  return shard;
}

// ---- of a trainer

Status Trainer::check_shards() const {
  const char* const what = spec_.fp8                                           ? "\"fp8\""
                           : learning_.matrices                                ? "a local method"
                           : spec_.method.kind != MethodKind::back_propagation ? "a local method"
                           : streams_                                          ? "\"streams\""
                           : learning_.device                                  ? "a device"
                           : observation_.observer                             ? "an observer"
                                                                               : nullptr;
  if (what) return bad(message("a step is not cut into shards with ", what));
  return whole();
}

// The program of a shard keeps its gradients, which that of a step merges as they come.
Status Trainer::cut_into(std::int64_t shards) {
  if (learning_.shards == shards || spec_.micro_batches == 1) return {};
  LearnerOptions next = learning_;
  next.shards = shards;
  next.micro_batches = shards > 0 ? 1 : spec_.micro_batches;
  return remake(next);
}

std::string Trainer::run_hash(bool given) const {
  Sha256 sha;
  sha.update_u64(LOOM_NUMERICS_VERSION);
  sha.update_text(comparable_spec().dump());
  sha.update_text((matrices_.empty() ? network_.to_json() : topology_).dump());
  sha.update_text(given ? "" : data_.hash());
  sha.update_text(base_);
  return Sha256::hex(sha.finish());
}

// Different weights are very likely to have another one; no proof against somebody who means harm.
std::string Trainer::weights_checksum() const {
  std::uint64_t h = 0x9E3779B97F4A7C15u;
  const auto mix = [&](std::uint64_t bits) {
    h = (h ^ bits) * 0xD6E8FEB86659FD93u;
    h ^= h >> 32;
  };
  for (const Learned& l : learned()) {
    for (const float v : l.store->master()) mix(std::bit_cast<std::uint32_t>(v));
    for (const double v : l.store->master64()) mix(std::bit_cast<std::uint64_t>(v));
  }
  std::string text;
  for (int i = 60; i >= 0; i -= 4) text += "0123456789abcdef"[h >> i & 15];
  return text;
}

Result<Shard> Trainer::shard(std::int64_t number, const DataSource* given) {
  LOOM_TRY(check_shards());
  const std::int64_t shards = spec_.micro_batches, part = spec_.batch / shards;
  if (number < 0 || number >= shards)
    return bad(message("shard ", number, ": \"micro_batches\" cuts a step into ", shards,
                       ", numbered from 0"));
  LOOM_TRY(next_dtype());
  LOOM_TRY(cut_into(shards));
  const auto by_places = [](const HeadSpec& head) { return takes_classes(head.loss); };
  const bool several = shards > 1 && std::ranges::any_of(spec_.heads, by_places);
  if (given) {
    if (several)
      return bad(
          "a head's mean is over the places of all shards, which one that is given alone "
          "does not know");
    LOOM_TRY(check_data(*given, network_, spec_, true));
    if (given->samples() * given->max_rows() > learning_.max_rows ||
        given->max_rows() > learning_.max_positions)
      return bad(message("a shard that is given has at most the ", part,
                         " samples of a micro-batch, got ", given->samples()));
  }
  HeadSums sums;
  for (std::int64_t micro = 0; several && micro < shards; ++micro) {
    read(done_ * spec_.batch + micro * part, part);
    learner_.add_to(sums, batch_.values, batch_.weights);
  }
  learner_.set_sums(std::move(sums));
  if (given) {
    batch_.clear();
    for (std::int64_t i = 0; i < given->samples(); ++i) given->append(i, batch_);
    LOOM_TRY(give());
  } else {
    LOOM_TRY(fill(done_ * spec_.batch + number * part, part));
  }
  LOOM_TRY(learner_.accumulate(number));
  StepReport report = begin_report();
  Shard made{.run = run_hash(given != nullptr), .weights = weights_checksum()};
  add_losses(report, made.weight);
  made.step = done_ + 1, made.shard = number, made.shards = shards;
  made.rows = report.rows, made.counted = report.counted;
  made.loss = report.loss, made.heads = report.heads;
  for (const NetworkEmitter::Gradient& g : learner_.gradients())
    made.gradients.push_back(
        taken(learner_.executor(), g.path + ":" + g.role, g.value, g.rows, g.type));
  for (const NetworkEmitter::Average& a : learner_.averages())
    made.averages.push_back(taken(learner_.executor(), a.path + ":" + a.role, a.value, 1, a.type));
  return made;
}

// `own`: of this trainer, the run and the weights.
Status Trainer::check_shard(const Shard& s, const Shard& own, std::size_t index) const {
  const std::string where = "shard " + std::to_string(index) + " ";
  if (s.shard != static_cast<std::int64_t>(index) || s.shards != spec_.micro_batches)
    return bad(message(where, "is number ", s.shard, " of ", s.shards, ": expects all ",
                       spec_.micro_batches, " in their order"));
  if (s.step != done_ + 1)
    return bad(message(where, "is of step ", s.step, ", the next one is ", done_ + 1));
  if (s.run != own.run)
    return bad(message(where, "is of a training with another spec, topology or data"));
  if (s.weights != own.weights) return bad(message(where, "is of other weights than these"));
  const auto agrees = [](const TrainingTensor& t, const auto& g, std::int64_t rows) {
    return t.name == g.path + ":" + g.role && t.rows == rows && t.cols == g.value.cols &&
           t.f64.empty() == (g.type != ValueType::f64);
  };
  bool same = s.gradients.size() == learner_.gradients().size() &&
              s.averages.size() == learner_.averages().size() &&
              s.heads.size() == spec_.heads.size();
  for (std::size_t i = 0; same && i < s.gradients.size(); ++i)
    same = agrees(s.gradients[i], learner_.gradients()[i], learner_.gradients()[i].rows);
  for (std::size_t i = 0; same && i < s.averages.size(); ++i)
    same = agrees(s.averages[i], learner_.averages()[i], 1);
  return same ? Status() : bad(message(where, "has other gradients than this training"));
}

Result<StepReport> Trainer::apply(std::span<Shard> shards) {
  LOOM_TRY(check_shards());
  LOOM_TRY(next_dtype());
  LOOM_TRY(cut_into(spec_.micro_batches));
  if (static_cast<std::int64_t>(shards.size()) != spec_.micro_batches)
    return bad(message("got ", shards.size(), " shards: a step has ", spec_.micro_batches));
  const std::string given = run_hash(true);
  const Shard own{.run = shards[0].run == given ? given : run_hash(false),
                  .weights = weights_checksum()};
  for (std::size_t i = 0; i < shards.size(); ++i) LOOM_TRY(check_shard(shards[i], own, i));
  StepReport report = begin_report();
  double weight = 0;
  for (const Shard& s : shards) {
    report.loss += s.loss;
    for (std::size_t i = 0; i < report.heads.size(); ++i) report.heads[i] += s.heads[i];
    report.rows += s.rows;
    report.counted += s.counted;
    weight += s.weight;
  }
  LOOM_TRY(mean_losses(report, weight));
  for (std::size_t i = 0; i < learner_.gradients().size(); ++i) {
    const NetworkEmitter::Gradient& g = learner_.gradients()[i];
    TrainingTensor sum{shards[0].gradients[i].name, g.rows, g.cols, {}, {}};
    const auto add = [&]<class T>(std::vector<T>& to) {
      to = merged<T>(shards.size(), values_of<T>(shards[0].gradients[i]).size(),
                     [&](std::size_t s) { return values_of<T>(shards[s].gradients[i]).data(); });
    };
    if (g.type == ValueType::f64) add(sum.f64);
    else add(sum.f32);
    put(learner_.executor(), sum, g.value, g.rows, g.type);
  }
  for (std::size_t i = 0; i < learner_.averages().size(); ++i) {
    const NetworkEmitter::Average& a = learner_.averages()[i];
    put(learner_.executor(), shards.back().averages[i], a.value, 1, a.type);
  }
  LOOM_TRY(learner_.update(report.lr, weight, report.step));
  end_step(report, {});
  return report;
}

// ---- moments by name

std::vector<TrainingTensor> Trainer::moments() {
  std::vector<TrainingTensor> list;
  for (const Learner::Moment& m : learner_.moments()) {
    if (m.of_streams) continue;
    list.push_back({m.name, m.rows, m.cols, {}, {}});
  }
  return list;
}

Result<const Learner::Moment*> Trainer::find_moment(std::string_view name) const {
  for (const Learner::Moment& m : learner_.moments())
    if (m.name == name && !m.of_streams) return &m;
  return Status(Code::not_found,
                message("training: no moment \"", name, "\": ",
                        (learner_.moments().empty()
                             ? "the optimizer has none"
                             : "they are called as \"" + learner_.moments().front().name + "\"")));
}

Result<TrainingTensor> Trainer::moment(std::string_view name) {
  LOOM_TRY(whole());
  LOOM_ASSIGN(const Learner::Moment* m, find_moment(name));
  TrainingTensor t = read(*m);
  t.name = m->name;
  return t;
}

Status Trainer::set_moment(std::string_view name, std::span<const double> values) {
  LOOM_TRY(whole());
  LOOM_ASSIGN(const Learner::Moment* m, find_moment(name));
  TrainingTensor t = read(*m);
  if (values.size() != t.f32.size() + t.f64.size())
    return bad(message("moment ", m->name, " has ", m->rows, " x ", m->cols, " values, got ",
                       values.size()));
  for (const double v : values)
    if (!(v - v == 0)) return bad(message("moment ", m->name, ": a value is not finite"));
  for (std::size_t i = 0; i < t.f32.size(); ++i) t.f32[i] = static_cast<float>(values[i]);
  for (std::size_t i = 0; i < t.f64.size(); ++i) t.f64[i] = values[i];
  exchange(*m, t);
  return learner_.executor().refresh();
}

Status Trainer::set_done(std::int64_t step) {
  LOOM_TRY(whole());
  if (step < 0 || step > spec_.steps)
    return bad(
        message("set_step: expects 0 to the ", spec_.steps, " steps of the training, got ", step));
  done_ = step;
  learner_.resume(step);
  return {};
}

}  // namespace loom
