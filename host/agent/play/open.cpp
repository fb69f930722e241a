// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/open.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "agent/encoder/weights.h"
#include "base/text.h"

namespace dojo::agent {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders() {
  std::vector<fs::path> out;
  if (const char* chosen = std::getenv("DOJO_WEIGHTS")) out.emplace_back(chosen);
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  if (!self.empty()) out.push_back(self.parent_path().parent_path() / "weights");
  out.emplace_back(DOJO_WEIGHTS_DIR);
  return out;
}

Error missing(const char* what, const char* option) {
  return {"agent.missing",
          fmt::format("no {} was shipped with this program; name one by {}", what, option), "", ""};
}

Result<std::unique_ptr<Embedder>> embedderOf(const AgentSettings& settings) {
  if (settings.embedder) return settings.embedder();
  const std::string path = settings.weights.empty() ? shippedFile("encoder") : settings.weights;
  if (path.empty()) return missing("encoder", "--embedding, or another embedder by --embedder");
  Result<std::unique_ptr<Encoder>> encoder = loadEncoder(path);
  if (!encoder.ok()) return encoder.error();
  return std::unique_ptr<Embedder>(std::make_unique<OwnEmbedder>(std::move(encoder).value()));
}

/// Plays with an agent that nobody else has.
class Player final : public search::Strategy {
 public:
  Player(std::unique_ptr<Agent> agent, const search::Problem& problem, const PlayOptions& options)
      : agent_(std::move(agent)), play_(problem, *agent_, options) {}

  std::optional<search::Candidate> propose(const search::History& history) override {
    return play_.propose(history);
  }
  void report(const search::History& history, std::int64_t index) override {
    play_.report(history, index);
  }
  [[nodiscard]] int lookahead() const override { return play_.lookahead(); }
  [[nodiscard]] std::int64_t pruned() const override { return play_.pruned(); }

 private:
  std::unique_ptr<Agent> agent_;
  PerfLlm play_;
};

}  // namespace

std::string shippedFile(const std::string& name) {
  for (const fs::path& folder : folders()) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / name, ignored)) return (folder / name).string();
  }
  return "";
}

Result<OpenedAgent> openAgent(const AgentSettings& settings) {
  Result<std::unique_ptr<Embedder>> embedder = embedderOf(settings);
  if (!embedder.ok()) return embedder.error();
  OpenedAgent out;
  std::string pinned = (*embedder)->identity() + "\n" + describe(settings.learner) + "\n" +
                       describe(settings.play) + "\n";
  out.agent = std::make_unique<Agent>(std::move(embedder).value(), settings.learner);
  if (settings.checkpoint != kUntrained) {
    const std::string path =
        settings.checkpoint.empty() ? shippedFile("agent") : settings.checkpoint;
    if (path.empty()) {
      return missing("agent", "--agent-file (none: one that has learned nothing yet)");
    }
    Result<std::vector<std::string>> notes = out.agent->load(path);
    if (!notes.ok()) return notes.error();
    out.notes = std::move(notes).value();
    const Result<std::string> bytes = readFile(path, std::size_t{1} << 30);
    if (!bytes.ok()) return bytes.error();
    pinned += *bytes;
  }
  out.hash = hex(contentHash(pinned));
  return out;
}

Result<std::shared_ptr<Ranking>> makeRanking(const AgentSettings& settings) {
  Result<std::unique_ptr<Embedder>> embedder = embedderOf(settings);
  if (!embedder.ok()) return embedder.error();
  return std::make_shared<Ranking>(std::move(embedder).value(), RankOptions());
}

Result<std::unique_ptr<search::Strategy>> makePerfLlm(const AgentSettings& settings,
                                                      const search::Problem& problem) {
  Result<OpenedAgent> opened = openAgent(settings);
  if (!opened.ok()) return opened.error();
  return std::unique_ptr<search::Strategy>(
      std::make_unique<Player>(std::move(opened->agent), problem, settings.play));
}

}  // namespace dojo::agent
