#include <algorithm>
#include <cstring>
#include <map>

#include "base/threads/thread_pool.h"
#include "convert/convert.h"
#include "convert/model_file.h"
#include "formats/tensor_file.h"
#include "llm/adapter.h"
#include "llm/import/entity_model.h"
#include "llm/import/import.h"

namespace loom {
namespace {

// In the file: f32 and f64 as they are, the rest packed.
std::uint64_t stored_bytes(const WeightStore& store) {
  const DType dtype = store.format().dtype;
  if (dtype == DType::f32 || dtype == DType::f64)
    return static_cast<std::uint64_t>(store.rows() * store.cols()) * (dtype == DType::f32 ? 4 : 8);
  return store.packed_bytes();
}

// Four sums of squares and of squared errors, and four largest errors, none of which waits for
// another.
typedef double Four __attribute__((vector_size(32)));
struct FourSums {
  Four squares = {}, error_squares = {}, largest = {};
};
template <class T>
__attribute__((always_inline)) inline void sum_up(const T* before, const double* after,
                                                  std::size_t count, FourSums& to) {
  typedef T Some __attribute__((vector_size(4 * sizeof(T))));
  FourSums sums = to;
  for (std::size_t i = 0; i < count; i += 4) {
    Some from;
    Four b, d;
    std::memcpy(&from, before + i, sizeof from);
    std::memcpy(&d, after + i, sizeof d);
    b = __builtin_convertvector(from, Four);
    d -= b;
    const Four error = d > -d ? d : -d;
    sums.squares += b * b;
    sums.error_squares += d * d;
    sums.largest = sums.largest > error ? sums.largest : error;
  }
  to = sums;
}
template <class T>
void sum_narrow(const T* before, const double* after, std::size_t count, FourSums& to) {
  sum_up(before, after, count, to);
}
template <class T>
using SumUp = void (*)(const T*, const double*, std::size_t, FourSums&);
#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2")]] void sum_avx2(const T* before, const double* after, std::size_t count,
                                      FourSums& to) {
  sum_up(before, after, count, to);
}
template <class T>
SumUp<T> best_sum() {
  return __builtin_cpu_supports("avx2") ? sum_avx2<T> : sum_narrow<T>;
}
#else
template <class T>
SumUp<T> best_sum() {
  return sum_narrow<T>;
}
#endif

// What became of the values that a store was made from, its master or those that `read` brings: the
// sums of whole parts, each by one of a team, added in order so that they are the same whoever took
// which.
class Comparison {
 public:
  explicit Comparison(WeightStore& store, const PackedMatrix::ReadRows* read = nullptr)
      : store_(store),
        read_(read),
        step_(std::max<std::int64_t>(kPart / store.cols(), 1)),
        parts_(static_cast<std::size_t>((store.rows() + step_ - 1) / step_)) {}

  Status run(ThreadPool& pool, ErrorSum& sum) {
    const DType dtype = store_.format().dtype;
    // Before several read them: what is packed, and zeros that nobody has made yet.
    if (dtype != DType::f32 && dtype != DType::f64) LOOM_TRY(store_.packed(&pool).status());
    else if (!store_.held()) (void)store_.master();
    // A team would find those of a vector no work.
    if (parts_.size() == 1) LOOM_TRY(share(this, 0, 1));
    else LOOM_TRY(pool.run_allocating(&Comparison::share, this));
    for (const ErrorSum& part : parts_) sum.add(part);
    return {};
  }

 private:
  static Status share(void* context, int worker, int workers) {
    auto* self = static_cast<Comparison*>(context);
    Room room;
    for (auto i = static_cast<std::size_t>(worker); i < self->parts_.size();
         i += static_cast<std::size_t>(workers))
      LOOM_TRY(self->compare(i, room));
    return {};
  }

  struct Room {
    std::vector<double> after;
    std::vector<float> before;
  };
  Status compare(std::size_t part, Room& room) {
    std::vector<double>& after = room.after;
    const std::int64_t first = static_cast<std::int64_t>(part) * step_, cols = store_.cols();
    const auto from = static_cast<std::size_t>(first * cols);
    after.resize(static_cast<std::size_t>(std::min(step_, store_.rows() - first) * cols));
    LOOM_TRY(store_.values(first, after));
    if (read_ || store_.held()) {
      room.before.resize(after.size());
      if (read_) LOOM_TRY((*read_)(first, room.before));
      else store_.read_master(first, room.before);
      add(std::span<const float>(room.before), after, parts_[part]);
    } else if (store_.master_is_f64()) {
      add(store_.master64().subspan(from), after, parts_[part]);
    } else {
      add(store_.master().subspan(from), after, parts_[part]);
    }
    return {};
  }

