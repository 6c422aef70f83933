#include "sinks/sinks.h"

#include <fstream>

#include "sinks/datagram.h"
#include "sinks/queue.h"
#include "sinks/socket.h"
#include "support/client.h"
#include "support/console.h"
#include "support/event_scalars.h"

namespace loom::cli {
namespace {

class LinesSink : public Sink {
 public:
  explicit LinesSink(const std::string& path)
      : path_(path), lines_(path, std::ios::binary | std::ios::trunc) {
    written();
  }
  void add(const Json& event) override {
    lines_ << event.dump() << '\n';
    written();
  }
  void finish() override {
    lines_.close();
    written();
  }

 private:
  void written() const {
    if (!lines_) throw problem(LOOM_IO, path_ + ": cannot be written", kFailed);
  }
  const std::string path_;
  std::ofstream lines_;
};

class ScalarsSink : public Sink {
 public:
  explicit ScalarsSink(const std::string& folder) : scalars_(folder) {}
  void add(const Json& event) override { scalars_.add(event); }
  void finish() override { scalars_.flush(); }

 private:
  EventScalars scalars_;
};

class ConsoleSink : public Sink {
 public:
  void add(const Json& event) override {
    std::string line = "pass " + std::to_string(integer_in(event, "pass")) + "  " +
                       escaped(text_in(event, "direction")) + "  " +
                       escaped(text_in(event, "path")) + " " + escaped(text_in(event, "type"));
    for (const char* key : {"mean", "std", "min", "max"}) {
      const Json& v = member(event, key);
      line += std::string("  ") + key + " " + (v.is_null() ? "-" : significant(v.as_number()));
    }
    line += "  active " + fixed(number_in(event, "active_share"), 4);
    for (const char* key : {"nan", "inf"})
      line += std::string("  ") + key + " " +
              std::to_string(integer_in(event, std::string(key) + "_count"));
    if (const Json& bad = member(event, "first_bad"); !bad.is_null())
      line += "  first bad " + std::to_string(bad.as_array()[0].as_integer()) + "," +
              std::to_string(bad.as_array()[1].as_integer());
    say(line);
  }
};

class UdpSink : public Sink {
 public:
  explicit UdpSink(const HostPort& to)
      : to_(to),
        peer_("--udp", to, true),
        queue_(1, [this](const std::vector<std::string>& texts) { return peer_.send(texts[0]); }) {}
  void begin(const Json& blueprint) override { datagrams_.begin(blueprint); }
  void add(const Json& event) override { queue_.put(datagrams_.of(event).dump()); }
  void drain() override { queue_.drain(); }
  void finish() override { queue_.finish(); }
  std::string receiver() const override {
    return "udp " + to_.host + ":" + std::to_string(to_.port);
  }
  Delivery delivery() const override { return queue_.delivery(); }

 private:
  const HostPort to_;
  const Peer peer_;
  Datagrams datagrams_;
  DeliveryQueue queue_;
};

struct Url {
  HostPort to;
  std::string host, target;  // as requests have them
};
Url parse_url(const std::string& text, std::string& problem) {
  constexpr std::string_view kScheme = "http://";
  Url url;
  if (!text.starts_with(kScheme) || text.find_first_of("\r\n\t #@") != std::string::npos) {
    problem = "expects http://HOST[:PORT][/PATH], got '" + text + "'";
    return url;
  }
  const std::size_t path = text.find_first_of("/?", kScheme.size());
  url.host = text.substr(kScheme.size(), path - kScheme.size());
  url.target = path == std::string::npos ? "/" : text.substr(path);
  if (url.target[0] == '?') url.target.insert(0, "/");
  url.to = parse_host_port(url.host, 80, problem);
  return url;
}

// POST of up to kBatch events at once, each with a connection.
class HttpSink : public Sink {
 public:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::chrono::milliseconds kTimeout{100};
  HttpSink(const Url& url, std::string text)
      : url_(url),
        text_(std::move(text)),
        peer_("--http", url.to, false),
        queue_(kBatch, [this](const std::vector<std::string>& events) { return post(events); }) {}
  void add(const Json& event) override { queue_.put(event.dump()); }
  void drain() override { queue_.drain(); }
  void finish() override { queue_.finish(); }
  std::string receiver() const override { return text_; }
  Delivery delivery() const override { return queue_.delivery(); }

