#include "train/data/folder.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/escape.h"
#include "base/files/paths.h"
#include "base/json/json.h"
#include "base/message.h"
#include "train/data/tables/csv.h"

namespace loom {
namespace {

constexpr std::int64_t kMaxFiles = 1'000'000;

Status refused(const std::string& path, int error) {
  const Code code = error == ENOENT   ? Code::not_found
                    : error == ENOMEM ? Code::out_of_memory
                                      : Code::io;
  return Status(code, path + ": cannot be read: " + std::strerror(error));
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// "left out: 2 files in 'cats' that are no images: 'a.txt', 'b.txt'"
struct LeftOut {
  std::int64_t count = 0;
  std::string first;
  void add(const std::string& name) {
    if (++count <= 3) first += (first.empty() ? "" : ", ") + quoted(name);
  }
  void say(const std::string& one, const std::string& many, const std::string& why,
           std::vector<std::string>& decisions) const {
    if (count > 0)
      decisions.push_back("left out: " + std::to_string(count) + " " + (count == 1 ? one : many) +
                          why + ": " + first + (count > 3 ? ", ..." : ""));
  }
};

std::string joined(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

}  // namespace

std::string_view name(SampleKind kind) { return kind == SampleKind::images ? "image" : "text"; }
std::string_view endings(SampleKind kind) {
  return kind == SampleKind::images ? ".png, .jpg, .jpeg, .bmp, .gif, .pgm, .ppm, .pnm" : ".txt";
}

std::optional<SampleKind> kind_of(std::string_view file_name) {
  const std::size_t dot = file_name.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string end = lower(file_name.substr(dot));
  static constexpr std::array<std::string_view, 8> kPictures = {".png", ".jpg", ".jpeg", ".bmp",
                                                                ".gif", ".pgm", ".ppm",  ".pnm"};
  if (std::find(kPictures.begin(), kPictures.end(), end) != kPictures.end())
    return SampleKind::images;
  return end == ".txt" ? std::optional(SampleKind::texts) : std::nullopt;
}

Result<bool> is_a_folder(const std::string& path) {
  LOOM_ASSIGN(const PathKind kind, kind_at(path));
  return kind == PathKind::folder;
}

Result<FolderNames> read_names(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), &::closedir);
  if (!dir) return refused(folder, errno);
  std::vector<std::string> all;
  errno = 0;
  while (const dirent* entry = ::readdir(dir.get())) {
    if (entry->d_name[0] != '.') all.emplace_back(entry->d_name);
    if (static_cast<std::int64_t>(all.size()) > kMaxFiles) break;
    errno = 0;
  }
  const int error = errno;
  if (static_cast<std::int64_t>(all.size()) > kMaxFiles)
    return Status(Code::out_of_range,
                  message(folder, ": holds more than ", kMaxFiles, " names, which is the limit"));
  if (error != 0) return refused(folder, error);
  std::sort(all.begin(), all.end());
  FolderNames names;
  for (std::string& name : all) {
    const std::string path = joined(folder, name);
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return refused(path, errno);
    (S_ISDIR(info.st_mode) ? names.folders : names.files).push_back(std::move(name));
  }
  return names;
}

Result<FolderParts> parts_of(const std::string& folder) {
  LOOM_ASSIGN(const FolderNames names, read_names(folder));
  static constexpr std::array<std::string_view, 7> kPlaces = {
      "train", "training", "test", "testing", "val", "valid", "validation"};
  std::array<std::string, kPlaces.size()> found;
  FolderParts whole{folder, "", {}};
  LeftOut folders, files;
  for (const std::string& name : names.folders) {
    const auto place = std::find(kPlaces.begin(), kPlaces.end(), lower(name));
    std::string* at = place == kPlaces.end()
                          ? nullptr
                          : &found[static_cast<std::size_t>(place - kPlaces.begin())];
    if (at && at->empty()) *at = name;
    else folders.add(name);
  }
  const std::string train = found[0].empty() ? found[1] : found[0];
  if (train.empty()) return whole;
  // A class called "train" holds files.
  LOOM_ASSIGN(const FolderNames classes, read_names(joined(folder, train)));
  if (classes.folders.empty() ||
      std::any_of(classes.files.begin(), classes.files.end(),
                  [](const std::string& file) { return kind_of(file).has_value(); }))
    return whole;
  FolderParts parts{joined(folder, train), "", {}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].empty() || found[i] == train) continue;
    if (i >= 2 && parts.test.empty()) parts.test = joined(folder, found[i]);
    else folders.add(found[i]);
  }
  for (const std::string& name : names.files) files.add(name);
  folders.say("folder", "folders", " beside " + quoted(train), parts.decisions);
  files.say("file", "files", " beside " + quoted(train), parts.decisions);
  return parts;
}

