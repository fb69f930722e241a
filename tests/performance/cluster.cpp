// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of scratchpad size on a cluster's model: the expert's schedule beside the plain program
// and plain C compiled by clang -O3, cycles of the model, in one run. Arguments: names of kernels;
// none: all. --target NAME: "snitch1" (one core) is what is read. --text prints the programs.
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "codegen/codegen.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "link/link.h"
#include "measure/verification.h"
#include "performance/must.h"
#include "search/expert.h"
#include "tune/bench.h"
#include "tune/work.h"

using namespace dojo;

namespace {

struct Case {
  std::string kernel;
  std::map<std::string, std::int64_t> shape;
  ir::DType dtype;
  double ideal;       ///< Cycles where one core does one operation or element in each; 0: not said.
  std::string asked;  ///< What is hoped for.
};

std::vector<Case> cases() {
  constexpr ir::DType f64 = ir::DType::f64;
  constexpr ir::DType f32 = ir::DType::f32;
  // A border element of a 3x3 window has fewer terms: (3 * 16 - 2)^2 of them in a channel.
  constexpr double kConvolved = 46.0 * 46 * 8 * 8;
  return {
      {"matmul", {{"M", 16}, {"N", 16}, {"K", 16}}, f64, 4096, "96%"},
      {"matmul", {{"M", 32}, {"N", 32}, {"K", 32}}, f64, 32768, "98%"},
      {"matmul_nt", {{"M", 32}, {"N", 32}, {"K", 32}}, f64, 32768, ""},
      {"matmul_nt", {{"M", 32}, {"N", 32}, {"K", 32}}, f32, 32768, "1.8 times f64"},
      {"axpy", {{"N", 256}}, f64, 256, "301 cycles"},
      {"dot", {{"N", 256}}, f64, 256, "321 cycles"},
      {"axpy", {{"N", 1024}}, f64, 1024, "90%"},
      {"dot", {{"N", 1024}}, f64, 1024, "90%"},
      {"sum", {{"N", 1024}}, f64, 1024, "90%"},
      {"relu", {{"N", 1}, {"M", 1024}}, f64, 1024, "90%"},
      {"axpy", {{"N", 1024}}, f32, 1024, "two in a cycle"},
      {"dot", {{"N", 1024}}, f32, 1024, "two in a cycle"},
      {"sum", {{"N", 1024}}, f32, 1024, "two in a cycle"},
      {"relu", {{"N", 1}, {"M", 1024}}, f32, 1024, "two in a cycle"},
      {"conv2d", {{"C", 8}, {"H", 16}, {"W", 16}, {"K", 8}}, f64, kConvolved, "85%"},
      {"softmax", {{"N", 16}, {"M", 64}}, f64, 0, "5 times C"},
      {"layernorm", {{"N", 16}, {"M", 64}}, f64, 0, "5 times C"},
      {"qmatmul", {{"M", 16}, {"N", 16}, {"K", 16}}, ir::DType::i8, 0, "5 times C"},
  };
}

/// The C of a case as an object, or why there is none.
Result<std::vector<std::byte>> compileC(const Case& which) {
  const std::string object = (std::filesystem::temp_directory_path() /
                              fmt::format("dojo-plain-{}.o", static_cast<long>(::getpid())))
                                 .string();
  std::string command = fmt::format(
      "{} --target=riscv32-unknown-elf -march=rv32imafd -mabi=ilp32d -mcmodel=medany -O3 "
      "-ffreestanding -c {}/plain/kernels.c -o {} -DKERNEL={} -DT={}",
      DOJO_CLANG, DOJO_PERFORMANCE_DIR, object, which.kernel,
      which.dtype == ir::DType::f32 ? "float" : "double");
  for (const auto& [name, value] : which.shape) command += fmt::format(" -D{}={}", name, value);
  if (std::system(command.c_str()) != 0) return Error{"c.compile", "clang failed", command, ""};
  Result<std::string> text = readFile(object);
  std::filesystem::remove(object);
  if (!text.ok()) return text.error();
  const auto* begin = reinterpret_cast<const std::byte*>(text->data());
  return std::vector<std::byte>(begin, begin + text->size());
}

/// Cycles of the C, verified on ordinary inputs (it isn't made for infinities); 0: it failed.
double cyclesOfC(transport::Device& device, const target::Target& target, const Case& which,
                 const ir::Program& plain) {
  Result<std::vector<std::byte>> object = compileC(which);
  if (!object.ok()) {
    fmt::print(stderr, "{}\n", object.error().text());
    return 0;
  }
  measure::VerifierOptions verifying;
  verifying.sets = {ir::InputSet::uniform, ir::InputSet::uniform};
  const measure::Verifier verifier = must(measure::Verifier::make(plain, verifying));
  measure::Options measuring;
  measuring.limitSeconds = target.runner.callSeconds;
  auto session = must(measure::Session::open(device, target, plain, verifier.inputs(),
                                             verifier.compare(), measuring));
  const measure::CodeSlot at = session->slot(0);
  const link::Image image =
      must(link::place(*object, codegen::kEntry, at.base, at.capacity, session->symbols()));
  measure::Kernel kernel;
  kernel.bytes = image.bytes;
  kernel.entry = image.entry;
  const Outcome outcome = session->evaluate(kernel);
  if (!outcome.ok()) {
    fmt::print(stderr, "C: {} {}\n", outcome.failure().code, outcome.failure().detail);
    return 0;
  }
  return outcome.measurement().cycles;
}

void compare(transport::Device& device, const target::Target& target, const Case& which,
             bool text) {
  ir::ParseOptions parsing;
  parsing.params = which.shape;
  parsing.dtype = which.dtype;
  const ir::Program plain = must(kernels::load(which.kernel, parsing)).program;
  const search::Position best =
      search::expert({std::make_shared<const moves::State>(plain, target), {}});
  std::string label = which.kernel;
  for (const auto& [name, value] : which.shape) label += fmt::format(" {}{}", name, value);
  label += " " + std::string(name(which.dtype));
  if (text) fmt::print("{}\n", ir::print(best.state()->program()));
  const double c = cyclesOfC(device, target, which, plain);
  tune::BenchOptions options;
  options.harts = target.harts;
  options.raceFactor = std::numeric_limits<double>::infinity();
  auto bench = must(tune::Bench::open(plain, target, device, options));
  bench->submit(search::candidate(plain, {}));
  bench->submit(best.toCandidate());
  const Outcome slow = *bench->next(), fast = *bench->next();
  if (!slow.ok() || !fast.ok()) {
    const Failure& failure = (slow.ok() ? fast : slow).failure();
    fmt::print("{:<28} {} {}\n", label, failure.code, failure.detail);
    return;
  }
  const double cycles = fast.measurement().cycles;
  fmt::print("{:<28} {:8.0f} cycles; plain {:9.0f} ({:5.1f} times), C {:9.0f} ({:5.1f} times)",
             label, cycles, slow.measurement().cycles, slow.measurement().cycles / cycles, c,
             c / cycles);
  if (which.ideal > 0) {
    fmt::print("; {:5.1f}% of one a cycle on {} core(s)", which.ideal / cycles / target.harts * 100,
               target.harts);
  }
  fmt::print("{}\n", which.asked.empty() ? "" : "; asked: " + which.asked);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = "snitch1";
  bool text = false;
  std::vector<std::string> names;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    if (argument == "--text") {
      text = true;
    } else if (argument == "--target" && k + 1 < argc) {
      name = argv[++k];
    } else {
      names.emplace_back(argument);
    }
  }
  const target::Target target = must(target::load(name));
  auto device = must(tune::reach(target, ""));
  for (const Case& which : cases()) {
    if (names.empty() || std::find(names.begin(), names.end(), which.kernel) != names.end()) {
      compare(*device, target, which, text);
    }
  }
}
