// The one file that includes Boost.Beast.
#include "http/server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>

namespace loom::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using ErrorCode = beast::error_code;
using Parser = beast::http::request_parser<beast::http::buffer_body>;

constexpr std::size_t kPiece = 256 << 10;
// What is still read from a peer that was refused, so that its system does not throw the answer
// away with what it could not deliver.
constexpr std::size_t kLinger = 32 << 20;
constexpr double kLingerSeconds = 2;

Clock::duration seconds(double n) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(n));
}

Response problem(int status, const char* code, const std::string& message) {
  return {.status = status,
          .body = std::string(R"({"error":{"code":")") + code + R"(","message":")" + message +
                  R"("}})"};
}

std::string header_text(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
  return out;
}

// body(), whose exceptions are the answer.
template <class F>
std::optional<Response> refused_by(F body) noexcept {
  try {
    body();
    return {};
  } catch (Refusal& refusal) {
    return std::move(refusal.response);
  } catch (const std::bad_alloc&) {
    return problem(503, "out_of_memory", "an allocation failed");
  } catch (...) {
    return problem(500, "internal", "the request failed inside the server");
  }
}

Head head_of(const Parser::value_type& message, const Parser& parser) {
  Head head;
  head.method = std::string(message.method_string());
  const std::string target(message.target());
  const std::size_t mark = target.find('?');
  head.path = target.substr(0, mark);
  if (mark != std::string::npos) head.query = target.substr(mark + 1);
  for (const auto& field : message) {
    std::string name(field.name_string());
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    head.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  if (const auto length = parser.content_length()) head.length = *length;
  else if (!parser.chunked()) head.length = 0;
  return head;
}

}  // namespace

class Connection;

struct Server::State : std::enable_shared_from_this<Server::State> {
  State(const Limits& l, Router r)
      : limits(l),
        router(std::move(r)),
        context(l.threads),
        workers(static_cast<std::size_t>(l.workers)),
        acceptor(asio::make_strand(context)),
        pause(acceptor.get_executor()),
        signals(acceptor.get_executor()) {}
  void accept();
  void end();
  void forget(Connection* one) {
    const std::lock_guard lock(mutex);
    open.erase(one);
  }

  const Limits limits;
  const Router router;
  asio::io_context context;
  asio::thread_pool workers;
  tcp::acceptor acceptor;
  asio::steady_timer pause;
  asio::signal_set signals;
  std::atomic<int> signal{0};
  std::mutex mutex;
  std::set<Connection*> open;  // they take themselves out
  bool ending = false;
};

