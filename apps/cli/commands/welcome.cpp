// loom alone: what the program can do.
#include "command.h"
#include "console.h"

namespace loom::cli {

int welcome() {
  return print("loom run MODEL \"Once upon a time\"   continue a text: HuggingFace folder, .safetensors, .gguf\n"
               "loom chat MODEL                     a conversation\n"
               "loom show FILE                      what is in a file, without loading it\n"
               "loom train SPEC.json --out FILE     train a network\n"
               "loom --help                         everything else\n")
             ? kOk
             : kFailed;
}

}  // namespace loom::cli