  template <class T>
  static void add(std::span<const T> before, std::span<const double> after, ErrorSum& sum) {
    FourSums four;
    const std::size_t end = after.size() / 4 * 4;
    best_sum<T>()(before.data(), after.data(), end, four);
    for (std::size_t j = 0; j < 4; ++j) {
      ErrorSum one{four.squares[j], four.error_squares[j], four.largest[j]};
      if (end + j < after.size()) one.add(static_cast<double>(before[end + j]), after[end + j]);
      sum.add(one);
    }
  }

  static constexpr std::int64_t kPart = 1 << 14;  // values
  WeightStore& store_;
  const PackedMatrix::ReadRows* read_;
  std::int64_t step_;
  std::vector<ErrorSum> parts_;
};

// What packing lost of matrices that were packed as they were read: the f32 of a model is more than
// many machines hold.
class Losses final : public PackWatch {
 public:
  explicit Losses(bool tokenizer) : tokenizer_(tokenizer) {}

  // Before the work that it would be in vain for.
  Status begins(const std::string& model, const Status& tokenizer) override {
    const Status lost = check_tokenizer(model, tokenizer);
    if (!tokenizer_ || lost.ok()) return {};
    return Status(lost.code(), lost.message() + "; \"tokenizer\": false leaves it out");
  }
  Status packed(WeightStore& store, const PackedMatrix::ReadRows& read, ThreadPool& team) override {
    return Comparison(store, &read).run(team, of_[&store]);
  }
  const ErrorSum* find(const WeightStore& store) const {
    const auto at = of_.find(&store);
    return at == of_.end() ? nullptr : &at->second;
  }

 private:
  bool tokenizer_;
  std::map<const WeightStore*, ErrorSum> of_;
};

Status rewrite(WeightStore& store, const ParamSpec& spec, const std::optional<WeightFormat>& format,
               ThreadPool& pool, const ErrorSum* known, Conversion::Row& row) {
  const std::int64_t shape[] = {spec.rows, spec.cols};
  row.shape = shape_text(shape);
  const bool master = known || store.has_master(), wide = !known && master && store.master_is_f64();
  row.from = !master ? to_string(store.format()) : wide ? "f64" : "f32";
  row.bytes_before = master ? static_cast<std::uint64_t>(spec.rows * spec.cols) * (wide ? 8 : 4)
                            : store.packed_bytes();
  if (format && spec.quantized) LOOM_TRY(store.morph(*format, &pool));
  row.to = to_string(store.format());
  row.bytes_after = stored_bytes(store);
  if (known) row.error = *known;
  // Without a master nothing has changed.
  if (!store.has_master()) return {};
  return Comparison(store).run(pool, row.error);
}

Status rewrite_all(Network& network, const std::optional<WeightFormat>& format,
                   const Losses* losses, std::vector<Conversion::Row>& rows) {
  ThreadPool pool;
  for (const Network::NamedParam& p : network.params()) {
    if (p.tied) continue;
    const ParamSpec& spec = p.param->spec;
    rows.emplace_back().name = p.path + ":" + spec.role;
    LOOM_TRY(rewrite(*p.param->store, spec, format, pool,
                     losses ? losses->find(*p.param->store) : nullptr, rows.back()));
  }
  return {};
}

}  // namespace

Status rewrite_weights(Network& network, const std::optional<WeightFormat>& format,
                       std::vector<Conversion::Row>& rows) {
  return rewrite_all(network, format, nullptr, rows);
}

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
  // An adapter is merged with values. Formats of class D, like f32, keep all that there is.
  const bool packs = format && adapter.empty() && format->arith() != ArithClass::real;
  const GgufBlocks blocks =
      dtype.empty() && adapter.empty() ? GgufBlocks::keep : GgufBlocks::decode;
  Losses losses(options.tokenizer);
  LOOM_ASSIGN(Model model, load_model(in, packs ? format : std::nullopt, blocks, &losses));
  if (const auto file = open_model_file(in); file.ok() && file->entity)
    note_training(*file->entity, in, report);
  if (!options.tokenizer) model.tokenizer = Status(Code::not_found, "it was left out");
  LOOM_TRY(losses.begins(model.name, model.tokenizer.status()));
  if (!model.tokenizer.ok())
    report.notes.push_back("without a tokenizer: " + model.tokenizer.status().message());
  if (!adapter.empty()) {
    LOOM_ASSIGN(Adapter read, load_adapter(adapter, model));
    LOOM_TRY(read.merge(model.network));
  }
  LOOM_TRY(rewrite_all(model.network, format, &losses, report.rows));
  if (format) LOOM_TRY(model.network.morph(*format));  // the cells' own formats
  Json provenance = Json::object();
  provenance.set("from", title_of(model.name));
  if (!adapter.empty()) provenance.set("adapter", title_of(adapter));
  if (format) provenance.set("dtype", to_string(*format));
  return save_model(out, model, provenance);
}

}  // namespace loom
