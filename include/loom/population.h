/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: neuroevolution. */
#ifndef LOOM_POPULATION_H
#define LOOM_POPULATION_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- population
 * Neuroevolution: genomes whose nodes and edges evolve by NEAT, or, with level networks in the
 * spec, whole networks (docs/reference/evolution.md). A population is a pure function of its
 * spec and of the fitness that a host sets. */

/* The first generation, not yet evaluated.
 *   spec: JSON: docs/reference/evolution.md
 *   threads: that evaluate; 0: one per core */
LOOM_API int32_t loom_population_create(const char* spec, size_t spec_size, int64_t threads,
                                        loom_population* population, loom_error* error);

/* The first generation of a population of networks.
 *   network: the first member; the others are its mutants
 *   spec: JSON: of level networks, without network
 *   threads: as of population_create */
LOOM_API int32_t loom_population_create_from(loom_network network, const char* spec,
                                             size_t spec_size, int64_t threads,
                                             loom_population* population, loom_error* error);

/* Continues from a file with the same bits.
 *   file: of population_save
 *   threads: as of population_create */
LOOM_API int32_t loom_population_load(loom_bytes file, int64_t threads, loom_population* population,
                                      loom_error* error);

/* The whole state, data included.
 *   file: JSON with its own SHA-256: docs/reference/evolution.md */
LOOM_API int32_t loom_population_save(loom_population population, loom_bytes* file,
                                      loom_error* error);

/* Fitness of the generation by the task of the spec. Refused for the task host. Does nothing
 * where the generation has its fitness. */
LOOM_API int32_t loom_population_evaluate(loom_population population, loom_error* error);

/* Fitness of the generation by the host, for any task. May be called again.
 *   fitness: one finite value for each genome; larger is better */
LOOM_API int32_t loom_population_set_fitness(loom_population population, const double* fitness,
                                             size_t fitness_count, loom_error* error);

/* Breeds the next generation. Refused where this one has no fitness. */
LOOM_API int32_t loom_population_step(loom_population population, loom_error* error);

/* Evaluates as many generations, and breeds between them; ends earlier where the goal is
 * reached. The last one keeps its fitness. After an error, cancelled among them, the next run
 * continues where this one ended.
 *   generations: at least 1 */
LOOM_API int32_t loom_population_run(loom_population population, int64_t generations,
                                     loom_error* error);

/* Outputs of a genome or a network. Without recurrence rows are independent. A recurrent genome
 * runs one tick a row; its values stay for the next call until another genome runs, the
 * generation changes or population_reset.
 *   index: of a genome, from 0; -1: the champion
 *   x: rows x inputs
 *   y: rows x outputs */
LOOM_API int32_t loom_population_activate(loom_population population, int64_t index, const float* x,
                                          size_t x_count, float* y, size_t y_count,
                                          loom_error* error);

/* The values of a recurrent genome are 0 again. */
LOOM_API int32_t loom_population_reset(loom_population population, loom_error* error);

/* A copy of a member. The champion has the weights with which it was scored. A genome becomes a
 * network that answers as it does (docs/reference/evolution.md); unsupported for a recurrent one
 * of a task that holds its values from row to row.
 *   index: of a genome or a network, from 0; -1: the champion
 *   network: of a genome: one cell of the layer genome */
LOOM_API int32_t loom_population_network(loom_population population, int64_t index,
                                         loom_network* network, loom_error* error);

/* Sets the weights of a member to those of a network, as a host has trained it; its children
 * inherit them.
 *   population: of networks
 *   index: of a network, from 0
 *   network: of the topology of the member */
LOOM_API int32_t loom_population_set_network(loom_population population, int64_t index,
                                             loom_network network, loom_error* error);

/* A genome as data.
 *   index: as of population_activate
 *   genome: JSON: inputs, outputs, recurrent, nodes, edges, fitness (null before it is
 *     evaluated), sha256; of networks fitness, feasible, bytes, milliseconds (null where nobody
 *     asked for it), layers, parameters, sha256, failed, mutations, topology */
LOOM_API int32_t loom_population_genome(loom_population population, int64_t index,
                                        loom_bytes* genome, loom_error* error);

/* Where the run is.
 *   info: JSON: generation, evaluated, evaluations, best, mean and worst of the generation (null
 *     before it is evaluated), reached (the goal), champion ({fitness, nodes, edges, sha256} or
 *     null), species ([{id, size}]), spec (without its data), threads. Of networks also level,
 *     feasible (how many keep to the limits; best, mean and worst are of these), inputs and
 *     outputs; the champion is what population_genome says */
LOOM_API int32_t loom_population_info(loom_population population, loom_bytes* info,
                                      loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
