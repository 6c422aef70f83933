// loom stream, and the program loom-stream: layers with their weights as JSON on stdin become an
// .entity file, as planetbridging 0.7.3 calls it.
#include "commands/bridge.h"

#include <cstdio>
#include <filesystem>

#include "support/client.h"
#include "support/console.h"
#ifdef LOOM_HAS_BRIDGE
#include "bridge/legacy/stream_network.h"
#include "bridge/replies/reply.h"
#endif

namespace loom::cli {
namespace {

struct Args {};

#ifdef LOOM_HAS_BRIDGE

constexpr std::size_t kMaxRequest = std::size_t{256} << 20;

std::string read_stdin() {
  std::string text;
  char piece[65536];
  for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, stdin)) > 0;) {
    text.append(piece, n);
    if (text.size() > kMaxRequest)
      bridge::refuse(413, "too_large", "stdin: a request may have 256 MiB");
  }
  return text;
}

std::string folder_part(const Json& payload, const char* key, const char* absent) {
  const std::string text = text_in(payload, key);
  if (text.empty()) return absent;
  if (text == "." || text == ".." || text.find_first_of(std::string("/\\\0", 3)) != text.npos)
    bridge::refuse(400, "invalid_argument", std::string(key) + ": is no name of a folder");
  return text;
}

// Where the file goes: output_path, or models_dir/PLANET/MODEL/MODEL.stream.entity.
std::string path_of(const Json& request, const Json& payload, const std::string& bedrock) {
  namespace fs = std::filesystem;
  fs::path path = text_in(request, "output_path");
  if (path.empty()) {
    const std::string planet = folder_part(payload, "planet", "planet"),
                      model = folder_part(payload, "model_id", "model");
    fs::path base = text_in(request, "models_dir");
    if (base.empty()) {
      const std::string root = text_in(request, "root");
      base = fs::path(root.empty() ? "." : root) / "python" / bedrock / "models";
    }
    path = base / planet / model / (model + ".stream.entity");
  }
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  return path.string();
}

Json answer() {
  const Json request = bridge::object_of(read_stdin());
  bridge::expect_keys(
      request, {"bedrock", "payload", "root", "models_dir", "fixtures_dir", "fixture_version",
                "output_path", "inputs", "skip_infer", "native_outputs"});
  const Json* payload = request.find("payload");
  if (!payload || !payload->is_object())
    bridge::refuse(400, "invalid_argument", "payload: is required, an object");
  std::string bedrock = text_in(request, "bedrock");
  if (bedrock.empty()) bedrock = text_in(*payload, "bedrock");
  for (char& c : bedrock) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (!bridge::is_bedrock(bedrock))
    bridge::refuse(400, "invalid_argument",
                   "bedrock: '" + bedrock.substr(0, 40) + "' is not known");
  const bool runs = !flag_in(request, "skip_infer");
  const Json* inputs = runs ? request.find("inputs") : nullptr;
  if (runs && (!inputs || inputs->is_null()))
    bridge::refuse(422, "unsupported",
                   "inputs: are required, or skip_infer (fixtures are read by the Python package)");
  return bridge::answer_of_stream(bedrock, *payload, path_of(request, *payload, bedrock), inputs,
                                  runs ? request.find("native_outputs") : nullptr);
}

int run(const Args&) {
  Json json;
  try {
    json = answer();
  } catch (const http::Refusal& refusal) {
    json = Json::object();
    json.set("status", "error");
    json.set("message", text_in(member(parsed(refusal.response.body), "error"), "message"));
  }
  const bool fine = text_in(json, "status") == "ok";
  return print(json.dump(2) + "\n") && fine ? kOk : kFailed;
}

#else

int run(const Args&) {
  throw problem(LOOM_UNSUPPORTED,
                "this loom was built without Boost (Debian: libboost-dev), which stream comes with",
                kFailed);
}

#endif

void bind(CommandLine&, Args&) {}

}  // namespace

void add_stream(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "stream",
                    "layers with weights, as JSON on stdin, become an .entity file", bind, run);
}

}  // namespace loom::cli
