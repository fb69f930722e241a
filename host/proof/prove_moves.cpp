// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "proof/prove_moves.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/solver.h"
#include "moves/rule.h"
#include "proof/generate.h"
#include "proof/shrink.h"

namespace dojo::proof {

namespace {

using Residues = std::vector<std::vector<std::uint64_t>>;

/// What a program computes: exact results for some inputs and orders of concurrent iterations, and
/// in the arithmetic of its dtypes what may come out.
struct Meaning {
  std::vector<Residues> exact;
  std::vector<ir::Buffer> arguments;
  std::vector<ir::Tensor> inputs;
  std::vector<std::vector<ir::Bounded>> reference;  ///< For `inputs`; empty where there is none.
  std::vector<ir::Tensor> outputs;                  ///< In the dtypes; empty where there are none.
  std::string problem;                              ///< The interpreter's error.
};

constexpr std::uint64_t kInputs = 2;

std::string runExact(const ir::Program& program, std::uint64_t inputSeed, std::uint64_t order,
                     std::vector<Residues>& out) {
  for (std::uint64_t i = 0; i < kInputs; ++i) {
    ir::InterpretOptions options;
    options.seed = order + i;
    auto exact = ir::interpretExact(program, inputSeed + i, options);
    if (!exact) return exact.error().text();
    out.push_back(std::move(*exact));
  }
  return "";
}

std::vector<ir::Buffer> argumentsOf(const ir::Program& program) {
  std::vector<ir::Buffer> out;
  for (const ir::Buffer& buffer : program.buffers) {
    if (buffer.isArgument()) out.push_back(buffer);
  }
  return out;
}

Meaning meaningOf(const ir::Program& program, std::uint64_t seed) {
  Meaning out;
  out.problem = runExact(program, seed, seed, out.exact);
  if (!out.problem.empty()) return out;
  static const std::vector<ir::InputSet> sets = {ir::InputSet::uniform, ir::InputSet::exact,
                                                 ir::InputSet::wide};
  out.arguments = argumentsOf(program);
  out.inputs = ir::makeInputs(program, sets[seed % sets.size()], seed);
  // An integer division by zero, say, leaves nothing to compare.
  if (auto reference = ir::reference(program, out.inputs)) out.reference = std::move(*reference);
  if (auto outputs = ir::interpret(program, out.inputs)) out.outputs = std::move(*outputs);
  return out;
}

/// The arithmetic of the dtypes: no error, and every element within the bound that the reference of
/// the start program carries.
std::string compareRounded(const Meaning& meaning, const ir::Program& after, std::uint64_t order) {
  if (meaning.reference.empty()) return "";
  ir::InterpretOptions options;
  options.seed = order;
  const std::vector<ir::Buffer> arguments = argumentsOf(after);
  std::vector<ir::Tensor> inputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    inputs.push_back(ir::repack(meaning.inputs[i], meaning.arguments[i], arguments[i]));
  }
  const auto outputs = ir::interpret(after, inputs, options);
  if (!outputs) return outputs.error().text();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ir::Buffer& buffer = meaning.arguments[i];
    const ir::Tensor got = ir::repack((*outputs)[i], arguments[i], buffer);
    // Whatever the reference may leave open: what decided once decides so again.
    const bool exact = !ir::isFloat(buffer.dtype) && !meaning.outputs.empty();
    if (exact && buffer.role != ir::Role::in && got.bytes != meaning.outputs[i].bytes) {
      return fmt::format("{} is not bit for bit what it was", buffer.name);
    }
    for (std::size_t e = 0; e < meaning.reference[i].size(); ++e) {
      const ir::Bounded& want = meaning.reference[i][e];
      const auto element = static_cast<std::int64_t>(e);
      if (ir::excess(want, got, element) <= 1) continue;
      return fmt::format("element {} of {} is {} in {}, and {} within {} was expected", e,
                         buffer.name, ir::loadAsDouble(got, element), ir::name(buffer.dtype),
                         want.value, want.bound);
    }
  }
  return "";
}

