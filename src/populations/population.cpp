#include "populations/population.h"

#include <algorithm>
#include <cmath>

#include "base/math/fp_env.h"
#include "breed/probe.h"
#include "breed/splice.h"
#include "breed/weights.h"

namespace loom::populations {
namespace {

using evolve::Draws;
using evolve::Purpose;

constexpr double kInfeasible = -1e301;  // below every fitness

Status invalid(std::string text) { return {Code::invalid_argument, std::move(text)}; }

// Constraint domination: whoever keeps to the limits is better than who does not; among those that
// do not, the one that is over by less.
double key_of(const Member& m) {
  return m.violation > 0 ? kInfeasible * (1 + std::min(m.violation, 1e6)) : m.fitness;
}

std::string note_of(const breed::MutationReport& report) {
  std::string text;
  for (const breed::Mutation& m : report.done) {
    if (m.kind == "weights") continue;
    text += (text.empty() ? "" : "; ") + m.kind + " " + m.at + (m.what.empty() ? "" : " " + m.what);
  }
  return text;
}

struct Evaluation {
  std::vector<Member>& members;
  const SearchSpec& spec;
  std::int64_t generation;
  const std::atomic<bool>* cancel;
  std::atomic<std::size_t> next{0};

  static Status work(void* context, int, int) {
    auto& e = *static_cast<Evaluation*>(context);
    const FpEnvGuard guard;
    for (std::size_t i; (i = e.next.fetch_add(1)) < e.members.size();) {
      if (e.cancel && e.cancel->load()) return {Code::cancelled, "evaluation was cancelled"};
      LOOM_TRY(e.evaluate(i).at("network " + std::to_string(i)));
    }
    return {};
  }
  // What is learned stays where the spec says so; a copy learns otherwise.
  Status evaluate(std::size_t i) {
    Member& m = members[i];
    std::optional<Network> copy;
    if (spec.train.steps > 0) {
      LOOM_ASSIGN(copy, breed::copy_of(*m.network));
    }
    Network& network = copy ? *copy : *m.network;
    m.failed.clear();
    LOOM_ASSIGN(m.fitness, train_and_score(network, spec, generation, static_cast<std::int64_t>(i),
                                           cancel, m.failed));
    m.trained.reset();
    if (!copy || !m.failed.empty()) return {};
    m.trained = std::make_shared<Network>(std::move(*copy));
    return {};
  }
};

}  // namespace

Result<NetworkPopulation> NetworkPopulation::create(SearchSpec spec, Network* seed) {
  const FpEnvGuard guard;
  if (seed == nullptr && spec.network.is_null())
    return invalid("network: an evolution of networks begins with a topology, or with a network");
  if (seed != nullptr && !spec.network.is_null())
    return invalid("network: the first network is given already");
  NetworkPopulation made(std::move(spec));
  made.threshold_ = made.spec_.threshold;
  for (std::int64_t i = 0; i < made.spec_.population; ++i) {
    auto network = made.first_member(i, seed);
    if (!network.ok()) return network.status().at("network");
    Member member;
    member.network = std::make_shared<Network>(std::move(*network));
    made.members_.push_back(std::move(member));
  }
  made.speciate(0);
  return made;
}

Result<Network> NetworkPopulation::first_member(std::int64_t index, Network* seed) {
  std::optional<Network> first;
  if (seed) {
    LOOM_ASSIGN(first, breed::copy_of(*seed));
  } else {
    LOOM_ASSIGN(first, Network::from_json(spec_.network, spec_.rates.max_parameters));
    LOOM_TRY(first->initialize(static_cast<std::uint64_t>(spec_.seed + index)));
  }
  if (index == 0) LOOM_TRY(breed::check_runs(*first));
  for (std::int64_t k = 0; index > 0 && k < spec_.start_mutations; ++k) {
    Draws draws(static_cast<std::uint64_t>(spec_.seed), k, index, Purpose::start);
    LOOM_ASSIGN(first, breed::mutate(*first, spec_.rates, draws, nullptr));
  }
  return std::move(*first);
}

bool NetworkPopulation::reached() const {
  return spec_.goal && champion_ && champion_->violation == 0 && champion_->fitness >= *spec_.goal;
}

std::vector<double> NetworkPopulation::keys() const {
  std::vector<double> all;
  for (const Member& m : members_) all.push_back(key_of(m));
  return all;
}

Status NetworkPopulation::evaluate(ThreadPool& pool, const std::atomic<bool>* cancel) {
  if (evaluated_) return {};
  if (spec_.task == "host") return invalid("task host: the caller sets the fitness");
  Evaluation e{members_, spec_, generation_, cancel, {}};
  const Status done = pool.run_allocating(Evaluation::work, &e);
  // All members keep what they learned, or none: a run that was cancelled begins again.
  for (Member& m : members_) {
    if (!done.ok()) m.trained.reset();
    else if (m.trained && spec_.train.lamarckian) m.network = m.trained;
  }
  LOOM_TRY(done);
  return finish_fitness();
}

Status NetworkPopulation::set_fitness(std::span<const double> values) {
  if (values.size() != members_.size())
    return invalid("fitness: " + std::to_string(values.size()) + " values for " +
                   std::to_string(members_.size()) + " networks");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(values[i]) <= 1e300))
      return invalid("fitness " + std::to_string(i) + ": must be a number within +-1e300");
  for (std::size_t i = 0; i < values.size(); ++i) members_[i].fitness = values[i];
  return finish_fitness();
}

