#include "exec/session.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <numeric>

#include "base/escape.h"
#include "base/files/bytes.h"
#include "base/message.h"
#include "exec/observe/tap_plan.h"
#include "grid/emit/emitter.h"
#include "ops/draw.h"

namespace loom {
namespace {

constexpr int kTrials = 3;  // runs of a size on each side before one is chosen

bool has_states(const Program& program) {
  return std::ranges::any_of(program.buffers,
                             [](const Buffer& b) { return b.kind == BufferKind::state; });
}

// What layers with rules take and give.
Status ask_watched(Keeper& keeper, const NetworkEmitter& emitter, TapPlan& taps) {
  for (const NetworkEmitter::Watched& w : emitter.watched()) {
    if (!keeper.ask(w.x, w.begin) || !keeper.ask(w.y, w.end))
      return Status(Code::unsupported,
                    "session: the metacognition at " + w.path +
                        " runs on the rows that \"top_k\" gives it alone, and its rules cannot be "
                        "evaluated: take them out, or create the session with \"ignore_rules\"");
    taps.watched.push_back(w.path);
  }
  return {};
}

}  // namespace

WeightLookup weights_of(Network& network, const std::shared_ptr<Adapter>& adapter) {
  return [&network, adapter](std::string_view path, std::string_view role) {
    WeightStore* of_adapter = adapter ? adapter->store(path, role) : nullptr;
    return of_adapter ? of_adapter : network.find(path, role);
  };
}

Result<Program> emit_program(Network& network, const SessionOptions& options, TapPlan* taps) {
  auto limit = [](std::int64_t v, std::string_view what) {
    return v >= 1 && v <= INT32_MAX ? Status()
                                    : Status(Code::invalid_argument,
                                             "session: " + std::string(what) +
                                                 " must be in 1..2^31-1, got " + std::to_string(v));
  };
  LOOM_TRY(limit(options.max_rows, "max_rows"));
  LOOM_TRY(limit(options.max_head_rows, "max_head_rows"));
  LOOM_TRY(limit(options.max_positions, "max_positions"));
  LOOM_TRY(limit(options.sequences, "sequences"));
  if (!options.activations.empty() && options.activations != "q15" && options.activations != "i8")
    return Status(Code::invalid_argument,
                  message("session: activations: expects ", kActivationNames, "; got ",
                          quoted(options.activations)));
  Program program;
  ProgramBuilder emit(program);
  if (options.activations == "i8") emit.quantize_to_one_plane();
  const Rows rows{1, emit.u32_register("R", static_cast<std::uint32_t>(options.max_rows)), kNone};
  EmitOptions eo;
  eo.training = options.whole_sequences;
  eo.sequences = options.sequences;
  eo.adapter = options.adapter.get();
  eo.watch = options.watch && taps;
  eo.record = taps && !taps->cells.empty();
  eo.record_nested = eo.record && taps->cells.size() > network.size();
  eo.max_positions =
      static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(options.max_positions), 64));
  if (network.head >= 0) {
    const Rows head{1, emit.u32_register("L", static_cast<std::uint32_t>(options.max_head_rows)),
                    kNone};
    eo.head_rows = emit.input("head_rows", ValueType::u32, head, 1);
  }
  const View x = emit_input(emit, network, rows);
  NetworkEmitter emitter(network, emit, eo);
  LOOM_ASSIGN(const View last, emitter.forward(x));
  if (emit.type(last) == ValueType::u32)
    return Status(Code::invalid_argument, "session: the network has no layers");
  emit.copy_to(last, emit.output("y", emit.type(last), emit.rows(last), last.cols));
  Keeper keeper(emit);
  if (taps) taps->of = ask_recorded(keeper, emitter, taps->cells);
  if (eo.watch) LOOM_TRY(ask_watched(keeper, emitter, *taps));
  if (taps) taps->views = keeper.keep();
  remove_dead_code(program);
  if (options.activations == "i8" &&
      std::ranges::find(program.code, Op::quantize_i8, &Instruction::op) == program.code.end())
    return Status(Code::invalid_argument,
                  "session: activations: i8 is of products with integer weights, and the network "
                  "has none: morph it to i8, i4 or another of them");
  return program;
}

