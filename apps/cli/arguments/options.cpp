#include "arguments/options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "command.h"

namespace loom::cli {
namespace {

// Text that is no number has the message of its conversion.
CLI::Validator number_check(bool (*right)(double), const char* what) {
  return CLI::Validator(
      [right, what](std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool number = !text.empty() && *end == '\0';
        return number && !right(value) ? what + (", got " + text) : std::string();
      },
      "");
}

}  // namespace

Option Option::described_elsewhere() const {
  option_->group(kDescribedElsewhere);
  return *this;
}
Option Option::required() const { return option_->required(), *this; }
Option Option::excludes(const Option& other) const {
  return option_->excludes(other.option_), *this;
}
Option Option::type_name(const char* name) const { return option_->type_name(name), *this; }
Option Option::delimiter(char between) const { return option_->delimiter(between), *this; }
Option Option::one_value() const { return option_->allow_extra_args(false), *this; }
Option Option::no_stdin() const {
  return check("", [](const std::string& text) -> std::string {
    return text == "-" ? "standard input is not read here: give a file" : "";
  });
}
Option Option::positive() const {
  option_->check(number_check([](double v) { return v > 0; }, "must be above 0"));
  return *this;
}
Option Option::not_negative() const {
  option_->check(number_check([](double v) { return v >= 0; }, "must not be below 0"));
  return *this;
}
Option Option::within(double min, double max) const {
  return option_->check(CLI::Range(min, max)), *this;
}
Option Option::between(std::int64_t min, std::int64_t max) const {
  return option_->check(CLI::Range(min, max)), *this;
}
Option Option::one_of(const std::vector<std::string>& names, bool any_case) const {
  if (any_case) option_->check(CLI::IsMember(names, CLI::ignore_case));
  else option_->check(CLI::IsMember(names));
  return *this;
}
Option Option::check(const char* name,
                     std::function<std::string(const std::string&)> problem) const {
  option_->check(CLI::Validator([problem](std::string& text) { return problem(text); }, name));
  return *this;
}
bool Option::given() const { return option_->count() > 0; }

#define LOOM_ADD(type)                                                               \
  Option CommandLine::add(const char* name, type& value, const std::string& about) { \
    return Option(app_.add_option(name, value, about));                              \
  }
LOOM_ADD(std::string)
LOOM_ADD(int)
LOOM_ADD(std::int64_t)
LOOM_ADD(std::uint64_t)
LOOM_ADD(double)
LOOM_ADD(std::optional<double>)
LOOM_ADD(std::optional<std::int64_t>)
LOOM_ADD(std::vector<std::string>)
LOOM_ADD(std::vector<std::int32_t>)
#undef LOOM_ADD
Option CommandLine::flag(const char* name, bool& value, const std::string& about) {
  return Option(app_.add_flag(name, value, about));
}

void add_command(CLI::App& app, Action& action, const char* name, const char* about,
                 const std::function<void(CommandLine&)>& bind, std::function<int()> run) {
  CLI::App* const command = app.add_subcommand(name, about);
  CommandLine line(*command);
  bind(line);
  command->final_callback([run = std::move(run), &action] { action = run; });
}

}  // namespace loom::cli