// One connection: requests one after another. All of it runs on its strand, but for
// Exchange::finish and Response::stream, which a worker calls while nothing else happens here.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket&& socket, std::shared_ptr<Server::State> server)
      : stream_(std::move(socket)),
        server_(std::move(server)),
        limits_(server_->limits),
        buffer_(kPiece + limits_.header_bytes),
        piece_(kPiece) {}
  ~Connection() { server_->forget(this); }

  void start() {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->read_head(); });
  }
  void stop() {
    asio::post(stream_.get_executor(), [self = weak_from_this()] {
      const auto here = self.lock();
      if (here && !here->working_) here->close();
    });
  }

 private:
  // The member, called back on the strand.
  template <class... Args>
  auto then(void (Connection::*member)(Args...)) {
    return [self = shared_from_this(), member](std::decay_t<Args>... args) {
      (self.get()->*member)(args...);
    };
  }
  void wait_for(double idle) { stream_.expires_at(std::min(Clock::now() + seconds(idle), until_)); }

  void read_head() {
    parser_.emplace();
    parser_->header_limit(limits_.header_bytes);
    parser_->body_limit(limits_.body_bytes);
    exchange_.reset();
    keep_alive_ = false;
    head_only_ = false;
    until_ = Clock::now() + seconds(limits_.header_seconds);
    wait_for(limits_.header_seconds);
    beast::http::async_read_header(stream_, buffer_, *parser_, then(&Connection::on_head));
  }

  void on_head(ErrorCode error, std::size_t) {
    if (error) return on_read_error(error);
    const auto& message = parser_->get();
    keep_alive_ = message.keep_alive();
    head_only_ = message.method() == beast::http::verb::head;
    http10_ = message.version() < 11;
    if (auto answer = refused_by([&] {
          const Head head = head_of(message, *parser_);
          const double length = static_cast<double>(head.length.value_or(0));
          until_ =
              Clock::now() +
              seconds(std::min(limits_.total_seconds,
                               limits_.idle_seconds +
                                   length / static_cast<double>(limits_.min_bytes_per_second)));
          if (!head.length) until_ = Clock::now() + seconds(limits_.total_seconds);
          exchange_ = server_->router(head);
        }))
      return refuse(std::move(*answer));
    if (beast::iequals(message[beast::http::field::expect], "100-continue")) {
      out_ = "HTTP/1.1 100 Continue\r\n\r\n";
      wait_for(limits_.idle_seconds);
      return asio::async_write(stream_, asio::buffer(out_), then(&Connection::on_continue));
    }
    read_body();
  }

  void on_continue(ErrorCode error, std::size_t) {
    if (error) return close();
    read_body();
  }

  // A body whose length is known comes from the socket as it is, in pieces as large as the system
  // has them: the parser would cut it into many small reads.
  void read_body() {
    body_left_ = parser_->content_length().value_or(0);
    if (body_left_ == 0) return read_parsed();
    const std::size_t here =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), body_left_));
    if (!taken({static_cast<const char*>(buffer_.data().data()), here})) return;
    buffer_.consume(here);
    read_plain();
  }

  void read_plain() {
    if (body_left_ == 0) return answer();
    wait_for(limits_.idle_seconds);
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece_.size(), body_left_));
    stream_.async_read_some(asio::buffer(piece_.data(), size), then(&Connection::on_plain));
  }

  void on_plain(ErrorCode error, std::size_t got) {
    if (error) return on_read_error(error);
    if (taken({piece_.data(), got})) read_plain();
  }

  // False where the exchange refused it, which is answered.
  bool taken(std::string_view piece) {
    auto answer = refused_by([&] { exchange_->take(piece); });
    if (answer) refuse(std::move(*answer));
    else body_left_ -= piece.size();
    return !answer;
  }

  void read_parsed() {
    if (parser_->is_done()) return answer();
    auto& body = parser_->get().body();
    body.data = piece_.data();
    body.size = piece_.size();
    wait_for(limits_.idle_seconds);
    beast::http::async_read(stream_, buffer_, *parser_, then(&Connection::on_body));
  }

  void on_body(ErrorCode error, std::size_t) {
    if (error && error != beast::http::error::need_buffer) return on_read_error(error);
    const std::size_t got = piece_.size() - parser_->get().body().size;
    if (auto answer = refused_by([&] { exchange_->take({piece_.data(), got}); }))
      return refuse(std::move(*answer));
    read_parsed();
  }

  // A worker makes the answer.
  void answer() {
    working_ = true;
    stream_.expires_never();
    // The guard: the network's threads wait for the worker.
    asio::post(server_->workers,
               [self = shared_from_this(), guard = asio::make_work_guard(stream_.get_executor())] {
                 Response made;
                 if (auto refused = refused_by([&] { made = self->exchange_->finish(); }))
                   made = std::move(*refused);
                 self->exchange_.reset();
                 asio::post(self->stream_.get_executor(), [self, made = std::move(made)]() mutable {
                   self->working_ = false;
                   self->send(std::move(made));
                 });
               });
  }

  // The rest of the request is not read: no other can follow it.
  void refuse(Response response) {
    exchange_.reset();
    if (parser_ && !parser_->is_done()) keep_alive_ = false;
    send(std::move(response));
  }

  void on_read_error(ErrorCode error) {
    exchange_.reset();
    keep_alive_ = false;
    if (error == beast::http::error::header_limit)
      return refuse(problem(431, "too_large", "the header of the request is too large"));
    if (error == beast::http::error::body_limit)
      return refuse(problem(413, "too_large",
                            "the body may have " + std::to_string(limits_.body_bytes) + " bytes"));
    if (error == beast::error::timeout) return close();
    if (error.category() ==
            beast::http::make_error_code(beast::http::error::bad_version).category() &&
        error != beast::http::error::end_of_stream && error != beast::http::error::partial_message)
      return refuse(problem(400, "bad_request",
                            "the request is no HTTP/1.1: " + header_text(error.message())));
    close();
  }

  void send(Response response) {
    response_ = std::move(response);
    until_ = Clock::now() + seconds(limits_.total_seconds);
    if (!response_.file.empty() && !open_file())
      response_ = problem(404, "not_found", "the file is not there");
    const bool chunked = static_cast<bool>(response_.stream) && !http10_;
    if (response_.stream && http10_) keep_alive_ = false;
    const std::string reason(
        beast::http::obsolete_reason(static_cast<beast::http::status>(response_.status)));
    out_ = "HTTP/1.1 " + std::to_string(response_.status) + " " + reason + "\r\n";
    const auto field = [&](std::string_view name, std::string_view value) {
      out_ += std::string(name) + ": " + header_text(value) + "\r\n";
    };
    field("Content-Type", response_.type);
    if (chunked) field("Transfer-Encoding", "chunked");
    else if (!response_.stream)
      field("Content-Length", std::to_string(file_ >= 0 ? file_left_ : response_.body.size()));
    field("Connection", keep_alive_ ? "keep-alive" : "close");
    field("X-Content-Type-Options", "nosniff");
    field("Cache-Control", "no-store");
    for (const auto& [name, value] : response_.headers) field(header_text(name), value);
    out_ += "\r\n";
    if (!head_only_ && file_ < 0 && !response_.stream) out_ += response_.body;
    write(&Connection::on_sent);
  }

  bool open_file() {
    file_ = ::open(response_.file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (file_ >= 0 && (fstat(file_, &about) != 0 || !S_ISREG(about.st_mode))) close_file();
    file_left_ = file_ >= 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
    return file_ >= 0;
  }
  void close_file() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

  void write(void (Connection::*next)(ErrorCode, std::size_t)) {
    wait_for(limits_.idle_seconds);
    asio::async_write(stream_, asio::buffer(out_), then(next));
  }

  void on_sent(ErrorCode error, std::size_t) {
    if (error) return close();
    if (head_only_) return done();
    if (file_ >= 0) return send_file();
    if (response_.stream) return send_stream();
    done();
  }

  void send_file() {
    if (file_left_ == 0) return done();
    out_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, file_left_)));
    const ssize_t got = ::read(file_, out_.data(), out_.size());
    if (got <= 0) return close();  // shorter than its length, which the peer sees
    out_.resize(static_cast<std::size_t>(got));
    file_left_ -= static_cast<std::uint64_t>(got);
    write(&Connection::on_sent);
  }

  void send_stream() {
    working_ = true;
    asio::post(server_->workers, [self = shared_from_this(),
                                  guard = asio::make_work_guard(stream_.get_executor())] {
      std::string piece;
      bool more = false;
      const bool failed = refused_by([&] { more = self->response_.stream(piece); }).has_value();
      asio::post(self->stream_.get_executor(), [self, failed, more, piece = std::move(piece)] {
        self->working_ = false;
        if (failed || self->server_ends()) return self->close();
        self->send_piece(piece, more);
      });
    });
  }

  void send_piece(const std::string& piece, bool more) {
    out_ = piece;
    if (!http10_) {
      char size[24];
      std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
      out_ = piece.empty() ? "" : size + piece + "\r\n";
      if (!more) out_ += "0\r\n\r\n";
    }
    if (!more) response_.stream = nullptr;
    until_ = Clock::now() + seconds(limits_.total_seconds);  // of each piece
    write(&Connection::on_sent);
  }

  void done() {
    close_file();
    response_ = {};
    if (keep_alive_ && !server_ends()) return read_head();
    ErrorCode ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    until_ = Clock::now() + seconds(kLingerSeconds);
    linger({}, 0);
  }

  bool server_ends() const {
    const std::lock_guard lock(server_->mutex);
    return server_->ending;
  }

  void linger(ErrorCode error, std::size_t got) {
    lingered_ += got;
    if (error || lingered_ > kLinger) return close();
    wait_for(kLingerSeconds);
    stream_.async_read_some(asio::buffer(piece_), then(&Connection::linger));
  }

  void close() {
    exchange_.reset();
    close_file();
    ErrorCode ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  beast::tcp_stream stream_;
  std::shared_ptr<Server::State> server_;
  const Limits& limits_;
  beast::flat_buffer buffer_;
  std::vector<char> piece_;
  std::optional<Parser> parser_;
  std::unique_ptr<Exchange> exchange_;
  Response response_;
  std::string out_;
  Clock::time_point until_;
  int file_ = -1;
  std::uint64_t file_left_ = 0, body_left_ = 0;
  std::size_t lingered_ = 0;
  bool keep_alive_ = false, head_only_ = false, http10_ = false, working_ = false;
};

