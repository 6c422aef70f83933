/* Made by api/generate.py from api/loom.json: edit those. */
/* The C interface of Loom, the embeddable neural engine.
 *
 * Every function that can fail returns a code (0 is LOOM_OK) and, where `error` is not NULL, fills
 * the caller's loom_error. No function throws, prints or aborts. What a function writes through its
 * pointers is written on success only.
 *
 * Objects are handles: numbers, 0 is none. loom_release gives one back; a released or wrong one is
 * LOOM_INVALID_HANDLE, never a crash. Texts go in as pointer and size, without a terminating zero,
 * and come out as bytes objects: loom_bytes_data, then loom_release. Objects take JSON for their
 * options, or structs (loom/options.h). Unknown keys are refused by name. An empty text is {}.
 *
 * Threads: every function may be called from any thread. Which objects take several calls at a time
 * stands with the kinds below; the others answer LOOM_BUSY to a second one. A child of fork() may
 * go on with its parent's objects; what another thread was changing or running at that moment is
 * LOOM_BUSY there for ever, and devices of a GPU are to be opened again. */
#ifndef LOOM_LOOM_H
#define LOOM_LOOM_H

#include <stddef.h>
#include <stdint.h>

#if defined(LOOM_STATIC) || !defined(_WIN32)
#define LOOM_API
#else
#define LOOM_API __declspec(dllimport)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LOOM_ABI_VERSION 1

/* Results of functions. */
enum {
  LOOM_OK = 0, /* It worked. */
  LOOM_INVALID_ARGUMENT = 1, /* The caller's value is wrong. */
  LOOM_NOT_FOUND = 2, /* A file, tensor, key or cell does not exist. */
  /* Well formed, but this build or version cannot do it; the message names it. */
  LOOM_UNSUPPORTED = 3,
  LOOM_CORRUPT = 4, /* Bytes contradict their format or checksum. */
  LOOM_TRUNCATED = 5, /* Fewer bytes than the format promises; the message has both sizes. */
  LOOM_IO = 6, /* The operating system refused. */
  LOOM_OUT_OF_MEMORY = 7, /* An allocation failed. */
  LOOM_OUT_OF_RANGE = 8, /* An index or count beyond its declared limit. */
  LOOM_CANCELLED = 9, /* The caller asked to stop. */
  LOOM_INTERNAL = 10, /* A broken invariant of Loom's own: please report it. */
  LOOM_INVALID_HANDLE = 11, /* No such handle: released, never made, or of another kind. */
  LOOM_BUSY = 12, /* Another thread is inside a call on this object. */
  LOOM_PAUSED = 13, /* No error: the time of pause_after is over. The same call again continues. */
};

/* Kinds of objects, and how many calls at a time they take. */
enum {
  /* A block of bytes: a text, a file, an array of 32-bit integers. Any thread. */
  LOOM_KIND_BYTES = 1,
  /* A grid of layers with its weights. Any thread: calls that change it wait for those that run
   * it. */
  LOOM_KIND_NETWORK = 2,
  LOOM_KIND_SESSION = 3, /* Runs a network; has its memory and its KV caches. One call at a time. */
  LOOM_KIND_DATA = 4, /* Samples to learn from. Immutable; any thread. */
  LOOM_KIND_TRAINER = 5, /* Trains a network. One call at a time. */
  LOOM_KIND_TOKENIZER = 6, /* Text to token ids and back. Immutable; any thread. */
  LOOM_KIND_DECODER = 7, /* Decodes ids as they come. One call at a time. */
  LOOM_KIND_MODEL = 8, /* A language model: network, tokenizer, configuration. Any thread. */
  LOOM_KIND_GENERATOR = 9, /* Writes text with a model; has its KV caches. One call at a time. */
  LOOM_KIND_ONNX = 10, /* An ONNX graph, read and checked. Immutable; any thread. */
  /* Runs an encoder-decoder; holds what it encoded, and its sequences. One call at a time. */
  LOOM_KIND_SEQ2SEQ = 11,
  LOOM_KIND_FILE = 12, /* A model file or folder seen from outside. Immutable; any thread. */
  LOOM_KIND_EVALUATOR = 13, /* Measures a model over a text, part by part. One call at a time. */
  LOOM_KIND_TRAINING = 14, /* Trains from files: a spec, or data alone. One call at a time. */
  LOOM_KIND_PREDICTOR = 15, /* A trained network that answers raw data. One call at a time. */
  /* Runs a network by ticks; holds the values of its cells. One call at a time. */
  LOOM_KIND_STEP_MESH = 16,
  /* Genomes that evolve by NEAT, or whole networks. One call at a time. */
  LOOM_KIND_POPULATION = 17,
  LOOM_KIND_ONLINE = 18, /* Learns a copy of a network beside its answers. One call at a time. */
  /* A saved program with the weights of a network; has its registers, inputs and states. One
   * call at a time. */
  LOOM_KIND_PROGRAM = 19,
};

/* Finish reasons. */
enum {
  LOOM_FINISH_MORE = 0, /* The text continues. */
  LOOM_FINISH_LENGTH = 1, /* max_tokens were generated, or the context is full before. */
  LOOM_FINISH_EOS = 2, /* A token that ends a text. */
  LOOM_FINISH_STOP = 3, /* A stop string. */
  LOOM_FINISH_CANCELLED = 4, /* cancel was called. */
};

