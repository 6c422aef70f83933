// Texts that a thread delivers, so that a run never waits: those that find kRoom others waiting are
// dropped and counted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sinks/sink.h"

namespace loom::cli {

class DeliveryQueue {
 public:
  static constexpr std::size_t kRoom = 1024;
  static constexpr std::chrono::seconds kPatience{2};  // of finish()
  // In the thread: up to `batch` texts at once; returns why they could not be delivered, or "".
  using Deliver = std::function<std::string(const std::vector<std::string>&)>;
  DeliveryQueue(std::size_t batch, Deliver deliver);
  ~DeliveryQueue();
  DeliveryQueue(const DeliveryQueue&) = delete;
  DeliveryQueue& operator=(const DeliveryQueue&) = delete;

  void put(std::string text);
  // Returns when nothing waits any more.
  void drain();
  // Ends the thread; what is not delivered by then is dropped.
  void finish();
  Delivery delivery() const;

 private:
  void work();
  const std::size_t batch_;
  const Deliver deliver_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, delivered_;
  std::deque<std::string> waiting_;
  Delivery counts_;
  bool end_ = false, busy_ = false;
  std::chrono::steady_clock::time_point end_by_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace loom::cli
