// Images other than PGM and PPM, for trainings and predictions.
#pragma once

namespace loom::cli {

// Registers the decoder of decode_image.h with the library (loom_image_decoder_register).
void register_image_decoder();

}  // namespace loom::cli
