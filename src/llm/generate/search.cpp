#include "llm/generate/search.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/math/exact_math.h"
#include "base/message.h"

namespace loom {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("search: ", std::move(what)));
}

// What a row of answers is.
enum class Answers { logits, probabilities, logarithms };
Answers answers_of(const Json& layer) {
  const Json* type = layer.find("type");
  if (!type || !type->is_string()) return Answers::logits;
  const std::string& name = type->as_string();
  if (name == "sequential") return answers_of(layer.find("layers")->as_array().back());
  if (name == "log_softmax") return Answers::logarithms;
  if (name != "softmax" && name != "adaptive_softmax" && name != "mixture_of_softmaxes")
    return Answers::logits;
  const Json* log = layer.find("log");
  return log && log->as_bool() ? Answers::logarithms : Answers::probabilities;
}
Answers answers_of(const Network& network) {
  const auto arrivals = network.arrivals();
  std::size_t cell = network.size() - 1;
  while (network.passes(cell) && arrivals[cell].size() == 1 && arrivals[cell][0] >= 0)
    cell = static_cast<std::size_t>(arrivals[cell][0]);
  return network.passes(cell) ? Answers::logits : answers_of(network.cell_json(cell));
}

// The search of all rows: a row has as many lanes as it has beams.
class Search {
 public:
  Search(Seq2Seq& network, std::int64_t rows, const SearchOptions& options)
      : s_(network),
        o_(options),
        rows_(static_cast<std::size_t>(rows)),
        beams_(static_cast<std::size_t>(options.beams)),
        answers_(answers_of(network.network())) {}

  Result<std::vector<std::vector<Found>>> run(std::span<const double> sources) {
    LOOM_TRY(check());
    LOOM_TRY(s_.encode(sources, static_cast<std::int64_t>(rows_)));
    for (const std::int64_t id : o_.start)
      LOOM_TRY(s_.step(std::vector<double>(rows_, static_cast<double>(id))));
    LOOM_TRY(open());
    for (std::int64_t n = 0; n < max_ && !done(); ++n) {
      if (n > 0) LOOM_TRY(step());
      for (std::size_t r = 0; r < rows_; ++r)
        if (!texts_[r].done) LOOM_TRY(grow(texts_[r], r, n));
    }
    return result();
  }

 private:
  struct Beam {
    std::vector<std::int32_t> ids;
    double score = 0;      // logarithm of their probability
    std::size_t from = 0;  // the beam that it was before its last id
  };
  struct Text {
    std::vector<Beam> live;
    std::vector<Found> found;
    std::optional<Sampler> sampler;  // of one beam
    bool done = false;
  };
  struct Candidate {
    double score;
    std::size_t beam;
    std::int32_t id;
  };

  Status check() {
    const Shape& target = s_.target();
    if (target.ids == 0)
      return bad(message("the target is ", target.to_string(),
                         " of values: a search is for ids, take steps instead"));
    if (s_.answer().width != target.ids)
      return bad(message("answers are ", s_.answer().to_string(),
                         ", and a search wants one for each of the ", target.ids, " ids"));
    if (o_.start.empty()) return bad("\"start\" has at least one id");
    for (const std::int64_t id : o_.start)
      if (id < 0 || id >= target.ids)
        return Status(Code::out_of_range,
                      message("search: \"start\" has ", id, ", ids are below ", target.ids));
    if (o_.end >= target.ids)
      return Status(Code::out_of_range,
                    message("search: \"end\" is ", o_.end, ", ids are below ", target.ids));
    // The last id that is found is not run.
    const std::int64_t room = s_.max_positions() - static_cast<std::int64_t>(o_.start.size()) + 1;
    if (room < 1 || o_.max_tokens > room)
      return Status(Code::out_of_range,
                    message("search: ", o_.start.size(), " ids of \"start\" and ", o_.max_tokens,
                            " more, there are ", s_.max_positions(), " positions"));
    max_ = o_.max_tokens > 0 ? o_.max_tokens : room;
    if (o_.beams < 1) return bad(message("\"beams\" are at least 1, got ", o_.beams));
    if (static_cast<std::int64_t>(rows_) > s_.lanes() / o_.beams)
      return Status(Code::out_of_range,
                    message("search: ", rows_, " rows of ", o_.beams,
                            " beams need as many lanes, there are ", s_.lanes()));
    if (o_.beams > 1 && (o_.sampling.temperature != 0 || o_.sampling.repetition_penalty != 1))
      return bad(
          "several beams follow the most probable ids: \"temperature\" and "
          "\"repetition_penalty\" go with one");
    return {};
  }

  // A row's answers are there for its first beam.
  Status open() {
    texts_.resize(rows_);
    for (std::size_t r = 0; r < rows_; ++r) {
      SamplerOptions sampling = o_.sampling;
      sampling.seed += r;
      LOOM_ASSIGN(Sampler sampler, Sampler::create(sampling));
      texts_[r].sampler.emplace(std::move(sampler));
      texts_[r].live.resize(1);
    }
    return {};
  }
  bool done() const {
    return std::all_of(texts_.begin(), texts_.end(), [](const Text& t) { return t.done; });
  }
  // Beams go on where they come from, each with its last id. Those of a text that is done stand
  // still.
  Status step() {
    std::vector<std::uint32_t> from;
    std::vector<double> ids;
    for (std::size_t r = 0; r < rows_; ++r) {
      const Text& t = texts_[r];
      for (std::size_t b = 0; b < beams_; ++b) {
        const bool live = !t.done && b < t.live.size();
        from.push_back(static_cast<std::uint32_t>(r * lanes_of_row_ + (live ? t.live[b].from : 0)));
        ids.push_back(live ? t.live[b].ids.back() : static_cast<double>(o_.start[0]));
      }
    }
    lanes_of_row_ = beams_;
    bool moves = from.size() != static_cast<std::size_t>(s_.rows());
    for (std::size_t i = 0; i < from.size(); ++i) moves = moves || from[i] != i;
    if (moves) LOOM_TRY(s_.reorder(from));
    return s_.step(ids);
  }

