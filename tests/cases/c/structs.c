/* Structs of options as a program in C99 uses them; run.py compiles and runs it with the cases. */
#include <loom/loom.h>
#include <stdio.h>
#include <string.h>

static loom_error error;
static int failures;

static void expect(int good, const char* what) {
  if (!good) printf("structs.c: %s: %s\n", what, error.message), ++failures;
  error.message[0] = 0;
}

static void refused(int32_t code, int32_t wanted, const char* part, const char* what) {
  expect(code == wanted && error.code == wanted && strstr(error.message, part) != NULL, what);
}

/* As a program that was built with a later header has it. */
struct later {
  loom_session_options known;
  int64_t more;
};

static void sizes(loom_network network) {
  struct later later = {LOOM_SESSION_OPTIONS_INIT, 0};
  loom_session_options o = LOOM_SESSION_OPTIONS_INIT;
  loom_session s = 0;
  size_t wrong;
  later.known.size = sizeof later;
  expect(loom_session_create_with(network, &later.known, &s, &error) == LOOM_OK, "a later struct");
  loom_release(s, NULL);
  later.more = 1;
  refused(loom_session_create_with(network, &later.known, &s, &error), LOOM_UNSUPPORTED,
          "loom_session_options", "a later member");
  for (wrong = 0; wrong < sizeof o; ++wrong) {
    o.size = wrong;
    refused(loom_session_create_with(network, &o, &s, &error), LOOM_INVALID_ARGUMENT,
            "LOOM_SESSION_OPTIONS_INIT", "a wrong size");
  }
  o.size = (size_t)-1;
  refused(loom_session_create_with(network, &o, &s, &error), LOOM_INVALID_ARGUMENT,
          "LOOM_SESSION_OPTIONS_INIT", "the largest size");
}

static void sessions(loom_network network) {
  loom_session_options o = LOOM_SESSION_OPTIONS_INIT;
  loom_session s = 0, twice = 0;
  char isa[] = "generic";
  float x[8] = {0}, y[4];
  o.max_rows = 4;
  o.isa = isa;
  expect(loom_session_create_with(network, &o, &s, &error) == LOOM_OK, "a session");
  expect(loom_session_create_with(network, &o, &twice, &error) == LOOM_OK, "another of the same");
  memset(isa, 'x', sizeof isa - 1); /* the text was copied */
  expect(loom_session_run(s, 4, x, 8, y, 4, &error) == LOOM_OK, "a run");
  refused(loom_session_create_with(network, &o, &s, &error), LOOM_INVALID_ARGUMENT, "xxxxxxx",
          "an unknown isa");
  o.isa = "";
  o.max_rows = -1;
  refused(loom_session_create_with(network, &o, &s, &error), LOOM_INVALID_ARGUMENT,
          "options: \"max_rows\" must be at least 1", "no rows");
  loom_release(s, NULL);
  loom_release(twice, NULL);
  expect(loom_session_create_with(network, NULL, &s, &error) == LOOM_OK, "all defaults");
  loom_release(s, NULL);
}

static void trainings(loom_network network) {
  const float x[] = {0, 0, 0, 1, 1, 0, 1, 1}, y[] = {0, 1, 1, 0};
  loom_training_options o = LOOM_TRAINING_OPTIONS_INIT;
  loom_data data = 0;
  loom_trainer trainer = 0;
  int64_t step, rows;
  double loss, lr;
  expect(loom_data_values(x, 8, 2, y, 4, 1, &data, &error) == LOOM_OK, "data");
  refused(loom_trainer_create_with(network, data, NULL, &trainer, &error), LOOM_INVALID_ARGUMENT,
          "steps", "no steps");
  o.optimizer = "sgd";
  o.momentum = 0.5;
  o.lr = 0.25;
  o.steps = 3;
  o.batch = 4;
  o.threads = 1;
  o.spec = "{\"optimizer\": {\"nesterov\": true}}";
  expect(loom_trainer_create_with(network, data, &o, &trainer, &error) == LOOM_OK, "a trainer");
  expect(loom_trainer_step(trainer, 9, &step, &loss, &lr, &rows, &error) == LOOM_OK, "steps");
  expect(step == 3 && lr == 0.25 && rows == 12, "what the steps say");
  o.spec = "{\"optimizer\": {\"momentum\": 0}}";
  refused(loom_trainer_create_with(network, data, &o, &trainer, &error), LOOM_INVALID_ARGUMENT,
          "\"momentum\" of \"optimizer\" is given", "a key given twice");
  loom_release(trainer, NULL);
  loom_release(data, NULL);
}

static void texts(void) {
  static const char* const stops[] = {"\n", "park"};
  loom_generator_options o = LOOM_GENERATOR_OPTIONS_INIT;
  loom_sampling_options sampling = LOOM_SAMPLING_OPTIONS_INIT;
  loom_model model = 0;
  loom_generator generator = 0;
  loom_bytes text;
  int32_t finish = LOOM_FINISH_MORE, id;
  if (loom_model_load("embedded", 8, NULL, 0, &model, &error) == LOOM_UNSUPPORTED) return;
  o.context = 64;
  expect(loom_generator_create_with(model, &o, &generator, &error) == LOOM_OK, "a generator");
  expect(loom_generator_feed_text(generator, 0, "Once", 4, &error) == LOOM_OK, "a prompt");
  sampling.stop = stops;
  refused((sampling.stop_count = 0, sampling.ignore_eos = 3,
           loom_generator_start_with(generator, 0, &sampling, &error)),
          LOOM_INVALID_ARGUMENT, "\"ignore_eos\" must be 0 or 1, got 3", "a flag of 3");
  sampling.stop_count = 2;
  sampling.ignore_eos = 1;
  sampling.max_tokens = 20;
  expect(loom_generator_start_with(generator, 0, &sampling, &error) == LOOM_OK, "a text");
  while (finish == LOOM_FINISH_MORE) {
    if (loom_generator_next(generator, &finish, &id, &text, &error) != LOOM_OK) break;
    loom_release(text, NULL);
  }
  expect(finish == LOOM_FINISH_LENGTH || finish == LOOM_FINISH_STOP, "the end of a text");
  loom_release(generator, NULL);
  loom_release(model, NULL);
}

int main(void) {
  const char* topology =
      "{\"format\": \"loom-topology\", \"version\": 3, \"input\": {\"width\": 2},"
      " \"cells\": [{\"at\": [0, 0, 0, 0], \"type\": \"dense\", \"out\": 1}]}";
  loom_network network = 0;
  int64_t left = -1;
  expect(loom_network_create(topology, strlen(topology), &network, &error) == LOOM_OK, "a network");
  sizes(network);
  sessions(network);
  trainings(network);
  loom_release(network, NULL);
  texts();
  loom_live_handles(&left, NULL);
  expect(left == 0, "handles were lost");
  return failures > 0;
}
