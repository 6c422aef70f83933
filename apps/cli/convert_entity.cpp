#include "convert_report.h"
namespace loom::cli {
Status convert_to_entity(const std::string&, const std::string& out, const std::string&, Report&) { return Status(Code::unsupported, out); }
}
