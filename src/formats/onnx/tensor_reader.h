// TensorProto to Tensor: finds where the elements lie, or packs the typed fields as raw_data would
// be. Internal to this folder.
#pragma once

#include <map>

#include "formats/onnx/onnx.h"
#include "formats/onnx/protobuf.h"

namespace loom::onnx {

class TensorReader {
 public:
  // `source` has a view.
  TensorReader(SourcePtr source, OpenExternal external)
      : source_(std::move(source)), external_(std::move(external)) {}

  // Errors begin with "tensor 'name': ".
  Status read(Cursor message, Tensor* out);

 private:
  struct Parts;
  Status collect(Cursor message, Tensor* out, Parts* parts) const;
  Status place(const Parts& parts, Tensor* out);
  Status place_typed(const Parts& parts, std::uint64_t elements, Tensor* out) const;
  Status place_external(const Parts& parts, Tensor* out);

  SourcePtr source_;
  OpenExternal external_;
  std::map<std::string, SourcePtr> opened_;  // by location
};

// Reads the key and the value of a StringStringEntryProto.
Status read_entry(const Field& field, std::string_view name,
                  std::pair<std::string, std::string>* out);

}  // namespace loom::onnx
