#include <algorithm>
#include <atomic>

#include "base/threads/thread_pool.h"
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

// The parameters in a new format, each by one of a team, with what that did to it.
class Rewriting {
 public:
  Rewriting(Network& network, const std::optional<WeightFormat>& format,
            std::vector<Conversion::Row>& rows)
      : format_(format), rows_(rows) {
    for (const Network::NamedParam& p : network.params())
      if (!p.tied) params_.push_back(p);
  }

  Status run() {
    rows_.resize(params_.size());
    done_.resize(params_.size());
    ThreadPool pool;
    LOOM_TRY(pool.run_allocating(&Rewriting::share, this));
    // All before the first that failed were begun, so it is the same one every time.
    for (const Status& s : done_) LOOM_TRY(s);
    return {};
  }

 private:
  static Status share(void* context, int, int) {
    auto* self = static_cast<Rewriting*>(context);
    for (std::size_t i; (i = self->next_.fetch_add(1)) < self->params_.size();) {
      self->done_[i] = self->rewrite(self->params_[i], self->rows_[i]);
      if (!self->done_[i].ok()) self->next_.store(self->params_.size());
    }
    return {};
  }

  Status rewrite(const Network::NamedParam& p, Conversion::Row& row) const {
    WeightStore& store = *p.param->store;
    const ParamSpec& spec = p.param->spec;
    row.name = p.path + ":" + spec.role;
    row.shape = shape_text(std::vector<std::int64_t>{spec.rows, spec.cols});
    row.from = to_string(store.format());
    row.bytes_before = stored_bytes(store);
    WeightStore before = store;
    if (format_ && spec.quantized) LOOM_TRY(store.morph(*format_));
    row.to = to_string(store.format());
    row.bytes_after = stored_bytes(store);
    const std::int64_t step = std::max<std::int64_t>(kPart / spec.cols, 1);
    std::vector<double> x, y;
    for (std::int64_t first = 0; first < spec.rows; first += step) {
      x.resize(static_cast<std::size_t>(std::min(step, spec.rows - first) * spec.cols));
      y.resize(x.size());
      LOOM_TRY(before.values(first, x));
      LOOM_TRY(store.values(first, y));
      for (std::size_t i = 0; i < x.size(); ++i) row.error.add(x[i], y[i]);
    }
    return {};
  }

  static constexpr std::int64_t kPart = 1 << 14;  // values
  const std::optional<WeightFormat>& format_;
  std::vector<Network::NamedParam> params_;
  std::vector<Conversion::Row>& rows_;
  std::vector<Status> done_;
  std::atomic<std::size_t> next_{0};
};

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
  LOOM_TRY(Rewriting(model.network, format, report.rows).run());
  if (format) LOOM_TRY(model.network.morph(*format));  // the cells' own formats
  Json provenance = Json::object();
  provenance.set("from", title_of(model.name));
  if (!adapter.empty()) provenance.set("adapter", title_of(adapter));
  if (format) provenance.set("dtype", to_string(*format));
  return save_model(out, model, provenance);
}

}  // namespace loom
