// Networks: topology, parameters, formats, files.
#include <algorithm>
#include <functional>

#include "base/message.h"
#include "base/threads/thread_pool.h"
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "checkpoint/entity.h"
#include "checkpoint/network_json.h"
#include "convert/weights/from_weights.h"
#include "exec/session.h"
#include "genome/dna.h"
#include "grid/blueprint.h"
#include "grid/emit/emitter.h"
#include "grid/saved_network.h"
#include "llm/adapter.h"
#include "llm/import/entity_model.h"
#include "train/auto_config/auto_config.h"

using namespace loom;
using namespace loom::c_api;

namespace loom::c_api {

Result<std::size_t> parse_cell(const Network& network, std::string_view text) {
  const Status wrong(Code::invalid_argument, "cell: expects \"z.y.x.l\", four numbers, got \"" +
                                                 std::string(text.substr(0, 100)) + "\"");
  std::int64_t part[4] = {};
  std::size_t at = 0;
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && (at >= text.size() || text[at++] != '.')) return wrong;
    const std::size_t begin = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && at - begin < 10; ++at)
      part[i] = part[i] * 10 + (text[at] - '0');
    if (at == begin) return wrong;
  }
  if (at != text.size()) return wrong;
  const Coordinate c{part[0], part[1], part[2], part[3]};
  if (!network.contains(c)) {
    return Status(Code::out_of_range,
                  message("cell ", text, ": the grid has ", network.depth(), " x ", network.rows(),
                          " x ", network.cols(), " x ", network.layers_per_cell(), " cells"));
  }
  return network.index(c);
}

}  // namespace loom::c_api

