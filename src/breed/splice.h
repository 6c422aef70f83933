// Crossing and joining of networks. Children own their weights: nothing is shared with a parent.
// Results depend on the parents, the options and the seed alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields/fields.h"
#include "base/json/json.h"
#include "grid/network.h"

namespace loom::breed {

struct SpliceOptions {
  std::string method = "blend", match = "place", per = "unit";
  std::optional<double> alpha, fitness_a, fitness_b;
  double min_score = 0.8;
  bool align = false;
  std::int64_t seed = 1;
};

template <class V>
void fields(V& v, SpliceOptions& s) {
  v("method", s.method,
    {.doc = "`blend`: (1 - alpha) a + alpha b; `point`: units up to a drawn one from a, the others "
            "from b; `uniform`: each unit from b with probability alpha; `layer_wise`: each layer",
     .one_of = "blend, point, uniform, layer_wise"});
  v("match", s.match,
    {.doc =
         "`place`: layers at the same coordinate; `dna`: those that moved, too, by `compare_dna`",
     .one_of = "place, dna"});
  v("per", s.per,
    {.doc = "what `uniform` draws for",
     .one_of = "unit, weight",
     .only = {"method", s.method, "uniform"}});
  const When shares{"method", s.method, "blend, uniform, layer_wise"};
  v("alpha", s.alpha,
    {.doc = "share of b; 0.5 where neither it nor fitness is there",
     .min = 0,
     .max = 1,
     .only = shares});
  v("fitness_a", s.fitness_a,
    {.doc = "with `fitness_b`: alpha is b / (a + b)", .min = 0, .max = 1e300, .only = shares});
  v("fitness_b", s.fitness_b, {.doc = "of b", .min = 0, .max = 1e300, .only = shares});
  v("min_score", s.min_score,
    {.doc = "score above which a layer has moved",
     .above = 0,
     .below = 1,
     .only = {"match", s.match, "dna"}});
  v("align", s.align,
    {.doc = "units of b are first brought into the order of those of a that they resemble; b stays "
            "the same function"});
  v("seed", s.seed, {.doc = "of what is drawn", .min = 0});
}

// Errors: invalid_argument, by the key.
Result<SpliceOptions> splice_options(const Json& json);

struct SplicedLayer {
  std::string a, b;                  // paths; b empty: a has no partner in it
  std::string action;                // the method; "kept": as in a
  std::string reason;                // why it was kept
  std::optional<double> similarity;  // cosine of what was crossed, after alignment
  double share = 0;                  // of the values that came from b; of a blend alpha
  std::int64_t moved = 0;            // units of b that alignment moved
};

struct SpliceReport {
  double alpha = 0.5;
  std::int64_t crossed = 0;          // layers
  std::string alignment;             // why nothing was aligned where that was asked for
  std::vector<SplicedLayer> layers;  // weighted layers of a, in path order
};

// A child with the topology and formats of a. Layers of both that match and have equal shapes are
// crossed: their masters, in double. Neither parent is changed. Errors: as compare() with `dna`.
Result<Network> splice(Network& a, Network& b, const SpliceOptions& options,
                       SpliceReport* report = nullptr);
Json to_json(const SpliceReport& report);

struct GraftOptions {
  std::string combine = "concat";
  bool residual = false, stitch = false, softmax = false;
};

template <class V>
void fields(V& v, GraftOptions& g) {
  v("combine", g.combine,
    {.doc = "how the outputs of the parents meet; `gated` (`filter`): weighted by a softmax of a "
            "learned gate, which begins with equal shares",
     .one_of = "concat, add, avg, gated, mean, filter"});
  v("residual", g.residual, {.doc = "adds the input, which must have the shape of the output"});
  v("stitch", g.stitch,
    {.doc = "where outputs must have equal widths, a learned matrix brings each to the width of "
            "the first",
     .only = {"combine", g.combine, "add, avg, gated, mean, filter"}});
  v("softmax", g.softmax,
    {.doc = "each parent's output goes through a softmax first, so that `mean` is the vote of an "
            "ensemble of classifiers"});
}

Result<GraftOptions> graft_options(const Json& json);

// One network in which whole parents are branches beside each other: parent k has the planes of the
// grid behind those of parent k - 1, and plane 0 hands the input to all. At least one parent.
// Errors: invalid_argument where inputs, outputs or topology versions do not agree, by what
// differs; unsupported for a step mesh, several outputs, or a head.
Result<Network> graft(const std::vector<Network*>& networks, const GraftOptions& options);

}  // namespace loom::breed
