// The pickle in a PyTorch file, read as data: nothing is run. The names of torch.save's containers,
// tensors, storages and dtypes are known, and every other name is refused. Internal to this module.
#pragma once

#include <string_view>
#include <vector>

#include "formats/tensor_file.h"

namespace loom {

struct PickleValue {
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    tuple,
    list,
    dict,
    name,     // of a function or type; integer: which
    storage,  // integer: its place in storages
    tensor,   // integer: its place in tensors
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;             // in the bytes of the pickle; of a name: the name
  std::vector<std::uint32_t> items;  // places of values; of a dict: keys and values in turn
};

struct PickleStorage {
  StorageType type = StorageType::u8;
  bool typed = false;  // else count is bytes
  std::string_view key;
  std::uint64_t count = 0;
};

struct PickleTensor {
  std::uint32_t storage = 0;
  StorageType type = StorageType::f32;
  std::uint64_t offset = 0;  // in elements
  std::vector<std::int64_t> shape, strides;
};

struct Pickle {
  std::vector<PickleValue> values;
  std::vector<PickleStorage> storages;
  std::vector<PickleTensor> tensors;
  std::uint32_t root = 0;
};

// Memory: a value for each operation at the most. Errors: corrupt; unsupported for what torch.save
// does not write of tensors, numbers, texts and their dicts, lists and tuples.
Result<Pickle> read_pickle(std::string_view bytes);

}  // namespace loom