typedef uint64_t loom_handle;
typedef loom_handle loom_bytes;
typedef loom_handle loom_network;
typedef loom_handle loom_session;
typedef loom_handle loom_data;
typedef loom_handle loom_trainer;
typedef loom_handle loom_tokenizer;
typedef loom_handle loom_decoder;
typedef loom_handle loom_model;
typedef loom_handle loom_generator;
typedef loom_handle loom_onnx;
typedef loom_handle loom_seq2seq;
typedef loom_handle loom_file;
typedef loom_handle loom_evaluator;
typedef loom_handle loom_training;
typedef loom_handle loom_predictor;
typedef loom_handle loom_step_mesh;
typedef loom_handle loom_population;
typedef loom_handle loom_online;
typedef loom_handle loom_program;

/* The caller's: it says what, where, and what would be right. */
typedef struct loom_error {
  int32_t code;
  char message[1020]; /* UTF-8, ends with a zero, cut between characters where it is too long */
} loom_error;

/* ---- library: Versions, what this build can do, and the proof of its numbers. */

/* Version of the library, for example "0.1.0". */
LOOM_API const char* loom_version(void);

/* Version of this interface. Functions are added under the same version; a change of an existing
 * one raises it. */
LOOM_API int32_t loom_abi_version(void);

/* Version of the numerics contract: equal versions give equal bits. */
LOOM_API int32_t loom_numerics_version(void);

/* The name of a result code in words, "unknown" for others.
 *   code: a result of any function */
LOOM_API const char* loom_code_name(int32_t code);

/* Capabilities of this build and machine.
 *   info: JSON: version, abi_version, numerics_version, isa, isas, fast_isas, threads, dtypes,
 *     formats, layers, embedded_model */
LOOM_API int32_t loom_info(loom_bytes* info, loom_error* error);

/* Reports the machine: processor, caches, memory, GPU. Opens no socket. Where it measures, it
 * takes a second or two.
 *   options: JSON: device ("auto"), measure (false): docs/reference/options.md, audit
 *   report: JSON: os, cpu, caches, memory, gpus, measured, unknown (why a key is null, by its
 *     path), loom: docs/reference/audit.md */
LOOM_API int32_t loom_audit(const char* options, size_t options_size, loom_bytes* report,
                            loom_error* error);

/* A format of weights by its name.
 *   format: docs/reference/dtypes.md
 *   info: JSON: format (its one spelling), dtype, bits (of a code), is_float, is_signed, scaled,
 *     plain (takes scales per tensor, row or block; false: a layout with scales inside, as
 *     q4_0), computes_f64 (products are of f64) */
LOOM_API int32_t loom_format_info(const char* format, size_t format_size, loom_bytes* info,
                                  loom_error* error);

/* A matrix as a format stores it: rounded, scaled and decoded, as a network sees it after
 * network_morph.
 *   values: whole rows
 *   format: f32, bf16, i8, i4:row, ternary, q4_0, ...: docs/reference/dtypes.md
 *   rows: of the matrix; at least 1
 *   rounded: as many as values */
LOOM_API int32_t loom_fake_quantize(const float* values, size_t values_count, const char* format,
                                    size_t format_size, int64_t rows, float* rounded,
                                    size_t rounded_count, loom_error* error);

/* Runs the numerics table of docs/reference/numerics.md. Takes seconds. With a device, the rows
 * that it runs are its own; the others are the CPU's, and have a why.
 *   options: JSON: threads (0), isa, device: docs/reference/options.md, verify
 *   report: JSON: numerics_version, target (what computed), numerics ("portable", or why a
 *     device is not), fingerprint, golden (the fingerprint every build must have), equal, rows:
 *     [{name, hash, why}] */
LOOM_API int32_t loom_verify(const char* options, size_t options_size, loom_bytes* report,
                             loom_error* error);

/* ---- handle
 * Handles are numbers that are never reused. Objects hold what they need: the order of releases
 * does not matter. */

/* Releases a handle. Calls on it that run in other threads end undisturbed.
 *   handle: 0 is allowed and does nothing */
LOOM_API int32_t loom_release(loom_handle handle, loom_error* error);

/* From any thread or signal handler: the run inside a session, trainer, generator, seq2seq, step
 * mesh, program or graph, or else the next one, ends as cancelled, between two instructions. A
 * step that was leaves nothing; rows of a session count as not given. */
LOOM_API int32_t loom_cancel(loom_handle handle, loom_error* error);

/* From now on a run of the object ends as paused after this time, between two instructions, of
 * which it does at least one. The same call again, with the same arguments, continues it with
 * the same bits; any other run drops it, as cancel does. Refused with LOOM_UNSUPPORTED by runs
 * that cannot pause: of a session on a device, that observes, or that evaluates rules; a step
 * mesh on a device pauses between groups of ticks. session_forecast does not pause.
 *   handle: a session or step mesh
 *   microseconds: 0: not any more */
LOOM_API int32_t loom_pause_after(loom_handle handle, int64_t microseconds, loom_error* error);

/* The kind of a handle.
 *   kind: LOOM_KIND_... */
LOOM_API int32_t loom_kind(loom_handle handle, int32_t* kind, loom_error* error);

