#include "exec/seq2seq.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "grid/metacognition/act.h"

namespace loom {
namespace {

Status bad(std::string what) {
  return Status(Code::invalid_argument, "seq2seq: " + std::move(what));
}

std::string counted(std::int64_t n, const char* what) { return std::to_string(n) + " " + what; }

bool runs_cells(const Network& network) {
  for (std::size_t i = 0; i < network.size(); ++i)
    if (network.executed(i) != i) return true;
  return false;
}

// An error where a table that is read by position, as learned positions are, has less of them.
Status check_places(const Program& program, std::int64_t positions) {
  const BufferId places = program.find(BufferKind::input, "", "positions");
  for (const Instruction& ins : program.code) {
    const std::vector<OperandInfo>& operands = info(ins.op).operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!ins.operands[i].valid() || ins.operands[i].buffer != places) continue;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (operands[k].name != operands[i].below || !ins.operands[k].valid()) continue;
        const BufferId table = ins.operands[k].buffer;
        if (program.max_rows(table) < positions)
          return Status(Code::out_of_range,
                        "seq2seq: \"max_positions\" are " + std::to_string(positions) + ", and " +
                            program.buffers[static_cast<std::size_t>(table)].path + " has " +
                            std::to_string(program.max_rows(table)) + " of them");
      }
    }
  }
  return {};
}

// Lanes of `bytes`, `used` of each, from where from[i] says.
void gather_lanes(std::byte* all, std::size_t bytes, std::size_t used,
                  std::span<const std::uint32_t> from) {
  std::vector<std::byte> before;
  const auto lanes = static_cast<std::size_t>(*std::max_element(from.begin(), from.end())) + 1;
  before.resize(lanes * used);
  for (std::size_t i = 0; i < lanes; ++i)
    std::memcpy(before.data() + i * used, all + i * bytes, used);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != i) std::memcpy(all + i * bytes, before.data() + from[i] * used, used);
}

}  // namespace

Result<Seq2Seq::Stage> Seq2Seq::stage(Program program, const WeightLookup& weights,
                                      ThreadPool& pool, const Seq2SeqOptions& options) {
  Stage s;
  if (program.code.empty()) return s;
  ExecutorOptions eo;
  eo.device = options.device;
  eo.isa = options.isa;
  eo.fuse = options.fuse;
  eo.sequences = options.lanes;
  eo.cancel = options.cancel;
  LOOM_ASSIGN(s.executor, Executor::create(std::move(program), weights, pool, eo));
  const Program& p = s.executor->program();
  const auto input = [&](const char* name) { return p.find(BufferKind::input, "", name); };
  s.rows = p.find_register("R");
  s.x = input("x"), s.positions = input("positions"), s.sequences = input("sequences");
  s.goes_on = input("goes_on");
  s.y = p.find(BufferKind::output, "", "y");
  s.wide = s.x != kNone && p.buffers[static_cast<std::size_t>(s.x)].type == ValueType::f64;
  return s;
}

Result<Seq2Seq> Seq2Seq::create(const Network& network, ThreadPool& pool,
                                const Seq2SeqOptions& options) {
  if (options.auto_device)
    return Status(Code::unsupported,
                  "seq2seq: \"auto\" measures run by run, and states stay where they are: name "
                  "the device");
  LOOM_TRY(refuse_rules(network, "an encoder-decoder").at("seq2seq"));
  if (options.adapter && runs_cells(network))
    return Status(Code::unsupported,
                  "seq2seq: an adapter beside a network whose cells run one another's layers");
  if (options.lanes < 1 || options.lanes > (1 << 16))
    return bad("\"lanes\" are 1 to 65536, got " + std::to_string(options.lanes));
  if (options.max_positions < 0 || options.max_positions > INT32_MAX)
    return bad("\"max_positions\" are 1 to 2^31-1, got " + std::to_string(options.max_positions));
  Seq2Seq s;
  auto by_step = network.by_step(options.target);
  if (!by_step.ok()) return by_step.status().at("seq2seq");
  s.network_ = std::make_unique<Network>(std::move(*by_step));
  Network& own = *s.network_;
  const std::vector<Shape>& parts = own.input().parts;
  while (parts[s.target_].name != options.target) s.target_column_ += parts[s.target_++].count();
  const std::int64_t steps = network.input().parts[s.target_].dims[0];
  SessionOptions so;
  so.max_rows = so.sequences = options.lanes;
  so.max_positions = options.max_positions > 0 ? options.max_positions : steps;
  so.adapter = options.adapter;
  LOOM_ASSIGN(const Program program, emit_program(own, so));
  s.find_sources(program, steps);
  LOOM_TRY(check_places(program, so.max_positions));
  const View changing{program.find(BufferKind::input, "", "x"),
                      static_cast<std::int32_t>(s.target_column_),
                      static_cast<std::int32_t>(s.target().count())};
  Stages stages = split(program, changing);
  const WeightLookup weights = weights_of(own, options.adapter);
  LOOM_ASSIGN(s.once_, stage(std::move(stages.once), weights, pool, options));
  LOOM_ASSIGN(s.again_, stage(std::move(stages.again), weights, pool, options));
  s.carried_ = std::move(stages.carried);
  const Program& p = s.again_.executor->program();
  for (std::size_t i = 0; i < p.buffers.size(); ++i)
    if (p.buffers[i].kind == BufferKind::state) s.states_.push_back(static_cast<BufferId>(i));
  s.lanes_ = options.lanes;
  s.max_positions_ = so.max_positions;
  s.rounded_.resize(static_cast<std::size_t>(own.output().width));
  return s;
}

