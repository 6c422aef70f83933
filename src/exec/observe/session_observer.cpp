// Sessions that are observed: the second program, and what goes from one to the other.
#include <algorithm>

#include "exec/observe/tap_plan.h"
#include "exec/session.h"

namespace loom {

Status Session::observe(Observer* observer, const ObserveOptions& options) {
  if (!observer) {
    // The last run's outputs stay until the next one.
    if (observation_) observation_->observer = nullptr;
    return {};
  }
  LOOM_TRY(check_observe(options));
  if (options.weights)
    return Status(Code::invalid_argument,
                  "observe: weights have gradients in a training, not in a session");
  std::vector<ObservedCell> cells = observed_cells(*network_, options.nested);
  LOOM_TRY(observer->begin(cells));
  // The second program is another one with layers inside cells.
  if (observation_ && observation_->session->joined_.size() != cells.size()) {
    if (observation_->last) observation_->session->hand_states(*this);
    observation_.reset();
  }
  if (!observation_) {
    SessionOptions tapped = options_;
    if (tapped.auto_device && (cpu_fallback_ || network_->on_cpu_alone())) tapped.device = nullptr;
    tapped.auto_device = false;
    LOOM_ASSIGN(Session session, make(*network_, *pool_, tapped, std::move(cells)));
    observation_ = std::make_unique<Observation>();
    observation_->session = std::make_unique<Session>(std::move(session));
  }
  observation_->observer = observer;
  observation_->options = options;
  observation_->passes = options.passed;
  observation_->observed = options.observed;
  return {};
}

Session& Session::begin_pass(std::unique_ptr<Observation>& o) {
  o = std::move(observation_);
  const ObserveOptions& want = o->options;
  const bool due =
      o->observer && o->passes % want.every == 0 && (want.passes == 0 || o->observed < want.passes);
  Session& next = due ? *o->session : *this;
  if (due != o->last) (due ? *this : *o->session).hand_states(next);
  o->last = due;
  return next;
}

Status Session::end_pass(std::unique_ptr<Observation> o, bool ran) {
  if (!o->observer) return {};
  observation_ = std::move(o);
  if (!ran) return {};
  ++observation_->passes;
  return observation_->last ? report_pass() : Status();
}

Status Session::report_pass() {
  Observation& o = *observation_;
  std::vector<CellStatistics>& joined = o.session->joined_;
  o.session->taps_->join(o.session->taps_of_, joined);
  ++o.observed;
  CellEvent event;
  event.pass = o.passes - 1;
  for (event.cell = 0; event.cell < joined.size(); ++event.cell) {
    event.statistics = joined[event.cell];
    LOOM_TRY(o.observer->on_forward(event));
  }
  return {};
}

Status Session::execute(const Taps::Places& places) {
  if (taps_) taps_->begin(*executor_, places);
  LOOM_TRY(slices_ ? run_slice() : executor_->run());
  if (taps_) taps_->read(*executor_, *pool_, places);
  return {};
}

std::vector<Session::Watched> Session::watched() {
  Session& s = latest();
  std::vector<Watched> list;
  for (std::size_t i = 0; i < s.watched_paths_.size(); ++i) {
    const std::string& path = s.watched_paths_[i];
    auto at = std::ranges::find(list, path, &Watched::path);
    if (at == list.end()) at = list.insert(at, {path, {}, {}});
    at->in.add(s.taps_->of(s.taps_of_.size() + 2 * i));
    at->out.add(s.taps_->of(s.taps_of_.size() + 2 * i + 1));
  }
  return list;
}

void Session::watch(bool on) {
  // Those of the second program are for its observer, too.
  if (taps_) taps_->enable(on || !joined_.empty());
  if (cpu_fallback_) cpu_fallback_->watch(on);
}

Session::States Session::states() {
  Session& s = latest();
  States states;
  const Program& program = s.executor_->program();
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    if (b.kind != BufferKind::state) continue;
    const std::span<std::byte> bytes = s.executor_->state(static_cast<BufferId>(i));
    states.list.push_back({b.path, b.role, b.type, b.cols, {bytes.begin(), bytes.end()}});
  }
  states.lengths = s.lengths_;
  return states;
}

bool Session::take(const States& states) {
  const Program& program = executor_->program();
  std::vector<std::pair<std::span<std::byte>, const std::vector<std::byte>*>> copies;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    if (b.kind != BufferKind::state) continue;
    const std::span<std::byte> to = executor_->state(static_cast<BufferId>(i));
    const auto from = std::ranges::find_if(states.list, [&](const States::State& s) {
      return s.path == b.path && s.role == b.role && s.type == b.type && s.cols == b.cols &&
             s.bytes.size() == to.size();
    });
    if (from == states.list.end()) return false;
    copies.emplace_back(to, &from->bytes);
  }
  if (lengths_.size() != states.lengths.size()) return lengths_.empty();
  for (const auto& [to, from] : copies) std::ranges::copy(*from, to.begin());
  lengths_ = states.lengths;
  return true;
}

void Session::hand_states(Session& to) {
  const Program &mine = executor_->program(), &others = to.executor_->program();
  for (std::size_t i = 0; i < mine.buffers.size(); ++i) {
    const Buffer& b = mine.buffers[i];
    if (b.kind != BufferKind::state) continue;
    const std::span<std::byte> from = executor_->state(static_cast<BufferId>(i));
    std::ranges::copy(from, to.executor_->state(others.find(b.kind, b.path, b.role)).begin());
  }
  to.lengths_ = lengths_;
}

}  // namespace loom