Result<Session> Session::create(Network& network, ThreadPool& pool, const SessionOptions& options) {
  return make(network, pool, options, {});
}

Result<Session> Session::make(Network& network, ThreadPool& pool, const SessionOptions& options,
                              std::vector<ObservedCell> cells) {
  TapPlan taps;
  taps.cells = std::move(cells);
  const bool keeps = !taps.cells.empty() || options.watch;
  LOOM_ASSIGN(Program program, emit_program(network, options, keeps ? &taps : nullptr));
  Session s;
  s.network_ = &network;
  s.pool_ = &pool;
  s.options_ = options;
  ExecutorOptions eo;
  // Left to Loom, the device is one that can run the layers.
  const bool here = options.auto_device && network.on_cpu_alone();
  eo.device = here ? nullptr : options.device;
  eo.isa = options.isa;
  eo.sequences = options.sequences;
  eo.fuse = options.fuse;
  eo.poison = options.poison;
  eo.cancel = options.cancel;
  LOOM_ASSIGN(s.executor_,
              Executor::create(std::move(program), weights_of(network, options.adapter), pool, eo));
  s.find_buffers();
  s.reserve();
  if (keeps) s.taps_ = std::make_unique<Taps>(*s.executor_, taps.views, s.head_);
  s.joined_.resize(taps.cells.size());
  s.taps_of_ = std::move(taps.of);
  s.watched_paths_ = std::move(taps.watched);
  if (options.auto_device && eo.device) LOOM_TRY(s.add_cpu_fallback());
  return s;
}

void Session::find_buffers() {
  const Program& p = executor_->program();
  rows_ = p.find_register("R");
  head_ = p.find_register("L");
  input_ = p.find(BufferKind::input, "", network_->input().ids > 0 ? "ids" : "x");
  output_ = p.find(BufferKind::output, "", "y");
  positions_ = p.find(BufferKind::input, "", "positions");
  sequences_ = p.find(BufferKind::input, "", "sequences");
  head_rows_ = p.find(BufferKind::input, "", "head_rows");
  width_ = network_->input().width;
  recurs_ = network_->recurs_over_rows();
  wide_input_ = p.buffers[static_cast<std::size_t>(input_)].type == ValueType::f64;
  wide_output_ = p.buffers[static_cast<std::size_t>(output_)].type == ValueType::f64;
}

void Session::reserve() {
  const Program& p = executor_->program();
  const auto max_rows = static_cast<std::size_t>(options_.max_rows);
  if (has_states(p)) lengths_.assign(static_cast<std::size_t>(options_.sequences), 0);
  next_ = lengths_;
  if (head_ != kNone && width_ > 0) {
    all_rows_.resize(max_rows);
    std::iota(all_rows_.begin(), all_rows_.end(), 0u);
  }
  if (recurs_) {
    turn_.reserve(max_rows);
    turn_of_.resize(max_rows);
    seen_.resize(lengths_.size());
  }
  const auto outputs =
      static_cast<std::size_t>((head_ == kNone ? options_.max_rows : options_.max_head_rows) *
                               p.buffers[static_cast<std::size_t>(output_)].cols);
  if (recurs_) wide_output_ ? collected_f64_.resize(outputs) : collected_.resize(outputs);
  if (wide_output_) rounded_.resize(outputs);
}

Status Session::add_cpu_fallback() {
  SessionOptions on_cpu = options_;
  on_cpu.device = nullptr;
  LOOM_ASSIGN(Session twin, create(*network_, *pool_, on_cpu));
  cpu_fallback_ = std::make_unique<Session>(std::move(twin));
  costs_.resize(33);
  return has_states(executor_->program()) ? choose_device_once() : Status();
}

