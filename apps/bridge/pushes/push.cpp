#include "bridge/pushes/push.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/files/sha256.h"
#include "bridge/replies/reply.h"

namespace loom::bridge {
namespace {

constexpr std::size_t kMaxName = 100, kMaxRank = 8, kMaxParameter = 1000;

std::uint64_t item_bytes(std::string_view dtype) {
  if (dtype == "f64") return 8;
  if (dtype == "f32") return 4;
  return dtype == "f16" || dtype == "bf16" ? 2 : 0;
}

std::vector<std::int64_t> shape_of(const Json& tensor, const std::string& where,
                                   std::uint64_t max_values, std::uint64_t& values) {
  const Json::Array& dims = array_of(tensor, "shape", where).as_array();
  if (dims.empty() || dims.size() > kMaxRank)
    refuse(400, "invalid_argument",
           where + ".shape: has " + std::to_string(dims.size()) + " dimensions, 1 to " +
               std::to_string(kMaxRank) + " are allowed");
  std::vector<std::int64_t> shape;
  values = 1;
  for (const Json& dim : dims) {
    if (!dim.is_integer() || dim.as_integer() < 1)
      refuse(400, "invalid_argument", where + ".shape: sizes must be whole numbers of 1 or more");
    const auto size = static_cast<std::uint64_t>(dim.as_integer());
    if (values > max_values / size)
      refuse(413, "too_large", where + ".shape: has more values than the limit of this server");
    values *= size;
    shape.push_back(dim.as_integer());
  }
  return shape;
}

PushTensor tensor_of(const Json& json, const std::string& where, std::uint64_t max_bytes) {
  if (!json.is_object()) refuse(400, "invalid_argument", where + ": must be an object");
  expect_keys(json, {"parameter", "dtype", "shape", "bytes", "sha256"}, where);
  PushTensor t;
  t.parameter = text_of(json, "parameter", where);
  if (t.parameter.empty() || t.parameter.size() > kMaxParameter)
    refuse(400, "invalid_argument", where + ".parameter: must be a name like 0.0.0.1:weight");
  t.dtype = text_of(json, "dtype", where);
  const std::uint64_t item = item_bytes(t.dtype);
  if (item == 0)
    refuse(400, "invalid_argument",
           where + ".dtype: must be f32, f64, f16 or bf16, got '" + t.dtype.substr(0, 40) + "'");
  t.shape = shape_of(json, where, max_bytes / item, t.values);
  t.bytes = t.values * item;
  if (json.find("bytes")) {
    const std::int64_t bytes = whole_of(json, "bytes", 0, INT64_MAX, where);
    if (static_cast<std::uint64_t>(bytes) != t.bytes)
      refuse(400, "invalid_argument",
             where + ".bytes: shape and dtype take " + std::to_string(t.bytes) + ", got " +
                 std::to_string(bytes));
  }
  if (json.find("sha256")) {
    t.sha256 = text_of(json, "sha256", where);
    if (!is_sha256(t.sha256))
      refuse(400, "invalid_argument", where + ".sha256: must be 64 hex digits in lower case");
  }
  return t;
}

void read_tensors(const Json& json, std::uint64_t max_bytes, Push& push) {
  const Json::Array& tensors = array_of(json, "tensors").as_array();
  if (tensors.empty() || tensors.size() > kMaxTensors)
    refuse(400, "invalid_argument",
           "tensors: has " + std::to_string(tensors.size()) + " entries, 1 to " +
               std::to_string(kMaxTensors) + " are allowed");
  std::set<std::string> names;
  bool all_hashed = true;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    PushTensor t = tensor_of(tensors[i], "tensors[" + std::to_string(i) + "]", max_bytes);
    if (!names.insert(t.parameter).second)
      refuse(400, "invalid_argument", "tensors: '" + t.parameter + "' stands twice");
    if (t.bytes > max_bytes - push.bytes)
      refuse(413, "too_large",
             "tensors: take more than the " + std::to_string(max_bytes) +
                 " bytes that this server takes in one push (--max-bytes)");
    t.begin = push.bytes;
    push.bytes += t.bytes;
    all_hashed = all_hashed && !t.sha256.empty();
    push.tensors.push_back(std::move(t));
  }
  if (json.find("nonce")) push.nonce = text_of(json, "nonce");
  else if (!all_hashed)
    refuse(400, "invalid_argument",
           "nonce: is required where a tensor has no sha256: a text that no other push has");
  if (push.nonce.size() > kMaxName)
    refuse(400, "invalid_argument", "nonce: may have 100 characters");
}

}  // namespace

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= kMaxName && plain(name.front()) && name.back() != '.' &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return plain(c) || c == '.' || c == '_' || c == '-'; });
}

