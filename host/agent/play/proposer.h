// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Draws what may be done next, guided by what has worked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/play/repertoire.h"
#include "search/position.h"

namespace dojo::agent {

struct Draw {
  search::Position at;
  std::vector<std::string> kinds;  ///< Of the calls that made the difference.
};

class Proposer {
 public:
  /// `repertoire` outlives this; nullptr: all calls are alike.
  Proposer(const Repertoire* repertoire, std::string target)
      : repertoire_(repertoire), target_(std::move(target)) {}

  /// A change of a position that is worth trying. `other` is another good one, some of whose calls
  /// may be taken over. `late`: how much of the budget is spent; towards the end changes are small.
  /// nullopt: this attempt led nowhere.
  [[nodiscard]] std::optional<Draw> draw(const search::Position& from,
                                         const search::Position& other, double late,
                                         search::Random& random) const;
  /// The calls of another game from here, as far as they fit: each at its place, else at another
  /// one, or everywhere. nullopt: it's not worth trying.
  [[nodiscard]] std::optional<Draw> fitted(const search::Position& start,
                                           const std::vector<std::string>& calls, bool everywhere,
                                           search::Random& random) const;

 private:
  [[nodiscard]] std::optional<moves::Move> sample(const moves::State& state,
                                                  search::Random& random) const;
  [[nodiscard]] double worth(const std::string& kind) const;
  bool addComposites(Draw& draw, std::size_t count, search::Random& random) const;
  static bool addMoves(Draw& draw, std::size_t count, search::Random& random);

  const Repertoire* repertoire_;
  std::string target_;
};

}  // namespace dojo::agent