 private:
  std::string post(const std::vector<std::string>& events) const {
    std::string body = "{\"events\":[";
    for (std::size_t i = 0; i < events.size(); ++i) body += (i ? "," : "") + events[i];
    body += "]}";
    std::string answer;
    const std::string wrong = peer_.exchange(
        "POST " + url_.target + " HTTP/1.1\r\nHost: " + url_.host +
            "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\nConnection: close\r\n\r\n" + body,
        kTimeout, answer);
    if (!wrong.empty()) return wrong;
    // "HTTP/1.1 204 No Content"
    const std::string line = answer.substr(0, answer.find("\r\n"));
    const bool http = line.starts_with("HTTP/1.") && line.size() >= 12;
    if (http && line[9] == '2') return "";
    return "answered " + (http ? escaped(line.substr(9, 60)) : std::string("no HTTP"));
  }
  const Url url_;
  const std::string text_;
  const Peer peer_;
  DeliveryQueue queue_;
};

std::string udp_problem(const std::string& text) {
  std::string wrong;
  parse_host_port(text, Sinks::kUdpPort, wrong);
  return wrong;
}
std::string http_problem(const std::string& text) {
  std::string wrong;
  parse_url(text, wrong);
  return wrong;
}

}  // namespace

void bind_sinks(CommandLine& c, SinkOptions& o) {
  c.add("--events", o.events, "write the statistics of each cell and pass, a JSON object a line")
      .type_name("FILE");
  c.add("--tensorboard", o.tensorboard, "write the same as scalars for TensorBoard")
      .type_name("DIR");
  c.flag("--console", o.console, "the same on stderr, a line each");
  c.add("--udp", o.udp,
        "send the same, a datagram of JSON each, to this host; port 17481 unless named")
      .check("HOST[:PORT]", udp_problem);
  c.add("--http", o.http, "the same as POST of {\"events\": [...]}, up to 64 at once")
      .check("URL", http_problem);
}

Sinks::Sinks(const SinkOptions& o) {
  std::string none;
  if (!o.events.empty()) list_.push_back(std::make_unique<LinesSink>(o.events));
  if (!o.tensorboard.empty()) list_.push_back(std::make_unique<ScalarsSink>(o.tensorboard));
  if (o.console) list_.push_back(std::make_unique<ConsoleSink>());
  if (!o.udp.empty())
    list_.push_back(std::make_unique<UdpSink>(parse_host_port(o.udp, kUdpPort, none)));
  if (!o.http.empty()) list_.push_back(std::make_unique<HttpSink>(parse_url(o.http, none), o.http));
}

void Sinks::begin(const Json& blueprint) {
  for (const auto& sink : list_) sink->begin(blueprint);
}

void Sinks::add(const Json& event) {
  for (const auto& sink : list_) sink->add(event);
}

void Sinks::drain() {
  for (const auto& sink : list_) sink->drain();
}

void Sinks::finish() {
  for (const auto& sink : list_) {
    sink->finish();
    const std::string receiver = sink->receiver();
    if (receiver.empty()) continue;
    const Delivery d = sink->delivery();
    say(escaped(receiver) + ": " + std::to_string(d.sent) + " events sent, " +
        std::to_string(d.failed) + " failed" + (d.error.empty() ? "" : " (" + d.error + ")") +
        ", " + std::to_string(d.dropped) + " dropped");
  }
}

Json Sinks::report() const {
  Json list = Json::array();
  for (const auto& sink : list_) {
    const std::string receiver = sink->receiver();
    if (receiver.empty()) continue;
    const Delivery d = sink->delivery();
    Json one = Json::object();
    one.set("receiver", receiver);
    one.set("sent", d.sent);
    one.set("failed", d.failed);
    one.set("dropped", d.dropped);
    one.set("error", d.error.empty() ? Json() : Json(d.error));
    list.push(std::move(one));
  }
  return list;
}

}  // namespace loom::cli
