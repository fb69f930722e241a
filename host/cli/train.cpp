// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "agent/encoder/weights.h"
#include "agent/pretrain/pretrain.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/rows.h"
#include "cli/train_play.h"
#include "cli/tune.h"

namespace dojo::cli {
namespace {

struct Options {
  bool embedding = false;
  std::vector<std::string> targets = {"host", "qemu-rv64gcv"};
  std::vector<std::string> kernels;
  std::int64_t steps = 20000;
  std::uint64_t seed = 1;
  std::int64_t every = 100;
  std::string folder = "dojo-train";
  TrainPlayArgs play;
};

constexpr const char* kHeader =
    "step,fill,filled,line_facts,program_facts,contrast,known,seconds\n";

/// The command that makes the same weights.
std::string commandOf(const Options& options) {
  const auto list = [](const std::vector<std::string>& all) {
    std::string out;
    for (const std::string& one : all) out += (out.empty() ? "" : ",") + one;
    return out;
  };
  std::string out = fmt::format("dojo train --embedding --steps {} --seed {} --targets {}",
                                options.steps, options.seed, list(options.targets));
  if (!options.kernels.empty()) out += " --kernels " + list(options.kernels);
  return out;
}

/// The lines of a curve that were written until a step.
std::string curveUntil(const std::string& path, std::int64_t step) {
  const Result<std::string> text = readFile(path);
  std::string out = kHeader;
  if (!text.ok()) return out;
  std::size_t at = text->find('\n');
  while (at != std::string::npos && at + 1 < text->size()) {
    const std::size_t end = text->find('\n', at + 1);
    if (end == std::string::npos) break;
    const std::string line = text->substr(at + 1, end - at);
    if (std::strtoll(line.c_str(), nullptr, 10) <= step) out += line;
    at = end;
  }
  return out;
}

struct Sums {
  agent::PretrainLosses losses;
  std::int64_t count = 0;

  void add(const agent::PretrainLosses& one) {
    losses.fill += one.fill;
    losses.filled += one.filled;
    losses.lineFacts += one.lineFacts;
    losses.programFacts += one.programFacts;
    losses.contrast += one.contrast;
    losses.known += one.known;
    ++count;
  }
  [[nodiscard]] std::string row(std::int64_t step, double seconds) const {
    const auto n = static_cast<double>(count);
    return fmt::format("{},{:.5f},{:.4f},{:.6f},{:.6f},{:.5f},{:.4f},{:.1f}\n", step,
                       losses.fill / n, losses.filled / n, losses.lineFacts / n,
                       losses.programFacts / n, losses.contrast / n, losses.known / n, seconds);
  }
};

int trainEmbedding(const Options& options) {
  std::vector<target::Target> targets;
  for (const std::string& name : options.targets) {
    Result<target::Target> target = target::load(name);
    if (!target.ok()) return fail(target.error());
    targets.push_back(*std::move(target));
  }
  std::vector<const target::Target*> pointers;
  for (const target::Target& target : targets) pointers.push_back(&target);
  std::error_code made;
  std::filesystem::create_directories(options.folder, made);
  const std::string checkpoint = options.folder + "/pretraining";
  const std::string weights = options.folder + "/encoder";
  const std::string csv = options.folder + "/pretraining.csv";

  const agent::Corpus corpus(options.kernels, pointers);
  agent::PretrainOptions pretrain;
  pretrain.steps = options.steps;
  pretrain.seed = options.seed;
  agent::Pretraining training({}, pretrain, corpus);
  ProgressLine progress;
  if (std::filesystem::exists(checkpoint)) {
    if (Status s = training.load(checkpoint); !s.ok()) return fail(s.error());
    progress.note(fmt::format("going on after step {} of {}", training.steps(), checkpoint));
  }
  std::string curve = curveUntil(csv, training.steps());
  const auto keep = [&]() -> Status {
    if (Status s = training.save(checkpoint); !s.ok()) return s;
    if (Status s = writeFile(csv, curve); !s.ok()) return s;
    return agent::saveEncoder(training.encoder(), commandOf(options), weights);
  };
  // What can't be written is told before anything is computed.
  if (Status s = keep(); !s.ok()) return fail(s.error());
  const double start = systemClock().now();
  Sums sums;
  while (training.steps() < options.steps && !interrupted()) {
    const Result<agent::PretrainLosses> losses = training.step();
    if (!losses.ok()) return fail(losses.error());
    sums.add(*losses);
    progress.update(fmt::format(
        "step {}/{}: hidden tokens {:.3f} ({:.0f}% right), facts {:.4f} and {:.4f}, known again "
        "{:.0f}%",
        training.steps(), options.steps, losses->fill, 100 * losses->filled, losses->lineFacts,
        losses->programFacts, 100 * losses->known));
    if (training.steps() % options.every != 0) continue;
    curve += sums.row(training.steps(), systemClock().now() - start);
    sums = {};
    if (Status s = keep(); !s.ok()) return fail(s.error());
  }
  progress.finish();
  if (Status s = keep(); !s.ok()) return fail(s.error());
  std::printf("%s\n", weights.c_str());
  return training.steps() < options.steps ? kFailed : kDone;
}

int run(const Options& options) {
  if (!options.embedding) {
    TrainPlayArgs args = options.play;
    args.targets = options.targets;
    args.kernels = options.kernels;
    args.seed = options.seed;
    args.folder = options.folder;
    return trainPlay(args);
  }
  if (options.steps < 1 || options.every < 1 || options.targets.empty()) {
    return fail(
        {"cli.usage", "expected at least one step, one target, and --every of 1 or more", "", ""});
  }
  return trainEmbedding(options);
}

}  // namespace

void addTrain(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      addCommand(app, "train", "Trains the learned agent; goes on where it stopped",
                 "dojo train --games 60 --targets qemu-rv64gcv --kernels axpy,dot,bmm",
                 [options] { return run(*options); });
  command->add_flag("--embedding", options->embedding,
                    "The encoder of programs: on programs alone, without a device");
  command->add_option("--targets", options->targets, "Targets to play on, separated by commas")
      ->delimiter(',');
  command->add_option("--kernels", options->kernels, "Kernels to play; all of the suite by default")
      ->delimiter(',');
  command->add_option("--games", options->play.games, "Games in all: kernels at shapes on targets")
      ->capture_default_str();
  command->add_option("--trials", options->play.trials, "The most programs of a game to measure")
      ->capture_default_str();
  command
      ->add_option("--learn", options->play.learn,
                   "Steps of learning after a game, for each of its trials")
      ->capture_default_str();
  command->add_flag("--fixed-shapes", options->play.fixedShapes,
                    "Kernels at their own shapes; otherwise those that name none vary");
  command->add_option("--runner", options->play.runner, "Path of another runner");
  addLogOption(*command, options->play.log);
  addAgentOptions(*command, options->play.agent, false);
  command->add_option("--steps", options->steps, "Of --embedding: steps of training in all");
  command->add_option("--seed", options->seed, "Of everything that is random");
  command->add_option("--every", options->every,
                      "Of --embedding: steps from one checkpoint to the next");
  command->add_option("--folder", options->folder,
                      "Where checkpoints, curves and what was trained are");
}

}  // namespace dojo::cli
