// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <deque>
#include <filesystem>
#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "agent/play/agent.h"
#include "agent/play/perfllm.h"
#include "agent/play/ranking.h"
#include "kernels/kernels.h"
#include "search/search.h"

using namespace dojo;
using namespace dojo::agent;

namespace {

const target::Target& host() {
  static const target::Target one = *target::load("host");
  return one;
}

/// The encoder with the embedder that needs it.
class SmallEmbedder final : public Embedder {
 public:
  explicit SmallEmbedder(std::uint64_t seed = 1)
      : random_(seed),
        encoder_({.width = 16, .heads = 2, .lineLayers = 1, .programLayers = 1, .hidden = 16},
                 random_),
        own_(encoder_) {}
  std::size_t width() const override { return own_.width(); }
  std::string identity() const override { return own_.identity(); }
  Result<Matrix> embed(const std::vector<std::string>& texts) override {
    if (asked_++ >= failsAfter) return Error{"agent.embedder", "it is gone", "", ""};
    return own_.embed(texts);
  }
  std::int64_t failsAfter = 1 << 30;

 private:
  search::Random random_;
  Encoder encoder_;
  OwnEmbedder own_;
  std::int64_t asked_ = 0;
};

/// Counts vector operations in place of running anything.
class Counting final : public search::Evaluator {
 public:
  int depth() const override { return 2; }
  void submit(const search::Candidate& candidate) override {
    const moves::State state(candidate.program, host());
    Measurement measured;
    measured.cycles = measured.score = search::operationsOf(state);
    Outcome outcome;
    outcome.result = measured;
    waiting_.push_back(outcome);
    ++measured_;
  }
  std::optional<Outcome> next() override {
    Outcome out = waiting_.front();
    waiting_.pop_front();
    return out;
  }
  int measured_ = 0;

 private:
  std::deque<Outcome> waiting_;
};

LearnerOptions learnerOptions() {
  LearnerOptions options;
  options.network = {.width = 16, .hidden = 16};
  options.batch = 8;
  options.replay.capacity = 500;
  return options;
}

struct Played {
  std::vector<std::string> texts;
  double start = 0, best = 0;
  PlayCounts counts;
};

Played play(Agent& agent, std::uint64_t seed, std::int64_t trials, bool keep = false,
            const PlayOptions& options = {}) {
  const ir::Program plain = kernels::load("sum")->program;
  search::Problem problem{plain, plain, {}, &host(), seed, trials, false};
  PerfLlm strategy(problem, agent, options);
  Counting evaluator;
  search::Search search(problem, strategy);
  REQUIRE(search.run(evaluator, {.trials = trials}, {}).ok());
  search.settle();
  Played out;
  for (const search::Tried& one : search.history().all()) out.texts.push_back(one.candidate.text);
  out.start = search.progress().baseline;
  out.best = search.progress().best;
  out.counts = strategy.counts();
  if (keep) strategy.keepOpenings("sum");
  CHECK(evaluator.measured_ == static_cast<int>(out.texts.size()));
  return out;
}

}  // namespace

TEST_CASE("agent: it plays, learns as it goes, and measures no program twice") {
  Agent agent(std::make_unique<SmallEmbedder>(), learnerOptions());
  const Played played = play(agent, 1, 120, false, {.learnEvery = 1});
  CHECK(played.texts.size() == 120);
  CHECK(std::set<std::string>(played.texts.begin(), played.texts.end()).size() == 120);
  CHECK(played.best < 0.5 * played.start);
  CHECK(played.counts.trouble.ok());
  CHECK(played.counts.learned > 100);
  CHECK(agent.learner().replay().size() > 50);
  CHECK(agent.learner().learned() > 50);
}

TEST_CASE("agent: equal agents with equal seeds play alike") {
  const auto texts = [](std::uint64_t seed) {
    Agent agent(std::make_unique<SmallEmbedder>(), learnerOptions());
    return play(agent, seed, 60).texts;
  };
  const auto first = texts(1);
  CHECK(first == texts(1));
  CHECK(first != texts(2));
}

