// Sinks of loom observe against receivers on this machine, recordings that replay, and that no
// socket is opened unless one is asked for.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/json/json.h"
#include "e2e/process.h"
#include "e2e/sockets.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

namespace loom::test {
namespace {

const char* const kNet = R"({"format":"loom-topology","version":3,"depth":2,"input":{"width":2},
  "cells":[{"at":[0,0,0,0],"type":"activation","activation":"relu","name":"first"},
           {"at":[1,0,0,0],"type":"parallel","combine":"add","layers":[
             {"type":"activation","activation":"tanh"},{"links":[{"run":[0,0,0,0]}]}]}]})";
const char* const kRows = "1,-2\n3,0\n5,-6\n";

// A socket on a free port of the loopback.
struct Receiver {
  explicit Receiver(int kind) : socket(::socket(AF_INET, kind, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = std::to_string(ntohs(address.sin_port));
    if (kind == SOCK_STREAM) {
      EXPECT_EQ(listen(socket, 16), 0);
    }
  }
  ~Receiver() { close(socket); }
  bool ready(int ms = 0) const {
    pollfd p{.fd = socket, .events = POLLIN, .revents = 0};
    return poll(&p, 1, ms) > 0;
  }
  std::vector<Json> datagrams() const {
    std::vector<Json> list;
    char bytes[65536];
    while (ready(100)) {
      const ssize_t size = recv(socket, bytes, sizeof bytes, 0);
      auto json = Json::parse(std::string_view(bytes, static_cast<std::size_t>(size)));
      EXPECT_TRUE(json.ok());
      if (json.ok()) list.push_back(std::move(*json));
    }
    return list;
  }
  const int socket;
  std::string port;
};

// Answers POSTs until it is asked to end, and keeps their events.
struct Server {
  explicit Server(std::string answer) : answer(std::move(answer)), thread([this] { serve(); }) {}
  ~Server() { finish(); }
  void finish() {
    end = true;
    if (thread.joinable()) thread.join();
  }
  void serve() {
    while (!end) {
      if (!receiver.ready(20)) continue;
      const int connection = accept(receiver.socket, nullptr, nullptr);
      std::string request;
      char part[4096];
      std::size_t body = std::string::npos, length = 0;
      while (body == std::string::npos || request.size() < body + length) {
        const ssize_t got = recv(connection, part, sizeof part, 0);
        if (got <= 0) break;
        request.append(part, static_cast<std::size_t>(got));
        if (body != std::string::npos || request.find("\r\n\r\n") == std::string::npos) continue;
        body = request.find("\r\n\r\n") + 4;
        length = std::stoul(request.substr(request.find("Content-Length: ") + 16));
      }
      heads.push_back(request.substr(0, body));
      if (const auto json = Json::parse(request.substr(body)); json.ok())
        for (const Json& event : json->find("events")->as_array()) events.push_back(event);
      if (!answer.empty()) send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      else
        while (!end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      close(connection);
    }
  }
  Receiver receiver{SOCK_STREAM};
  std::string answer;
  std::vector<Json> events;
  std::vector<std::string> heads;
  std::atomic<bool> end = false;
  std::thread thread;
};

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> list;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    list.push_back(*Json::parse(text.substr(at, text.find('\n', at) - at)));
  return list;
}

const Json& receiver_of(const Json& answer) { return answer.find("receivers")->as_array()[0]; }

TEST(Sinks, EachHasAllCellsOfAllPasses) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet), data = folder.write("x.csv", kRows),
                    lines = folder / "e.jsonl";
  const Receiver udp(SOCK_DGRAM);
  Server http("HTTP/1.1 204 No Content\r\n\r\n");
  const Outcome o =
      loom({"observe", net, "--data", data, "--rows", "1", "--console", "--udp",
            "127.0.0.1:" + udp.port, "--http", "http://127.0.0.1:" + http.receiver.port + "/in?a=1",
            "--events", lines, "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  http.finish();
  const auto answer = Json::parse(o.out);
  ASSERT_TRUE(answer.ok()) << o.out;
  for (const Json& receiver : answer->find("receivers")->as_array()) {
    EXPECT_EQ(receiver.find("sent")->as_integer(), 6) << receiver.dump();
    EXPECT_EQ(receiver.find("dropped")->as_integer(), 0);
    EXPECT_TRUE(receiver.find("error")->is_null());
  }
  const std::vector<Json> events = lines_of(file_bytes(lines)), datagrams = udp.datagrams();
  ASSERT_EQ(events.size(), 6u);
  ASSERT_EQ(datagrams.size(), 6u);
  ASSERT_EQ(http.events.size(), 6u);
  EXPECT_TRUE(http.heads[0].starts_with("POST /in?a=1 HTTP/1.1\r\n")) << http.heads[0];
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(http.events[i].dump(), events[i].dump());
    const Json& d = datagrams[i];
    EXPECT_EQ(d.find("v")->as_string(), "tanhi1");
    EXPECT_EQ(d.find("seq")->as_integer(), static_cast<std::int64_t>(i));
    EXPECT_EQ(d.find("idx")->as_integer(), static_cast<std::int64_t>(i % 2));
    EXPECT_EQ(d.find("stats")->find("mean")->dump(), events[i].find("mean")->dump());
    EXPECT_EQ(d.find("t1_ns")->as_integer(), events[i].find("t1_ns")->as_integer());
    EXPECT_GE(d.find("t1_ns")->as_integer(), d.find("t0_ns")->as_integer());
    EXPECT_EQ(d.find("shape")->dump(), "[2]");
  }
  EXPECT_EQ(datagrams[0].find("label")->as_string(), "first");
  EXPECT_EQ(datagrams[1].find("label")->as_string(), "1.0.0.0");
  EXPECT_EQ(datagrams[1].find("combine")->as_string(), "add");
  EXPECT_EQ(datagrams[1].find("branches")->dump(),
            R"([{"type":"activation","slot":0,"remote":false,"tz":-1,"ty":-1,"tx":-1,"tl":-1},)"
            R"({"type":"activation","slot":1,"remote":true,"tz":0,"ty":0,"tx":0,"tl":0}])");
  EXPECT_NE(o.err.find("pass 2  forward  1.0.0.0 parallel"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find(": 6 events sent, 0 failed, 0 dropped"), std::string::npos) << o.err;
}

TEST(Sinks, WhatIsNotDeliveredIsCounted) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet), data = folder.write("x.csv", kRows);
  const auto with = [&](const std::string& port) {
    const Outcome o = loom({"observe", net, "--data", data, "--rows", "1", "--http",
                            "http://127.0.0.1:" + port, "--json"});
    EXPECT_EQ(o.code, 0) << o.err;
    return *Json::parse(o.out);
  };
  {
    Server refuses("HTTP/1.1 503 Busy\r\n\r\n");
    const Json busy = with(refuses.receiver.port);
    EXPECT_EQ(receiver_of(busy).find("failed")->as_integer(), 6);
    EXPECT_EQ(receiver_of(busy).find("error")->as_string(), "answered 503 Busy");
  }
  {
    Server silent("");
    EXPECT_EQ(receiver_of(with(silent.receiver.port)).find("error")->as_string(),
              "no answer in time");
  }
  std::string closed;
  {
    closed = Receiver(SOCK_STREAM).port;
  }
  EXPECT_EQ(receiver_of(with(closed)).find("failed")->as_integer(), 6);
}

