// Writes packed matrices of every weight format and what they decode to, for
// tools/check/kernels/packing.py to compare with an independent reader: dump_packed FOLDER. A line
// of FOLDER/manifest.txt per matrix: format rows cols file-stem; beside it STEM.packed (the bytes)
// and STEM.f64 (decoded values, row-major, little-endian doubles).
#include <cstdio>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "base/files/bytes.h"
#include "base/random.h"
#include "numeric/codec.h"
#include "numeric/gguf/gguf_blocks.h"
#include "numeric/packed/packed_matrix.h"

namespace {

using namespace loom;

std::vector<double> weights(std::int64_t count, std::uint64_t seed) {
  const RandomStream random(seed, 1);
  std::vector<double> w(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < w.size(); ++i) {
    double x = 0;
    for (std::uint64_t j = 0; j < 4; ++j) x += static_cast<double>(random.uniform(4 * i + j)) - 0.5;
    w[i] = x * 0.1 + (i % 97 == 5 ? 0.4 : 0.0);
  }
  return w;
}

// Random blocks with sane scales: the k-quants are not encoded here.
Result<PackedMatrix> random_blocks(const WeightFormat& format, std::int64_t rows,
                                   std::int64_t cols) {
  LOOM_ASSIGN(const PackedLayout layout, packed_layout(format, rows, cols));
  const std::shared_ptr<std::byte> bytes(new std::byte[layout.total],
                                         [](std::byte* p) { delete[] p; });
  const RandomStream random(3, 2);
  for (std::uint64_t i = 0; i < layout.total; ++i)
    bytes.get()[i] = static_cast<std::byte>(random.bits(i));
  const std::uint64_t size = static_cast<std::uint64_t>(gguf_block(format.layout).bytes);
  for (std::uint64_t at = 0; at < layout.total; at += size) {
    const float d = random.uniform(at) * 0.01f + 0.001f;
    if (format.layout == Layout::q6_k) store_le(bytes.get() + at + 208, f32_to_f16(d));
    if (format.layout == Layout::q4_k)
      store_le(bytes.get() + at, f32_to_f16(d)),
          store_le(bytes.get() + at + 2, f32_to_f16(d * 0.7f));
  }
  return PackedMatrix::wrap(format, rows, cols,
                            {bytes.get(), static_cast<std::size_t>(layout.total)}, bytes);
}

void write(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

Status dump(const std::string& folder) {
  constexpr std::int64_t kShapes[][2] = {{1, 1}, {17, 65}, {3, 257}, {40, 96}, {33, 31}};
  std::ofstream manifest(folder + "/manifest.txt");
  int number = 0;
  for (const WeightFormat& format : all_weight_formats())
    for (const auto& [rows, cols] : kShapes) {
      const auto w = weights(rows * cols, 17);
      const bool k_quant = format.layout == Layout::q4_k || format.layout == Layout::q6_k;
      LOOM_ASSIGN(const PackedMatrix m,
                  k_quant ? random_blocks(format, rows, cols)
                          : PackedMatrix::encode(format, rows, cols, std::span<const double>(w)));
      std::vector<double> values(w.size());
      m.decode(0, rows, values);
      for (double& x : values) store_le(&x, x);
      const std::string stem = std::to_string(number++);
      manifest << to_string(format) << ' ' << rows << ' ' << cols << ' ' << stem << '\n';
      write(folder + "/" + stem + ".packed", m.bytes());
      write(folder + "/" + stem + ".f64", std::as_bytes(std::span(values)));
    }
  return manifest.flush() ? Status() : Status(Code::io, "cannot write to " + folder);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: dump_packed FOLDER\n", stderr), 2;
  const Status status = dump(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "dump_packed: %s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
