// loom chat: a conversation. Answers go to stdout, the rest to stderr; the cache of what was said
// before is reused.
#include <signal.h>
#include <unistd.h>

#include <iostream>

#include "models/generation.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  ModelOptions model{.model = kEmbeddedModel};
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

struct Message {
  std::string role, content;
};

class Chat {
 public:
  // `variables`: of the chat template; without `chat` every line begins a story.
  Chat(const Args& a, const LoadedModel& model, bool chat, Json variables, Generator generator)
      : args_(a),
        model_(model),
        chat_(chat),
        variables_(std::move(variables)),
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
      } else {
        answer(line);
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
      for (const Message& m : messages_) say(m.role + ": " + m.content);
    } else {
      if (word != "/help") say("there is no command " + word);
      say(kHelp);
    }
    return true;
  }

  // The conversation as the interface takes it.
  std::string conversation() const {
    Json messages = Json::array(), all = Json::object();
    for (const Message& m : messages_) {
      Json message = Json::object();
      message.set("role", m.role);
      message.set("content", m.content);
      messages.push(std::move(message));
    }
    all.set("messages", std::move(messages));
    all.set("variables", variables_);
    return all.dump();
  }

  // What the user can mend is said and the question taken back; other errors end the program.
  void answer(const std::string& question) {
    messages_.push_back({"user", question});
    Receivers receivers;
    receivers.on_text = [](std::string_view text) {
      if (!print(text)) Interrupt::give_up();  // nobody reads it
    };
    const auto feed = [&] {
      if (chat_) generator_.feed_chat(conversation());
      else generator_.feed_text(question);
    };
    Answer answer;
    try {
      generate(generator_, feed, start_options(args_.sampling, model_, args_.sampling.tokens),
               receivers, answer);
    } catch (const Error& error) {
      print("\n");
      if (answer.text.empty()) messages_.pop_back();
      else messages_.push_back({"assistant", answer.text});
      const bool mended =
          error.code() == LOOM_OUT_OF_RANGE || error.code() == LOOM_INVALID_ARGUMENT;
      if (!mended) throw;
      say("loom: " + problem_text(error));
      return;
    }
    print("\n");
    if (answer.cancelled() && answer.text.empty()) {
      messages_.pop_back();
      say("(stopped; the question is taken back)");
      return;
    }
    messages_.push_back({"assistant", answer.text});
    say(summary_line(parsed(generator_.info()), answer));
  }

  const Args& args_;
  const LoadedModel& model_;
  bool chat_;  // false: every line begins a story
  Json variables_;
  Generator generator_;
  std::vector<Message> messages_;
};

Exit usage(const std::string& what) { return problem(LOOM_INVALID_ARGUMENT, what, kUsage); }

int run(const Args& a) {
  const LoadedModel model = load_model(a.model);
  if (!model.tokenizer) throw Exit{model.no_tokenizer, kRefused};
  check_context(model, a.model.context);
  const bool chat = a.model.model != kEmbeddedModel;
  Json variables = Json::object();
  if (chat) {
    const Json info = parsed(model.tokenizer->info());
    if (!flag_in(info, "chat")) throw Exit{text_in(info, "no_chat"), kRefused};
    if (!a.variables.empty()) {
      const auto given = Json::parse(a.variables);
      if (!given.ok())
        throw problem(static_cast<std::int32_t>(given.status().code()), given.status().message(),
                      kUsage);
      if (!given->is_object()) throw usage("--variables: expected an object in JSON");
      variables = *given;
    }
  } else if (!a.system.empty() || !a.variables.empty()) {
    const std::string option = a.system.empty() ? "--variables" : "--system";
    throw usage("the embedded model continues stories and takes no instructions: leave " + option +
                " out");
  }
  Generator generator = generator_of(a.model, model);
  const Json info = parsed(generator.info());
  say_note(info);
  say(status_line(a.model, model, info) + "  \u00b7  " +
      (chat ? "the model's chat template" : "no chat: it continues the story that you begin"));
  say("/help lists the commands");
  return Chat(a, model, chat, std::move(variables), std::move(generator)).loop();
}

}  // namespace

void add_chat(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "chat", "a conversation with a model", bind, run);
}

}  // namespace loom::cli
