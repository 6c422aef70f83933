// Pieces that drawings share.
#pragma once

#include <string>

namespace loom::cli {

// A text element; `anchor`: "start", "middle" or "end".
std::string text_at(double x, double y, const std::string& text, const char* anchor = "start",
                    const std::string& color = "#111111");

}  // namespace loom::cli