// What encode() takes: inputs that something reads. Lengths of the target are none: every step that
// is taken counts, and what else reads them finds that all do.
void Seq2Seq::find_sources(const Program& program, std::int64_t steps) {
  const Shape& in = network_->input();
  const BufferId x = program.find(BufferKind::input, "", "x");
  blank_.assign(static_cast<std::size_t>(in.width), 0);
  std::int32_t column = 0;
  for (const Shape& part : in.parts) {
    const View own{x, column, static_cast<std::int32_t>(part.count())};
    column += own.cols;
    const bool lengths =
        part.name == target().name + "_lengths" && part.dims.empty() && part.ids == steps + 1;
    if (lengths) blank_[static_cast<std::size_t>(own.col)] = static_cast<double>(steps);
    if (&part == &target() || lengths || !is_read(program, own)) continue;
    sources_.push_back(part);
    source_columns_.push_back(own.col);
    source_width_ += own.cols;
  }
}

Status Seq2Seq::refresh() {
  rows_ = 0;
  if (once_.executor) LOOM_TRY(once_.executor->refresh());
  return again_.executor->refresh();
}

void Seq2Seq::put(Stage& stage, std::int64_t row, std::int64_t column,
                  std::span<const double> values) {
  if (!stage.executor || stage.x == kNone) return;
  if (stage.wide) {
    std::copy(values.begin(), values.end(),
              stage.executor->row<double>(stage.x, row).begin() + column);
  } else {
    std::transform(values.begin(), values.end(),
                   stage.executor->row<float>(stage.x, row).begin() + column,
                   [](double v) { return static_cast<float>(v); });
  }
}

Status Seq2Seq::encode(std::span<const double> x, std::int64_t rows) {
  if (rows < 1 || rows > lanes_)
    return Status(Code::out_of_range, "seq2seq: 1 to " +
                                          counted(lanes_, "rows run at once, the lanes, got ") +
                                          std::to_string(rows));
  if (static_cast<std::int64_t>(x.size()) != rows * source_width_)
    return bad("expects " + counted(rows, "rows of ") + counted(source_width_, "values, got ") +
               counted(static_cast<std::int64_t>(x.size()), "values"));
  const Shape& in = network_->input();
  std::vector<double> all;
  auto from = x.begin();
  for (std::int64_t r = 0; r < rows; ++r) {
    all.insert(all.end(), blank_.begin(), blank_.end());
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      const auto end = from + sources_[k].count();
      std::copy(from, end, all.end() - in.width + source_columns_[k]);
      from = end;
    }
  }
  LOOM_TRY(check_range(x));
  LOOM_TRY(in.check_ids(std::span<const double>(all)).at("seq2seq"));
  rows_ = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = std::span(all).subspan(static_cast<std::size_t>(r * in.width),
                                            static_cast<std::size_t>(in.width));
    put(once_, r, 0, row);
    put(again_, r, 0, row);
  }
  if (once_.executor) {
    LOOM_TRY(once_.executor->set(once_.rows, static_cast<std::uint32_t>(rows)));
    LOOM_TRY(once_.executor->run());
  }
  hand_on(rows);
  rows_ = rows;
  position_ = 0;
  return {};
}

// Of a network that computes in f32: an error where it would make infinity of a number.
Status Seq2Seq::check_range(std::span<const double> values) const {
  if (again_.wide) return {};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i]) && !std::isfinite(static_cast<float>(values[i])))
      return Status(Code::out_of_range, "seq2seq: value " + std::to_string(i) + " is " +
                                            format_double(values[i]) +
                                            ", beyond the f32 that the network computes in");
  return {};
}

// What the first stage has left becomes the input of the second.
void Seq2Seq::hand_on(std::int64_t rows) {
  for (const Stages::Carried& c : carried_) {
    const Buffer& b = once_.executor->program().buffers[static_cast<std::size_t>(c.from)];
    const std::int64_t all = b.rows.a == kNone ? b.rows.constant : b.rows.constant * rows;
    const std::size_t bytes = static_cast<std::size_t>(b.cols) *
                              (b.type == ValueType::f64 ? sizeof(double) : sizeof(float));
    for (std::int64_t r = 0; r < all; ++r)
      std::memcpy(again_.executor->row_bytes(c.to, r), once_.executor->row_bytes(c.from, r), bytes);
  }
}

