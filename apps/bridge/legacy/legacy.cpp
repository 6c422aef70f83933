#include "bridge/legacy/legacy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "bridge/legacy/stream_network.h"
#include "bridge/networks/compare.h"

namespace loom::bridge {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kReport = 32 << 20, kStream = 64 << 20;
constexpr std::size_t kMaxReports = 1000;

std::string part_of(const Json& json, const char* key, const char* absent) {
  const std::string text = cli::text_in(json, key);
  if (text.empty() && absent) return absent;
  if (!is_name(text) || text.find("__") != std::string::npos)
    refuse(400, "invalid_argument",
           std::string(key) + ": must be 1 to 100 letters, digits, '.', '_' or '-' without '__'");
  return text;
}

std::string reports_folder(const Store& store) { return store.state_folder() + "/reports"; }

// A file that another reader sees whole or not at all.
void write_text(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  std::ofstream out(fresh, std::ios::binary);
  out << text;
  out.close();
  std::error_code error;
  if (out) fs::rename(fresh, path, error);
  if (!out || error) refuse(507, "io", "the report cannot be written");
}

Json add_report(Store& store, std::string_view body) {
  const Json json = object_of(body);
  const std::string file =
      part_of(json, "planet", nullptr) + "__" + part_of(json, "model_id", nullptr) + "__" +
      part_of(json, "stage", nullptr) + "__" + part_of(json, "format", "none") + ".json";
  const std::string bedrock = part_of(json, "bedrock", "dense");
  inputs_of(array_of(json, "outputs"));  // numbers, all of one shape
  const std::string folder = reports_folder(store) + "/" + bedrock;
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const auto count = std::distance(fs::directory_iterator(folder, ignored), {});
  if (static_cast<std::size_t>(count) >= kMaxReports && !fs::exists(folder + "/" + file, ignored))
    refuse(429, "too_many", "there are " + std::to_string(count) + " reports of this bedrock");
  write_text(folder + "/" + file, json.dump());
  Json done = Json::object();
  done.set("status", "ok");
  done.set("stored", file);
  return done;
}

// All reports of a bedrock ("": of all) in the order of their files.
std::vector<Json> reports_of(const Store& store, const std::string& bedrock) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& one : fs::recursive_directory_iterator(reports_folder(store), ignored))
    if (one.path().extension() == ".json" &&
        (bedrock.empty() || one.path().parent_path().filename() == bedrock))
      paths.push_back(one.path().string());
  std::sort(paths.begin(), paths.end());
  std::vector<Json> reports;
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    auto json = Json::parse(text);
    if (json.ok()) reports.push_back(std::move(*json));
  }
  return reports;
}

Json list_reports(const Store& store) {
  Json list = Json::array();
  for (Json& one : reports_of(store, "")) list.push(std::move(one));
  Json json = Json::object();
  json.set("reports", std::move(list));
  return json;
}

// Within one planet and model: its native outputs beside each export and beside Loom's.
Json compare_reports(const Store& store, const std::string& bedrock) {
  std::map<std::string, std::vector<Json>> models;
  for (Json& one : reports_of(store, bedrock)) {
    const std::string key = cli::text_in(one, "planet") + "\n" + cli::text_in(one, "model_id");
    models[key].push_back(std::move(one));
  }
  Json rows = Json::array();
  for (const auto& [key, reports] : models) {
    const auto native = std::find_if(reports.begin(), reports.end(), [](const Json& r) {
      return cli::text_in(r, "stage") == "native";
    });
    bool loom = false;
    const auto row = [&](const std::string& stage, const std::string& format, const Json* of) {
      Json json = Json::object();
      json.set("planet", key.substr(0, key.find('\n')));
      json.set("model_id", key.substr(key.find('\n') + 1));
      json.set("stage", stage);
      json.set("format", format);
      if (!of || native == reports.end()) {
        json.set("label", "PENDING");
        return rows.push(std::move(json));
      }
      const Distance d = distance_of(inputs_of(cli::member(*native, "outputs")).values,
                                     inputs_of(cli::member(*of, "outputs")).values);
      json.set("label", label_of(d));
      if (d.comparable && std::isfinite(d.max)) {
        json.set("max_abs_diff", d.max);
        json.set("mean_abs_diff", d.mean);
      }
      rows.push(std::move(json));
    };
    for (const Json& r : reports) {
      const std::string stage = cli::text_in(r, "stage");
      if (stage == "native") continue;
      loom = loom || stage == "loom";
      row(stage, cli::text_in(r, "format"), &r);
    }
    if (!loom) row("loom", "entity", nullptr);
  }
  Json json = Json::object();
  json.set("bedrock", bedrock);
  json.set("tolerance", 1e-5);
  json.set("rows", std::move(rows));
  return json;
}

