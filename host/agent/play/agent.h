// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The agent as a whole: what reads programs, and what has learned of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/encoder/embedder.h"
#include "agent/learn/learner.h"
#include "agent/play/repertoire.h"
#include "base/result.h"

namespace dojo::agent {

class Agent {
 public:
  /// An agent that has learned nothing yet. The width of `options.network` is set to the
  /// embedder's.
  Agent(std::unique_ptr<Embedder> embedder, LearnerOptions options);

  [[nodiscard]] Learner& learner() { return learner_; }
  [[nodiscard]] Repertoire& repertoire() { return repertoire_; }
  [[nodiscard]] Embedder& embedder() { return *embedder_; }
  /// Puts programs on the learner's shelf, those that aren't there embedded all at once. Errors:
  /// the embedder's.
  [[nodiscard]] Status know(const std::vector<std::string>& texts);

  /// All that going on takes, and `extra` sections of the caller's.
  [[nodiscard]] Status save(const std::string& path,
                            const std::map<std::string, std::string>& extra = {}) const;
  /// What playing takes: without what was remembered to learn from it, in small numbers.
  [[nodiscard]] Status saveForPlay(const std::string& path, const std::string& madeBy) const;
  /// Into an agent with an equal embedder and equal options. What is worth telling though it's no
  /// error, one sentence each: moves that were added or taken away since. `extra`: in its
  /// keys the names of sections that are wanted. Errors: those of Archive,
  /// "agent.embedder", "agent.shape".
  [[nodiscard]] Result<std::vector<std::string>> load(
      const std::string& path, std::map<std::string, std::string>* extra = nullptr);

 private:
  std::unique_ptr<Embedder> embedder_;
  Learner learner_;
  Repertoire repertoire_;
};

}  // namespace dojo::agent
