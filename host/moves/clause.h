// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Clauses of preconditions, so that a build for it (DOJO_MUTANTS) can drop each in turn and see
/// that the property test notices.
///
/// A clause is what meaning depends on. What only names nothing, or what a target doesn't offer, is
/// refused without one. In other builds a clause is the plain condition.
#pragma once

#ifdef DOJO_MUTANTS
#include <string>
#include <vector>
#endif

namespace dojo::moves {

#ifdef DOJO_MUTANTS
struct Clause {
  const char* file;
  int line;
  const char* text;
  bool dropped = false;
  [[nodiscard]] std::string where() const;  ///< "sink.cpp:84"
};
/// The clauses that control has reached so far.
[[nodiscard]] const std::vector<Clause*>& reachedClauses();
/// From now on the clause at `where` always holds, or every clause; the empty string drops none.
void dropClause(const std::string& where);
constexpr const char* kEveryClause = "*";
/// Enters a clause once.
[[nodiscard]] const Clause& enterClause(const char* file, int line, const char* text);

#define DOJO_CLAUSE(holds)                                      \
  ([](bool dojoHolds) {                                         \
    static const ::dojo::moves::Clause& clause =                \
        ::dojo::moves::enterClause(__FILE__, __LINE__, #holds); \
    return dojoHolds || clause.dropped;                         \
  }(static_cast<bool>(holds)))
#else
#define DOJO_CLAUSE(holds) (holds)
#endif

/// Returns the refusal (the further arguments) where the clause doesn't hold.
#define DOJO_NEEDS(holds, ...)                   \
  do {                                           \
    if (!DOJO_CLAUSE(holds)) return __VA_ARGS__; \
  } while (false)

}  // namespace dojo::moves