// One of the two keeps the states, so it is settled before there are any: by a row at position 0,
// whose states the first real one replaces.
Status Session::choose_device_once() {
  const std::vector<float> x(static_cast<std::size_t>(width_), 0.0f);
  const std::uint32_t zero = 0;
  for (int i = 0; i < 2 * kTrials + 1; ++i) {
    LOOM_TRY(faster(1, [&](Session& s) -> Status {
      if (s.width_ != 0) return s.run(x, {&zero, 1}, {&zero, 1}).status();
      return s.run_tokens({&zero, 1}, {&zero, 1}, {&zero, 1}, {&zero, 1});
    }));
  }
  std::fill(lengths_.begin(), lengths_.end(), 0);
  if (cpu_fallback_) std::fill(cpu_fallback_->lengths_.begin(), cpu_fallback_->lengths_.end(), 0);
  if (on_cpu_fallback_) {
    Session chosen = std::move(*cpu_fallback_);
    *this = std::move(chosen);
  }
  cpu_fallback_.reset();
  return {};
}

// Where this many rows went fastest; each side has its trials first, of which the shortest counts,
// so what happens once in a life is left out.
template <class Run>
auto Session::faster(std::size_t rows, const Run& run) -> decltype(run(*this)) {
  Cost& cost = costs_[std::min<std::size_t>(std::bit_width(rows), costs_.size() - 1)];
  on_cpu_fallback_ =
      cost.runs[1] < kTrials || (cost.runs[0] >= kTrials && cost.seconds[1] <= cost.seconds[0]);
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Session> twin = std::move(cpu_fallback_);  // neither side has one while it runs
  auto result = run(on_cpu_fallback_ ? *twin : *this);
  cpu_fallback_ = std::move(twin);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (result.ok() &&
      (cost.runs[on_cpu_fallback_]++ == 0 || seconds < cost.seconds[on_cpu_fallback_]))
    cost.seconds[on_cpu_fallback_] = seconds;
  return result;
}

template <class Run>
auto Session::observed(const Run& run) -> decltype(run(*this)) {
  std::unique_ptr<Observation> observation;
  auto result = run(begin_pass(observation));
  if (Status ended = end_pass(std::move(observation), result.ok()); !ended.ok()) return ended;
  return result;
}

Status Session::refresh() {
  drop_slices();
  if (observation_) LOOM_TRY(observation_->session->refresh());
  if (cpu_fallback_) LOOM_TRY(cpu_fallback_->refresh());
  return executor_->refresh();
}

Status Session::adapt(std::shared_ptr<Adapter> adapter) {
  SessionOptions options = options_;
  options.adapter = std::move(adapter);
  LOOM_ASSIGN(Session next, create(*network_, *pool_, options));
  if (observation_ && observation_->observer) {
    ObserveOptions on = observation_->options;
    on.passed = observation_->passes, on.observed = observation_->observed;
    LOOM_TRY(next.observe(observation_->observer, on));
  }
  *this = std::move(next);
  return {};
}

Result<std::span<const float>> Session::run(std::span<const float> x, std::int64_t rows) {
  if (observation_) return observed([&](Session& s) { return s.run(x, rows); });
  if (cpu_fallback_)
    return faster(static_cast<std::size_t>(rows), [&](Session& s) { return s.run(x, rows); });
  if (positions_ != kNone)
    return Status(Code::invalid_argument,
                  "session: this network has attention over rows or carries states: give sequences "
                  "and positions with its rows");
  return run_values(x, rows);
}
Status Session::run(std::span<const double> x, std::int64_t rows) {
  if (observation_) return observed([&](Session& s) { return s.run(x, rows); });
  if (!wide_input_)
    return Status(Code::invalid_argument,
                  "session: this network computes in f32, and takes f32: doubles are for networks "
                  "whose first cells have the dtype f64");
  if (positions_ != kNone) return run(std::span<const float>(), 0).status();
  return run_values(x, rows).status();
}

