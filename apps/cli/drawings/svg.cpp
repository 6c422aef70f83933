#include "drawings/svg.h"

#include "files/files.h"
#include "support/console.h"

namespace loom::cli {

std::string text_at(double x, double y, const std::string& text, const char* anchor,
                    const std::string& color) {
  return "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" text-anchor=\"" + anchor +
         "\" fill=\"" + color + "\">" + xml_text(text) + "</text>\n";
}

}  // namespace loom::cli
