// How a network learns, and the matrices that methods besides back-propagation have for it. They
// belong to the training: no network, file of one, or DNA knows them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "grid/emit/emitter.h"

namespace loom {

// mono_forward: arXiv 2501.09238; direct_feedback_alignment: arXiv 1609.01596;
// difference_target_propagation: arXiv 1412.7525, with feedback weights that do not learn, as in
// arXiv 2212.10352, or learn, as in arXiv 2201.13415; target_propagation: target_propagation.cpp.
enum class MethodKind : std::uint8_t {
  back_propagation,
  mono_forward,
  direct_feedback_alignment,
  difference_target_propagation,
  target_propagation,
};
inline constexpr std::string_view kMethodNames[] = {
    "back_propagation", "mono_forward", "direct_feedback_alignment",
    "difference_target_propagation", "target_propagation"};
inline std::string_view name(MethodKind kind) {
  return kMethodNames[static_cast<std::size_t>(kind)];
}
// Of a name above, or "tween", the seeds' for target_propagation.
Result<MethodKind> parse_method(std::string_view text);

// How target_propagation finds the target of a part from that of the part behind it.
enum class TargetMode : std::uint8_t { chain_rule, layer_wise };
inline constexpr std::string_view kTargetModeNames[] = {"chain_rule", "layer_wise"};
inline std::string_view name(TargetMode mode) {
  return kTargetModeNames[static_cast<std::size_t>(mode)];
}
Result<TargetMode> parse_target_mode(std::string_view text);

// Whether the feedback weights of difference_target_propagation learn.
enum class Feedback : std::uint8_t { fixed, learned };
inline constexpr std::string_view kFeedbackNames[] = {"fixed", "learned"};
inline std::string_view name(Feedback feedback) {
  return kFeedbackNames[static_cast<std::size_t>(feedback)];
}
Result<Feedback> parse_feedback(std::string_view text);

struct MethodSpec {
  MethodKind kind = MethodKind::back_propagation;
  // difference_target_propagation:
  double step = 0.1;  // the last hidden part's target is so far down the gradient of the loss
  Feedback feedback = Feedback::fixed;
  double feedback_noise = 0.1;      // learned: what a part's input is moved by, up or down
  std::int64_t feedback_draws = 1;  // of that noise for each row of a step
  double feedback_lr = 0.05;        // share of the way to what a step shows
  // target_propagation:
  TargetMode mode = TargetMode::chain_rule;
  double output_step = 1.0;           // as step, of the network's output
  double gradient_scale = 0.1;        // chain_rule: of what a part hands on to the part before it;
                                      // by ticks the default of a spec is 1
  bool difference_correction = true;  // layer_wise: a + pull(t') - pull(a') in place of pull(t')
  bool activation_slope = false;     // layer_wise: a layer learns by its gap times the slope of its
                                     // activation
  double gate = 0.2;                 // parts with a lower budget do not learn in that step
  std::int64_t alignment_every = 0;  // steps after which PartReport::alignment is measured
};

// Of a part in a step of target_propagation: its activations a and their targets t, over the whole
// batch.
struct PartReport {
  std::string path;      // ChainPart
  double budget = 0;     // (cos(a, t) + 1) / 2
  double gap = 0;        // RMS of t - a over that of a
  bool learned = true;   // the budget reached the gate
  double alignment = 0;  // cosine of what the part learns from with back-propagation's gradient
  std::int64_t alignment_step = 0;  // in which that was measured; 0: in none
};
// Parts from the output back whose gap is at least this belong to the reach of a step.
inline constexpr double kReachedGap = 1e-3;
std::int64_t reach_of(const std::vector<PartReport>& parts);
// Adds "parts" and "reach" to a report where there are parts.
void set_parts(Json& report, const std::vector<PartReport>& parts);

// Of the hidden parts of a chain (chain_parts), all but the last, with `outputs` the width of the
// network's output:
//   mono_forward: "projection" [outputs, width], which learns;
//   direct_feedback_alignment: "feedback" [width, outputs];
//   difference_target_propagation: "feedback" [width, width of the next part], of all hidden parts
//   but the last of them, which learns by a rule of its own where the method says so.
struct MethodMatrix {
  static constexpr std::string_view kFeedback = "feedback";
  std::string path, role;  // "method/0.0.1.0", "projection"
  std::unique_ptr<WeightStore> store;
};
class MethodMatrices {
 public:
  // Normals by (seed, path, role, index) alone. Deviations: of a projection 1/sqrt(width); of
  // feedback sqrt(2/width), that of relu layers in arXiv 1502.01852, where it multiplies an error,
  // and 1/sqrt(width of the next part) where it is behind a tanh.
  // Errors: chain_parts', and a network of fewer than two parts.
  static Result<std::shared_ptr<MethodMatrices>> create(Network& network, MethodKind kind,
                                                        std::uint64_t seed);

  // Null where there is none.
  WeightStore* find(std::string_view path, std::string_view role) const;
  const std::vector<MethodMatrix>& all() const { return all_; }
  // In the program, as one of the products that its part's type computes.
  static View weight(ProgramBuilder& emit, const MethodMatrix& matrix, ValueType type);

 private:
  std::vector<MethodMatrix> all_;
};

}  // namespace loom
