// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/clause.h"

#ifdef DOJO_MUTANTS
#include <cstring>
#include <map>
#include <memory>

namespace dojo::moves {

namespace {

struct Registry {
  std::map<std::string, std::unique_ptr<Clause>> clauses;
  std::vector<Clause*> reached;
  std::string dropped;
};

Registry& registry() {
  static Registry registry;
  return registry;
}

bool isDropped(const Clause& clause) {
  return registry().dropped == kEveryClause || registry().dropped == clause.where();
}

}  // namespace

std::string Clause::where() const {
  const char* name = std::strrchr(file, '/');
  return std::string(name == nullptr ? file : name + 1) + ":" + std::to_string(line);
}

const std::vector<Clause*>& reachedClauses() { return registry().reached; }

void dropClause(const std::string& where) {
  registry().dropped = where;
  for (Clause* clause : registry().reached) clause->dropped = isDropped(*clause);
}

const Clause& enterClause(const char* file, int line, const char* text) {
  Registry& all = registry();
  auto clause = std::make_unique<Clause>(Clause{file, line, text});
  // Several clauses of one line, and what is instantiated several times, are one here.
  auto& entry = all.clauses[clause->where() + text];
  if (!entry) {
    clause->dropped = isDropped(*clause);
    all.reached.push_back(clause.get());
    entry = std::move(clause);
  }
  return *entry;
}

}  // namespace dojo::moves
#endif
