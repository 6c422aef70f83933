#include "exec/step_mesh.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "base/files/bytes.h"
#include "exec/session.h"
#include "grid/emit/emitter.h"
#include "grid/metacognition/act.h"
#include "ops/cpu/isa.h"

namespace loom {
namespace {

constexpr std::int64_t kMaxStreams = 1 << 20;
constexpr std::int64_t kMaxTicks = std::int64_t{1} << 53;  // JSON has all numbers up to it
constexpr std::string_view kMagic = "LOOMMESH";
constexpr std::uint32_t kSnapshotVersion = 1;
// A program of many ticks has about as many instructions as this, so that it stays small.
constexpr std::int64_t kInstructions = 2048;
// Of cells in parts, which have a row of all values for each tick: weights are read once in them.
constexpr std::int64_t kTicksOfParts = 8;

// A piece of a message: a text, or a number where there is none.
struct Piece {
  Piece(const char* text) : text(text) {}
  template <std::integral T>
  Piece(T number) : number(static_cast<std::int64_t>(number)) {}
  const char* text = nullptr;
  std::int64_t number = 0;
};
Status refusal(Code code, std::initializer_list<Piece> pieces) {
  std::string what = "step mesh: ";
  for (const Piece& p : pieces) what += p.text ? std::string(p.text) : std::to_string(p.number);
  return Status(code, std::move(what));
}
Status bad(std::initializer_list<Piece> pieces) { return refusal(Code::invalid_argument, pieces); }
Status corrupt(std::initializer_list<Piece> pieces) { return refusal(Code::corrupt, pieces); }

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

// f32 and f64 into one another.
void move_values(ValueType from_type, const std::byte* from, ValueType to_type, std::byte* to,
                 std::size_t count) {
  if (from_type == to_type) {
    std::memcpy(to, from, count * size_of(to_type));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (to_type == ValueType::f64) store<double>(to + i * 8, load<float>(from + i * 4));
    else store(to + i * 4, static_cast<float>(load<double>(from + i * 8)));
  }
}

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

}  // namespace

std::byte* StepMesh::Ticks::row(const View& v, std::int64_t stream) {
  return executor->row_bytes(v.buffer, stream) + static_cast<std::size_t>(v.col) * size_of(type(v));
}

Result<Program> StepMesh::emit_ticks(Ticks& t) {
  return groups_.groups.empty() ? emit_cells(t) : emit_groups(t);
}

Result<Program> StepMesh::portable_program(std::int64_t ticks) const {
  Ticks t;
  t.ticks = ticks;
  LOOM_ASSIGN(Network over, network_->over_ticks(ticks, Network::Answers::every_tick));
  t.network = std::make_unique<Network>(std::move(over));
  LOOM_ASSIGN(Program program, emit_cells(t));
  LOOM_TRY(verify(program));
  return program;
}

Result<Program> StepMesh::emit_cells(Ticks& t) const {
  Program program;
  ProgramBuilder emit(program);
  Network& network = *t.network;
  const View x = emit_input(emit, network, Rows{options_.streams});
  EmitOptions options;
  options.adapter = options_.adapter.get();
  const std::vector<ValueType> types = NetworkEmitter(network, emit, {}).value_types();
  for (std::size_t i = 0; i < network.size(); ++i) {
    // Of ids, which emission refuses, the width is 0.
    t.values.push_back(emit.state(network.path(i), "value", types[i], Rows{options_.streams},
                                  std::max<std::int64_t>(network.output(i).width, 1)));
    t.states.push_back(t.values.back().buffer);
  }
  options.values = t.values;
  NetworkEmitter emitter(network, emit, options);
  LOOM_ASSIGN(const View last, emitter.forward(x));
  emit.copy_to(last, emit.output("y", emit.type(last), emit.rows(last), last.cols));
  keep_values(emit, emitter.values(), t.values);
  return program;
}

// One row has the f32 values of all cells; other cells keep theirs in states by themselves.
Result<Program> StepMesh::emit_groups(Ticks& t) {
  Program program;
  ProgramBuilder emit(program);
  Network& network = *t.network;
  const Rows streams{options_.streams};
  const View x = emit_input(emit, network, streams);
  GroupedViews& g = t.groups;
  g.values = emit.state("", "values", ValueType::f32, streams, groups_.width);
  t.states = {g.values.buffer};
  EmitOptions options;
  for (std::size_t i = 0; i < network.size(); ++i) {
    const std::int64_t width = network.output(i).width;
    options.values.emplace_back();
    if (groups_.columns[i] >= 0) {
      t.values.push_back(ProgramBuilder::slice(g.values, groups_.columns[i], width));
      continue;
    }
    options.values[i] = emit.state(network.path(i), "value", ValueType::f64, streams, width);
    t.values.push_back(options.values[i]);
    t.states.push_back(options.values[i].buffer);
  }
  for (const CellGroup& c : groups_.groups) {
    const std::string path = "group" + std::to_string(g.groups.size());
    GroupedViews::Group v;
    v.weight = emit.state(path, "weight", ValueType::f32, {c.blocks() * c.outputs}, c.inputs * 16);
    v.at = emit.state(path, "at", ValueType::i32, {1}, static_cast<std::int64_t>(c.cells.size()));
    if (c.bias) v.bias = emit.state(path, "bias", ValueType::f32, {c.blocks()}, c.outputs * 16);
    g.groups.push_back(v);
  }
  const View last = t.values.back();
  const View y = emit.output("y", emit.type(last), streams, last.cols * t.ticks);
  const std::vector<View> states = options.values;
  NetworkEmitter emitter(network, emit, options);
  LOOM_ASSIGN(const std::vector<View> wide, emitter.forward_groups(x, groups_, g, y));
  std::vector<View> from, to;
  for (std::size_t i = 0; i < wide.size(); ++i)
    if (wide[i].valid()) from.push_back(wide[i]), to.push_back(states[i]);
  keep_values(emit, std::move(from), to);
  return program;
}

Status StepMesh::fill_groups() {
  for (std::size_t g = 0; g < groups_.groups.size(); ++g) {
    const std::vector<std::int32_t> at = groups_.sources(groups_.groups[g]);
    std::memcpy(one_.executor->state(one_.groups.groups[g].at.buffer).data(), at.data(),
                at.size() * sizeof at[0]);
  }
  return pack_groups();
}

Status StepMesh::pack_groups() {
  const auto floats = [&](const View& v, std::size_t count) -> std::span<float> {
    if (!v.valid()) return {};
    return {reinterpret_cast<float*>(one_.executor->state(v.buffer).data()), count};
  };
  for (std::size_t g = 0; g < groups_.groups.size(); ++g) {
    CellGroup& group = groups_.groups[g];
    const GroupedViews::Group& v = one_.groups.groups[g];
    LOOM_TRY(
        group.pack(floats(v.weight, group.weight_values()), floats(v.bias, group.bias_values())));
  }
  return {};
}

Result<StepMesh> StepMesh::create(const Network& network, ThreadPool& pool,
                                  const StepMeshOptions& options) {
  if (options.streams < 1 || options.streams > kMaxStreams)
    return bad({"streams must be in 1..", kMaxStreams, ", got ", options.streams});
  if (options.auto_device)
    return refusal(
        Code::unsupported,
        {"\"auto\" measures run by run, and values stay where they are: name the device"});
  LOOM_TRY(refuse_rules(network, "a step mesh").at("step mesh"));
  StepMesh m;
  m.pool_ = &pool;
  m.options_ = options;
  LOOM_ASSIGN(Network one, network.over_ticks(1, Network::Answers::every_tick));
  m.network_ = std::make_unique<Network>(std::move(one));
  // The tables of groups are filled on the CPU, whose portable kernels alone have their bits.
  if (options.group && !options.device && !options.adapter &&
      cpu::numerics_of(options.isa) == "portable")
    // Many streams share the weights that a tick reads, and have a row for each tick.
    m.groups_ = group_cells(
        *m.network_,
        {.part_bytes = options.streams < kTicksOfParts ? options.part_bytes : SIZE_MAX});
  LOOM_ASSIGN(m.one_, m.make(1));
  LOOM_TRY(m.fill_groups());
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
  LOOM_ASSIGN(Program program, emit_ticks(t));
  t.input = program.find(BufferKind::input, "", t.network->input().ids > 0 ? "ids" : "x");
  t.output = program.find(BufferKind::output, "", "y");
  ExecutorOptions eo;
  eo.device = options_.device;
  eo.isa = options_.isa;
  eo.fuse = options_.fuse;
  eo.poison = options_.poison;
  eo.cancel = options_.cancel;
  if (!options_.device) eo.states = one_.executor.get();  // none yet: its own
  LOOM_ASSIGN(t.executor, Executor::create(std::move(program),
                                           weights_of(*t.network, options_.adapter), *pool_, eo));
  if (eo.states) return t;
  std::size_t bytes = 0;
  for (const BufferId id : t.states) {
    const std::span<std::byte> state = t.executor->state(id);
    std::ranges::fill(state, std::byte{0});
    bytes += state.size();
  }
  if (!options_.device) saved_.resize(bytes);
  return t;
}

// As many ticks as make a program of a fair size; none where one tick has as many instructions.
Status StepMesh::make_many() {
  const auto of_one = static_cast<std::int64_t>(one_.executor->program().code.size());
  const std::int64_t ticks = std::min(
      options_.max_ticks,
      groups_.parts.size() > 1 ? kTicksOfParts : kInstructions / std::max<std::int64_t>(of_one, 1));
  if (many_.executor || ticks < 2 || input_type_ == ValueType::u32) return {};
  LOOM_ASSIGN(many_, make(ticks));
  return {};
}

void StepMesh::hand_over(Ticks& to) {
  Ticks& from = holder();
  if (&from == &to) return;
  if (options_.device)
    for (std::size_t i = 0; i < to.states.size(); ++i)
      std::ranges::copy(from.executor->state(from.states[i]),
                        to.executor->state(to.states[i]).begin());
  in_many_ = &to == &many_;
}

Status StepMesh::check(const Values& x, std::int64_t ticks, const Values& y) const {
  if (ticks < 1) return bad({"ticks must be at least 1, got ", ticks});
  if (ticks > kMaxTicks - tick_)
    return bad({ticks, " ticks are too many: the mesh is at tick ", tick_, ", and ends at 2^53"});
  const auto of_tick = static_cast<std::uint64_t>(options_.streams) *
                       static_cast<std::uint64_t>(std::max(input_width_, output_width_));
  if (!checked_mul(of_tick, static_cast<std::uint64_t>(ticks)))
    return bad({ticks, " ticks are too many"});
  const bool ids = x.type == ValueType::u32;
  if (ids != takes_ids())
    return bad({"x: the network takes ", network_->input().to_string().c_str(),
                ids ? ", not ids" : ", not values"});
  if (x.type == ValueType::f64 && !takes_f64())
    return bad(
        {"x: the network takes f32: doubles are for networks whose first cells have the "
         "dtype f64"});
  const auto streams = static_cast<std::size_t>(options_.streams);
  for (const Values* v : {&x, &y}) {
    const bool in = v == &x;
    const auto width = static_cast<std::size_t>(in ? input_width_ : output_width_);
    const std::size_t once = streams * width, all = once * static_cast<std::size_t>(ticks);
    if (v->count == once || v->count == all || (!in && v->count == 0)) continue;
    return bad({in ? "x: expects " : "y: expects room for ", streams, " streams x ", ticks,
                " ticks x ", width, " values, ", all, ", or ", once,
                in ? " that are held for all ticks" : " after the last tick", ", got ", v->count});
  }
  return {};
}

// What arrives in the ticks of a program, of which number `tick` of the run is the first.
void StepMesh::put(Ticks& program, const Values& x, std::int64_t tick) {
  const auto streams = static_cast<std::size_t>(options_.streams),
             width = static_cast<std::size_t>(input_width_),
             ticks = static_cast<std::size_t>(program.ticks);
  const bool held = x.count == width * streams;
  const std::size_t row = x.count / streams, step = held ? 0 : width;
  for (std::size_t s = 0; s < streams; ++s)
    for (std::size_t t = 0; t < ticks; ++t) {
      const std::size_t from = s * row + step * (static_cast<std::size_t>(tick) + t);
      const std::byte* data = x.data + from * size_of(x.type);
      if (takes_ids()) {  // a row each
        for (std::size_t i = 0; i < width; ++i)
          std::memcpy(program.executor->row_bytes(
                          program.input, static_cast<std::int64_t>((s * ticks + t) * width + i)),
                      data + i * 4, 4);
        continue;
      }
      std::byte* to = program.executor->row_bytes(program.input, static_cast<std::int64_t>(s));
      move_values(x.type, data, input_type_, to + t * width * size_of(input_type_), width);
    }
}

// Of the program's ticks those that y has room for, the last ones.
void StepMesh::get(Ticks& program, const Values& y, std::int64_t tick) {
  const auto streams = static_cast<std::size_t>(options_.streams),
             width = static_cast<std::size_t>(output_width_),
             all = static_cast<std::size_t>(program.ticks) * width;
  const std::size_t row = y.count / streams, count = std::min(row, all),
                    at = std::min(static_cast<std::size_t>(tick) * width, row - count);
  for (std::size_t s = 0; s < streams; ++s) {
    const std::byte* from =
        program.executor->row_bytes(program.output, static_cast<std::int64_t>(s));
    move_values(output_type_, from + (all - count) * size_of(output_type_), y.type,
                y.data + (s * row + at) * size_of(y.type), count);
  }
}

void StepMesh::save(Ticks& program, bool back) {
  std::byte* at = saved_.data();
  for (const BufferId id : program.states) {
    const std::span<std::byte> state = program.executor->state(id);
    const std::span<std::byte> saved(at, state.size());
    if (back) std::ranges::copy(saved, state.begin());
    else std::ranges::copy(state, at);
    at += state.size();
  }
}

Status StepMesh::run(Ticks& program) {
  if (options_.device) return program.executor->run();
  const bool again = std::exchange(slices_.half, nullptr) != nullptr;
  if (!again) save(program, false);
  const Result<bool> done =
      again ? program.executor->resume(slices_.deadline)
            : program.executor->run_until(Segment::forward, Segment::update, slices_.deadline);
  if (!done.ok()) save(program, true);
  else if (!*done) slices_.half = &program == &many_ ? &StepMesh::many_ : &StepMesh::one_;
  return done.status();
}

Status StepMesh::run(const Values& x, std::int64_t ticks, const Values& y) {
  LOOM_TRY(check(x, ticks, y));
  if (ticks > 1) LOOM_TRY(make_many());
  const bool again = continues(x, ticks, y);
  if (!again && slices_.deadline == Executor::kNoDeadline) return run_from(0, x, ticks, y);
  if (!again) {
    slices_.x.assign(x.data, x.data + x.count * size_of(x.type));
    slices_.ticks = ticks;
    slices_.y.resize(y.count * size_of(y.type));
  }
  Status status = run_from(again ? slices_.done : 0, x, ticks, {slices_.y.data(), y.count, y.type});
  if (!slices_.begun) std::ranges::copy(slices_.y, y.data);
  return status;
}

Status StepMesh::run_from(std::int64_t done, const Values& x, std::int64_t ticks, const Values& y) {
  slices_.begun = false;
  while (done < ticks) {
    const bool many = many_.executor && std::min(ticks - done, quiet_ticks()) >= many_.ticks;
    Ticks& program = slices_.half ? this->*slices_.half : many ? many_ : one_;
    if (!slices_.half) {
      hand_over(program);
      put(program, x, done);
    }
    LOOM_TRY(run(program));
    if (slices_.half) return pause(done);
    if (y.count > 0) get(program, y, done);
    done += program.ticks;
    tick_ += program.ticks;
    LOOM_TRY(report_ticks(program.ticks));
    if (done < ticks && slices_.deadline != Executor::kNoDeadline &&
        Executor::slice_clock() >= slices_.deadline)
      return pause(done);
  }
  return {};
}

bool StepMesh::continues(const Values& x, std::int64_t ticks, const Values& y) {
  const std::span<const std::byte> bytes(x.data, x.count * size_of(x.type));
  if (slices_.begun && slices_.ticks == ticks && slices_.y.size() == y.count * size_of(y.type) &&
      std::ranges::equal(slices_.x, bytes))
    return true;
  drop_slices();
  return false;
}

void StepMesh::drop_slices() {
  if (const auto half = std::exchange(slices_.half, nullptr)) save(this->*half, true);
  slices_.begun = false;
}

Status StepMesh::pause(std::int64_t done) {
  slices_.begun = true;
  slices_.done = done;
  return Status(Code::paused, "step mesh: the run paused at its deadline, " + std::to_string(done) +
                                  " of " + std::to_string(slices_.ticks) +
                                  " ticks done: the same call continues it");
}

class StepMesh::Look {
 public:
  explicit Look(StepMesh& mesh) : mesh_(mesh) { exchange(); }
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;
  ~Look() { exchange(); }