Status NetworkPopulation::set_network(std::size_t index, Network& trained) {
  Member& m = members_[index];
  if (trained.to_json().dump() != m.network->to_json().dump())
    return invalid("network " + std::to_string(index) +
                   ": has another topology than the member, which keeps its own");
  LOOM_ASSIGN(Network copy, breed::copy_of(trained));
  m.network = std::make_shared<Network>(std::move(copy));
  return {};
}

// Bytes and milliseconds, one member after another: no other one disturbs the clock.
Status NetworkPopulation::measure() {
  const Limits& limits = spec_.limits;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& m = members_[i];
    m.bytes = static_cast<std::int64_t>(breed::format_bytes(*m.network));
    m.violation = 0;
    if (limits.bytes && m.bytes > *limits.bytes)
      m.violation += static_cast<double>(m.bytes) / static_cast<double>(*limits.bytes) - 1;
    if (limits.milliseconds || spec_.costs) {
      auto took = spec_.costs ? milliseconds_by(*spec_.costs, *m.network, limits.rows)
                              : milliseconds_here(*m.network, limits.rows);
      if (!took.ok()) return took.status().at("network " + std::to_string(i));
      m.milliseconds = *took;
    }
    if (limits.milliseconds && m.milliseconds > *limits.milliseconds)
      m.violation += m.milliseconds / *limits.milliseconds - 1;
  }
  return {};
}

Status NetworkPopulation::finish_fitness() {
  LOOM_TRY(measure());
  if (!evaluated_) evaluations_ += static_cast<std::int64_t>(members_.size());
  evaluated_ = true;
  const std::vector<double> key = keys();
  for (NetworkSpecies& s : species_) evolve::note_progress(s, key, generation_);
  const auto best = std::ranges::max_element(key);
  if (!champion_ || *best > key_of(*champion_)) {
    const Member& m = members_[static_cast<std::size_t>(best - key.begin())];
    LOOM_ASSIGN(Network copy, breed::copy_of(m.trained ? *m.trained : *m.network));
    champion_ = m;
    champion_->trained.reset();
    champion_->network = std::make_shared<Network>(std::move(copy));
  }
  for (Member& m : members_) m.trained.reset();
  return {};
}