/* How many handles exist: what a test of leaks looks at. */
LOOM_API int32_t loom_live_handles(int64_t* count, loom_error* error);

/* ---- bytes: Results of unknown size, and files that are already in memory. */

/* A block of zeros to fill through bytes_data: a file that was downloaded, say. It is not copied
 * when an object is made of it, so do not write to it after that.
 *   size: bytes */
LOOM_API int32_t loom_bytes_create(uint64_t size, loom_bytes* bytes, loom_error* error);

/* The bytes of a file, at most 1 GiB.
 *   path: a file */
LOOM_API int32_t loom_bytes_load(const char* path, size_t path_size, loom_bytes* bytes,
                                 loom_error* error);

/* Writes a file. The path has the old content or the new, never a part. */
LOOM_API int32_t loom_bytes_save(loom_bytes bytes, const char* path, size_t path_size,
                                 loom_error* error);

/* The error that a save to this path would end with before its first byte, for hosts whose work
 * comes first. Every save of this interface refuses the same paths. */
LOOM_API int32_t loom_bytes_check_save(const char* path, size_t path_size, loom_error* error);

/* Where the bytes lie. Texts are UTF-8 without a terminating zero.
 *   data: valid until the handle is released; at a multiple of 64 where bytes_create made it
 *   size: bytes */
LOOM_API int32_t loom_bytes_data(loom_bytes bytes, void** data, uint64_t* size, loom_error* error);

/* ---- network
 * Networks are a grid of depth x rows x cols x layers_per_cell cells
 * (docs/reference/topology.md). A cell is named "z.y.x.l". */

/* A network with all parameters zero.
 *   topology: JSON: docs/reference/topology.md */
LOOM_API int32_t loom_network_create(const char* topology, size_t topology_size,
                                     loom_network* network, loom_error* error);

/* Random parameters; each depends on seed, cell and index alone. */
LOOM_API int32_t loom_network_initialize(loom_network network, uint64_t seed, loom_error* error);

/* A network from a file, complete or refused. Packed weights run from the mapped file.
 *   path: an .entity file */
LOOM_API int32_t loom_network_load(const char* path, size_t path_size, loom_network* network,
                                   loom_error* error);

/* The same from memory.
 *   bytes: an .entity file; kept, not copied */
LOOM_API int32_t loom_network_load_bytes(loom_bytes bytes, loom_network* network,
                                         loom_error* error);

/* The same of a file that was opened: from a path, bytes or a read callback.
 *   file: an .entity file, or the JSON of a network with its weights */
LOOM_API int32_t loom_network_load_file(loom_file file, loom_network* network, loom_error* error);

/* A network from any file of weights, complete or refused: questions that the settings leave
 * open are an error that lists them.
 *   file: of tensors: safetensors, PyTorch, GGUF
 *   settings: JSON: what names and shapes do not tell: docs/reference/weights.md
 *   report: JSON: as of file_weights */
LOOM_API int32_t loom_network_from_weights(loom_file file, const char* settings,
                                           size_t settings_size, loom_network* network,
                                           loom_bytes* report, loom_error* error);

/* Writes an .entity file, or JSON where the path ends in .json. The path has the old content or
 * the new, never a part. */
LOOM_API int32_t loom_network_save(loom_network network, const char* path, size_t path_size,
                                   loom_error* error);

/* Topology and weights as JSON, exactly: saving what was loaded makes the same bytes.
 *   text: format loom-network: docs/reference/entity.md; network_load reads it */
LOOM_API int32_t loom_network_save_json(loom_network network, loom_bytes* text, loom_error* error);

/* The same into memory.
 *   bytes: an .entity file */
LOOM_API int32_t loom_network_save_bytes(loom_network network, loom_bytes* bytes,
                                         loom_error* error);

/* Writes the network for other programs (docs/guide/export.md): the old content or the new.
 *   path: a name that ends in .onnx
 *   options: JSON: opset (21), as, external_data (false), decoder (false), matmul_nbits (false):
 *     docs/reference/options.md, network_export
 *   report: JSON: format, opset, inputs, outputs, nodes, dtypes */
LOOM_API int32_t loom_network_export(loom_network network, const char* path, size_t path_size,
                                     const char* options, size_t options_size, loom_bytes* report,
                                     loom_error* error);

/* The same into memory: a file of the format "onnx".
 *   options: JSON: opset (21), as, external_data (false), decoder (false), matmul_nbits (false):
 *     docs/reference/options.md, network_export */
LOOM_API int32_t loom_network_export_bytes(loom_network network, const char* format,
                                           size_t format_size, const char* options,
                                           size_t options_size, loom_bytes* bytes,
                                           loom_error* error);

/* An independent network with the same topology and values. */
LOOM_API int32_t loom_network_copy(loom_network network, loom_network* copy, loom_error* error);

/* The topology that network_create makes it of. */
LOOM_API int32_t loom_network_topology(loom_network network, loom_bytes* topology,
                                       loom_error* error);

/* Shapes and sizes.
 *   info: JSON: depth, rows, cols, layers_per_cell, version (of the topology), parameters,
 *     weight_bytes (in memory), adapter_parameters (where it has an adapter). input: {width or
 *     ids, dims, axis, dtype: f64 where the network takes that, parts: [{name, ...}] where it
 *     has several by name}, output: {width, dims, axis, parts: likewise, side by side in a row}.
 *     cells: [{path, width or ids, dims, axis}], the output of each layer of the grid */
