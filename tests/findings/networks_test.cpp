// Networks that silently became something else: findings.md, B1 and B2.
#include <gtest/gtest.h>

#include "conformance/support.h"

namespace loom {
namespace {

// What a network of one such cell, and one with it nested, is refused for; "" where it is taken.
std::string refusal(const std::string& cell, bool nested, int version = 2) {
  const std::string at = R"({"at":[0,0,0,0],)";
  const std::string whole =
      nested ? at + R"("type":"sequential","layers":[{)" + cell + "}]}" : at + cell + "}";
  const auto network = Network::from_json(std::string_view(
      R"({"format":"loom-topology","layers_per_cell":1,"input":{"width":4},"version":)" +
      std::to_string(version) + R"(,"cells":[)" + whole + "]}"));
  return network.ok() ? std::string() : network.status().message();
}

void expect_refused(const std::string& cell, bool nested, const std::string& part) {
  const std::string message = refusal(cell, nested);
  EXPECT_NE(message.find(part), std::string::npos) << cell << ": " << message;
}

TEST(Findings, B1_AMisspelledTypeIsNamed) {
  for (const bool nested : {false, true}) {
    expect_refused(R"("typ":"dense","out":2)", nested, "\"typ\"");
    expect_refused(R"("typ":"dense")", nested, "\"type\"");
    expect_refused(R"("type":"dense","outt":2)", nested, "\"outt\"");
  }
  EXPECT_EQ(refusal(R"("type":"dense","out":2)", true), "");
}

TEST(Findings, B2_WhatANestedLayerCannotHaveIsRefused) {
  const std::string dense = R"("type":"dense","out":4,)";
  expect_refused(dense + R"("tie":"0.0.0.0/0:weight")", true, "\"tie\"");
  expect_refused(dense + R"("merge":"avg")", true, "\"merge\"");
  expect_refused(dense + R"("keep_previous":true)", true, "\"keep_previous\"");
  // A file of version 1 loads as it did.
  EXPECT_EQ(refusal(dense + R"("merge":"avg")", true, 1), "");
  EXPECT_EQ(refusal(dense + R"("name":"x","merge":"concat","keep_previous":false)", true), "");
}

TEST(Findings, B2_SettingsOfAParallelThatItsCombineDoesNotUseAreRefused) {
  const std::string two = R"("layers":[{"type":"dense","out":2},{"type":"dense","out":3}])";
  const std::string parallel = R"("type":"parallel",)" + two + ",";
  expect_refused(parallel + R"("combine":"concat","stitch":true)", false, "\"stitch\"");
  expect_refused(parallel + R"("combine":"add","stitch":true,"temperature":2)", false,
                 "\"temperature\"");
  expect_refused(parallel + R"("combine":"concat","top_k":1)", false, "\"top_k\"");
  expect_refused(parallel + R"("combine":"concat","grid":[1,2])", false, "\"grid\"");
  expect_refused(parallel + R"("combine":"concat","places":[0,0,0,1])", false, "\"places\"");
  EXPECT_EQ(refusal(parallel + R"("combine":"concat","stitch":true)", false, 1), "");
  EXPECT_EQ(refusal(parallel + R"("combine":"add","stitch":true)", false), "");
}

}  // namespace
}  // namespace loom
