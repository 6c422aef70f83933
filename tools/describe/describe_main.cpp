// describe: what every layer type, cell and topology takes, as JSON on stdout. tools/generate.py
// makes of it the schemas, the reference and the types of the bindings. Built from the layers'
// sources with LOOM_DESCRIBE, which keeps the documentation that the library leaves out.
#include <cstdio>

#include "grid/topology_config.h"
#include "layers/cell.h"
#include "layers/layer.h"

namespace loom {
namespace {

template <class Config>
Json described() {
  FieldDescriber describer;
  Config().fields(describer);
  return describer.take();
}

Json layers() {
  Json list = Json::array();
  for (const LayerType* type : layer_types()) {
    FieldDescriber describer;
    type->describe(describer);
    Json one = Json::object();
    one.set("type", type->name());
    one.set("container", type->is_container());
    const Json fields = describer.take();
    for (const auto& [key, value] : fields.as_object()) one.set(key, value);
    list.push(std::move(one));
  }
  return list;
}

}  // namespace
}  // namespace loom

int main() {
  using namespace loom;
  Json all = Json::object();
  all.set("topology", described<TopologyConfig>());
  all.set("input", described<InputConfig>());
  all.set("cell", described<CellConfig>());
  all.set("layers", layers());
  std::printf("%s\n", all.dump(1).c_str());
  return 0;
}
