// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/ranking.h"

#include <algorithm>
#include <utility>

#include "agent/learn/reward.h"

namespace dojo::agent {
namespace {

/// Worse rewards teach nothing that is needed to find good ones.
constexpr double kLeastReward = -1;

}  // namespace

Ranking::Ranking(std::unique_ptr<Embedder> embedder, const RankOptions& options)
    : embedder_(std::move(embedder)), options_(options), model_(embedder_->width()) {}

std::size_t Ranking::wanted() const {
  const bool open = options_.openEvery > 0 && outcomes_ % options_.openEvery == 0;
  return !trouble_.ok() || open || model_.size() < options_.least ? 1 : options_.draws;
}

std::size_t Ranking::best(const std::vector<search::Candidate>& candidates) {
  std::vector<std::string> texts;
  for (const search::Candidate& one : candidates) texts.push_back(one.text);
  const Result<Matrix> rows = embedder_->embed(texts);
  if (!rows.ok()) {
    trouble_ = rows.error();
    return 0;
  }
  std::size_t best = 0;
  double most = 0;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const CostModel::Guess guess = model_.guess(rows->row(k));
    const double worth = guess.mean + options_.curiosity * guess.deviation;
    if (k > 0 && worth <= most) continue;
    best = k;
    most = worth;
  }
  return best;
}

Status Ranking::teach(const std::string& text, double reward) {
  const Result<Matrix> row = embedder_->embed({text});
  if (!row.ok()) return row.error();
  model_.add(row->row(0), std::max(kLeastReward, reward));
  return {};
}

void Ranking::learn(const search::Candidate& candidate, double score) {
  if (!started_) {
    started_ = true;
    startScore_ = score;
  }
  ++outcomes_;
  if (!trouble_.ok()) return;
  if (Status status = teach(candidate.text, rewardOfScore(score, startScore_)); !status.ok()) {
    trouble_ = status;
  }
}

}  // namespace dojo::agent
