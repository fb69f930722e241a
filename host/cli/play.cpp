// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <charconv>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/table.h"
#include "cli/workplace.h"
#include "codegen/codegen.h"
#include "ir/print.h"
#include "moves/lowerable.h"
#include "moves/rule.h"
#include "search/environment.h"

namespace dojo::cli {
namespace {

constexpr const char* kHelp = R"(  tree               the program with its places
  moves [PLACE]      what is applicable, numbered; all of it, or at one place as @1.0
  NUMBER             applies that one of the list
  MOVE ARGUMENTS     applies a move or a composite, as in: split_scope @1.0 16
  explain MOVE       what a move does and needs
  undo, redo         back and forth
  measure            verifies and times this program, and the plain one before
  show [tree|llvm|asm]
  trace              the moves so far
  save FILE          writes them to a file; load FILE applies such a file
  restart            back to the plain program
  help, quit
)";

struct Options {
  KernelArgs kernel;
  MeasureArgs measure;
};

class Player {
 public:
  Player(const target::Target& target, const LoadedKernel& kernel, const MeasureArgs& measure)
      : target_(target),
        kernel_(kernel),
        workplace_(target, measure, kernel.program),
        env_(kernel.program, target, &workplace_) {}

  [[nodiscard]] Status start() { return env_.steps(kernel_.trace); }

  void tree() const {
    std::fputs(ir::printWithPlaces(env_.program()).c_str(), stdout);
    if (Status s = moves::lowerable(env_.program(), target_); !s.ok()) {
      std::printf("(can't run as it stands: %s)\n", s.error().text().c_str());
    }
  }

  /// False: the game is over.
  bool command(const std::string& line) {
    std::istringstream words(line);
    std::string word, rest;
    words >> word;
    std::getline(words >> std::ws, rest);
    rest.erase(rest.find_last_not_of(" \t\r") + 1);
    if (word.empty() || word[0] == '#') return true;
    if (word == "quit" || word == "exit" || word == "q") return false;
    if (word == "help" || word == "?") {
      std::fputs(kHelp, stdout);
    } else if (word == "tree" || word == "t") {
      tree();
    } else if (word == "moves" || word == "m") {
      listMoves(rest);
    } else if (word == "undo" || word == "u") {
      stepped(env_.undo());
    } else if (word == "redo" || word == "r") {
      stepped(env_.redo());
    } else if (word == "restart") {
      env_.restart();
      stepped({});
    } else if (word == "measure") {
      measure();
    } else if (word == "show") {
      show(rest);
    } else if (word == "trace") {
      std::fputs(moves::toString(env_.trace()).c_str(), stdout);
    } else if (word == "save") {
      save(rest);
    } else if (word == "load") {
      load(rest);
    } else if (word == "explain") {
      explain(rest);
    } else if (word == "apply") {
      apply(rest);
    } else {
      apply(word + (rest.empty() ? "" : " " + rest));
    }
    return true;
  }

  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void refuse(const Error& error) {
    failed_ = true;
    std::printf("no: %s\n", error.text().c_str());
  }
  void refuse(const std::string& message) { refuse(Error{"", message, "", ""}); }

  void stepped(const Status& status) {
    if (!status.ok()) {
      refuse(status.error());
      return;
    }
    listed_.clear();
    tree();
  }

  void apply(const std::string& text) {
    std::size_t number = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code == std::errc() && end == text.data() + text.size()) {
      if (number < 1 || number > listed_.size()) {
        refuse(listed_.empty() ? "list the moves first: moves"
                               : fmt::format("the list goes from 1 to {}", listed_.size()));
        return;
      }
      const moves::Move move = listed_[number - 1];
      std::printf("%s\n", moves::toString(move).c_str());
      stepped(env_.step(move));
      return;
    }
    Result<moves::Move> move = moves::parseMove(text);
    if (!move.ok()) {
      refuse(move.error());
      return;
    }
    if (moves::findRule(move->name) == nullptr && search::findComposite(move->name) == nullptr) {
      std::vector<std::string> names = {"tree", "moves",   "undo", "redo", "measure", "show",
                                        "save", "restart", "load", "help", "quit",    "explain"};
      for (const moves::Rule* rule : moves::catalogue()) names.emplace_back(rule->info().name);
      for (const search::Composite* c : search::composites()) names.emplace_back(c->info().name);
      refuse("'" + move->name + "' is neither a command nor a move" +
             didYouMean(move->name, names) + "; try help");
      return;
    }
    stepped(env_.step(*move));
  }

