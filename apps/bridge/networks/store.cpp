#include "bridge/networks/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "bridge/pushes/checksum.h"

namespace loom::bridge {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRanges = 1000;
constexpr auto kKept = std::chrono::hours(24 * 7);  // of a push that nobody goes on with

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void flush_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

Network network_of(const Push& push, const Store& store) {
  return or_refuse([&] {
    Network network = push.weights_of.empty() ? Network::create(push.topology)
                                              : Network::load(store.path_of(push.weights_of));
    if (!push.inputs.empty()) network.set_inputs(push.inputs);
    return network;
  });
}

// How many cells of the grid have a layer.
std::int64_t layers_of(const std::string& path) {
  const Json about = or_refuse([&] { return cli::parsed(File(path).info(R"({"model":true})")); });
  const Json* topology = about.find("topology");
  const Json* cells = topology ? topology->find("cells") : nullptr;
  return cells && cells->is_array() ? static_cast<std::int64_t>(cells->as_array().size()) : 0;
}

}  // namespace

Store::Store(const StoreOptions& options) : options_(options) {
  std::error_code error;
  fs::create_directories(state_folder(), error);
  lock_ = ::open((state_folder() + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0)
    throw Error(LOOM_IO, options_.folder + ": " + std::generic_category().message(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
    throw Error(LOOM_BUSY, options_.folder + ": another bridge serves this folder");
  }
  ::chmod(state_folder().c_str(), 0700);
  remove_old();
  hasher_ = std::thread([this] { hash_loop(); });
}

Store::~Store() {
  {
    const std::lock_guard lock(queue_mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  hasher_.join();
  ::close(lock_);
}

void Store::hash_later(std::shared_ptr<Spool> spool) {
  const std::lock_guard lock(queue_mutex_);
  if (std::find(queue_.begin(), queue_.end(), spool) != queue_.end()) return;
  queue_.push_back(std::move(spool));
  wake_.notify_one();
}

void Store::hash_loop() {
  std::unique_lock lock(queue_mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (ending_) return;
    const std::shared_ptr<Spool> spool = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    try {
      spool->hash_some();
    } catch (...) {  // finish() meets it again, and answers with it
    }
    lock.lock();
  }
}

void Store::remove_old() {
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& one : fs::directory_iterator(state_folder(), ignored)) {
    if (!is_sha256(one.path().filename().string())) continue;
    fs::file_time_type newest = fs::last_write_time(one.path(), ignored);
    for (const auto& file : fs::directory_iterator(one.path(), ignored))
      newest = std::max(newest, fs::last_write_time(file.path(), ignored));
    if (now - newest > kKept) fs::remove_all(one.path(), ignored);
  }
}

std::string Store::path_of(const std::string& name) const {
  const std::string path = options_.folder + "/" + name + ".entity";
  std::error_code ignored;
  if (!is_name(name) || !fs::is_regular_file(path, ignored))
    refuse(404, "not_found", "there is no network '" + name.substr(0, 100) + "'");
  return path;
}

std::shared_ptr<Spool> Store::find(const std::string& session) const {
  const std::lock_guard lock(mutex_);
  const auto found = pushes_.find(session);
  return found == pushes_.end() ? nullptr : found->second;
}

// Also of a server before this one.
std::shared_ptr<Spool> Store::open_push(const std::string& session) {
  if (auto spool = find(session)) return spool;
  const std::lock_guard making(making_);
  if (auto spool = find(session)) return spool;
  const std::string folder = state_folder() + "/" + session;
  std::error_code ignored;
  if (!is_sha256(session) || !fs::is_regular_file(folder + "/begin.json", ignored)) return nullptr;
  Push push = parse_push(read_text(folder + "/begin.json"), options_.max_bytes);
  const Network network = network_of(push, *this);
  const Json parameters = cli::parsed(network.parameters());
  check_parameters(push, parameters);
  SpoolLayout layout = layout_of(push, network.topology(), parameters);
  auto spool = Spool::open(folder, std::move(push), std::move(layout));
  const std::lock_guard lock(mutex_);
  return pushes_[session] = spool;
}

std::shared_ptr<Spool> Store::new_push(Push push) {
  const Network network = network_of(push, *this);
  const Json parameters = cli::parsed(network.parameters());
  check_parameters(push, parameters);
  SpoolLayout layout = layout_of(push, network.topology(), parameters);
  const std::lock_guard making(making_);
  std::uint64_t used = 0;
  int count = 0;
  std::error_code ignored;
  for (const auto& one : fs::directory_iterator(state_folder(), ignored)) {
    const auto size = fs::file_size(one.path() / "data", ignored);
    if (ignored) continue;
    used += size;
    ++count;
  }
  const std::string session = push.id();
  if (auto spool = find(session)) return spool;
  if (count >= options_.max_pushes)
    refuse(429, "too_many", std::to_string(count) + " pushes have not ended: finish or abort some");
  if (layout.size > 2 * options_.max_bytes - std::min(used, 2 * options_.max_bytes))
    refuse(413, "too_large",
           "pushes that have not ended hold " + std::to_string(used) +
               " bytes, with this one they "
               "would pass twice --max-bytes");
  auto spool = Spool::create(state_folder() + "/" + session, std::move(push), std::move(layout));
  const std::lock_guard lock(mutex_);
  return pushes_[session] = spool;
}

Json Store::finished(const std::string& session) const {
  const std::string path = state_folder() + "/" + session + "/finished.json";
  std::error_code ignored;
  if (!is_sha256(session) || !fs::is_regular_file(path, ignored)) return {};
  const auto json = Json::parse(read_text(path));
  if (!json.ok()) return {};
  const std::string file = options_.folder + "/" + cli::text_in(*json, "name") + ".entity";
  // Another push, or somebody else, has put another file in its place since.
  try {
    if (checked_identity(file) != cli::text_in(*json, "digest")) return {};
  } catch (const http::Refusal&) {
    return {};
  }
  return *json;
}

Json Store::state_of(const Spool& spool) const {
  Json json = Json::object();
  json.set("version", kProtocol);
  json.set("session", spool.push().id());
  json.set("name", spool.push().name);
  json.set("chunk_bytes", kChunk);
  json.set("bytes", spool.push().bytes);
  json.set("received", spool.received());
  Json missing = Json::array();
  for (const auto& [begin, end] : spool.missing(kMaxRanges)) {
    Json range = Json::array();
    range.push(begin);
    range.push(end);
    missing.push(std::move(range));
  }
  json.set("missing", std::move(missing));
  return json;
}

Json Store::begin(std::string_view body) {
  Push push = parse_push(body, options_.max_bytes);
  const std::string session = push.id();
  // Weights alone are of what the other network is now.
  const bool same = push.weights_of.empty() || !push.nonce.empty();
  if (Json done = same ? finished(session) : Json(); done.is_object()) {
    Json json = Json::object();
    json.set("version", kProtocol);
    json.set("session", session);
    json.set("name", push.name);
    json.set("chunk_bytes", kChunk);
    json.set("bytes", push.bytes);
    json.set("received", push.bytes);
    json.set("missing", Json::array());
    json.set("finished", std::move(done));
    return json;
  }
  auto spool = open_push(session);
  if (!spool) spool = new_push(std::move(push));
  return state_of(*spool);
}

Json Store::status(const std::string& session) {
  const auto spool = open_push(session);
  if (!spool) refuse(404, "not_found", "there is no such session: begin");
  return state_of(*spool);
}

Json Store::abort(std::string_view body) {
  const Json json = object_of(body);
  expect_keys(json, {"session"});
  const std::string session = text_of(json, "session");
  const auto spool = open_push(session);
  if (!spool) refuse(404, "not_found", "there is no such session");
  if (!spool->close_to_chunks()) refuse(409, "busy", "the push is being written: try again");
  spool->remove();
  const std::lock_guard lock(mutex_);
  pushes_.erase(session);
  Json done = Json::object();
  done.set("aborted", session);
  return done;
}

void Store::make_by_values(Spool& spool, const std::string& out) {
  const Push& push = spool.push();
  Network network = network_of(push, *this);
  std::vector<float> narrow;
  std::vector<double> wide;
  or_refuse([&] {
    for (std::size_t i = 0; i < push.tensors.size(); ++i) {
      const PushTensor& t = push.tensors[i];
      const std::size_t colon = t.parameter.rfind(':');
      const std::string path = t.parameter.substr(0, colon), role = t.parameter.substr(colon + 1);
      if (t.dtype == "f64") {
        spool.read(i, wide);
        network.set(path, role, std::span<const double>(wide));
      } else {
        spool.read(i, narrow);
        network.set(path, role, std::span<const float>(narrow));
      }
    }
    if (push.metadata.empty()) return network.save(out);
    const std::string plain = spool.folder() + "/plain.entity";
    network.save(plain);
    copy_with_section(plain, out, "provenance", push.metadata);
  });
}

// The finished file, in the folder of the push and on the disk.
std::string Store::make_file(Spool& spool, const std::vector<TensorHash>& hashes) {
  if (!spool.layout().direct) {
    const std::string out = spool.folder() + "/made.entity";
    make_by_values(spool, out);
    return out;
  }
  const Network network = network_of(spool.push(), *this);
  const auto frame =
      frame_of(spool.push(), network.topology(), cli::parsed(network.parameters()), hashes);
  for (const auto& [offset, bytes] : frame) spool.write_at(offset, bytes);
  spool.flush();
  return spool.data_path();
}

Json Store::finish(std::string_view body) {
  const Json json = object_of(body);
  expect_keys(json, {"session", "sha256"});
  const std::string session = text_of(json, "session");
  const auto spool = open_push(session);
  if (!spool) {
    Json done = finished(session);
    if (!done.is_object()) refuse(404, "not_found", "there is no such session: begin");
    return done;
  }
  if (!spool->close_to_chunks())
    refuse(409, "busy", "chunks are being written, or another finish is at work: try again");
  try {
    if (!spool->complete()) refuse(409, "incomplete", "chunks are missing", state_of(*spool));
    const Json none = Json::object();
    const Json* late = json.find("sha256");
    const std::string made = make_file(*spool, spool->checked_hashes(late ? *late : none));
    const Push& push = spool->push();
    const std::string target = options_.folder + "/" + push.name + ".entity";
    Json done = Json::object();
    done.set("name", push.name);
    done.set("entity", target);
    done.set("digest", checked_identity(made));
    done.set("bytes", static_cast<std::int64_t>(fs::file_size(made)));
    done.set("layers", layers_of(made));
    if (::rename(made.c_str(), target.c_str()) != 0)
      refuse(500, "io", push.name + ".entity: " + std::generic_category().message(errno));
    flush_folder(options_.folder);
    forget_network(push.name);
    std::ofstream(spool->folder() + "/finished.json") << done.dump();
    std::error_code ignored;
    for (const char* name : {"begin.json", "journal", "data", "plain.entity"})
      fs::remove(spool->folder() + "/" + name, ignored);
    const std::lock_guard lock(mutex_);
    pushes_.erase(session);
    return done;
  } catch (...) {
    spool->reopen();
    throw;
  }
}

// Takes one chunk: its bytes go to the disk as they come, and count when their checksum is right.
class ChunkExchange : public http::Exchange {
 public:
  ChunkExchange(Store& store, const http::Head& head) : store_(store) {
    const std::string session = head.parameter("session").value_or("");
    spool_ = store.find(session);
    if (!spool_) refuse(404, "not_found", "no such session is open: begin, or ask for its status");
    read_head(head);
    claim_ = spool_->claim(index_);
    if (claim_ == Spool::Claim::busy)
      refuse(409, "busy", "another connection writes this chunk: try again");
  }
  ~ChunkExchange() override {
    if (claim_ == Spool::Claim::taken) spool_->release(index_);
  }

  void take(std::string_view piece) override {
    if (piece.size() > bytes_ - got_) refuse_length();
    if (claim_ == Spool::Claim::taken) {
      crc_ = crc32(piece, crc_);
      if (!sha256_.empty()) sha_.update(std::as_bytes(std::span(piece)));
      spool_->write(index_ * kChunk + got_, piece);
    }
    got_ += piece.size();
  }

  Response finish() override {
    if (got_ != bytes_) refuse_length();
    if (claim_ == Spool::Claim::taken) {
      if (has_crc_ ? crc_ != wanted_crc_ : Sha256::hex(sha_.finish()) != sha256_)
        refuse(422, "checksum",
               "chunk " + std::to_string(index_) + ": its bytes are not those of the checksum");
      spool_->commit(index_, crc_);
      store_.hash_later(spool_);
      spool_->send_to_disk(index_);
    }
    Json json = Json::object();
    json.set("received", spool_->received());
    json.set("bytes", spool_->push().bytes);
    return reply(json);
  }

 private:
  void read_head(const http::Head& head) {
    const std::string text = head.parameter("offset").value_or("");
    std::uint64_t offset = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
    if (error != std::errc() || end != text.data() + text.size() || offset % kChunk != 0 ||
        offset >= spool_->push().bytes)
      refuse(400, "invalid_argument",
             "offset: must be a multiple of chunk_bytes below the bytes of the push");
    index_ = offset / kChunk;
    bytes_ = spool_->push().chunk_bytes(index_);
    if (head.length && *head.length != bytes_) refuse_length();
    const std::string_view crc = head.header("x-loom-crc32");
    sha256_ = std::string(head.header("x-loom-sha256"));
    has_crc_ = !crc.empty();
    if (has_crc_ ? !parse_crc32(crc, wanted_crc_) : !is_sha256(sha256_))
      refuse(400, "invalid_argument",
             "X-Loom-CRC32 (8 hex digits) or X-Loom-SHA256 (64) of the chunk is required");
  }
  [[noreturn]] void refuse_length() const {
    refuse(400, "invalid_argument",
           "the chunk at this offset has " + std::to_string(bytes_) + " bytes");
  }

  Store& store_;
  std::shared_ptr<Spool> spool_;
  Spool::Claim claim_ = Spool::Claim::busy;
  std::uint64_t index_ = 0, bytes_ = 0, got_ = 0;
  bool has_crc_ = false;
  std::uint32_t wanted_crc_ = 0, crc_ = 0;
  std::string sha256_;
  Sha256 sha_;
};

std::unique_ptr<http::Exchange> Store::chunk(const http::Head& head) {
  return std::make_unique<ChunkExchange>(*this, head);
}

}  // namespace loom::bridge
