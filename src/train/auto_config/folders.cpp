// Folders of images and of texts: what is learned from them, and how new ones become rows.
#include <algorithm>

#include "base/escape.h"
#include "base/files/source.h"
#include "base/message.h"
#include "train/auto_config/parts.h"
#include "train/data/bag_of_words.h"
#include "train/data/folder.h"
#include "train/data/tables/encoding.h"

namespace loom::choosing {
namespace {

constexpr std::uint64_t kMaxPixelBytes = std::uint64_t{2}
                                         << 30;   // of all images together, as they are kept
constexpr std::uint64_t kMaxWords = 200'000'000;  // of all texts together, different ones of a text
constexpr std::uint64_t kLargestImage = std::uint64_t{256} << 20,
                        kLargestText = std::uint64_t{64} << 20;  // bytes of one file

// Files and the numbers of their classes, kIgnoredClass where they have none.
struct Listed {
  std::vector<std::string> files;
  std::vector<std::int32_t> classes;
};

Listed list(const ClassFiles& found, const std::vector<std::string>& labels) {
  Listed listed;
  for (const ClassFiles::Class& c : found.classes) {
    const auto label = std::find(labels.begin(), labels.end(), c.name);
    const auto number =
        label == labels.end() ? kIgnoredClass : static_cast<std::int32_t>(label - labels.begin());
    listed.files.insert(listed.files.end(), c.files.begin(), c.files.end());
    listed.classes.insert(listed.classes.end(), c.files.size(), number);
  }
  return listed;
}

Result<std::vector<std::byte>> bytes_of(const std::string& file) {
  LOOM_ASSIGN(const SourcePtr source, open_source(file, MapMode::read));
  return read_all(*source, kLargestImage);
}

Result<std::vector<ImageSize>> sizes_of(const std::vector<std::string>& files,
                                        const ImageDecoder& decoder) {
  std::vector<ImageSize> sizes;
  for (const std::string& file : files) {
    LOOM_ASSIGN(const std::vector<std::byte> bytes, bytes_of(file));
    const auto size = image_size(bytes, decoder);
    if (!size.ok()) return size.status().at(file);
    sizes.push_back(*size);
  }
  return sizes;
}

// All in the form, bytes one after another. `grey`: whether every one of them is. Errors name the
// file; too many are refused before the first is read.
Result<std::vector<std::byte>> read_images(const std::string& where,
                                           const std::vector<std::string>& files,
                                           const ImageForm& form, const ImageDecoder& decoder,
                                           bool* grey) {
  const auto each = static_cast<std::size_t>(form.values());
  if (files.size() > kMaxPixelBytes / each)
    return Status(Code::out_of_range,
                  message(where, ": ", files.size(), " images of ", each,
                          " bytes each, scaled, are more than ", kMaxPixelBytes,
                          " bytes, the most that is held in memory: take fewer"));
  std::vector<std::byte> all(files.size() * each);
  *grey = true;
  for (std::size_t i = 0; i < files.size(); ++i) {
    LOOM_ASSIGN(const std::vector<std::byte> bytes, bytes_of(files[i]));
    const auto image = read_image(bytes, decoder);
    if (!image.ok()) return image.status().at(files[i]);
    *grey = *grey && image->channels == 1;
    fit(*image, form, std::span(reinterpret_cast<std::uint8_t*>(all.data()) + i * each, each));
  }
  return all;
}

Result<std::unique_ptr<DataSource>> image_data(const std::string& where,
                                               std::vector<std::byte> pixels, const ImageForm& form,
                                               const std::vector<std::int32_t>& classes) {
  const auto n = static_cast<std::int64_t>(classes.size());
  std::vector<std::byte> numbers;
  for (const std::int32_t c : classes)
    for (int shift = 0; shift < 32; shift += 8)
      numbers.push_back(static_cast<std::byte>(static_cast<std::uint32_t>(c) >> shift));
  const std::uint64_t x_size = pixels.size(), y_size = numbers.size();
  TensorInfo x{"images", StorageType::u8, {n, form.channels, form.height, form.width},
               0,        x_size,          source_from_bytes(std::move(pixels), where)};
  const TensorInfo y{"classes", StorageType::i32, {n},
                     0,         y_size,           source_from_bytes(std::move(numbers), where)};
  LOOM_ASSIGN(auto data, TensorData::create(std::move(x), y, true));
  return std::unique_ptr<DataSource>(std::move(data));
}

// `wordless`: the files that hold no word.
Result<std::vector<std::vector<WordCount>>> read_texts(const std::string& where,
                                                       const std::vector<std::string>& files,
                                                       std::vector<std::string>* wordless) {
  std::vector<std::vector<WordCount>> texts;
  std::uint64_t words = 0;
  for (const std::string& file : files) {
    LOOM_ASSIGN(const std::string text, read_text_file(file, kLargestText));
    if (text.find('\0') != std::string::npos)
      return bad(file, "holds bytes of 0, which no text has: expected UTF-8");
    texts.push_back(count_words(text));
    words += texts.back().size();
    if (texts.back().empty()) wordless->push_back(file);
    if (words > kMaxWords)
      return Status(Code::out_of_range,
                    message(where, ": the texts hold more than ", kMaxWords,
                            " words and pairs, the most that is held in memory: take fewer"));
  }
  return texts;
}

std::string form_text(const ImageForm& form) {
  return std::to_string(form.channels) + " x " + std::to_string(form.height) + " x " +
         std::to_string(form.width);
}

std::string size_text(const ImageSize& size) {
  return std::to_string(size.width) + " x " + std::to_string(size.height);
}

// The test set's files; empty where there is none. Its classes are training's.
Result<Listed> test_files(AutoConfig& t, const std::string& folder, SampleKind kind,
                          const std::vector<std::string>& labels) {
  if (folder.empty()) return Listed{};
  LOOM_ASSIGN(const auto found, read_classes(folder, kind));
  if (!found || found->classes.empty())
    return Status(Code::not_found, message(folder, ": holds no folder with ", name(kind),
                                           " files for each class, which a test set does"));
  for (const ClassFiles::Class& c : found->classes)
    if (std::find(labels.begin(), labels.end(), c.name) == labels.end())
      return bad(folder, "the class " + quoted(c.name) +
                             " is none of those that are learned: " + first_of(labels));
  for (const std::string& line : found->decisions) t.decisions.push_back(folder + ": " + line);
  if (!found->files.empty())
    t.decisions.push_back(
        folder + ": left out: " + count_of(static_cast<std::int64_t>(found->files.size()), "file") +
        " in no class");
  Listed listed = list(*found, labels);
  t.decisions.push_back(
      "test: " + count_of(static_cast<std::int64_t>(listed.files.size()), "sample") + " of " +
      folder);
  return listed;
}

Result<std::vector<std::int64_t>> choose_images(AutoConfig& t, const AutoConfigOptions& options,
                                                const std::string& where, const Listed& learned,
                                                const Listed& test) {
  LOOM_ASSIGN(const std::vector<ImageSize> sizes, sizes_of(learned.files, options.decoder));
  const ImageSize size = common_size(sizes);
  ImageForm form{3, size.height, size.width};
  bool grey = false, test_grey = false;
  LOOM_ASSIGN(std::vector<std::byte> pixels,
              read_images(where, learned.files, form, options.decoder, &grey));
  if (grey) {
    // The three planes of each are the same.
    form.channels = 1;
    const auto plane = static_cast<std::size_t>(form.values());
    for (std::size_t i = 1; i < learned.files.size(); ++i)
      std::copy_n(pixels.data() + i * plane * 3, plane, pixels.data() + i * plane);
    pixels.resize(learned.files.size() * plane);
    pixels.shrink_to_fit();
  }
  ImageSize min = sizes[0], max = sizes[0];
  for (const ImageSize& s : sizes) {
    min = {std::min(min.height, s.height), std::min(min.width, s.width)};
    max = {std::max(max.height, s.height), std::max(max.width, s.width)};
  }
  const bool one = min.height == max.height && min.width == max.width,
             kept = one && size.height == min.height && size.width == min.width;
  std::string how = kept  ? ", as the images are"
                    : one ? "; the images are " + size_text(min)
                          : "; the images are from " + size_text(min) + " to " + size_text(max) +
                                ", of each the largest centred square counts";
  how += grey ? "; grey, since no image has a color" : "";
  t.decisions.push_back("inputs: " + std::string(kept ? "" : "scaled to ") + form_text(form) +
                        " (channels x height x width)" + how);
  LOOM_ASSIGN(t.whole, image_data(where, std::move(pixels), form, learned.classes));
  if (!test.files.empty()) {
    LOOM_ASSIGN(std::vector<std::byte> others,
                read_images(where, test.files, form, options.decoder, &test_grey));
    LOOM_ASSIGN(t.test, image_data(where, std::move(others), form, test.classes));
  }
  t.inputs.set("images", form.to_json());
  const std::int64_t shape[] = {form.channels, form.height, form.width};
  std::vector<std::int64_t> dims = image_of(shape);
  if (options.network == "convolutional" && dims.empty())
    return bad(where, "images of " + form_text(form) +
                          " are too small for a convolutional network, which takes 8 x 8 and more");
  if (options.network == "dense") dims.clear();
  return dims;
}

Status choose_texts(AutoConfig& t, const AutoConfigOptions& options, const std::string& where,
                    const Listed& learned, const Listed& test) {
  if (options.network == "convolutional")
    return bad(where, "a convolutional network is for images, these are texts");
  std::vector<std::string> wordless;
  LOOM_ASSIGN(const auto texts, read_texts(where, learned.files, &wordless));
  const std::int64_t places = places_for(texts);
  LOOM_ASSIGN(t.whole, SparseData::create(texts, places, learned.classes));
  if (!test.files.empty()) {
    LOOM_ASSIGN(const auto others, read_texts(where, test.files, &wordless));
    LOOM_ASSIGN(t.test, SparseData::create(others, places, test.classes));
  }
  if (!wordless.empty())
    t.decisions.push_back("note: " + count_of(static_cast<std::int64_t>(wordless.size()), "text") +
                          " without a word, all zeros as inputs: " + first_of(wordless));
  t.decisions.push_back("inputs: words and pairs of neighbors, hashed to " +
                        std::to_string(places) +
                        " places: 1 + ln(how often) each, of length 1 together");
  Json words = Json::object();
  words.set("places", places);
  t.inputs.set("words", std::move(words));
  return {};
}

// Files that are in no class: what to do in place of learning from them.
Status without_classes(const std::string& where, const ClassFiles& found) {
  if (found.kind == SampleKind::texts)
    return bad(where, "holds " + count_of(static_cast<std::int64_t>(found.files.size()), "text") +
                          " and no folder for each class: a language model learns from them by a "
                          "spec with \"base\", \"lora\" and the data type \"text\"");
  return bad(where, "holds " + count_of(static_cast<std::int64_t>(found.files.size()), "image") +
                        " and no folder for each class: expected " + where +
                        "/CLASS/*.png, of two classes or more");
}

// The names of the classes; says them, and how many files they have.
std::vector<std::string> labels_of(AutoConfig& t, const std::string& where,
                                   const ClassFiles& found) {
  std::vector<std::string> labels;
  std::size_t fewest = found.classes[0].files.size(), max = fewest;
  for (const ClassFiles::Class& c : found.classes) {
    labels.push_back(c.name);
    fewest = std::min(fewest, c.files.size());
    max = std::max(max, c.files.size());
  }
  t.decisions.push_back(
      "data: " + count_of(found.count(), std::string(name(found.kind)) + " file") + " of " + where +
      ", " +
      (fewest == max ? std::to_string(max)
                     : std::to_string(fewest) + " to " + std::to_string(max)) +
      " in a class");
  t.decisions.push_back("target: the folder, " + std::to_string(labels.size()) +
                        " classes: " + first_of(labels));
  return labels;
}

}  // namespace

Result<bool> choose_folder(AutoConfig& t, const AutoConfigOptions& options) {
  LOOM_ASSIGN(FolderParts parts, parts_of(options.data));
  LOOM_ASSIGN(const auto found, read_classes(parts.learned));
  if (!found) return false;
  const std::string kind(name(found->kind)), where = parts.learned;
  if (found->classes.empty()) return without_classes(where, *found);
  for (std::string& line : parts.decisions) t.decisions.push_back(std::move(line));
  for (const std::string& line : found->decisions) t.decisions.push_back(line);
  if (!found->files.empty())
    t.decisions.push_back(
        "left out: " + count_of(static_cast<std::int64_t>(found->files.size()), kind + " file") +
        " in no class");
  if (!options.target.empty())
    return bad(where, "holds " + kind + " files in classes, --target is for tables");
  if (options.task == "numbers")
    return bad(where, "holds " + kind + " files in classes, which are no numbers");
  if (found->classes.size() < 2)
    return bad(where, "holds one class, " + quoted(found->classes[0].name) +
                          ": expected a folder for each of two classes or more");

  const std::vector<std::string> labels = labels_of(t, where, *found);
  std::string other = parts.test;
  if (!options.test.empty()) {
    LOOM_ASSIGN(const FolderParts given, parts_of(options.test));
    other = given.test.empty() ? given.learned : given.test;
  }
  const Listed learned = list(*found, labels);
  LOOM_ASSIGN(const Listed test, test_files(t, other, found->kind, labels));
  t.inputs = Json::object();
  Answers answers{.classes = true, .outputs = static_cast<std::int64_t>(labels.size())};
  if (found->kind == SampleKind::images) {
    LOOM_ASSIGN(answers.image, choose_images(t, options, where, learned, test));
  } else {
    LOOM_TRY(choose_texts(t, options, where, learned, test));
    answers.words = true;
  }
  Json names = Json::array();
  for (const std::string& label : labels) names.push(label);
  t.inputs.set("labels", std::move(names));
  LOOM_TRY(complete(t, options, std::move(answers)));
  return true;
}

namespace {

// What a network that learned from a folder takes, as its file says it: images of a form, or words
// in so many places.
struct FolderInputs {
  bool images = false;
  ImageForm form;
  std::int64_t places = 0;
  std::vector<std::string> labels;

