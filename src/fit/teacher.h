// Distillation (Hinton et al. 2015, arXiv 1503.02531): a network learns what another one, its
// teacher, returns for the samples. Internal to fit.
#pragma once

#include <atomic>
#include <string>

#include "base/threads/thread_pool.h"
#include "fit/job.h"

namespace loom {

// Makes the job one that learns the answers of `options.teacher`, an .entity or .onnx file: its
// loss, and the targets of all its samples, over which the teacher runs once. The words are those
// of welvet.distill. Errors begin with the option that they are about.
Status teach(Job& job, const FitOptions& options, ThreadPool& pool, const std::string& isa,
             const std::atomic<bool>* cancel);

}  // namespace loom
