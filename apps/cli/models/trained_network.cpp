#include "models/trained_network.h"

#include "base/files/source.h"
#include "console.h"
#include "decode_picture.h"

namespace loom::cli {

Result<TrainedNetwork> open_trained(const std::string& path, const std::string& data) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  LOOM_ASSIGN(Entity file, Entity::open(std::move(source)));
  LOOM_ASSIGN(Network network, load_network(file));
  if (!file.find_section("inputs")) return Status(Code::unsupported, path + ": says nothing of raw data: it has no section 'inputs', which loom train writes where it is given no SPEC");
  LOOM_ASSIGN(Json inputs, file.json("inputs"));
  if (!inputs.is_object() || network.input().ids > 0) return Status(Code::corrupt, path + ": its section 'inputs' is none");
  LOOM_ASSIGN(RawRows rows, read_rows(inputs, network.input().width, data, picture_decoder()));
  for (const std::string& line : rows.said) say(line);
  const Json* count = inputs.find("classes");
  const bool classes = inputs.find("labels") || (count && count->is_integer() && count->as_integer() > 0);
  return TrainedNetwork{std::move(file), std::move(network), std::move(inputs), std::move(rows), classes};
}

}  // namespace loom::cli
