// loom bridge: weights arrive over HTTP and become networks.
#include "commands/bridge.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <random>

#include "support/client.h"
#include "support/console.h"
#ifdef LOOM_HAS_BRIDGE
#include "bridge/pages/service.h"
#endif

namespace loom::cli {
namespace {

struct Args {
  std::string models = "models", host = "127.0.0.1", token_file;
  std::vector<std::string> names;
  std::int64_t port = 9876;
  std::int64_t max_bytes = std::int64_t{16} << 30;
  bool legacy = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("--models", a.models, "folder of the networks that come and answer (models)")
      .type_name("DIR");
  c.add("--port", a.port, "port to listen on; 0: a free one, which is printed (9876)")
      .between(0, 65535);
  c.add("--host", a.host, "address to listen on (127.0.0.1: this machine alone)")
      .type_name("ADDRESS");
  c.add("--name", a.names, "a name that requests may call this machine by, beside localhost")
      .one_value()
      .type_name("NAME");
  c.add("--token-file", a.token_file,
        "file with the token that requests need (made anew in DIR/.bridge/token)")
      .type_name("FILE");
  c.add("--max-bytes", a.max_bytes, "bytes of one push; all that have not ended: twice (16 GiB)")
      .positive();
  c.flag("--legacy", a.legacy,
         "also the routes of planetbridging 0.7.3, with JSON and without a token, for this machine "
         "alone");
}

#ifdef LOOM_HAS_BRIDGE

std::string new_token() {
  std::random_device random;
  std::string token;
  constexpr char kDigits[] = "0123456789abcdef";
  for (int i = 0; i < 8; ++i)
    for (unsigned bits = random(), k = 0; k < 8; ++k, bits >>= 4) token += kDigits[bits & 15];
  return token;
}

// Of a file that only its owner reads.
std::string read_token(const std::string& path) {
  std::ifstream in(path);
  std::string token;
  if (!(in >> token) || token.size() < 16)
    throw problem(LOOM_INVALID_ARGUMENT,
                  "--token-file: " + path + ": holds no token of 16 characters or more", kUsage);
  return token;
}

void write_token(const std::string& path, const std::string& token) {
  ::unlink(path.c_str());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const std::string text = token + "\n";
  const bool written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int code = errno;
  if (file >= 0) ::close(file);
  if (!written) throw problem(LOOM_IO, path + ": " + std::strerror(code), kFailed);
}

bool is_loopback(const std::string& host) { return host.starts_with("127.") || host == "::1"; }

int run(const Args& a) {
  if (a.legacy && !is_loopback(a.host))
    throw problem(LOOM_INVALID_ARGUMENT,
                  "--legacy: its routes have no token, so --host must be 127.0.0.1 or ::1", kUsage);
  // A full disk is an error of a write, not the end of the server.
  std::signal(SIGXFSZ, SIG_IGN);
  bridge::Store store({.folder = a.models, .max_bytes = static_cast<std::uint64_t>(a.max_bytes)});
  const std::string token_file =
      a.token_file.empty() ? store.state_folder() + "/token" : a.token_file;
  const std::string token = a.token_file.empty() ? new_token() : read_token(a.token_file);
  if (a.token_file.empty()) write_token(token_file, token);
  http::Limits limits;
  limits.body_bytes = static_cast<std::uint64_t>(a.max_bytes);
  http::Server server(limits, bridge::make_router(store, {.token = token,
                                                          .hosts = a.names,
                                                          .legacy = a.legacy,
                                                          .max_bytes = limits.body_bytes}));
  int port = 0;
  if (const std::string wrong = server.listen(a.host, static_cast<int>(a.port), port);
      !wrong.empty())
    throw problem(LOOM_IO, "--host, --port: " + wrong, kFailed);
  const std::string host = a.host.find(':') == std::string::npos ? a.host : "[" + a.host + "]";
  const std::string url = "http://" + host + ":" + std::to_string(port);
  if (!print(url + "\n")) return kFailed;
  say("networks: " + escaped(a.models) + ", token: " + escaped(token_file));
  say("page: " + url + "/#token=" + token);
  if (a.legacy) say("--legacy: programs of this machine write networks without a token");
  const int signal = server.run();
  return signal == 0 ? kOk : 128 + signal;
}

#else

int run(const Args&) {
  throw problem(LOOM_UNSUPPORTED,
                "this loom was built without Boost (Debian: libboost-dev), which bridge needs",
                kFailed);
}

#endif

}  // namespace

void add_bridge(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "bridge", "weights arrive over HTTP and become networks", bind,
                    run);
}

}  // namespace loom::cli
