// The numerics table: a fixed suite whose results are hashed row by row. Two builds, machines or
// instruction sets that print the same fingerprint compute the same bits. Everything here is
// deterministic; nothing is read from outside but the embedded model.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/threads/thread_pool.h"

namespace loom {

namespace gpu {
class Device;
}

struct VerifyRow {
  std::string name;  // "matmul i4", "train decoder adamw"
  std::string
      hash;  // SHA-256 of the row's results, little-endian, in hex; empty where the row was not run
  std::string why;  // it was not run
};

struct VerifyOptions {
  std::string isa;                // "": the best here
  gpu::Device* device = nullptr;  // null: the CPU. A device runs what is a program of classes I, B
                                  // and F; the other rows say why not
  std::function<void(const VerifyRow&)> on_row;
};

// All rows, in a fixed order. Takes seconds natively, up to a minute in an emulator.
Result<std::vector<VerifyRow>> run_verify(ThreadPool& pool, const VerifyOptions& options = {});
// SHA-256 over all rows' names and hashes.
std::string fingerprint(std::span<const VerifyRow> rows);

// The fingerprint that every build must have: tests/golden/numerics.txt.
std::string_view golden_fingerprint();

// "name hash" per line, as `loom verify` prints it and --against reads it. Returns the first
// difference in words, empty where there is none. Rows that were not run are left out.
std::string compare_tables(std::span<const VerifyRow> rows, std::string_view expected);

}  // namespace loom