LOOM_API int32_t loom_network_info(loom_network network, loom_bytes* info, loom_error* error);

/* A number that stays until what info says may change: weights learn under it, a morph or a
 * training in another format ends it.
 *   revision: of this network in this process */
LOOM_API int32_t loom_network_revision(loom_network network, uint64_t* revision, loom_error* error);

/* All parameters in the order of the grid.
 *   parameters: JSON: [{path, role, rows, cols, format, tied}] */
LOOM_API int32_t loom_network_parameters(loom_network network, loom_bytes* parameters,
                                         loom_error* error);

/* The layers of the grid with shapes and parameters, for displays (docs/guide/telemetry.md).
 *   id: what the model is called in it
 *   blueprint: JSON: {models: [{id, total_layers, total_parameters, layers: [{z, y, x, l, path,
 *     type, name, enabled, activation, dtype, parameters, input_shape, output_shape,
 *     combine_mode, links, branches}]}]}. Layers are the cells that have one. A shape lists the
 *     dimensions of a row; where ids arrive, input_ids is how many there are. parameters counts
 *     the branches, too. combine_mode is how branches, or what arrives at the cell, are joined,
 *     or null. branches are the layers inside, without z, y, x and l */
LOOM_API int32_t loom_network_blueprint(loom_network network, const char* id, size_t id_size,
                                        loom_bytes* blueprint, loom_error* error);

/* SHA-256 over topology and all values as the network sees them.
 *   sha256: 64 hex digits */
LOOM_API int32_t loom_network_digest(loom_network network, loom_bytes* sha256, loom_error* error);

/* The identity of each weighted layer: docs/reference/dna.md. Layers that run another's weights
 * are not listed.
 *   dna: JSON: grid (depth, rows, cols, layers_per_cell), layers: [{path, at (z, y, x, l), type,
 *     format, rows, cols (of its first parameter), values, sha256 (of the decoded values), norm
 *     (gains as gain - 1), sketch (256 values; the dot product of two estimates the cosine)}] */
LOOM_API int32_t loom_network_dna(loom_network network, loom_bytes* dna, loom_error* error);

/* Compares two networks by the weights of their layers, whatever their dtypes, the order of
 * their units and their widths; scores are corrected for chance (docs/reference/dna.md). Takes
 * time that grows with the square of the layers of one type.
 *   b: may be the same
 *   report: JSON: overlap (mean cosine by coordinate), similarity (mean score, 0 for unrelated
 *     networks), only_a, only_b (paths). layers: [{from, to, cosine, encoded (null where shapes
 *     differ), matched, chance, score, coverage, moved_units, small}]. shifts: likewise, layers
 *     found at another path with a score above 0.8 */
LOOM_API int32_t loom_network_compare_dna(loom_network a, loom_network b, loom_bytes* report,
                                          loom_error* error);

/* A child of two networks: the topology and formats of a, and weights of both where layers match
 * and have equal shapes. Neither parent changes, and nothing is shared.
 *   b: may be the same
 *   options: JSON: method, match, per, alpha or fitness_a and fitness_b, min_score, align, seed:
 *     docs/reference/evolution.md
 *   report: JSON: alpha, crossed (layers), not_aligned (why, where align did nothing), layers:
 *     [{a, b (paths; b null), action (the method, or kept), reason, similarity (cosine before
 *     crossing), share (of b), moved_units}] */
LOOM_API int32_t loom_network_splice(loom_network a, loom_network b, const char* options,
                                     size_t options_size, loom_network* child, loom_bytes* report,
                                     loom_error* error);

/* One network whose branches are whole networks beside each other. Their inputs must agree.
 * Weights are copied.
 *   networks: handles of networks, at least one; the same may stand twice
 *   options: JSON: combine (concat, add, avg or mean, gated or filter), residual, stitch,
 *     softmax: docs/reference/evolution.md */
LOOM_API int32_t loom_network_graft(const int64_t* networks, size_t networks_count,
                                    const char* options, size_t options_size, loom_network* graft,
                                    loom_error* error);

/* A mutated copy with the same input and output, which runs forward and backward; layers that
 * were not touched keep their weights to the bit.
 *   rates: JSON: docs/reference/evolution.md
 *   seed: of all that is drawn
 *   report: JSON: done: [{kind, at, what, redraws, stitched}], failed (kinds without a place),
 *     fell_back (weights moved in their place) */
LOOM_API int32_t loom_network_mutate(loom_network network, const char* rates, size_t rates_size,
                                     uint64_t seed, loom_network* child, loom_bytes* report,
                                     loom_error* error);

/* Values of a parameter as the network sees them: decoded where it is packed.
 *   path: as network_parameters names it
 *   values: rows x cols */
LOOM_API int32_t loom_network_get_f32(loom_network network, const char* path, size_t path_size,
                                      const char* role, size_t role_size, float* values,
                                      size_t values_count, loom_error* error);

/* The same in double.
 *   values: rows x cols */
LOOM_API int32_t loom_network_get_f64(loom_network network, const char* path, size_t path_size,
                                      const char* role, size_t role_size, double* values,
                                      size_t values_count, loom_error* error);

