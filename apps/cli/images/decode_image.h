// PNG, JPEG, BMP and GIF (its first image), by stb_image where the program was built with it.
// Without state: any thread.
#pragma once

#include "train/data/images/image.h"

namespace loom::cli {

// Errors say what is wrong with the bytes; unsupported, with how to get it, where the program was
// built without stb_image.
ImageDecoder image_decoder();

}  // namespace loom::cli
