// ONNX models, read only: what the file says as plain data, checked but not interpreted. Opening
// parses the whole message (no protobuf library), checks names, order, sizes and types, and opens
// the files of external data; the bytes of tensors stay where they lie. Immutable after opening;
// any thread may read. Field names are those of onnx.proto3; opsets and operators are not looked at
// here: infer.h knows them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/source.h"
#include "base/status.h"
#include "formats/tensor_file.h"

namespace loom::onnx {

// Element types by their number in the file (TensorProto.DataType).
enum class Type : std::uint8_t {
  undefined,
  f32,
  u8,
  i8,
  u16,
  i16,
  i32,
  i64,
  string,
  boolean,
  f16,
  f64,
  u32,
  u64,
  complex64,
  complex128,
  bf16,
  f8_e4m3fn,
  f8_e4m3fnuz,
  f8_e5m2,
  f8_e5m2fnuz,
  u4,
  i4,
  f4_e2m1,
  f8_e8m0,
  u2,
  i2,
};
inline constexpr int kTypeCount = 27;
std::optional<DType> dtype_of(Type type);  // by its number in dtypes.def; nothing where it has none
std::string_view name(Type type);  // as ONNX writes them: "float", "int64", "float8e4m3fnuz"
std::uint32_t bits(Type type);     // of one element; 0 for string and undefined
bool is_integer(Type type);        // signed or unsigned of any width, not bool
bool is_float(Type type);          // real numbers of any width
bool is_small(Type type);          // float8, float4, and integers below a byte
// The code of the small type that has this value; none where it has not.
std::optional<unsigned> small_code(Type type, double value);

// Elements in row-major order, little-endian, as raw_data has them whatever field of the file they
// came from: types under 8 bits packed, the lowest bits first. A bool is a byte.
struct Tensor {
  std::string name;
  Type type = Type::undefined;
  std::vector<std::int64_t> dims;  // none negative; their product is checked against the size
  SourcePtr source;          // the model's file, a file beside it, or memory; none for strings
  std::uint64_t offset = 0;  // of the first byte in `source`
  std::uint64_t size = 0;    // bytes
  std::vector<std::string> strings;  // of Type::string

  std::uint64_t elements() const;
  // The bytes where the source lies in memory, else empty. Aligned only as the file is.
  std::span<const std::byte> view() const;
};

// All elements. Floats and integers of every width convert to a float, rounded once to nearest
// even; f32 holds f16, bf16 and all below exactly. Errors: unsupported for strings and complex
// numbers, by name; what the source says.
Result<std::vector<float>> read_f32(const Tensor& tensor);
Result<std::vector<double>> read_f64(const Tensor& tensor);
// Integers and bool only; out_of_range for a uint64 beyond 2^63-1.
Result<std::vector<std::int64_t>> read_i64(const Tensor& tensor);
// The tensor as other readers give it; unsupported where tensor_file.h has no such type.
Result<TensorInfo> tensor_info(const Tensor& tensor);

struct Dim {
  std::int64_t value = -1;  // -1: not stated, or stated by a name
  std::string param;        // "batch"
};

enum class Kind : std::uint8_t { unknown, tensor, sequence, map, optional, sparse_tensor, opaque };

// The declared type of a value. Of a sequence or optional, `type`, `dims` and `has_shape` are its
// elements'.
struct ValueInfo {
  std::string name;
  Kind kind = Kind::unknown;
  Type type = Type::undefined;
  bool has_shape = false;  // false: any rank
  std::vector<Dim> dims;
};
// "float[batch, 3, 224]", "sequence of int64[?]"
std::string type_text(const ValueInfo& info);
// The name of an input's dimension: "seq", or "x:1" of one that is not stated by a name.
std::string dim_name(const ValueInfo& input, std::size_t axis);

struct Graph;

// AttributeProto.AttributeType
enum class AttributeType : std::uint8_t {
  undefined,
  f,
  i,
  s,
  tensor,
  graph,
  floats,
  ints,
  strings,
  tensors,
  graphs,
  sparse_tensor,
  sparse_tensors,
  type,
  types,
};
std::string_view name(AttributeType type);

struct Attribute {
  std::string name;
  AttributeType type = AttributeType::undefined;
  std::string reference;  // in a function: the function's attribute that gives the value
  float f = 0;
  std::int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  std::vector<Tensor> tensors;  // one for AttributeType::tensor
  std::vector<Graph> graphs;    // one for AttributeType::graph
};

struct Node {
  std::string name;    // may be empty, may be there twice
  std::string op;      // "Conv"
  std::string domain;  // "" for ai.onnx
  std::string overload;
  std::vector<std::string> inputs;   // "" for an optional one left out
  std::vector<std::string> outputs;  // likewise
  std::vector<Attribute> attributes;

  const Attribute* find(std::string_view attribute) const;  // nullptr where absent
  // The value, or `fallback` where the attribute is absent; an attribute of another type is
  // invalid_argument naming both.
  Result<std::int64_t> get_int(std::string_view attribute, std::int64_t fallback) const;
  Result<float> get_float(std::string_view attribute, float fallback) const;
  Result<std::string> get_string(std::string_view attribute, std::string_view fallback) const;
  Result<std::vector<std::int64_t>> get_ints(std::string_view attribute,
                                             std::vector<std::int64_t> fallback) const;
  Result<std::vector<float>> get_floats(std::string_view attribute,
                                        std::vector<float> fallback) const;
  // nullptr where absent.
  Result<const Tensor*> get_tensor(std::string_view attribute) const;
  Result<const Graph*> get_graph(std::string_view attribute) const;
};

// "node 3 'conv1' (Conv)"; of a foreign domain "(com.microsoft.FusedConv)".
std::string describe(const Node& node, std::size_t index);

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // every input is an input of the graph, an initializer, an output of a
                            // node before, or a name around the graph
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs;  // some may have an initializer: their default
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo>
      values;  // what the file says about values in between; not checked against anything
};

// A named subgraph that nodes call by domain and op.
struct Function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;  // without a default
  std::vector<Attribute> attributes_with_default;
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, std::int64_t>> opsets;
};

struct Model {
  std::string file;  // its source's name
  std::int64_t ir_version = 0, model_version = 0;
  std::string producer, producer_version, domain;
  std::vector<std::pair<std::string, std::int64_t>> opsets;  // domain ("" for ai.onnx), version
  std::vector<std::pair<std::string, std::string>> metadata;
  Graph graph;
  std::vector<Function> functions;
  bool has_training_info = false;  // read over
  // Of the file and of the tensors beside it: what it may ask for grows with them. 0: made in
  // memory.
  std::uint64_t bytes = 0;

  std::int64_t opset(std::string_view domain = "") const;  // 0 where it is not imported
};

// Opens a file of external data by its location: a relative path without "..", checked.
using OpenExternal = std::function<Result<SourcePtr>(const std::string& location)>;

// All or nothing. Without a view the bytes are read into memory, 2 GiB at most (protobuf's own
// limit). Errors: truncated, corrupt, unsupported by name: sparse initializers, IR versions before
// 3, external data without `external`, segments.
Result<Model> read_model(SourcePtr source, const OpenExternal& external = {});
// External data lie beside the file.
Result<Model> open_model(const std::string& path);
// A TensorProto alone (.pb), as test data of ONNX come.
Result<Tensor> read_tensor(SourcePtr source);

}  // namespace loom::onnx
