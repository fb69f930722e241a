// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/strategy.h"

#include "base/text.h"

namespace dojo::search {

const std::vector<StrategyInfo>& strategies() {
  static const std::vector<StrategyInfo> all = {
      {"annealing", "four chains of simulated annealing over moves and composites; the default",
       makeAnnealing},
      {"beam", "the best few, and the best of their neighbours, round by round", makeBeam},
      {"evolution", "a population of traces that mutate and cross; the worst give way",
       makeEvolution},
      {"greedy",
       "tries what is applicable to the best so far in random order, and goes on from what is "
       "better",
       makeGreedy},
      {"random", "chains of random moves and composites from the start program", makeRandom},
  };
  return all;
}

Result<std::unique_ptr<Strategy>> makeStrategy(const std::string& name, const Problem& problem) {
  std::vector<std::string> names;
  for (const StrategyInfo& info : strategies()) {
    if (info.name == name) return info.make(problem);
    names.emplace_back(info.name);
  }
  std::string known;
  for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
  return Error{
      "search.strategy",
      "there is no strategy '" + name + "' (known: " + known + ")" + didYouMean(name, names), "",
      ""};
}

}  // namespace dojo::search
