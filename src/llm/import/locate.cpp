#include "llm/import/locate.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "base/edit_distance.h"
#include "base/files/source.h"
#include "formats/tensor_file.h"

namespace loom {
namespace {

constexpr std::string_view kPrefix = "models--";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> names;
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return names;
  while (const dirent* e = ::readdir(dir))
    if (e->d_name[0] != '.') names.emplace_back(e->d_name);
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

// "models--org--name" to "org/name", and back.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
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
  for (std::size_t i = 0; i < ranked.size() && i < 3; ++i) list += (i ? ", " : "") + ranked[i].second;
  return list;
}

}  // namespace

bool is_folder(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

bool is_file(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

std::string huggingface_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (std::string set = environment(name); !set.empty()) return set;
  if (const std::string home = environment("HF_HOME"); !home.empty()) return home + "/hub";
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return cache + "/huggingface/hub";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/huggingface/hub";
  return {};
}

Result<std::string> find_in_cache(const std::string& cache, const std::string& name) {
  const std::string folder = cache + "/" + std::string(kPrefix) + replaced(name, "/", "--");
  if (!is_folder(folder)) {
    std::vector<std::string> names;
    for (const std::string& e : entries(cache))
      if (e.starts_with(kPrefix)) names.push_back(replaced(e.substr(kPrefix.size()), "--", "/"));
    const std::string near = nearest(names, name), what = quoted(name) + " is neither a file nor a folder";
    if (near.empty()) return Status(Code::not_found, what + ", and the HuggingFace cache " + quoted(cache) + " holds no models");
    return Status(Code::not_found, what + ", and not in the HuggingFace cache " + quoted(cache) + "; nearest: " + near);
  }
  auto main = read_text_file(folder + "/refs/main", 4096);
  std::string revision = main.ok() ? *main : "";
  while (!revision.empty() && static_cast<unsigned char>(revision.back()) <= ' ') revision.pop_back();
  if (revision.empty()) {
    const std::vector<std::string> all = entries(folder + "/snapshots");
    if (all.size() != 1)
      return Status(Code::not_found, folder + ": has no refs/main and " + std::to_string(all.size()) + " snapshots: give the path of one");
    revision = all[0];
  }
  const std::string snapshot = folder + "/snapshots/" + revision;
  if (revision.find('/') != std::string::npos || !is_folder(snapshot))
    return Status(Code::not_found, folder + ": refs/main names the snapshot " + quoted(revision) + ", which is not there");
  return snapshot;
}

Result<std::string> locate_model(const std::string& model) {
  if (is_folder(model) || is_file(model)) return model;
  const auto slashes = std::count(model.begin(), model.end(), '/');
  bool name = !model.empty() && model.front() != '/' && model.front() != '.' && slashes <= 1;
  for (const std::string_view suffix : {".gguf", ".safetensors", ".entity", ".json"}) name = name && !model.ends_with(suffix);
  if (!name) return Status(Code::not_found, quoted(model) + ": no such file or folder");
  return find_in_cache(huggingface_cache(), model);
}

}  // namespace loom
