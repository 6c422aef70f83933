// How many of MNIST's 10,000 test images a classifier gets right.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "exec/session.h"
#include "formats/idx/idx.h"

namespace loom::test {

// Pixels are brought to 0..1; the network takes 784 of them and gives 10 logits. -1, and a failure,
// where something goes wrong.
inline std::int64_t right_digits(Network& network, const std::string& images_path,
                                 const std::string& labels_path) {
  const auto images = open_array(*open_source(images_path)),
             labels = open_array(*open_source(labels_path));
  EXPECT_TRUE(images.ok() && labels.ok());
  ThreadPool pool(1);
  auto session = Session::create(network, pool, {.max_rows = 100});
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  if (!images.ok() || !labels.ok() || !session.ok()) return -1;
  std::vector<float> x(78400), y(100);
  std::int64_t correct = 0;
  for (std::uint64_t at = 0; at < 10000; at += 100) {
    const bool read = read_f32(*images, at * 784, x).ok() && read_f32(*labels, at, y).ok();
    for (float& v : x) v /= 255;
    const bool ran = read && session->run(x, 100).ok();
    EXPECT_TRUE(ran) << at;
    if (!ran) return -1;
    for (std::size_t r = 0; r < 100; ++r) {
      const std::span<const float> row = session->output(static_cast<std::int64_t>(r));
      correct += std::max_element(row.begin(), row.end()) - row.begin() ==
                 static_cast<std::ptrdiff_t>(y[r]);
    }
  }
  return correct;
}

}  // namespace loom::test