namespace {

loom_handle new_network(Network network, EntitySections sections = {}) {
  auto shared = std::make_shared<SharedNetwork>(std::move(network));
  shared->sections = std::move(sections);
  return add(std::make_shared<NetworkObject>(std::move(shared)));
}

// What begins with a brace is JSON: of a network that the Go engine saved.
Result<bool> is_json(const ByteSource& source) {
  std::byte first{};
  if (source.size() == 0) return false;
  LOOM_TRY(source.read(0, {&first, 1}));
  return first == std::byte{'{'};
}

Result<loom_handle> load(SourcePtr source) {
  LOOM_ASSIGN(const bool json, is_json(*source));
  if (json) {
    constexpr std::uint64_t kMax = std::uint64_t{1} << 30;
    if (source->size() > kMax)
      return Status(Code::invalid_argument, message(source->name(), ": JSON of more than 1 GiB"));
    std::string text(static_cast<std::size_t>(source->size()), '\0');
    LOOM_TRY(source->read(0, std::as_writable_bytes(std::span(text))));
    LOOM_ASSIGN(const Json saved, Json::parse(text, {.max_bytes = kMax}));
    if (is_network_json(saved)) {
      auto bytes = entity_of_json(saved);
      if (!bytes.ok()) return bytes.status().at(source->name());
      return load(source_from_bytes(std::move(*bytes), source->name()));
    }
    LOOM_ASSIGN(Network network, network_of_saved(saved));
    return new_network(std::move(network));
  }
  LOOM_ASSIGN(const Entity file, Entity::open(std::move(source)));
  LOOM_ASSIGN(Network network, load_network(file));
  LOOM_ASSIGN(EntitySections sections, kept_sections(file));
  return new_network(std::move(network), std::move(sections));
}

// Runs body(network) alone on it. `Change` says what it leaves behind, if it succeeds or not: a
// failed change may have begun.
enum class Change { none, values, forms };

template <class F>
Status alone(loom_network handle, Change change, F body) {
  LOOM_ASSIGN(const auto object, get<NetworkObject>(handle));
  SharedNetwork& shared = *object->shared;
  LOOM_ASSIGN(const auto lock, shared.hold_alone());
  if (change != Change::none) ++shared.values;
  if (change == Change::forms) ++shared.forms;
  return body(shared.network);
}

Status without_adapter(loom_network handle) {
  LOOM_ASSIGN(const auto object, get<NetworkObject>(handle));
  if (!object->shared->adapter) return {};
  return Status(Code::unsupported,
                "the network runs with an adapter, which other formats do not have: add it to the "
                "weights first");
}

// What raw data of the network are goes along.
Status add_inputs(loom_network handle, ExportOptions& options) {
  LOOM_ASSIGN(const auto object, get<NetworkObject>(handle));
  const auto& sections = object->shared->sections.bytes;
  if (const auto found = sections.find("inputs"); found != sections.end())
    options.inputs = found->second;
  return {};
}

Result<std::string> json_of(loom_network handle) {
  LOOM_ASSIGN(const auto object, get<NetworkObject>(handle));
  std::string text;
  LOOM_TRY(alone(handle, Change::none, [&](Network& n) -> Status {
    LOOM_ASSIGN(const EntitySections sections, sections_of(*object->shared));
    LOOM_ASSIGN(text, network_to_json(n, sections));
    return {};
  }));
  return text;
}

Status save(loom_network handle, const Destination& to) {
  LOOM_ASSIGN(const auto object, get<NetworkObject>(handle));
  return alone(handle, Change::none, [&](Network& n) -> Status {
    LOOM_ASSIGN(const EntitySections sections, sections_of(*object->shared));
    return save_network(to, n, sections);
  });
}

Result<WeightStore*> find_parameter(Network& network, const char* path, size_t path_size,
                                    const char* role, size_t role_size) {
  LOOM_ASSIGN(const std::string_view p, text_argument(path, path_size, "path"));
  LOOM_ASSIGN(const std::string_view r, text_argument(role, role_size, "role"));
  WeightStore* store = network.find(p, r);
  if (!store)
    return Status(Code::not_found, message("the network has no parameter '", p.substr(0, 100), ":",
                                           r.substr(0, 100), "': network_parameters lists them"));
  return store;
}

Result<Program> program_of(loom_network network, const char* options, std::size_t size) {
  LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
  LOOM_ASSIGN(const SessionSettings settings,
              session_settings(options_json(options, size), *object->shared));
  LOOM_ASSIGN(const auto lock, object->shared->hold_alone());
  return emit_program(object->shared->network, settings.options);
}

template <class T>
Status get_values(loom_network network, const char* path, size_t path_size, const char* role,
                  size_t role_size, T* values, size_t count) {
  LOOM_ASSIGN(const std::span<T> out, c_api::span(values, count, "values"));
  return alone(network, Change::none, [&](Network& n) -> Status {
    LOOM_ASSIGN(WeightStore* const store, find_parameter(n, path, path_size, role, role_size));
    LOOM_TRY(expect_count("values", count, store->rows() * store->cols()));
    return store->values(out);
  });
}

template <class T>
Status set_values(loom_network network, const char* path, size_t path_size, const char* role,
                  size_t role_size, const T* values, size_t count) {
  LOOM_ASSIGN(const std::span<const T> in, c_api::span(values, count, "values"));
  return alone(network, Change::values, [&](Network& n) -> Status {
    LOOM_ASSIGN(WeightStore* const store, find_parameter(n, path, path_size, role, role_size));
    LOOM_TRY(expect_count("values", count, store->rows() * store->cols()));
    if (!store->has_master())
      return Status(Code::invalid_argument,
                    "the parameter runs from its packed form alone: morph its cell first");
    if (store->master_is_f64()) std::copy(in.begin(), in.end(), store->mutable_master64().begin());
    else
      std::transform(in.begin(), in.end(), store->mutable_master().begin(),
                     [](T v) { return static_cast<float>(v); });
    store->touch();
    return {};
  });
}

Json parameters_json(Network& network) {
  Json list = Json::array();
  for (const Network::NamedParam& p : network.params()) {
    Json entry = Json::object();
    entry.set("path", p.path);
    entry.set("role", p.param->spec.role);
    entry.set("rows", p.param->spec.rows);
    entry.set("cols", p.param->spec.cols);
    entry.set("format", to_string(p.param->store->format()));
    entry.set("tied", p.tied);
    list.push(std::move(entry));
  }
  return list;
}

EntitySections own_sections(const SharedNetwork& shared) {
  EntitySections sections = shared.sections;
  if (shared.values > 0) sections.bytes.erase("report");  // the figures of other weights
  return sections;
}

Status no_adapter() {
  return Status(
      Code::invalid_argument,
      "the network has no adapter: network_load_adapter and a trainer with \"lora\" give it one");
}

// How many encode its weights: small ones are done before a team would have begun.
int encoders_of(Network& n) { return n.parameter_count() < 1 << 16 ? 1 : 0; }

}  // namespace

