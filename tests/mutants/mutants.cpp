// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Does the property test bite? Drops each clause of the moves' preconditions in turn; the property
/// test must then fail. Each mutant runs in a process of its own: a crash is a failure too.
///
///   mutants [--moves N] [--seed S] [--every K] [--only TEXT]
///
/// `--every K` takes every K-th clause, another one for each seed. Prints a row for each clause;
/// exit code 1 where one wasn't noticed.
///
/// And do the moves refuse no more than they must? A move that a clause refuses is made without any
/// clause, in a process of its own, and judged like any other: where nothing is wrong with it, the
/// refusal was too careful. What the language's rules on numbers forbid (decisions, ranges,
/// infinities) is refused whatever the inputs drawn show; it's counted aside.
///
///   mutants --refusals PROGRAMS [--seed S] [--only MOVE]
///
/// Prints a row for each move; exit code 1 where more than a tenth of what is good was refused.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/dependence.h"
#include "ir/print.h"
#include "ir/tree.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "proof/generate.h"
#include "proof/prove_moves.h"
#include "support/some_target.h"

using namespace dojo;

namespace {

struct Options {
  std::int64_t moves = 20000;
  std::int64_t refusals = 0;  ///< Programs; 0: mutants instead.
  std::uint64_t seed = 1;
  std::int64_t every = 1;
  std::string only;
};

proof::ProofOptions proofOptions(const Options& options) {
  proof::ProofOptions out;
  out.moves = options.moves;
  out.seed = options.seed;
  out.shrink = false;
  return out;
}

/// What the property test says of one mutant, as a line; empty: nothing.
std::string judge(const std::string& clause, const Options& options) {
  moves::dropClause(clause);
  const target::Target target = proof::withEverything(test::someTarget());
  const proof::ProofReport report = proof::proveMoves(target, proofOptions(options));
  if (report.failures.empty()) return "";
  const proof::MoveFailure& failure = report.failures.front();
  return fmt::format("{} by {} after {} moves", proof::name(failure.flaw),
                     moves::toString(failure.move), report.moves);
}

struct Child {
  std::string clause, text;
  int output = -1;
};

/// Starts a process that judges one mutant.
pid_t start(Child& child, const Options& options) {
  constexpr unsigned kMostSeconds = 400;
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    alarm(kMostSeconds);
    const std::string verdict = judge(child.clause, options);
    const auto written = write(ends[1], verdict.data(), verdict.size());
    _exit(written == static_cast<ssize_t>(verdict.size()) ? 0 : 2);
  }
  close(ends[1]);
  child.output = ends[0];
  return pid;
}

