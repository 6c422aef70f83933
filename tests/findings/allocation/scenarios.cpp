#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/threads/thread_pool.h"
#include "findings/allocation/scenario.h"
#include "support/places.h"
#include "support/tiny_llama.h"

namespace loom::test {
namespace {

// Two matrices, one of which is large enough for a team to encode.
constexpr const char* kNetwork =
    R"({"format":"loom-topology","version":1,"layers_per_cell":3,"input":{"width":16},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":1024,"activation":"tanh","dtype":"i4"},{"at":[0,0,0,1],"type":"dense","out":24,"dtype":"i8"},
  {"at":[0,0,0,2],"type":"dense","out":2}]})";
constexpr const char* kSmall =
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":4},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":8,"activation":"tanh"},{"at":[0,0,0,1],"type":"dense","out":2}]})";

float g_x[256];
void fill_x() {
  for (std::size_t i = 0; i < 256; ++i)
    g_x[i] = static_cast<float>(static_cast<int>(i * 37 % 41) - 20) / 16;
}

class NetworkScenario final : public Scenario {
  std::int32_t prepare(loom_error&) override {
    fill_x();
    return LOOM_OK;
  }
  std::int32_t act(Taken& taken, loom_error& error) override {
    Handles h;
    loom_network n = 0;
    LOOM_TRY_CALL(loom_network_create(LOOM_TEXT(kSmall), &n, &error));
    *h.next() = n;
    LOOM_TRY_CALL(loom_network_initialize(n, 5, &error));
    loom_session s = 0;
    LOOM_TRY_CALL(loom_session_create(n, LOOM_TEXT("{\"threads\":2}"), &s, &error));
    *h.next() = s;
    float y[8] = {};
    LOOM_TRY_CALL(loom_session_run(s, 4, g_x, 16, y, 8, &error));
    taken.add(y);
    loom_bytes info = 0;
    LOOM_TRY_CALL(loom_network_parameters(n, &info, &error));
    return take(info, taken, error);
  }
};

// A session that lasts, and weights that change under it, so that it prepares them again.
class SessionScenario final : public Scenario {
  std::int32_t prepare(loom_error& error) override {
    fill_x();
    network_ = handles_.next();
    LOOM_TRY_CALL(loom_network_create(LOOM_TEXT(kNetwork), network_, &error));
    LOOM_TRY_CALL(loom_network_initialize(*network_, 5, &error));
    session_ = handles_.next();
    return loom_session_create(*network_, LOOM_TEXT("{\"threads\":2}"), session_, &error);
  }
  std::int32_t act(Taken& taken, loom_error& error) override {
    LOOM_TRY_CALL(loom_network_initialize(*network_, 6, &error));
    float y[8] = {};
    LOOM_TRY_CALL(loom_session_run(*session_, 4, g_x, 64, y, 8, &error));
    LOOM_TRY_CALL(loom_network_initialize(*network_, 5, &error));
    taken.add(y);
    LOOM_TRY_CALL(loom_session_run(*session_, 4, g_x, 64, y, 8, &error));
    taken.add(y);
    loom_bytes info = 0;
    LOOM_TRY_CALL(loom_session_info(*session_, &info, &error));
    return loom_release(info, &error);
  }
  Handles handles_;
  loom_network* network_ = nullptr;
  loom_session* session_ = nullptr;
};

// A trainer that lasts, with two threads. What failures leave behind it is judged by another
// trainer that never met one.
class TrainerScenario final : public Scenario {
  struct Pair {
    loom_network network = 0;
    loom_data data = 0;
    loom_trainer trainer = 0;
  };
  std::int32_t make(Pair& p, loom_error& error) {
    constexpr const char* kSpec =
        R"({"steps":1000000000,"batch":8,"micro_batches":2,"seed":1,"loss":"mse","optimizer":{"type":"adamw"},"schedule":{"type":"constant","lr":0.01}})";
    LOOM_TRY_CALL(loom_network_create(LOOM_TEXT(kNetwork), &p.network, &error));
    *handles_.next() = p.network;
    LOOM_TRY_CALL(loom_network_initialize(p.network, 5, &error));
    LOOM_TRY_CALL(loom_data_values(g_x, 256, 16, g_x, 32, 2, &p.data, &error));
    *handles_.next() = p.data;
    LOOM_TRY_CALL(loom_trainer_create(p.network, p.data, LOOM_TEXT(kSpec),
                                      LOOM_TEXT("{\"threads\":2}"), &p.trainer, &error));
    *handles_.next() = p.trainer;
    return LOOM_OK;
  }
  std::int32_t step(const Pair& p, std::int64_t steps, std::int64_t& done, double& loss,
                    loom_error& error) {
    double lr = 0;
    std::int64_t rows = 0;
    return loom_trainer_step(p.trainer, steps, &done, &loss, &lr, &rows, &error);
  }
  std::int32_t prepare(loom_error& error) override {
    fill_x();
    ThreadPool::always_together(true);
    LOOM_TRY_CALL(make(tried_, error));
    return make(calm_, error);
  }
  std::int32_t act(Taken& taken, loom_error& error) override {
    double loss = 0;
    LOOM_TRY_CALL(step(tried_, 1, done_, loss, error));
    taken.add(loss);
    loom_bytes file = 0;
    LOOM_TRY_CALL(loom_trainer_save_bytes(tried_.trainer, &file, &error));
    return loom_release(file, &error);
  }
  bool right(const Taken& taken, const Taken&) override {
    std::int64_t at = 0;
    double loss = 0;
    loom_error error{};
    Taken a, b;
    loom_bytes sha = 0;
    while (at < done_)
      if (step(calm_, 1, at, loss, error) != LOOM_OK) return false;
    if (std::memcmp(taken.bytes, &loss, sizeof loss) != 0) return false;
    return loom_network_digest(tried_.network, &sha, &error) == LOOM_OK &&
           take(sha, a, error) == LOOM_OK &&
           loom_network_digest(calm_.network, &sha, &error) == LOOM_OK &&
           take(sha, b, error) == LOOM_OK && a == b;
  }

