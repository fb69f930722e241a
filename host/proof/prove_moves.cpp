// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "proof/prove_moves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/solver.h"
#include "moves/concurrency.h"
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
constexpr int kMovesOnTraps = 3;

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

/// What is wrong with `applied`, the result of a move that is offered.
StepResult judge(const moves::State& state, const Meaning& meaning, const moves::Move& move,
                 Result<ir::Program> applied, std::uint64_t seed) {
  if (!applied) return flawed(Flaw::refused, applied.error().text());
  const ir::Program& before = state.program();
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
  const auto undone = moves::replay(after, state.target(), back);
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

StepResult proveStepFrom(const ir::Program& before, const Meaning& meaning,
                         const target::Target& target, const moves::Move& move,
                         std::uint64_t seed) {
  const moves::State state(before, target);
  return judge(state, meaning, move, moves::apply(state, move), seed);
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
    recipes_.assign(report_.counts.size(), -1);
  }

  ProofReport run(const std::function<bool(const ProofReport&)>& progress) {
    while (report_.moves < options_.moves && !enough()) {
      chain();
      ++report_.programs;
      if (!progress(report_)) break;
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
    const bool steered = random.oneIn(3);
    const int recipe = steered ? recipeForRare(random) : randomRecipe(random);
    const bool trap = isTrap(recipe) && !steered;
    ir::Program program = randomProgram(random, recipe);
    const Meaning meaning = meaningOf(program, seed);
    if (!meaning.problem.empty()) {
      const bool known = meaning.problem.find("interpret.division") != std::string::npos;
      DOJO_CHECK(known, meaning.problem + "\n" + ir::print(program));
      return;
    }
    // Traps lie in the first moves; rare moves need others before.
    std::int64_t most = options_.chain;
    if (trap) most = std::min<std::int64_t>(most, kMovesOnTraps);
    if (trap || random.oneIn(3)) most = random(1, most);
    static const std::vector<std::string> kNone;
    const std::vector<std::string>& wanted = steered ? kNone : movesFor(recipe);
    for (std::int64_t i = 0; i < most && report_.moves < options_.moves && !enough(); ++i) {
      const moves::State state(program, target_);
      std::optional<Offer> offer = choose(state, trap, wanted, random);
      if (!offer) return;
      StepResult step = judge(state, meaning, offer->move, std::move(offer->result), seed);
      if (step.flaw) return fail(program, offer->move, std::move(step), seed);
      const std::size_t position = position_.at(offer->move.name);
      ++report_.moves;
      ++report_.counts[position].applied;
      recipes_[position] = recipe;
      program = std::move(step.after);
    }
  }

  /// What has let a rare move be applied before, much more often the rarer.
  [[nodiscard]] int recipeForRare(Random& random) const {
    constexpr double kWhole = 1 << 30;
    std::int64_t least = INT64_MAX;
    for (const MoveCount& count : report_.counts) least = std::min(least, count.applied);
    std::vector<std::int64_t> weights;
    std::int64_t sum = 0;
    for (const MoveCount& count : report_.counts) {
      const double share = static_cast<double>(least + 1) / static_cast<double>(count.applied + 1);
      weights.push_back(static_cast<std::int64_t>(kWhole * share * share * share * share));
      sum += weights.back();
    }
    std::int64_t at = random(0, sum - 1);
    std::size_t rule = 0;
    while (at >= weights[rule]) at -= weights[rule++];
    return recipes_[rule] < 0 ? randomRecipe(random) : recipes_[rule];
  }

  /// A move that is offered, and what apply() makes of it.
  struct Offer {
    moves::Move move;
    Result<ir::Program> result;
  };
  struct Candidate {
    const moves::Rule* rule;
    std::vector<moves::Arg> args;
  };

  static void addCandidates(const moves::State& state, const moves::Rule& rule,
                            std::vector<Candidate>& out) {
    std::vector<std::vector<moves::Arg>> choices;
    for (const ir::Visit& place : state.nodes()) rule.choices(state, place, choices);
    for (std::vector<moves::Arg>& args : choices) out.push_back({&rule, std::move(args)});
  }

  /// As moves::applicable() asks it.
  static std::optional<Offer> offer(const moves::State& state, Candidate candidate) {
    moves::Move move{std::string(candidate.rule->info().name), std::move(candidate.args)};
    const ir::Program& program = state.program();
    const bool proves =
        moves::hasConcurrency(program) || program.hasSharing() || !program.instructions.empty();
    if (!proves && !candidate.rule->check(state, move.args)) return std::nullopt;
    Result<ir::Program> result = moves::apply(state, move);
    if (proves && !result) return std::nullopt;
    return Offer{std::move(move), std::move(result)};
  }

  /// Each of the candidates that are offered has the same chance.
  static std::optional<Offer> anyOf(const moves::State& state, std::vector<Candidate> candidates,
                                    Random& random) {
    random.shuffle(candidates);
    for (Candidate& candidate : candidates) {
      if (auto found = offer(state, std::move(candidate))) return found;
    }
    return std::nullopt;
  }

  /// By places and parameters, by rules, or (half of the time, but for traps) what has been applied
  /// least so far; mostly one that is `wanted`.
  [[nodiscard]] std::optional<Offer> choose(const moves::State& state, bool trap,
                                            const std::vector<std::string>& wanted,
                                            Random& random) const {
    if (!wanted.empty() && !random.oneIn(8)) {
      std::vector<Candidate> candidates;
      addCandidates(state, *moves::findRule(random.of(wanted)), candidates);
      if (auto found = anyOf(state, std::move(candidates), random)) return found;
    }
    std::vector<std::size_t> order(report_.counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    random.shuffle(order);
    const std::int64_t way = random(0, trap ? 1 : 3);
    if (way == 0) {
      std::vector<Candidate> all;
      for (const moves::Rule* rule : moves::catalogue()) addCandidates(state, *rule, all);
      return anyOf(state, std::move(all), random);
    }
    if (way > 1) {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return report_.counts[a].applied < report_.counts[b].applied;
      });
    }
    for (const std::size_t i : order) {
      std::vector<Candidate> candidates;
      addCandidates(state, *moves::catalogue()[i], candidates);
      if (auto found = anyOf(state, std::move(candidates), random)) return found;
    }
    return std::nullopt;
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
  std::vector<int> recipes_;  ///< For each rule one that led to it last; -1: none yet.
};

ProofReport sum(const std::vector<ProofReport>& parts) {
  ProofReport out;
  for (const ProofReport& part : parts) {
    out.moves += part.moves;
    out.programs += part.programs;
    out.failures.insert(out.failures.end(), part.failures.begin(), part.failures.end());
    out.counts.resize(std::max(out.counts.size(), part.counts.size()));
    for (std::size_t i = 0; i < part.counts.size(); ++i) {
      out.counts[i].name = part.counts[i].name;
      out.counts[i].applied += part.counts[i].applied;
    }
  }
  return out;
}

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

target::Target withEverything(target::Target target) {
  const auto add = [](std::vector<std::string>& to, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (std::find(to.begin(), to.end(), name) == to.end()) to.emplace_back(name);
    }
  };
  add(target.mappings, {"unroll", "vector", "parallel", "stream", "frep", "dma"});
  add(target.locations, {"heap", "stack", "register"});
  if (target.streams.movers == 0) target.streams = {3, 4, 3, 0, 1 << 16, "near"};
  if (target.hardwareLoop.instructions == 0) target.hardwareLoop = {32, 1 << 16, 7, 2};
  return target;
}

