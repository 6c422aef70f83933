// A program written in a test, run by the CPU and by a device on the same values: every output,
// gradient, state and master must have the same bits.
#pragma once

#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/threads/thread_pool.h"
#include "gpu/test_device.h"
#include "ops/executor.h"
#include "ops/lowering/memory_planner.h"
#include "ops/program_builder.h"

namespace loom::webgpu {

class Case {
 public:
  explicit Case(std::uint32_t max_rows = 64) : rows{1, emit.u32_register("R", max_rows), kNone} {}

  Program program;
  ProgramBuilder emit{program};
  Rows rows;
  std::int64_t sequences = 1;
  Segment last = Segment::update;
  std::int64_t block_rows = 0;  // of the device; the CPU has all rows at once

  // f32 rows; `spread` 0: in -1..1, 1: many magnitudes, 2: also infinities and NaN.
  View input(std::int64_t cols, int spread = 0) {
    const View v = emit.input("x" + std::to_string(spreads_.size()), ValueType::f32, rows, cols);
    spreads_[v.buffer] = spread;
    return v;
  }
  // Host-written numbers below `limit`; 0: positions 0, 1, 2, ...
  View ids(std::uint32_t limit, ValueType type = ValueType::u32) {
    const View v = emit.input("i" + std::to_string(limits_.size()), type, rows, 1);
    limits_[v.buffer] = limit;
    return v;
  }
  View weight(const std::string& name, std::int64_t n, std::int64_t k, const WeightFormat& format,
              float scale = 1) {
    if (!stores_[0].contains(name)) {
      for (auto& stores : stores_) {
        auto store = WeightStore::from_f32(
            n, k,
            values(std::hash<std::string>{}(name), static_cast<std::size_t>(n * k), 0, scale));
        stores.emplace(name, std::move(*store));
        const Status s = stores.at(name).morph(format);
        EXPECT_TRUE(s.ok()) << s.to_string();
      }
    }
    return emit.weight(name, "w", n, k, format, ValueType::f32);
  }
  View master(const std::string& name) {
    const WeightStore& s = stores_[0].at(name);
    return emit.buffer({.type = ValueType::f32,
                        .kind = BufferKind::master,
                        .rows = {s.rows()},
                        .cols = s.cols(),
                        .path = name,
                        .role = "w"});
  }
  View grad(const std::string& name, std::int64_t n, std::int64_t k) {
    return emit.buffer({.type = ValueType::f32,
                        .kind = BufferKind::grad,
                        .rows = {n},
                        .cols = k,
                        .path = name,
                        .role = "g"});
  }
  void output(View v) {
    emit.copy_to(
        v, emit.output("y" + std::to_string(outputs_++), ValueType::f32, emit.rows(v), v.cols));
  }
  WeightStore& store(int side, const std::string& name) { return stores_[side].at(name); }
  // Run after run: rows of each, and what to do between them.
  testing::AssertionResult equal(gpu::Device& device, std::int64_t run_rows) {
    return equal(device, std::vector<std::int64_t>{run_rows});
  }
  testing::AssertionResult equal(gpu::Device& device, const std::vector<std::int64_t>& runs) {
    ThreadPool pool(1);
    std::unique_ptr<Executor> sides[2];
    for (int side = 0; side < 2; ++side) {
      ExecutorOptions options;
      options.device = side == 0 ? nullptr : &device;
      options.sequences = sequences;
      options.poison = true;
      options.block_rows = side == 0 ? 0 : block_rows;
      auto made = Executor::create(
          program,
          [&](std::string_view path, std::string_view) {
            const auto found = stores_[side].find(std::string(path));
            return found == stores_[side].end() ? nullptr : &found->second;
          },
          pool, options);
      if (!made.ok())
        return testing::AssertionFailure()
               << (side == 0 ? "cpu: " : "gpu: ") << made.status().to_string();
      sides[side] = std::move(*made);
    }
    if (block_rows > 0 && sides[1]->instructions() == sides[0]->instructions())
      return testing::AssertionFailure() << "the device has no blocks of rows";
    std::uint32_t at = 0;
    for (std::size_t n = 0; n < runs.size(); ++n) {
      for (int side = 0; side < 2; ++side) {
        Executor& e = *sides[side];
        (void)e.set(rows.a, static_cast<std::uint32_t>(runs[n]));
        fill(e, n, runs[n], at);
        if (before_run) before_run(e, runs[n]);
        const Status s = e.run(Segment::forward, last);
        if (!s.ok())
          return testing::AssertionFailure() << (side == 0 ? "cpu: " : "gpu: ") << s.to_string();
        if (after_run) after_run(side);
        const Status refreshed = e.refresh();
        if (!refreshed.ok()) return testing::AssertionFailure() << refreshed.to_string();
      }
      at += static_cast<std::uint32_t>(runs[n]);
      const auto same = compare(*sides[0], *sides[1], n);
      if (!same) return same;
    }
    const Status synced = sides[1]->sync();
    if (!synced.ok()) return testing::AssertionFailure() << synced.to_string();
    for (auto& [name, store] : stores_[0]) {
      const auto a = store.master(), b = stores_[1].at(name).master();
      if (std::memcmp(a.data(), b.data(), a.size_bytes()) != 0)
        return testing::AssertionFailure() << "master " << name;
    }
    return testing::AssertionSuccess();
  }
  // The inputs of run n; ids without a limit continue from `at`.
  void fill(Executor& e, std::size_t n, std::int64_t run_rows, std::uint32_t at) {
    for (std::size_t r = 0; r < program.registers.size(); ++r)
      if (program.registers[r].type == RegisterType::f32)
        e.set_real(static_cast<RegisterId>(r),
                   static_cast<double>(0.01f * static_cast<float>(r + 1)));
    for (const auto& [buffer, spread] : spreads_)
      for (std::int64_t r = 0; r < run_rows; ++r) {
        const auto v = values(
            static_cast<std::uint64_t>(buffer) * 1000 + n * 100 + static_cast<std::uint64_t>(r),
            e.row<float>(buffer, r).size(), spread, 1);
        std::copy(v.begin(), v.end(), e.row<float>(buffer, r).begin());
      }
    for (const auto& [buffer, limit] : limits_)
      for (std::int64_t r = 0; r < run_rows; ++r)
        e.row<std::uint32_t>(buffer, r)[0] =
            limit == 0 ? at + static_cast<std::uint32_t>(r)
                       : RandomStream(7, static_cast<std::uint64_t>(buffer))
                             .below(n * 1000 + static_cast<std::uint64_t>(r), limit);
  }
  std::function<void(Executor&, std::int64_t)> before_run;
  std::function<void(int)> after_run;