 public:
  ~TrainerScenario() override { ThreadPool::always_together(false); }

 private:
  Handles handles_;
  Pair tried_, calm_;
  std::int64_t done_ = 0;
};

// A folder of its own, removed at the end.
class FolderScenario : public Scenario {
 public:
  ~FolderScenario() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

 protected:
  bool make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "loom_allocation_XXXXXX").string();
    if (!mkdtemp(name.data())) return false;
    folder_ = name;
    return true;
  }
  std::string folder_;
};

std::string data_file(const char* name) { return source_dir() + "/tests/cases/data/" + name; }

class EntityScenario final : public FolderScenario {
  std::int32_t prepare(loom_error& error) override {
    if (!make_folder()) return LOOM_IO;
    fill_x();
    Handles h;
    LOOM_TRY_CALL(loom_network_create(LOOM_TEXT(kNetwork), h.next(), &error));
    LOOM_TRY_CALL(loom_network_initialize(h.list[0], 5, &error));
    path_ = folder_ + "/a.entity";
    again_ = folder_ + "/b.entity";
    return loom_network_save(h.list[0], path_.data(), path_.size(), &error);
  }
  std::int32_t act(Taken& taken, loom_error& error) override {
    Handles h;
    loom_network n = 0;
    LOOM_TRY_CALL(loom_network_load(path_.data(), path_.size(), &n, &error));
    *h.next() = n;
    loom_bytes sha = 0;
    LOOM_TRY_CALL(loom_network_digest(n, &sha, &error));
    LOOM_TRY_CALL(take(sha, taken, error));
    return loom_network_save(n, again_.data(), again_.size(), &error);
  }
  std::string path_, again_;
};

class SafetensorsScenario final : public FolderScenario {
  std::int32_t prepare(loom_error&) override {
    if (!make_folder()) return LOOM_IO;
    return write_tiny_llama(folder_) ? LOOM_OK : LOOM_IO;
  }
  std::int32_t act(Taken& taken, loom_error& error) override {
    Handles h;
    loom_model m = 0;
    LOOM_TRY_CALL(loom_model_load(folder_.data(), folder_.size(), LOOM_TEXT("i8"), &m, &error));
    *h.next() = m;
    loom_network n = 0;
    LOOM_TRY_CALL(loom_model_network(m, &n, &error));
    *h.next() = n;
    loom_tokenizer t = 0;
    LOOM_TRY_CALL(loom_model_tokenizer(
        m, &t, &error));  // a tokenizer that was dropped on the way would be missed here
    *h.next() = t;
    loom_bytes sha = 0;
    LOOM_TRY_CALL(loom_network_digest(n, &sha, &error));
    return take(sha, taken, error);
  }
};

class TokenizerScenario final : public Scenario {
  std::int32_t prepare(loom_error&) override {
    path_ = data_file("tiny.tokenizer.json");
    return LOOM_OK;
  }
  std::int32_t act(Taken& taken, loom_error& error) override {
    Handles h;
    loom_tokenizer t = 0;
    LOOM_TRY_CALL(loom_tokenizer_load(path_.data(), path_.size(), &t, &error));
    *h.next() = t;
    loom_bytes bytes = 0;
    LOOM_TRY_CALL(loom_tokenizer_encode(
        t, LOOM_TEXT("Once upon a time, in a land of \xC3\xA4pples"), 1, &bytes, &error));
    *h.next() = bytes;
    void* data = nullptr;
    std::uint64_t size = 0;
    LOOM_TRY_CALL(loom_bytes_data(bytes, &data, &size, &error));
    taken.add(data, size);
    loom_bytes text = 0;
    LOOM_TRY_CALL(loom_tokenizer_decode(t, static_cast<const std::int32_t*>(data), size / 4, 1,
                                        &text, &error));
    LOOM_TRY_CALL(take(text, taken, error));
    LOOM_TRY_CALL(loom_tokenizer_info(t, &text, &error));
    return take(text, taken, error);
  }
  std::string path_;
};

