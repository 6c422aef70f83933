// Objects of the C interface that are made, changed and written into memory.
#include <cstring>
#include <string_view>

#include "findings/allocation/scenario.h"
#include "support/places.h"

namespace loom::test {
namespace {

// A function of handles that starts from nothing each time.
using Act = std::int32_t (*)(Handles& h, Taken& taken, loom_error& error);

class Calls final : public Scenario {
 public:
  explicit Calls(Act calls) : calls_(calls) {}

 private:
  std::int32_t prepare(loom_error&) override { return LOOM_OK; }
  std::int32_t act(Taken& taken, loom_error& error) override {
    Handles h;
    return calls_(h, taken, error);
  }
  const Act calls_;
};

constexpr const char* kGrid =
    R"({"format":"loom-topology","version":1,"layers_per_cell":3,"input":{"width":4},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":4,"activation":"tanh"},
  {"at":[0,0,0,1],"type":"dense","out":4},{"at":[0,0,0,2],"type":"dense","out":2}]})";
constexpr const char* kIds =
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"ids":320},"cells":[
  {"at":[0,0,0,0],"type":"embedding","out":8},{"at":[0,0,0,1],"type":"dense","out":320}]})";
constexpr const char* kOneThread = "{\"threads\":1}";

// Of a result in *out that the list gives back.
std::int32_t network(Handles& h, const char* topology, loom_network* out, loom_error& error) {
  LOOM_TRY_CALL(loom_network_create(LOOM_TEXT(topology), out, &error));
  *h.next() = *out;
  return loom_network_initialize(*out, 5, &error);
}
std::int32_t take_digest(loom_network n, Taken& taken, loom_error& error) {
  loom_bytes sha = 0;
  LOOM_TRY_CALL(loom_network_digest(n, &sha, &error));
  return take(sha, taken, error);
}

std::int32_t about(Handles&, Taken& taken, loom_error& error) {
  loom_bytes info = 0;
  LOOM_TRY_CALL(loom_info(&info, &error));
  LOOM_TRY_CALL(loom_release(info, &error));  // what this build and machine are, no result
  const float x[8] = {1, -2, 3, 0.25F, 5, 6, -7, 8};
  float rounded[8] = {};
  LOOM_TRY_CALL(loom_fake_quantize(x, 8, LOOM_TEXT("i4"), 2, rounded, 8, &error));
  taken.add(rounded);
  return LOOM_OK;
}

std::int32_t copies(Handles& h, Taken& taken, loom_error& error) {
  loom_network n = 0, copy = 0;
  LOOM_TRY_CALL(network(h, kGrid, &n, error));
  LOOM_TRY_CALL(loom_network_copy(n, &copy, &error));
  *h.next() = copy;
  loom_bytes text = 0;
  LOOM_TRY_CALL(loom_network_cell(copy, LOOM_TEXT("0.0.0.1"), &text, &error));
  LOOM_TRY_CALL(take(text, taken, error));
  LOOM_TRY_CALL(loom_network_set_cell(copy, LOOM_TEXT("0.0.0.1"),
                                      LOOM_TEXT(R"({"type":"rms_norm"})"), &error));
  LOOM_TRY_CALL(loom_network_topology(copy, &text, &error));
  LOOM_TRY_CALL(take(text, taken, error));
  LOOM_TRY_CALL(take_digest(n, taken, error));
  return take_digest(copy, taken, error);
}

std::int32_t links(Handles& h, Taken& taken, loom_error& error) {
  loom_network n = 0;
  LOOM_TRY_CALL(network(h, kGrid, &n, error));
  LOOM_TRY_CALL(loom_network_set_links(n, LOOM_TEXT("0.0.0.1"),
                                       LOOM_TEXT(R"([{"read":[0,0,0,0]}])"), &error));
  LOOM_TRY_CALL(loom_network_enable(n, LOOM_TEXT("0.0.0.1"), 0, &error));
  LOOM_TRY_CALL(loom_network_enable(n, LOOM_TEXT("0.0.0.1"), 1, &error));
  loom_bytes text = 0;
  LOOM_TRY_CALL(loom_network_info(n, &text, &error));
  LOOM_TRY_CALL(take(text, taken, error));
  return take_digest(n, taken, error);
}

