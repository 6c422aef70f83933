/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: data, training, and measures. */
#ifndef LOOM_TRAINING_H
#define LOOM_TRAINING_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A decoder of images of the host's own (image_decoder_register). Both functions take the bytes of
 * a file, and return LOOM_OK, or a code with error->message filled: what is wrong, without a name.
 * Any thread calls them.
 *   measure: height and width, without decoding it
 *   decode: makes a bytes object of the pixels, which the library releases: rows from the top, the
 *     channels of a pixel together: 1 grey, 2 grey and alpha, 3 red, green, blue, 4 those and alpha
 *   release: NULL, or called once with user, when it is unregistered or replaced */
typedef struct loom_image_decoder {
  size_t size; /* sizeof(loom_image_decoder) */
  void* user;
  int32_t (*measure)(void* user, const void* file, size_t file_size, int64_t* height,
                     int64_t* width, loom_error* error);
  int32_t (*decode)(void* user, const void* file, size_t file_size, int64_t* height,
                    int64_t* width, int64_t* channels, loom_bytes* pixels, loom_error* error);
  void (*release)(void* user);
} loom_image_decoder;

/* ---- data: The samples of a trainer. */

/* Rows of values and their targets; copied.
 *   x: samples x width
 *   y: samples x targets */
LOOM_API int32_t loom_data_values(const float* x, size_t x_count, int64_t width, const float* y,
                                  size_t y_count, int64_t targets, loom_data* data,
                                  loom_error* error);

/* The same of doubles: cells that compute in f64 learn from them as they are. Cells of f32 round
 * them; a training refuses a column in which that makes values the same.
 *   x: samples x width
 *   y: samples x targets */
LOOM_API int32_t loom_data_values_f64(const double* x, size_t x_count, int64_t width,
                                      const double* y, size_t y_count, int64_t targets,
                                      loom_data* data, loom_error* error);

/* Rows of values and their classes; copied.
 *   x: samples x width
 *   classes: one per sample, or as many for each: a class for every step or pixel; the
 *     training's "ignore" (-100) is not counted */
LOOM_API int32_t loom_data_classes(const float* x, size_t x_count, int64_t width,
                                   const int32_t* classes, size_t classes_count, loom_data* data,
                                   loom_error* error);

/* The same of doubles, as data_values_f64 has them.
 *   x: samples x width
 *   classes: as data_classes has them */
LOOM_API int32_t loom_data_classes_f64(const double* x, size_t x_count, int64_t width,
                                       const int32_t* classes, size_t classes_count,
                                       loom_data* data, loom_error* error);

/* Rows of ids, each a separate sequence, and their targets; copied.
 *   ids: samples x steps
 *   steps: ids of a sample
 *   y: samples x targets */
LOOM_API int32_t loom_data_id_values(const int32_t* ids, size_t ids_count, int64_t steps,
                                     const float* y, size_t y_count, int64_t targets,
                                     loom_data* data, loom_error* error);

/* The same with targets of doubles, as data_values_f64 has them.
 *   ids: samples x steps
 *   steps: ids of a sample
 *   y: samples x targets */
LOOM_API int32_t loom_data_id_values_f64(const int32_t* ids, size_t ids_count, int64_t steps,
                                         const double* y, size_t y_count, int64_t targets,
                                         loom_data* data, loom_error* error);

/* Rows of ids, each a separate sequence, and their classes; copied.
 *   ids: samples x steps
 *   steps: ids of a sample
 *   classes: one per sample, or as many for each; the training's "ignore" (-100) is not counted */
LOOM_API int32_t loom_data_id_classes(const int32_t* ids, size_t ids_count, int64_t steps,
                                      const int32_t* classes, size_t classes_count, loom_data* data,
                                      loom_error* error);

/* Token ids to predict one by one; copied.
 *   ends: index after the last id of each document, ascending; empty: one stream
 *   length: longest sequence */
LOOM_API int32_t loom_data_tokens(const int32_t* ids, size_t ids_count, const int64_t* ends,
                                  size_t ends_count, int64_t length, loom_data* data,
                                  loom_error* error);

/* A table of numbers.
 *   csv: RFC 4180
 *   options: JSON: the "data" object of docs/reference/training-spec.md */
LOOM_API int32_t loom_data_table(const char* csv, size_t csv_size, const char* options,
                                 size_t options_size, loom_data* data, loom_error* error);

/* The same samples, not copied, each with a weight of its loss: a step's loss is the mean by
 * weights.
 *   weights: one for each sample, at least 0 */
