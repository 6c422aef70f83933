/* Trains a small network to recognize points inside a ring, saves it, loads it and predicts.
 * cc predict.c -lloom -o predict && ./predict */
#include <stdio.h>
#include <string.h>

#include <loom/loom.h>

enum { SAMPLES = 2000, LEARNED = 1500 };

/* Every call that can fail returns a code and fills the caller's error. */
#define TRY(call)                                 \
  do {                                            \
    if ((call) != LOOM_OK) return failed(&error); \
  } while (0)

static int failed(const loom_error* error) {
  fprintf(stderr, "%s: %s\n", loom_code_name(error->code), error->message);
  return 1;
}

/* Points of a square, and whether each lies inside the ring; the same on every machine. */
static void make_samples(float* points, int32_t* inside) {
  uint32_t random = 1;
  for (int i = 0; i < 2 * SAMPLES; ++i) {
    random = random * 1664525u + 1013904223u;
    points[i] = (float)(random >> 8) / (float)(1 << 23) - 1;
  }
  for (int i = 0; i < SAMPLES; ++i) {
    const float x = points[2 * i], y = points[2 * i + 1], square = x * x + y * y;
    inside[i] = square > 0.2f && square < 0.7f;
  }
}

static int train(const float* points, const int32_t* inside, const char* path) {
  const char* topology =
      "{\"format\": \"loom-topology\", \"version\": 1, \"layers_per_cell\": 3,"
      " \"input\": {\"width\": 2}, \"cells\": ["
      "{\"at\": [0,0,0,0], \"type\": \"dense\", \"out\": 32, \"activation\": \"tanh\"},"
      "{\"at\": [0,0,0,1], \"type\": \"dense\", \"out\": 16, \"activation\": \"tanh\"},"
      "{\"at\": [0,0,0,2], \"type\": \"dense\", \"out\": 2}]}";
  loom_training_options training = LOOM_TRAINING_OPTIONS_INIT;
  loom_error error;
  loom_network network;
  loom_data data;
  loom_trainer trainer;
  int64_t step = 0, rows = 0;
  double loss = 0, rate = 0;

  TRY(loom_network_create(topology, strlen(topology), &network, &error));
  TRY(loom_network_initialize(network, 1, &error));
  TRY(loom_data_classes(points, 2 * LEARNED, 2, inside, LEARNED, &data, &error));
  training.loss = "cross_entropy";
  training.schedule = "cosine";
  training.lr = 0.01;
  training.epochs = 60;
  training.batch = 32;
  TRY(loom_trainer_create_with(network, data, &training, &trainer, &error));
  do {
    TRY(loom_trainer_step(trainer, 1000, &step, &loss, &rate, &rows, &error));
    if (rows > 0) printf("step %lld  loss %.4f\n", (long long)step, loss);
  } while (rows > 0);
  TRY(loom_network_save(network, path, strlen(path), &error));
  loom_release(trainer, NULL);
  loom_release(data, NULL);
  loom_release(network, NULL);
  return 0;
}

static int predict(const float* points, const int32_t* inside, const char* path) {
  static float scores[2 * (SAMPLES - LEARNED)];
  loom_session_options options = LOOM_SESSION_OPTIONS_INIT;
  const int rows = SAMPLES - LEARNED;
  loom_error error;
  loom_network network;
  loom_session session;
  int right = 0;

  TRY(loom_network_load(path, strlen(path), &network, &error));
  options.max_rows = rows;
  TRY(loom_session_create_with(network, &options, &session, &error));
  TRY(loom_session_run(session, rows, points, 2 * (size_t)rows, scores, 2 * (size_t)rows, &error));
  for (int i = 0; i < rows; ++i) right += (scores[2 * i + 1] > scores[2 * i]) == inside[i];
  printf("%d of %d points that it has not seen are told right\n", right, rows);

  /* A wrong call is refused, and says why. */
  if (loom_session_run(session, rows, points, 7, scores, 2 * (size_t)rows, &error) == LOOM_OK)
    return 1;
  printf("refused, as it should be: %s\n", error.message);
  loom_release(session, NULL);
  loom_release(network, NULL);
  return right < 0.95 * rows;
}

int main(void) {
  static float points[2 * SAMPLES];
  static int32_t inside[SAMPLES];
  make_samples(points, inside);
  if (train(points, inside, "ring.entity") != 0) return 1;
  return predict(points + 2 * LEARNED, inside + LEARNED, "ring.entity");
}