std::uint64_t Push::chunk_bytes(std::uint64_t index) const {
  return std::min(kChunk, bytes - index * kChunk);
}

std::string Push::id() const {
  const std::string text = push_text(*this);
  return Sha256::hex(Sha256::of(std::as_bytes(std::span(text))));
}

Push parse_push(std::string_view body, std::uint64_t max_bytes) {
  const Json json = object_of(body);
  expect_keys(json, {"version", "name", "topology", "weights_of", "tensors", "inputs", "metadata",
                     "nonce"});
  whole_of(json, "version", kProtocol, kProtocol);
  Push push;
  push.name = text_of(json, "name");
  if (json.find("weights_of")) push.weights_of = text_of(json, "weights_of");
  const auto check_name = [](const char* key, const std::string& name) {
    if (!is_name(name))
      refuse(400, "invalid_argument",
             std::string(key) +
                 ": must be 1 to 100 letters, digits, '.', '_' or '-', with a "
                 "letter or digit first");
  };
  check_name("name", push.name);
  if (json.find("weights_of")) check_name("weights_of", push.weights_of);
  const Json* topology = json.find("topology");
  if (topology ? !push.weights_of.empty() : push.weights_of.empty())
    refuse(400, "invalid_argument", "either topology or weights_of is required, not both");
  if (topology && !topology->is_object())
    refuse(400, "invalid_argument", "topology: must be an object");
  if (topology) push.topology = topology->dump();
  for (const auto& [key, text] : {std::pair{"inputs", &push.inputs}, {"metadata", &push.metadata}})
    if (const Json* given = json.find(key)) {
      if (!given->is_object())
        refuse(400, "invalid_argument", std::string(key) + ": must be an object");
      *text = given->dump();
    }
  read_tensors(json, max_bytes, push);
  return push;
}

std::string push_text(const Push& push) {
  Json json = Json::object();
  json.set("version", kProtocol);
  json.set("name", push.name);
  if (!push.weights_of.empty()) json.set("weights_of", push.weights_of);
  if (!push.topology.empty()) json.set("topology", cli::parsed(push.topology));
  if (!push.inputs.empty()) json.set("inputs", cli::parsed(push.inputs));
  if (!push.metadata.empty()) json.set("metadata", cli::parsed(push.metadata));
  if (!push.nonce.empty()) json.set("nonce", push.nonce);
  Json tensors = Json::array();
  for (const PushTensor& t : push.tensors) {
    Json one = Json::object();
    one.set("parameter", t.parameter);
    one.set("dtype", t.dtype);
    Json shape = Json::array();
    for (const std::int64_t dim : t.shape) shape.push(dim);
    one.set("shape", std::move(shape));
    if (!t.sha256.empty()) one.set("sha256", t.sha256);
    tensors.push(std::move(one));
  }
  json.set("tensors", std::move(tensors));
  return json.dump();
}

void check_parameters(const Push& push, const Json& parameters) {
  std::map<std::string, const Json*> known;
  for (const Json& p : parameters.as_array())
    known[cli::text_in(p, "path") + ":" + cli::text_in(p, "role")] = &p;
  std::set<std::string> sent;
  for (const PushTensor& t : push.tensors) {
    const auto found = known.find(t.parameter);
    if (found == known.end())
      refuse(400, "invalid_argument",
             "tensors: the network has no parameter '" + t.parameter + "'");
    const Json& p = *found->second;
    if (cli::flag_in(p, "tied"))
      refuse(400, "invalid_argument",
             "tensors: '" + t.parameter + "' is tied: send the parameter that it is tied to");
    const std::int64_t rows = cli::integer_in(p, "rows"), cols = cli::integer_in(p, "cols");
    const auto values = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols);
    if (t.values != values || (rows > 1 && t.shape[0] != rows))
      refuse(400, "invalid_argument",
             "tensors: '" + t.parameter + "' has the shape [" + std::to_string(rows) + ", " +
                 std::to_string(cols) + "] in the network, " + std::to_string(t.values) +
                 " values with a first size of " + std::to_string(t.shape[0]) + " were announced");
    sent.insert(t.parameter);
  }
  if (!push.weights_of.empty()) return;
  for (const auto& [name, p] : known)
    if (!cli::flag_in(*p, "tied") && !sent.contains(name))
      refuse(400, "invalid_argument", "tensors: the parameter '" + name + "' is missing");
}

}  // namespace loom::bridge
