// The options of a command that name sinks, and the sinks that they name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arguments/options.h"
#include "sinks/sink.h"

namespace loom::cli {

struct SinkOptions {
  std::string events, tensorboard, udp, http;
  bool console = false;
  bool any() const {
    return console || !(events.empty() && tensorboard.empty() && udp.empty() && http.empty());
  }
};

// --events, --tensorboard, --console, --udp and --http.
void bind_sinks(CommandLine& command, SinkOptions& options);

class Sinks {
 public:
  static constexpr int kUdpPort = 17481;
  // Opens those that are asked for, and nothing else.
  explicit Sinks(const SinkOptions& options);
  void begin(const Json& blueprint);
  void add(const Json& event);
  // Returns when nothing waits to be delivered.
  void drain();
  // Ends all, and says on stderr what became of the events where some may be lost.
  void finish();
  // [{"receiver", "sent", "failed", "dropped", "error"}] of those.
  Json report() const;

 private:
  std::vector<std::unique_ptr<Sink>> list_;
};

}  // namespace loom::cli
