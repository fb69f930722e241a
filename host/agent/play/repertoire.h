// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What has worked in games so far: how much each kind of call brought on each target, and the
/// schedules of the best programs, to be tried in other games.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/store/archive.h"
#include "base/result.h"
#include "moves/move.h"

namespace dojo::agent {

/// A call without its place and without names of buffers: "register_block 4 16".
[[nodiscard]] std::string kindOf(const moves::Move& call);

/// The calls that led to a good program of a game.
struct Opening {
  std::string target;
  std::string game;          ///< What was played: kernel and shape.
  std::vector<float> plain;  ///< The embedding of the game's plain program.
  std::vector<std::string> calls;
  double reward = 0;
  bool operator==(const Opening&) const = default;
};

class Repertoire {
 public:
  /// A step by a call of that kind changed the reward by `gain`.
  void saw(const std::string& target, const std::string& kind, double gain);
  /// What a step of that kind is expected to improve, worse outcomes counting as none. Of what was
  /// seen seldom it's that of calls of the same name, and at last of any call.
  [[nodiscard]] double worth(const std::string& target, const std::string& kind) const;
  /// Kinds of a name that were seen on the target, by text.
  [[nodiscard]] std::vector<std::string> kinds(const std::string& target,
                                               const std::string& name) const;

  /// Enters an opening; of each target and game the best few stay.
  void keep(Opening opening);
  [[nodiscard]] const std::vector<Opening>& openings() const { return openings_; }
  /// Those of a target, of the games most like `plain` first.
  [[nodiscard]] std::vector<const Opening*> openings(const std::string& target,
                                                     const std::vector<float>& plain) const;

  void save(Archive& archive) const;
  /// A file without one leaves it empty. Error: "agent.damaged".
  [[nodiscard]] Status load(const Archive& archive);

 private:
  struct Seen {
    double count = 0, gain = 0;
  };
  [[nodiscard]] Seen seen(const std::string& key) const;

  std::map<std::string, Seen> seen_;  ///< "TARGET KIND", "TARGET NAME" and "".
  std::vector<Opening> openings_;
};

}  // namespace dojo::agent