AdapterBase loom::c_api::base_of(const SharedNetwork& shared) {
  return shared.model ? AdapterBase{shared.model->name, true} : AdapterBase{};
}

Result<EntitySections> loom::c_api::sections_of(SharedNetwork& shared) {
  if (!shared.model) return own_sections(shared);
  LOOM_ASSIGN(EntitySections sections, model_sections(*shared.model));
  if (shared.values > 0) sections.bytes.erase("report");
  return sections;
}

std::vector<AdapterPlace> loom::c_api::places_of(SharedNetwork& shared) {
  return shared.model ? adapter_places(*shared.model) : adapter_places(shared.network);
}

extern "C" {

int32_t loom_network_create(const char* topology, size_t topology_size, loom_network* network,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(network));
    LOOM_ASSIGN(const Json t, json_argument(topology, topology_size, "topology"));
    LOOM_ASSIGN(Network n, Network::from_json(t));
    *network = new_network(std::move(n));
    return {};
  });
}

int32_t loom_network_initialize(loom_network network, uint64_t seed, loom_error* error) {
  return call(error, [&] {
    return alone(network, Change::values, [&](Network& n) { return n.initialize(seed); });
  });
}

int32_t loom_network_load(const char* path, size_t path_size, loom_network* network,
                          loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(network));
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    LOOM_ASSIGN(SourcePtr source, open_source(p));
    LOOM_ASSIGN(*network, load(std::move(source)));
    return {};
  });
}

int32_t loom_network_load_bytes(loom_bytes bytes, loom_network* network, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(network));
    LOOM_ASSIGN(const auto b, get<Bytes>(bytes));
    LOOM_ASSIGN(*network, load(b->source()));
    return {};
  });
}

int32_t loom_network_load_file(loom_file file, loom_network* network, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(network));
    LOOM_ASSIGN(const auto f, get<FileObject>(file));
    if (!f->file.source)
      return Status(Code::unsupported,
                    message(f->file.path, ": is a folder: networks are loaded from files"));
    LOOM_ASSIGN(*network, load(f->file.source));
    return {};
  });
}

int32_t loom_network_from_weights(loom_file file, const char* settings, size_t settings_size,
                                  loom_network* network, loom_bytes* report, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(network, report));
    LOOM_ASSIGN(const auto f, get<FileObject>(file));
    LOOM_ASSIGN(const Json given, json_argument(settings, settings_size, "settings"));
    LOOM_ASSIGN(WeightsReport made, weights_of(f->file, given, OpenQuestions::refuse));
    NewHandle text(new_json(made.json));
    *network = new_network(std::move(*made.network));
    *report = text.take();
    return {};
  });
}

int32_t loom_network_save(loom_network network, const char* path, size_t path_size,
                          loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    if (!p.ends_with(".json")) return save(network, p);
    LOOM_ASSIGN(const std::string json, json_of(network));
    return write_file(p, std::as_bytes(std::span(json)));
  });
}

int32_t loom_network_save_json(loom_network network, loom_bytes* text, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(text));
    LOOM_ASSIGN(const std::string json, json_of(network));
    *text = new_text(json);
    return {};
  });
}

int32_t loom_network_save_bytes(loom_network network, loom_bytes* bytes, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    std::vector<std::byte> file;
    LOOM_TRY(save(network, &file));
    *bytes = new_bytes(std::move(file));
    return {};
  });
}

int32_t loom_network_export(loom_network network, const char* path, size_t path_size,
                            const char* options, size_t options_size, loom_bytes* report,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(report));
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    ExportOptions o;
    LOOM_TRY(read_options(options, options_size, o));
    return alone(network, Change::none, [&](Network& n) -> Status {
      LOOM_TRY(without_adapter(network));
      LOOM_TRY(add_inputs(network, o));
      LOOM_ASSIGN(const Json json, export_file(n, p, o));
      *report = new_json(json);
      return {};
    });
  });
}

