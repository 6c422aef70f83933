#include "models/network_file.h"

#include "command.h"

namespace loom::cli {

Network load_network(const std::string& path, std::uint64_t seed, const Option& seed_given) {
  const std::string begin = or_exit(kRefused, [&] {
    const Bytes file = Bytes::load(path);
    const auto bytes = file.span();
    return bytes.empty() || bytes[0] != std::byte{'{'} ? std::string() : file.text();
  });
  const bool topology = begin.find("\"loom-topology\"") != std::string::npos;
  if (!topology && seed_given.given())
    throw problem(LOOM_INVALID_ARGUMENT, "--seed is for a topology: " + path + " has weights",
                  kUsage);
  return or_exit(
      kRefused,
      [&] {
        if (!topology) return Network::load(path);
        Network n = Network::create(begin);
        n.initialize(seed);
        return n;
      },
      topology ? path : "");
}

}  // namespace loom::cli
