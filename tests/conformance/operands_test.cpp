// Rows of several operands: inputs by name, attention to another sequence, what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/threads/thread_pool.h"
#include "conformance/support.h"
#include "exec/session.h"

namespace loom {
namespace {

std::string topology(const std::string& input, const std::vector<std::string>& cells,
                     int version = 2) {
  std::string text = R"({"format":"loom-topology","version":)" + std::to_string(version) +
                     R"(,"layers_per_cell":)" + std::to_string(cells.size()) + R"(,"input":)" +
                     input + R"(,"cells":[)";
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += (i > 0 ? "," : "") + (R"({"at":[0,0,0,)" + std::to_string(i)) + "]," + cells[i] + "}";
  return text + "]}";
}
std::string refusal(const std::string& text) {
  const auto network = Network::from_json(std::string_view(text));
  return network.ok() ? std::string() : network.status().message();
}
void expect_refused(const std::string& text, const std::string& part) {
  const std::string message = refusal(text);
  EXPECT_NE(message.find(part), std::string::npos) << text << "\n" << message;
}

const std::string kTwo =
    R"({"parts":[{"name":"image","dims":[1,2,2]},{"name":"table","width":3}]})";
const std::string kAttends =
    R"("links":[{"read":[0,0,0,1]},{"read":[0,0,0,2]},{"read":[0,0,0,3]}],"merge":"operands")";
// The input in three parts, and what attends from the first to the second.
std::vector<std::string> attending(const std::string& settings = "") {
  const std::string from = R"("links":[{"read":[0,0,0,0]}])";
  return {R"("enabled":false)", R"("type":"part","of":"own",)" + from,
          R"("type":"part","of":"memory",)" + from, R"("type":"part","of":"mask",)" + from,
          R"("type":"cross_attention","heads":2,"out_bias":true,)" + settings + kAttends};
}
const std::string kThree =
    R"({"parts":[{"name":"own","dims":[2,4]},{"name":"memory","dims":[3,6]},{"name":"mask","width":3}]})";

std::vector<float> outputs(Network& network, std::span<const float> x, std::int64_t rows) {
  ThreadPool pool(1);
  auto session = Session::create(network, pool, {.max_rows = 8});
  EXPECT_TRUE(session.ok()) << session.status().message();
  const auto y = session->run(x, rows);
  EXPECT_TRUE(y.ok()) << y.status().message();
  return y.ok() ? std::vector<float>(y->begin(), y->end()) : std::vector<float>();
}
std::vector<float> row_of(const Network& network, std::uint64_t seed) {
  std::vector<float> x(static_cast<std::size_t>(network.input().width));
  const RandomStream random(seed, 0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = normal(random, i);
  return x;
}

TEST(Operands, InputsHaveNamesThatComeBack) {
  const std::string text = topology(
      kTwo, {R"("type":"parallel","layers":[{"type":"part","of":"table"},{"type":"sequential",
          "layers":[{"type":"part","of":"image"},{"type":"conv2d","filters":2,"kernel":2},{"type":"flatten"}]}])"});
  Network network = test::network_of(text);
  EXPECT_EQ(network.input().width, 7);
  EXPECT_EQ(network.input().to_string(), "image [B, 1, 2, 2] and table [B, 3]");
  EXPECT_EQ(network.output().width, 5);
  auto again = Network::from_json(network.to_json());
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->input(), network.input());
  EXPECT_EQ(again->to_json().dump(), network.to_json().dump());
  const std::vector<float> y = outputs(network, std::vector<float>{0, 0, 0, 0, 1, 2, 3}, 1);
  EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 3), (std::vector<float>{1, 2, 3}));
}

TEST(Operands, WhatIsMaskedChangesNothing) {
  Network network = test::network_of(topology(kThree, attending()));
  ASSERT_TRUE(network.initialize(3).ok());
  WeightStore& bias = *network.find("0.0.0.4", "o_bias");
  for (double& value : bias.mutable_master64()) value = 0.25;
  bias.touch();
  std::vector<float> x = row_of(network, 7);
  for (std::size_t i = 26; i < 29; ++i) x[i] = i == 27 ? 1.0f : 0.0f;
  const std::vector<float> masked = outputs(network, x, 1);
  for (std::size_t i = 14; i < 20; ++i) x[i] = 1e4f;  // the step that nobody sees
  EXPECT_EQ(outputs(network, x, 1), masked);
  x[27] = 0;
  EXPECT_NE(outputs(network, x, 1), masked);
  for (std::size_t i = 26; i < 29; ++i) x[i] = 1;  // none is seen: what the output adds alone
  EXPECT_EQ(outputs(network, x, 1), std::vector<float>(8, 0.25f));
}

