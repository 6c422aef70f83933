// What the forms of data share in choosing a training; inside src/train alone. choose.h is for
// callers.
#pragma once

#include <string>
#include <vector>

#include "formats/tensor_file.h"
#include "train/auto_config/auto_config.h"

namespace loom::choosing {

Status bad(const std::string& file, const std::string& what);
std::string count_of(std::int64_t n, const std::string& what);
// "'cat', 'dog', ...", the first six.
std::string first_of(const std::vector<std::string>& names);

// What `complete` cannot see in the data.
struct Answers {
  bool classes = false;
  std::int64_t outputs = 0;
  std::vector<bool> measured;  // which inputs have a mean and a scale of their own; empty: all have
                               // one together, as the brightness of pixels
  std::vector<std::int64_t>
      image{};          // channels, height, width: learned by convolutions; empty: by dense layers
  bool words = false;   // rows of many places, most of them 0
  bool series = false;  // steps of a time series, in a split that is there
};
constexpr double kSeriesHeldBack = 0.2;  // the last fifth of a series
// Chooses the split, the network and how it learns, for data that is there.
Status complete(AutoConfig& t, const AutoConfigOptions& options, Answers answers);

// Channels, height and width of samples that are images: height x width, or up to four channels
// of them; empty: they are not.
std::vector<std::int64_t> image_of(std::span<const std::int64_t> sample);

// The text of a table, and its cells; `said` gets a line on an encoding that is not UTF-8.
Result<Table> open_table(const std::string& file, std::vector<std::string>& decisions);
// Whether the table is a time series, which is then chosen; if not, `notes` may say why.
Result<bool> choose_series(AutoConfig& t, const AutoConfigOptions& options, const Table& table,
                           std::vector<std::string>& notes);
Result<RawRows> read_series_rows(const Json& inputs, std::int64_t width, const std::string& file);
Status choose_table(AutoConfig& t, const AutoConfigOptions& options);
Result<RawRows> read_table_rows(const Json& inputs, std::int64_t width, const std::string& file);

struct Arrays {
  TensorInfo x, y;
};
// The first pair of names that is there; not_found where none is.
Result<Arrays> open_pair(const std::string& folder, bool test);
Status choose_arrays(AutoConfig& t, const AutoConfigOptions& options, Arrays arrays);
bool is_array(const std::string& file);  // idx or .npy
Result<RawRows> read_array_rows(const Json& inputs, std::int64_t width, const std::string& file);

// False: the folder holds neither images nor texts.
Result<bool> choose_folder(AutoConfig& t, const AutoConfigOptions& options);
// Checks what a section "inputs" says of a folder; `part` gets the keys that training writes.
Status folder_part(const Json& inputs, std::int64_t width, Json& part);
Result<RawRows> read_folder_rows(const Json& inputs, std::int64_t width, const std::string& file,
                                 const ImageDecoder& decoder);

}  // namespace loom::choosing