/// The verdict of a process that ended; empty where the property test didn't fail. One that ran out
/// of time or couldn't work has shown nothing.
std::string verdictOf(const Child& child, int status) {
  if (WIFSIGNALED(status)) {
    close(child.output);
    return WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL ? "" : "crash";
  }
  std::string out;
  char buffer[512];
  for (ssize_t n = 0; (n = read(child.output, buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<std::size_t>(n));
  }
  close(child.output);
  return WEXITSTATUS(status) == 0 ? out : "";
}

/// The clauses that moves of random programs reach, without those that share a line.
std::vector<Child> clausesReached(const Options& options) {
  constexpr std::int64_t kMoves = 5000;
  Options discovery = options;
  discovery.moves = kMoves;
  const target::Target target = proof::withEverything(test::someTarget());
  if (!proof::proveMoves(target, proofOptions(discovery)).failures.empty()) {
    std::fputs("the moves fail without any clause dropped\n", stderr);
    std::exit(1);
  }
  std::map<std::string, std::string> reached;
  for (const moves::Clause* clause : moves::reachedClauses()) {
    reached[clause->where()] = clause->text;
  }
  std::vector<Child> out;
  std::int64_t i = static_cast<std::int64_t>(options.seed);
  for (const auto& [where, text] : reached) {
    if (where.find(options.only) == std::string::npos) continue;
    if (i++ % options.every == 0) out.push_back({where, text});
  }
  return out;
}

[[noreturn]] void usage() {
  std::fputs(
      "usage: mutants [--moves N] [--seed S] [--every K] [--only TEXT] [--refusals PROGRAMS]\n",
      stderr);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options out;
  for (int i = 1; i < argc; i += 2) {
    const std::string key = argv[i];
    if (i + 1 == argc) usage();
    const char* value = argv[i + 1];
    if (key == "--only") {
      out.only = value;
      continue;
    }
    const std::int64_t number = std::atoll(value);
    if (number < 1) usage();
    if (key == "--moves") {
      out.moves = number;
    } else if (key == "--seed") {
      out.seed = static_cast<std::uint64_t>(number);
    } else if (key == "--every") {
      out.every = number;
    } else if (key == "--refusals") {
      out.refusals = number;
    } else {
      usage();
    }
  }
  return out;
}

int dropEach(const Options& options) {
  std::vector<Child> clauses = clausesReached(options);
  if (clauses.empty()) {
    fmt::print(stderr, "no clause has '{}' in its place\n", options.only);
    return 2;
  }
  const auto jobs = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  std::map<pid_t, Child*> running;
  std::size_t next = 0;
  int unnoticed = 0;
  while (next < clauses.size() || !running.empty()) {
    while (next < clauses.size() && running.size() < jobs) {
      Child& child = clauses[next++];
      running[start(child, options)] = &child;
    }
    int status = 0;
    const pid_t pid = wait(&status);
    const auto found = running.find(pid);
    if (found == running.end()) continue;
    const Child& child = *found->second;
    const std::string verdict = verdictOf(child, status);
    if (verdict.empty()) ++unnoticed;
    fmt::print("{:<24} {:<60.60} {}\n", child.clause, child.text,
               verdict.empty() ? "NOT NOTICED" : verdict);
    std::fflush(stdout);
    running.erase(found);
  }
  fmt::print("{} mutants, {} not noticed within {} moves\n", clauses.size(), unnoticed,
             options.moves);
  return unnoticed == 0 ? 0 : 1;
}

struct Refusals {
  std::int64_t accepted = 0;
  std::int64_t refused = 0;  ///< By a clause, of those tried.
  std::int64_t numbers = 0;  ///< By the rules on numbers: not tried.
  double careful = 0;        ///< Of these, with nothing wrong, as far as was tried.
  std::vector<std::string> examples;

  [[nodiscard]] double good() const { return static_cast<double>(accepted) + careful; }
  [[nodiscard]] double share() const { return good() > 0 ? careful / good() : 0; }
};

/// Which nodes of a program run at all; a scope whose extent data decides counts as though it had
/// one iteration.
class Running {
 public:
  explicit Running(const ir::Program& program) { nodes(program.body); }
  [[nodiscard]] bool runs(const ir::Node& node) const { return seen_.contains(&node); }
  /// How often leaves do.
  [[nodiscard]] std::int64_t leaves() const { return leaves_; }

 private:
  void nodes(const std::vector<ir::Node>& body) {
    for (const ir::Node& node : body) {
      const bool on =
          std::all_of(node.guard.begin(), node.guard.end(), [&](const ir::GuardTerm& term) {
            const std::int64_t value = term.expr.evaluate(variables_);
            return value >= term.lo && value < term.hi;
          });
      if (!on) continue;
      seen_.insert(&node);
      if (node.isLeaf()) {
        ++leaves_;
        continue;
      }
      const ir::Extent& extent = node.scope().extent;
      variables_.push_back(0);
      for (; variables_.back() < (extent.isConstant() ? extent.count : 1); ++variables_.back()) {
        nodes(node.scope().body);
      }
      variables_.pop_back();
    }
  }

  std::vector<std::int64_t> variables_;
  std::set<const ir::Node*> seen_;
  std::int64_t leaves_ = 0;
};

/// Moves of guards must leave what is executed as it is, whether or not it matters.
bool executesTheSame(const ir::Program& program, const target::Target& target,
                     const moves::Move& move) {
  if (move.name.find("_guard") == std::string::npos) return true;
  const Result<ir::Program> after = moves::apply(program, target, move);
  return after && Running(program).leaves() == Running(*after).leaves();
}

/// True where the move, made without any clause, changes nothing and can be undone.
bool nothingWrong(const ir::Program& program, const target::Target& target,
                  const moves::Move& move) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    alarm(20);
    moves::dropClause(moves::kEveryClause);
    if (!executesTheSame(program, target, move)) _exit(1);
    for (std::uint64_t seed = 1; seed <= 9; ++seed) {
      if (proof::proveStep(program, target, move, seed).flaw) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Adds what the wanted moves make of one program; of the refusals of a rule at a program only a
/// few are tried.
void count(const ir::Program& program, const target::Target& target,
           const std::set<std::string>& wanted, proof::Random& random,
           std::map<std::string, Refusals>& table) {
  constexpr int kMostTried = 3;
  const moves::State state(program, target);
  for (const moves::Rule* rule : moves::catalogue()) {
    const std::string name(rule->info().name);
    if (!wanted.contains(name)) continue;
    std::vector<moves::Move> refused;
    std::int64_t accepted = 0;
    for (const ir::Visit& place : state.nodes()) {
      std::vector<std::vector<moves::Arg>> choices;
      rule->choices(state, place, choices);
      for (std::vector<moves::Arg>& args : choices) {
        moves::Move move{name, std::move(args)};
        const Result<ir::Program> result = moves::apply(state, move);
        if (result) {
          ++accepted;
        } else if (result.error().code == "move.numbers" ||
                   result.error().code == "move.infinite") {
          ++table[name].numbers;
        } else {
          refused.push_back(std::move(move));
        }
      }
    }
    random.shuffle(refused);
    // What is tried stands for all that were refused.
    const std::size_t tried = std::min<std::size_t>(refused.size(), kMostTried);
    Refusals& row = table[name];
    std::int64_t careful = 0;
    for (std::size_t i = 0; i < tried; ++i) {
      if (!nothingWrong(program, target, refused[i])) continue;
      ++careful;
      row.examples.push_back(ir::print(program) + "\n# refused: " + moves::toString(refused[i]) +
                             "\n# " + moves::apply(state, refused[i]).error().text() + "\n");
    }
    row.accepted += accepted;
    row.refused += static_cast<std::int64_t>(refused.size());
    if (tried > 0) {
      row.careful += static_cast<double>(careful) * static_cast<double>(refused.size()) /
                     static_cast<double>(tried);
    }
  }
}

/// Every tmp has a part in a result: of values that nobody sees anything goes.
bool allCounts(const ir::Program& program) {
  std::vector<bool> live(program.buffers.size());
  for (std::size_t id = 0; id < live.size(); ++id) {
    live[id] = program.buffers[id].role != ir::Role::tmp;
  }
  for (bool more = true; more;) {
    more = false;
    ir::walk(program, [&](const ir::Visit& visit) {
      const bool leaf = visit.node->isLeaf();
      if (leaf && !live[static_cast<std::size_t>(visit.node->leaf().dst.buffer)]) return true;
      ir::forEachAccess(*visit.node, [&](const ir::Access& access, ir::Touch touch) {
        const auto id = static_cast<std::size_t>(access.buffer);
        more = more || (touch == ir::Touch::read && !live[id]);
        live[id] = live[id] || touch == ir::Touch::read;
      });
      return true;
    });
  }
  return std::find(live.begin(), live.end(), false) == live.end();
}

/// True for a constant that changes nothing, or all: what is wrong beside it may not show.
bool isNeutral(const ir::Operand& operand) {
  const auto* constant = std::get_if<ir::Constant>(&operand);
  if (constant == nullptr) return false;
  const double value =
      std::visit([](const auto number) { return static_cast<double>(number); }, *constant);
  return value == 0 || value == 1;
}

/// True where a wrong result may look right: of one iteration every order is the same, what never
/// runs does nothing, and neither does adding 0.
bool hidesFlaws(const ir::Program& program) {
  const Running running(program);
  bool out = false;
  ir::walk(program, [&](const ir::Visit& visit) {
    const ir::Node& node = *visit.node;
    out = out || !running.runs(node);
    if (node.isScope()) {
      out = out || node.scope().extent == ir::Extent(1);
    } else if (ir::info(node.leaf().op).arity > 1 || node.leaf().isReduction()) {
      const auto& operands = node.leaf().operands;
      out = out || std::any_of(operands.begin(), operands.end(), isNeutral);
    }
    return !out;
  });
  return out;
}

/// A program in which a wrong move shows, as moves may have left it. Not a trap: those are there
/// for what must be refused.
ir::Program programToRefuse(const target::Target& target, proof::Random& random) {
  while (true) {
    ir::Program program = proof::randomProgram(random);
    if (program.name == "trap") continue;
    for (std::int64_t k = random(0, 4); k > 0; --k) {
      const std::vector<moves::Move> all = moves::applicable(program, target);
      if (all.empty()) break;
      program = *moves::apply(program, target, random.of(all));
    }
    if (allCounts(program) && !hidesFlaws(program)) return program;
  }
}

int countRefusals(const Options& options) {
  constexpr double kMostRefused = 0.10;
  constexpr double kFew = 60;
  const target::Target target = proof::withEverything(test::someTarget());
  proof::Random random(options.seed);
  std::map<std::string, Refusals> table;
  std::set<std::string> wanted;
  for (const moves::Rule* rule : moves::catalogue()) {
    const std::string name(rule->info().name);
    if (name.find(options.only) != std::string::npos) wanted.insert(name);
  }
  if (wanted.empty()) {
    fmt::print(stderr, "no move has '{}' in its name\n", options.only);
    return 2;
  }
  // Then more for what is rare.
  for (std::int64_t i = 0; i < options.refusals * 4; ++i) {
    if (i >= options.refusals) {
      std::erase_if(wanted, [&](const std::string& name) { return table[name].good() >= kFew; });
      if (wanted.empty()) break;
    }
    count(programToRefuse(target, random), target, wanted, random, table);
  }
  fmt::print("{:<18} {:>9} {:>9} {:>9} {:>12} {:>8}\n", "MOVE", "ACCEPTED", "NUMBERS", "REFUSED",
             "TOO CAREFUL", "SHARE");
  int over = 0;
  for (const auto& [name, row] : table) {
    fmt::print("{:<18} {:>9} {:>9} {:>9} {:>12.1f} {:>7.1f}%\n", name, row.accepted, row.numbers,
               row.refused, row.careful, row.share() * 100);
    if (row.share() <= kMostRefused) continue;
    ++over;
    for (const std::string& example : row.examples) fmt::print(stderr, "{}\n", example);
  }
  return over == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  return options.refusals > 0 ? countRefusals(options) : dropEach(options);
}