  void listMoves(const std::string& place) {
    if (place.empty()) {
      listed_ = env_.moves();
    } else {
      std::optional<ir::Path> path = ir::parsePath(place[0] == '@' ? place : "@" + place);
      if (!path || (!path->empty() && ir::find(env_.program(), *path) == nullptr)) {
        refuse("there is no place '" + place + "'; tree shows all places");
        return;
      }
      listed_ = env_.movesAt(*path);
    }
    for (std::size_t k = 0; k < listed_.size(); ++k) {
      std::printf("%4zu  %s\n", k + 1, moves::toString(listed_[k]).c_str());
    }
    if (listed_.empty()) std::printf("nothing is applicable\n");
    if (place.empty()) {
      for (const search::Composite* composite : search::composites()) {
        const search::CompositeInfo& info = composite->info();
        std::printf("      %s %s", std::string(info.name).c_str(), std::string(info.place).c_str());
        for (const search::Knob& knob : info.knobs) {
          std::printf(" %s", std::string(knob.name).c_str());
        }
        std::printf("  (composite)\n");
      }
    }
  }

  void explain(const std::string& name) {
    if (const moves::Rule* rule = moves::findRule(name)) {
      std::fputs(moves::describe(*rule).c_str(), stdout);
    } else if (const search::Composite* composite = search::findComposite(name)) {
      std::printf("%s\n", std::string(composite->info().effect).c_str());
    } else {
      refuse(name.empty() ? "explain which move?" : "there is no move '" + name + "'");
    }
  }

  void measure() {
    if (Status s = workplace_.open(); !s.ok()) {
      refuse(s.error());
      return;
    }
    Result<search::Reward> reward = env_.measure();
    if (!reward.ok()) {
      refuse(reward.error());
      return;
    }
    if (!reward->outcome.ok()) {
      const Failure& failure = reward->outcome.failure();
      refuse(Error{failure.code, failure.detail, std::string(name(failure.stage)), ""});
      return;
    }
    std::printf("%s\n", describe(reward->outcome.measurement(), kernel_.program,
                                 workplace_.device().hello().timerHz)
                            .c_str());
    std::fputs(describePacking(kernel_.program, env_.program()).c_str(), stdout);
    if (reward->baselineCycles > 0) {
      std::printf("%s times as fast as the plain program\n", showNumber(reward->reward).c_str());
    }
  }

  void show(const std::string& as) {
    if (as.empty() || as == "tree") {
      std::fputs(env_.state().c_str(), stdout);
      return;
    }
    if (as != "llvm" && as != "asm") {
      refuse("show tree, llvm or asm");
      return;
    }
    Result<std::string> text = as == "llvm" ? codegen::llvmText(env_.program(), target_)
                                            : codegen::assemblyText(env_.program(), target_);
    if (!text.ok()) {
      refuse(text.error());
    } else {
      std::fputs(text->c_str(), stdout);
    }
  }

  void save(const std::string& file) {
    if (file.empty()) {
      refuse("save needs the name of a file");
      return;
    }
    const moves::Trace trace = env_.trace();
    if (Status s = writeFile(file, moves::toString(trace)); !s.ok()) {
      refuse(s.error());
    } else {
      std::printf("%zu moves in %s\n", trace.size(), file.c_str());
    }
  }

  void load(const std::string& file) {
    if (file.empty()) {
      refuse("load needs the name of a file");
      return;
    }
    Result<std::string> text = readFile(file);
    if (!text.ok()) {
      refuse(text.error());
      return;
    }
    Result<moves::Trace> trace = moves::parseTrace(*text, file);
    if (!trace.ok()) {
      refuse(trace.error());
      return;
    }
    stepped(env_.steps(*trace));
  }

  const target::Target& target_;
  const LoadedKernel& kernel_;
  Workplace workplace_;
  search::Environment env_;
  std::vector<moves::Move> listed_;
  bool failed_ = false;
};

int run(const Options& options) {
  Result<target::Target> target = loadTarget(options.kernel.target, options.measure.threads);
  if (!target.ok()) return fail(target.error());
  Result<LoadedKernel> kernel = loadKernel(options.kernel, *target);
  if (!kernel.ok()) return fail(kernel.error());
  Player player(*target, *kernel, options.measure);
  if (Status s = player.start(); !s.ok()) return fail(s.error());
  const bool person = isatty(STDIN_FILENO) == 1;
  if (person) {
    std::printf("%s on %s; help tells the commands\n", kernel->describe().c_str(),
                target->name.c_str());
  }
  player.tree();
  std::string line;
  const std::atomic<bool>& stop = interrupted();
  while (!stop.load()) {
    if (person) {
      std::printf("> ");
      std::fflush(stdout);
    }
    if (!std::getline(std::cin, line)) break;
    if (!person) std::printf("> %s\n", line.c_str());
    if (!player.command(line)) break;
    std::fflush(stdout);
  }
  if (stop.load()) {
    std::fprintf(stderr, "dojo: stopped\n");
    return kFailed;
  }
  // A script wants to know; a person has seen it.
  return player.failed() && !person ? kFailed : kDone;
}

}  // namespace

void addPlay(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      addCommand(app, "play", "The game: make a kernel faster by hand, move by move",
                 "dojo play softmax\n  printf 'moves @0\\n1\\nmeasure\\n' | dojo play softmax",
                 [options] { return run(*options); });
  addKernelOptions(*command, options->kernel);
  addMeasureOptions(*command, options->measure);
}

}  // namespace dojo::cli