std::int64_t leastApplications(std::int64_t moves) {
  constexpr std::int64_t kShort = 20000;
  return moves < kShort ? 0 : std::min<std::int64_t>(1000, moves / 200);
}

ProofReport proveMoves(const target::Target& target, const ProofOptions& options,
                       const std::function<bool(const ProofReport&)>& progress) {
  const std::uint64_t undecided = ir::undecidedCount();
  const auto jobs = static_cast<std::size_t>(std::max(options.jobs, 1));
  std::vector<ProofReport> parts(jobs);
  std::mutex mutex;
  bool stop = false;
  const auto whole = [&] {
    ProofReport out = sum(parts);
    out.undecided = static_cast<std::int64_t>(ir::undecidedCount() - undecided);
    return out;
  };
  const auto work = [&](std::size_t job) {
    ProofOptions own = options;
    own.seed += job * 0x100000000U;
    own.moves =
        options.moves / static_cast<std::int64_t>(jobs) +
        (static_cast<std::int64_t>(job) < options.moves % static_cast<std::int64_t>(jobs) ? 1 : 0);
    ProofReport report = Run(target, own).run([&](const ProofReport& now) {
      const std::lock_guard lock(mutex);
      parts[job] = now;
      stop = stop || (progress && !progress(whole()));
      return !stop;
    });
    const std::lock_guard lock(mutex);
    parts[job] = std::move(report);
    stop = stop || parts[job].failures.size() >= static_cast<std::size_t>(options.mostFailures);
  };
  std::vector<std::thread> threads;
  for (std::size_t job = 1; job < jobs; ++job) threads.emplace_back(work, job);
  work(0);
  for (std::thread& thread : threads) thread.join();
  return whole();
}

}  // namespace dojo::proof