std::int64_t ClassFiles::count() const {
  std::int64_t n = 0;
  for (const Class& c : classes) n += static_cast<std::int64_t>(c.files.size());
  return n;
}

static std::string no_such(SampleKind kind) { return " no " + std::string(name(kind)); }

// Adds a folder as a class where it has files of the kind, else to `empty`.
static Status add_class(const std::string& folder, const std::string& label,
                        const FolderNames& inside, ClassFiles& found, LeftOut& empty) {
  ClassFiles::Class one{label, {}};
  LeftOut files, folders;
  for (const std::string& name : inside.files) {
    if (kind_of(name) == found.kind) one.files.push_back(joined(joined(folder, label), name));
    else files.add(name);
  }
  for (const std::string& name : inside.folders) folders.add(name);
  if (one.files.empty()) {
    empty.add(label);
    return {};
  }
  if (!is_utf8(label))
    return Status(Code::invalid_argument,
                  message(joined(folder, quoted(label)),
                          ": the name of a class must be UTF-8: rename the folder"));
  files.say("file", "files", " in " + quoted(label) + ", by the name" + no_such(found.kind),
            found.decisions);
  folders.say("folder", "folders", " inside the class " + quoted(label), found.decisions);
  found.classes.push_back(std::move(one));
  return {};
}

Result<std::optional<ClassFiles>> read_classes(const std::string& folder,
                                               std::optional<SampleKind> wanted) {
  LOOM_ASSIGN(const FolderNames top, read_names(folder));
  std::vector<FolderNames> inside;
  std::int64_t counts[2] = {}, flat[2] = {}, total = static_cast<std::int64_t>(top.files.size());
  const auto tally = [](const std::vector<std::string>& names, std::int64_t* into) {
    for (const std::string& name : names)
      if (const auto kind = kind_of(name)) ++into[static_cast<int>(*kind)];
  };
  tally(top.files, flat);
  for (const std::string& name : top.folders) {
    LOOM_ASSIGN(FolderNames names, read_names(joined(folder, name)));
    tally(names.files, counts);
    total += static_cast<std::int64_t>(names.files.size());
    if (total > kMaxFiles)
      return Status(Code::out_of_range,
                    message(folder, ": holds more than ", kMaxFiles, " files, which is the limit"));
    inside.push_back(std::move(names));
  }
  // Files in classes count; where there are none, those beside.
  const std::int64_t* by = counts[0] + counts[1] > 0 ? counts : flat;
  ClassFiles found;
  found.kind = wanted ? *wanted : by[1] > by[0] ? SampleKind::texts : SampleKind::images;
  if (counts[static_cast<int>(found.kind)] + flat[static_cast<int>(found.kind)] == 0)
    return std::optional<ClassFiles>();
  LeftOut empty;
  for (std::size_t i = 0; i < top.folders.size(); ++i)
    LOOM_TRY(add_class(folder, top.folders[i], inside[i], found, empty));
  LeftOut others;
  for (const std::string& file : top.files) {
    if (kind_of(file) == found.kind) found.files.push_back(joined(folder, file));
    else others.add(file);
  }
  if (!found.classes.empty()) {
    empty.say("folder", "folders", " with" + no_such(found.kind) + " in it", found.decisions);
    others.say("file", "files", " beside the classes, by the name" + no_such(found.kind),
               found.decisions);
  } else {
    others.say("file", "files", ", by the name" + no_such(found.kind), found.decisions);
  }
  return std::optional<ClassFiles>(std::move(found));
}

}  // namespace loom
