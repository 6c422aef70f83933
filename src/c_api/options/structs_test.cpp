#include "c_api/options/structs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "c_api/options/options.h"
#include "train/spec/spec.h"

namespace loom::c_api {
namespace {

using Kind = OptionStruct::Kind;
using Member = OptionStruct::Member;

const OptionStruct* const kStructs[] = {
    &option_struct(static_cast<const loom_session_options*>(nullptr)),
    &option_struct(static_cast<const loom_seq2seq_options*>(nullptr)),
    &option_struct(static_cast<const loom_search_options*>(nullptr)),
    &option_struct(static_cast<const loom_training_options*>(nullptr)),
    &option_struct(static_cast<const loom_generator_options*>(nullptr)),
    &option_struct(static_cast<const loom_sampling_options*>(nullptr)),
    &option_struct(static_cast<const loom_step_mesh_options*>(nullptr)),
    &option_struct(static_cast<const loom_online_options*>(nullptr)),
};

// The bytes of a struct, with room behind it.
struct Bytes {
  explicit Bytes(const OptionStruct& s, std::size_t more = 0) : bytes(s.sizes.back() + more) {
    std::memcpy(bytes.data(), s.initial, s.sizes.back());
  }
  template <class T>
  void put(std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  }
  std::vector<std::byte> bytes;
};

std::string text_of(const Result<Json>& json) {
  return json.ok() ? json->dump() : "error: " + json.status().message();
}

Code refusal(const OptionStruct& s, const Bytes& b, const std::string& part) {
  const auto json = json_of(s, b.bytes.data());
  EXPECT_FALSE(json.ok()) << json->dump();
  if (json.ok()) return Code::ok;
  EXPECT_NE(json.status().message().find(part), std::string::npos) << json.status().message();
  return json.status().code();
}

TEST(OptionStructs, NothingIsGivenByNullAndByTheInitializer) {
  for (const OptionStruct* s : kStructs) {
    EXPECT_EQ(text_of(json_of(*s, nullptr)), "{}") << s->name;
    EXPECT_EQ(text_of(json_of(*s, s->initial)), "{}") << s->name;
  }
}

// Every member of every struct, alone, arrives under its key.
TEST(OptionStructs, EveryMemberReachesItsKey) {
  const char* const texts[] = {"a \"b\"", ""};
  const std::int32_t ids[] = {7, -1};
  int members = 0;
  for (const OptionStruct* s : kStructs) {
    for (const Member& m : s->members) {
      Bytes b(*s);
      std::string value;
      switch (m.kind) {
        case Kind::integer: b.put(m.offset, INT64_MIN), value = "-9223372036854775808"; break;
        case Kind::number: b.put(m.offset, 0.3), value = "0.3"; break;
        case Kind::flag: {
          std::int32_t was;
          std::memcpy(&was, b.bytes.data() + m.offset, sizeof was);
          b.put(m.offset, std::int32_t{!was}), value = was ? "false" : "true";
          break;
        }
        case Kind::text: b.put(m.offset, texts[0]), value = R"("a \"b\"")"; break;
        case Kind::texts: b.put(m.offset, &texts[0]), value = R"(["a \"b\"",""])"; break;
        case Kind::ids: b.put(m.offset, &ids[0]), value = "[7,-1]"; break;
      }
      if (m.kind == Kind::texts || m.kind == Kind::ids) b.put(m.count, std::size_t{2});
      std::string wanted = "{\"" + std::string(m.key) + "\":" + value + "}";
      if (*m.outer != '\0') wanted = "{\"" + std::string(m.outer) + "\":" + wanted + "}";
      EXPECT_EQ(text_of(json_of(*s, b.bytes.data())), wanted) << s->name << "." << m.name;
      ++members;
    }
  }
  EXPECT_GT(members, 50);
}

// The keys are those that the JSON form has: none is unknown there.
TEST(OptionStructs, KeysAreThoseOfTheJsonForm) {
  const auto known = []<class T>(const OptionStruct& s, T, std::string_view outer) {
    for (const Member& m : s.members) {
      if (m.outer != outer) continue;
      T options;
      Json one = Json::object();
      one.set(m.key, Json());
      const Status status = read_options(Result<Json>(one), options);
      EXPECT_EQ(status.message().find("unknown"), std::string::npos) << status.message();
    }
  };
  known(*kStructs[0], SessionCreate(), "");
  known(*kStructs[1], Seq2SeqCreate(), "");
  known(*kStructs[2], Seq2SeqSearch(), "");
  known(*kStructs[3], TrainerCreate(), "options");
  known(*kStructs[4], GeneratorCreate(), "");
  known(*kStructs[5], GeneratorStart(), "");
  known(*kStructs[6], StepMeshCreate(), "");
}

