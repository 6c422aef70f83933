/* Made by api/generate.py from api/loom.json: edit those. */
/* Layers of the host's own: a part of loom/loom.h, which includes it. */
#ifndef LOOM_LAYER_H
#define LOOM_LAYER_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A layer of the host's own (loom_layer_register). Rows of values lie one behind the other: row r
 * of an array begins at element r * stride. In forward x and params are read, and all of y is
 * written; in backward x, y, gy and params are read, and all of gx and gparams is written, gparams
 * being sums over the rows. Values are double where f64 is not 0, else float. */
typedef struct loom_layer_array {
  void* data;
  int64_t rows, cols, stride;
} loom_layer_array;

typedef struct loom_layer_call {
  const char* config; /* JSON, as the topology has it */
  size_t config_size;
  int32_t f64;
  int32_t param_count;
  loom_layer_array x, y, gy, gx;
  loom_layer_array params[4], gparams[4];
} loom_layer_call;

enum {
  LOOM_LAYER_F32 = 1, /* computes in float */
  LOOM_LAYER_F64 = 2, /* computes in double; both may be set */
  LOOM_LAYER_ROW_DEPENDENT = 4, /* a row of y depends on other rows of x */
};

/* Functions return LOOM_OK, or a code with error->message filled, which ends the call that runs the
 * network.
 *   plan: gets {"config": ..., "dims": [...]}, the row that arrives, and makes a bytes object of
 *     its answer, which the library releases: {"out": [...], "params": [{"role": "weight",
 *     "rows": 3, "cols": 8, "init": "normal", "std": 0.1}]}, at most 4 params; init is zeros (where
 *     it is left out), ones or normal
 *   backward: NULL where the layer has no gradient; then it and what comes before it cannot be
 *     trained
 *   release: NULL, or called once with user, when the layer is unregistered */
typedef struct loom_layer {
  size_t size; /* sizeof(loom_layer) */
  const char* name; /* "acme.swirl" */
  int32_t version; /* from 1 */
  int32_t flags;
  void* user;
  int32_t (*plan)(void* user, const char* request, size_t request_size, loom_bytes* plan,
                  loom_error* error);
  int32_t (*forward)(void* user, const loom_layer_call* call, loom_error* error);
  int32_t (*backward)(void* user, const loom_layer_call* call, loom_error* error);
  void (*release)(void* user);
} loom_layer;

/* ---- layer: Layers of the host's own, which topologies name (docs/guide/own-layers.md). */

/* Registers a layer of the host's own for this process, by name and version: the topology's
 * {"type": "custom", "layer": name, "version": 1, "config": ...}. The same again changes
 * nothing; another one under its name and version is refused. Its functions are called by the
 * thread that runs the network, and may not call back into the library.
 *   layer: copied, but for `user`, which is released when the layer is unregistered */
LOOM_API int32_t loom_layer_register(const loom_layer* layer, loom_error* error);

/* The layer is not found any more, and its `user` is released. LOOM_BUSY while a network,
 * session or trainer has it. */
LOOM_API int32_t loom_layer_unregister(const char* name, size_t name_size, int32_t version,
                                       loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