TEST(Sinks, RecordingsReplay) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet),
                    data = folder.write("x.csv", "1,-2\n3,nan\n5,-6\n"), lines = folder / "e.jsonl",
                    copy = folder / "copy.jsonl", svg = folder / "o.svg";
  const Outcome ran =
      loom({"observe", net, "--data", data, "--rows", "2", "--events", lines, "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Outcome again =
      loom({"observe", "--from", lines, "--events", copy, "--svg", svg, "--speed", "1", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(file_bytes(copy), file_bytes(lines));
  EXPECT_NE(file_bytes(svg).find("</svg>"), std::string::npos);
  const auto a = Json::parse(ran.out), b = Json::parse(again.out);
  ASSERT_TRUE(a.ok() && b.ok()) << again.out;
  EXPECT_EQ(b->find("events")->as_integer(), 4);
  EXPECT_EQ(b->find("passes")->as_integer(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json &x = a->find("cells")->as_array()[i], &y = b->find("cells")->as_array()[i];
    for (const char* key : {"path", "type", "min", "max", "active_share", "nan_count", "count",
                            "first_bad", "first_bad_pass", "passes"})
      EXPECT_EQ(x.find(key)->dump(), y.find(key)->dump()) << key;
    EXPECT_NEAR(x.find("mean")->as_number(), y.find("mean")->as_number(), 1e-15);
    EXPECT_NEAR(x.find("std")->as_number(), y.find("std")->as_number(), 1e-14);
  }
  // Tables are the same to the digit, and layers come from the network.
  EXPECT_EQ(loom({"observe", "--from", lines}).out,
            loom({"observe", net, "--data", data, "--rows", "2"}).out);
  const Receiver udp(SOCK_DGRAM);
  EXPECT_EQ(loom({"observe", net, "--from", lines, "--udp", "127.0.0.1:" + udp.port}).code, 0);
  EXPECT_EQ(loom({"observe", "--from", lines, "--udp", "127.0.0.1:" + udp.port}).code, 0);
  const std::vector<Json> datagrams = udp.datagrams();
  ASSERT_EQ(datagrams.size(), 8u);
  EXPECT_EQ(datagrams[0].find("shape")->dump(), "[2]");
  EXPECT_EQ(datagrams[4].find("shape")->dump(), "[]");
}

// More events than queues have room for: without a pace, receivers set it.
TEST(Sinks, LongRecordingsArriveWhole) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet), lines = folder / "e.jsonl";
  std::string rows;
  for (int i = 0; i < 3000; ++i) rows += std::to_string(i) + ",1\n";
  ASSERT_EQ(loom({"observe", net, "--data", folder.write("x.csv", rows), "--rows", "1", "--events",
                  lines})
                .code,
            0);
  Server http("HTTP/1.1 200 OK\r\n\r\n");
  const Outcome o = loom(
      {"observe", "--from", lines, "--http", "http://127.0.0.1:" + http.receiver.port, "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  http.finish();
  const auto answer = Json::parse(o.out);
  ASSERT_TRUE(answer.ok());
  const Json& receiver = receiver_of(*answer);
  EXPECT_EQ(receiver.find("dropped")->as_integer(), 0) << receiver.dump();
  EXPECT_EQ(receiver.find("sent")->as_integer(), 6000) << receiver.dump();
  EXPECT_EQ(http.events.size(), 6000u);
}

TEST(Sinks, RefusesWhatIsNoRecordingAndNoReceiver) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet), data = folder.write("x.csv", kRows),
                    lines = folder / "e.jsonl", copy = folder / "copy.jsonl";
  ASSERT_EQ(loom({"observe", net, "--data", data, "--events", lines}).code, 0);
  const std::string good = file_bytes(lines);
  const std::string first = good.substr(0, good.find('\n') + 1);
  const auto refused = [&](const std::string& text) {
    return loom({"observe", "--from", folder.write("bad.jsonl", text), "--events", copy});
  };
  LOOM_EXPECT_REFUSED(refused(first + "{\"pass\":1\n"), 3, "bad.jsonl: line 2: ");
  LOOM_EXPECT_REFUSED(refused(first + "\n"), 3, "bad.jsonl: line 2: ");
  LOOM_EXPECT_REFUSED(refused("[1]\n"), 3, "line 1: expects an object");
  LOOM_EXPECT_REFUSED(refused("{}\n"), 3, "line 1: pass: expects a value");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = first;
    EXPECT_NE(text.find(from), std::string::npos) << from << text;
    return refused(text.replace(text.find(from), from.size(), to));
  };
  LOOM_EXPECT_REFUSED(changed("\"passes\":1", "\"passes\":0"), 3, "passes: expects at least 1");
  LOOM_EXPECT_REFUSED(changed("\"mean\":", "\"mean\":\"\",\"m\":"), 3, "mean: expects a number or");
  LOOM_EXPECT_REFUSED(changed("[0,0,0,0]", "[0,0,0]"), 3, "at: expects [z, y, x, l]");
  LOOM_EXPECT_REFUSED(changed("\"t1_ns\":", "\"t1_ns\":-"), 3, "t1_ns: expects a whole number");
  LOOM_EXPECT_REFUSED(changed("\"count\":6", "\"count\":-6"), 3, "count: expects a whole number");
  LOOM_EXPECT_REFUSED(changed("\"nan_count\":0", "\"nan_count\":7"), 3, "at least nan_count");
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_EQ(loom({"observe", "--from", folder / "none.jsonl"}).code, 3);
  EXPECT_EQ(loom({"observe", "--from", folder.write("empty.jsonl", "")}).code, 0);

  LOOM_EXPECT_REFUSED(loom({"observe", "--from", lines, "--data", data}), 2, "--data: is for runs");
  LOOM_EXPECT_REFUSED(loom({"observe", net, "--data", data, "--speed", "1"}), 2, "--speed");
  LOOM_EXPECT_REFUSED(loom({"observe", "--from", lines, "--events", lines}), 2, "--events");
  LOOM_EXPECT_REFUSED(loom({"observe", "--from", lines, "--seed", "2"}), 2, "--seed");
  for (const char* host : {"", ":1", "localhost:0", "localhost:65536", "localhost:x", "[::1", "a:"})
    LOOM_EXPECT_REFUSED(loom({"observe", "--from", lines, "--udp", host}), 2, "HOST[:PORT]");
  for (const char* url :
       {"localhost", "https://localhost/", "http://", "http://a:b/", "http://a b/"})
    LOOM_EXPECT_REFUSED(loom({"observe", "--from", lines, "--http", url}), 2, "expects ");
  LOOM_EXPECT_REFUSED(loom({"observe", "--from", lines, "--udp", "no.such.host.invalid"}), 1,
                      "no.such.host.invalid");
}

#if defined(LOOM_TEST_DENIES_SOCKETS)
TEST(Sinks, OpenNoSocketUnlessAsked) {
  if (!sockets_can_be_denied()) GTEST_SKIP() << "this kernel takes no seccomp filter";
  const Folder folder;
  const std::string net = folder.write("net.json", kNet), data = folder.write("x.csv", kRows),
                    lines = folder / "e.jsonl";
  EXPECT_EQ(ends_without_sockets({"observe", net, "--data", data, "--console", "--events", lines,
                                  "--tensorboard", folder / "board"}),
            0);
  EXPECT_EQ(ends_without_sockets({"observe", net, "--from", lines, "--svg", folder / "o.svg"}), 0);
  EXPECT_EQ(ends_without_sockets({"show", net, "--blueprint"}), 0);
  EXPECT_EQ(ends_without_sockets({"verify"}), 0);
  EXPECT_EQ(ends_without_sockets({"chat"}), 0);
  const std::string model = folder / "model.entity";
  EXPECT_EQ(ends_without_sockets({"convert", "embedded", model}), 0);
  EXPECT_EQ(
      ends_without_sockets({"run", model, "Once", "--tokens", "3", "--memory", folder / "m.jsonl"}),
      0);
  EXPECT_EQ(ends_without_sockets({"observe", "--from", lines, "--udp", "127.0.0.1"}), 128 + SIGSYS);
  EXPECT_EQ(ends_without_sockets({"observe", "--from", lines, "--http", "http://127.0.0.1:9/"}),
            128 + SIGSYS);
}
#endif

}  // namespace
}  // namespace loom::test
