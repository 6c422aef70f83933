/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: networks that run by ticks. */
#ifndef LOOM_STEP_MESH_H
#define LOOM_STEP_MESH_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- step mesh
 * Networks that run by ticks (docs/reference/step-mesh.md): in each, every cell computes from
 * the values of the tick before. Where the network changes, the mesh prepares itself again: it
 * continues with the values that it has, and begins anew where a cell has other ones then. */

/* A mesh with all values 0. Refused by the layer's name where one looks at other rows.
 *   network: with "step_mesh": true in its topology where its links form cycles
 *   options: JSON: the keys of loom_step_mesh_options: docs/reference/options.md,
 *     step_mesh_create */
LOOM_API int32_t loom_step_mesh_create(loom_network network, const char* options,
                                       size_t options_size, loom_step_mesh* step_mesh,
                                       loom_error* error);

/* Runs ticks. After an error, cancelled among them, the mesh is as after the last tick that it
 * has done (step_mesh_info), and y has the outputs until then.
 *   ticks: at least 1
 *   x: streams x ticks x input width; or streams x input width, which are held for all ticks
 *   y: streams x ticks x output width; streams x output width, after the last tick; or none */
LOOM_API int32_t loom_step_mesh_run(loom_step_mesh step_mesh, int64_t ticks, const float* x,
                                    size_t x_count, float* y, size_t y_count, loom_error* error);

/* step_mesh_run for a network that takes f64. Refused where the input is f32.
 *   x: as of step_mesh_run
 *   y: as of step_mesh_run */
LOOM_API int32_t loom_step_mesh_run_f64(loom_step_mesh step_mesh, int64_t ticks, const double* x,
                                        size_t x_count, double* y, size_t y_count,
                                        loom_error* error);

/* step_mesh_run for a network that takes ids.
 *   ids: streams x ticks x the ids of a tick, or streams x those, held
 *   y: as of step_mesh_run */
LOOM_API int32_t loom_step_mesh_run_ids(loom_step_mesh step_mesh, int64_t ticks, const int32_t* ids,
                                        size_t ids_count, float* y, size_t y_count,
                                        loom_error* error);

/* How many values each cell has.
 *   cells: JSON: [{path, width}] of all cells in the order of the grid, of empty ones too */
LOOM_API int32_t loom_step_mesh_cells(loom_step_mesh step_mesh, loom_bytes* cells,
                                      loom_error* error);

/* The values of a cell after the last tick.
 *   cell: "z.y.x.l"
 *   stream: from 0
 *   values: the width of the cell (step_mesh_cells) */
LOOM_API int32_t loom_step_mesh_value(loom_step_mesh step_mesh, const char* cell, size_t cell_size,
                                      int64_t stream, double* values, size_t values_count,
                                      loom_error* error);

/* From the next tick on, statistics of the outputs of every cell to all streams are kept: an
 * event for each cell of an observed tick (docs/guide/observe.md). All bits stay as they are;
 * ticks that are observed run one by one. Drops a run that has paused. Begins anew where the
 * mesh is observed already. LOOM_UNSUPPORTED: a mesh on a device.
 *   options: JSON: every (1), passes (0), window (1), keep (64): docs/reference/options.md,
 *     step_mesh_observe */
LOOM_API int32_t loom_step_mesh_observe(loom_step_mesh step_mesh, const char* options,
                                        size_t options_size, loom_error* error);

/* Takes the events that step_mesh_observe has kept, the oldest first; none are left then.
 *   statistics: JSON: as of session_statistics; a pass is a tick, and the rows are the streams */
LOOM_API int32_t loom_step_mesh_statistics(loom_step_mesh step_mesh, loom_bytes* statistics,
                                           loom_error* error);

/* All values are 0 again, at tick 0. */
LOOM_API int32_t loom_step_mesh_reset(loom_step_mesh step_mesh, loom_error* error);

/* The values of all cells and the tick: docs/reference/step-mesh.md. */
LOOM_API int32_t loom_step_mesh_snapshot(loom_step_mesh step_mesh, loom_bytes* snapshot,
                                         loom_error* error);

/* Continues from a snapshot, with the same bits. Refused whole where it does not fit.
 *   snapshot: of a mesh with as many streams, whose cells have as many values */
LOOM_API int32_t loom_step_mesh_restore(loom_step_mesh step_mesh, loom_bytes snapshot,
                                        loom_error* error);

/* The program of that number of ticks, as bytes that program_create takes: its input x has
 * streams rows of ticks x input width, its output y likewise, and its states the values of the
 * cells.
 *   ticks: at least 1; of a network that takes ids 1
 *   program: docs/reference/program.md, Encoding */
LOOM_API int32_t loom_step_mesh_save_program(loom_step_mesh step_mesh, int64_t ticks,
                                             loom_bytes* program, loom_error* error);

/* Sizes, the tick, and what computes.
 *   info: JSON: streams, tick (since the values were 0), cells. Of a tick: input_width and
 *     input_dtype (f32, f64, ids), output_width and output_dtype. target (what computes: an
 *     instruction set or a device), device (its name; null: the CPU), note (why `auto` took the
 *     CPU), numerics, threads */
LOOM_API int32_t loom_step_mesh_info(loom_step_mesh step_mesh, loom_bytes* info, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
