// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "ir/canonical.h"
#include "moves/clause.h"
#include "moves/concurrency.h"
#include "moves/instructions.h"
#include "moves/move.h"
#include "moves/rule.h"
#include "moves/sharing.h"

namespace dojo::moves {

namespace {

std::string_view expected(ArgKind kind) {
  switch (kind) {
    case ArgKind::place:
      return "a place such as @1.0";
    case ArgKind::body:
      return "a place such as @1.0, or @ for the whole program";
    case ArgKind::number:
      return "a number";
    case ArgKind::buffer:
      return "the name of a buffer";
    case ArgKind::name:
      return "a name";
    case ArgKind::text:
      return "a text";
  }
  return "";
}

bool hasKind(const Arg& arg, ArgKind kind) {
  switch (kind) {
    case ArgKind::place:
    case ArgKind::body:
      return std::holds_alternative<ir::Path>(arg);
    case ArgKind::number:
      return std::holds_alternative<std::int64_t>(arg);
    default:
      return std::holds_alternative<std::string>(arg);
  }
}

Error argumentsError(const RuleInfo& info, const std::string& problem) {
  return Error{"move.arguments", problem, "", "usage: " + signature(info)};
}

Status checkArguments(const State& state, const RuleInfo& info, const std::vector<Arg>& args) {
  const auto required = static_cast<std::size_t>(
      std::count_if(info.parameters.begin(), info.parameters.end(),
                    [](const Parameter& parameter) { return !parameter.optional; }));
  if (args.size() < required || args.size() > info.parameters.size()) {
    return argumentsError(info, std::string(info.name) + " takes " +
                                    std::to_string(info.parameters.size()) + " arguments, not " +
                                    std::to_string(args.size()));
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Parameter& parameter = info.parameters[i];
    if (!hasKind(args[i], parameter.kind)) {
      return argumentsError(info, "argument " + std::to_string(i + 1) + " of " +
                                      std::string(info.name) + ", " + std::string(parameter.name) +
                                      ", must be " + std::string(expected(parameter.kind)));
    }
    if (parameter.kind == ArgKind::place || parameter.kind == ArgKind::body) {
      const auto& path = std::get<ir::Path>(args[i]);
      const bool whole = path.empty() && parameter.kind == ArgKind::body;
      if (!whole && state.visit(path) == nullptr) {
        return Error{"move.place", "the program has no node at this place", ir::toString(path), ""};
      }
      if (insideInstruction(state.program(), path)) {
        return Error{"move.place",
                     "this is inside an instruction, which expand_instruction takes apart",
                     ir::toString(path), ""};
      }
    }
    if (parameter.kind == ArgKind::buffer) {
      const auto& name = std::get<std::string>(args[i]);
      if (!state.program().find(name)) {
        std::vector<std::string> names;
        for (const ir::Buffer& buffer : state.program().buffers) names.push_back(buffer.name);
        return Error{"move.buffer",
                     "the program has no buffer '" + name + "'" + didYouMean(name, names), "", ""};
      }
    }
  }
  return {};
}

Result<const Rule*> ruleOf(const Move& move) {
  if (const Rule* rule = findRule(move.name)) return rule;
  std::vector<std::string> names;
  for (const Rule* rule : catalogue()) names.emplace_back(rule->info().name);
  return Error{"move.unknown",
               "there is no move '" + move.name + "'" + didYouMean(move.name, names), "", ""};
}

/// The result of a move whose arguments are good.
Result<ir::Program> applyChecked(const State& state, const Rule& rule,
                                 const std::vector<Arg>& args) {
  if (Status status = rule.check(state, args); !status) return status.error();
  ir::Program result = rule.rewrite(state, args);
  ir::canonicalize(result);
  const Move move{std::string(rule.info().name), args};
  if (Status status = proveInstructions(state.program(), move, result, state.target());
      !DOJO_CLAUSE(status)) {
    return status.error();
  }
  if (Status status = proveConcurrency(result); !DOJO_CLAUSE(status)) return status.error();
  if (Status status = proveSharing(result); !DOJO_CLAUSE(status)) return status.error();
  return result;
}

/// True where the move would succeed. A program without concurrent scopes, shared storage and
/// instructions needs no rewriting to answer: the moves that make these prove themselves that they
/// may.
bool accepts(const State& state, const Rule& rule, const std::vector<Arg>& args) {
  const ir::Program& program = state.program();
  for (const Arg& arg : args) {
    const auto* path = std::get_if<ir::Path>(&arg);
    if (path != nullptr && insideInstruction(program, *path)) return false;
  }
  if (hasConcurrency(program) || program.hasSharing() || !program.instructions.empty()) {
    return applyChecked(state, rule, args).ok();
  }
  return rule.check(state, args).ok();
}

void appendApplicable(const State& state, const Rule& rule, const ir::Visit& place,
                      std::vector<Move>& out) {
  std::vector<std::vector<Arg>> choices;
  rule.choices(state, place, choices);
  for (std::vector<Arg>& args : choices) {
    if (accepts(state, rule, args)) {
      out.push_back(Move{std::string(rule.info().name), std::move(args)});
    }
  }
}

}  // namespace

Result<ir::Program> apply(const State& state, const Move& move) {
  const Result<const Rule*> rule = ruleOf(move);
  if (!rule) return rule.error();
  if (Status status = checkArguments(state, (*rule)->info(), move.args); !status) {
    return status.error();
  }
  return applyChecked(state, **rule, move.args);
}

Result<ir::Program> apply(const ir::Program& program, const target::Target& target,
                          const Move& move) {
  return apply(State(program, target), move);
}

Trace undo(const State& before, const Move& move, const ir::Program& after) {
  const Rule* rule = findRule(move.name);
  DOJO_CHECK(rule != nullptr, "undo of an unknown move " + move.name);
  return withSharing(before.program(), before.target(), rule->inverse(before, move.args, after),
                     after);
}

Trace undo(const ir::Program& before, const target::Target& target, const Move& move,
           const ir::Program& after) {
  return undo(State(before, target), move, after);
}

Result<ir::Program> replay(const ir::Program& program, const target::Target& target,
                           const Trace& trace) {
  ir::Program current = program;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    Result<ir::Program> next = apply(State(std::move(current), target), trace[i]);
    if (!next) {
      Error error = next.error();
      const std::string line = "move " + std::to_string(i + 1) + " (" + toString(trace[i]) + ")";
      error.where = error.where.empty() ? line : line + " at " + error.where;
      return error;
    }
    current = std::move(*next);
  }
  return current;
}

std::vector<Move> applicable(const State& state) {
  std::vector<Move> out;
  for (const Rule* rule : catalogue()) {
    for (const ir::Visit& place : state.nodes()) appendApplicable(state, *rule, place, out);
  }
  return out;
}

std::vector<Move> applicable(const ir::Program& program, const target::Target& target) {
  return applicable(State(program, target));
}

std::vector<Move> applicableAt(const State& state, const ir::Path& place) {
  std::vector<Move> out;
  const ir::Visit* visit = state.visit(place);
  if (visit == nullptr) return out;
  for (const Rule* rule : catalogue()) appendApplicable(state, *rule, *visit, out);
  return out;
}

std::vector<Move> candidatesAt(const State& state, const ir::Path& place) {
  std::vector<Move> out;
  const ir::Visit* visit = state.visit(place);
  if (visit == nullptr) return out;
  for (const Rule* rule : catalogue()) {
    std::vector<std::vector<Arg>> choices;
    rule->choices(state, *visit, choices);
    for (std::vector<Arg>& args : choices) {
      out.push_back(Move{std::string(rule->info().name), std::move(args)});
    }
  }
  return out;
}

}  // namespace dojo::moves