std::string compareExact(const ir::Program& program, const Meaning& expected,
                         const ir::Program& after, std::uint64_t seed, std::uint64_t order) {
  std::vector<Residues> got;
  if (std::string problem = runExact(after, seed, order, got); !problem.empty()) return problem;
  for (std::size_t i = 0; i < expected.exact.size(); ++i) {
    std::size_t argument = 0;
    for (const ir::Buffer& buffer : program.buffers) {
      if (!buffer.isArgument()) continue;
      const auto& a = expected.exact[i][argument];
      const auto& b = got[i][argument];
      ++argument;
      if (a == b) continue;
      const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
      return fmt::format("element {} of {} is computed differently", differ.first - a.begin(),
                         buffer.name);
    }
  }
  return "";
}

StepResult flawed(Flaw flaw, std::string detail, ir::Program after = {}) {
  return {flaw, std::move(detail), std::move(after)};
}

StepResult proveStepFrom(const ir::Program& before, const Meaning& meaning,
                         const target::Target& target, const moves::Move& move,
                         std::uint64_t seed) {
  const moves::State state(before, target);
  auto applied = moves::apply(state, move);
  if (!applied) return flawed(Flaw::refused, applied.error().text());
  ir::Program after = std::move(*applied);
  const std::string text = ir::print(after);
  const auto again = ir::parse(text);
  if (!again) return flawed(Flaw::text, again.error().text(), after);
  if (!(again->program == after)) {
    return flawed(Flaw::text, "the text reads back as another program", after);
  }
  if (const Status valid = ir::check(after); !valid) {
    return flawed(Flaw::invalid, valid.error().text(), after);
  }
  const std::uint64_t order = seed + contentHash(text);
  if (auto problem = compareExact(before, meaning, after, seed, order); !problem.empty()) {
    return flawed(Flaw::different, problem, after);
  }
  if (auto problem = compareRounded(meaning, after, order); !problem.empty()) {
    return flawed(Flaw::different, problem, after);
  }
  const moves::Trace back = moves::undo(state, move, after);
  const auto undone = moves::replay(after, target, back);
  if (!undone) {
    return flawed(Flaw::undo,
                  fmt::format("the way back ({}) is refused: {}", moves::toString(back),
                              undone.error().text()),
                  after);
  }
  if (ir::print(*undone) != ir::print(before)) {
    return flawed(Flaw::undo,
                  fmt::format("the way back ({}) gives another text:\n{}", moves::toString(back),
                              ir::print(*undone)),
                  after);
  }
  return {std::nullopt, "", std::move(after)};
}

/// A move of the same name that is wrong in the same way on another program.
std::optional<moves::Move> sameFlaw(const ir::Program& program, const target::Target& target,
                                    const moves::Move& like, Flaw flaw, std::uint64_t seed) {
  const moves::State state(program, target);
  const Meaning meaning = meaningOf(program, seed);
  if (!meaning.problem.empty()) return std::nullopt;
  for (const moves::Move& move : moves::applicable(state)) {
    if (move.name != like.name) continue;
    const StepResult step = proveStepFrom(program, meaning, target, move, seed);
    if (step.flaw == flaw) return move;
  }
  return std::nullopt;
}

class Run {
 public:
  Run(const target::Target& target, const ProofOptions& options)
      : target_(target), options_(options) {
    for (const moves::Rule* rule : moves::catalogue()) {
      position_[std::string(rule->info().name)] = report_.counts.size();
      report_.counts.push_back({std::string(rule->info().name), 0});
    }
  }