TEST(OptionStructs, OnlySizesThatAVersionHadAreTaken) {
  for (const OptionStruct* s : kStructs) {
    const std::size_t own = s->sizes.back();
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, own - 1, own - 8,
                                   std::size_t{4097}, std::numeric_limits<std::size_t>::max()}) {
      Bytes b(*s, 8);
      b.put(0, size);
      EXPECT_EQ(refusal(*s, b,
                        std::string(s->name) + " has the size " + std::to_string(size) +
                            ", and no version of it had that: begin with " + s->initializer +
                            ", whose size is " + std::to_string(own)),
                Code::invalid_argument);
    }
  }
}

TEST(OptionStructs, NewerOnesAreTakenWhileTheirMembersAreZero) {
  for (const OptionStruct* s : kStructs) {
    const std::size_t own = s->sizes.back();
    for (const std::size_t more : {std::size_t{1}, std::size_t{8}, 4096 - own}) {
      Bytes b(*s, more);
      b.put(0, own + more);
      EXPECT_EQ(text_of(json_of(*s, b.bytes.data())), "{}") << s->name;
      b.bytes.back() = std::byte{1};
      EXPECT_EQ(refusal(*s, b, std::string(s->name) + " has " + std::to_string(own + more)),
                Code::unsupported);
    }
  }
}

// A struct of two versions, as one of the header will be once.
TEST(OptionStructs, OlderOnesHaveTheDefaultsOfWhatTheyLack) {
  struct Two {
    std::size_t size;
    std::int64_t a, b;
  };
  const Two initial = {sizeof(Two), 5, 6};
  const Member members[] = {{"a", "", "a", Kind::integer, offsetof(Two, a), 0},
                            {"b", "", "b", Kind::integer, offsetof(Two, b), 0}};
  const std::size_t sizes[] = {offsetof(Two, b), sizeof(Two)};
  const OptionStruct s = {"two", "TWO_INIT", &initial, members, sizes};
  Two given = {sizes[0], 1, 2};  // what lies behind an older struct is not its own
  EXPECT_EQ(text_of(json_of(s, &given)), R"({"a":1})");
  given.size = sizeof(Two);
  EXPECT_EQ(text_of(json_of(s, &given)), R"({"a":1,"b":2})");
  given.size = sizes[0] + 1;
  EXPECT_FALSE(json_of(s, &given).ok());
}

TEST(OptionStructs, ValuesThatJsonCannotSayAreRefused) {
  for (const OptionStruct* s : kStructs) {
    for (const Member& m : s->members) {
      Bytes b(*s);
      const std::string name = std::string("options: \"") + m.name;
      switch (m.kind) {
        case Kind::integer: break;
        case Kind::number:
          for (const double wrong : {double{NAN}, double{INFINITY}, -double{INFINITY}}) {
            b.put(m.offset, wrong);
            EXPECT_EQ(refusal(*s, b, name + "\" must be finite"), Code::invalid_argument);
          }
          break;
        case Kind::flag:
          b.put(m.offset, std::int32_t{2});
          EXPECT_EQ(refusal(*s, b, name + "\" must be 0 or 1, got 2"), Code::invalid_argument);
          break;
        case Kind::text:
          b.put(m.offset, static_cast<const char*>("\xff"));
          EXPECT_EQ(refusal(*s, b, name + "\" is no UTF-8"), Code::invalid_argument);
          break;
        case Kind::texts: {
          const char* const one[] = {"a", nullptr};
          b.put(m.offset, &one[0]);
          b.put(m.count, std::size_t{2});
          EXPECT_EQ(refusal(*s, b, name + "[1]\" is NULL"), Code::invalid_argument);
          b.put(m.offset, static_cast<const char*>(nullptr));
          EXPECT_EQ(refusal(*s, b, name + "\" is NULL with a count of 2"), Code::invalid_argument);
          break;
        }
        case Kind::ids: {
          const std::int32_t one = 1;
          b.put(m.count, std::size_t{3});
          EXPECT_EQ(refusal(*s, b, name + "\" is NULL with a count of 3"), Code::invalid_argument);
          b.put(m.offset, &one);
          b.put(m.count, std::numeric_limits<std::size_t>::max());
          EXPECT_EQ(refusal(*s, b, name + "\": a count of"), Code::out_of_range);
          break;
        }
      }
    }
  }
}