std::int32_t morphs(Handles& h, Taken& taken, loom_error& error) {
  loom_network n = 0;
  LOOM_TRY_CALL(network(h, kGrid, &n, error));
  LOOM_TRY_CALL(loom_network_morph(n, LOOM_TEXT("i8"), LOOM_TEXT("0.0.0.0"), &error));
  LOOM_TRY_CALL(loom_network_pack(n, LOOM_TEXT("q4_0"), &error));
  loom_bytes program = 0;
  LOOM_TRY_CALL(loom_network_program(n, LOOM_TEXT("{\"max_rows\":2}"), &program, &error));
  LOOM_TRY_CALL(take(program, taken, error));
  return take_digest(n, taken, error);
}

std::int32_t values(Handles& h, Taken& taken, loom_error& error) {
  loom_network n = 0;
  LOOM_TRY_CALL(network(h, kGrid, &n, error));
  float small[16];
  double wide[16];
  LOOM_TRY_CALL(
      loom_network_get_f32(n, LOOM_TEXT("0.0.0.0"), LOOM_TEXT("weight"), small, 16, &error));
  for (float& v : small) v += 1;
  LOOM_TRY_CALL(
      loom_network_set_f32(n, LOOM_TEXT("0.0.0.1"), LOOM_TEXT("weight"), small, 16, &error));
  LOOM_TRY_CALL(
      loom_network_get_f64(n, LOOM_TEXT("0.0.0.1"), LOOM_TEXT("weight"), wide, 16, &error));
  taken.add(wide);
  LOOM_TRY_CALL(
      loom_network_set_f64(n, LOOM_TEXT("0.0.0.0"), LOOM_TEXT("weight"), wide, 16, &error));
  loom_bytes text = 0;
  LOOM_TRY_CALL(loom_network_parameters(n, &text, &error));
  LOOM_TRY_CALL(take(text, taken, error));
  return take_digest(n, taken, error);
}

std::int32_t bytes(Handles& h, Taken& taken, loom_error& error) {
  loom_network n = 0, again = 0;
  LOOM_TRY_CALL(network(h, kGrid, &n, error));
  loom_bytes file = 0;
  LOOM_TRY_CALL(loom_network_save_bytes(n, &file, &error));
  *h.next() = file;
  LOOM_TRY_CALL(loom_network_load_bytes(file, &again, &error));
  *h.next() = again;
  return take_digest(again, taken, error);
}

// Rows of ids, by position and sequence.
std::int32_t tokens(Handles& h, Taken& taken, loom_error& error) {
  loom_network n = 0;
  loom_session s = 0;
  LOOM_TRY_CALL(network(h, kIds, &n, error));
  LOOM_TRY_CALL(loom_session_create(n, LOOM_TEXT("{\"threads\":2,\"max_rows\":4}"), &s, &error));
  *h.next() = s;
  const std::int32_t ids[2] = {3, 300};
  static float y[320];
  const std::int32_t positions[2] = {0, 0}, sequences[2] = {0, 0};
  LOOM_TRY_CALL(
      loom_session_run_tokens(s, ids, 2, positions, 2, sequences, 2, nullptr, 0, y, 320, &error));
  taken.add(y, 512);
  return LOOM_OK;
}