/* Sets a parameter; its format stays.
 *   values: rows x cols */
LOOM_API int32_t loom_network_set_f32(loom_network network, const char* path, size_t path_size,
                                      const char* role, size_t role_size, const float* values,
                                      size_t values_count, loom_error* error);

/* The same from doubles, which parameters of f64, i64, i32, u64 and u32 keep.
 *   values: rows x cols */
LOOM_API int32_t loom_network_set_f64(loom_network network, const char* path, size_t path_size,
                                      const char* role, size_t role_size, const double* values,
                                      size_t values_count, loom_error* error);

/* One cell as the topology has it.
 *   cell: "z.y.x.l" */
LOOM_API int32_t loom_network_cell(loom_network network, const char* cell, size_t cell_size,
                                   loom_bytes* json, loom_error* error);

/* Puts a layer into a cell, with all parameters zero (network_initialize). Those of other cells
 * keep their values where they keep their size; where what arrives there has another one, they
 * are zero, too. On an error nothing has changed.
 *   cell: "z.y.x.l"
 *   json: JSON: a cell of the topology: type, settings, links */
LOOM_API int32_t loom_network_set_cell(loom_network network, const char* cell, size_t cell_size,
                                       const char* json, size_t json_size, loom_error* error);

/* Sets the links of a cell. All weights stay; links with which one would need another size are
 * refused, and on an error nothing has changed.
 *   cell: "z.y.x.l"
 *   links: JSON: [{read: [z, y, x, l]}, ...]; the kinds are read, send and run */
LOOM_API int32_t loom_network_set_links(loom_network network, const char* cell, size_t cell_size,
                                        const char* links, size_t links_size, loom_error* error);

/* Switches a cell on or off. All weights stay; where another cell's would need another size it
 * is refused, and on an error nothing has changed.
 *   cell: "z.y.x.l"
 *   enabled: false: the cell hands on what arrives */
LOOM_API int32_t loom_network_enable(loom_network network, const char* cell, size_t cell_size,
                                     int32_t enabled, loom_error* error);

/* Changes how matrices are stored and multiplied. The master values stay, so morphing back loses
 * nothing.
 *   format: f32, bf16, i8, i4, ternary, q4_0, ...: docs/reference/dtypes.md
 *   cell: "z.y.x.l", or "" for all */
LOOM_API int32_t loom_network_morph(loom_network network, const char* format, size_t format_size,
                                    const char* cell, size_t cell_size, loom_error* error);

/* The same for all cells, for running alone: the masters go. */
LOOM_API int32_t loom_network_pack(loom_network network, const char* format, size_t format_size,
                                   loom_error* error);

/* Runs the network with a LoRA adapter, in place of the one it has. Weights, digest and saved
 * files are the network's alone.
 *   path: a folder with adapter_config.json and adapter_model.safetensors, as PEFT and
 *     trainer_save write it */
LOOM_API int32_t loom_network_load_adapter(loom_network network, const char* path, size_t path_size,
                                           loom_error* error);

/* Writes the adapter that the network has, as PEFT does.
 *   path: a folder; it is made where it is missing */
LOOM_API int32_t loom_network_save_adapter(loom_network network, const char* path, size_t path_size,
                                           loom_error* error);

/* Runs the network without an adapter again. */
LOOM_API int32_t loom_network_unload_adapter(loom_network network, loom_error* error);

/* Adds the adapter to the weights, encoded again where they are packed; the network then has
 * none. */
LOOM_API int32_t loom_network_merge_adapter(loom_network network, loom_error* error);

/* The program that a session of these options runs, a line per instruction.
 *   options: JSON: the keys of loom_session_options: docs/reference/options.md, session_create */
LOOM_API int32_t loom_network_program(loom_network network, const char* options,
                                      size_t options_size, loom_bytes* program, loom_error* error);

/* The same as bytes, which program_create takes.
 *   options: JSON: the keys of loom_session_options: docs/reference/options.md, session_create
 *   program: docs/reference/program.md, Encoding */
LOOM_API int32_t loom_network_save_program(loom_network network, const char* options,
                                           size_t options_size, loom_bytes* program,
                                           loom_error* error);

/* SHA-256 of that program: equal programs, equal hashes.
 *   options: JSON: the keys of loom_session_options: docs/reference/options.md, session_create
 *   sha256: 64 hex digits */
LOOM_API int32_t loom_network_program_sha256(loom_network network, const char* options,
                                             size_t options_size, loom_bytes* sha256,
                                             loom_error* error);

/* ---- session
 * Sessions run networks. Where the network has changed since the last run, the session prepares
 * itself again; a change of topology or arithmetic empties its caches. */

/* Plans all memory; runs allocate nothing.
 *   options: JSON: the keys of loom_session_options: docs/reference/options.md, session_create */
LOOM_API int32_t loom_session_create(loom_network network, const char* options, size_t options_size,
                                     loom_session* session, loom_error* error);

/* Runs rows of values through a network that looks at no other rows.
 *   rows: at most max_rows
 *   x: rows x input width
 *   y: rows x output width */
LOOM_API int32_t loom_session_run(loom_session session, int64_t rows, const float* x,
                                  size_t x_count, float* y, size_t y_count, loom_error* error);

