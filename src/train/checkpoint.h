// A training in a file: an .entity with the network as it runs, its masters, the optimizer's
// moments ("training/moments/..."), the method's matrices ("training/method/...") and the section
// "training" (step, spec, topology, hash of the data). Written atomically: a killed save leaves the
// old file.
#pragma once

#include <string>

#include "base/status.h"
#include "checkpoint/adapter_file.h"
#include "checkpoint/entity.h"
#include "train/judge/validation.h"
#include "train/trainer.h"

namespace loom {

// Where an adapter learns, `to` is a folder: the adapter as load_adapter reads it, and all that a
// training needs to resume in training.safetensors beside it; `extra` has no place there. `extra`:
// sections to put beside, for example a tokenizer. `best`: the weights that the file's network has;
// the ones to resume from then lie beside it, as "training/weights/...".
Status save_checkpoint(const Destination& to, Trainer& trainer, const EntitySections& extra = {},
                       const Best* best = nullptr, const AdapterBase& base = {});
// The error that save_checkpoint would end with before its first byte; `adapter`: it writes a
// folder.
Status check_checkpoint_output(const std::string& path, bool adapter);
// Resumes from the file, with the same bits. Refuses, leaving the trainer as it is, a file that is
// damaged, holds no training, or was made with another spec, topology or data: the error names what
// differs.
Status resume_checkpoint(const std::string& path, Trainer& trainer, Best* best = nullptr);
Status resume_checkpoint(SourcePtr source, Trainer& trainer, Best* best = nullptr);
// How many steps the training of a checkpoint was planned for, as its schedule says; 0 where that
// says nothing. Errors: as resume_checkpoint, for what is no checkpoint.
Result<std::int64_t> planned_steps(const std::string& path);

}  // namespace loom