LOOM_API int32_t loom_data_weighted(loom_data samples, const float* weights, size_t weights_count,
                                    loom_data* data, loom_error* error);

/* Shape and identity.
 *   info: JSON: samples, max_rows, width or ids, steps (ids of a row), targets or classes,
 *     places (classes of a row, where they are several), weighted (true, where samples have
 *     weights), sha256 */
LOOM_API int32_t loom_data_info(loom_data data, loom_bytes* info, loom_error* error);

/* ---- trainer
 * Training is a function of network, data and spec: the same bits for any number of threads,
 * with and without a pause. */

/* Nothing runs yet. Where the spec has "lora" the network has the trainer's adapter from now on,
 * which learns in its place.
 *   spec: JSON: docs/reference/training-spec.md; "network" and "data" are not read
 *   options: JSON: threads (0), isa, device, mode: docs/reference/options.md, trainer_create */
LOOM_API int32_t loom_trainer_create(loom_network network, loom_data data, const char* spec,
                                     size_t spec_size, const char* options, size_t options_size,
                                     loom_trainer* trainer, loom_error* error);

/* Trains. Where a loss is not finite the weights stay as they are and the error names the step.
 *   steps: how many optimizer steps; ends early at the end of the training
 *   step: steps done since the beginning
 *   loss: mean loss of the last step, before its update
 *   lr: learning rate of the last step
 *   rows: rows seen in these steps */
LOOM_API int32_t loom_trainer_step(loom_trainer trainer, int64_t steps, int64_t* step, double* loss,
                                   double* lr, int64_t* rows, loom_error* error);

/* One optimizer step on a batch that is given, in place of the trainer's own data: batches that
 * come one by one. Refused where all steps are done.
 *   data: the batch: all of its samples, of any number
 *   step: steps done since the beginning
 *   loss: mean loss, before the update
 *   lr: learning rate
 *   rows: rows of the batch */
LOOM_API int32_t loom_trainer_step_on(loom_trainer trainer, loom_data data, int64_t* step,
                                      double* loss, double* lr, int64_t* rows, loom_error* error);

/* One of the micro_batches of the next step, by itself: trainers of the same spec, network and
 * data, here or on other machines, compute the shards of a step, and each applies all of them.
 * No weight changes. Refused with fp8, local methods, streams, a device or an observer.
 *   shard: from 0, below the spec's micro_batches
 *   bytes: its gradients, for trainer_apply */
LOOM_API int32_t loom_trainer_shard(loom_trainer trainer, int64_t shard, loom_bytes* bytes,
                                    loom_error* error);

/* The same of samples that are given, in place of the trainer's own data.
 *   data: the shard: all of its samples, at most a micro-batch */
LOOM_API int32_t loom_trainer_shard_on(loom_trainer trainer, int64_t shard, loom_data data,
                                       loom_bytes* bytes, loom_error* error);

/* The step that the shards are of, with the bits of trainer_step: gradients meet in a binary
 * tree over the numbers of the shards, and clip_norm sees their sum. A shard of another
 * training, step or of other weights is refused by its number, and nothing changes.
 *   shards: handles of bytes: all shards of the step, in their order
 *   step: steps done since the beginning
 *   loss: mean loss of all shards, before the update
 *   lr: learning rate
 *   rows: rows of the step */
LOOM_API int32_t loom_trainer_apply(loom_trainer trainer, const int64_t* shards,
                                    size_t shards_count, int64_t* step, double* loss, double* lr,
                                    int64_t* rows, loom_error* error);

/* The moments of the optimizer.
 *   moments: JSON: [{name, rows, cols}]: 0.0.0.1:weight:velocity of sgd, :m and :v of adamw and
 *     adam, ... */
LOOM_API int32_t loom_trainer_moments(loom_trainer trainer, loom_bytes* moments, loom_error* error);

/* Copies a moment.
 *   name: as trainer_moments has it
 *   values: rows x cols */
LOOM_API int32_t loom_trainer_get_moment(loom_trainer trainer, const char* name, size_t name_size,
                                         double* values, size_t values_count, loom_error* error);

/* Copies values into a moment: to continue a training that another framework began.
 *   values: rows x cols */
LOOM_API int32_t loom_trainer_set_moment(loom_trainer trainer, const char* name, size_t name_size,
                                         const double* values, size_t values_count,
                                         loom_error* error);

/* As if this number of steps were done: the schedule, the order of samples, noise and Adam's
 * corrections count from there.
 *   step: 0 to the steps of the training */