/* session_run for a network whose cells compute in f64 (network_info says so of its input):
 * nothing is rounded to f32. Refused where the input is f32.
 *   rows: at most max_rows
 *   x: rows x input width
 *   y: rows x output width */
LOOM_API int32_t loom_session_run_f64(loom_session session, int64_t rows, const double* x,
                                      size_t x_count, double* y, size_t y_count, loom_error* error);

/* Runs rows of ids, each a separate sequence.
 *   ids: rows x the steps of the input
 *   y: rows x output width */
LOOM_API int32_t loom_session_run_ids(loom_session session, const int32_t* ids, size_t ids_count,
                                      float* y, size_t y_count, loom_error* error);

/* Runs token ids. Keys and values of earlier runs stay in the session's caches.
 *   ids: one per row
 *   positions: of each row in its sequence
 *   sequences: of each row; empty: all 0
 *   head: rows whose output is wanted, ascending; empty: the last row
 *   y: one row of output width per wanted row */
LOOM_API int32_t loom_session_run_tokens(loom_session session, const int32_t* ids, size_t ids_count,
                                         const int32_t* positions, size_t positions_count,
                                         const int32_t* sequences, size_t sequences_count,
                                         const int32_t* head, size_t head_count, float* y,
                                         size_t y_count, loom_error* error);

/* Forecasts a time series that `loom train` learned (docs/guide/your-data.md), after the values
 * of training, or after others. Refused where the network's file has no plan of a series, and
 * for dates that are none of its steps.
 *   options: JSON: horizon (12), last: docs/reference/options.md, session_forecast
 *   history: values in the steps of the series, the latest last; empty: those that training
 *     ended with
 *   forecasts: JSON: [{date, forecast, low80, high80, low95, high95, measured}], a step each:
 *     the intervals hold 80 and 95 of 100 values; measured: they come from forecasts of as many
 *     steps that training judged, and the weights are still those */
LOOM_API int32_t loom_session_forecast(loom_session session, const char* options,
                                       size_t options_size, const double* history,
                                       size_t history_count, loom_bytes* forecasts,
                                       loom_error* error);

/* From the next run on, statistics of the outputs of every cell are kept: an event for each cell
 * of an observed pass, which is a run of this session, and with nested for each layer inside it
 * (docs/guide/observe.md). Observed passes run a second program with outputs of the same bits;
 * passes that are not observed run the one of always. Begins anew where the session observes
 * already.
 *   options: JSON: every (1), passes (0), window (1), keep (64), nested (false), total (false):
 *     docs/reference/options.md, session_observe */
LOOM_API int32_t loom_session_observe(loom_session session, const char* options,
                                      size_t options_size, loom_error* error);

/* Takes the events that session_observe has kept, the oldest first; none are left then.
 *   statistics: JSON: passes (runs since session_observe), observed (of them), dropped (events
 *     that were not taken in time), events: [{direction, pass, passes, path, at, type, enabled,
 *     mean, std, min, max, active_share, nan_count, inf_count, count, first_bad}]. Pass counts
 *     from 0, and is the last of a window of passes. In an event mean, std (of the population),
 *     min and max are of the finite values (null: there are none); active_share is of |x| >
 *     1e-6; first_bad is [row, column] of the first value that is not finite, or null. total,
 *     where session_observe asked for it: such an event for each cell, of the values of all
 *     observed passes together, whose first_bad_pass is the pass of first_bad */
LOOM_API int32_t loom_session_statistics(loom_session session, loom_bytes* statistics,
                                         loom_error* error);

/* The acts of rules in this session (docs/guide/metacognition.md): the last 65,536, the oldest
 * first. Empty where nothing was done.
 *   trace: a line of JSON for each act: {pass, path, rule, statistic, value, act, before,
 *     after}. Pass counts the runs of this session from 0; the act came after it. Path is the
 *     metacognition's, rule counts its rules from 0, value is the statistic's; before and after
 *     are what the act changed: dtype, gate, weights, activation, type, layers, frozen or
 *     enabled */
LOOM_API int32_t loom_session_trace(loom_session session, loom_bytes* trace, loom_error* error);

/* From the first run on, does what the trace says after the runs that it names, and evaluates no
 * rule: the same inputs have the same outputs. A trace that does not fit the network is refused
 * whole.
 *   trace: of session_trace, from a session of a network that was as this one is */
LOOM_API int32_t loom_session_replay(loom_session session, const char* trace, size_t trace_size,
                                     loom_error* error);

/* Sizes, and what computes.
 *   info: JSON: target (what computes: an instruction set or a device), numerics ("portable", or
 *     why a device is not), threads, device (its name; null: the CPU), note (why `auto` took the
 *     CPU). Sizes: input_width, output_width, input_dims and output_dims (of a row; [] for
 *     single ids), arena_bytes, state_bytes, weight_bytes, scratch_bytes. metacognition: rules
 *     (that it evaluates), replays (a trace), passes (runs), acts, dropped (acts that the trace
 *     has no more); null: off */
LOOM_API int32_t loom_session_info(loom_session session, loom_bytes* info, loom_error* error);

/* ---- tokenizer: As HuggingFace's tokenizers do it, for BPE models. */

/* The tokenizer of a model, without its weights.
 *   path: a model, a folder, or a tokenizer.json */