// A model and a generator that last, and one that does not.
class GeneratorScenario final : public Scenario {
  std::int32_t prepare(loom_error& error) override {
    const std::string path = data_file("tiny.entity");
    model_ = handles_.next();
    LOOM_TRY_CALL(loom_model_load(path.data(), path.size(), "", 0, model_, &error));
    generator_ = handles_.next();
    return loom_generator_create(*model_, LOOM_TEXT("{\"threads\":2,\"sequences\":2}"), generator_,
                                 &error);
  }
  std::int32_t talk(loom_generator g, Taken& taken, loom_error& error) {
    LOOM_TRY_CALL(loom_generator_feed_text(g, 1, LOOM_TEXT("Once upon a time"), &error));
    LOOM_TRY_CALL(loom_generator_start(
        g, 1,
        LOOM_TEXT("{\"max_tokens\":5,\"temperature\":0.8,\"top_k\":30,\"top_p\":0."
                  "95,\"repetition_penalty\":1.1,\"seed\":3,\"stop\":[\"zzzz\"]}"),
        &error));
    for (std::int32_t finish = 0; finish == 0;) {
      std::int32_t id = 0;
      loom_bytes text = 0;
      LOOM_TRY_CALL(loom_generator_next(g, &finish, &id, &text, &error));
      taken.add(id);
      LOOM_TRY_CALL(take(text, taken, error));
    }
    loom_bytes sha = 0;
    LOOM_TRY_CALL(loom_generator_fingerprint(g, 1, &sha, &error));
    return take(sha, taken, error);
  }
  std::int32_t act(Taken& taken, loom_error& error) override {
    LOOM_TRY_CALL(talk(*generator_, taken, error));
    Handles h;
    loom_generator g = 0;
    LOOM_TRY_CALL(
        loom_generator_create(*model_, LOOM_TEXT("{\"threads\":1,\"sequences\":2}"), &g, &error));
    *h.next() = g;
    return talk(g, taken, error);
  }
  Handles handles_;
  loom_model* model_ = nullptr;
  loom_generator* generator_ = nullptr;
};

class OnnxScenario final : public Scenario {
  std::int32_t prepare(loom_error& error) override {
    path_ = source_dir() + "/tests/golden/onnx/mlp.onnx";
    tiny_ = data_file("tiny.onnx");
    lasting_ = handles_.next();
    return loom_onnx_load(tiny_.data(), tiny_.size(), lasting_, &error);
  }
  std::int32_t act(Taken& taken, loom_error& error) override {
    Handles h;
    loom_onnx o = 0;
    LOOM_TRY_CALL(loom_onnx_load(path_.data(), path_.size(), &o, &error));
    *h.next() = o;
    loom_bytes text = 0;
    LOOM_TRY_CALL(loom_onnx_info(o, &text, &error));
    LOOM_TRY_CALL(take(text, taken, error));
    loom_network n = 0;
    LOOM_TRY_CALL(loom_onnx_network(o, nullptr, 0, &n, &text, &error));
    *h.next() = n;
    LOOM_TRY_CALL(take(text, taken, error));
    LOOM_TRY_CALL(loom_network_digest(n, &text, &error));
    LOOM_TRY_CALL(take(text, taken, error));
    // A graph that runs for other shapes each time.
    const double values[6] = {1, 2, 3, -1, 0, 1};
    for (const char* inputs :
         {R"([{"name":"x","dims":[2,3]}])", R"([{"name":"x","dims":[1,3]}])"}) {
      loom_bytes outputs = 0, results = 0;
      LOOM_TRY_CALL(loom_onnx_run(*lasting_, LOOM_TEXT(inputs), values, inputs[21] == '2' ? 6 : 3,
                                  &outputs, &results, &error));
      *h.next() = outputs;
      *h.next() = results;
      void* data = nullptr;
      std::uint64_t size = 0;
      LOOM_TRY_CALL(loom_bytes_data(results, &data, &size, &error));
      taken.add(data, size);
    }
    return LOOM_OK;
  }
  std::string path_, tiny_;
  Handles handles_;
  loom_onnx* lasting_ = nullptr;
};

}  // namespace

const std::map<std::string, MakeScenario>& lasting_scenarios() {
  static const std::map<std::string, MakeScenario> kAll = {
      {"network", [] { return new NetworkScenario; }},
      {"session", [] { return new SessionScenario; }},
      {"trainer", [] { return new TrainerScenario; }},
      {"entity", [] { return new EntityScenario; }},
      {"safetensors", [] { return new SafetensorsScenario; }},
      {"tokenizer", [] { return new TokenizerScenario; }},
      {"generator", [] { return new GeneratorScenario; }},
      {"onnx", [] { return new OnnxScenario; }},
  };
  return kAll;
}

std::string file_text(const char* name) {
  std::ifstream in(data_file(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace loom::test
