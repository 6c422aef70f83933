/* Tells a story with the embedded model. cc story.c -lloom */
#include <stdio.h>
#include <string.h>

#include <loom/loom.h>

static int failed(const loom_error* error) {
  fprintf(stderr, "%s: %s\n", loom_code_name(error->code), error->message);
  return 1;
}

int main(void) {
  const char* prompt = "Once upon a time";
  loom_sampling_options sampling = LOOM_SAMPLING_OPTIONS_INIT;
  loom_error error;
  loom_model model;
  loom_generator generator;
  int32_t finish = LOOM_FINISH_MORE, id;

  if (loom_model_load("embedded", 8, NULL, 0, &model, &error) != LOOM_OK) return failed(&error);
  if (loom_generator_create_with(model, NULL, &generator, &error) != LOOM_OK) return failed(&error);
  if (loom_generator_feed_text(generator, 0, prompt, strlen(prompt), &error) != LOOM_OK)
    return failed(&error);
  sampling.temperature = 0.7;
  sampling.seed = 1;
  sampling.max_tokens = 120;
  if (loom_generator_start_with(generator, 0, &sampling, &error) != LOOM_OK) return failed(&error);

  fputs(prompt, stdout);
  while (finish == LOOM_FINISH_MORE) {
    loom_bytes text;
    void* data;
    uint64_t size;
    if (loom_generator_next(generator, &finish, &id, &text, &error) != LOOM_OK)
      return failed(&error);
    if (loom_bytes_data(text, &data, &size, &error) != LOOM_OK) return failed(&error);
    fwrite(data, 1, (size_t)size, stdout);
    fflush(stdout);
    loom_release(text, NULL);
  }
  putchar('\n');
  loom_release(generator, NULL);
  loom_release(model, NULL);
  return 0;
}
