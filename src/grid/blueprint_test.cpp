// Blueprints: each cell and what is inside, with the shapes that planning found.
#include "grid/blueprint.h"

#include <gtest/gtest.h>

namespace loom {
namespace {

Json layers_of(const Json& print) { return *print.find("models")->as_array()[0].find("layers"); }
std::string dump(const Json& layer, const char* key) {
  const Json* value = layer.find(key);
  return value ? value->dump() : "(none)";
}

TEST(Blueprint, CellsBranchesAndLinks) {
  auto n = Network::from_json(std::string_view(R"({"format":"loom-topology","version":3,"depth":5,
    "input":{"dims":[6,8],"axis":"steps"},"cells":[
      {"at":[0,0,0,0],"type":"dense","out":16,"activation":"relu","dtype":"i8","name":"up"},
      {"at":[1,0,0,0],"type":"parallel","combine":"add","layers":[
        {"type":"dense","out":5},
        {"type":"sequential","layers":[{"type":"dense","out":5,"activation":"tanh"},
                                       {"type":"layer_norm"}]}]},
      {"at":[2,0,0,0],"type":"dense","out":2,"bias":false,
       "links":[{"read":[0,0,0,0]},{"read":[1,0,0,0]}]},
      {"at":[4,0,0,0],"type":"activation","activation":"relu","enabled":false}]})"));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  const Json print = blueprint(*n, "net");
  const Json& model = print.find("models")->as_array()[0];
  EXPECT_EQ(model.find("id")->as_string(), "net");
  EXPECT_EQ(model.find("total_layers")->as_integer(), 4);
  EXPECT_EQ(model.find("total_parameters")->as_integer(), n->parameter_count());
  const Json layers = layers_of(print);
  ASSERT_EQ(layers.as_array().size(), 4u);
  const Json &up = layers.as_array()[0], &both = layers.as_array()[1], &down = layers.as_array()[2],
             &off = layers.as_array()[3];
  EXPECT_EQ(dump(up, "z") + dump(up, "y") + dump(up, "x") + dump(up, "l"), "0000");
  EXPECT_EQ(dump(up, "type") + dump(up, "activation") + dump(up, "dtype") + dump(up, "name"),
            R"("dense""relu""i8""up")");
  EXPECT_EQ(dump(up, "input_shape") + dump(up, "output_shape"), "[6,8][6,16]");
  EXPECT_EQ(dump(up, "parameters"), "144");
  EXPECT_EQ(dump(up, "combine_mode") + dump(up, "branches"), "null[]");

  EXPECT_EQ(dump(both, "combine_mode"), "\"add\"");
  EXPECT_EQ(dump(both, "output_shape"), "[6,5]");
  const auto& branches = both.find("branches")->as_array();
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_EQ(dump(branches[0], "path"), "\"1.0.0.0/0\"");
  EXPECT_EQ(dump(branches[0], "z"), "(none)");
  EXPECT_EQ(dump(branches[0], "input_shape") + dump(branches[0], "output_shape"), "[6,16][6,5]");
  EXPECT_EQ(branches[1].find("parameters")->as_integer(), 16 * 5 + 5 + 10);
  EXPECT_EQ(both.find("parameters")->as_integer(), 2 * (16 * 5 + 5) + 10);
  const Json& norm = branches[1].find("branches")->as_array()[1];
  EXPECT_EQ(dump(norm, "path") + dump(norm, "type"), R"("1.0.0.0/1/1""layer_norm")");
  EXPECT_EQ(dump(norm, "input_shape") + dump(norm, "output_shape"), "[6,5][6,5]");

  EXPECT_EQ(dump(down, "input_shape"), "[6,21]");
  EXPECT_EQ(dump(down, "combine_mode"), "\"concat\"");
  EXPECT_EQ(dump(down, "links"), R"([{"read":[0,0,0,0]},{"read":[1,0,0,0]}])");
  EXPECT_EQ(dump(off, "enabled"), "false");
  EXPECT_EQ(dump(off, "input_shape") + dump(off, "output_shape"), "[6,2][6,2]");

  // After a change the shapes are the new ones.
  EXPECT_FALSE(n->enable(0, false).ok());  // another's weights would need another size
  ASSERT_TRUE(n->set_cell({4, 0, 0, 0}, *Json::parse(R"({"type":"dense","out":3})")).ok() &&
              n->plan().ok());
  EXPECT_EQ(dump(layers_of(blueprint(*n, "")).as_array()[3], "output_shape"), "[6,3]");
}

TEST(Blueprint, CellsThatRunOthersAndIds) {
  auto n = Network::from_json(std::string_view(R"({"format":"loom-topology","version":3,"depth":4,
    "input":{"ids":50},"cells":[
      {"at":[0,0,0,0],"type":"embedding","out":8},
      {"at":[1,0,0,0],"type":"dense","out":8},
      {"at":[2,0,0,0],"links":[{"run":[1,0,0,0]}]},
      {"at":[3,0,0,0],"type":"sequential","layers":[{"links":[{"run":[1,0,0,0]}]}]}]})"));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  const Json layers = layers_of(blueprint(*n, "x"));
  ASSERT_EQ(layers.as_array().size(), 4u);
  EXPECT_EQ(dump(layers.as_array()[0], "input_ids"), "50");
  EXPECT_EQ(dump(layers.as_array()[0], "input_shape"), "[1]");
  const Json& runs = layers.as_array()[2];
  EXPECT_EQ(dump(runs, "type") + dump(runs, "parameters"), "\"dense\"0");
  EXPECT_EQ(dump(runs, "input_shape") + dump(runs, "output_shape"), "[8][8]");
  EXPECT_EQ(dump(runs, "links"), R"([{"run":[1,0,0,0]}])");
  const Json& inside = layers.as_array()[3].find("branches")->as_array()[0];
  EXPECT_EQ(dump(inside, "type") + dump(inside, "links"), R"("dense"[{"run":[1,0,0,0]}])");
  EXPECT_EQ(dump(inside, "input_shape") + dump(inside, "output_shape"), "[8][8]");
}

TEST(Blueprint, OfManyCellsTakesTimeInProportion) {
  std::string cells;
  for (int i = 0; i < 20000; ++i)
    cells += std::string(i ? "," : "") + R"({"at":[)" + std::to_string(i) +
             R"(,0,0,0],"type":"dense","out":2})";
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":3,"depth":20000,"input":{"width":2},"cells":[)" +
      cells + "]}"));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  const Json print = blueprint(*n, "");
  EXPECT_EQ(print.find("models")->as_array()[0].find("total_parameters")->as_integer(), 120000);
}

}  // namespace
}  // namespace loom