  static std::vector<float> values(std::uint64_t stream, std::size_t n, int spread, float scale) {
    const RandomStream random(1, stream);
    std::vector<float> v(n);
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = scale * (2 * random.uniform(2 * i) - 1);
      if (spread > 0) v[i] = v[i] * std::bit_cast<float>((64 + random.below(2 * i + 1, 100)) << 23);
      if (spread > 1 && i % 97 == 13)
        v[i] = std::bit_cast<float>(i % 2 == 0 ? 0x7F800000u : 0xFFC01234u);
    }
    return v;
  }

 private:
  testing::AssertionResult compare(Executor& cpu, Executor& gpu, std::size_t run) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      const auto id = static_cast<BufferId>(b);
      if (buffer.kind == BufferKind::state) {
        const auto x = cpu.state(id), y = gpu.state(id);
        for (std::size_t i = 0; i < x.size(); ++i)
          if (x[i] != y[i])
            return testing::AssertionFailure() << "run " << run << " state " << buffer.role
                                               << " byte " << i << " of " << x.size();
      }
      if (buffer.kind != BufferKind::output && buffer.kind != BufferKind::grad) continue;
      for (std::int64_t r = 0; r < program.rows(id, registers(cpu)); ++r) {
        const auto x = cpu.row<std::uint32_t>(id, r), y = gpu.row<std::uint32_t>(id, r);
        for (std::size_t i = 0; i < x.size(); ++i)
          if (x[i] != y[i])
            return testing::AssertionFailure()
                   << "run " << run << " " << name(buffer.kind) << " " << buffer.role << " [" << r
                   << ", " << i << "]: " << std::hex << x[i] << " on the CPU, " << y[i]
                   << " on the device";
      }
    }
    return testing::AssertionSuccess();
  }
  std::vector<std::uint32_t> registers(const Executor& e) const {
    std::vector<std::uint32_t> v;
    for (std::size_t r = 0; r < program.registers.size(); ++r)
      v.push_back(e.get(static_cast<RegisterId>(r)));
    return v;
  }

  std::map<BufferId, int> spreads_;
  std::map<BufferId, std::uint32_t> limits_;
  std::map<std::string, WeightStore> stores_[2];
  int outputs_ = 0;
};

}  // namespace loom::webgpu
