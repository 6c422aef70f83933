/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: the WebGPU of a host. */
#ifndef LOOM_WEBGPU_H
#define LOOM_WEBGPU_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the host's, cast to this type. */
typedef void (*loom_function)(void);

/* ---- webgpu: The WebGPU that devices run through. */

/* Devices that are opened from now on run through the WebGPU of the host: a recent Dawn, which
 * stays loaded. Before LOOM_WEBGPU_LIBRARY and the libraries that are looked for. Loom makes an
 * instance and a device there: it shares the host's library, not its device, buffers or errors.
 * Objects that run keep the device that they have. LOOM_UNSUPPORTED: the first function that the
 * host does not know, by its name, and nothing changes; in WebAssembly always.
 *   get_proc_address: the host's wgpuGetProcAddress, or a function like it; NULL: not any more */
LOOM_API int32_t loom_use_webgpu(loom_function get_proc_address, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