 private:
  void exchange() {
    if (!mesh_.slices_.half) return;
    const Ticks& half = mesh_.*mesh_.slices_.half;
    std::byte* at = mesh_.saved_.data();
    for (const BufferId id : half.states) {
      const std::span<std::byte> state = half.executor->state(id);
      std::swap_ranges(state.begin(), state.end(), at);
      at += state.size();
    }
  }
  StepMesh& mesh_;
};

Result<std::vector<double>> StepMesh::value(std::size_t cell, std::int64_t stream) {
  if (cell >= network_->size() || stream < 0 || stream >= options_.streams)
    return refusal(Code::out_of_range,
                   {"cell ", cell, " of stream ", stream, ": there are ", network_->size(),
                    " cells and ", options_.streams, " streams"});
  const Look look(*this);
  Ticks& holder = this->holder();
  const View& v = holder.values[cell];
  std::vector<double> out(static_cast<std::size_t>(v.cols));
  move_values(holder.type(v), holder.row(v, stream), ValueType::f64,
              reinterpret_cast<std::byte*>(out.data()), out.size());
  return out;
}

Status StepMesh::reset() {
  drop_slices();
  Ticks& holder = this->holder();
  for (const BufferId id : holder.states)
    std::ranges::fill(holder.executor->state(id), std::byte{0});
  tick_ = 0;
  return {};
}

template <class F>
void StepMesh::each_value(const F& f) {
  Ticks& holder = this->holder();
  for (const View& v : holder.values) {
    const std::size_t size = size_of(holder.type(v));
    for (std::int64_t s = 0; s < options_.streams; ++s) {
      std::byte* row = holder.row(v, s);
      for (std::int32_t c = 0; c < v.cols; ++c) f(row + static_cast<std::size_t>(c) * size, size);
    }
  }
}

// Magic, version, number of streams, of ticks and of cells; of each cell the size of a value and
// how many there are; then the values, cell by cell.
std::string StepMesh::snapshot() {
  const Look look(*this);
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
  for (const View& v : holder.values) {
    add(static_cast<std::uint32_t>(holder.type(v)));
    add(static_cast<std::uint64_t>(options_.streams * v.cols));
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
  if (bytes.size() < kHead || !bytes.starts_with(kMagic))
    return corrupt({"this is no snapshot of a mesh"});
  const char* head = bytes.data() + kMagic.size();
  if (const auto version = load_le<std::uint32_t>(head); version != kSnapshotVersion)
    return refusal(Code::unsupported, {"snapshot of version ", version,
                                       ", this library reads version ", kSnapshotVersion});
  const auto streams = load_le<std::uint32_t>(head + 4);
  const auto tick = load_le<std::uint64_t>(head + 8), cells = load_le<std::uint64_t>(head + 16);
  if (streams != options_.streams || cells != holder.values.size())
    return bad({"the snapshot has ", streams, " streams of ", cells, " cells, this mesh ",
                options_.streams, " of ", holder.values.size()});
  if (tick > static_cast<std::uint64_t>(kMaxTicks))
    return corrupt({"a snapshot after more than 2^53 ticks"});
  std::size_t at = kHead, wanted = kHead + kCell * holder.values.size();
  if (bytes.size() < wanted) return corrupt({"the snapshot ends in its list of cells"});
  for (std::size_t i = 0; i < holder.values.size(); ++i, at += kCell) {
    const ValueType type = holder.type(holder.values[i]);
    const auto count = static_cast<std::uint64_t>(options_.streams * holder.values[i].cols);
    if (load_le<std::uint32_t>(bytes.data() + at) != static_cast<std::uint32_t>(type) ||
        load_le<std::uint64_t>(bytes.data() + at + 4) != count)
      return bad({"cell ", network_->coordinate(i).to_string().c_str(),
                  " of the snapshot has other values: the network was another"});
    wanted += size_of(type) * count;
  }
  if (bytes.size() != wanted)
    return corrupt({"a snapshot of ", bytes.size(), " bytes, which should have ", wanted});
  drop_slices();
  each_value([&](std::byte* value, std::size_t size) {
    if (size == 8) store(value, load_le<std::uint64_t>(bytes.data() + at));
    else store(value, load_le<std::uint32_t>(bytes.data() + at));
    at += size;
  });
  tick_ = static_cast<std::int64_t>(tick);
  return {};
}

Status StepMesh::refresh() {
  drop_slices();
  LOOM_TRY(pack_groups());
  LOOM_TRY(one_.executor->refresh());
  return many_.executor ? many_.executor->refresh() : Status();
}

}  // namespace loom
