// An HTTP/1.1 server for programs of Loom: what a request is, what answers it, and the limits that
// hold before any of it is looked at. Boost.Beast does the work behind server.cpp, which is the one
// file that includes it. There is no TLS: it listens on loopback unless told otherwise, and a
// proxy brings TLS where another machine is to reach it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::http {

struct Limits {
  std::uint32_t header_bytes = 16 << 10;
  std::uint64_t body_bytes = std::uint64_t{64} << 20;  // of any request; routes set lower ones
  int connections = 64;
  double header_seconds = 15;  // from the first wait for a request to the end of its header
  double idle_seconds = 30;    // without a byte of a body or of an answer
  double total_seconds = 600;  // of a request with its body, and of its answer
  // A body has idle_seconds and the time that its length takes at this rate, and no more.
  std::uint64_t min_bytes_per_second = 16 << 10;
  int threads = 2, workers = 2;
};

// The head of a request. Names of headers are in lower case.
struct Head {
  std::string method, path, query;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::uint64_t> length;  // of the body, where the head says it

  std::string_view header(std::string_view name) const;               // "" where absent
  std::optional<std::string> parameter(std::string_view name) const;  // of the query, decoded
};

// Answered by `body`, or by a file, or by a stream of pieces.
struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string file = {};  // sent in pieces, as long as it is when its turn comes
  // The next piece, until it returns false; a worker calls it. For example server-sent events.
  std::function<bool(std::string& piece)> stream = {};
};

// Thrown by whoever answers a request: this is the answer.
struct Refusal {
  Response response;
};

// Takes the body of one request, then answers it. Destroyed without finish() where the connection
// breaks. What it throws answers the request: a Refusal as it says, all else as status 500.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void take(std::string_view piece) = 0;  // a thread of the network: brief
  virtual Response finish() = 0;                  // a worker: may take long
};

// Of each request: who answers. Any thread, several at once.
using Router = std::function<std::unique_ptr<Exchange>(const Head& head)>;

// An exchange that has the whole body, which must be at most `max_bytes` long, before it answers.
std::unique_ptr<Exchange> buffered(const Head& head, std::uint64_t max_bytes,
                                   std::function<Response(std::string body)> answer);

class Server {
 public:
  Server(const Limits& limits, Router router);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds an address in numbers and a port (0: any); returns the port. "" or the problem.
  std::string listen(const std::string& address, int port, int& bound);
  // Serves until stop(), SIGINT or SIGTERM; returns the number of the signal, or 0. Requests whose
  // worker has begun are finished first.
  int run();
  void stop();  // any thread

  struct State;

 private:
  std::shared_ptr<State> state_;
};

// Equal, in a time that does not depend on where they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace loom::http