std::string compare_text(const Store& store, const std::string& bedrock) {
  std::string text = "bedrock: " + bedrock + "\n";
  const Json compared = compare_reports(store, bedrock);
  for (const Json& row : cli::member(compared, "rows").as_array()) {
    char line[600];
    std::snprintf(line, sizeof line, "%-12s %-40s %-8s %-14s %-8s %.3g\n",
                  cli::text_in(row, "planet").c_str(), cli::text_in(row, "model_id").c_str(),
                  cli::text_in(row, "stage").c_str(), cli::text_in(row, "format").c_str(),
                  cli::text_in(row, "label").c_str(), cli::number_in(row, "max_abs_diff"));
    text += line;
  }
  return text;
}

Json catalog(const Store& store) {
  Json bedrocks = Json::array();
  for (const std::string_view one : kBedrocks) bedrocks.push(one);
  Json json = store.list();
  json.set("bedrocks", std::move(bedrocks));
  return json;
}

Json stream(Store& store, const std::string& bedrock, std::string_view body) {
  const Json json = object_of(body);
  const std::string named = json.find("bedrock") ? text_of(json, "bedrock") : bedrock;
  const std::string planet = part_of(json, "planet", "planet");
  const std::string name = planet + "__" + part_of(json, "model_id", "model");
  if (!is_bedrock(named))
    refuse(400, "invalid_argument", "bedrock: '" + named.substr(0, 40) + "' is not known");
  if (!is_name(name)) refuse(400, "invalid_argument", "planet and model_id: are too long");
  Json answer = answer_of_stream(named, json, store.folder() + "/" + name + ".entity",
                                 json.find("inputs"), json.find("native_outputs"));
  store.forget_network(name);
  answer.set("message", answer.find("outputs") ? "" : "without inputs there are no outputs");
  return answer;
}

// What the earlier package reads where a request went wrong, beside the error of today.
Response legacy_problem(Response response) {
  auto json = Json::parse(response.body);
  if (!json.ok()) return response;
  Json both = *json;
  both.set("status", "error");
  if (const Json* error = both.find("error")) both.set("message", cli::text_in(*error, "message"));
  response.body = both.dump() + "\n";
  return response;
}

std::unique_ptr<http::Exchange> take_json(const http::Head& head, std::uint64_t max_bytes,
                                          std::function<Json(std::string_view)> answer) {
  if (head.method != "POST") refuse(405, "method", "this route takes POST");
  return http::buffered(head, max_bytes, [answer = std::move(answer)](std::string body) {
    try {
      return reply(answer(body));
    } catch (http::Refusal& refusal) {
      return legacy_problem(std::move(refusal.response));
    }
  });
}

std::unique_ptr<http::Exchange> show(const http::Head& head, std::function<Response()> answer) {
  if (head.method != "GET" && head.method != "HEAD") refuse(405, "method", "this route takes GET");
  return http::buffered(head, 0, [answer = std::move(answer)](std::string) { return answer(); });
}

}  // namespace

std::unique_ptr<http::Exchange> legacy_route(Store& store, const http::Head& head) {
  const std::string& path = head.path;
  if (path == "/health")
    return show(head, [] { return Response{.body = "{\"status\":\"ok\"}\n"}; });
  if (path == "/api/v1/report")
    return take_json(head, kReport,
                     [&store](std::string_view body) { return add_report(store, body); });
  if (path == "/api/v1/reports") return show(head, [&store] { return reply(list_reports(store)); });
  constexpr std::string_view kCompare = "/api/v1/compare";
  if (path == "/api/v1/compare.txt") {
    const std::string bedrock = head.parameter("bedrock").value_or("dense");
    if (!is_bedrock(bedrock)) refuse(404, "not_found", "there is no such bedrock");
    return show(head, [&store, bedrock] {
      return Response{.type = "text/plain; charset=utf-8", .body = compare_text(store, bedrock)};
    });
  }
  if (path == kCompare || path.starts_with(std::string(kCompare) + "/")) {
    const std::string bedrock = path == kCompare ? "dense" : path.substr(kCompare.size() + 1);
    if (!is_bedrock(bedrock)) refuse(404, "not_found", "there is no such bedrock");
    return show(head, [&store, bedrock] { return reply(compare_reports(store, bedrock)); });
  }
  if (path == "/api/v1/loom/catalog") return show(head, [&store] { return reply(catalog(store)); });
  constexpr std::string_view kOne = "/api/v1/loom/stream";
  std::string bedrock;
  if (path == "/api/v1/loom/import" || path == kOne) bedrock = "dense";
  else if (path.starts_with(std::string(kOne) + "/")) bedrock = path.substr(kOne.size() + 1);
  if (!is_bedrock(bedrock)) return nullptr;
  return take_json(head, kStream, [&store, bedrock](std::string_view body) {
    return stream(store, bedrock, body);
  });
}

}  // namespace loom::bridge