  ProofReport run(const std::function<bool(const ProofReport&)>& progress) {
    const std::uint64_t undecided = ir::undecidedCount();
    while (report_.moves < options_.moves && !enough()) {
      chain();
      ++report_.programs;
      report_.undecided = static_cast<std::int64_t>(ir::undecidedCount() - undecided);
      if (progress && !progress(report_)) break;
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool enough() const {
    return report_.failures.size() >= static_cast<std::size_t>(options_.mostFailures);
  }

  void chain() {
    Random random(options_.seed * 0x9e3779b97f4a7c15U +
                  static_cast<std::uint64_t>(report_.programs));
    const std::uint64_t seed = random.next() >> 8;
    ir::Program program = randomProgram(random);
    const Meaning meaning = meaningOf(program, seed);
    if (!meaning.problem.empty()) {
      // check() knows of `~` only that something was written there, the interpreter what.
      const bool known =
          meaning.problem.find("interpret.division") != std::string::npos ||
          meaning.problem.find("after another element was written") != std::string::npos;
      DOJO_CHECK(known, meaning.problem + "\n" + ir::print(program));
      return;
    }
    for (int i = 0; i < options_.chain && report_.moves < options_.moves && !enough(); ++i) {
      const std::vector<moves::Move> all = moves::applicable(program, target_);
      if (all.empty()) return;
      const moves::Move& move = choose(all, random);
      StepResult step = proveStepFrom(program, meaning, target_, move, seed);
      if (step.flaw) return fail(program, move, std::move(step), seed);
      ++report_.moves;
      ++report_.counts[position_.at(move.name)].applied;
      program = std::move(step.after);
    }
  }

  /// Mostly a move of the rule that has been applied least so far; every place and parameter of it
  /// has the same chance.
  [[nodiscard]] const moves::Move& choose(const std::vector<moves::Move>& all,
                                          Random& random) const {
    if (random.oneIn(3)) return random.of(all);
    std::int64_t least = INT64_MAX;
    for (const moves::Move& move : all) {
      least = std::min(least, report_.counts[position_.at(move.name)].applied);
    }
    std::vector<const moves::Move*> rare;
    for (const moves::Move& move : all) {
      if (report_.counts[position_.at(move.name)].applied == least) rare.push_back(&move);
    }
    return *random.of(rare);
  }

  void fail(const ir::Program& program, const moves::Move& move, StepResult step,
            std::uint64_t seed) {
    MoveFailure failure;
    failure.flaw = *step.flaw;
    failure.program = program;
    failure.move = move;
    failure.detail = std::move(step.detail);
    if (options_.shrink) {
      failure.program = shrink(program, [&](const ir::Program& smaller) {
        return sameFlaw(smaller, target_, move, failure.flaw, seed).has_value();
      });
      if (const auto found = sameFlaw(failure.program, target_, move, failure.flaw, seed)) {
        failure.move = *found;
        step =
            proveStepFrom(failure.program, meaningOf(failure.program, seed), target_, *found, seed);
        failure.detail = step.detail;
      }
    }
    if (!step.after.body.empty()) failure.result = ir::print(step.after);
    report_.failures.push_back(std::move(failure));
  }

  const target::Target& target_;
  const ProofOptions& options_;
  ProofReport report_;
  std::map<std::string, std::size_t, std::less<>> position_;
};

}  // namespace

std::string_view name(Flaw flaw) {
  switch (flaw) {
    case Flaw::refused:
      return "refused";
    case Flaw::text:
      return "text";
    case Flaw::invalid:
      return "invalid";
    case Flaw::different:
      return "different";
    case Flaw::undo:
      return "undo";
  }
  return "";
}

std::string MoveFailure::text() const {
  std::string out = fmt::format("# {}: {}\n", name(flaw), detail);
  out += ir::print(program);
  out += fmt::format("\n# move\n{}\n", moves::toString(move));
  if (!result.empty()) out += "\n# result\n" + result;
  return out;
}

StepResult proveStep(const ir::Program& before, const target::Target& target,
                     const moves::Move& move, std::uint64_t inputSeed) {
  return proveStepFrom(before, meaningOf(before, inputSeed), target, move, inputSeed);
}

ProofReport proveMoves(const target::Target& target, const ProofOptions& options,
                       const std::function<bool(const ProofReport&)>& progress) {
  return Run(target, options).run(progress);
}

}  // namespace dojo::proof
