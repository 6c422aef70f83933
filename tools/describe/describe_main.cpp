// describe: what every layer type, cell and topology takes, as JSON on stdout. tools/generate
// makes of it the schemas, the reference and the types of the bindings. Built from the layers'
// sources with LOOM_DESCRIBE, which keeps the documentation that the library leaves out.
#include <cstdio>

#include "c_api/describe.h"
#include "grid/topology_config.h"
#include "layers/cell.h"
#include "layers/layer.h"
#include "layers/metacognition/rules.h"
#include "train/spec/describe.h"
#include "train/spec/spec_fields.h"

namespace loom {
namespace {

template <class Config>
Json description() {
  FieldDescriber describer;
  Config().fields(describer);
  return describer.take();
}

Json layers() {
  Json list = Json::array();
  for (const LayerType* type : layer_types()) {
    FieldDescriber describer;
    type->describe(describer);
    Json one = Json::object();
    one.set("type", type->name());
    one.set("container", type->is_container());
    const Json fields = describer.take();
    for (const auto& [key, value] : fields.as_object()) one.set(key, value);
    list.push(std::move(one));
  }
  return list;
}

template <class Spec>
Json object_of(Spec spec, const char* about) {
  FieldDescriber describer;
  describer.about(about);
  fields(describer, spec);
  return describer.take();
}

// An object whose keys depend on its kind: one list for each.
template <class Spec, std::size_t N>
Json by_kind(const std::string_view (&names)[N]) {
  Json list = Json::array();
  for (std::size_t i = 0; i < N; ++i) {
    Spec spec;
    spec.kind = static_cast<decltype(spec.kind)>(i);
    Json one = Json::object();
    one.set("type", names[i]);
    const Json fields = object_of(spec, "of this type");
    for (const auto& [key, value] : fields.as_object()) one.set(key, value);
    list.push(std::move(one));
  }
  return list;
}

// The options of the C interface, by the function that takes them.
Json options() {
  Json list = Json::array();
  const auto add = [&](const char* function, auto options, const char* about) {
    Json one = Json::object();
    one.set("type", function);
    const Json fields = object_of(std::move(options), about);
    for (const auto& [key, value] : fields.as_object()) one.set(key, value);
    list.push(std::move(one));
  };
  add("session_create", c_api::SessionCreate(),
      "A session: a network that runs. `loom_network_program` takes the same.");
  add("cluster_k_means", c_api::ClusterKMeans(), "k-means.");
  add("cluster_hierarchy", c_api::ClusterHierarchy(), "Agglomerative clustering.");
  add("cluster_cut", c_api::ClusterCut(), "The groups of a hierarchy.");
  add("ensemble_matches", c_api::EnsembleMatches(), "Pairs of members that complete each other.");
  add("session_observe", c_api::PassesObserve(), "Statistics of the cells of a session.");
  add("session_forecast", c_api::SessionForecast(), "Forecasts of a time series.");
  add("seq2seq_create", c_api::Seq2SeqCreate(), "An encoder-decoder that runs step by step.");
  add("seq2seq_search", c_api::Seq2SeqSearch(), "Sequences that an encoder-decoder generates.");
  add("step_mesh_create", c_api::StepMeshCreate(), "A network that runs by ticks.");
  add("step_mesh_observe", c_api::PassesObserve{.of = c_api::PassesObserve::Of::step_mesh},
      "Statistics of a step mesh, of which a pass is a tick.");
  add("program_create", c_api::ProgramCreate(), "A saved program.");
  add("online_create", c_api::OnlineCreate(), "A network that learns while it answers.");
  add("trainer_create", c_api::TrainerCreate(), "Where a trainer works.");
  add("trainer_observe", c_api::PassesObserve{.of = c_api::PassesObserve::Of::trainer},
      "Statistics of a trainer, of which a pass is a step.");
  add("tokenizer_train", c_api::TokenizerTrain(), "A byte-level BPE vocabulary.");
  add("model_create", c_api::ModelCreate(),
      "A language model of a network that was trained here. `loom_model_info` says the same keys.");
  add("sampling", SamplingAdvice(), "`sampling` of a model: what is not said is as it is usual.");
  add("generator_create", c_api::GeneratorCreate(), "Generates text with a model.");
  add("generator_start", c_api::GeneratorStart(),
      "A text: how its tokens are picked, and its end.");
  add("training_open", c_api::TrainingOpen(), "Trains from files.");
  add("predictor_open", c_api::PredictorOpen(), "Where a trained network answers.");
  add("predictor_plan", PlanOptions(), "A format for each matrix of a trained network.");
  add("evaluator_create", c_api::EvaluatorCreate(), "Measures a model over a text.");
  add("file_convert", ConvertOptions(), "A model file in another format.");
  add("network_export", ExportOptions(), "A network in a format of other programs.");
  add("onnx_network", c_api::OnnxNetwork(), "An ONNX graph as a network.");
  add("file_info", DescribeOptions(), "Facts of a model file.");
  add("verify", c_api::Verify(), "Computes the numerics table.");
  add("audit", c_api::Audit(), "Reports the machine ([keys](audit.md)).");
  return list;
}

}  // namespace
}  // namespace loom

int main() {
  using namespace loom;
  Json all = Json::object();
  all.set("topology", description<TopologyConfig>());
  all.set("input", description<InputConfig>());
  all.set("cell", description<CellConfig>());
  all.set("layers", layers());
  all.set("rule", description<RuleConfig>());
  all.set("training", object_of(TrainingSpec(), "What a network learns, from what, how long."));
  all.set("head", object_of(HeadSpec(), "A loss of some columns of the output."));
  all.set("lora", object_of(AdapterSpec(), "A low-rank adapter."));
  all.set("quantize", object_of(QuantizeSpec(), "Weights learn in the dtype they run in."));
  all.set("step_mesh", object_of(TicksSpec(), "A network that runs by ticks."));
  all.set("validation", object_of(ValidationSpec(), "The validation samples."));
  all.set("data", by_kind<DataSpec>(kDataNames));
  all.set("method", by_kind<MethodSpec>(kMethodNames));
  all.set("optimizer", by_kind<OptimizerSpec>(kOptimizerNames));
  all.set("schedule", by_kind<Schedule>(kScheduleNames));
  all.set("options", options());
  std::printf("%s\n", all.dump(1).c_str());
  return 0;
}