// What learns from samples with weights, and goes on for longer.
std::int32_t weighted(Handles& h, Taken& taken, loom_error& error) {
  const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, weights[2] = {1, 2};
  const std::int32_t classes[2] = {0, 1};
  loom_network n = 0;
  loom_data plain = 0, data = 0;
  loom_trainer t = 0;
  LOOM_TRY_CALL(network(h, kGrid, &n, error));
  LOOM_TRY_CALL(loom_data_classes(x, 8, 4, classes, 2, &plain, &error));
  *h.next() = plain;
  LOOM_TRY_CALL(loom_data_weighted(plain, weights, 2, &data, &error));
  *h.next() = data;
  LOOM_TRY_CALL(loom_trainer_create(n, data,
                                    LOOM_TEXT(R"({"steps":2,"batch":2,"loss":"cross_entropy"})"),
                                    LOOM_TEXT(kOneThread), &t, &error));
  *h.next() = t;
  std::int64_t step = 0, rows = 0, total = 0;
  double loss = 0, lr = 0;
  LOOM_TRY_CALL(loom_trainer_step(t, 1, &step, &loss, &lr, &rows, &error));
  LOOM_TRY_CALL(loom_trainer_extend(t, 4, 0, &total, &error));
  LOOM_TRY_CALL(loom_trainer_step_on(t, data, &step, &loss, &lr, &rows, &error));
  taken.add(loss);
  loom_bytes text = 0;
  LOOM_TRY_CALL(loom_trainer_info(t, &text, &error));
  LOOM_TRY_CALL(loom_release(text, &error));
  LOOM_TRY_CALL(loom_trainer_digest(t, &text, &error));
  return take(text, taken, error);
}

std::int32_t table(Handles& h, Taken& taken, loom_error& error) {
  loom_network n = 0;
  loom_data data = 0;
  loom_trainer t = 0;
  LOOM_TRY_CALL(loom_data_table(LOOM_TEXT("a,b,c,d,y,z\n1,2,3,4,5,6\n2,3,4,5,6,7\n3,4,5,6,7,8\n"),
                                LOOM_TEXT(R"({"targets":["y","z"]})"), &data, &error));
  *h.next() = data;
  loom_bytes text = 0;
  LOOM_TRY_CALL(loom_data_info(data, &text, &error));
  LOOM_TRY_CALL(take(text, taken, error));
  LOOM_TRY_CALL(network(h, kGrid, &n, error));
  LOOM_TRY_CALL(loom_trainer_create(n, data, LOOM_TEXT(R"({"steps":2,"batch":2,"loss":"mse"})"),
                                    LOOM_TEXT(kOneThread), &t, &error));
  *h.next() = t;
  std::int64_t step = 0, rows = 0;
  double loss = 0, lr = 0;
  LOOM_TRY_CALL(loom_trainer_step(t, 2, &step, &loss, &lr, &rows, &error));
  taken.add(loss);
  return take_digest(n, taken, error);
}

// A training in memory, saved and taken up again by another trainer.
std::int32_t resumed(Handles& h, Taken& taken, loom_error& error) {
  const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[4] = {1, 0, 0, 1};
  loom_data data = 0;
  LOOM_TRY_CALL(loom_data_values(x, 8, 4, y, 4, 2, &data, &error));
  *h.next() = data;
  loom_bytes file = 0, sha = 0;
  for (int i = 0; i < 2; ++i) {
    loom_network n = 0;
    loom_trainer t = 0;
    LOOM_TRY_CALL(network(h, kGrid, &n, error));
    LOOM_TRY_CALL(loom_trainer_create(n, data, LOOM_TEXT(R"({"steps":4,"batch":2,"loss":"mse"})"),
                                      LOOM_TEXT(kOneThread), &t, &error));
    *h.next() = t;
    if (file) LOOM_TRY_CALL(loom_trainer_resume_bytes(t, file, &error));
    std::int64_t step = 0, rows = 0;
    double loss = 0, lr = 0;
    LOOM_TRY_CALL(loom_trainer_step(t, 1, &step, &loss, &lr, &rows, &error));
    if (file) LOOM_TRY_CALL(loom_trainer_digest(t, &sha, &error));
    if (file) return take(sha, taken, error);
    LOOM_TRY_CALL(loom_trainer_save_bytes(t, &file, &error));
    *h.next() = file;
  }
  return LOOM_OK;
}

