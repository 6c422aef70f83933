// Model files in another format, with what that did to each tensor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "formats/encode.h"
#include "layers/config.h"
#include "llm/export/export.h"

namespace loom {

class Entity;

struct ConvertOptions {
  std::string dtype;          // of the weights; "": as they are
  std::string adapter;        // a LoRA adapter to add to the weights: a folder
  bool tokenizer = true;      // false: a language model is written without it, and then runs by ids
  bool matmul_nbits = false;  // of .onnx: products of 4 and 8 bits by com.microsoft.MatMulNBits
  AnyJson settings;           // of a file of weights: convert/weights/settings.h; {}: none
  AnyJson dims, max;          // of an ONNX graph: onnx/import.h's OpenDims
};

struct Conversion {
  struct Row {
    std::string name, shape, from, to;
    std::uint64_t bytes_before = 0, bytes_after = 0;
    ErrorSum error;
  };
  std::vector<Row> rows;
  std::vector<std::string> notes;  // what was left out, and what ONNX nodes became
  Json to_json() const;
};

// Writes the model of a folder, a .safetensors, .pt, .gguf, .onnx, .json or .entity file, or a name
// in the HuggingFace cache. A name that ends in .safetensors, .entity, .gguf or, of a network,
// .json becomes such a file.
// One that ends in .onnx becomes a decoder with its keys and values as inputs and outputs, without
// tokenizer. One that ends in "/", or a folder without a model in it, is a HuggingFace folder. The
// path has the old content or the new. A .safetensors file without the config.json of a language
// model becomes a network by names, shapes and settings. Errors: of the readers; invalid_argument:
// names and options that do not go together, an output that is the input.
Result<Conversion> convert(const std::string& in, const std::string& out,
                           const ConvertOptions& options);

// The weights in another format, or as they are, with what that did to each.
Status rewrite_weights(Network& network, const std::optional<WeightFormat>& format,
                       std::vector<Conversion::Row>& rows);

// Tells of a file's training, which no other file takes.
void note_training(const Entity& entity, const std::string& in, Conversion& report);

// Its part that writes a language model as .entity.
Status convert_to_entity(const std::string& in, const std::string& out,
                         const ConvertOptions& options, Conversion& report);

// Which of those that other programs take `out` is; nothing where it is none.
std::optional<ModelTarget> model_target(const std::string& out);
// A language model as a file of another program, in memory: "gguf", "onnx" (a decoder), or a file
// of a HuggingFace folder by its name. Errors: invalid_argument for another name and for options
// that the file does not have.
Result<std::vector<std::byte>> export_bytes(Model& model, const std::string& name,
                                            const ConvertOptions& options);

// Its part that writes a decoder as .onnx.
Status export_decoder(const std::string& in, const std::string& out, const ConvertOptions& options,
                      Conversion& report);
// Its part that writes those.
Status export_model(const std::string& in, const std::string& out, const ConvertOptions& options,
                    Conversion& report);

}  // namespace loom
