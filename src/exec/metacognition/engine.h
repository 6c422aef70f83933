// Evaluates the rules of a network's metacognitions after each pass of a session, and does what
// they ask for between passes; or does what a trace says, without evaluating any. Deterministic:
// the same passes have the same trace. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "exec/session.h"
#include "grid/metacognition/act.h"
#include "grid/network.h"
#include "layers/metacognition/rules.h"

namespace loom {

class Metacognition {
 public:
  static constexpr std::size_t kMaxTrace = 65536;

  // Evaluates the rules of a network as it is.
  explicit Metacognition(Network& network) { sync(network); }
  // Does what a trace says, after the passes that it names. The whole trace is refused where a line
  // does not fit the network as it is after the lines before: the acts are rehearsed on a copy
  // without weights. corrupt: no trace; invalid_argument: of another network.
  static Result<Metacognition> replay(Network& network, std::string_view trace);

  bool replays() const { return replays_; }
  // Rules that it evaluates.
  std::int64_t rules() const;
  // Passes so far, acts so far, and the oldest acts that its trace has no more.
  std::int64_t passes() const { return passes_; }
  std::int64_t acts() const { return acts_; }
  std::int64_t dropped() const { return acts_ - static_cast<std::int64_t>(trace_.size()); }

  // Whether the next pass is to be watched.
  bool due() const;
  // A pass has run; `watched`: its statistics, where it was due. True: there is something to do.
  bool passed(const std::vector<Session::Watched>& watched);
  // Does it: changes the network, calls prepare(), which makes what runs it anew, and adds to the
  // trace. On an error of one of them network, rules and trace are as before the pass.
  Status act(Network& network, const std::function<Status()>& prepare);
  // What passed() found is not done: the network has become another.
  void give_up();
  // After others changed the network: rules that are as they were keep their state.
  void sync(Network& network);

  // A line of JSON for each act:
  // {"pass": 12, "path": "0.0.0.1", "rule": 0, "statistic": "std", "value": 0.25, "act": "morph",
  //  "before": {"dtype": "f32"}, "after": {"dtype": "i4"}}
  std::string trace() const;

 private:
  struct RuleState {
    bool armed = true;
    std::int64_t streak = 0, cooldown = 0, fired = 0;
  };
  struct Layer {
    std::string path, text;  // of the rules, as JSON
    std::int64_t every = 1;
    std::uint64_t bytes = 0;
    std::vector<Rule> rules;
    std::vector<RuleState> states;
    // Of observed passes since an act: the last deviations, as many as rules ask for, and the first
    // gain.
    std::size_t depth = 0;
    std::vector<double> deviations;
    std::optional<double> first_gain;
  };
  struct Entry {
    std::int64_t pass = 0;
    std::string path;
    std::int64_t rule = 0;
    double value = 0;
    std::string statistic, act;
    Json before, after;
  };
  // An act that is due, and the rule's state before it fired.
  struct Pending {
    Entry entry;
    Rule rule;
    std::size_t layer = 0;
    RuleState before;
  };
  Metacognition() = default;
  static Result<Entry> parse(std::string_view line);
  static Status rehearse(Network& network, const Entry& entry);
  static Result<Rule> rule_of(Network& network, const Entry& entry);
  void observe(std::size_t index, const Session::Watched& watched);
  static std::optional<double> value(const Layer& layer, const Rule& rule,
                                     const Session::Watched& watched);
  Status perform(Network& network, Pending& pending, SavedWeights& saved);
  void add_to_trace(std::vector<Pending> done);

  std::vector<Layer> layers_;
  std::vector<Pending> pending_;
  std::vector<Entry> trace_;
  bool replays_ = false;
  std::vector<Entry> script_;  // of a replay: what is to come, the next one last
  std::int64_t passes_ = 0, acts_ = 0;
};

}  // namespace loom