// Rows go on where their sequences are: from 0, from a position that they have, never from beyond
// it.
Status Session::check_positions(const Tokens& tokens) {
  if (lengths_.empty()) return {};
  next_ = lengths_;
  for (std::size_t r = 0; r < tokens.positions.size(); ++r) {
    const std::uint32_t s = tokens.sequences[r], p = tokens.positions[r];
    if (s >= next_.size())
      return Status(Code::out_of_range, "session: sequences[" + std::to_string(r) + "] is " +
                                            std::to_string(s) + ", the limit is " +
                                            std::to_string(next_.size()));
    const auto wrong = [&](const char* what) {
      return Status(Code::out_of_range, "session: positions[" + std::to_string(r) + "] is " +
                                            std::to_string(p) + ", and sequence " +
                                            std::to_string(s) + " has " + std::to_string(next_[s]) +
                                            " so far: " + what);
    };
    if (p > next_[s]) return wrong("give the rows between");
    if (recurs_ && p != 0 && p != next_[s])
      return wrong("a recurrent state cannot go back but to 0");
    // Behind a position that is run again what a cache holds stays: the device's ids ahead of a
    // text.
    next_[s] = recurs_ ? std::int64_t{p} + 1 : std::max(next_[s], std::int64_t{p} + 1);
  }
  return {};
}

template <class Put>
Status Session::set_rows(const Tokens& tokens, const Put& put) {
  LOOM_TRY(executor_->set(rows_, static_cast<std::uint32_t>(tokens.positions.size())));
  for (std::size_t r = 0; r < tokens.positions.size(); ++r) {
    const auto i = static_cast<std::int64_t>(r);
    put(i, i);
    if (positions_ != kNone) executor_->row<std::uint32_t>(positions_, i)[0] = tokens.positions[r];
    if (sequences_ != kNone) executor_->row<std::uint32_t>(sequences_, i)[0] = tokens.sequences[r];
  }
  if (head_ == kNone) return {};
  LOOM_TRY(executor_->set(head_, static_cast<std::uint32_t>(tokens.head.size())));
  for (std::size_t r = 0; r < tokens.head.size(); ++r)
    executor_->row<std::uint32_t>(head_rows_, static_cast<std::int64_t>(r))[0] = tokens.head[r];
  return {};
}

// After a run that failed: where it had begun, some of its rows may be in the states, and some not.
// A cache ends before the first of them; recurrent states may have gone on, and begin anew.
void Session::forget(const Tokens& tokens) {
  if (lengths_.empty() || (!recurs_ && !executor_->began())) return;
  for (std::size_t r = 0; r < tokens.positions.size(); ++r) {
    std::int64_t& length = lengths_[tokens.sequences[r]];
    length = recurs_ ? 0 : std::min(length, std::int64_t{tokens.positions[r]});
  }
}

template <class Put>
Status Session::run_rows(std::span<const std::byte> x, const Tokens& tokens, const Put& put) {
  if (taps_) taps_->clear();
  LOOM_TRY(check_room(static_cast<std::int64_t>(tokens.positions.size()),
                      static_cast<std::int64_t>(tokens.head.size())));
  const bool again = continues(x, tokens);
  if (!again) {
    LOOM_TRY(check_positions(tokens));
    if (!recurs_) LOOM_TRY(set_rows(tokens, put));
  }
  if (const Status ran = recurs_ ? run_in_turn(tokens, put, again) : execute({{}, tokens.head});
      !ran.ok()) {
    if (ran.code() != Code::paused) forget(tokens);
    return ran;
  }
  lengths_.swap(next_);
  return {};
}

void Session::Turn::reserve(std::size_t rows) {
  sequences.reserve(rows), positions.reserve(rows), head.reserve(rows), from.reserve(rows),
      to.reserve(rows);
}
void Session::Turn::clear() {
  sequences.clear(), positions.clear(), head.clear(), from.clear(), to.clear();
}

// The n-th row of each sequence of a run.
void Session::take_turn(const Tokens& tokens, std::size_t n) {
  turn_.clear();
  for (std::size_t r = 0, k = 0; r < tokens.positions.size(); ++r) {
    while (k < tokens.head.size() && tokens.head[k] < r) ++k;
    if (turn_of_[r] != n) continue;
    if (head_ == kNone || (k < tokens.head.size() && tokens.head[k] == r)) {
      turn_.head.push_back(static_cast<std::uint32_t>(turn_.from.size()));
      turn_.to.push_back(head_ == kNone ? r : k);
    }
    turn_.from.push_back(r);
    turn_.sequences.push_back(tokens.sequences[r]);
    turn_.positions.push_back(tokens.positions[r]);
  }
  if (head_ != kNone && turn_.head.empty()) turn_.head.push_back(0);
}

