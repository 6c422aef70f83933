#include "exec/step_mesh.h"

#include <algorithm>
#include <utility>

#include "base/files/bytes.h"
#include "exec/session.h"
#include "grid/emitter.h"

namespace loom {
namespace {

constexpr std::int64_t kMaxStreams = 1 << 20;
constexpr std::string_view kMagic = "LOOMMESH";
constexpr std::uint32_t kSnapshotVersion = 1;
// A program of many ticks has about as many instructions as this, so that it stays small.
constexpr std::int64_t kInstructions = 2048;

Status bad(std::string what) {
  return Status(Code::invalid_argument, "step mesh: " + std::move(what));
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

std::size_t size_of(ValueType type) { return type == ValueType::f64 ? 8 : 4; }

// What a cell hands on without a copy may lie in the values of another, which change first.
void keep_values(ProgramBuilder& emit, std::vector<View> last, const std::vector<View>& values) {
  for (View& v : last) {
    if (emit.of(v).kind != BufferKind::state) continue;
    const View copy = emit.temp(emit.type(v), emit.rows(v), v.cols);
    emit.copy_to(v, copy);
    v = copy;
  }
  for (std::size_t i = 0; i < last.size(); ++i) emit.copy_to(last[i], values[i]);
}

Result<Program> emit_ticks(Network& network, std::int64_t streams) {
  Program program;
  ProgramBuilder emit(program);
  const View x = emit_input(emit, network, Rows{streams});
  EmitOptions options;
  const std::vector<ValueType> types = NetworkEmitter(network, emit, {}).value_types();
  for (std::size_t i = 0; i < network.size(); ++i) {
    const Shape& out = network.output(i);
    // Of ids, which emission refuses, the width is 0.
    options.values.push_back(emit.state(network.path(i), "value", types[i], Rows{streams},
                                        std::max<std::int64_t>(out.width, 1)));
  }
  NetworkEmitter emitter(network, emit, options);
  LOOM_ASSIGN(const View last, emitter.forward(x));
  emit.copy_to(last, emit.output("y", emit.type(last), emit.rows(last), last.cols));
  keep_values(emit, emitter.values(), options.values);
  return program;
}

}  // namespace

Result<StepMesh> StepMesh::create(const Network& network, ThreadPool& pool,
                                  const StepMeshOptions& options) {
  if (options.streams < 1 || options.streams > kMaxStreams)
    return bad("streams must be in 1.." + std::to_string(kMaxStreams) + ", got " +
               std::to_string(options.streams));
  StepMesh m;
  m.pool_ = &pool;
  m.options_ = options;
  LOOM_ASSIGN(Network one, network.over_ticks(1, Network::Answers::every_tick));
  m.network_ = std::make_unique<Network>(std::move(one));
  LOOM_ASSIGN(m.one_, m.make(1));
  const Program& p = m.one_.executor->program();
  m.input_type_ = p.buffers[static_cast<std::size_t>(m.one_.input)].type;
  m.output_type_ = p.buffers[static_cast<std::size_t>(m.one_.output)].type;
  m.input_width_ = m.network_->input().count();
  m.output_width_ = p.buffers[static_cast<std::size_t>(m.one_.output)].cols;
  return m;
}

Result<StepMesh::Ticks> StepMesh::make(std::int64_t ticks) {
  Ticks t;
  t.ticks = ticks;
  LOOM_ASSIGN(Network over, network_->over_ticks(ticks, Network::Answers::every_tick));
  t.network = std::make_unique<Network>(std::move(over));
  LOOM_ASSIGN(Program program, emit_ticks(*t.network, options_.streams));
  t.input = program.find(BufferKind::input, "", t.network->input().ids > 0 ? "ids" : "x");
  t.output = program.find(BufferKind::output, "", "y");
  for (std::size_t i = 0; i < t.network->size(); ++i)
    t.values.push_back(program.find(BufferKind::state, t.network->path(i), "value"));
  ExecutorOptions eo;
  eo.device = options_.device;
  eo.isa = options_.isa;
  eo.fuse = options_.fuse;
  eo.poison = options_.poison;
  eo.cancel = options_.cancel;
  LOOM_ASSIGN(t.executor, Executor::create(std::move(program), weights_of(*t.network), *pool_, eo));
  for (const BufferId id : t.values) std::ranges::fill(t.executor->state(id), std::byte{0});
  return t;
}

// As many ticks as make a program of a fair size; none where one tick has as many instructions.
Status StepMesh::make_many() {
  const auto of_one = static_cast<std::int64_t>(one_.executor->program().code.size());
  const std::int64_t ticks =
      std::min(options_.max_ticks, kInstructions / std::max<std::int64_t>(of_one, 1));
  if (many_.executor || ticks < 2 || input_type_ == ValueType::u32) return {};
  LOOM_ASSIGN(many_, make(ticks));
  return {};
}

void StepMesh::hand_over(Ticks& to) {
  Ticks& from = holder();
  if (&from == &to) return;
  for (std::size_t i = 0; i < to.values.size(); ++i)
    std::ranges::copy(from.executor->state(from.values[i]),
                      to.executor->state(to.values[i]).begin());
  in_many_ = &to == &many_;
}

template <class T>
Status StepMesh::check_input(std::span<const T> x, std::int64_t ticks) const {
  constexpr bool is_ids = std::is_same_v<T, std::uint32_t>;
  if (is_ids != (input_type_ == ValueType::u32))
    return bad("the network takes " + network_->input().to_string() +
               (is_ids ? ", not ids" : ", not values"));
  if (sizeof(T) == 8 && !takes_f64())
    return bad(
        "the network computes in f32, and takes f32: doubles are for networks whose first "
        "cells have the dtype f64");
  const auto held = static_cast<std::size_t>(options_.streams * input_width_),
             all = held * static_cast<std::size_t>(ticks);
  if (x.size() == held || x.size() == all) return {};
  return bad("expects " + std::to_string(options_.streams) + " streams x " + std::to_string(ticks) +
             " ticks x " + std::to_string(input_width_) + " inputs, " + std::to_string(all) +
             ", or " + std::to_string(held) + " that are held for all ticks, got " +
             std::to_string(x.size()));
}

// What arrives in `ticks` ticks from number `tick` of the run on.
template <class T>
void StepMesh::put(Ticks& program, std::span<const T> x, std::int64_t tick, std::int64_t ticks) {
  const auto width = static_cast<std::size_t>(input_width_);
  const bool held = x.size() == width * static_cast<std::size_t>(options_.streams);
  const std::size_t row = held ? width : x.size() / static_cast<std::size_t>(options_.streams);
  for (std::int64_t s = 0; s < options_.streams; ++s)
    for (std::int64_t t = 0; t < ticks; ++t) {
      const T* from = x.data() + static_cast<std::size_t>(s) * row +
                      (held ? 0 : static_cast<std::size_t>(tick + t) * width);
      if constexpr (std::is_same_v<T, std::uint32_t>) {
        for (std::size_t i = 0; i < width; ++i)
          program.executor->row<std::uint32_t>(
              program.input, (s * ticks + t) * input_width_ + static_cast<std::int64_t>(i))[0] =
              from[i];
      } else {
        const auto at = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(t) * width);
        if (takes_f64())
          std::copy_n(from, width, program.executor->row<double>(program.input, s).begin() + at);
        else if constexpr (sizeof(T) == 4)
          std::copy_n(from, width, program.executor->row<float>(program.input, s).begin() + at);
      }
    }
}

template <class U>
void StepMesh::get(Ticks& program, std::span<U> y, std::int64_t tick, std::int64_t ticks) {
  const auto width = static_cast<std::size_t>(output_width_);
  const std::size_t row = y.size() / static_cast<std::size_t>(options_.streams);
  const auto copy = [&]<class From>(std::span<const From> from, std::int64_t stream) {
    U* to =
        y.data() + static_cast<std::size_t>(stream) * row + static_cast<std::size_t>(tick) * width;
    std::transform(
        from.begin(),
        from.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(ticks) * width), to,
        [](From v) { return static_cast<U>(v); });
  };
  for (std::int64_t s = 0; s < options_.streams; ++s) {
    if (gives_f64())
      copy(std::span<const double>(program.executor->row<double>(program.output, s)), s);
    else copy(std::span<const float>(program.executor->row<float>(program.output, s)), s);
  }
}

