// loom chat: a conversation. Answers go to stdout, the rest to stderr; the cache of what was said
// before is reused.
#include <signal.h>
#include <unistd.h>

#include <iostream>

#include "console.h"
#include "generation.h"
#include "llm/embedded_model.h"
#include "text/chat.h"

namespace loom::cli {
namespace {

struct Args {
  ModelOptions model{.model = std::string(kEmbeddedModel)};
  SamplingOptions sampling;
  std::string system, variables;
};

constexpr const char* kHelp =
    "/reset         begin anew\n"
    "/system TEXT   begin anew with these instructions\n"
    "/history       what was said\n"
    "/undo          take back the last question and its answer\n"
    "/quit          leave (or Ctrl-D); Ctrl-C stops an answer";

void bind(CommandLine& c, Args& a) {
  c.add("MODEL", a.model.model,
        "a folder, a file, or a name in the local HuggingFace cache; without it: the model inside "
        "the program, which continues stories");
  c.add("--system", a.system, "instructions that stand before the conversation");
  c.add("--variables", a.variables,
        "variables of the model's chat template, an object in JSON, such as "
        "'{\"enable_thinking\": false}'");
  bind_sampling_options(c, a.sampling);
  bind_model_options(c, a.model);
}

class Chat {
 public:
  Chat(const Args& a, OpenModel& opened, bool chat, ChatOptions template_options,
       Generator generator)
      : args_(a),
        model_(opened.model),
        chat_(chat),
        template_options_(std::move(template_options)),
        generator_(std::move(generator)) {
    reset(a.system);
  }

  int loop() {
    const Interrupt interrupt;
    const bool terminal = isatty(STDIN_FILENO) == 1;
    for (;;) {
      if (terminal) std::fputs("> ", stderr);
      std::string line;
      if (!std::getline(std::cin, line)) {
        if (!Interrupt::pressed()) return kOk;
        if (left()) return Interrupt::code();
        say("\n(/quit or Ctrl-C again to leave)");
        std::cin.clear();
        std::clearerr(stdin);
        continue;
      }
      Interrupt::reset();
      if (line.ends_with('\r')) line.pop_back();
      if (line.empty()) continue;
      if (line[0] == '/') {
        if (!command(line)) return kOk;
      } else if (const Status status = answer(line); !status.ok()) {
        return fail(status, kFailed);
      }
      if (!print_problem().empty()) return kFailed;
      if (left()) return Interrupt::code();
      Interrupt::reset();
    }
  }

 private:
  // Ctrl-C stops an answer; the other signals end the program.
  static bool left() { return Interrupt::pressed() && Interrupt::code() != 128 + SIGINT; }
  void reset(const std::string& system) {
    messages_.clear();
    if (!system.empty()) messages_.push_back({"system", system});
  }

  // False: leave.
  bool command(const std::string& line) {
    const std::string word = line.substr(0, line.find(' '));
    const std::string rest = line.size() > word.size() ? line.substr(word.size() + 1) : "";
    if (word == "/quit" || word == "/exit") return false;
    if (word == "/reset")
      reset(messages_.empty() || messages_[0].role != "system" ? ""
                                                               : std::string(messages_[0].content));
    else if (word == "/system") reset(rest);
    else if (word == "/undo") {
      while (!messages_.empty() && messages_.back().role == "assistant") messages_.pop_back();
      if (!messages_.empty() && messages_.back().role == "user") messages_.pop_back();
    } else if (word == "/history") {
      for (const ChatMessage& m : messages_) say(m.role + ": " + m.content);
    } else {
      if (word != "/help") say("there is no command " + word);
      say(kHelp);
    }
    return true;
  }

  // An error that ends the program; what the user can mend is said and the question taken back.
  Status answer(const std::string& question) {
    messages_.push_back({"user", question});
    GenerateOptions options = generate_options_of(args_.sampling, model_);
    if (chat_) options.end = chat_stop_ids(*model_.tokenizer, messages_, template_options_);
    options.on_text = [](std::string_view text) {
      if (!print(text)) Interrupt::give_up();  // nobody reads it
    };
    auto ids = chat_ ? render_chat(*model_.tokenizer, messages_, template_options_)
                     : model_.tokenizer->encode(question);
    Status status = ids.status();
    Generation generation;
    if (ids.ok()) status = generator_.feed(*ids);
    if (status.ok()) status = generator_.generate(options, &generation);
    print("\n");
    if (status.code() == Code::cancelled ||
        (status.ok() && generation.text.empty() && generation.finish == Finish::cancelled)) {
      messages_.pop_back();
      say("(stopped; the question is taken back)");
      return {};
    }
    if (!status.ok()) {
      if (generation.text.empty()) messages_.pop_back();
      else messages_.push_back({"assistant", generation.text});
      fail(status, kFailed);
      return status.code() == Code::out_of_range || status.code() == Code::invalid_argument
                 ? Status()
                 : status;
    }
    messages_.push_back({"assistant", generation.text});
    say(summary_line(generator_.statistics(), generation));
    return {};
  }

  const Args& args_;
  Model& model_;
  bool chat_;  // false: every line begins a story
  ChatOptions template_options_;
  Generator generator_;
  std::vector<ChatMessage> messages_;
};

int run(const Args& a) {
  LOOM_OR_EXIT(OpenModel opened, open_model(a.model), kRefused);
  if (!opened.model.tokenizer.ok()) return fail(opened.model.tokenizer.status(), kRefused);
  if (const Status c = check_context(opened.model.config, a.model.context); !c.ok())
    return fail(c.at("--ctx"), kUsage);
  const bool chat = a.model.model != kEmbeddedModel;
  ChatOptions options;
  if (chat) {
    if (const Status c = check_chat_template(opened.model.tokenizer->chat_template()); !c.ok())
      return fail(c, kRefused);
    if (!a.variables.empty()) {
      LOOM_OR_EXIT(options.variables, Json::parse(a.variables), kUsage);
      if (!options.variables.is_object())
        return fail(Status(Code::invalid_argument, "--variables: expected an object in JSON"),
                    kUsage);
    }
  } else if (!a.system.empty() || !a.variables.empty()) {
    const std::string option = a.system.empty() ? "--variables" : "--system";
    return fail(Status(Code::invalid_argument,
                       "the embedded model continues stories and takes no instructions: leave " +
                           option + " out"),
                kUsage);
  }
  LOOM_OR_EXIT(Generator generator,
               Generator::create(opened.model, *opened.pool, generator_options_of(a.model, opened)),
               kFailed);
  say(status_line(a.model, opened, &generator.session()) + "  \u00b7  " +
      (chat ? "the model's chat template" : "no chat: it continues the story that you begin"));
  say("/help lists the commands");
  return Chat(a, opened, chat, std::move(options), std::move(generator)).loop();
}

}  // namespace

void add_chat(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "chat", "a conversation with a model", bind, run);
}

}  // namespace loom::cli
