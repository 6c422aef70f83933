// Where the events of an observed run go. A sink takes each event as the object that
// session_statistics tells of, with t0_ns and t1_ns. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "support/json.h"

namespace loom::cli {

// Of a sink that may lose events: all that it took are one of the three.
struct Delivery {
  std::int64_t sent = 0, failed = 0, dropped = 0;
  std::string error;  // why the last that failed did
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Before the first event: the network, as network_blueprint describes it.
  virtual void begin(const Json& blueprint) { static_cast<void>(blueprint); }
  // What cannot be written ends the action as kFailed.
  virtual void add(const Json& event) = 0;
  // Returns when nothing waits to be delivered.
  virtual void drain() {}
  // The last call: what waits is delivered, or given up after two seconds.
  virtual void finish() {}
  // "udp 127.0.0.1:17481"; "" of files, in which all is or the action fails.
  virtual std::string receiver() const { return ""; }
  virtual Delivery delivery() const { return {}; }
};

}  // namespace loom::cli