TEST(Operands, RefusalsSayWhatArrives) {
  expect_refused(topology(kTwo, {R"("type":"dense","out":2)"}),
                 "takes one operand, and image [B, 1, 2, 2] and table [B, 3] arrive");
  expect_refused(topology(kTwo, {R"("type":"part","of":"tables")"}), "did you mean \"table\"");
  expect_refused(topology(kTwo, {R"("type":"part")"}), "\"of\"");
  expect_refused(topology(kTwo, {R"("type":"part","of":"table","index":1)"}), "\"of\"");
  expect_refused(topology(kTwo, {R"("type":"part","index":2)"}), "\"index\" 2");
  expect_refused(topology(R"({"width":3})", {R"("type":"part","index":0)"}), "several operands");
  expect_refused(
      topology(
          kTwo,
          {R"("type":"sequential","layers":[{"type":"time_distributed","layers":[{"type":"dense","out":1}]}])"}),
      "takes one operand");
  expect_refused(topology(kTwo, {R"("enabled":false)"}), "output are several operands");
  expect_refused(topology(R"({"width":3})", {R"("type":"cross_attention")"}),
                 "expects two operands");
  expect_refused(topology(kThree, attending(R"("head_dim":0,"dtype":"f32","hedas":1,)")), "hedas");
  expect_refused(topology(kTwo, {R"("type":"binary","op":"mul","shapes":[[4],[3]])"}),
                 "which have their own");
  expect_refused(topology(kTwo, {R"("type":"binary","op":"mul")"}),
                 "[1, 2, 2] and [3] do not spread");
  expect_refused(topology(R"({"width":3})", {R"("type":"binary","op":"mul")"}), "\"shapes\"");
  expect_refused(topology(kThree, {R"("type":"select")"}), "[2, 4] and [3, 6] do not spread");
  std::vector<std::string> cells = attending();
  cells[3] = R"("type":"part","of":"own","links":[{"read":[0,0,0,0]}])";
  expect_refused(topology(kThree, cells), "the mask has a value for each of the 3 steps");
  cells = attending();
  cells[2] = R"("type":"part","of":"mask","links":[{"read":[0,0,0,0]}])";
  expect_refused(topology(kThree, cells), "operand 1 must be [steps, features], got [B, 3]");
}

const std::string kSteps =
    R"({"parts":[{"name":"x","dims":[4,2]},{"name":"n","ids":5},{"name":"h","width":3},)"
    R"({"name":"mask","width":4}]})";
// A layer behind the parts x and `others`, joined to one row.
std::string taking(const std::string& layer, const std::string& others) {
  std::string parts = R"({"type":"part","of":"x"})";
  for (std::size_t at = 0; at < others.size();) {
    const std::size_t end = std::min(others.find(',', at), others.size());
    parts += R"(,{"type":"part","of":")" + others.substr(at, end - at) + R"("})";
    at = end + 1;
  }
  return topology(kSteps,
                  {R"("type":"parallel","combine":"operands","layers":[)" + parts + "]", layer});
}

TEST(Operands, WhatALayerTakesIsNamed) {
  const std::string lstm = R"("type":"lstm","hidden":3,)";
  EXPECT_EQ(refusal(taking(lstm + R"("takes":["h0","lengths","c0"])", "h,n,h")), "");
  expect_refused(taking(lstm + R"("bias":true)", "n"), "\"takes\": lengths, h0, c0");
  expect_refused(taking(lstm + R"("takes":["lengths"])", ""), "\"takes\" lengths behind the first");
  expect_refused(taking(lstm + R"("takes":["lengths","h0"])", "n"), "\"takes\" lengths, h0");
  expect_refused(taking(lstm + R"("takes":["lenghts"])", "n"), "got \"lenghts\"");
  expect_refused(taking(lstm + R"("takes":["mask"])", "mask"), "known are lengths, h0, c0");
  expect_refused(taking(lstm + R"("takes":["h0","h0"])", "h,h"), "names h0 twice");
  expect_refused(taking(lstm + R"("takes":"lengths")", "n"), "must be a list of strings");
  expect_refused(taking(R"("type":"gru","hidden":3,"takes":["c0"])", "h"), "known are lengths, h0");
  expect_refused(taking(lstm + R"("takes":["lengths"])", "h"), "one id below 5");
  expect_refused(taking(lstm + R"("num_layers":2,"takes":["h0"])", "h"), "[2, 3], got [B, 3]");
  expect_refused(taking(lstm + R"("stateful":true,"takes":["h0"])", "h"), "\"stateful\" keeps");
  expect_refused(taking(lstm + R"("stateful":true,"return_state":true)", ""), "\"stateful\" keeps");
  expect_refused(taking(R"("type":"attention","rope":false,"takes":["mask"])", "h"),
                 "the mask has a value for each of the 4 steps");
  expect_refused(taking(R"("type":"pool_steps","takes":["mask"])", "mask"), "known are lengths");
  expect_refused(taking(R"("type":"pool_steps","op":"median")", ""), "mean, max, sum, last");
  expect_refused(taking(R"("type":"dense","out":2)", "n"), "takes one operand");
  const std::string tokens = R"({"ids":5})", embedding = R"("type":"embedding","out":4)";
  expect_refused(topology(tokens, {embedding, R"("type":"attention","dropout":0.1)"}),
                 "\"dropout\" is of rows of [steps, features]");
  expect_refused(topology(tokens, {embedding, R"("type":"gru","hidden":4,"return_state":true)"}),
                 "goes on in other rows keeps its states");
}