// The first rows of all sequences, then the second ones, and so on. Outputs go where a single run
// would have left them.
template <class Put>
Status Session::run_in_turn(const Tokens& tokens, const Put& put, bool again) {
  const std::size_t rows = tokens.positions.size();
  std::fill(seen_.begin(), seen_.end(), 0);
  std::size_t turns = 0;
  for (std::size_t r = 0; r < rows; ++r)
    turns = std::max(turns, 1 + (turn_of_[r] = seen_[tokens.sequences[r]]++));
  for (std::size_t n = again ? slices_->turn : 0; n < turns; ++n, again = false) {
    take_turn(tokens, n);
    if (slices_) slices_->turn = n;
    if (!again)
      LOOM_TRY(set_rows(
          {turn_.sequences, turn_.positions, turn_.head}, [&](std::int64_t r, std::int64_t to) {
            put(static_cast<std::int64_t>(turn_.from[static_cast<std::size_t>(r)]), to);
          }));
    LOOM_TRY(execute({turn_.from, turn_.head, turn_.to.empty()}));
    const auto collect = [&]<class T>(std::vector<T>& into) {
      for (std::size_t i = 0; i < turn_.to.size(); ++i) {
        const std::span<const T> y = executor_->row<T>(output_, static_cast<std::int64_t>(i));
        std::copy(y.begin(), y.end(),
                  into.begin() + static_cast<std::ptrdiff_t>(turn_.to[i] * y.size()));
      }
    };
    if (wide_output_) collect(collected_f64_);
    else collect(collected_);
  }
  return {};
}

template <class T>
Status Session::run_places(std::span<const T> x, std::span<const std::uint32_t> sequences,
                           std::span<const std::uint32_t> positions) {
  if (sequences.size() != positions.size())
    return Status(Code::invalid_argument,
                  "session: expects a sequence and a position for each row, got " +
                      std::to_string(sequences.size()) + " and " +
                      std::to_string(positions.size()));
  const auto rows = static_cast<std::int64_t>(positions.size());
  LOOM_TRY(check_values(x.size(), rows));
  LOOM_TRY(check_room(rows, rows));
  LOOM_TRY(network_->input().check_ids(x).at("session"));
  const std::span<const std::uint32_t> head =
      std::span(all_rows_).first(head_ == kNone ? 0 : positions.size());
  return run_rows(std::as_bytes(x), {sequences, positions, head},
                  [&](std::int64_t r, std::int64_t to) { put_values(to, x.data() + r * width_); });
}

Result<std::span<const float>> Session::run(std::span<const float> x,
                                            std::span<const std::uint32_t> sequences,
                                            std::span<const std::uint32_t> positions) {
  if (observation_) return observed([&](Session& s) { return s.run(x, sequences, positions); });
  if (cpu_fallback_)
    return faster(positions.size(), [&](Session& s) { return s.run(x, sequences, positions); });
  LOOM_TRY(run_places(x, sequences, positions));
  return output(0);
}

Status Session::run(std::span<const double> x, std::span<const std::uint32_t> sequences,
                    std::span<const std::uint32_t> positions) {
  if (observation_) return observed([&](Session& s) { return s.run(x, sequences, positions); });
  if (!wide_input_)
    return Status(Code::invalid_argument, "session: the network takes f32, not doubles");
  return run_places(x, sequences, positions);
}