LOOM_API int32_t loom_trainer_set_step(loom_trainer trainer, int64_t step, loom_error* error);

/* Makes the training longer, with the bits of one training of that length. Refused beyond the
 * end of a schedule that has one.
 *   steps: how many more; 0 with epochs
 *   epochs: or how many more passes over the data, to the end of the last; 0 with steps
 *   total: steps that the training has now */
LOOM_API int32_t loom_trainer_extend(loom_trainer trainer, int64_t steps, int64_t epochs,
                                     int64_t* total, loom_error* error);

/* Where the training stands, and its spec with everything resolved.
 *   info: JSON: step, steps, spec, arena_bytes (planned for the values of a step); with
 *     target_propagation after a step parts, a list of path, budget, gap, learned and, once
 *     measured, alignment and alignment_step, and reach */
LOOM_API int32_t loom_trainer_info(loom_trainer trainer, loom_bytes* info, loom_error* error);

/* From the next step on, statistics of the outputs of cells and of their gradients are kept
 * (docs/guide/observe.md): two events for each cell of an observed step, forward and backward.
 * Gradients are those of the mean loss. With weights there is an event for the gradient of each
 * parameter, too. No learned bit depends on it. Begins anew where the trainer is observed
 * already; after an error it is not observed. LOOM_UNSUPPORTED: a trainer on a device.
 *   options: JSON: every (1), passes (0), window (1), keep (64), nested (false), weights
 *     (false): docs/reference/options.md, trainer_observe */
LOOM_API int32_t loom_trainer_observe(loom_trainer trainer, const char* options,
                                      size_t options_size, loom_error* error);

/* Takes the events that trainer_observe has kept, the oldest first; none are left then. A step
 * whose loss is not finite has events, too.
 *   statistics: JSON: as of session_statistics; an event also has step, the number of its step
 *     from 1, and of a parameter role, with the direction weights. Gradients are as the update
 *     sees them before clip_norm; with a local method they are what it hands to a cell in their
 *     place; where none arrives count is 0. In backward events active_share is of |x| > 1e-6
 *     where x is the gradient of the row's own loss */
LOOM_API int32_t loom_trainer_statistics(loom_trainer trainer, loom_bytes* statistics,
                                         loom_error* error);

/* SHA-256 over step, weights and moments. */
LOOM_API int32_t loom_trainer_digest(loom_trainer trainer, loom_bytes* sha256, loom_error* error);

/* A checkpoint, which is an .entity file too, or a folder that network_load_adapter and PEFT
 * read.
 *   path: a file; a folder where an adapter learns */
LOOM_API int32_t loom_trainer_save(loom_trainer trainer, const char* path, size_t path_size,
                                   loom_error* error);

/* The same into memory. */
LOOM_API int32_t loom_trainer_save_bytes(loom_trainer trainer, loom_bytes* bytes,
                                         loom_error* error);

/* Resumes from a checkpoint, with the same bits. Another spec, topology or data is refused by
 * name. */
LOOM_API int32_t loom_trainer_resume(loom_trainer trainer, const char* path, size_t path_size,
                                     loom_error* error);

/* The same from memory. */
LOOM_API int32_t loom_trainer_resume_bytes(loom_trainer trainer, loom_bytes bytes,
                                           loom_error* error);

/* ---- training
 * Training from files as loom train does it: a spec, or data from which the rest is chosen.
 * Held-back samples judge it, and the best weights are kept. Not in the WebAssembly module. The
 * library reads CSV, idx, .npy, .txt, PGM and PPM by itself; other images through a decoder that
 * the host registers. */

/* Registers the decoder of all images that are no PGM or PPM, in place of one that was
 * registered before.
 *   decoder: copied, except `user` */
LOOM_API int32_t loom_image_decoder_register(const loom_image_decoder* decoder, loom_error* error);

/* Trainings that were opened with it keep it: release them first. */
LOOM_API int32_t loom_image_decoder_unregister(loom_error* error);

/* Reads spec and data and chooses the rest; no step runs yet. An error that concerns one option
 * alone begins with its name.
 *   options: JSON: spec, data, test, target, task, network, dtype, method, series, horizon,
 *     teacher, temperature, alpha, report (false), fp8 (false), steps (0), seed, out, resume
 *     (false), events, observe, observe_every (1), threads (0), isa, device, mode:
 *     docs/reference/options.md, training_open */
LOOM_API int32_t loom_training_open(const char* options, size_t options_size,
                                    loom_training* training, loom_error* error);