int32_t loom_network_export_bytes(loom_network network, const char* format, size_t format_size,
                                  const char* options, size_t options_size, loom_bytes* bytes,
                                  loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    LOOM_ASSIGN(const std::string_view f, text_argument(format, format_size, "format"));
    ExportOptions o;
    LOOM_TRY(read_options(options, options_size, o));
    return alone(network, Change::none, [&](Network& n) -> Status {
      LOOM_TRY(without_adapter(network));
      LOOM_TRY(add_inputs(network, o));
      LOOM_ASSIGN(std::vector<std::byte> file, export_bytes(n, std::string(f), o));
      *bytes = new_bytes(std::move(file));
      return {};
    });
  });
}

int32_t loom_network_copy(loom_network network, loom_network* copy, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(copy));
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    return alone(network, Change::none, [&](Network& n) -> Status {
      LOOM_ASSIGN(Network made, copy_network(n));
      *copy = new_network(std::move(made), own_sections(*object->shared));
      return {};
    });
  });
}

int32_t loom_network_topology(loom_network network, loom_bytes* topology, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(topology));
    return alone(network, Change::none, [&](Network& n) {
      *topology = new_json(n.to_json());
      return Status();
    });
  });
}

int32_t loom_network_inputs(loom_network network, loom_bytes* inputs, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(inputs));
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    return alone(network, Change::none, [&](Network&) -> Status {
      const auto& sections = object->shared->sections.bytes;
      const auto found = sections.find("inputs");
      Json json;
      if (found != sections.end()) {
        LOOM_ASSIGN(json, Json::parse(found->second));
      }
      *inputs = new_json(json);
      return {};
    });
  });
}

int32_t loom_network_set_inputs(loom_network network, const char* inputs, size_t inputs_size,
                                loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const Json json, json_argument(inputs, inputs_size, "inputs"));
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    return alone(network, Change::none, [&](Network& n) -> Status {
      auto& sections = object->shared->sections.bytes;
      if (json.is_null()) {
        sections.erase("inputs");
        return {};
      }
      LOOM_TRY(check_inputs(json, n));
      sections["inputs"] = json.dump();
      return {};
    });
  });
}

int32_t loom_network_revision(loom_network network, std::uint64_t* revision, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(revision));
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    LOOM_ASSIGN(const auto lock, object->shared->hold_alone());
    *revision = object->shared->forms;
    return {};
  });
}

int32_t loom_network_info(loom_network network, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    return alone(network, Change::none, [&](Network& n) {
      Json json = Json::object(), input = Json::object(), output = Json::object();
      const auto described = [](Json& json, const Shape& shape) {
        if (shape.ids > 0) json.set("ids", shape.ids);
        else json.set("width", shape.width);
        if (!shape.dims.empty())
          json.set("dims", Json(Json::Array(shape.dims.begin(), shape.dims.end())));
        if (shape.axis == Axis::steps || shape.axis == Axis::channels)
          json.set("axis", shape.axis == Axis::steps ? "steps" : "channels");
      };
      const auto with_parts = [&](Json& json, const Shape& shape) {
        described(json, shape);
        if (shape.parts.empty()) return;
        Json parts = Json::array();
        for (const Shape& part : shape.parts) {
          Json one = Json::object();
          one.set("name", part.name);
          described(one, part);
          parts.push(std::move(one));
        }
        json.set("parts", std::move(parts));
      };
      with_parts(input, n.input());
      if (n.input().ids == 0 && input_type(n) == ValueType::f64) input.set("dtype", "f64");
      with_parts(output, n.output());
      json.set("version", n.version());
      json.set("depth", n.depth());
      json.set("rows", n.rows());
      json.set("cols", n.cols());
      json.set("layers_per_cell", n.layers_per_cell());
      json.set("input", std::move(input));
      json.set("output", std::move(output));
      Json cells = Json::array();
      for (std::size_t i = 0; i < n.size(); ++i) {
        const Node& node = n.node(i);
        if (!node.type && node.links.empty() && node.enabled) continue;
        Json cell = Json::object();
        cell.set("path", n.path(i));
        described(cell, n.output(i));
        cells.push(std::move(cell));
      }
      json.set("cells", std::move(cells));
      json.set("parameters", n.parameter_count());
      json.set("weight_bytes", n.weight_bytes());
      if (const auto& adapter = object->shared->adapter)
        json.set("adapter_parameters", adapter->parameter_count());
      *info = new_json(json);
      return Status();
    });
  });
}