template <class T, class U>
Status StepMesh::run(std::span<const T> x, std::int64_t ticks, std::span<U> y) {
  if (ticks < 1) return bad("ticks must be at least 1, got " + std::to_string(ticks));
  const auto of_tick = static_cast<std::uint64_t>(options_.streams) *
                       static_cast<std::uint64_t>(std::max(input_width_, output_width_));
  if (!checked_mul(of_tick, static_cast<std::uint64_t>(ticks)))
    return bad(std::to_string(ticks) + " ticks are too many");
  LOOM_TRY(check_input(x, ticks));
  const std::size_t wanted =
      static_cast<std::size_t>(options_.streams * output_width_) * static_cast<std::size_t>(ticks);
  if (!y.empty() && y.size() != wanted)
    return bad("gives " + std::to_string(options_.streams) + " streams x " + std::to_string(ticks) +
               " ticks x " + std::to_string(output_width_) + " values, " + std::to_string(wanted) +
               ", and there is room for " + std::to_string(y.size()));
  if (ticks > 1) LOOM_TRY(make_many());
  for (std::int64_t done = 0; done < ticks;) {
    Ticks& program = many_.executor && ticks - done >= many_.ticks ? many_ : one_;
    hand_over(program);
    put(program, x, done, program.ticks);
    LOOM_TRY(program.executor->run());
    if (!y.empty()) get(program, y, done, program.ticks);
    done += program.ticks;
    tick_ += program.ticks;
  }
  return {};
}