Result<Member> NetworkPopulation::child_of(evolve::Birth& birth, std::int64_t index) {
  Member child;
  Member& a = members_[birth.a];
  std::optional<Network> made;
  if (birth.crossed && birth.a != birth.b) {
    breed::SpliceOptions options;
    options.method = spec_.crossover;
    options.match = spec_.match;
    options.align = spec_.align;
    options.seed = static_cast<std::int64_t>(birth.draws.below(std::size_t{1} << 30));
    LOOM_ASSIGN(made, breed::splice(*a.network, *members_[birth.b].network, options));
    if (!breed::check_runs(*made).ok()) made.reset();  // its values overflow: a copy of a in place
  }
  Draws draws(static_cast<std::uint64_t>(spec_.seed), generation_ + 1, index, Purpose::mutate);
  breed::MutationReport report;
  LOOM_ASSIGN(Network mutant,
              breed::mutate(made ? *made : *a.network, spec_.rates, draws, &report));
  child.network = std::make_shared<Network>(std::move(mutant));
  child.note = note_of(report);
  return child;
}

Status NetworkPopulation::step() {
  if (!evaluated_)
    return invalid("generation " + std::to_string(generation_) +
                   ": needs fitness before the next one is bred");
  if (generation_ >= (std::int64_t{1} << 35))
    return {Code::out_of_range, "more than 2^35 generations"};
  const FpEnvGuard guard;
  const std::vector<double> key = keys();
  const evolve::SelectionRules rules = spec_.rules();
  std::vector<NetworkSpecies> kept = species_;
  evolve::drop_stagnant(kept, rules, generation_);
  std::vector<evolve::Kin*> kin;
  std::vector<const evolve::Kin*> same;
  for (NetworkSpecies& s : kept) kin.push_back(&s), same.push_back(&s);
  // Worth is the rank: members that are over a limit have no fitness that could be shared.
  std::vector<double> worth;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < key.size(); ++i) {
    worth.push_back(static_cast<double>(
        std::ranges::count_if(key, [&](double other) { return other < key[i]; })));
    sizes.push_back(static_cast<std::size_t>(members_[i].network->parameter_count()));
  }
  for (NetworkSpecies& s : kept) {
    Draws draws(rules.seed, generation_ + 1, s.id & 0xFFFFFF, Purpose::represent);
    s.representative = members_[s.members[draws.below(s.members.size())]].network;
  }
  std::vector<evolve::Birth> births = evolve::births(
      kin, evolve::children_of(same, worth, rules.population), key, sizes, rules, generation_);
  std::vector<Member> next;
  for (std::size_t i = 0; i < births.size(); ++i) {
    if (births[i].elite) {
      Member elite;
      elite.network = members_[births[i].a].network;
      elite.note = members_[births[i].a].note;
      next.push_back(std::move(elite));
      continue;
    }
    LOOM_ASSIGN(Member child, child_of(births[i], static_cast<std::int64_t>(i)));
    next.push_back(std::move(child));
  }
  members_ = std::move(next);
  species_ = std::move(kept);
  ++generation_;
  evaluated_ = false;
  speciate(generation_);
  return {};
}

// Each network joins the first species that it is near to, or founds one.
void NetworkPopulation::speciate(std::int64_t generation) {
  for (NetworkSpecies& s : species_) s.members.clear();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto near = std::ranges::find_if(species_, [&](const NetworkSpecies& s) {
      return distance(*members_[i].network, *s.representative, spec_.weight_difference) <
             threshold_;
    });
    if (near != species_.end()) {
      near->members.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    NetworkSpecies founded;
    founded.id = next_species_++;
    founded.born = founded.improved = generation;
    founded.members.push_back(static_cast<std::uint32_t>(i));
    founded.representative = members_[i].network;
    species_.push_back(std::move(founded));
  }
  std::erase_if(species_, [](const NetworkSpecies& s) { return s.members.empty(); });
  threshold_ = evolve::moved_threshold(threshold_, species_.size(), spec_.species);
}

Status NetworkPopulation::run(std::int64_t generations, ThreadPool& pool,
                              const std::atomic<bool>* cancel) {
  for (std::int64_t i = 0; i < generations; ++i) {
    if (evaluated_) {
      if (reached()) return {};
      LOOM_TRY(step());
    }
    LOOM_TRY(evaluate(pool, cancel));
  }
  return {};
}

}  // namespace loom::populations