int32_t loom_network_parameters(loom_network network, loom_bytes* parameters, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(parameters));
    return alone(network, Change::none, [&](Network& n) {
      *parameters = new_json(parameters_json(n));
      return Status();
    });
  });
}

int32_t loom_network_blueprint(loom_network network, const char* id, size_t id_size,
                               loom_bytes* blueprint_json, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(blueprint_json));
    LOOM_ASSIGN(const std::string_view name, text_argument(id, id_size, "id"));
    return alone(network, Change::none, [&](Network& n) {
      *blueprint_json = new_json(blueprint(n, name));
      return Status();
    });
  });
}

int32_t loom_network_digest(loom_network network, loom_bytes* sha256, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(sha256));
    return alone(network, Change::none, [&](Network& n) -> Status {
      LOOM_ASSIGN(const std::string hex, digest(n));
      *sha256 = new_text(hex);
      return {};
    });
  });
}

int32_t loom_network_dna(loom_network network, loom_bytes* dna, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(dna));
    return alone(network, Change::none, [&](Network& n) -> Status {
      LOOM_ASSIGN(const Dna found, dna_of(n));
      *dna = new_json(to_json(found));
      return {};
    });
  });
}

int32_t loom_network_compare_dna(loom_network a, loom_network b, loom_bytes* report,
                                 loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(report));
    LOOM_ASSIGN(const auto x, get<NetworkObject>(a));
    LOOM_ASSIGN(const auto y, get<NetworkObject>(b));
    // Two threads that compare the same networks take their locks in one order.
    SharedNetwork *first = x->shared.get(), *second = y->shared.get();
    if (std::less<>()(second, first)) std::swap(first, second);
    LOOM_ASSIGN(const auto lock, first->hold_alone());
    std::optional<locks::unique_lock<locks::fair_mutex>> other;
    if (second != first) {
      LOOM_ASSIGN(other, second->hold_alone());
    }
    LOOM_ASSIGN(const DnaComparison found, compare(x->shared->network, y->shared->network));
    *report = new_json(to_json(found));
    return {};
  });
}

int32_t loom_network_get_f32(loom_network network, const char* path, size_t path_size,
                             const char* role, size_t role_size, float* values, size_t values_count,
                             loom_error* error) {
  return call(error, [&] {
    return get_values(network, path, path_size, role, role_size, values, values_count);
  });
}

int32_t loom_network_get_f64(loom_network network, const char* path, size_t path_size,
                             const char* role, size_t role_size, double* values,
                             size_t values_count, loom_error* error) {
  return call(error, [&] {
    return get_values(network, path, path_size, role, role_size, values, values_count);
  });
}

int32_t loom_network_set_f32(loom_network network, const char* path, size_t path_size,
                             const char* role, size_t role_size, const float* values,
                             size_t values_count, loom_error* error) {
  return call(error, [&] {
    return set_values(network, path, path_size, role, role_size, values, values_count);
  });
}

int32_t loom_network_set_f64(loom_network network, const char* path, size_t path_size,
                             const char* role, size_t role_size, const double* values,
                             size_t values_count, loom_error* error) {
  return call(error, [&] {
    return set_values(network, path, path_size, role, role_size, values, values_count);
  });
}

int32_t loom_network_cell(loom_network network, const char* cell, size_t cell_size,
                          loom_bytes* json, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(json));
    LOOM_ASSIGN(const std::string_view c, text_argument(cell, cell_size, "cell"));
    return alone(network, Change::none, [&](Network& n) -> Status {
      LOOM_ASSIGN(const std::size_t index, parse_cell(n, c));
      *json = new_json(n.cell_json(index));
      return {};
    });
  });
}

int32_t loom_network_set_cell(loom_network network, const char* cell, size_t cell_size,
                              const char* json, size_t json_size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view c, text_argument(cell, cell_size, "cell"));
    LOOM_ASSIGN(const Json j, json_argument(json, json_size, "cell"));
    return alone(network, Change::forms, [&](Network& n) -> Status {
      LOOM_ASSIGN(const std::size_t index, parse_cell(n, c));
      return n.change([&] { return n.set_cell(n.coordinate(index), j); });
    });
  });
}

