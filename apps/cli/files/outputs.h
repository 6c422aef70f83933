// What a command writes at its end, looked at before it begins. What is wrong is a usage error that
// ends the action; `what` begins its message: "--out". One thread.
#pragma once

#include <string>
#include <vector>

namespace loom::cli {

// How far the files of a folder count as its own.
enum class Depth { direct, all };
// Refuses an output that is one of the files that the command reads, through links and other
// spellings too. `inputs`: files, and folders with what lies in them; "" and what is not there are
// passed over. Of a folder, .entity files are no input: they may be replaced.
void check_not_input(const std::string& what, const std::string& out,
                     const std::vector<std::string>& inputs, Depth depth = Depth::direct);
// That, and that a file can be written there.
void check_file_output(const std::string& what, const std::string& out,
                       const std::vector<std::string>& inputs);
// Where a model lies; "" where there is none.
std::string located(const std::string& model);

}  // namespace loom::cli
