// loom train --teacher: a network learns what another one answers.
#include "e2e/process.h"
#include "e2e/report.h"

namespace loom::test {
namespace {

// Two classes, inside and outside a ring, and how far from its middle.
std::string ring(bool values) {
  std::string rows = values ? "a,b,far\n" : "a,b,place\n";
  for (int i = 0; i < 200; ++i) {
    const int a = i * 37 % 101 - 50, b = i * 53 % 97 - 48, far = a * a + b * b;
    rows += std::to_string(a) + "," + std::to_string(b) + "," +
            (values       ? std::to_string(far * 0.001)
             : far > 1200 ? "far"
                          : "near") +
            "\n";
  }
  return rows;
}

std::string spec(int steps, const char* loss, const char* data, int outputs) {
  return R"({"format":"loom-training","version":2,
    "network":{"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":2},"cells":[
    {"at":[0,0,0,0],"type":"dense","out":8,"activation":"tanh"},
    {"at":[0,0,0,1],"type":"dense","out":)" +
         std::to_string(outputs) + R"(}]},"data":{"type":"table",)" + data + R"(},"loss":")" +
         loss +
         R"(","optimizer":{"type":"adamw"},"schedule":{"type":"constant","lr":0.01},"steps":)" +
         std::to_string(steps) + R"(,"batch":40,"seed":3,"log_every":1})";
}

std::string digest(const Outcome& o) {
  const std::size_t at = o.err.rfind("sha256 ");
  return at == std::string::npos ? o.err : o.err.substr(at + 7, 64);
}

double loss_by(const char* head, const Json& line) {
  const Json* heads = line.find("heads");
  return heads && heads->find(head) ? heads->find(head)->as_number() : -1;
}

Json first_line(const std::string& out) { return last_line(out.substr(0, out.find('\n') + 1)); }

class Teacher : public testing::Test {
 protected:
  // A network chosen for the data, and what it learned.
  void teach(const std::string& rows, std::vector<std::string> more = {}) {
    data_ = folder_.write("ring.csv", rows);
    std::vector<std::string> args = {"train", "--data", data_, "--out", teacher_, "--steps", "150"};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome o = loom(args);
    ASSERT_EQ(o.code, 0) << o.err;
  }
  Outcome learn(const std::vector<std::string>& what, const std::string& out = "student.entity") {
    std::vector<std::string> args = {"train",       "--data", data_,       "--out",
                                     folder_ / out, "--json", "--teacher", teacher_};
    args.insert(args.end(), what.begin(), what.end());
    return loom(args);
  }
  const Folder folder_;
  const std::string teacher_ = folder_ / "teacher.entity";
  std::string data_;
};

TEST_F(Teacher, LossesAgainstItFallAndResumeWithTheSameBits) {
  teach(ring(false));
  const auto from_spec = [&](int steps) {
    return folder_.write("s.json", spec(steps, "cross_entropy", R"("class":"place")", 2));
  };
  // The spec takes numbers of classes.
  std::string rows = ring(false);
  for (const auto& [name, number] : {std::pair("far\n", "0\n"), std::pair("near\n", "1\n")})
    for (std::size_t at; (at = rows.find(std::string(",") + name)) != std::string::npos;)
      rows.replace(at + 1, std::string(name).size(), number);
  data_ = folder_.write("numbers.csv", rows);
  const Outcome whole = learn({from_spec(120), "--temperature", "2"}, "whole.entity");
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(
      whole.err.find("logits at temperature 2.0; its answers count 0.9, the targets the rest"),
      std::string::npos)
      << whole.err;
  const Json first = first_line(whole.out), last = last_line(whole.out);
  EXPECT_GT(loss_by("teacher", last), 0);
  // It cannot fall below four times the entropy of the teacher's answers.
  EXPECT_LT(loss_by("teacher", last), loss_by("teacher", first) - 0.1) << whole.out;
  EXPECT_LT(loss_by("labels", last), loss_by("labels", first));
  ASSERT_EQ(learn({from_spec(50), "--temperature", "2"}).code, 0);
  const Outcome resumed = learn({from_spec(120), "--temperature", "2", "--resume"});
  EXPECT_EQ(digest(resumed), digest(whole)) << resumed.err;
  EXPECT_EQ(digest(whole).size(), 64u);
  // Other settings make another network, and do not resume this one.
  const Outcome alone = learn({from_spec(120), "--alpha", "1"}, "alone.entity");
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(loss_by("teacher", last_line(alone.out)), -1);
  EXPECT_NE(digest(alone), digest(whole));
  LOOM_EXPECT_REFUSED(learn({from_spec(120), "--temperature", "3", "--resume"}), 3, "temperature");
}

TEST_F(Teacher, ChosenTrainingsLearnClassesAndValues) {
  for (const bool values : {false, true}) {
    SCOPED_TRACE(values ? "values" : "classes");
    teach(ring(values));
    const Outcome o = learn({"--steps", "100"});
    ASSERT_EQ(o.code, 0) << o.err;
    const Json last = last_line(o.out);
    const Json* judged = last.find("validation");
    const Json* heads = judged ? judged->find("heads") : nullptr;
    ASSERT_TRUE(heads) << o.out;
    EXPECT_GT(heads->find("teacher")->find(values ? "r2" : "accuracy")->as_number(), 0.7) << o.out;
    EXPECT_TRUE(heads->find("labels"));
    const Outcome answers = loom({"predict", folder_ / "student.entity", "--data", data_});
    EXPECT_EQ(answers.code, 0) << answers.err;
    EXPECT_EQ(answers.out.find("near,") != std::string::npos, !values);
  }
}

TEST_F(Teacher, WhatDoesNotFitIsRefusedByName) {
  teach(ring(false));
  LOOM_EXPECT_REFUSED(learn({"--alpha", "0"}), 2, "alpha");
  LOOM_EXPECT_REFUSED(learn({"--alpha", "1.5"}), 3, "alpha");
  LOOM_EXPECT_REFUSED(learn({"--temperature", "0"}), 2, "temperature");
  LOOM_EXPECT_REFUSED(
      loom({"train", "--data", data_, "--out", folder_ / "x.entity", "--alpha", "0.5"}), 2,
      "--alpha: is of \"teacher\", which is not given");
  LOOM_EXPECT_REFUSED(learn({"--report", folder_ / "r.txt"}), 3, "without a teacher");
  LOOM_EXPECT_REFUSED(learn({"--series"}), 3, "");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data_, "--out", teacher_, "--teacher", teacher_}), 2,
                      "teacher.entity");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data_, "--out", folder_ / "x.entity", "--teacher",
                            folder_ / "none.onnx"}),
                      3, "--teacher: ");
  // Other columns, other classes, another number of answers.
  std::string other = ring(false);
  other.replace(0, 3, "b,a");
  data_ = folder_.write("other.csv", other);
  LOOM_EXPECT_REFUSED(learn({}), 3, "its columns are 'a', 'b', those of the data 'b', 'a'");
  other = ring(false);
  for (std::size_t at; (at = other.find("near")) != std::string::npos;) other.replace(at, 4, "by");
  data_ = folder_.write("other.csv", other);
  LOOM_EXPECT_REFUSED(learn({}), 3, "its classes are 'far', 'near', those of the data 'by', 'far'");
  data_ = folder_.write("other.csv", ring(true));
  LOOM_EXPECT_REFUSED(learn({}), 3, "returns 2; the data have 2, the network that learns 1");
  LOOM_EXPECT_REFUSED(learn({"--temperature", "2"}), 2, "temperature");
  data_ = folder_.write("wide.csv", "a,b,c,place\n1,2,3,x\n2,3,4,y\n3,4,5,x\n4,5,6,y\n");
  LOOM_EXPECT_REFUSED(learn({}), 3, "takes rows of 2 values and returns 2; the data have 3");
  EXPECT_EQ(file_bytes(folder_ / "x.entity"), "");
}

}  // namespace
}  // namespace loom::test
