// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast the agent reads programs: for each kernel the neighbours that one step of play looks at,
// by the encoder as it is shipped (random weights take the same time). Times are of the processor.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "agent/encoder/embedder.h"
#include "agent/nn/gemm.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "search/position.h"

using namespace dojo;

namespace {

constexpr int kSteps = 40;

/// Of this thread alone: others may have the machine's cores.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void productRate() {
  for (const std::size_t n : {std::size_t{64}, std::size_t{256}, std::size_t{1024}}) {
    std::vector<float> a(n * 128, 1), b(128 * 256, 1), c(n * 256);
    const double start = now();
    const int calls = 400;
    for (int k = 0; k < calls; ++k) {
      agent::gemm(agent::Transpose::no, agent::Transpose::no, n, 256, 128, 1, a.data(), 128,
                  b.data(), 256, 0, c.data(), 256);
    }
    const double seconds = now() - start;
    fmt::print("product {} x 128 x 256: {:.0f} GFLOP/s\n", n,
               2.0 * static_cast<double>(n) * 128 * 256 * calls / seconds / 1e9);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t successors = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 8;
  productRate();
  search::Random random(1);
  const agent::Encoder encoder({}, random);
  fmt::print("{} parameters\n", encoder.parameters().count());
  const target::Target target = *target::load("host");
  fmt::print("{:<16}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "kernel", "lines", "programs",
             "new lines", "play ms", "print ms", "embed ms");
  for (const kernels::Kernel& kernel : kernels::list()) {
    agent::OwnEmbedder embedder(encoder);
    const ir::Program plain = kernels::load(kernel.name)->program;
    search::Position at(std::make_shared<const moves::State>(plain, target), {});
    double play = 0, print = 0, embed = 0;
    std::size_t lines = 0, count = 0;
    for (int step = 0; step < kSteps; ++step) {
      std::vector<search::Position> next;
      const double begin = now();
      for (std::size_t tried = 0; next.size() < successors && tried < 4 * successors; ++tried) {
        auto one = search::randomNeighbour(at, random);
        if (one) next.push_back(std::move(*one));
      }
      const double played = now();
      std::vector<std::string> texts;
      for (const search::Position& one : next) texts.push_back(ir::print(one.state()->program()));
      const double printed = now();
      if (texts.empty()) continue;
      if (!embedder.embed(texts).ok()) return 1;
      const double embedded = now();
      play += played - begin;
      print += printed - played;
      embed += embedded - printed;
      count += texts.size();
      for (const std::string& text : texts) {
        lines += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
      }
      at = next[random.below(next.size())];
      if (at.steps().size() > 10) at = at.origin();
    }
    const auto n = static_cast<double>(count);
    const auto& counts = embedder.counts();
    fmt::print("{:<16}{:>8.1f}{:>12}{:>12.2f}{:>12.3f}{:>12.3f}{:>12.3f}\n", kernel.name,
               static_cast<double>(lines) / n, counts.programs,
               static_cast<double>(counts.lines) / static_cast<double>(counts.programs),
               play / n * 1e3, print / n * 1e3, embed / n * 1e3);
  }
  return 0;
}
