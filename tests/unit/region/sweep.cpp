// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs after random moves: regions that are admitted compute the same.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/text.h"
#include "ir/check.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "moves/lowerable.h"
#include "moves/move.h"
#include "proof/generate.h"
#include "region/region.h"
#include "unit/region/around.h"

namespace dojo::test {
namespace {

const target::Target& snitch() {
  static const target::Target target = target::load("snitch").value();
  return target;
}

bool isMapping(const std::string& name) {
  return name == "stream" || name == "frep" || name == "vectorize" || name == "unroll" ||
         name == "set_location" || name == "privatize";
}

/// Up to `steps` moves, those that make regions more often than their share.
ir::Program moved(ir::Program program, proof::Random& random, int steps) {
  for (int i = 0; i < steps; ++i) {
    std::vector<moves::Move> choices = moves::applicable(program, snitch());
    if (choices.empty()) break;
    random.shuffle(choices);
    if (random.oneIn(2)) {
      std::stable_partition(choices.begin(), choices.end(),
                            [](const moves::Move& move) { return isMapping(move.name); });
    } else if (random.oneIn(2)) {
      std::stable_partition(choices.begin(), choices.end(), [](const moves::Move& move) {
        return move.name == "stream" || move.name == "frep";
      });
    }
    Result<ir::Program> next = moves::apply(program, snitch(), choices.front());
    REQUIRE((next.ok() ? "" : next.error().text()) == "");
    program = std::move(next).value();
  }
  return program;
}

void agrees(const ir::Program& program, ir::InputSet set, std::uint64_t seed) {
  INFO(ir::print(program));
  const std::vector<ir::Tensor> inputs = ir::makeInputs(program, set, seed);
  const auto reference = ir::reference(program, inputs);
  REQUIRE((reference.ok() ? "" : reference.error().text()) == "");
  std::vector<ir::Tensor> actual;
  try {
    actual = runRegions(program, snitch(), inputs);
  } catch (const std::runtime_error& error) {
    FAIL(error.what());
  }
  std::size_t argument = 0;
  for (const ir::Buffer& buffer : program.buffers) {
    if (!buffer.isArgument()) continue;
    const auto& bounds = (*reference)[argument];
    const ir::Tensor& got = actual[argument++];
    if (buffer.role == ir::Role::in) continue;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const double excess = ir::excess(bounds[i], got, static_cast<std::int64_t>(i));
      if (excess <= 1) continue;
      FAIL(fmt::format("{}[{}] is {}, not {} within {}", buffer.name, i,
                       ir::loadAsDouble(got, static_cast<std::int64_t>(i)), bounds[i].value,
                       bounds[i].bound));
    }
  }
}

/// With all floats in f64.
ir::Program widened(const ir::Program& program) {
  ir::Program wide = program;
  for (ir::Buffer& buffer : wide.buffers) {
    if (ir::isFloat(buffer.dtype)) buffer.dtype = ir::DType::f64;
  }
  const auto parsed = ir::parse(ir::print(wide));
  return parsed && ir::check(parsed->program) ? parsed->program : program;
}

}  // namespace

TEST_CASE("regions of random programs after random moves") {
  const char* wanted = std::getenv("DOJO_RANDOM_PROGRAMS");
  const int programs = wanted == nullptr ? 400 : std::atoi(wanted);
  const char* seed = std::getenv("DOJO_SEED");
  proof::Random random(seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10));
  std::map<std::string, int> refused;
  int compared = 0;
  int streams = 0;
  int loops = 0;
  for (int i = 0; i < programs; ++i) {
    ir::Program program = proof::randomProgram(random);
    if (!random.oneIn(3)) program = widened(program);
    program = moved(std::move(program), random, 12);
    const std::vector<ir::Path> regions = region::regions(program, snitch());
    bool admitted = !regions.empty();
    for (const ir::Path& path : regions) {
      const Status status = region::admits(program, path, snitch());
      if (!status) ++refused[status.error().message];
      admitted = admitted && status.ok();
    }
    if (!admitted) continue;
    ++compared;
    const std::string text = ir::print(program);
    if (text.find("stream(") != std::string::npos) ++streams;
    if (text.find("frep") != std::string::npos) ++loops;
    agrees(program, ir::InputSet::uniform, static_cast<std::uint64_t>(i) + 1);
    agrees(program, ir::InputSet::awkward, static_cast<std::uint64_t>(i) + 1);
  }
  if (std::getenv("DOJO_VERBOSE") != nullptr) {
    fmt::print("{} compared, {} with streams, {} with hardware loops\n", compared, streams, loops);
    for (const auto& [why, times] : refused) fmt::print("{:5} {}\n", times, why);
  }
  CHECK(compared > programs / 10);
}

TEST_CASE("programs for this class of machine that people wrote") {
  int programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DOJO_SOURCE_DIR "/tests/snitch")) {
    if (entry.path().extension() != ".dojo") continue;
    ++programs;
    INFO(entry.path().string());
    const auto parsed = ir::parse(readFile(entry.path().string()).value());
    REQUIRE((parsed.ok() ? "" : parsed.error().text()) == "");
    const Status valid = ir::check(parsed->program);
    CHECK((valid.ok() ? "" : valid.error().text()) == "");
    const Status status = moves::lowerable(parsed->program, snitch());
    REQUIRE((status.ok() ? "" : status.error().text()) == "");
    agrees(parsed->program, ir::InputSet::uniform, 1);
  }
  CHECK(programs > 10);
}

}  // namespace dojo::test
