// Sockets of POSIX for sinks, the one place of the program that opens any. On Windows both kinds
// are refused by name.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace loom::cli {

// "HOST", "HOST:PORT", "[IPV6]:PORT".
struct HostPort {
  std::string host;
  int port = 0;
};
// A problem of the text in `problem`, "" where there is none.
HostPort parse_host_port(std::string_view text, int default_port, std::string& problem);

// Where packets or connections go. A host that has no address ends the action as kFailed; `option`
// begins the message.
class Peer {
 public:
  Peer(const char* option, const HostPort& to, bool datagrams);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // A datagram; "" or why it was not sent.
  std::string send(std::string_view bytes) const;
  // Sends a request over a new connection and returns the beginning of the answer, up to the end of
  // its headers, in `answer`; all that within the timeout. "" or why not.
  std::string exchange(std::string_view request, std::chrono::milliseconds timeout,
                       std::string& answer) const;

 private:
  struct Address;
  std::unique_ptr<Address> address_;
  int socket_ = -1;  // of datagrams
};

}  // namespace loom::cli
