// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time to compile and place candidates: the same random ones in each run.
#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "codegen/codegen.h"
#include "kernels/kernels.h"
#include "link/link.h"
#include "performance/must.h"
#include "search/position.h"
#include "target/target.h"

using namespace dojo;

namespace {

void compileSome(const target::Target& target, const std::string& name,
                 const std::map<std::string, std::int64_t>& shape) {
  ir::ParseOptions parse;
  parse.params = shape;
  const ir::Program plain = must(kernels::load(name, parse)).program;
  const search::Position start(std::make_shared<const moves::State>(plain, target), {});
  search::Random random(1);
  std::vector<double> compile;
  double link = 0;
  for (search::Position at = start; compile.size() < 200;) {
    std::optional<search::Position> next = search::randomNeighbour(at, random);
    if (!next) continue;
    at = next->steps().size() < 6 ? std::move(*next) : start;
    Stopwatch watch;
    const codegen::Object object = must(codegen::compile(at.state()->program(), target));
    compile.push_back(watch.restart() * 1e3);
    (void)link::place(object.bytes, codegen::kEntry, 0x100000, 1 << 20,
                      {{"dojo_parallel_for", 0x80000}});
    link += watch.seconds() * 1e3;
  }
  double sum = 0;
  for (const double ms : compile) sum += ms;
  std::sort(compile.begin(), compile.end());
  const auto count = static_cast<double>(compile.size());
  fmt::print(
      "{:<10} compile {:.2f} ms on average, {:.2f} median, {:.2f} at most; place {:.2f} ms\n", name,
      sum / count, compile[compile.size() / 2], compile.back(), link / count);
}

}  // namespace

int main() {
  target::Target target = must(target::load("host"));
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  compileSome(target, "add", {{"N", 96}, {"M", 96}});
  compileSome(target, "softmax", {{"N", 8}, {"M", 128}});
  compileSome(target, "matmul", {{"M", 20}, {"N", 20}, {"K", 20}});
}
