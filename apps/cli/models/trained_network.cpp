#include "models/trained_network.h"

#include "images/register_decoder.h"
#include "support/console.h"

namespace loom::cli {

Predictor open_trained(const std::string& network, const Json& machine) {
  register_image_decoder();
  return or_exit(kRefused, [&] { return Predictor::open(network, machine.dump()); });
}

Json read_data(Predictor& trained, const std::string& data) {
  Json read = parsed(or_exit(kRefused, [&] { return trained.read(data); }));
  for (const Json& line : member(read, "notes").as_array()) say(escaped(line.as_string()));
  return read;
}

void expect_raw(const Predictor& trained, const std::string& network) {
  if (!flag_in(parsed(trained.info()), "raw"))
    throw problem(LOOM_UNSUPPORTED,
                  network +
                      ": says nothing of raw data: it has no section 'inputs', which loom train "
                      "writes where it is given no SPEC",
                  kRefused);
}

}  // namespace loom::cli
