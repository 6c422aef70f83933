// Crossing, joining and mutation of networks.
#include "breed/mutate.h"
#include "breed/splice.h"
#include "c_api/call.h"

using namespace loom;
using namespace loom::c_api;

namespace {

// Networks that are held alone together: whoever takes several locks takes them in one order.
class HeldNetworks {
 public:
  static Result<HeldNetworks> take(std::span<const loom_handle> handles) {
    HeldNetworks held;
    std::vector<SharedNetwork*> order;
    for (const loom_handle handle : handles) {
      LOOM_ASSIGN(const auto object, get<NetworkObject>(handle));
      held.objects_.push_back(object);
      order.push_back(object->shared.get());
    }
    std::ranges::sort(order, std::less<>());
    const auto twice = std::ranges::unique(order);
    order.erase(twice.begin(), twice.end());
    for (SharedNetwork* one : order) {
      LOOM_ASSIGN(auto lock, one->hold_alone());
      held.locks_.push_back(std::move(lock));
    }
    return held;
  }
  Network& operator[](std::size_t i) const { return objects_[i]->shared->network; }
  std::vector<Network*> all() const {
    std::vector<Network*> list;
    for (std::size_t i = 0; i < objects_.size(); ++i) list.push_back(&(*this)[i]);
    return list;
  }

 private:
  std::vector<std::shared_ptr<NetworkObject>> objects_;
  std::vector<locks::unique_lock<locks::fair_mutex>> locks_;
};

loom_handle added(Network network) {
  return add(std::make_shared<NetworkObject>(std::make_shared<SharedNetwork>(std::move(network))));
}

// A child and its report, both or none.
void hand_out(Network network, const Json& report, loom_network* child, loom_bytes* text) {
  NewHandle made(added(std::move(network))), said(new_json(report));
  *child = made.take();
  *text = said.take();
}

}  // namespace

extern "C" {

int32_t loom_network_splice(loom_network a, loom_network b, const char* options,
                            size_t options_size, loom_network* child, loom_bytes* report,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(child, report));
    LOOM_ASSIGN(const Json json, json_argument(options, options_size, "options"));
    LOOM_ASSIGN(const breed::SpliceOptions read, breed::splice_options(json));
    const loom_handle handles[] = {a, b};
    LOOM_ASSIGN(const HeldNetworks held, HeldNetworks::take(handles));
    breed::SpliceReport done;
    LOOM_ASSIGN(Network made, breed::splice(held[0], held[1], read, &done));
    hand_out(std::move(made), breed::to_json(done), child, report);
    return {};
  });
}

int32_t loom_network_graft(const int64_t* networks, size_t networks_count, const char* options,
                           size_t options_size, loom_network* graft, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(graft));
    LOOM_ASSIGN(const auto given, c_api::span(networks, networks_count, "networks"));
    LOOM_ASSIGN(const Json json, json_argument(options, options_size, "options"));
    LOOM_ASSIGN(const breed::GraftOptions read, breed::graft_options(json));
    const std::vector<loom_handle> handles(given.begin(), given.end());
    LOOM_ASSIGN(const HeldNetworks held, HeldNetworks::take(handles));
    LOOM_ASSIGN(Network made, breed::graft(held.all(), read));
    *graft = added(std::move(made));
    return {};
  });
}

int32_t loom_network_mutate(loom_network network, const char* rates, size_t rates_size,
                            uint64_t seed, loom_network* child, loom_bytes* report,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(child, report));
    LOOM_ASSIGN(const Json json, json_argument(rates, rates_size, "rates"));
    LOOM_ASSIGN(const breed::MutationRates read, breed::mutation_rates(json));
    const loom_handle handles[] = {network};
    LOOM_ASSIGN(const HeldNetworks held, HeldNetworks::take(handles));
    breed::MutationReport done;
    LOOM_ASSIGN(Network made, breed::mutate(held[0], read, seed, &done));
    hand_out(std::move(made), breed::to_json(done), child, report);
    return {};
  });
}

}  // extern "C"
