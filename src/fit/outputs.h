// What a training writes at its end, looked at before it begins. No state; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace loom {

// How far the files of a folder count as its own.
enum class Depth { direct, all };
// Refuses an output that is one of the files that it reads, through links and other
// spellings too. `inputs`: files, and folders with what lies in them; "" and what is not there are
// passed over. Of a folder, .entity files are no input: they may be replaced.
Status check_not_input(const std::string& out, const std::vector<std::string>& inputs,
                       Depth depth = Depth::direct);

}  // namespace loom
