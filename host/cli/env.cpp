// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <iostream>
#include <memory>
#include <new>
#include <optional>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/workplace.h"
#include "ir/print.h"
#include "moves/lowerable.h"
#include "search/environment.h"

namespace dojo::cli {
namespace {

constexpr const char* kProtocol =
    R"(One JSON object a line on standard input, one on standard output for each.
  {"op": "reset", "kernel": "matmul", "shape": "M=16,N=16,K=16", "dtype": "f32", "target": "host"}
      starts a game (all but kernel may be left out); answers as state
  {"op": "state"}                      {"ok", "state", "trace", "lowerable"}
  {"op": "moves"}                      {"ok", "moves": [...]}; "place": "@1.0" for one place only
  {"op": "step", "move": "..."}        a move or a composite as text; answers as state
  {"op": "undo"}, {"op": "redo"}       answers as state
  {"op": "measure"}                    {"ok", "cycles", "baseline_cycles", "reward", "spread", ...}
                                       or {"ok", "reward": 0, "failure": {"stage", "code", ...}}
  {"op": "quit"}                       ends; so does the end of the input
An "id" is given back with the answer. What can't be done is answered by
  {"ok": false, "error": {"code", "message", "where"}})";

struct Game {
  KernelArgs args;
  target::Target target;
  LoadedKernel kernel;
  std::unique_ptr<Workplace> workplace;
  std::unique_ptr<search::Environment> environment;
};

class Server {
 public:
  explicit Server(MeasureArgs measure) : measure_(std::move(measure)) {}

  /// The answer to one line; nullopt: the end.
  std::optional<Json> answer(const std::string& line) {
    const Json request = Json::parse(line, nullptr, false);
    if (request.is_discarded()) return wrong("env.json", "the line isn't JSON");
    if (!request.is_object()) return wrong("env.json", "the line isn't a JSON object");
    std::optional<Json> out;
    try {
      out = dispatch(request);
    } catch (const std::bad_alloc&) {
      out = wrong("memory.full", "this needs more memory than there is");
    }
    if (out && request.contains("id")) (*out)["id"] = request["id"];
    return out;
  }

 private:
  static Json wrong(const std::string& code, const std::string& message) {
    return wrong(Error{code, message, "", ""});
  }
  static Json wrong(const Error& error) {
    Json out;
    out["ok"] = false;
    out["error"] = toJson(error)["error"];
    return out;
  }

  /// A member that must be text; nullopt where it's missing, an error answer where it isn't text.
  static Status text(const Json& request, const char* key, bool required, std::string& out) {
    if (!request.contains(key)) {
      if (!required) return {};
      return Error{"env.member", std::string("'") + key + "' is missing", "", ""};
    }
    if (!request[key].is_string()) {
      return Error{"env.member", std::string("'") + key + "' must be a string", "", ""};
    }
    out = request[key].get<std::string>();
    return {};
  }

  std::optional<Json> dispatch(const Json& request) {
    std::string op;
    if (Status s = text(request, "op", true, op); !s.ok()) return wrong(s.error());
    if (op == "quit") return std::nullopt;
    if (op == "reset") return reset(request);
    const bool known = op == "state" || op == "moves" || op == "step" || op == "undo" ||
                       op == "redo" || op == "measure";
    if (!known) {
      return wrong("env.op", "there is no op '" + op +
                                 "' (reset, state, moves, step, undo, redo, measure, quit)");
    }
    if (game_ == nullptr) return wrong("env.no-game", "no game was started: send a reset first");
    search::Environment& env = *game_->environment;
    if (op == "state") return state();
    if (op == "moves") return moves(request);
    if (op == "measure") return measure();
    Status status;
    if (op == "step") {
      std::string move;
      status = text(request, "move", true, move);
      if (status.ok()) status = env.step(move);
    } else {
      status = op == "undo" ? env.undo() : env.redo();
    }
    return status.ok() ? state() : wrong(status.error());
  }