LOOM_API int32_t loom_tokenizer_load(const char* path, size_t path_size, loom_tokenizer* tokenizer,
                                     loom_error* error);

/* The same from memory.
 *   json: the content of a tokenizer.json
 *   config: of its tokenizer_config.json; may be empty */
LOOM_API int32_t loom_tokenizer_parse(const char* json, size_t json_size, const char* config,
                                      size_t config_size, loom_tokenizer* tokenizer,
                                      loom_error* error);

/* A byte-level BPE vocabulary learned from texts.
 *   texts: JSON: an array of strings
 *   options: JSON: vocab_size (4096), special_tokens ([]), bos, eos, add_bos (false):
 *     docs/reference/options.md, tokenizer_train */
LOOM_API int32_t loom_tokenizer_train(const char* texts, size_t texts_size, const char* options,
                                      size_t options_size, loom_tokenizer* tokenizer,
                                      loom_error* error);

/* Sizes and special tokens.
 *   info: JSON: vocab_size, bos, eos (null where there is none), chat (whether the model has a
 *     chat template that this build can read), no_chat (why it has none), chat_template */
LOOM_API int32_t loom_tokenizer_info(loom_tokenizer tokenizer, loom_bytes* info, loom_error* error);

/* Ids of a text. Special tokens in it are recognized.
 *   add_special: with the tokens that the model wants at both ends */
LOOM_API int32_t loom_tokenizer_encode(loom_tokenizer tokenizer, const char* text, size_t text_size,
                                       int32_t add_special, loom_bytes* ids, loom_error* error);

/* Ids of a text in which special tokens are plain characters: for what a user typed. */
LOOM_API int32_t loom_tokenizer_encode_plain(loom_tokenizer tokenizer, const char* text,
                                             size_t text_size, loom_bytes* ids, loom_error* error);

/* The text of ids. Those that the vocabulary lacks are passed over, as in HuggingFace's
 * tokenizers; one below 0 is out_of_range. */
LOOM_API int32_t loom_tokenizer_decode(loom_tokenizer tokenizer, const int32_t* ids,
                                       size_t ids_count, int32_t skip_special, loom_bytes* text,
                                       loom_error* error);

/* A token by its id.
 *   token: as the vocabulary spells it */
LOOM_API int32_t loom_tokenizer_token(loom_tokenizer tokenizer, int32_t id, loom_bytes* token,
                                      loom_error* error);

/* An id by its token.
 *   id: -1 where there is none */
LOOM_API int32_t loom_tokenizer_id(loom_tokenizer tokenizer, const char* token, size_t token_size,
                                   int32_t* id, loom_error* error);

/* A conversation as the model's chat template writes it. Messages are plain text: special tokens
 * in it stay text.
 *   messages: JSON: [{role, content}], roles: system, developer, user, assistant, tool; or
 *     {messages, variables}: variables of the template, such as {enable_thinking: false}
 *   add_generation_prompt: with the beginning of an answer */
LOOM_API int32_t loom_tokenizer_chat(loom_tokenizer tokenizer, const char* messages,
                                     size_t messages_size, int32_t add_generation_prompt,
                                     loom_bytes* ids, loom_error* error);

/* For texts that come id by id: no part ends inside a character. */
LOOM_API int32_t loom_decoder_create(loom_tokenizer tokenizer, int32_t skip_special,
                                     loom_decoder* decoder, loom_error* error);

/* One more id, as tokenizer_decode takes them.
 *   text: what is final now, may be empty */
LOOM_API int32_t loom_decoder_push(loom_decoder decoder, int32_t id, loom_bytes* text,
                                   loom_error* error);

/* The end of the text; the decoder then begins anew.
 *   text: the rest */
LOOM_API int32_t loom_decoder_finish(loom_decoder decoder, loom_bytes* text, loom_error* error);

/* ---- model
 * Language models: HuggingFace folders, GGUF, .entity, and the one inside the library. */

/* Complete or refused; nothing is downloaded.
 *   name: a folder, a file, a name in the local HuggingFace cache, or "embedded"
 *   format: how the matrices run: i8, i4, q4_0, ...; "": as they are stored, those of an .entity
 *     file and the blocks of a .gguf file (q4_0, q8_0, q4_k, q6_k), others in f32 */
LOOM_API int32_t loom_model_load(const char* name, size_t name_size, const char* format,
                                 size_t format_size, loom_model* model, loom_error* error);

/* The same from memory.
 *   bytes: an .entity or GGUF file; kept, not copied */
LOOM_API int32_t loom_model_load_bytes(loom_bytes bytes, const char* format, size_t format_size,
                                       loom_model* model, loom_error* error);

/* A language model of a network that was trained here: it generates, and is saved as one file.
 *   network: reads ids and returns a value for each; copied
 *   tokenizer: 0: none, the model then runs by ids
 *   options: JSON: name ("(made)"), architecture, vocab_size, max_positions (must be given),
 *     bos, eos, sampling, parameters: docs/reference/options.md, model_create */
LOOM_API int32_t loom_model_create(loom_network network, loom_tokenizer tokenizer,
                                   const char* options, size_t options_size, loom_model* model,
                                   loom_error* error);

/* The refusals of model_load, without reading a weight. */
LOOM_API int32_t loom_model_check(const char* name, size_t name_size, loom_error* error);