/* Where the training stands.
 *   info: JSON: notes: what was chosen and left out, line by line; parameters, weight_bytes (in
 *     memory), adapter_parameters (where an adapter learns), samples, step, steps, ended, early
 *     (nothing better came for long), table (report says something), spec, streams; device,
 *     note, numerics, threads */
LOOM_API int32_t loom_training_info(loom_training training, loom_bytes* info, loom_error* error);

/* Trains. Writes checkpoints to `out` where the spec asks for them.
 *   steps: at most; ends early behind a step that is logged or judged, and at the end
 *   report: JSON: of the last step: step, steps, loss, lr, loss_scale, skipped, heads, parts and
 *     reach (as of trainer_info), rows, epoch; ran (steps of this call), logged, validation (its
 *     figures) and validation_text, where it was judged; ended, early, failed (why events could
 *     not be written) */
LOOM_API int32_t loom_training_step(loom_training training, int64_t steps, loom_bytes* report,
                                    loom_error* error);

/* Judges the weights that are kept. The figures go into the file that is saved next.
 *   figures: JSON: step, best_step, validation, test, forecasts, report; null where nothing was
 *     held back or judged
 *   text: the same in words */
LOOM_API int32_t loom_training_judge(loom_training training, loom_bytes* figures, loom_bytes* text,
                                     loom_error* error);

/* Of a table, after training_judge: which columns the answers rest on, and the rows that went
 * worst.
 *   form: "text" or "svg" */
LOOM_API int32_t loom_training_report(loom_training training, const char* form, size_t form_size,
                                      loom_bytes* report, loom_error* error);

/* SHA-256 over step, weights and moments. */
LOOM_API int32_t loom_training_digest(loom_training training, loom_bytes* sha256,
                                      loom_error* error);

/* The kept network and the state that resumes; network_load reads it, too.
 *   path: a file; a folder where an adapter learns */
LOOM_API int32_t loom_training_save(loom_training training, const char* path, size_t path_size,
                                    loom_error* error);

/* The same into memory. */
LOOM_API int32_t loom_training_save_bytes(loom_training training, loom_bytes* bytes,
                                          loom_error* error);

/* ---- inputs
 * How raw data become rows of a network, and which names its answers have: the section `inputs`
 * of its file (docs/reference/entity.md), which predictors read. */

/* The section of the network's file, or of network_set_inputs.
 *   inputs: JSON: the section; null where there is none */
LOOM_API int32_t loom_network_inputs(loom_network network, loom_bytes* inputs, loom_error* error);

/* Sets names of columns and classes. The network's files and copies have them from then on.
 * Refused where they do not fit the network: another number of names than of inputs or outputs,
 * unknown keys.
 *   inputs: JSON: the section; null takes it away */
LOOM_API int32_t loom_network_set_inputs(loom_network network, const char* inputs,
                                         size_t inputs_size, loom_error* error);

/* ---- predictor
 * A trained network over raw data as it learned them: tables (CSV, with columns of text), arrays
 * (idx, .npy), images, .txt files, time series. An .entity file that training from files wrote
 * says how they become inputs and what answers mean; networks of specs and programs take values
 * as they are. Not in the WebAssembly module. */

/* Reads the network; no data yet.
 *   network: an .entity file
 *   options: JSON: threads (0), isa, device, mode: docs/reference/options.md, predictor_open */
LOOM_API int32_t loom_predictor_open(const char* network, size_t network_size, const char* options,
                                     size_t options_size, loom_predictor* predictor,
                                     loom_error* error);

/* Inputs and answers of the network, and the machine that computes.
 *   info: JSON: raw (the file says how raw data become inputs), series (it forecasts a time
 *     series), classes (0: it answers with values), labels (their names). Values of a row:
 *     inputs, outputs. bytes (of the weights in their formats), device, note (why `auto` took
 *     the CPU), numerics, threads */
LOOM_API int32_t loom_predictor_info(loom_predictor predictor, loom_bytes* info, loom_error* error);

/* Reads the data that predictor_next, predictor_measure and predictor_plan work on, in place of
 * those before. Errors name the file; those before then stay.
 *   data: a path: data of the form that the network learned from, with targets or without; of
 *     images and texts also a folder without classes, or one file. Where the file does not say
 *     what raw data mean: an array or a table of numbers, the inputs alone
 *   info: JSON: rows, targets (rows that have one), notes: what was left out, line by line */
LOOM_API int32_t loom_predictor_read(loom_predictor predictor, const char* data, size_t data_size,
                                     loom_bytes* info, loom_error* error);

