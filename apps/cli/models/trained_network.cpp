#include "models/trained_network.h"

#include <algorithm>

#include "base/escape.h"
#include "base/files/source.h"
#include "console.h"
#include "decode_image.h"

namespace loom::cli {

Result<TrainedNetwork> open_trained(const std::string& path) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  LOOM_ASSIGN(Entity file, Entity::open(std::move(source)));
  LOOM_ASSIGN(Network network, load_network(file));
  if (!file.find_section("inputs"))
    return TrainedNetwork{std::move(file), std::move(network), {}, {}, false};
  LOOM_ASSIGN(Json inputs, file.json("inputs"));
  if (!inputs.is_object() || network.input().ids > 0)
    return Status(Code::corrupt, path + ": its section 'inputs' is none");
  const Json* count = inputs.find("classes");
  const bool classes =
      inputs.find("labels") || (count && count->is_integer() && count->as_integer() > 0);
  return TrainedNetwork{std::move(file), std::move(network), std::move(inputs), {}, classes};
}

Status read_data(TrainedNetwork& trained, const std::string& data) {
  const auto& input = trained.network.input();
  if (trained.inputs.is_null() && input.ids > 0)
    return Status(Code::unsupported, "the network takes ids, not rows of values");
  if (trained.inputs.is_null()) {
    LOOM_ASSIGN(trained.data, read_plain_rows(input.width, data));
    return {};
  }
  LOOM_ASSIGN(trained.data,
              read_rows(trained.inputs, trained.network.input().width, data, image_decoder()));
  for (const std::string& line : trained.data.decisions) say(escaped(line));
  return {};
}

Result<TrainedNetwork> open_trained(const std::string& path, const std::string& data) {
  LOOM_ASSIGN(TrainedNetwork trained, open_trained(path));
  if (trained.inputs.is_null())
    return Status(Code::unsupported, path +
                                         ": says nothing of raw data: it has no section 'inputs', "
                                         "which loom train writes where it is given no SPEC");
  LOOM_TRY(read_data(trained, data));
  return trained;
}

}  // namespace loom::cli
