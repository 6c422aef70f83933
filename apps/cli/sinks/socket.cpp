#include "sinks/socket.h"

#include <charconv>

#include "support/client.h"

#ifndef _WIN32
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#endif

namespace loom::cli {

HostPort parse_host_port(std::string_view text, int default_port, std::string& problem) {
  HostPort to{.host = "", .port = default_port};
  std::string_view host = text, port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    host = text.substr(1, end == std::string_view::npos ? end : end - 1);
    port = end == std::string_view::npos ? "?" : text.substr(end + 1);
    if (port.starts_with(':')) port.remove_prefix(1);
    else if (!port.empty()) port = "?";
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) port = "?";
  }
  to.host = host;
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), to.port);
    if (error != std::errc() || end != port.data() + port.size() || to.port < 1 || to.port > 65535)
      problem = "expects HOST[:PORT] with a port of 1 to 65535, got '" + std::string(text) + "'";
  }
  if (host.empty()) problem = "expects HOST[:PORT], got '" + std::string(text) + "'";
  return to;
}

#ifdef _WIN32

struct Peer::Address {};
Peer::Peer(const char* option, const HostPort& to, bool datagrams) {
  static_cast<void>(to), static_cast<void>(datagrams);
  throw problem(LOOM_UNSUPPORTED,
                std::string(option) +
                    ": sends on Linux and macOS alone; the sinks of the Python "
                    "package send on Windows, too",
                kFailed);
}
Peer::~Peer() = default;
std::string Peer::send(std::string_view) const { return "unsupported"; }
std::string Peer::exchange(std::string_view, std::chrono::milliseconds, std::string&) const {
  return "unsupported";
}

#else

struct Peer::Address {
  int family = 0, kind = 0, protocol = 0;
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

namespace {

std::string reason() { return std::strerror(errno); }

#ifdef MSG_NOSIGNAL
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;  // prepare_streams() lets SIGPIPE pass
#endif

struct Descriptor {
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

int open_socket(int family, int kind, int protocol) {
  const int number = socket(family, kind, protocol);
  if (number < 0) return number;
  fcntl(number, F_SETFD, FD_CLOEXEC);
  fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK);
  return number;
}

// Until the socket is ready; "" or why it is not.
std::string wait(int number, short events, std::chrono::steady_clock::time_point until) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return "no answer in time";
    pollfd p{.fd = number, .events = events, .revents = 0};
    const int ready = poll(&p, 1, static_cast<int>(left.count()));
    if (ready > 0) return "";
    if (ready < 0 && errno != EINTR) return reason();
  }
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Peer::Peer(const char* option, const HostPort& to, bool datagrams)
    : address_(std::make_unique<Address>()) {
  addrinfo hints{};
  hints.ai_socktype = datagrams ? SOCK_DGRAM : SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
  if (error != 0)
    throw problem(LOOM_IO, std::string(option) + ": " + to.host + ": " + gai_strerror(error),
                  kFailed);
  address_->family = found->ai_family;
  address_->kind = found->ai_socktype;
  address_->protocol = found->ai_protocol;
  address_->size = found->ai_addrlen;
  std::memcpy(&address_->storage, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  if (!datagrams) return;
  socket_ = open_socket(address_->family, address_->kind, address_->protocol);
  if (socket_ < 0) throw problem(LOOM_IO, std::string(option) + ": " + reason(), kFailed);
}

Peer::~Peer() {
  if (socket_ >= 0) close(socket_);
}

std::string Peer::send(std::string_view bytes) const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (sendto(socket_, bytes.data(), bytes.size(), kNoSignal, address_->get(), address_->size) <
         0) {
    if (!would_block()) return reason();
    if (std::string late = wait(socket_, POLLOUT, until); !late.empty()) return late;
  }
  return "";
}

std::string Peer::exchange(std::string_view request, std::chrono::milliseconds timeout,
                           std::string& answer) const {
  const auto until = std::chrono::steady_clock::now() + timeout;
  const Descriptor s(open_socket(address_->family, address_->kind, address_->protocol));
  if (s.number < 0) return reason();
  if (connect(s.number, address_->get(), address_->size) < 0) {
    if (errno != EINPROGRESS) return reason();
    if (std::string late = wait(s.number, POLLOUT, until); !late.empty()) return late;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(s.number, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return std::strerror(error);
  }
  while (!request.empty()) {
    const ssize_t sent = ::send(s.number, request.data(), request.size(), kNoSignal);
    if (sent >= 0) request.remove_prefix(static_cast<std::size_t>(sent));
    else if (!would_block()) return reason();
    else if (std::string late = wait(s.number, POLLOUT, until); !late.empty()) return late;
  }
  constexpr std::size_t kMaxHeaders = 65536;
  char part[4096];
  while (answer.find("\r\n\r\n") == std::string::npos && answer.size() < kMaxHeaders) {
    const ssize_t got = recv(s.number, part, sizeof part, 0);
    if (got == 0) break;
    if (got > 0) answer.append(part, static_cast<std::size_t>(got));
    else if (!would_block()) return reason();
    else if (std::string late = wait(s.number, POLLIN, until); !late.empty()) return late;
  }
  return "";
}

#endif

}  // namespace loom::cli