#define LOOM_RUN(T, U) \
  template Status StepMesh::run(std::span<const T>, std::int64_t, std::span<U>);
LOOM_RUN(float, float)
LOOM_RUN(float, double)
LOOM_RUN(double, float)
LOOM_RUN(double, double)
LOOM_RUN(std::uint32_t, float)
LOOM_RUN(std::uint32_t, double)
#undef LOOM_RUN

Result<std::vector<double>> StepMesh::value(std::size_t cell, std::int64_t stream) {
  if (cell >= network_->size() || stream < 0 || stream >= options_.streams)
    return Status(Code::out_of_range, "step mesh: cell " + std::to_string(cell) + " of stream " +
                                          std::to_string(stream) + ": there are " +
                                          std::to_string(network_->size()) + " cells and " +
                                          std::to_string(options_.streams) + " streams");
  Ticks& holder = this->holder();
  const BufferId id = holder.values[cell];
  const Buffer& b = holder.of(id);
  std::vector<double> out;
  const std::int64_t rows = b.rows.constant / options_.streams;
  for (std::int64_t r = stream * rows; r < (stream + 1) * rows; ++r) {
    const auto add = [&](const auto& row) { out.insert(out.end(), row.begin(), row.end()); };
    if (b.type == ValueType::f64) add(holder.executor->row<double>(id, r));
    else add(holder.executor->row<float>(id, r));
  }
  return out;
}

Status StepMesh::reset() {
  Ticks& holder = this->holder();
  for (const BufferId id : holder.values)
    std::ranges::fill(holder.executor->state(id), std::byte{0});
  tick_ = 0;
  return {};
}

template <class F>
void StepMesh::each_value(const F& f) {
  Ticks& holder = this->holder();
  for (const BufferId id : holder.values) {
    const Buffer& b = holder.of(id);
    for (std::int64_t r = 0; r < b.rows.constant; ++r) {
      std::byte* row = holder.executor->row_bytes(id, r);
      const std::size_t size = size_of(b.type);
      for (std::int64_t c = 0; c < b.cols; ++c) f(row + static_cast<std::size_t>(c) * size, size);
    }
  }
}

