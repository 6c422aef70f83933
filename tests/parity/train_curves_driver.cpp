// Trains what a JSON file says and prints initial weights and losses: the other half of
// tests/parity/train_curves.py and pytorch/torch_curves.py.
//   train_curves_driver FILE    {"spec": training spec, "data": {"x": [...], "width": N, "y":
//   [...], "targets": M}, "classes": [...] in place of y and
//                               targets, or {"ids": [...], "length": N}, and "weights": [...] of
//                               the samples}; or a list of such jobs, which gives a list
#include <cstdio>

#include "base/files/source.h"
#include "train/trainer.h"

namespace loom {
namespace {

Result<std::vector<float>> reals(const Json& data, std::string_view key) {
  const Json* list = data.find(key);
  if (!list || !list->is_array())
    return Status(Code::invalid_argument, "no list \"" + std::string(key) + "\"");
  std::vector<float> values;
  for (const Json& v : list->as_array()) values.push_back(static_cast<float>(v.as_number()));
  return values;
}

Result<std::unique_ptr<DataSource>> unweighted(const Json& data) {
  if (data.find("ids")) {
    LOOM_ASSIGN(const std::vector<float> ids, reals(data, "ids"));
    LOOM_ASSIGN(const std::int64_t length, data.get_integer("length", 1));
    LOOM_ASSIGN(auto tokens,
                TokenData::create(std::vector<std::uint32_t>(ids.begin(), ids.end()), {}, length));
    return std::unique_ptr<DataSource>(std::move(tokens));
  }
  LOOM_ASSIGN(std::vector<float> x, reals(data, "x"));
  LOOM_ASSIGN(const std::int64_t width, data.get_integer("width", 1));
  if (data.find("classes")) {
    LOOM_ASSIGN(const std::vector<float> classes, reals(data, "classes"));
    LOOM_ASSIGN(auto arrays,
                ArrayData::create(std::move(x), width,
                                  std::vector<std::int32_t>(classes.begin(), classes.end())));
    return std::unique_ptr<DataSource>(std::move(arrays));
  }
  LOOM_ASSIGN(std::vector<float> y, reals(data, "y"));
  LOOM_ASSIGN(const std::int64_t targets, data.get_integer("targets", 1));
  LOOM_ASSIGN(auto arrays, ArrayData::create(std::move(x), width, std::move(y), targets));
  return std::unique_ptr<DataSource>(std::move(arrays));
}

Result<std::unique_ptr<DataSource>> source(const Json& data) {
  LOOM_ASSIGN(std::unique_ptr<DataSource> samples, unweighted(data));
  if (!data.find("weights")) return samples;
  LOOM_ASSIGN(std::vector<float> of_samples, reals(data, "weights"));
  LOOM_ASSIGN(auto weighted, WeightedData::create(std::move(samples), std::move(of_samples)));
  return std::unique_ptr<DataSource>(std::move(weighted));
}

Json weights(Network& network) {
  Json all = Json::object();
  for (const Network::NamedParam& p : network.params()) {
    if (p.tied) continue;
    Json values = Json::array();
    for (const float v : p.param->store->master()) values.push(static_cast<double>(v));
    all.set(p.path + ":" + p.param->spec.role, std::move(values));
  }
  return all;
}

Result<Json> train(const Json& job) {
  if (!job.find("spec") || !job.find("data"))
    return Status(Code::invalid_argument, "expects \"spec\" and \"data\"");
  LOOM_ASSIGN(const TrainingSpec spec, parse_training_spec(*job.find("spec")));
  LOOM_ASSIGN(const auto data, source(*job.find("data")));
  LOOM_ASSIGN(Network network, create_network(spec));
  ThreadPool pool(1);
  LOOM_ASSIGN(const auto trainer, Trainer::create(spec, network, *data, pool));
  Json result = Json::object(), losses = Json::array();
  result.set("initial", weights(network));
  LOOM_TRY(trainer->run([&](const StepReport& r) -> Result<bool> {
    losses.push(r.loss);
    return true;
  }));
  result.set("final", weights(network));
  result.set("losses", std::move(losses));
  return result;
}

Result<Json> train_file(const char* path) {
  LOOM_ASSIGN(const std::string text, read_text_file(path));
  LOOM_ASSIGN(const Json jobs, Json::parse(text));
  if (!jobs.is_array()) return train(jobs);
  Json results = Json::array();
  for (const Json& job : jobs.as_array()) {
    LOOM_ASSIGN(Json result, train(job));
    results.push(std::move(result));
  }
  return results;
}

}  // namespace
}  // namespace loom

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: train_curves_driver FILE\n");
    return 2;
  }
  const auto result = loom::train_file(argv[1]);
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().to_string().c_str());
    return 1;
  }
  std::puts(result->dump().c_str());
  return 0;
}
