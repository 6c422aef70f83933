// The structs of loom/options.h, as the JSON that the same options are in the other form: one list
// of keys (options.h) reads and checks both. Internal.
#pragma once

#include <cstddef>
#include <span>

#include <loom/loom.h>
#include "base/json/json.h"
#include "base/status.h"

namespace loom::c_api {

struct OptionStruct {
  enum class Kind { integer, number, flag, text, texts, ids };
  struct Member {
    const char* name;
    const char* outer;  // the object that has the key; "": none
    const char* key;
    Kind kind;
    std::size_t offset;
    std::size_t count;  // offset of the count of a list
  };
  const char* name;
  const char* initializer;             // the macro
  const void* initial;                 // a struct as the macro makes it
  std::span<const Member> members;     // those behind `size`
  std::span<const std::size_t> sizes;  // of each version, ascending; the last is this library's
};

const OptionStruct& option_struct(const loom_session_options*);
const OptionStruct& option_struct(const loom_seq2seq_options*);
const OptionStruct& option_struct(const loom_step_mesh_options*);
const OptionStruct& option_struct(const loom_online_options*);
const OptionStruct& option_struct(const loom_search_options*);
const OptionStruct& option_struct(const loom_training_options*);
const OptionStruct& option_struct(const loom_generator_options*);
const OptionStruct& option_struct(const loom_sampling_options*);

// What is given in a struct, by key; null gives nothing. Errors begin with "options".
Result<Json> json_of(const OptionStruct& described, const void* given);

template <class T>
Result<Json> options_json(const T* given) {
  return json_of(option_struct(given), given);
}

}  // namespace loom::c_api