  SampleKind kind() const { return images ? SampleKind::images : SampleKind::texts; }
  std::int64_t values() const { return images ? form.values() : places; }
};

Result<FolderInputs> folder_inputs(const Json& inputs, std::int64_t width) {
  FolderInputs in;
  const Json* images = inputs.find("images");
  const Json* words = inputs.find("words");
  in.images = images != nullptr;
  if (images) {
    LOOM_ASSIGN(in.form, ImageForm::from_json(*images));
  } else {
    if (!words->is_object()) return Status(Code::corrupt, "inputs: 'words' is no object");
    LOOM_ASSIGN(in.places, words->get_integer("places", 0));
    if (in.places < 1 || in.places > 65536 || (in.places & (in.places - 1)) != 0)
      return Status(
          Code::corrupt,
          message("inputs: ", in.places, " places for words, expected a power of two up to 65536"));
  }
  if (in.values() != width)
    return Status(Code::corrupt, message("inputs: ", images ? "images" : "words", " are ",
                                         in.values(), " values, the network takes ", width));
  const Json* names = inputs.find("labels");
  if (!names || !names->is_array()) return Status(Code::corrupt, "inputs: no list of labels");
  for (const Json& label : names->as_array()) {
    if (!label.is_string()) return Status(Code::corrupt, "inputs: a label is a string");
    in.labels.push_back(label.as_string());
  }
  return in;
}

// The files of a folder: those of classes that the network has, and the others, which are not
// judged.
Result<Listed> list_folder(const std::string& file, const FolderInputs& in,
                           std::vector<std::string>& decisions) {
  LOOM_ASSIGN(const FolderParts parts, parts_of(file));
  const std::string& where = parts.test.empty() ? parts.learned : parts.test;
  LOOM_ASSIGN(const auto found, read_classes(where, in.kind()));
  if (!found)
    return Status(Code::not_found,
                  message(where, ": holds no ", name(in.kind()), " (", endings(in.kind()),
                          "), in itself or in the folders in it"));
  decisions = found->decisions;
  Listed listed = list(*found, in.labels);
  std::vector<std::string> unknown;
  for (const ClassFiles::Class& c : found->classes)
    if (std::find(in.labels.begin(), in.labels.end(), c.name) == in.labels.end())
      unknown.push_back(c.name);
  if (!unknown.empty())
    decisions.push_back("not judged: what is in " + first_of(unknown) +
                        ", no class of the network's, which are " + first_of(in.labels));
  listed.files.insert(listed.files.end(), found->files.begin(), found->files.end());
  listed.classes.resize(listed.files.size(), kIgnoredClass);
  return listed;
}

}  // namespace

Status folder_part(const Json& inputs, std::int64_t width, Json& part) {
  LOOM_ASSIGN(const FolderInputs in, folder_inputs(inputs, width));
  Json words = Json::object();
  words.set("places", Json());
  part.set(in.images ? "images" : "words", in.images ? in.form.to_json() : std::move(words));
  return {};
}

Result<RawRows> read_folder_rows(const Json& inputs, std::int64_t width, const std::string& file,
                                 const ImageDecoder& decoder) {
  LOOM_ASSIGN(const FolderInputs in, folder_inputs(inputs, width));
  RawRows raw;
  Listed listed{{file}, {kIgnoredClass}};
  LOOM_ASSIGN(const bool folder, is_a_folder(file));
  if (folder) {
    LOOM_ASSIGN(listed, list_folder(file, in, raw.decisions));
  }
  const bool judged = std::any_of(listed.classes.begin(), listed.classes.end(),
                                  [](std::int32_t c) { return c >= 0; });
  if (in.images) {
    bool grey = false;
    LOOM_ASSIGN(std::vector<std::byte> pixels,
                read_images(file, listed.files, in.form, decoder, &grey));
    LOOM_ASSIGN(raw.source, image_data(file, std::move(pixels), in.form, listed.classes));
  } else {
    std::vector<std::string> wordless;
    LOOM_ASSIGN(const auto texts, read_texts(file, listed.files, &wordless));
    LOOM_ASSIGN(raw.source, SparseData::create(texts, in.places, listed.classes));
    if (!wordless.empty())
      raw.decisions.push_back(
          "note: " + count_of(static_cast<std::int64_t>(wordless.size()), "text") +
          " without a word, all zeros as inputs: " + first_of(wordless));
  }
  if (judged) raw.judged = raw.source;
  raw.rows = raw.source->samples();
  raw.names = std::move(listed.files);
  return raw;
}

}  // namespace loom::choosing

namespace loom {

Result<std::vector<std::string>> texts_without_classes(const std::string& path) {
  LOOM_ASSIGN(const bool folder, is_a_folder(path));
  if (folder) {
    LOOM_ASSIGN(const FolderNames names, read_names(path));
    LOOM_ASSIGN(const auto found, read_classes(path));
    const bool texts = found && found->kind == SampleKind::texts && found->classes.empty() &&
                       found->files.size() * 2 > names.files.size();
    if (!texts) return std::vector<std::string>();
    // Arrays and much else come with a text that explains them; they are opened, which may unpack
    // them, only where texts are more.
    if (const auto arrays = choosing::open_pair(path, false);
        arrays.ok() || arrays.status().code() != Code::not_found)
      return std::vector<std::string>();
    return found->files;
  }
  if (kind_of(path) != SampleKind::texts) return std::vector<std::string>();
  LOOM_ASSIGN(std::string bytes, read_text_file(path));
  const auto text = table_text(std::move(bytes), path);
  const auto table = text.ok() ? read_cells(*text, path) : Result<Table>(text.status());
  return table.ok() && table->names.size() > 1 ? std::vector<std::string>()
                                               : std::vector<std::string>{path};
}

}  // namespace loom