// Magic, version, number of streams, of ticks and of cells; of each cell the size of a value and
// how many there are; then the values, cell by cell.
std::string StepMesh::snapshot() {
  Ticks& holder = this->holder();
  std::string out(kMagic);
  const auto add = [&](auto value) {
    char bytes[sizeof value];
    store_le(bytes, value);
    out.append(bytes, sizeof value);
  };
  add(kSnapshotVersion);
  add(static_cast<std::uint32_t>(options_.streams));
  add(static_cast<std::uint64_t>(tick_));
  add(static_cast<std::uint64_t>(holder.values.size()));
  for (const BufferId id : holder.values) {
    const Buffer& b = holder.of(id);
    add(static_cast<std::uint32_t>(b.type));
    add(static_cast<std::uint64_t>(b.rows.constant * b.cols));
  }
  each_value([&](std::byte* value, std::size_t size) {
    if (size == 8) add(load<std::uint64_t>(value));
    else add(load<std::uint32_t>(value));
  });
  return out;
}

Status StepMesh::restore(std::string_view bytes) {
  const Ticks& holder = this->holder();
  constexpr std::size_t kHead = 32, kCell = 12;
  const auto corrupt = [](std::string what) {
    return Status(Code::corrupt, "step mesh: " + std::move(what));
  };
  if (bytes.size() < kHead || !bytes.starts_with(kMagic))
    return corrupt("this is no snapshot of a mesh");
  const char* head = bytes.data() + kMagic.size();
  if (const auto version = load_le<std::uint32_t>(head); version != kSnapshotVersion)
    return Status(Code::unsupported, "step mesh: snapshot of version " + std::to_string(version) +
                                         ", this library reads version 1");
  const auto streams = load_le<std::uint32_t>(head + 4);
  const auto tick = load_le<std::uint64_t>(head + 8), cells = load_le<std::uint64_t>(head + 16);
  if (streams != options_.streams || cells != holder.values.size())
    return bad("the snapshot has " + std::to_string(streams) + " streams of " +
               std::to_string(cells) + " cells, this mesh " + std::to_string(options_.streams) +
               " of " + std::to_string(holder.values.size()));
  if (tick > static_cast<std::uint64_t>(INT64_MAX))
    return corrupt("a snapshot after " + std::to_string(tick) + " ticks");
  std::size_t at = kHead, wanted = kHead + kCell * holder.values.size();
  if (bytes.size() < wanted) return corrupt("the snapshot ends in its list of cells");
  for (std::size_t i = 0; i < holder.values.size(); ++i, at += kCell) {
    const Buffer& b = holder.of(holder.values[i]);
    const auto count = static_cast<std::uint64_t>(b.rows.constant * b.cols);
    if (load_le<std::uint32_t>(bytes.data() + at) != static_cast<std::uint32_t>(b.type) ||
        load_le<std::uint64_t>(bytes.data() + at + 4) != count)
      return bad("cell " + network_->coordinate(i).to_string() +
                 " of the snapshot gives other values: the network was another");
    wanted += size_of(b.type) * count;
  }
  if (bytes.size() != wanted)
    return corrupt("a snapshot of " + std::to_string(bytes.size()) + " bytes, which should have " +
                   std::to_string(wanted));
  each_value([&](std::byte* value, std::size_t size) {
    if (size == 8) store(value, load_le<std::uint64_t>(bytes.data() + at));
    else store(value, load_le<std::uint32_t>(bytes.data() + at));
    at += size;
  });
  tick_ = static_cast<std::int64_t>(tick);
  return {};
}

Status StepMesh::refresh() {
  LOOM_TRY(one_.executor->refresh());
  return many_.executor ? many_.executor->refresh() : Status();
}

}  // namespace loom