void Server::State::accept() {
  acceptor.async_accept(
      asio::make_strand(context), [self = shared_from_this()](ErrorCode error, tcp::socket peer) {
        if (error == asio::error::operation_aborted || !self->acceptor.is_open()) return;
        if (error) {  // for example too many open files: not at once again
          self->pause.expires_after(seconds(0.1));
          return self->pause.async_wait([self](ErrorCode) { self->accept(); });
        }
        bool room = false;
        {
          const std::lock_guard lock(self->mutex);
          room = !self->ending &&
                 self->open.size() < static_cast<std::size_t>(self->limits.connections);
        }
        if (room) {
          ErrorCode ignored;
          peer.set_option(tcp::no_delay(true), ignored);
          const auto one = std::make_shared<Connection>(std::move(peer), self);
          {
            const std::lock_guard lock(self->mutex);
            self->open.insert(one.get());
          }
          one->start();
        }  // else it is closed at once
        self->accept();
      });
}

void Server::State::end() {
  asio::post(acceptor.get_executor(), [self = shared_from_this()] {
    ErrorCode ignored;
    self->acceptor.close(ignored);
    self->signals.cancel(ignored);
    self->pause.cancel();
    const std::lock_guard lock(self->mutex);
    self->ending = true;
    for (Connection* one : self->open) one->stop();
  });
}

