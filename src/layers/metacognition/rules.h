// Rules of a metacognition: data that say what becomes of the layer that it wraps, by a statistic
// of the layer's output. The engine in exec/metacognition evaluates them, and
// grid/metacognition/act.h does what they ask for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/config.h"
#include "numeric/weight_format.h"

namespace loom {

enum class CellStatistic : std::uint8_t {
  mean,
  std,
  min,
  max,
  active_share,
  nan_count,
  inf_count,
  growth,      // std over the std of `over` observed passes before
  gain,        // root mean square of the output over that of the input
  gain_drift,  // |gain / the first gain - 1|
  weight_bytes,
};
inline constexpr std::array<std::string_view, 11> kStatisticNames = {
    "mean",      "std",    "min",  "max",        "active_share", "nan_count",
    "inf_count", "growth", "gain", "gain_drift", "weight_bytes"};
inline std::string_view name(CellStatistic s) {
  return kStatisticNames[static_cast<std::size_t>(s)];
}

enum class ActKind : std::uint8_t {
  morph,
  gate,
  reset,
  activation,
  retype,
  append,
  freeze,
  unfreeze,
  disable,
  enable,
};
inline constexpr std::array<std::string_view, 10> kActNames = {
    "morph",  "gate",   "reset",    "activation", "retype",
    "append", "freeze", "unfreeze", "disable",    "enable"};
inline std::string_view name(ActKind a) { return kActNames[static_cast<std::size_t>(a)]; }

// A rule as JSON has it.
struct RuleConfig {
  std::string when, act, dtype, activation, to = "auto";
  std::optional<double> above, below, release, factor;
  std::int64_t passes = 1, cooldown = 0, limit = 0, over = 3, seed = 0;
  JsonPart layer{"layer"};
  template <class V>
  void fields(V& v) {
    v.about("A rule of a metacognition: what is done when.");
    v("when", when,
      {.doc =
           "the statistic of the output. `mean`, `std`, `min` and `max` are of its finite values. "
           "`active_share`: values with an absolute value above 1e-6. `growth`: `std` over the "
           "`std` of `over` observed passes before. `gain`: the root mean square of the output "
           "over that of the input. `gain_drift`: how far the gain is from the first observed "
           "one, as a share. `weight_bytes`: of the wrapped layer",
       .one_of = "mean, std, min, max, active_share, nan_count, inf_count, growth, gain, "
                 "gain_drift, weight_bytes",
       .required = true});
    v("above", above, {.doc = "the condition: the statistic is above this"});
    v("below", below, {.doc = "the condition: the statistic is below this"});
    v("release", release,
      {.doc = "hysteresis: a rule that fired is armed again when the statistic is no longer "
              "beyond this; absent: the threshold"});
    v("for", passes,
      {.doc = "observed passes in a row in which the condition must hold", .min = 1, .max = 1e9});
    v("cooldown", cooldown,
      {.doc = "observed passes after an act in which the rule does not fire",
       .min = 0,
       .max = 1e9});
    v("limit", limit, {.doc = "times that the rule fires; 0: any number", .min = 0, .max = 1e9});
    v("over", over,
      {.doc = "of `growth`: observed passes between the two values", .min = 1, .max = 1024});
    v("do", act,
      {.doc = "the act. `morph`: to `dtype`. `gate`: the output times `factor`. `reset`: of the "
              "weights. `activation`: another one. `retype`: another `layer` in place of the "
              "wrapped one. `append`: a `layer` behind it. `freeze`: trainers leave the weights as "
              "they are. `disable`: the layer passes its input on",
       .one_of = "morph, gate, reset, activation, retype, append, freeze, unfreeze, disable, "
                 "enable",
       .required = true});
    v("dtype", dtype, {.doc = "of `morph`: a weight format, as `i4`"});
    v("factor", factor, {.doc = "of `gate`; 1 is open", .min = 0, .max = 1});
    v("to", to,
      {.doc = "of `reset`: `identity` (a square dense layer: the identity, bias 0), `initial` "
              "(the initial values of `seed`), or `auto`: `identity` where the layer has one, "
              "else `initial`",
       .one_of = "auto, identity, initial"});
    v("seed", seed,
      {.doc = "of the initial weights that `reset`, `retype` and `append` draw",
       .min = 0,
       .max = 0x1p53});
    v("activation", activation, {.doc = "of `activation`: its name"});
    v("layer", layer, {.doc = "of `retype` and `append`: an object like a cell"});
  }
};

struct Rule {
  CellStatistic when = CellStatistic::mean;
  bool above = true;
  double threshold = 0, release = 0;
  std::int64_t passes = 1, cooldown = 0, limit = 0, over = 3;
  ActKind act = ActKind::gate;
  WeightFormat format;     // morph
  double factor = 1;       // gate
  std::string activation;  // activation
  std::string to;          // reset: "auto", "identity", "initial"
  std::uint64_t seed = 0;
  Json layer;  // retype, append
};

struct MetacognitionConfig : LayerConfig {
  std::int64_t every = 1;
  double gate = 1;
  bool frozen = false;
  JsonPart rules_part{"rules"};
  template <class V>
  void fields(V& v) {
    v.about(
        "Wraps one layer (`layers` has one; those that acts appended stand behind it) and computes "
        "the same. A session watches the layer's output and changes the layer by `rules`, between "
        "passes; every act is in the session's trace.");
    v("rules", rules_part,
      {.doc = "what is done when, in the order in which rules are tried; `default`: three rules "
              "for gain, deviation and activity"});
    v("every", every,
      {.doc = "passes 0, `every`, 2 x `every`, ... of a session are observed", .min = 1});
    v("gate", gate, {.doc = "the output is multiplied by this", .min = 0, .max = 1});
    v("frozen", frozen, {.doc = "trainers leave the weights of the layers as they are"});
  }

  Json json;  // of the rules, as given; null: there are none
  std::vector<Rule> rules;
};

// From a list, or "default". Errors name the rule.
Result<std::vector<Rule>> parse_rules(const Json& json);

}  // namespace loom
