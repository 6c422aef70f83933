// Images that a host decodes. Internal. Not in the WebAssembly module.
#pragma once

#include "train/data/images/image.h"

namespace loom::c_api {

// The decoder that the host has registered, which lives as long as this one; empty: none.
ImageDecoder image_decoder();

}  // namespace loom::c_api
