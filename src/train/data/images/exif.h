// How a camera was held: what the Exif segment of a JPEG says, and an image turned as a person
// sees it (Exif 2.32, section 4.6.4, "Orientation"). Plain data.
#pragma once

#include <cstddef>
#include <span>

#include "train/data/images/image.h"

namespace loom {

// 1 to 8; 1, as it is stored, where the bytes are no JPEG, say nothing, or are damaged there.
int orientation_of(std::span<const std::byte> jpeg);
// Whether rows become columns.
inline bool lies(int orientation) { return orientation >= 5; }
// The upright image, of one that is stored with that orientation.
Image upright(Image stored, int orientation);

}  // namespace loom
