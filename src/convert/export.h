// Networks in formats of other programs: a table of those there are, by name and by the end of a
// path.
#pragma once

#include <string>
#include <vector>

#include "base/files/source.h"
#include "base/json/json.h"
#include "base/status.h"
#include "grid/network.h"

namespace loom {

struct ExportOptions {
  std::int64_t opset = 21;
  std::string as;              // dtype of the matrices in the file; "": each as it is stored
  bool external_data = false;  // of ONNX: large tensors in a second file
  bool decoder = false;        // of ONNX: a language model with its cache as inputs and outputs
  bool matmul_nbits = false;   // of ONNX: products of 4 and 8 bits by com.microsoft.MatMulNBits
  std::string inputs{};        // the section of the network's file, which goes along; "": none
};

// Writes a network as a file of another program's format, by the end of the path: .onnx. The path
// has the old content or the new. Returns what was written: `format`, and what it has. Errors:
// invalid_argument: a path without a known end, options that the format does not have; unsupported,
// by path and type: layers and dtypes that the format does not have; io.
Result<Json> export_file(const Network& network, const std::string& path,
                         const ExportOptions& options);
// The same into memory, by the format's name: "onnx".
Result<std::vector<std::byte>> export_bytes(const Network& network, const std::string& format,
                                            const ExportOptions& options);

}  // namespace loom
