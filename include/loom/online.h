/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: learning beside answers. */
#ifndef LOOM_ONLINE_H
#define LOOM_ONLINE_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- online
 * Learning beside answers, in one thread: a network answers with published weights, and learns a
 * copy of them in slices of time (docs/reference/online.md). */

/* Refused by name for keys of the spec that are of data which a trainer reads, and for networks
 * whose rows depend on rows before them.
 *   network: is copied, and stays as it is until online_commit
 *   spec: JSON: a training spec without network, data and epochs; without steps it has no end,
 *     without batch that is 32 (docs/reference/training-spec.md)
 *   options: JSON: the keys of loom_online_options: docs/reference/options.md, online_create */
LOOM_API int32_t loom_online_create(loom_network network, const char* spec, size_t spec_size,
                                    const char* options, size_t options_size, loom_online* online,
                                    loom_error* error);

/* Answers with the published weights. Allocates nothing.
 *   x: rows x input width
 *   y: rows x output width
 *   first: number of the first of these answers, counted from 0 */
LOOM_API int32_t loom_online_answer(loom_online online, const float* x, size_t x_count, float* y,
                                    size_t y_count, int64_t* first, loom_error* error);

/* online_answer for a network that takes ids.
 *   ids: rows x the ids of a row
 *   y: rows x output width
 *   first: as of online_answer */
LOOM_API int32_t loom_online_answer_ids(loom_online online, const int32_t* ids, size_t ids_count,
                                        float* y, size_t y_count, int64_t* first,
                                        loom_error* error);

/* Judges answers, and keeps them as samples to learn from. LOOM_NOT_FOUND where an answer has
 * its feedback, or is no longer kept.
 *   first: number of an answer
 *   targets: rows x output width: what would have been right for that answer and those after it */
LOOM_API int32_t loom_online_feedback(loom_online online, int64_t first, const float* targets,
                                      size_t targets_count, loom_error* error);

/* online_feedback for the loss cross_entropy.
 *   first: as of online_feedback
 *   classes: one for each row, or for each place of a row; those that are `ignore` of the spec
 *     do not count */
LOOM_API int32_t loom_online_feedback_classes(loom_online online, int64_t first,
                                              const int32_t* classes, size_t classes_count,
                                              loom_error* error);

/* Samples to learn from that were not answered. */
LOOM_API int32_t loom_online_add(loom_online online, loom_data data, loom_error* error);

/* Says that the task has changed. Changes that nobody says are detected.
 *   task: a name */
LOOM_API int32_t loom_online_task(loom_online online, const char* task, size_t task_size,
                                  loom_error* error);

/* Learns, and publishes what was learned. Needs one of the limits; with steps alone the result
 * does not depend on time. Returns at once where there are no samples. loom_cancel ends it; the
 * next call does the same step again.
 *   microseconds: after which it returns, in the midst of a step where need be; -1: no limit
 *   steps: after which it returns; 0: no limit
 *   done: steps that this call has completed */
LOOM_API int32_t loom_online_learn(loom_online online, int64_t microseconds, int64_t steps,
                                   int64_t* done, loom_error* error);

/* Answers have the weights of the last complete step from now on, without waiting for
 * online_learn. */
LOOM_API int32_t loom_online_publish(loom_online online, loom_error* error);

/* The accuracy of the published weights on samples; the report keeps it, for forgetting.
 *   data: held samples
 *   task: the name that the report has */
LOOM_API int32_t loom_online_measure(loom_online online, loom_data data, const char* task,
                                     size_t task_size, double* accuracy, loom_error* error);

/* Copies the published weights to the network of online_create, with the dtype of quantize.
 * Refused where its topology has changed since. */
LOOM_API int32_t loom_online_commit(loom_online online, loom_error* error);

/* Accuracy by window and by task, recovery, forgetting, latency.
 *   report: JSON: docs/reference/online.md */
LOOM_API int32_t loom_online_report(loom_online online, loom_bytes* report, loom_error* error);

/* Where it stands: task, accuracy, steps, samples; its machine.
 *   info: JSON: docs/reference/online.md */
LOOM_API int32_t loom_online_info(loom_online online, loom_bytes* info, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
