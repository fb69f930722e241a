// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The learned cost model as a search's ranker.
#pragma once

#include <memory>

#include "agent/encoder/embedder.h"
#include "agent/play/cost_model.h"
#include "search/ranker.h"

namespace dojo::agent {

struct RankOptions {
  std::size_t draws = 4;   ///< Candidates for one that is measured.
  std::size_t least = 12;  ///< Outcomes before anything is ranked.
  double curiosity = 0.3;  ///< How much of what isn't known counts.
  /// Every so many trials the first that was drawn is taken, whatever is thought of it.
  std::size_t openEvery = 8;
};

class Ranking final : public search::Ranker {
 public:
  Ranking(std::unique_ptr<Embedder> embedder, const RankOptions& options);

  [[nodiscard]] std::size_t wanted() const override;
  [[nodiscard]] std::size_t best(const std::vector<search::Candidate>& candidates) override;
  void learn(const search::Candidate& candidate, double score) override;

  /// What was measured in other runs of the same kernel: its text, and the reward.
  [[nodiscard]] Status teach(const std::string& text, double reward);
  /// What ended ranking, if anything did; then the first that is drawn is taken.
  [[nodiscard]] const Status& trouble() const { return trouble_; }

 private:
  std::unique_ptr<Embedder> embedder_;
  RankOptions options_;
  CostModel model_;
  double startScore_ = 0;
  bool started_ = false;
  std::size_t outcomes_ = 0;
  Status trouble_;
};

}  // namespace dojo::agent
