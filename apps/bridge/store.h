// The folder of networks, the pushes that come into it, and the networks that answer. Any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "bridge/library.h"
#include "bridge/spool.h"

namespace loom::bridge {

struct StoreOptions {
  std::string folder;
  std::uint64_t max_bytes = 0;  // of one push, and of all that have not ended
  int max_pushes = 64;
};

class Store {
 public:
  // Makes the folder; throws Error where it cannot, or where another bridge has it.
  explicit Store(const StoreOptions& options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // The JSON of docs/reference/bridge.md, in and out. All of them throw http::Refusal.
  Json begin(std::string_view body);
  Json status(const std::string& session);
  Json finish(std::string_view body);
  Json abort(std::string_view body);
  // Takes one chunk.
  std::unique_ptr<http::Exchange> chunk(const http::Head& head);

  Json list() const;
  Json info(const std::string& name) const;
  Json run(std::string_view body);
  Json compare(std::string_view body);
  Json comparisons() const;
  // Where a network lies, which is there.
  std::string path_of(const std::string& name) const;
  const std::string& folder() const { return options_.folder; }
  std::string state_folder() const { return options_.folder + "/.bridge"; }
  // A network that was put into the folder: it answers from now on.
  void forget_network(const std::string& name);

 private:
  friend class ChunkExchange;
  struct Served;

  std::shared_ptr<Spool> open_push(const std::string& session);
  std::shared_ptr<Spool> find(const std::string& session) const;
  std::shared_ptr<Spool> new_push(Push push);
  Json finished(const std::string& session) const;
  Json state_of(const Spool& spool) const;
  std::string make_file(Spool& spool, const std::vector<TensorHash>& hashes);
  void make_by_values(Spool& spool, const std::string& out);
  void remove_old();
  std::shared_ptr<Served> served(const std::string& name);
  void hash_later(std::shared_ptr<Spool> spool);
  void hash_loop();

  const StoreOptions options_;
  int lock_ = -1;
  std::mutex making_;         // begin and what opens pushes: one at a time
  mutable std::mutex mutex_;  // of the two maps; brief
  std::map<std::string, std::shared_ptr<Spool>> pushes_;
  std::map<std::string, std::shared_ptr<Served>> networks_;
  std::map<std::string, Json> comparisons_;  // the last of each network

  std::mutex queue_mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Spool>> queue_;
  bool ending_ = false;
  std::thread hasher_;
};

}  // namespace loom::bridge
