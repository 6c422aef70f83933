/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: encoder-decoders. */
#ifndef LOOM_SEQ2SEQ_H
#define LOOM_SEQ2SEQ_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- seq2seq
 * Encoder-decoders as they are used (docs/guide/sequences.md): networks with several inputs
 * whose output has a row for each step of one of them, the target. The part that depends on the
 * other inputs alone runs once; steps continue from the caches and states of those before, with
 * the results of whole rows. Where the network changes, encoding is due again. */

/* Plans all memory. Refused by the layer's name where one needs all steps of the target at once:
 * attention that is not causal, the reverse direction of a recurrent layer, a convolution over
 * steps.
 *   options: JSON: the keys of loom_seq2seq_options: docs/reference/options.md, seq2seq_create */
LOOM_API int32_t loom_seq2seq_create(loom_network network, const char* options, size_t options_size,
                                     loom_seq2seq* seq2seq, loom_error* error);

/* Begins anew: runs what depends on these inputs alone.
 *   rows: at most the lanes
 *   x: rows x what the inputs of `sources` (seq2seq_info) hold, side by side; ids and lengths
 *     are whole numbers */
LOOM_API int32_t loom_seq2seq_encode(loom_seq2seq seq2seq, int64_t rows, const double* x,
                                     size_t x_count, loom_error* error);

/* The next step of all rows. After an error of the run encode is due again; what is refused
 * before changes nothing.
 *   target: for each row an id, or the features of a step
 *   y: rows x values of an answer */
LOOM_API int32_t loom_seq2seq_step(loom_seq2seq seq2seq, const double* target, size_t target_count,
                                   double* y, size_t y_count, loom_error* error);

/* Rows continue from where others were, as beams do; there are as many rows then as `from` has.
 *   from: for each row that is wanted the row that it continues from; at most the lanes */
LOOM_API int32_t loom_seq2seq_reorder(loom_seq2seq seq2seq, const int32_t* from, size_t from_count,
                                      loom_error* error);

/* Encodes, and finds sequences of ids: the most probable next id each, draws of a seed, or the
 * best of a beam. Answers are logits, or what a softmax or log_softmax at the network's end
 * makes of them.
 *   rows: rows x beams are at most the lanes
 *   x: as seq2seq_encode has it
 *   options: JSON: the keys of loom_search_options: docs/reference/options.md, seq2seq_search
 *   found: JSON: for each row [{ids (behind `start`, `end` included), score (the logarithm of
 *     their probability), finished (by `end`)}], the best first */
LOOM_API int32_t loom_seq2seq_search(loom_seq2seq seq2seq, int64_t rows, const double* x,
                                     size_t x_count, const char* options, size_t options_size,
                                     loom_bytes* found, loom_error* error);

/* Inputs and outputs, and their places.
 *   info: JSON: sources: [{name, width or ids, dims}], source_width, target: {name, width or
 *     ids}, answer_width, lanes, rows (0: nothing is encoded), position, max_positions, device
 *     (what computes: an instruction set or a device), numerics, threads, state_bytes */
LOOM_API int32_t loom_seq2seq_info(loom_seq2seq seq2seq, loom_bytes* info, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
