#include "command.h"
#include "console.h"
namespace loom::cli {
void add_train(CLI::App&, Action&) {}
}
