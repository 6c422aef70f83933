/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: saved programs. */
#ifndef LOOM_PROGRAM_H
#define LOOM_PROGRAM_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- program
 * Saved programs (docs/reference/program.md), which run with the weights of a network and
 * without its layers: what network_save_program and step_mesh_save_program wrote, here or on
 * another machine. Bytes are untrusted: what is malformed, or does not fit the network's
 * weights, is refused. Where values of the network change, the program uses them from the next
 * run on. */

/* A program that is ready to run, with all states 0. Programs that learn are refused.
 *   network: has every weight that the program names, in its format
 *   bytes: the saved program
 *   options: JSON: sequences (1), threads (0), isa, device, mode: docs/reference/options.md,
 *     program_create */
LOOM_API int32_t loom_program_create(loom_network network, loom_bytes bytes, const char* options,
                                     size_t options_size, loom_program* program, loom_error* error);

/* Sets a register. Numbers of rows are whole and at most the register's max; program_write sets
 * those that inputs have. A cancel that no run has seen ends this call, too.
 *   name: of a register, such as R
 *   value: one number */
LOOM_API int32_t loom_program_set(loom_program program, const char* name, size_t name_size,
                                  const double* value, size_t value_count, loom_error* error);

/* Sets all values of an input or state of f32 or f64. An input whose rows one register counts
 * sets that register.
 *   name: of an input, or a state (program_info)
 *   values: of an input any number of rows of of_row values (program_info); of a state all
 *     values */
LOOM_API int32_t loom_program_write(loom_program program, const char* name, size_t name_size,
                                    const float* values, size_t values_count, loom_error* error);

/* The same of f64 alone.
 *   values: as of program_write */
LOOM_API int32_t loom_program_write_f64(loom_program program, const char* name, size_t name_size,
                                        const double* values, size_t values_count,
                                        loom_error* error);

/* The same of u32 (from 0 on) and i32: ids, positions, sequences.
 *   values: as of program_write */
LOOM_API int32_t loom_program_write_ids(loom_program program, const char* name, size_t name_size,
                                        const int32_t* values, size_t values_count,
                                        loom_error* error);

/* Runs the program once. Every register must have been set, and every input have values for the
 * registers as they are; indices in inputs are checked against their limits. */
LOOM_API int32_t loom_program_run(loom_program program, loom_error* error);

/* All values of an output or state, those of f64 rounded.
 *   name: of an output or state
 *   values: rows x cols */
LOOM_API int32_t loom_program_read(loom_program program, const char* name, size_t name_size,
                                   float* values, size_t values_count, loom_error* error);

/* The same in double.
 *   values: rows x cols */
LOOM_API int32_t loom_program_read_f64(loom_program program, const char* name, size_t name_size,
                                       double* values, size_t values_count, loom_error* error);

/* All states are 0 again. */
LOOM_API int32_t loom_program_reset(loom_program program, loom_error* error);

/* A line per register, buffer and instruction. */
LOOM_API int32_t loom_program_text(loom_program program, loom_bytes* text, loom_error* error);

/* Registers and buffers of the program, and where it runs. `of_row`: the values of a row as the
 * register of an input counts rows; of other buffers all values.
 *   info: JSON: sha256, instructions, registers [{name, type, max, value}], buffers [{name, kind
 *     (input, output, state, weight), type (a weight's format), rows (for the registers as they
 *     are set), max_rows, cols, of_row}], target, device, note, numerics, threads */
LOOM_API int32_t loom_program_info(loom_program program, loom_bytes* info, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
