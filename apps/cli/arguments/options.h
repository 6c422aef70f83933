// The options of a command. CLI11 reads them, behind options.cpp: in every file of the program its
// templates would take longer to compile than the file itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace loom::cli {

// The group of options that help has no line for. (Without a group, errors would not name them.)
inline constexpr const char* kDescribedElsewhere = "described elsewhere";

// One option, as CommandLine::add or flag made it. A copy means the same option; it lives as long
// as the command line does.
class Option {
 public:
  explicit Option(CLI::Option* option = nullptr) : option_(option) {}

  Option required() const;
  // The text of another option describes it: help has no line for it, so that it is one screen.
  Option described_elsewhere() const;
  Option excludes(const Option& other) const;  // not both
  Option type_name(const char* name) const;    // what help calls its value
  Option delimiter(char between) const;        // several values in one word
  Option one_value() const;                    // per use of its name
  Option no_stdin() const;  // "-", which other programs take for standard input, is refused
  Option positive() const;
  Option not_negative() const;
  Option within(double min, double max) const;
  Option between(std::int64_t min, std::int64_t max) const;
  Option one_of(const std::vector<std::string>& names, bool any_case = false) const;
  // `problem` says what is wrong with a value; "" is right. `name` is what help calls it.
  Option check(const char* name, std::function<std::string(const std::string&)> problem) const;

  bool given() const;  // on this command line or by the environment

 private:
  CLI::Option* option_;
};

// A name is "--long", or WORD for a positional one.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(app) {}

  Option add(const char* name, std::string& value, const std::string& about);
  Option add(const char* name, int& value, const std::string& about);
  Option add(const char* name, std::int64_t& value, const std::string& about);
  Option add(const char* name, std::uint64_t& value, const std::string& about);
  Option add(const char* name, double& value, const std::string& about);
  Option add(const char* name, std::optional<double>& value, const std::string& about);
  Option add(const char* name, std::optional<std::int64_t>& value, const std::string& about);
  Option add(const char* name, std::vector<std::string>& values, const std::string& about);
  Option add(const char* name, std::vector<std::int32_t>& values, const std::string& about);
  Option flag(const char* name, bool& value, const std::string& about);

 private:
  CLI::App& app_;
};

}  // namespace loom::cli