TEST_CASE("agent: where nothing reads its programs any more, it goes on and says why") {
  auto embedder = std::make_unique<SmallEmbedder>();
  embedder->failsAfter = 20;
  Agent agent(std::move(embedder), learnerOptions());
  const Played played = play(agent, 1, 60);
  CHECK(played.texts.size() == 60);
  REQUIRE_FALSE(played.counts.trouble.ok());
  CHECK(played.counts.trouble.error().code == "agent.embedder");
}

TEST_CASE("agent: what an agent learned is kept, for programs read the same way") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("agent-play-" + std::to_string(getpid())))
          .string();
  Agent agent(std::make_unique<SmallEmbedder>(), learnerOptions());
  (void)play(agent, 1, 40);
  REQUIRE(agent.save(path).ok());
  Agent loaded(std::make_unique<SmallEmbedder>(), learnerOptions());
  const auto notes = loaded.load(path);
  REQUIRE(notes.ok());
  CHECK(notes->empty());
  CHECK(loaded.learner().learned() == agent.learner().learned());
  CHECK(play(loaded, 2, 40).texts == play(agent, 2, 40).texts);
  Agent other(std::make_unique<SmallEmbedder>(2), learnerOptions());
  CHECK(other.load(path).error().code == "agent.embedder");
  std::filesystem::remove(path);
}

TEST_CASE("agent: what was best in a game is tried first in the next") {
  Agent agent(std::make_unique<SmallEmbedder>(), learnerOptions());
  const Played first = play(agent, 1, 100, true);
  CHECK(first.counts.openings == 0);
  REQUIRE_FALSE(agent.repertoire().openings().empty());
  const Played next = play(agent, 2, 12);
  CHECK(next.counts.openings > 0);
  CHECK(next.best <= first.best * 1.001);
}

TEST_CASE("agent: what is kept for play is small, plays alike, and remembers nothing") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("agent-small-" + std::to_string(getpid())))
          .string();
  Agent agent(std::make_unique<SmallEmbedder>(), learnerOptions());
  (void)play(agent, 1, 60, true);
  REQUIRE(agent.saveForPlay(path, "a command").ok());
  std::map<std::string, std::string> extra = {{"made-by", ""}};
  Agent one(std::make_unique<SmallEmbedder>(), learnerOptions());
  REQUIRE(one.load(path, &extra).ok());
  CHECK(extra["made-by"] == "a command");
  CHECK(one.learner().replay().size() == 0);
  CHECK(one.repertoire().openings() == agent.repertoire().openings());
  Agent two(std::make_unique<SmallEmbedder>(), learnerOptions());
  REQUIRE(two.load(path).ok());
  CHECK(play(one, 3, 40).texts == play(two, 3, 40).texts);
  std::filesystem::remove(path);
}

TEST_CASE("agent: ranked by the model of costs, every strategy resumes and repeats nothing") {
  const ir::Program plain = kernels::load("sum")->program;
  for (const search::StrategyInfo& info : search::strategies()) {
    const auto texts = [&](std::int64_t pause) {
      search::Problem problem{plain, plain, {}, &host(), 3, 60, false};
      problem.ranker = std::make_shared<Ranking>(std::make_unique<SmallEmbedder>(), RankOptions());
      auto made = search::makeStrategy(std::string(info.name), problem);
      const auto strategy = std::move(made).value();
      Counting evaluator;
      search::Search search(problem, *strategy);
      if (pause > 0) REQUIRE(search.run(evaluator, {.trials = pause}, {}).ok());
      REQUIRE(search.run(evaluator, {.trials = 60}, {}).ok());
      std::vector<std::string> out;
      for (const search::Tried& one : search.history().all()) out.push_back(one.candidate.text);
      return out;
    };
    INFO(info.name);
    const auto whole = texts(0);
    CHECK(whole.size() >= 10);  // A beam may have nothing left.
    CHECK(std::set<std::string>(whole.begin(), whole.end()).size() == whole.size());
    CHECK(texts(7) == whole);
  }
}
