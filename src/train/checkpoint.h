// A training in a file: an .entity with the network as it runs, its masters, the optimizer's moments ("training/moments/...") and the
// section "training" (step, spec, topology, hash of the data). Written atomically: a killed save leaves the old file.
#pragma once

#include <string>

#include "base/status.h"
#include "checkpoint/entity.h"
#include "train/trainer.h"

namespace loom {

// `extra`: sections to put beside, for example a tokenizer.
Status save_checkpoint(const Destination& to, Trainer& trainer, const EntitySections& extra = {});
// Goes on where the file left off, with the same bits. Refuses, leaving the trainer as it is, a file that is damaged, holds no
// training, or was made with another spec, topology or data: the error names what differs.
Status resume_checkpoint(const std::string& path, Trainer& trainer);
Status resume_checkpoint(SourcePtr source, Trainer& trainer);

}  // namespace loom