/* The answers to the next rows of the data, from the first one after predictor_read.
 *   rows: at most; at least 1
 *   answers: JSON: [{row (from 1), file (where each row is one), class, probability (0 to 1),
 *     probabilities (of all classes)}], or values in place of the class: in the unit of the
 *     target, null where one is not finite. An empty list: all rows are answered */
LOOM_API int32_t loom_predictor_next(loom_predictor predictor, int64_t rows, loom_bytes* answers,
                                     loom_error* error);

/* Forecasts a time series after the table of training, or after `data`. Unsupported for other
 * networks.
 *   data: a table that continues the one of training; empty: none
 *   horizon: steps, 1 to 100000
 *   forecasts: JSON: forecasts: [{date, forecast, low80, high80, low95, high95, measured}], a
 *     step each, in the unit of the series; judged_steps: as many steps ahead were judged in
 *     training, the intervals of later ones are wider by the root of the steps; notes */
LOOM_API int32_t loom_predictor_forecast(loom_predictor predictor, const char* data,
                                         size_t data_size, int64_t horizon, loom_bytes* forecasts,
                                         loom_error* error);

/* Judges the answers by the targets of the data. An error where no row has one.
 *   figures: JSON: rows, loss (cross-entropy in nats, or the mean squared error), accuracy (0 to
 *     1) and confusion, or mae, rmse and r2; text: the same in words; bytes: of the weights in
 *     their formats */
LOOM_API int32_t loom_predictor_measure(loom_predictor predictor, loom_bytes* figures,
                                        loom_error* error);

/* Changes how all matrices are stored and multiplied, as network_morph does.
 *   format: f32, bf16, i8, i4, ternary, q4_0, ...: docs/reference/dtypes.md */
LOOM_API int32_t loom_predictor_morph(loom_predictor predictor, const char* format,
                                      size_t format_size, loom_error* error);

/* Chooses a format for each matrix by the targets of the data, and stores the network by the
 * plan; without a limit, in f32. The matrices have f32 values, as training leaves them.
 * Out_of_range where no formats meet the limit.
 *   options: JSON: bytes (0), ms (0), loss (0), formats ([]), rows (512), seed (0):
 *     docs/reference/options.md, predictor_plan
 *   report: JSON: rows (that losses were measured on), seed, measured (combinations), plan
 *     (where there is a limit), table: for each format, by falling bytes, {format, uniform: all
 *     matrices in it, plan: the best that is no larger, or with `ms` no slower}. A plan is
 *     {bytes, loss (null: not finite), ms (with `ms`), formats: {matrix: format}} */
LOOM_API int32_t loom_predictor_plan(loom_predictor predictor, const char* options,
                                     size_t options_size, loom_bytes* report, loom_error* error);

/* Writes the network in its formats as an .entity file, with what the one that was read says of
 * raw data. The path has the old content or the new, never a part. */
LOOM_API int32_t loom_predictor_save(loom_predictor predictor, const char* path, size_t path_size,
                                     loom_error* error);

/* ---- evaluator
 * How well a model predicts a text, and how far it is from another model: created over the ids
 * of a text, then run part by part. */

/* Nothing runs yet. Texts longer than the context are cut into windows.
 *   reference: 0: none; its vocabulary has the same size
 *   ids: of the text; at least two, with last_row one
 *   options: JSON: context (0), chunk (16), last_row (false), hash (false), threads (0), isa,
 *     device, mode, activations: docs/reference/options.md, evaluator_create */
LOOM_API int32_t loom_evaluator_create(loom_model model, loom_model reference, const int32_t* ids,
                                       size_t ids_count, const char* options, size_t options_size,
                                       loom_evaluator* evaluator, loom_error* error);

/* Runs the next rows: one for each id. An error where a model has changed since the evaluator
 * was made.
 *   logits: chunk x vocab_size, of which the first rows are filled; or none
 *   rows: rows that ran, at most chunk; 0: the text is done */
LOOM_API int32_t loom_evaluator_next(loom_evaluator evaluator, float* logits, size_t logits_count,
                                     int64_t* rows, loom_error* error);

/* The measures over what is done.
 *   info: JSON: done, rows (in all), tokens (predicted), loss (nats per token), perplexity; with
 *     a reference: reference_loss, kl, largest_kl, same_argmax; logits_sha256 (with hash, at the
 *     end); target, device, note, numerics, threads */
LOOM_API int32_t loom_evaluator_info(loom_evaluator evaluator, loom_bytes* info, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
