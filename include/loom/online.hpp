// Learning beside answers, a part of loom.hpp, which includes it.
#ifndef LOOM_ONLINE_HPP
#define LOOM_ONLINE_HPP

#include "loom.hpp"
#include "training.hpp"

namespace loom {
inline namespace api {

// A network that learns while it answers: docs/reference/online.md. spec: JSON of a training spec
// without network and data.
class Online : public Object {
 public:
  using Object::Object;
  explicit Online(const Network& network, std::string_view spec = "{}",
                  const OnlineOptions& options = {})
      : Object(detail::made_with(options, loom_online_create_with, network.handle(), spec.data(),
                                 spec.size())) {}
  template <detail::Text Json>
  Online(const Network& network, std::string_view spec, const Json& json)
      : Object(detail::made<Object>(loom_online_create, network.handle(), spec.data(), spec.size(),
                                    std::string_view(json).data(), std::string_view(json).size())) {
  }

  // x: rows x input width, y: rows x output width. Returns the number of the first answer.
  std::int64_t answer(std::span<const float> x, std::span<float> y) {
    std::int64_t first = 0;
    check(loom_online_answer, handle(), x.data(), x.size(), y.data(), y.size(), &first);
    return first;
  }
  std::int64_t answer_ids(std::span<const std::int32_t> ids, std::span<float> y) {
    std::int64_t first = 0;
    check(loom_online_answer_ids, handle(), ids.data(), ids.size(), y.data(), y.size(), &first);
    return first;
  }
  // What would have been right for answers from number `first` on.
  void feedback(std::int64_t first, std::span<const float> targets) {
    check(loom_online_feedback, handle(), first, targets.data(), targets.size());
  }
  void feedback_classes(std::int64_t first, std::span<const std::int32_t> classes) {
    check(loom_online_feedback_classes, handle(), first, classes.data(), classes.size());
  }
  // Samples that were not answered.
  void add(const Data& data) { check(loom_online_add, handle(), data.handle()); }
  void task(std::string_view name) { check(loom_online_task, handle(), name.data(), name.size()); }

  // Learns for as long, or as many steps; -1 and 0 are no limits. Returns the complete steps.
  std::int64_t learn(std::int64_t microseconds, std::int64_t steps = 0) {
    std::int64_t done = 0;
    check(loom_online_learn, handle(), microseconds, steps, &done);
    return done;
  }
  // From any thread: the learn() inside, or else the next one, throws Error{LOOM_CANCELLED}.
  void cancel() { check(loom_cancel, handle()); }
  void publish() { check(loom_online_publish, handle()); }
  double measure(const Data& data, std::string_view task) {
    double accuracy = 0;
    check(loom_online_measure, handle(), data.handle(), task.data(), task.size(), &accuracy);
    return accuracy;
  }
  // The network of the constructor has the published weights then.
  void commit() { check(loom_online_commit, handle()); }

  // JSON: docs/reference/online.md.
  std::string report() const { return detail::text(loom_online_report, handle()); }
  std::string info() const { return detail::text(loom_online_info, handle()); }
};

}  // namespace api
}  // namespace loom

#endif
