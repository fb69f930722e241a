// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Does the property test bite? Drops each clause of the moves' preconditions in turn; the property
/// test must then fail. Each mutant runs in a process of its own: a crash is a failure too.
///
///   mutants [--moves N] [--seed S] [--every K] [--only TEXT]
///
/// `--every K` takes every K-th clause, another one for each seed. Prints a row for each clause;
/// exit code 1 where one wasn't noticed.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moves/clause.h"
#include "proof/prove_moves.h"
#include "support/some_target.h"

using namespace dojo;

namespace {

struct Options {
  std::int64_t moves = 20000;
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

/// The verdict of a process that ended.
std::string verdictOf(const Child& child, int status) {
  if (WIFSIGNALED(status)) {
    close(child.output);
    return WTERMSIG(status) == SIGALRM ? "never ends" : "crash";
  }
  std::string out;
  char buffer[512];
  for (ssize_t n = 0; (n = read(child.output, buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<std::size_t>(n));
  }
  close(child.output);
  return WEXITSTATUS(status) == 0 ? out : "crash";
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

Options parse(int argc, char** argv) {
  Options out;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--moves") out.moves = std::atoll(argv[i + 1]);
    if (key == "--seed") out.seed = static_cast<std::uint64_t>(std::atoll(argv[i + 1]));
    if (key == "--every") out.every = std::max<std::int64_t>(1, std::atoll(argv[i + 1]));
    if (key == "--only") out.only = argv[i + 1];
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::vector<Child> clauses = clausesReached(options);
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
