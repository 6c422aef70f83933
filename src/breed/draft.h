// A topology that is being changed: the cells of a network as JSON, in which each layer remembers
// where it came from. Internal to the module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "breed/mutate.h"
#include "breed/weights.h"

namespace loom::breed {

struct Draft {
  explicit Draft(Network& parent);
  Network& parent;
  std::vector<Json> cells;  // of every cell of the grid
  std::int64_t cell = -1;   // that an edit changed; its output may be mended
  Mutation note;

  // A typed layer of the draft: a cell's, or one nested in it.
  struct Layer {
    std::size_t cell = 0;
    std::string path;
    Json* json = nullptr;
    Json* list = nullptr;   // the "layers" that it is in; null: it is the cell's own
    std::size_t place = 0;  // in that list
    const Node* node = nullptr;
    std::string type() const { return json->find("type")->as_string(); }
  };
  std::vector<Layer> layers();

  // The topology without what only a draft has; lists the origins of its layers.
  Json topology(std::vector<Origin>& origins) const;
};

// Keys of a layer, without those that stay with its cell in the grid; and back.
Json take_layer(Json& cell);
void put_layer(Json& cell, Json layer);
void erase(Json& object, std::string_view key);
// {"type": "sequential", "layers": [...]}.
Json sequential(Json::Array layers);
// A layer as JSON text.
Json parsed_layer(const std::string& text);

// Changes a draft; false: no place, or nothing that would change.
using Edit = bool (*)(Draft& draft, const MutationRates& rates, evolve::Draws& draws);
struct EditRow {
  const char* kind;
  double MutationRates::* rate;
  Edit edit;
};
// In the order in which they are drawn.
const std::vector<EditRow>& edits();

// A layer that may stand in place of one which takes `in`, at a place that had `width` values; no
// type: none was drawn. `added`: it stands beside others, and at first changes little.
std::optional<Json> drawn_layer(const Node& place, std::int64_t width, bool added,
                                const MutationRates& rates, evolve::Draws& draws);
// Types that drawn_layer knows.
bool is_drawn_type(std::string_view type);
std::string activation_other_than(const std::string& now, evolve::Draws& draws);

}  // namespace loom::breed