std::int32_t vocabulary(Handles& h, Taken& taken, loom_error& error) {
  loom_tokenizer t = 0;
  LOOM_TRY_CALL(loom_tokenizer_train(LOOM_TEXT(R"(["a loom, a loom","a thread and a thread"])"),
                                     LOOM_TEXT(R"({"vocab_size":262,"special_tokens":["<s>"]})"),
                                     &t, &error));
  *h.next() = t;
  loom_bytes ids = 0;
  LOOM_TRY_CALL(loom_tokenizer_encode_plain(t, LOOM_TEXT("a thread"), &ids, &error));
  LOOM_TRY_CALL(take(ids, taken, error));
  loom_bytes text = 0;
  LOOM_TRY_CALL(loom_tokenizer_token(t, 258, &text, &error));
  LOOM_TRY_CALL(take(text, taken, error));
  loom_decoder d = 0;
  LOOM_TRY_CALL(loom_decoder_create(t, 0, &d, &error));
  *h.next() = d;
  for (const std::int32_t id : {0xe6, 97, 98}) {
    LOOM_TRY_CALL(loom_decoder_push(d, id, &text, &error));
    LOOM_TRY_CALL(take(text, taken, error));
  }
  LOOM_TRY_CALL(loom_decoder_finish(d, &text, &error));
  return take(text, taken, error);
}

// A template of its own, run over messages.
std::int32_t chat(Handles& h, Taken& taken, loom_error& error) {
  static const std::string json = file_text("tiny.tokenizer.json"),
                           config = file_text("tiny.tokenizer_config.json");
  loom_tokenizer t = 0;
  LOOM_TRY_CALL(
      loom_tokenizer_parse(json.data(), json.size(), config.data(), config.size(), &t, &error));
  *h.next() = t;
  loom_bytes ids = 0;
  LOOM_TRY_CALL(loom_tokenizer_chat(
      t, LOOM_TEXT(R"([{"role":"system","content":"x"},{"role":"user","content":"hello"}])"), 1,
      &ids, &error));
  return take(ids, taken, error);
}

// A language model of parts, written and read again.
std::int32_t model(Handles& h, Taken& taken, loom_error& error) {
  static const std::string json = file_text("tiny.tokenizer.json");
  loom_network n = 0, inside = 0;
  loom_tokenizer t = 0;
  loom_model m = 0, again = 0;
  LOOM_TRY_CALL(network(h, kIds, &n, error));
  LOOM_TRY_CALL(loom_tokenizer_parse(json.data(), json.size(), nullptr, 0, &t, &error));
  *h.next() = t;
  LOOM_TRY_CALL(loom_model_create(n, t, LOOM_TEXT("{\"max_positions\":8}"), &m, &error));
  *h.next() = m;
  loom_bytes file = 0;
  LOOM_TRY_CALL(loom_model_save_bytes(m, &file, &error));
  *h.next() = file;
  LOOM_TRY_CALL(loom_model_load_bytes(file, nullptr, 0, &again, &error));
  *h.next() = again;
  loom_bytes text = 0;
  LOOM_TRY_CALL(loom_model_info(again, &text, &error));
  LOOM_TRY_CALL(take(text, taken, error));
  LOOM_TRY_CALL(loom_model_network(again, &inside, &error));
  *h.next() = inside;
  return take_digest(inside, taken, error);
}

// A registered layer: twice its input, and a run in which it fails.
struct Doubling {
  static std::int32_t plan(void*, const char*, std::size_t, loom_bytes* plan, loom_error* error) {
    constexpr std::string_view kPlan = R"({"out":[4]})";
    void* data = nullptr;
    std::uint64_t size = 0;
    const std::int32_t code = loom_bytes_create(kPlan.size(), plan, error);
    if (code != LOOM_OK) return code;
    LOOM_TRY_CALL(loom_bytes_data(*plan, &data, &size, error));
    std::memcpy(data, kPlan.data(), size);
    return LOOM_OK;
  }
  static std::int32_t forward(void*, const loom_layer_call* call, loom_error* error) {
    for (std::int64_t c = 0; c < call->x.cols; ++c) {
      const float x = static_cast<const float*>(call->x.data)[c];
      if (x < 0) {
        std::strncpy(error->message, "an input below 0", sizeof error->message - 1);
        return error->code = LOOM_OUT_OF_RANGE;
      }
      static_cast<float*>(call->y.data)[c] = 2 * x;
    }
    return LOOM_OK;
  }
};

