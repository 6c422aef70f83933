// Losses, and several of them over parts of an output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "grid/network.h"

namespace loom {

enum class Loss : std::uint8_t { mse, cross_entropy, mae, huber, bce, soft_cross_entropy };
inline constexpr std::string_view kLossNames[] = {"mse",   "cross_entropy", "mae",
                                                  "huber", "bce",           "soft_cross_entropy"};
inline std::string_view name(Loss loss) { return kLossNames[static_cast<std::size_t>(loss)]; }
Result<Loss> parse_loss(std::string_view text);
// The loss takes a class per row, not a value per column.
constexpr bool takes_classes(Loss loss) { return loss == Loss::cross_entropy; }
// The columns are logits of classes.
constexpr bool takes_logits(Loss loss) {
  return takes_classes(loss) || loss == Loss::soft_cross_entropy;
}
// Whether a loss of values takes this one; and why it does not, to stand behind its place.
bool takes_value(Loss loss, double value);
std::string value_refusal(Loss loss, double value);
// Why a class is none, to stand behind its place: " is -1: a class is a whole number ...".
std::string class_refusal(double value, std::int64_t classes, std::int64_t ignored);

// One of several losses: of the next `columns` of the output, of the output of its name, or of the
// columns of the head before. Targets are values, side by side in the order of the heads: as many
// as the columns, or, for cross_entropy, the number of a class for each of its places.
struct HeadSpec {
  std::string name;
  std::int64_t columns = 0;  // 0: those of the output of this name
  Loss loss = Loss::mse;
  double delta = 1.0, weight = 1.0;
  ClassAxis axis{};  // where its logits lie; from resolve_heads
  double temperature = 1.0;
  bool same_columns = false;
  std::int64_t column = 0;  // its first; from resolve_heads
  std::int64_t places() const { return takes_classes(loss) ? axis.places : 1; }
  std::int64_t targets() const { return takes_classes(loss) ? axis.places : columns; }
};
// What reports and messages call head number i: its name, or the number.
std::string name_of(const HeadSpec& head, std::size_t i);
// The columns and axes of heads. Errors: they are not all of the network's outputs in their order.
Status resolve_heads(const Network& network, std::vector<HeadSpec>& heads);

}  // namespace loom
