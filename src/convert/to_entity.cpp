#include "convert/convert.h"
#include "convert/model_file.h"
#include "formats/tensor_file.h"
#include "llm/adapter.h"
#include "llm/import/entity_model.h"

namespace loom {
namespace {

// In the file: f32 and f64 as they are, the rest packed.
std::uint64_t stored_bytes(const WeightStore& store) {
  const DType dtype = store.format().dtype;
  if (dtype == DType::f32 || dtype == DType::f64)
    return static_cast<std::uint64_t>(store.rows() * store.cols()) * (dtype == DType::f32 ? 4 : 8);
  return store.packed_bytes();
}

}  // namespace

void note_training(const Entity& entity, const std::string& in, Conversion& report) {
  if (entity.find_section("training"))
    report.notes.push_back("left out: the state of its training, which continues from " + in +
                           " alone");
}

Status convert_to_entity(const std::string& in, const std::string& out,
                         const ConvertOptions& options, Conversion& report) {
  const std::string &dtype = options.dtype, &adapter = options.adapter;
  std::optional<WeightFormat> format;
  if (!dtype.empty()) {
    LOOM_ASSIGN(format, parse_weight_format(dtype));
  }
  LOOM_ASSIGN(Model model, load_model(in));
  if (const auto file = open_model_file(in); file.ok() && file->entity)
    note_training(*file->entity, in, report);
  if (!options.tokenizer) model.tokenizer = Status(Code::not_found, "it was left out");
  // Before the work that it would be in vain for.
  if (const Status lost = model_sections(model).status(); !lost.ok())
    return Status(lost.code(), lost.message() + "; \"tokenizer\": false leaves it out");
  if (!model.tokenizer.ok())
    report.notes.push_back("without a tokenizer: " + model.tokenizer.status().message());
  if (!adapter.empty()) {
    LOOM_ASSIGN(Adapter read, load_adapter(adapter, model));
    LOOM_TRY(read.merge(model.network));
  }
  for (Network::NamedParam& p : model.network.params()) {
    if (p.tied) continue;
    WeightStore& store = *p.param->store;
    const ParamSpec& spec = p.param->spec;
    Conversion::Row row{p.path + ":" + spec.role,
                        shape_text(std::vector<std::int64_t>{spec.rows, spec.cols}),
                        to_string(store.format()),
                        "",
                        0,
                        0,
                        {}};
    std::vector<double> before(static_cast<std::size_t>(spec.rows * spec.cols)),
        after(before.size());
    LOOM_TRY(store.values(std::span<double>(before)));
    row.bytes_before = stored_bytes(store);
    if (format && spec.quantized) LOOM_TRY(store.morph(*format));
    LOOM_TRY(store.values(std::span<double>(after)));
    for (std::size_t i = 0; i < before.size(); ++i) row.error.add(before[i], after[i]);
    row.to = to_string(store.format());
    row.bytes_after = stored_bytes(store);
    report.rows.push_back(std::move(row));
  }
  if (format) LOOM_TRY(model.network.morph(*format));  // the cells' own formats
  Json provenance = Json::object();
  provenance.set("from", title_of(model.name));
  if (!adapter.empty()) provenance.set("adapter", title_of(adapter));
  if (format) provenance.set("dtype", to_string(*format));
  return save_model(out, model, provenance);
}

}  // namespace loom