Result<std::span<const float>> Session::run_ids(std::span<const std::uint32_t> ids) {
  if (observation_) return observed([&](Session& s) { return s.run_ids(ids); });
  const Shape& in = network_->input();
  const auto steps = static_cast<std::size_t>(in.count());
  if (in.ids == 0 || in.dims.empty())
    return Status(Code::invalid_argument,
                  "session: this network takes " + in.to_string() + ", not rows of ids");
  if (ids.empty())
    return Status(Code::invalid_argument, "session: got 0 rows of ids: give at least one");
  if (ids.size() % steps != 0)
    return Status(Code::invalid_argument, "session: expects rows of " + std::to_string(steps) +
                                              " ids, got " + std::to_string(ids.size()) + " ids");
  if (cpu_fallback_) return faster(ids.size() / steps, [&](Session& s) { return s.run_ids(ids); });
  const auto rows = static_cast<std::int64_t>(ids.size() / steps);
  LOOM_TRY(check_room(rows, rows));
  if (continues(std::as_bytes(ids), {})) return run_set(rows);
  LOOM_TRY(executor_->set(rows_, static_cast<std::uint32_t>(rows)));
  for (std::size_t i = 0; i < ids.size(); ++i)
    executor_->row<std::uint32_t>(input_, static_cast<std::int64_t>(i))[0] = ids[i];
  return run_set(rows);
}

Status Session::check_values(std::size_t values, std::int64_t rows) const {
  if (width_ == 0)
    return Status(Code::invalid_argument, "session: this network takes ids, not values");
  if (rows < 1)
    return Status(Code::invalid_argument,
                  "session: got " + std::to_string(rows) + " rows of values: give at least one");
  if (static_cast<std::int64_t>(values) != rows * width_)
    return Status(Code::invalid_argument, "session: expects " + std::to_string(rows) + " rows of " +
                                              std::to_string(width_) + " values, got " +
                                              std::to_string(values) + " values");
  return {};
}

// Whether a run has room for so many rows, and for the outputs that are wanted of them.
Status Session::check_room(std::int64_t rows, std::int64_t outputs) const {
  const auto above = [](const std::string& given, std::string_view option, std::int64_t max) {
    return Status(Code::out_of_range,
                  "session: got " + given + ", and it was created for at most " +
                      std::to_string(max) + " per run: give fewer, or create it with a larger \"" +
                      std::string(option) + "\"");
  };
  if (rows > options_.max_rows)
    return above(std::to_string(rows) + " rows", "max_rows", options_.max_rows);
  if (head_ != kNone && outputs > options_.max_head_rows)
    return above(std::to_string(outputs) + " rows whose output is wanted", "max_head_rows",
                 options_.max_head_rows);
  return {};
}

template <class T>
void Session::put_values(std::int64_t row, const T* x) {
  if (wide_input_) std::copy_n(x, width_, executor_->row<double>(input_, row).begin());
  else if constexpr (sizeof(T) == 4)
    std::copy_n(x, width_, executor_->row<float>(input_, row).begin());
}

template <class T>
Result<std::span<const float>> Session::run_values(std::span<const T> x, std::int64_t rows) {
  LOOM_TRY(check_values(x.size(), rows));
  LOOM_TRY(check_room(rows, rows));
  LOOM_TRY(network_->input().check_ids(x).at("session"));
  if (continues(std::as_bytes(x), {})) return run_set(rows);
  LOOM_TRY(executor_->set(rows_, static_cast<std::uint32_t>(rows)));
  for (std::int64_t r = 0; r < rows; ++r) put_values(r, x.data() + r * width_);
  return run_set(rows);
}

// What was set, as far as the head of every row.
Result<std::span<const float>> Session::run_set(std::int64_t rows) {
  if (taps_) taps_->clear();
  if (head_ != kNone) {
    LOOM_TRY(executor_->set(head_, static_cast<std::uint32_t>(rows)));
    for (std::int64_t r = 0; r < rows; ++r)
      executor_->row<std::uint32_t>(head_rows_, r)[0] = static_cast<std::uint32_t>(r);
  }
  LOOM_TRY(execute({}));
  return output(0);
}

Status Session::check_ids(std::span<const std::uint32_t> ids, const Tokens& tokens) const {
  if (width_ != 0 || !network_->input().dims.empty())
    return Status(
        Code::invalid_argument,
        "session: this network takes " + network_->input().to_string() + ", not one id per row");
  if (ids.empty() || tokens.sequences.size() != ids.size() || tokens.positions.size() != ids.size())
    return Status(Code::invalid_argument,
                  "session: ids, sequences and positions must have the same length, at least 1");
  // The executor looks at its own rows; of a run in turns none is to go ahead where another cannot.
  for (std::size_t r = 0; recurs_ && r < ids.size(); ++r)
    if (ids[r] >= network_->input().ids)
      return Status(Code::out_of_range, "ids[" + std::to_string(r) + "] is " +
                                            std::to_string(ids[r]) + ", the limit is " +
                                            std::to_string(network_->input().ids));
  return {};
}