/* Writes an .entity file with network, tokenizer and configuration. */
LOOM_API int32_t loom_model_save(loom_model model, const char* path, size_t path_size,
                                 loom_error* error);

/* The same into memory. */
LOOM_API int32_t loom_model_save_bytes(loom_model model, loom_bytes* bytes, loom_error* error);

/* Writes a language model for other programs into memory (docs/guide/models.md), without an
 * adapter.
 *   name: gguf, onnx, or a file of a HuggingFace folder: model.safetensors, config.json,
 *     generation_config.json, tokenizer.json, tokenizer_config.json
 *   options: JSON: dtype, adapter, tokenizer (true), matmul_nbits (false), settings, dims, max:
 *     docs/reference/options.md, file_convert */
LOOM_API int32_t loom_model_export_bytes(loom_model model, const char* name, size_t name_size,
                                         const char* options, size_t options_size,
                                         loom_bytes* bytes, loom_error* error);

/* A description of the model.
 *   info: JSON: name, architecture, vocab_size, max_positions, bos, eos, sampling: what the
 *     authors recommend, else temperature 0.7 and top_p 0.9, parameters */
LOOM_API int32_t loom_model_info(loom_model model, loom_bytes* info, loom_error* error);

/* The network of a model.
 *   network: the model's own: what changes it changes the model */
LOOM_API int32_t loom_model_network(loom_model model, loom_network* network, loom_error* error);

/* The tokenizer of a model; an error says why there is none. */
LOOM_API int32_t loom_model_tokenizer(loom_model model, loom_tokenizer* tokenizer,
                                      loom_error* error);

/* ---- generator
 * Text from a model: feed a sequence, start, then take the pieces one by one. A common beginning
 * of a feed and the sequence is not run again. A change of the network empties the sequences. */

/* A generator with the KV caches of one or more sequences.
 *   options: JSON: the keys of loom_generator_options: docs/reference/options.md,
 *     generator_create */
LOOM_API int32_t loom_generator_create(loom_model model, const char* options, size_t options_size,
                                       loom_generator* generator, loom_error* error);

/* Makes ids the content of a sequence.
 *   sequence: from 0
 *   ids: at least one */
LOOM_API int32_t loom_generator_feed(loom_generator generator, int64_t sequence, const int32_t* ids,
                                     size_t ids_count, loom_error* error);

/* The same with a text.
 *   text: empty: the beginning-of-text token alone */
LOOM_API int32_t loom_generator_feed_text(loom_generator generator, int64_t sequence,
                                          const char* text, size_t text_size, loom_error* error);

/* The same with a conversation, up to the beginning of an answer, whose end the model's form
 * then decides.
 *   messages: JSON: as tokenizer_chat */
LOOM_API int32_t loom_generator_feed_chat(loom_generator generator, int64_t sequence,
                                          const char* messages, size_t messages_size,
                                          loom_error* error);

/* The prediction after the last id of a sequence.
 *   logits: vocab_size */
LOOM_API int32_t loom_generator_logits(loom_generator generator, int64_t sequence, float* logits,
                                       size_t logits_count, loom_error* error);

/* Begins a text after what was fed. A text that was not taken to its end is given up.
 *   options: JSON: the keys of loom_sampling_options: docs/reference/options.md, generator_start */
LOOM_API int32_t loom_generator_start(loom_generator generator, int64_t sequence,
                                      const char* options, size_t options_size, loom_error* error);

/* Picks the next token. Needs a text begun by generator_start.
 *   finish: LOOM_FINISH_...; not 0: this was the last piece
 *   id: the new token, -1 where none was picked
 *   text: whole characters, may be empty */
LOOM_API int32_t loom_generator_next(loom_generator generator, int32_t* finish, int32_t* id,
                                     loom_bytes* text, loom_error* error);

/* The content of a sequence. */
LOOM_API int32_t loom_generator_ids(loom_generator generator, int64_t sequence, loom_bytes* ids,
                                    loom_error* error);

/* SHA-256 over numerics version, ids of the sequence, and the bits of the logits after them:
 * equal on every device or something is wrong. */
LOOM_API int32_t loom_generator_fingerprint(loom_generator generator, int64_t sequence,
                                            loom_bytes* sha256, loom_error* error);

/* Sizes, and how fast the last text was.
 *   info: JSON: context, sequences, target (what computes), device (its name; null: the CPU),
 *     note (why `auto` took the CPU), numerics ("portable", or why a device is not), threads.
 *     Memory: weight_bytes (of forms that only run), state_bytes, arena_bytes, scratch_bytes. Of
 *     the last text: ids_sha256, reused_tokens, prefill_tokens, prefill_seconds, decode_tokens,
 *     decode_seconds */
LOOM_API int32_t loom_generator_info(loom_generator generator, loom_bytes* info, loom_error* error);

#ifdef __cplusplus
}
#endif

#include <loom/cluster.h>
#include <loom/file.h>
#include <loom/layer.h>
#include <loom/online.h>
#include <loom/onnx.h>
#include <loom/options.h>
#include <loom/population.h>
#include <loom/program.h>
#include <loom/seq2seq.h>
#include <loom/step_mesh.h>
#include <loom/training.h>
#include <loom/webgpu.h>

#endif
