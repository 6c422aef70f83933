/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: model files. */
#ifndef LOOM_FILE_H
#define LOOM_FILE_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A file that the host reads (file_open_source). One thread at a time calls it; any may.
 *   bytes: how many the file has, which do not change
 *   name: what messages call it; UTF-8, ends with a zero, copied; NULL: "(source)"
 *   read: fills `out` with `count` bytes from `offset` on, a range inside of the file. Returns
 *     LOOM_OK with the number that it wrote in *got, where fewer are an error (truncated), or a
 *     code with error->message filled
 *   release: NULL, or called once with user, when nothing reads from it any more; also where
 *     file_open_source fails behind its checks of these arguments */
typedef struct loom_source {
  size_t size; /* sizeof(loom_source) */
  void* user;
  uint64_t bytes;
  const char* name;
  int32_t (*read)(void* user, uint64_t offset, void* out, size_t count, size_t* got,
                  loom_error* error);
  void (*release)(void* user);
} loom_source;

/* ---- file
 * Model files of every format that is read, without their weights: safetensors, PyTorch, GGUF,
 * .entity, ONNX, topologies in JSON, HuggingFace folders. */

/* Reads the headers alone. Nothing is downloaded.
 *   name: a folder, a file, a name in the local HuggingFace cache, or "embedded" */
LOOM_API int32_t loom_file_open(const char* name, size_t name_size, loom_file* file,
                                loom_error* error);

/* The same of a file in memory.
 *   bytes: safetensors, PyTorch, GGUF, .entity or JSON; kept, not copied */
LOOM_API int32_t loom_file_open_bytes(loom_bytes bytes, loom_file* file, loom_error* error);

/* The same of a file that the host reads: safetensors, PyTorch, GGUF, .entity or JSON. Objects
 * made of the file keep the source as long as they read from it. Not for bindings to
 * WebAssembly, which has no functions of the host's.
 *   source: copied, except `user` */
LOOM_API int32_t loom_file_open_source(const loom_source* source, loom_file* file,
                                       loom_error* error);

/* The facts of the file. Texts of the file that are no UTF-8 are escaped.
 *   options: JSON: tensors (false), model (false): docs/reference/options.md, file_info
 *   info: JSON: path, title, kind, tensor_count, elements, bytes, main_type (of most bytes),
 *     sections (of an .entity file). With tensors: [{name, dtype, shape, bytes, sha256}]. With
 *     model: runs, refused (why it does not run), no_tokenizer (why it has none), summary,
 *     topology. Of ONNX: ir_version, producer, producer_version, opsets, inputs and outputs
 *     ([{name, type}]), operators, nodes, functions */
LOOM_API int32_t loom_file_info(loom_file file, const char* options, size_t options_size,
                                loom_bytes* info, loom_error* error);

/* Writes a model in another format. The path has the old content or the new, never a part.
 *   in: as file_open takes it, and networks of JSON
 *   out: a name that ends in .safetensors, .entity, .gguf or .onnx, or in / for a HuggingFace
 *     folder; a folder without a model in it
 *   options: JSON: dtype, adapter, tokenizer (true), matmul_nbits (false), settings, dims, max:
 *     docs/reference/options.md, file_convert
 *   report: JSON: tensors: [{name, shape, from, to, bytes_before, bytes_after, rms_error (as a
 *     share of the values), max_error}], notes: what was left out, line by line */
LOOM_API int32_t loom_file_convert(const char* in, size_t in_size, const char* out, size_t out_size,
                                   const char* options, size_t options_size, loom_bytes* report,
                                   loom_error* error);

/* The decisions of network_from_weights. Open questions are no error.
 *   file: of tensors: safetensors, PyTorch, GGUF
 *   settings: JSON: docs/reference/weights.md
 *   report: JSON: what the file is by names and shapes, and the questions that these leave open:
 *     docs/reference/weights.md */
LOOM_API int32_t loom_file_weights(loom_file file, const char* settings, size_t settings_size,
                                   loom_bytes* report, loom_error* error);

/* SHA-256 of the bytes of a tensor as they lie in the file, tensor by tensor: hosts show how far
 * it is.
 *   tensor: its name
 *   sha256: 64 hex digits */
LOOM_API int32_t loom_file_hash(loom_file file, const char* tensor, size_t tensor_size,
                                loom_bytes* sha256, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