  // Logarithms of the probabilities of a lane's ids.
  Status read(std::size_t lane) {
    const auto row = static_cast<std::int64_t>(lane);
    const std::span<const double> wide = s_.output_f64(row);
    if (wide.empty()) {
      const std::span<const float> own = s_.output(row);
      logs_.assign(own.begin(), own.end());
    } else {
      logs_.assign(wide.begin(), wide.end());
    }
    for (double& v : logs_) {
      if (answers_ == Answers::probabilities) v = v > 0 ? exact::log(v) : kNever;
      if (!(v < -kNever)) v = kNever;  // NaN and infinity are no answers
    }
    if (beams_ == 1) {
      logits_.resize(logs_.size());
      std::transform(logs_.begin(), logs_.end(), logits_.begin(),
                     [](double v) { return static_cast<float>(v); });
    }
    const double top = *std::max_element(logs_.begin(), logs_.end());
    if (top == kNever)
      return bad(message("the answers of row ", lane / lanes_of_row_,
                         " have no number: the weights "
                         "hold NaN or infinities, or are too large"));
    if (answers_ != Answers::logits) return {};
    double sum = 0;
    for (const double v : logs_) sum += v == kNever ? 0 : exact::exp(v - top);
    const double log = exact::log(sum);
    for (double& v : logs_) v = v - top - log;
    return {};
  }

  Status grow(Text& t, std::size_t row, std::int64_t n) {
    return beams_ == 1 ? draw(t, row, n) : widen(t, row, n);
  }

  Status draw(Text& t, std::size_t row, std::int64_t n) {
    LOOM_TRY(read(row * lanes_of_row_));
    Beam& b = t.live[0];
    LOOM_ASSIGN(const std::int32_t id,
                t.sampler->pick(logits_, b.ids, static_cast<std::uint64_t>(n)));
    b.score += logs_[static_cast<std::size_t>(id)];
    b.ids.push_back(id);
    if (id != o_.end) return {};
    t.found.push_back({b.ids, b.score, true});
    t.live.clear();
    t.done = true;
    return {};
  }

  // The best 2 x beams ways on; those that end are found, of the others as many go on as there are
  // beams.
  Status widen(Text& t, std::size_t row, std::int64_t n) {
    candidates_.clear();
    for (std::size_t b = 0; b < t.live.size(); ++b) {
      LOOM_TRY(read(row * lanes_of_row_ + (lanes_of_row_ == 1 ? 0 : b)));
      for (std::size_t id = 0; id < logs_.size(); ++id)
        if (logs_[id] > kNever)
          candidates_.push_back({t.live[b].score + logs_[id], b, static_cast<std::int32_t>(id)});
    }
    const std::size_t best = std::min(2 * beams_, candidates_.size());
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(best),
                      candidates_.end(), [](const Candidate& a, const Candidate& b) {
                        return a.score != b.score ? a.score > b.score
                               : a.beam != b.beam ? a.beam < b.beam
                                                  : a.id < b.id;
                      });
    std::vector<Beam> next;
    for (std::size_t i = 0; i < best && next.size() < beams_; ++i) {
      const Candidate& c = candidates_[i];
      Beam b{t.live[c.beam].ids, c.score, c.beam};
      b.ids.push_back(c.id);
      if (c.id != o_.end) next.push_back(std::move(b));
      else if (i < beams_) t.found.push_back({std::move(b.ids), c.score, true});
    }
    t.live = std::move(next);
    sort(t.found);
    if (t.found.size() > beams_) t.found.resize(beams_);
    // No beam that lives can do better than the worst that was found, as far as lengths are equal.
    t.done = t.live.empty() || (t.found.size() == beams_ &&
                                compared(t.live[0].score, static_cast<std::size_t>(n) + 1) <=
                                    compared(t.found.back()));
    return {};
  }

  double compared(double score, std::size_t length) const {
    return score / exact::pow(static_cast<double>(length), o_.length_penalty);
  }
  double compared(const Found& f) const { return compared(f.score, f.ids.size()); }
  void sort(std::vector<Found>& found) const {
    std::stable_sort(found.begin(), found.end(),
                     [&](const Found& a, const Found& b) { return compared(a) > compared(b); });
  }

  std::vector<std::vector<Found>> result() {
    std::vector<std::vector<Found>> all;
    for (Text& t : texts_) {
      if (!t.done)
        for (Beam& b : t.live) t.found.push_back({std::move(b.ids), b.score, false});
      sort(t.found);
      if (t.found.size() > beams_) t.found.resize(beams_);
      all.push_back(std::move(t.found));
    }
    return all;
  }

  Seq2Seq& s_;
  const SearchOptions& o_;
  std::size_t rows_, beams_;
  Answers answers_;
  std::int64_t max_ = 0;
  std::size_t lanes_of_row_ = 1;  // in the last step
  std::vector<Text> texts_;
  std::vector<double> logs_;
  std::vector<float> logits_;  // what a sampler takes: answers as they are, or logarithms
  std::vector<Candidate> candidates_;
};

}  // namespace

Result<std::vector<std::vector<Found>>> search(Seq2Seq& network, std::span<const double> sources,
                                               std::int64_t rows, const SearchOptions& options) {
  return Search(network, rows, options).run(sources);
}

}  // namespace loom
