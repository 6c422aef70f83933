// A step mesh on a device: the CPU's bits, tick by tick and in programs of many ticks.
#include "exec/step_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "exec/program_runner.h"
#include "gpu/test_device.h"

namespace loom {
namespace {

// A cell that is off, an i8 one, and a link back to the first cell.
const char* const kRing =
    R"({"format":"loom-topology","version":3,"depth":4,"input":{"width":5},"step_mesh":true,
    "cells":[
      {"at":[0,0,0,0],"type":"dense","out":9,"activation":"tanh",
       "keep_previous":true,"links":[{"read":[3,0,0,0]}]},
      {"at":[1,0,0,0],"type":"dense","out":9,"dtype":"i8"},
      {"at":[2,0,0,0],"type":"rms_norm","enabled":false},
      {"at":[3,0,0,0],"type":"dense","out":4,"activation":"sigmoid"}]})";

std::vector<float> ramp(std::size_t count) {
  std::vector<float> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 23) / 8 - 1;
  return x;
}

TEST(DeviceStepMesh, HasTheCpusBits) {
  LOOM_TEST_DEVICE(device);
  auto network = Network::from_json(std::string_view(kRing));
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  ASSERT_TRUE(network->initialize(4).ok());
  ThreadPool pool(2);
  for (const std::int64_t streams : {1, 3}) {
    auto here = StepMesh::create(*network, pool, {.streams = streams});
    auto there = StepMesh::create(*network, pool, {.streams = streams, .device = device});
    ASSERT_TRUE(here.ok() && there.ok()) << there.status().to_string();
    for (const std::int64_t ticks : {1, 7, 130}) {
      const std::vector<float> x = ramp(static_cast<std::size_t>(streams * ticks * 5));
      std::vector<float> want(static_cast<std::size_t>(streams * ticks * 4)), got = want;
      ASSERT_TRUE(here->run(std::span(x), ticks, std::span(want)).ok());
      const Status ran = there->run(std::span(x), ticks, std::span(got));
      ASSERT_TRUE(ran.ok()) << ran.to_string();
      EXPECT_EQ(got, want);
      for (std::size_t cell = 0; cell < 4; ++cell)
        EXPECT_EQ(*there->value(cell, streams - 1), *here->value(cell, streams - 1));
    }
    // The CPU goes on from the device's values.
    EXPECT_EQ(there->snapshot(), here->snapshot());
    ASSERT_TRUE(here->restore(there->snapshot()).ok());
  }
}

// The program that was saved of it has the same values, in its states too.
TEST(DeviceStepMesh, SavedProgramsHaveTheCpusBits) {
  LOOM_TEST_DEVICE(device);
  auto network = Network::from_json(std::string_view(kRing));
  ASSERT_TRUE(network.ok() && network->initialize(4).ok());
  ThreadPool pool(2);
  auto mesh = StepMesh::create(*network, pool, {.streams = 2});
  ASSERT_TRUE(mesh.ok());
  const auto saved = mesh->portable_program(3);
  ASSERT_TRUE(saved.ok()) << saved.status().to_string();
  const auto program = Program::decode(saved->encode());
  ASSERT_TRUE(program.ok());
  auto runner = ProgramRunner::create(*program, *network, pool, {.device = device});
  ASSERT_TRUE(runner.ok()) << runner.status().to_string();
  for (int run = 0; run < 4; ++run) {
    const std::vector<float> x = ramp(2 * 3 * 5);
    std::vector<float> want(2 * 3 * 4), got = want;
    ASSERT_TRUE(mesh->run(std::span(x), 3, std::span(want)).ok());
    ASSERT_TRUE(runner->write("x", std::span(x)).ok() && runner->run().ok() &&
                runner->read("y", std::span(got)).ok());
    EXPECT_EQ(got, want) << run;
  }
  std::vector<float> value(2 * 9);
  ASSERT_TRUE(runner->read("0.0.0.0:value", std::span(value)).ok());
  const std::vector<double> wanted = *mesh->value(0, 1);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), value.begin() + 9));
}

}  // namespace
}  // namespace loom