  Json reset(const Json& request) {
    auto game = std::make_unique<Game>();
    KernelArgs& args = game->args;
    Status status = text(request, "kernel", true, args.kernel);
    if (status.ok()) status = text(request, "shape", false, args.shape);
    if (status.ok()) status = text(request, "dtype", false, args.dtype);
    if (status.ok()) status = text(request, "target", false, args.target);
    if (!status.ok()) return wrong(status.error());
    Result<target::Target> target = loadTarget(args.target, measure_.threads);
    if (!target.ok()) return wrong(target.error());
    game->target = std::move(target).value();
    Result<LoadedKernel> kernel = loadKernel(args, game->target);
    if (!kernel.ok()) return wrong(kernel.error());
    game->kernel = std::move(kernel).value();
    game->workplace = std::make_unique<Workplace>(game->target, measure_, game->kernel.program);
    game->environment = std::make_unique<search::Environment>(game->kernel.program, game->target,
                                                              game->workplace.get());
    game_ = std::move(game);
    Json out = state();
    out["kernel"] = game_->kernel.program.name;
    out["shape"] = game_->kernel.shape;
    out["dtype"] = game_->kernel.dtype;
    out["target"] = game_->target.name;
    return out;
  }

  Json state() {
    const search::Environment& env = *game_->environment;
    Json out;
    out["ok"] = true;
    out["state"] = env.state();
    Json trace = Json::array();
    for (const moves::Move& move : env.trace()) trace.push_back(moves::toString(move));
    out["trace"] = std::move(trace);
    out["lowerable"] = moves::lowerable(env.program(), game_->target).ok();
    return out;
  }

  Json moves(const Json& request) {
    std::string place;
    if (Status s = text(request, "place", false, place); !s.ok()) return wrong(s.error());
    std::vector<moves::Move> found;
    if (place.empty()) {
      found = game_->environment->moves();
    } else {
      std::optional<ir::Path> path = ir::parsePath(place);
      const bool there =
          path && (path->empty() || ir::find(game_->environment->program(), *path) != nullptr);
      if (!there) return wrong("env.place", "there is no place '" + place + "'");
      found = game_->environment->movesAt(*path);
    }
    Json list = Json::array();
    for (const moves::Move& move : found) list.push_back(moves::toString(move));
    Json out;
    out["ok"] = true;
    out["moves"] = std::move(list);
    return out;
  }

  Json measure() {
    Status open = game_->workplace->open();
    if (!open.ok()) return wrong(open.error());
    Result<search::Reward> reward = game_->environment->measure();
    if (!reward.ok()) return wrong(reward.error());
    Json out;
    out["ok"] = true;
    out["reward"] = reward->reward;
    out["baseline_cycles"] = reward->baselineCycles;
    if (reward->outcome.ok()) {
      describeTo(out, reward->outcome.measurement(), game_->kernel.program,
                 game_->workplace->device().hello().timerHz);
    } else {
      const Failure& failure = reward->outcome.failure();
      out["failure"] = {
          {"stage", name(failure.stage)}, {"code", failure.code}, {"message", failure.detail}};
    }
    return out;
  }

  MeasureArgs measure_;
  std::unique_ptr<Game> game_;
};

int run(const MeasureArgs& measure) {
  Server server(measure);
  std::string line;
  const std::atomic<bool>& stop = interrupted();
  while (!stop.load() && std::getline(std::cin, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::optional<Json> answer = server.answer(line);
    if (!answer) break;
    std::printf("%s\n", dump(*answer).c_str());
    if (std::fflush(stdout) != 0) return kFailed;
  }
  if (!stop.load()) return kDone;
  std::fprintf(stderr, "dojo: stopped\n");
  return kFailed;
}

}  // namespace

void addEnv(CLI::App& app) {
  auto measure = std::make_shared<MeasureArgs>();
  CLI::App* command =
      addCommand(app, "env", "Serves the game to other programs as JSON lines",
                 R"(printf '{"op":"reset","kernel":"softmax"}\n{"op":"moves"}\n' | dojo env)",
                 [measure] { return run(*measure); });
  command->footer(std::string(kProtocol) + "\n\n" + command->get_footer());
  addMeasureOptions(*command, *measure);
}

}  // namespace dojo::cli