std::int32_t own_layer(Handles& h, Taken& taken, loom_error& error) {
  constexpr std::string_view kName = "test.doubling";
  (void)loom_layer_unregister(kName.data(), kName.size(), 1, nullptr);  // of a run before
  loom_layer layer{};
  layer.size = sizeof layer;
  layer.name = kName.data();
  layer.version = 1;
  layer.flags = LOOM_LAYER_F32;
  layer.plan = Doubling::plan;
  layer.forward = Doubling::forward;
  LOOM_TRY_CALL(loom_layer_register(&layer, &error));
  loom_network n = 0;
  loom_session s = 0;
  LOOM_TRY_CALL(network(h, R"({"format":"loom-topology","version":3,"input":{"width":4},"cells":[
      {"at":[0,0,0,0],"type":"custom","layer":"test.doubling"}]})",
                        &n, error));
  LOOM_TRY_CALL(loom_session_create(n, LOOM_TEXT(kOneThread), &s, &error));
  *h.next() = s;
  const float below[4] = {1, -1, 0, 0}, x[4] = {1, 2, 3, 4};
  float y[4] = {};
  const std::int32_t failed = loom_session_run(s, 1, below, 4, y, 4, &error);
  if (failed != LOOM_OUT_OF_RANGE) return failed == LOOM_OK ? LOOM_INTERNAL : failed;
  LOOM_TRY_CALL(loom_session_run(s, 1, x, 4, y, 4, &error));
  taken.add(y);
  return LOOM_OK;
}

// An encoder-decoder: a step, rows that go on from others, and a beam.
std::int32_t translation(Handles& h, Taken& taken, loom_error& error) {
  static const std::string topology = file_text("../../conformance/seq2seq/masked.json");
  loom_network n = 0;
  loom_seq2seq s = 0;
  LOOM_TRY_CALL(network(h, topology.c_str(), &n, error));
  LOOM_TRY_CALL(loom_seq2seq_create(
      n, LOOM_TEXT("{\"target\":\"target\",\"lanes\":3,\"threads\":1}"), &s, &error));
  *h.next() = s;
  double x[28] = {};
  for (int i = 0; i < 21; ++i) x[i] = 0.1 * i - 1;
  const double ids[3] = {1, 2, 3};
  const std::int32_t from[3] = {0, 0, 0};
  double first[6] = {}, y[18] = {};
  LOOM_TRY_CALL(loom_seq2seq_encode(s, 1, x, 28, &error));
  LOOM_TRY_CALL(loom_seq2seq_step(s, ids, 1, first, 6, &error));
  LOOM_TRY_CALL(loom_seq2seq_reorder(s, from, 3, &error));
  LOOM_TRY_CALL(loom_seq2seq_step(s, ids, 3, y, 18, &error));
  taken.add(y);
  loom_bytes found = 0;
  LOOM_TRY_CALL(loom_seq2seq_search(s, 1, x, 28, LOOM_TEXT("{\"start\":[1],\"end\":0,\"beams\":3}"),
                                    &found, &error));
  return take(found, taken, error);
}

// A ring of two cells: many ticks, weights that change below the mesh, and its values elsewhere.
std::int32_t ticks(Handles& h, Taken& taken, loom_error& error) {
  loom_network n = 0;
  loom_step_mesh a = 0, b = 0;
  LOOM_TRY_CALL(network(h, R"({"format":"loom-topology","version":3,"depth":2,"step_mesh":true,
      "input":{"width":2},"cells":[{"at":[0,0,0,0],"type":"dense","out":3,"keep_previous":true,
      "links":[{"read":[1,0,0,0]}]},{"at":[1,0,0,0],"type":"dense","out":2}]})",
                        &n, error));
  const char* const options = R"({"threads":1,"streams":2})";
  LOOM_TRY_CALL(loom_step_mesh_create(n, LOOM_TEXT(options), &a, &error));
  *h.next() = a;
  LOOM_TRY_CALL(loom_step_mesh_create(n, LOOM_TEXT(options), &b, &error));
  *h.next() = b;
  const float x[4] = {1, 2, -1, 0.5f};
  float y[4] = {};
  LOOM_TRY_CALL(loom_step_mesh_run(a, 70, x, 4, y, 4, &error));
  LOOM_TRY_CALL(loom_network_morph(n, LOOM_TEXT("i8"), LOOM_TEXT("1.0.0.0"), &error));
  LOOM_TRY_CALL(loom_step_mesh_run(a, 3, x, 4, y, 4, &error));
  taken.add(y);
  loom_bytes snapshot = 0;
  LOOM_TRY_CALL(loom_step_mesh_snapshot(a, &snapshot, &error));
  *h.next() = snapshot;
  LOOM_TRY_CALL(loom_step_mesh_restore(b, snapshot, &error));
  double value[3] = {};
  LOOM_TRY_CALL(loom_step_mesh_value(b, LOOM_TEXT("0.0.0.0"), 1, value, 3, &error));
  taken.add(value);
  return LOOM_OK;
}