Server::Server(const Limits& limits, Router router)
    : state_(std::make_shared<State>(limits, std::move(router))) {}
Server::~Server() {
  state_->context.stop();
  state_->workers.join();
}

std::string Server::listen(const std::string& address, int port, int& bound) {
  ErrorCode error;
  const auto where = asio::ip::make_address(address, error);
  if (error) return "'" + address + "' is no IP address";
  const tcp::endpoint end(where, static_cast<unsigned short>(port));
  tcp::acceptor& acceptor = state_->acceptor;
  if (acceptor.open(end.protocol(), error)) return error.message();
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (acceptor.bind(end, error) || acceptor.listen(tcp::acceptor::max_listen_connections, error))
    return address + ":" + std::to_string(port) + ": " + error.message();
  bound = acceptor.local_endpoint(error).port();
  return "";
}

int Server::run() {
  State& s = *state_;
  ErrorCode ignored;
  for (const int one : {SIGINT, SIGTERM}) s.signals.add(one, ignored);
  s.signals.async_wait([self = state_](ErrorCode error, int number) {
    if (error) return;
    self->signal = number;
    self->end();
  });
  s.accept();
  std::vector<std::thread> threads;
  for (int i = 1; i < s.limits.threads; ++i) threads.emplace_back([&s] { s.context.run(); });
  s.context.run();
  for (std::thread& one : threads) one.join();
  return s.signal;
}

void Server::stop() { state_->end(); }

}  // namespace loom::http