int32_t loom_network_set_links(loom_network network, const char* cell, size_t cell_size,
                               const char* links, size_t links_size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view c, text_argument(cell, cell_size, "cell"));
    LOOM_ASSIGN(const Json j, json_argument(links, links_size, "links"));
    return alone(network, Change::forms, [&](Network& n) -> Status {
      LOOM_ASSIGN(const std::size_t index, parse_cell(n, c));
      return n.set_links(n.coordinate(index), j);
    });
  });
}

int32_t loom_network_enable(loom_network network, const char* cell, size_t cell_size,
                            int32_t enabled, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view c, text_argument(cell, cell_size, "cell"));
    return alone(network, Change::forms, [&](Network& n) -> Status {
      LOOM_ASSIGN(const std::size_t index, parse_cell(n, c));
      return n.enable(index, enabled != 0);
    });
  });
}

int32_t loom_network_morph(loom_network network, const char* format, size_t format_size,
                           const char* cell, size_t cell_size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view f, text_argument(format, format_size, "format"));
    LOOM_ASSIGN(const std::string_view c, text_argument(cell, cell_size, "cell"));
    LOOM_ASSIGN(const WeightFormat to, parse_weight_format(f));
    return alone(network, Change::forms, [&](Network& n) -> Status {
      ThreadPool team(encoders_of(n));
      if (c.empty()) return n.morph(to, &team);
      LOOM_ASSIGN(const std::size_t index, parse_cell(n, c));
      return n.morph(index, to, &team);
    });
  });
}

int32_t loom_network_pack(loom_network network, const char* format, size_t format_size,
                          loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view f, text_argument(format, format_size, "format"));
    LOOM_ASSIGN(const WeightFormat to, parse_weight_format(f));
    return alone(network, Change::forms, [&](Network& n) {
      ThreadPool team(encoders_of(n));
      return n.pack(to, &team);
    });
  });
}

int32_t loom_network_load_adapter(loom_network network, const char* path, size_t path_size,
                                  loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    SharedNetwork& shared = *object->shared;
    LOOM_ASSIGN(const auto lock, shared.hold_alone());
    LOOM_ASSIGN(Adapter adapter, load_adapter(p, places_of(shared)));
    LOOM_TRY(adapter.fit(shared.network).at(p));
    shared.adapter = std::make_shared<Adapter>(std::move(adapter));
    return {};
  });
}

int32_t loom_network_save_adapter(loom_network network, const char* path, size_t path_size,
                                  loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    SharedNetwork& shared = *object->shared;
    LOOM_ASSIGN(const auto lock, shared.hold_alone());
    if (!shared.adapter) return no_adapter();
    return save_adapter(p, *shared.adapter, places_of(shared), base_of(shared));
  });
}

int32_t loom_network_unload_adapter(loom_network network, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    LOOM_ASSIGN(const auto lock, object->shared->hold_alone());
    object->shared->adapter.reset();
    return {};
  });
}

int32_t loom_network_merge_adapter(loom_network network, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    SharedNetwork& shared = *object->shared;
    LOOM_ASSIGN(const auto lock, shared.hold_alone());
    if (!shared.adapter) return no_adapter();
    LOOM_TRY(shared.adapter->merge(shared.network));
    shared.adapter.reset();
    ++shared.values;
    ++shared.forms;  // a trainer of the adapter has lost what it stood on
    return {};
  });
}

int32_t loom_network_program(loom_network network, const char* options, size_t options_size,
                             loom_bytes* program, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(program));
    LOOM_ASSIGN(const Program p, program_of(network, options, options_size));
    *program = new_text(p.to_text());
    return {};
  });
}

int32_t loom_network_save_program(loom_network network, const char* options, size_t options_size,
                                  loom_bytes* program, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(program));
    LOOM_ASSIGN(const Program p, program_of(network, options, options_size));
    *program = new_text(p.encode());
    return {};
  });
}

int32_t loom_network_program_sha256(loom_network network, const char* options, size_t options_size,
                                    loom_bytes* sha256, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(sha256));
    LOOM_ASSIGN(const Program p, program_of(network, options, options_size));
    *sha256 = new_text(Sha256::hex(p.hash()));
    return {};
  });
}

}  // extern "C"