// 0 and no -0 behind the length, from every layer, and everywhere where it is 0.
TEST(Operands, NothingIsBehindALength) {
  const std::string flat = R"({"type":"flatten"}])";
  std::vector<float> row(16);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = normal(RandomStream(3, 0), i);
  for (const std::string layer :
       {R"({"type":"rnn","hidden":2,"bidirectional":true,"takes":["lengths"]})",
        R"({"type":"gru","hidden":2,"num_layers":2,"takes":["lengths"]})",
        R"({"type":"lstm","hidden":2,"bidirectional":true,"takes":["lengths"]})",
        R"({"type":"attention","causal":false,"rope":false,"out_bias":true,"takes":["lengths"]})",
        R"({"type":"attention","heads":1,"takes":["lengths"]})",
        R"({"type":"pool_steps","op":"mean","takes":["lengths"]})",
        R"({"type":"pool_steps","op":"max","takes":["lengths"]})",
        R"({"type":"pool_steps","op":"last","takes":["lengths"]})"}) {
    SCOPED_TRACE(layer);
    Network network =
        test::network_of(taking(R"("type":"sequential","layers":[)" + layer + "," + flat, "n"));
    for (std::int64_t length = 0; length <= 4; ++length) {
      std::vector<float> x = row;
      x[8] = static_cast<float>(length);
      const std::vector<float> y = outputs(network, x, 1);
      for (std::size_t i = static_cast<std::size_t>(2 * length); i < 8; ++i) x[i] += 1e6f;
      const std::vector<float> same = outputs(network, x, 1);
      ASSERT_EQ(y.size() % 2, 0u);
      const std::size_t step = y.size() / (y.size() > 2 ? 4 : 1);
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_EQ(y[i], same[i]) << "what stands behind the length " << length << " is seen";
        const bool behind =
            length == 0 || (step < y.size() && i >= step * static_cast<std::size_t>(length));
        EXPECT_EQ(y[i] == 0, behind) << length << " at " << i;
        EXPECT_FALSE(behind && std::signbit(y[i]));
      }
    }
  }
}

TEST(Operands, PartsOfAnInputAreCheckedByName) {
  const std::vector<std::string> cell = {R"("type":"part","index":0)"};
  const auto input = [&](const std::string& parts) {
    return topology(R"({"parts":)" + parts + "}", cell);
  };
  expect_refused(input("[]"), "expected a list");
  expect_refused(input(R"([{"width":2}])"), "\"name\"");
  expect_refused(input(R"([{"name":"a","width":2},{"name":"a","width":3}])"),
                 "two are named \"a\"");
  expect_refused(input(R"([{"name":"a","dims":[0]}])"), "dims");
  expect_refused(input(R"([{"name":"a"}])"), "part a");
  expect_refused(input(R"([{"name":"a","ids":20000000,"dims":[3]}])"), "below 2^24");
  expect_refused(topology(R"({"parts":[{"name":"a","ids":5,"dims":[3]}]})",
                          {R"("type":"part","index":0)", R"("type":"dense","out":2)"}),
                 "put an embedding first");
  expect_refused(input(R"([{"name":"a","width":2,"parts":[]}])"), "no parts");
  expect_refused(input(R"([{"name":"a","width":2147483647},{"name":"b","width":9}])"), "2^31-1");
  expect_refused(topology(R"({"width":2,"name":"a"})", cell), "\"name\"");
  expect_refused(topology(R"({"width":2,"parts":[{"name":"a","width":2}]})", cell), "\"parts\"");
  expect_refused(topology(kTwo, cell, 1), "need topology version 3");
  const std::string merged =
      R"("type":"dense","out":2,"links":[{"read":[0,0,0,0]},{"read":[0,0,0,1]}],"merge":"operands")";
  expect_refused(topology(R"({"width":2})",
                          {R"("type":"dense","out":2)", R"("type":"dense","out":2)", merged}, 1),
                 "need topology version 3");
  expect_refused(topology(R"({"width":2})",
                          {R"("type":"dense","out":2)", R"("type":"dense","out":2)", merged}),
                 "takes one operand");
}