// ---- the functions

class StructFunctions : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string topology =
        R"({"format":"loom-topology","version":3,"input":{"width":2},"cells":[
           {"at":[0,0,0,0],"type":"dense","out":1}]})";
    const float x[] = {1, 2, 3, 4}, y[] = {1, 2};
    ASSERT_EQ(loom_network_create(topology.data(), topology.size(), &network_, nullptr), LOOM_OK);
    ASSERT_EQ(loom_network_initialize(network_, 1, nullptr), LOOM_OK);
    ASSERT_EQ(loom_data_values(x, 4, 2, y, 2, 1, &data_, nullptr), LOOM_OK);
  }
  void TearDown() override {
    for (const loom_handle h : {data_, network_}) loom_release(h, nullptr);
  }
  // The error of both forms, which is one.
  std::string session_error(const loom_session_options& o, const std::string& json) {
    loom_session made = 0;
    loom_error a{}, b{};
    const auto x = loom_session_create_with(network_, &o, &made, &a);
    const auto y = loom_session_create(network_, json.data(), json.size(), &made, &b);
    EXPECT_EQ(x, y);
    EXPECT_STREQ(a.message, b.message);
    EXPECT_EQ(made, 0u);
    return a.message;
  }
  std::string trainer_error(const loom_training_options* o, const std::string& spec) {
    loom_trainer made = 0;
    loom_error a{}, b{};
    const auto x = loom_trainer_create_with(network_, data_, o, &made, &a);
    const auto y =
        loom_trainer_create(network_, data_, spec.data(), spec.size(), nullptr, 0, &made, &b);
    EXPECT_EQ(x, y);
    EXPECT_STREQ(a.message, b.message);
    EXPECT_EQ(made, 0u);
    return a.message;
  }
  // The spec of a training with everything resolved.
  std::string spec_of(loom_trainer trainer) {
    loom_bytes info = 0;
    EXPECT_EQ(loom_trainer_info(trainer, &info, nullptr), LOOM_OK);
    void* data = nullptr;
    std::uint64_t size = 0;
    EXPECT_EQ(loom_bytes_data(info, &data, &size, nullptr), LOOM_OK);
    const std::string text(static_cast<const char*>(data), size);
    loom_release(info, nullptr);
    return Json::parse(text)->find("spec")->dump();
  }
  loom_network network_ = 0;
  loom_data data_ = 0;
};

TEST_F(StructFunctions, WrongValuesSayTheSameAsInJson) {
  loom_session_options o = LOOM_SESSION_OPTIONS_INIT;
  o.max_rows = 0;
  EXPECT_NE(session_error(o, R"({"max_rows":0})"), "");
  o = LOOM_SESSION_OPTIONS_INIT;
  o.isa = "none";
  EXPECT_NE(session_error(o, R"({"isa":"none"})"), "");
  o = LOOM_SESSION_OPTIONS_INIT;
  o.threads = INT64_MAX;
  EXPECT_NE(session_error(o, R"({"threads":9223372036854775807})"), "");
  EXPECT_NE(trainer_error(nullptr, "{}"), "");
  loom_training_options t = LOOM_TRAINING_OPTIONS_INIT;
  EXPECT_NE(trainer_error(&t, ""), "");
  t.steps = 1;
  t.loss = "mean";
  EXPECT_NE(trainer_error(&t, R"({"steps":1,"loss":"mean"})"), "");
  t.loss = nullptr;
  t.momentum = 0.9;
  EXPECT_NE(trainer_error(&t, R"({"steps":1,"optimizer":{"momentum":0.9}})"), "");
  t.momentum = 0;
  t.spec = R"({"batches":2})";
  EXPECT_NE(trainer_error(&t, R"({"batches":2,"steps":1})"), "");
}

