#include "llm/adapter.h"

#include "llm/config/architecture.h"

namespace loom {
namespace {

// The name of a module: that of its weight without ".weight".
std::string module_of(std::string_view tensor) {
  return std::string(tensor.substr(0, tensor.rfind('.')));
}

}  // namespace

std::vector<AdapterPlace> adapter_places(Model& model) {
  std::vector<AdapterPlace> places = adapter_places(model.network);
  if (!model.config.architecture) return places;
  for (AdapterPlace& p : places) {
    for (std::size_t cell = 0; cell < model.network.size(); ++cell) {
      const std::string path = model.network.path(cell);
      if (p.path != path && !p.path.starts_with(path + "/")) continue;
      // The cells of decoder_topology: embedding, blocks, norm, output.
      const auto block = static_cast<std::int64_t>(cell) - 1;
      const bool in_block = block >= 0 && block < model.config.layers;
      const std::string place = in_block ? p.path.substr(path.size()) : "output";
      for (const TensorName& name : in_block ? block_tensors() : model_tensors())
        if (name.place == place && name.role == p.role)
          p.module =
              (in_block ? "model.layers." + std::to_string(block) + "." : "") + module_of(name.hf);
    }
  }
  return places;
}

Result<Adapter> load_adapter(const std::string& folder, Model& model) {
  LOOM_ASSIGN(Adapter adapter, load_adapter(folder, adapter_places(model)));
  LOOM_TRY(adapter.fit(model.network).at(folder));
  return adapter;
}

}  // namespace loom