Status Seq2Seq::step(std::span<const double> target) {
  if (rows_ == 0) return bad("nothing is encoded: a step comes after encode");
  const std::int64_t width = this->target().count();
  if (static_cast<std::int64_t>(target.size()) != rows_ * width)
    return bad("expects " + counted(rows_, "rows of ") +
               counted(width, "values of the target, got ") +
               counted(static_cast<std::int64_t>(target.size()), "values"));
  if (position_ >= max_positions_)
    return Status(Code::out_of_range,
                  "seq2seq: all " + counted(max_positions_, "positions are taken"));
  LOOM_TRY(check_range(target));
  Shape only;
  only.parts = {this->target()};
  LOOM_TRY(only.check_ids(target).at("seq2seq"));
  Executor& e = *again_.executor;
  LOOM_TRY(e.set(again_.rows, static_cast<std::uint32_t>(rows_)));
  for (std::int64_t r = 0; r < rows_; ++r) {
    put(again_, r, target_column_,
        target.subspan(static_cast<std::size_t>(r * width), static_cast<std::size_t>(width)));
    const auto set = [&](BufferId id, auto value) {
      if (id != kNone) e.row<decltype(value)>(id, r)[0] = value;
    };
    set(again_.positions, static_cast<std::uint32_t>(position_));
    set(again_.sequences, static_cast<std::uint32_t>(r));
    set(again_.goes_on, position_ > 0 ? 1.0f : 0.0f);
  }
  if (const Status ran = e.run(); !ran.ok()) {
    rows_ = 0;  // some states may have gone on
    return ran;
  }
  ++position_;
  return {};
}

std::span<const double> Seq2Seq::output_f64(std::int64_t i) {
  const Program& p = again_.executor->program();
  if (p.buffers[static_cast<std::size_t>(again_.y)].type != ValueType::f64) return {};
  return again_.executor->row<double>(again_.y, i);
}

std::span<const float> Seq2Seq::output(std::int64_t i) {
  const std::span<const double> wide = output_f64(i);
  if (wide.empty()) return again_.executor->row<float>(again_.y, i);
  std::transform(wide.begin(), wide.end(), rounded_.begin(),
                 [](double v) { return static_cast<float>(v); });
  return rounded_;
}

Status Seq2Seq::reorder(std::span<const std::uint32_t> from) {
  if (rows_ == 0) return bad("nothing is encoded: rows are reordered after encode");
  if (from.empty() || static_cast<std::int64_t>(from.size()) > lanes_)
    return Status(Code::out_of_range, "seq2seq: 1 to " +
                                          counted(lanes_, "rows run at once, the lanes, got ") +
                                          std::to_string(from.size()));
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] >= rows_)
      return Status(Code::out_of_range, "seq2seq: row " + std::to_string(i) + " from row " +
                                            std::to_string(from[i]) + ", there are " +
                                            std::to_string(rows_));
  Executor& e = *again_.executor;
  const Program& p = e.program();
  const std::int64_t rows = std::exchange(rows_, 0);  // until all have moved
  const auto rows_from = [&](BufferId id) {
    const Buffer& b = p.buffers[static_cast<std::size_t>(id)];
    if (b.rows.a == kNone) return;  // one for all rows
    const auto bytes = static_cast<std::size_t>(b.cols) *
                       (b.type == ValueType::f64 ? sizeof(double) : sizeof(float));
    const auto lane = static_cast<std::size_t>(b.rows.constant) * bytes;
    std::vector<std::byte> all(lane * std::max(static_cast<std::size_t>(rows), from.size()));
    for (std::int64_t r = 0; r < rows * b.rows.constant; ++r)
      std::memcpy(all.data() + static_cast<std::size_t>(r) * bytes, e.row_bytes(id, r), bytes);
    gather_lanes(all.data(), lane, lane, from);
    for (std::size_t r = 0; r < from.size() * static_cast<std::size_t>(b.rows.constant); ++r)
      std::memcpy(e.row_bytes(id, static_cast<std::int64_t>(r)), all.data() + r * bytes, bytes);
  };
  for (const Stages::Carried& c : carried_) rows_from(c.to);
  if (again_.x != kNone) rows_from(again_.x);
  for (const BufferId id : states_) {
    const std::span<std::byte> state = e.state(id);
    const std::size_t lane = state.size() / static_cast<std::size_t>(lanes_);
    // Of positions, the pages that have some.
    const bool pages = p.buffers[static_cast<std::size_t>(id)].role == "kv";
    const std::int64_t of = pages ? e.pages_per_sequence() : 1,
                       used = pages ? (position_ + 63) / 64 : 1;
    gather_lanes(state.data(), lane,
                 lane / static_cast<std::size_t>(of) * static_cast<std::size_t>(used), from);
  }
  rows_ = static_cast<std::int64_t>(from.size());
  return {};
}

}  // namespace loom