// Genomes that evolve, continue from their file and become a network; networks that evolve.
std::int32_t evolution(Handles& h, Taken& taken, loom_error& error) {
  loom_population p = 0, q = 0;
  LOOM_TRY_CALL(loom_population_create(
      LOOM_TEXT(R"({"task":"xor","population":8,"add_node":0.5,"add_edge":0.5})"), 1, &p, &error));
  *h.next() = p;
  LOOM_TRY_CALL(loom_population_run(p, 3, &error));
  loom_bytes file = 0, genome = 0;
  LOOM_TRY_CALL(loom_population_save(p, &file, &error));
  *h.next() = file;
  LOOM_TRY_CALL(loom_population_load(file, 1, &q, &error));
  *h.next() = q;
  LOOM_TRY_CALL(loom_population_run(q, 2, &error));
  const float x[8] = {0, 0, 0, 1, 1, 0, 1, 1};
  float y[4] = {};
  LOOM_TRY_CALL(loom_population_activate(q, -1, x, 8, y, 4, &error));
  taken.add(y);
  loom_network champion = 0;
  LOOM_TRY_CALL(loom_population_network(q, -1, &champion, &error));
  *h.next() = champion;
  LOOM_TRY_CALL(take_digest(champion, taken, error));
  LOOM_TRY_CALL(loom_population_genome(q, -1, &genome, &error));
  return take(genome, taken, error);
}

std::int32_t networks(Handles& h, Taken& taken, loom_error& error) {
  loom_network n = 0, best = 0;
  loom_population p = 0;
  LOOM_TRY_CALL(network(h, kGrid, &n, error));
  LOOM_TRY_CALL(loom_population_create_from(
      n, LOOM_TEXT(R"({"level":"networks","population":3,"costs":"reference"})"), 1, &p, &error));
  *h.next() = p;
  const double fitness[3] = {1, 3, 2};
  LOOM_TRY_CALL(loom_population_set_fitness(p, fitness, 3, &error));
  LOOM_TRY_CALL(loom_population_step(p, &error));
  LOOM_TRY_CALL(loom_population_network(p, -1, &best, &error));
  *h.next() = best;
  return take_digest(best, taken, error);
}

}  // namespace

const std::map<std::string, MakeScenario>& object_scenarios() {
  static const std::map<std::string, MakeScenario> kAll = {
#define LOOM_SCENARIO(name) {#name, [] { return static_cast<Scenario*>(new Calls(name)); }}
      LOOM_SCENARIO(about),   LOOM_SCENARIO(copies),     LOOM_SCENARIO(links),
      LOOM_SCENARIO(morphs),  LOOM_SCENARIO(values),     LOOM_SCENARIO(bytes),
      LOOM_SCENARIO(tokens),  LOOM_SCENARIO(weighted),   LOOM_SCENARIO(table),
      LOOM_SCENARIO(resumed), LOOM_SCENARIO(vocabulary), LOOM_SCENARIO(chat),
      LOOM_SCENARIO(model),   LOOM_SCENARIO(own_layer),  LOOM_SCENARIO(translation),
      LOOM_SCENARIO(ticks),   LOOM_SCENARIO(evolution),  LOOM_SCENARIO(networks),
#undef LOOM_SCENARIO
  };
  return kAll;
}

}  // namespace loom::test