// Ids beside values, and a single one.
TEST(Operands, IdsAmongTheParts) {
  const auto branch = [](const std::string& of, const std::string& rest) {
    return R"({"type":"sequential","layers":[{"type":"part","of":")" + of + R"("})" + rest + "]}";
  };
  Network network = test::network_of(topology(
      R"({"parts":[{"name":"text","ids":5,"dims":[3]},{"name":"price","width":1},{"name":"country","ids":7}]})",
      {R"("type":"parallel","layers":[)" +
       branch("text", R"(,{"type":"embedding","out":2},{"type":"flatten"})") + "," +
       branch("price", "") + "," + branch("country", R"(,{"type":"embedding","out":4})") + "]"}));
  EXPECT_EQ(network.input().to_string(),
            "text [B, T=3] of ids below 5 and price [B, 1] and country [B] of ids below 7");
  EXPECT_EQ(network.input().width, 5);
  const std::vector<float> y = outputs(network, std::vector<float>{0, 4, 2, 1.5f, 6}, 1);
  ASSERT_EQ(y.size(), 11u);
  const auto text = network.find("0.0.0.0/0/1", "weight")->master64(),
             country = network.find("0.0.0.0/2/1", "weight")->master64();
  EXPECT_EQ(y[2], static_cast<float>(text[2 * 4]));
  EXPECT_EQ(y[6], 1.5f);
  EXPECT_EQ(y[7], static_cast<float>(country[4 * 6]));
  ThreadPool pool(1);
  auto session = Session::create(network, pool, {.max_rows = 8});
  ASSERT_TRUE(session.ok());
  for (const float id : {5.0f, -1.0f, 1.5f, NAN, 4294967297.0f}) {
    const auto refused = session->run(std::vector<float>{0, 1, 2, 0, 0, 0, id, 2, 0, 0}, 2);
    EXPECT_EQ(refused.status().code(), Code::out_of_range);
    EXPECT_NE(refused.status().message().find("row 1: text takes ids, whole numbers below 5"),
              std::string::npos)
        << refused.status().message();
  }
}

// A program that gathers what no check has bounded is refused.
TEST(Operands, IdsOfAProgramAreBounded) {
  for (const std::int64_t count : {4, 5}) {
    Program program;
    ProgramBuilder emit(program);
    const View x = emit.input("x", ValueType::f32, {1, emit.u32_register("R", 8)}, 1);
    const View w = emit.weight("w", "weight", 4, 3, {}, ValueType::f32);
    const View y = emit.gather(w, emit.to_ids(x, count));
    emit.copy_to(y, emit.output("y", ValueType::f32, emit.rows(y), 3));
    EXPECT_EQ(verify(program).ok(), count == 4) << verify(program).message();
  }
}

// A table of positions is an index limit of runs, as a vocabulary is.
TEST(Operands, PositionsBeyondTheirTableAreRefused) {
  Network network = test::network_of(
      topology(R"({"ids":5})", {R"("type":"embedding","out":4)", R"("type":"positions","count":3)",
                                R"("type":"attention","heads":2)"}));
  ASSERT_TRUE(network.initialize(1).ok());
  ThreadPool pool(1);
  auto session = Session::create(network, pool, {.max_rows = 8, .max_positions = 16});
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::vector<std::uint32_t> ids{1, 2, 3, 4}, sequences(4, 0), positions{0, 1, 2, 3};
  const auto first = [](const auto& list, std::size_t n) { return std::span(list).first(n); };
  EXPECT_TRUE(
      session->run_tokens(first(ids, 3), first(sequences, 3), first(positions, 3), {}).ok());
  const Status status = session->run_tokens(ids, sequences, positions, {});
  EXPECT_EQ(status.code(), Code::out_of_range) << status.message();
  EXPECT_NE(status.message().find("positions"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace loom
