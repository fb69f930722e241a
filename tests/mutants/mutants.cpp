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
/// refusal was too careful.
///
///   mutants --refusals PROGRAMS [--seed S] [--only MOVE]
///
/// Prints a row for each move; exit code 1 where more than a tenth of what is good was refused.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
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
  const target::Target target = test::someTarget();
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
  const target::Target target = test::someTarget();
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
  std::int64_t careful = 0;  ///< Of these, with nothing wrong.
  std::string example;

  [[nodiscard]] double share() const {
    const auto good = static_cast<double>(accepted + careful);
    return good > 0 ? static_cast<double>(careful) / good : 0;
  }
};

/// True where the move, made without any clause, changes nothing and can be undone.
bool nothingWrong(const ir::Program& program, const target::Target& target,
                  const moves::Move& move) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    alarm(20);
    moves::dropClause(moves::kEveryClause);
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      if (proof::proveStep(program, target, move, seed).flaw) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Adds what the moves make of one program; of the refusals of a rule at a program only a few.
void count(const ir::Program& program, const target::Target& target, const Options& options,
           proof::Random& random, std::map<std::string, Refusals>& table) {
  constexpr int kMostTried = 2;
  const moves::State state(program, target);
  for (const moves::Rule* rule : moves::catalogue()) {
    const std::string name(rule->info().name);
    if (name.find(options.only) == std::string::npos) continue;
    std::vector<moves::Move> refused;
    std::int64_t accepted = 0;
    for (const ir::Visit& place : state.nodes()) {
      std::vector<std::vector<moves::Arg>> choices;
      rule->choices(state, place, choices);
      for (std::vector<moves::Arg>& args : choices) {
        moves::Move move{name, std::move(args)};
        if (moves::apply(state, move)) {
          ++accepted;
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
      if (row.example.empty() || random.oneIn(8)) {
        row.example = ir::print(program) + "\n# refused: " + moves::toString(refused[i]) + "\n# " +
                      moves::apply(state, refused[i]).error().text() + "\n";
      }
    }
    row.accepted += accepted;
    row.refused += static_cast<std::int64_t>(refused.size());
    if (tried > 0) row.careful += careful * static_cast<std::int64_t>(refused.size() / tried);
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

int countRefusals(const Options& options) {
  constexpr double kMostRefused = 0.10;
  const target::Target target = test::someTarget();
  proof::Random random(options.seed);
  std::map<std::string, Refusals> table;
  for (std::int64_t i = 0; i < options.refusals; ++i) {
    // Programs as moves leave them, too.
    ir::Program program = proof::randomProgram(random);
    // Traps are there for what must be refused.
    while (program.name == "trap" || !allCounts(program)) program = proof::randomProgram(random);
    for (std::int64_t k = random(0, 4); k > 0; --k) {
      const std::vector<moves::Move> all = moves::applicable(program, target);
      if (all.empty()) break;
      program = *moves::apply(program, target, random.of(all));
    }
    count(program, target, options, random, table);
  }
  if (table.empty()) {
    fmt::print(stderr, "no move has '{}' in its name\n", options.only);
    return 2;
  }
  fmt::print("{:<18} {:>9} {:>9} {:>12} {:>8}\n", "MOVE", "ACCEPTED", "REFUSED", "TOO CAREFUL",
             "SHARE");
  int over = 0;
  for (const auto& [name, row] : table) {
    fmt::print("{:<18} {:>9} {:>9} {:>12} {:>7.1f}%\n", name, row.accepted, row.refused,
               row.careful, row.share() * 100);
    if (row.share() <= kMostRefused) continue;
    ++over;
    fmt::print(stderr, "{}\n", row.example);
  }
  return over == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  return options.refusals > 0 ? countRefusals(options) : dropEach(options);
}