Status Session::run_tokens(std::span<const std::uint32_t> ids,
                           std::span<const std::uint32_t> sequences,
                           std::span<const std::uint32_t> positions,
                           std::span<const std::uint32_t> head) {
  if (observation_)
    return observed([&](Session& s) { return s.run_tokens(ids, sequences, positions, head); });
  if (cpu_fallback_)
    return faster(ids.size(),
                  [&](Session& s) { return s.run_tokens(ids, sequences, positions, head); });
  const Tokens tokens{sequences, positions, head};
  LOOM_TRY(check_ids(ids, tokens));
  return run_rows(std::as_bytes(ids), tokens, [&](std::int64_t r, std::int64_t to) {
    executor_->row<std::uint32_t>(input_, to)[0] = ids[static_cast<std::size_t>(r)];
  });
}

Status Session::run_ahead(std::uint32_t id, std::uint32_t sequence, std::uint32_t position,
                          const Draw& draw, std::span<std::uint32_t> picked) {
  if (options_.watch || (observation_ && observation_->observer))
    return Status(Code::unsupported,
                  "session: a session that observes is not resident: pick ids after run_tokens");
  if (observation_)
    return observed([&](Session& s) { return s.run_ahead(id, sequence, position, draw, picked); });
  if (cpu_fallback_)
    return faster(1, [&](Session& s) { return s.run_ahead(id, sequence, position, draw, picked); });
  const std::uint32_t row = 0;
  if (picked.empty() ||
      static_cast<std::int64_t>(position) + static_cast<std::int64_t>(picked.size()) >
          options_.max_positions)
    return Status(Code::out_of_range, "session: " + std::to_string(picked.size()) +
                                          " ids from position " + std::to_string(position) +
                                          " on: wants at least one, and at most " +
                                          std::to_string(options_.max_positions) + " positions");
  const Tokens tokens{{&sequence, 1}, {&position, 1}, {&row, 1}};
  LOOM_TRY(check_ids({&id, 1}, tokens));
  drop_slices();
  LOOM_TRY(check_positions(tokens));
  LOOM_TRY(set_rows(tokens, [&](std::int64_t, std::int64_t to) {
    executor_->row<std::uint32_t>(input_, to)[0] = id;
  }));
  if (const Status ran = executor_->run_ahead(draw, picked); !ran.ok()) {
    forget(tokens);
    return ran;
  }
  lengths_.swap(next_);
  if (sequence < lengths_.size())
    lengths_[sequence] = std::max(lengths_[sequence], static_cast<std::int64_t>(position) +
                                                          static_cast<std::int64_t>(picked.size()));
  return {};
}

template <class T>
std::span<const T> Session::answer(std::vector<T>& collected, std::int64_t i) {
  if (!recurs_) return executor_->row<T>(output_, i);
  const auto cols = executor_->program().buffers[static_cast<std::size_t>(output_)].cols;
  return std::span<const T>(collected).subspan(static_cast<std::size_t>(i * cols),
                                               static_cast<std::size_t>(cols));
}

std::span<const double> Session::output_f64(std::int64_t i) {
  Session& s = latest();
  if (!s.wide_output_) return {};
  return s.answer(s.collected_f64_, i);
}

std::span<const float> Session::output(std::int64_t i) {
  Session& s = latest();
  if (!s.wide_output_) return s.answer(s.collected_, i);
  const std::span<const double> y = s.answer(s.collected_f64_, i);
  const auto row = std::span(s.rounded_).subspan(static_cast<std::size_t>(i) * y.size(), y.size());
  std::transform(y.begin(), y.end(), row.begin(), [](double v) { return static_cast<float>(v); });
  return row;
}

}  // namespace loom
