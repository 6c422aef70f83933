#include "bridge/service.h"

#include <algorithm>
#include <functional>

#include "bridge/legacy.h"

namespace loom::bridge {

extern const char* const bridge_page;  // apps/cli/CMakeLists.txt

namespace {

using http::Exchange;
using http::Head;

constexpr std::uint64_t kBegin = 16 << 20, kRun = 8 << 20, kSmall = 4 << 20;

// "127.0.0.1:9876" -> "127.0.0.1"
std::string host_of(std::string_view text) {
  if (text.starts_with('[')) return std::string(text.substr(0, text.find(']') + 1));
  return std::string(text.substr(0, text.find(':')));
}

// Digits and dots, or in brackets: no name that somebody else's server can lead here.
bool is_address(std::string_view host) {
  return host.starts_with('[') ||
         (!host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

class Service {
 public:
  Service(Store& store, const ServiceOptions& options) : store_(store), options_(options) {}

  std::unique_ptr<Exchange> route(const Head& head) const {
    check_host(head);
    if (head.path == "/" || head.path == "/index.html") return page(head);
    if (options_.legacy)
      if (auto found = legacy_route(store_, head)) return found;
    check_token(head);
    if (auto found = stream(head)) return found;
    if (auto found = networks(head)) return found;
    refuse(404, "not_found", "there is no such route; docs/reference/bridge.md lists them");
  }

 private:
  void check_host(const Head& head) const {
    const std::string host = host_of(head.header("host"));
    if (!is_address(host) && host != "localhost" &&
        std::find(options_.hosts.begin(), options_.hosts.end(), host) == options_.hosts.end())
      refuse(403, "host", "the Host of the request is none of this server's names (--name)");
    // A page of another origin, which a browser shows.
    const std::string_view origin = head.header("origin");
    if (origin.empty()) return;
    const std::size_t slashes = origin.find("://");
    if (slashes == std::string_view::npos || origin.substr(slashes + 3) != head.header("host"))
      refuse(403, "origin", "requests from pages of another origin are refused");
  }

  bool has_token(const Head& head) const {
    std::string_view given = head.header("authorization");
    constexpr std::string_view kBearer = "Bearer ";
    given.remove_prefix(given.starts_with(kBearer) ? kBearer.size() : given.size());
    return http::same_secret(options_.token, given);
  }
  void check_token(const Head& head) const {
    if (has_token(head)) return;
    Response response = problem(401, "token",
                                "Authorization: Bearer TOKEN is required, with the token of this "
                                "server, which it printed at its start");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    throw http::Refusal{std::move(response)};
  }

  // The page itself holds no data; it asks for them with the token of its address or of its user.
  std::unique_ptr<Exchange> page(const Head& head) const {
    if (head.method != "GET" && head.method != "HEAD") refuse_method("GET");
    return http::buffered(head, 0, [](std::string) {
      Response response{.type = "text/html; charset=utf-8", .body = bridge_page};
      response.headers = {
          {"Content-Security-Policy",
           "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
           "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'"},
          {"Referrer-Policy", "no-referrer"},
      };
      return response;
    });
  }

  [[noreturn]] static void refuse_method(const char* method) {
    refuse(405, "method", std::string("this route takes ") + method);
  }

  // A route that takes a JSON body.
  std::unique_ptr<Exchange> post(const Head& head, std::uint64_t max_bytes,
                                 std::function<Json(std::string_view)> answer) const {
    if (head.method != "POST") refuse_method("POST");
    return http::buffered(head, max_bytes, [answer = std::move(answer)](std::string body) {
      return reply(answer(body));
    });
  }
  std::unique_ptr<Exchange> get(const Head& head, std::function<Response()> answer) const {
    if (head.method != "GET" && head.method != "HEAD") refuse_method("GET");
    return http::buffered(head, 0, [answer = std::move(answer)](std::string) { return answer(); });
  }

  std::unique_ptr<Exchange> stream(const Head& head) const {
    constexpr std::string_view kPrefix = "/api/v1/loom/stream/";
    if (!head.path.starts_with(kPrefix)) return nullptr;
    const std::string_view what = std::string_view(head.path).substr(kPrefix.size());
    Store& store = store_;
    if (what == "begin")
      return post(head, kBegin, [&store](std::string_view body) { return store.begin(body); });
    if (what == "finish")
      return post(head, kSmall, [&store](std::string_view body) { return store.finish(body); });
    if (what == "abort")
      return post(head, kSmall, [&store](std::string_view body) { return store.abort(body); });
    if (what == "chunk") {
      if (head.method != "POST" && head.method != "PUT") refuse_method("POST or PUT");
      return store.chunk(head);
    }
    if (what == "status")
      return get(head, [&store, session = head.parameter("session").value_or("")] {
        return reply(store.status(session));
      });
    return nullptr;
  }

  std::unique_ptr<Exchange> networks(const Head& head) const {
    Store& store = store_;
    if (head.path == "/api/v1/loom/run")
      return post(head, kRun, [&store](std::string_view body) { return store.run(body); });
    if (head.path == "/api/v1/loom/compare") {
      if (head.method == "POST")
        return post(head, kRun, [&store](std::string_view body) { return store.compare(body); });
      return get(head, [&store] { return reply(store.comparisons()); });
    }
    constexpr std::string_view kNetworks = "/api/v1/loom/networks";
    if (head.path == kNetworks) return get(head, [&store] { return reply(store.list()); });
    if (!head.path.starts_with(std::string(kNetworks) + "/")) return nullptr;
    std::string name = head.path.substr(kNetworks.size() + 1);
    constexpr std::string_view kInfo = "/info";
    if (name.ends_with(kInfo)) {
      name.resize(name.size() - kInfo.size());
      return get(head, [&store, name] { return reply(store.info(name)); });
    }
    return get(head, [&store, name] {
      Response response{.type = "application/octet-stream", .file = store.path_of(name)};
      response.headers.emplace_back("Content-Disposition",
                                    "attachment; filename=\"" + name + ".entity\"");
      return response;
    });
  }

  Store& store_;
  const ServiceOptions options_;
};

}  // namespace

http::Router make_router(Store& store, const ServiceOptions& options) {
  auto service = std::make_shared<Service>(store, options);
  return [service](const http::Head& head) { return service->route(head); };
}

}  // namespace loom::bridge
