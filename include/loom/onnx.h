/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: graphs of ONNX files. */
#ifndef LOOM_ONNX_H
#define LOOM_ONNX_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- onnx
 * ONNX graphs: run on tensors, or taken over as networks. An operation that no layer of Loom has
 * is unsupported, and its node named. */

/* A graph from a file, checked.
 *   path: an .onnx file; external data lie beside it */
LOOM_API int32_t loom_onnx_load(const char* path, size_t path_size, loom_onnx* onnx,
                                loom_error* error);

/* The same from memory, without external data.
 *   bytes: an .onnx file; kept, not copied */
LOOM_API int32_t loom_onnx_load_bytes(loom_bytes bytes, loom_onnx* onnx, loom_error* error);

/* The metadata of the file.
 *   info: JSON: producer, opset, nodes (a count per operator), inputs and outputs: name, type,
 *     dims (-1 where open; null: any) */
LOOM_API int32_t loom_onnx_info(loom_onnx onnx, loom_bytes* info, loom_error* error);

/* One run of the whole graph, in f32; integers are exact up to 2^24 and out_of_range beyond.
 *   inputs: JSON: a list of name, dims: the tensors in `values`, one after another
 *   values: each converted to the input's type
 *   outputs: JSON: a list of name, type, dims
 *   results: the values as f64, little-endian, one after another */
LOOM_API int32_t loom_onnx_run(loom_onnx onnx, const char* inputs, size_t inputs_size,
                               const double* values, size_t values_count, loom_bytes* outputs,
                               loom_bytes* results, loom_error* error);

/* The graph as a network that can be run, trained, morphed and saved. Where the first dimension
 * of an input is the only one left open, it is the batch: rows of the network. Other open
 * dimensions have the sizes of `dims`.
 *   options: JSON: dims, max: docs/reference/options.md, onnx_network
 *   ports: JSON: inputs, outputs: name, type, dims, first column in the row; report: which
 *     dimension is the batch, then a line per node */
LOOM_API int32_t loom_onnx_network(loom_onnx onnx, const char* options, size_t options_size,
                                   loom_network* network, loom_bytes* ports, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
