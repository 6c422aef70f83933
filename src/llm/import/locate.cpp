#include "llm/import/locate.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/edit_distance.h"
#include "base/files/paths.h"
#include "base/files/source.h"
#include "base/message.h"
#include "formats/tensor_file.h"

namespace loom {
namespace {

constexpr std::string_view kPrefix = "models--";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Of no folder: none.
Result<std::vector<std::string>> entries(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), &::closedir);
  const auto refused = [&] {
    const Code code = errno == ENOMEM ? Code::out_of_memory : Code::io;
    return Status(code, folder + ": cannot be read: " + std::strerror(errno));
  };
  if (!dir && (errno == ENOENT || errno == ENOTDIR)) return names;
  if (!dir) return refused();
  errno = 0;
  while (const dirent* e = ::readdir(dir.get())) {
    if (e->d_name[0] != '.') names.emplace_back(e->d_name);
    errno = 0;
  }
  if (errno != 0) return refused();
  std::sort(names.begin(), names.end());
  return names;
}

// "models--org--name" to "org/name", and back.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string nearest(const std::vector<std::string>& names, const std::string& wanted) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& n : names) ranked.emplace_back(edit_distance(lower(n), lower(wanted)), n);
  std::sort(ranked.begin(), ranked.end());
  std::string list;
  for (std::size_t i = 0; i < ranked.size() && i < 3; ++i)
    list += (i ? ", " : "") + ranked[i].second;
  return list;
}

}  // namespace

Result<bool> is_folder(const std::string& path) {
  LOOM_ASSIGN(const PathKind kind, kind_at(path));
  return kind == PathKind::folder;
}

std::string huggingface_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (std::string set = environment(name); !set.empty()) return set;
  if (const std::string home = environment("HF_HOME"); !home.empty()) return home + "/hub";
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/huggingface/hub";
  if (const std::string home = environment("HOME"); !home.empty())
    return home + "/.cache/huggingface/hub";
  return {};
}

Result<std::string> find_in_cache(const std::string& cache, const std::string& name) {
  const std::string folder = cache + "/" + std::string(kPrefix) + replaced(name, "/", "--");
  LOOM_ASSIGN(const bool known, is_folder(folder));
  if (!known) {
    std::vector<std::string> names;
    LOOM_ASSIGN(const std::vector<std::string> all, entries(cache));
    for (const std::string& e : all)
      if (e.starts_with(kPrefix)) names.push_back(replaced(e.substr(kPrefix.size()), "--", "/"));
    const std::string near = nearest(names, name),
                      what = quoted(name) + " is neither a file nor a folder";
    if (near.empty())
      return Status(Code::not_found, message(what, ", and the HuggingFace cache ", quoted(cache),
                                             " holds no models"));
    return Status(Code::not_found, message(what, ", and not in the HuggingFace cache ",
                                           quoted(cache), "; nearest: ", near));
  }
  auto main = read_text_file(folder + "/refs/main", 4096);
  if (!main.ok() && main.status().code() != Code::not_found) return main.status();
  std::string revision = main.ok() ? *main : "";
  while (!revision.empty() && static_cast<unsigned char>(revision.back()) <= ' ')
    revision.pop_back();
  if (revision.empty()) {
    LOOM_ASSIGN(const std::vector<std::string> all, entries(folder + "/snapshots"));
    if (all.size() != 1)
      return Status(Code::not_found, message(folder, ": has no refs/main and ", all.size(),
                                             " snapshots: give the path of one"));
    revision = all[0];
  }
  const std::string snapshot = folder + "/snapshots/" + revision;
  LOOM_ASSIGN(const bool there, is_folder(snapshot));
  if (revision.find('/') != std::string::npos || !there)
    return Status(Code::not_found, message(folder, ": refs/main names the snapshot ",
                                           quoted(revision), ", which is not there"));
  return snapshot;
}

Result<std::string> locate_model(const std::string& model) {
  LOOM_ASSIGN(const PathKind kind, kind_at(model));
  if (kind == PathKind::folder || kind == PathKind::file) return model;
  const auto slashes = std::count(model.begin(), model.end(), '/');
  bool name = !model.empty() && model.front() != '/' && model.front() != '.' && slashes <= 1;
  for (const std::string_view suffix :
       {".gguf", ".safetensors", ".entity", ".json", ".pt", ".pth", ".bin"})
    name = name && !model.ends_with(suffix);
  if (!name) return Status(Code::not_found, message(quoted(model), ": no such file or folder"));
  return find_in_cache(huggingface_cache(), model);
}

}  // namespace loom