TEST_F(StructFunctions, ATrainingIsThatOfItsSpec) {
  loom_training_options o = LOOM_TRAINING_OPTIONS_INIT;
  o.loss = "huber";
  o.optimizer = "sgd";
  o.momentum = 0.5;
  o.weight_decay = 0.25;
  o.clip_norm = 2;
  o.lr = 0.125;
  o.schedule = "cosine";
  o.warmup = 3;
  o.epochs = 7;
  o.batch = 2;
  o.micro_batches = 2;
  o.seed = 9;
  o.shuffle = 0;
  o.threads = 1;
  o.spec = R"({"delta": 0.5, "optimizer": {"nesterov": true}, "schedule": {"floor": 0.01}})";
  const std::string spec = R"({"loss":"huber","delta":0.5,"epochs":7,"batch":2,"micro_batches":2,
      "seed":9,"shuffle":false,"schedule":{"type":"cosine","lr":0.125,"warmup":3,"floor":0.01},
      "optimizer":{"type":"sgd","momentum":0.5,"weight_decay":0.25,"clip_norm":2,
      "nesterov":true}})";
  loom_trainer a = 0, b = 0;
  loom_error error;
  ASSERT_EQ(loom_trainer_create_with(network_, data_, &o, &a, &error), LOOM_OK) << error.message;
  ASSERT_EQ(loom_trainer_create(network_, data_, spec.data(), spec.size(), nullptr, 0, &b, &error),
            LOOM_OK)
      << error.message;
  EXPECT_EQ(spec_of(a), spec_of(b));
  loom_release(a, nullptr);
  loom_release(b, nullptr);
}

TEST_F(StructFunctions, AKeyIsGivenOnce) {
  const auto error_of = [&](const loom_training_options& o) {
    loom_trainer made = 0;
    loom_error error{};
    EXPECT_EQ(loom_trainer_create_with(network_, data_, &o, &made, &error), LOOM_INVALID_ARGUMENT);
    EXPECT_EQ(made, 0u);
    return std::string(error.message);
  };
  loom_training_options o = LOOM_TRAINING_OPTIONS_INIT;
  o.steps = 2;
  o.spec = R"({"steps":2})";
  EXPECT_EQ(error_of(o), "options: \"steps\" is given, and \"spec\" has it, too: give one of them");
  o.lr = 0.1;
  o.spec = R"({"schedule":{"lr":0.2}})";
  EXPECT_EQ(error_of(o),
            "options: \"lr\" of \"schedule\" is given, and \"spec\" has it, too: give "
            "one of them");
  o.spec = R"({"schedule":"cosine"})";
  EXPECT_EQ(error_of(o),
            "options: \"schedule\" is given, and \"spec\" has it, too: give one of them");
  o.spec = "[]";
  EXPECT_EQ(error_of(o), "spec: expected a JSON object");
  o.spec = "{";
  EXPECT_EQ(error_of(o).substr(0, 6), "spec: ");
  o.spec = R"({"threads":1})";
  EXPECT_NE(error_of(o).find("\"threads\""), std::string::npos);
}

TEST_F(StructFunctions, ErrorsComeInTheOrderOfTheArguments) {
  loom_session made = 0;
  loom_error error{};
  loom_session_options o = LOOM_SESSION_OPTIONS_INIT;
  o.size = 1;
  EXPECT_EQ(loom_session_create_with(0, &o, &made, &error), LOOM_INVALID_HANDLE);
  EXPECT_EQ(loom_session_create_with(network_, &o, nullptr, &error), LOOM_INVALID_ARGUMENT);
  EXPECT_EQ(loom_session_create_with(network_, &o, &made, nullptr), LOOM_INVALID_ARGUMENT);
  EXPECT_EQ(loom_session_create_with(network_, nullptr, &made, &error), LOOM_OK);
  EXPECT_EQ(loom_release(made, &error), LOOM_OK);
  EXPECT_EQ(loom_generator_create_with(0, nullptr, &made, &error), LOOM_INVALID_HANDLE);
  EXPECT_EQ(loom_generator_start_with(0, 0, nullptr, &error), LOOM_INVALID_HANDLE);
  EXPECT_EQ(loom_seq2seq_create_with(network_, nullptr, &made, &error), LOOM_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("\"target\""), std::string::npos) << error.message;
  EXPECT_EQ(loom_step_mesh_create_with(network_, nullptr, &made, &error), LOOM_OK);
  EXPECT_EQ(loom_release(made, &error), LOOM_OK);
  EXPECT_EQ(loom_seq2seq_search_with(0, 1, nullptr, 0, nullptr, &made, &error),
            LOOM_INVALID_HANDLE);
}

}  // namespace
}  // namespace loom::c_api
