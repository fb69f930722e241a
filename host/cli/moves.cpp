// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "moves/move.h"
#include "moves/rule.h"
#include "search/composite.h"

namespace dojo::cli {
namespace {

struct Options {
  std::string name;
  std::string kernel;
  KernelArgs args;
  bool json = false;
};

std::string signature(const search::CompositeInfo& info) {
  std::string out = std::string(info.name) + " " + std::string(info.place);
  for (const search::Knob& knob : info.knobs) out += " " + std::string(knob.name);
  return out;
}

Json toJson(const moves::RuleInfo& info) {
  Json json;
  json["move"] = info.name;
  json["usage"] = moves::signature(info);
  json["group"] = info.group;
  json["effect"] = info.effect;
  json["needs"] = info.needs;
  json["back"] = info.inverse;
  json["example"] = {{"before", info.before}, {"move", info.move}, {"after", info.after}};
  return json;
}

Json toJson(const search::CompositeInfo& info) {
  Json json;
  json["composite"] = info.name;
  json["usage"] = signature(info);
  json["effect"] = info.effect;
  Json knobs;
  for (const search::Knob& knob : info.knobs) knobs[std::string(knob.name)] = knob.values;
  json["knobs"] = std::move(knobs);
  return json;
}

int catalogue(const Options& options) {
  Table table({"MOVE", "GROUP", "WHAT IT DOES"});
  auto firstSentence = [](std::string_view text) {
    return std::string(text.substr(0, std::min(text.find(". "), text.size())));
  };
  for (const moves::Rule* rule : moves::catalogue()) {
    const moves::RuleInfo& info = rule->info();
    if (options.json) {
      std::printf("%s\n", dump(toJson(info)).c_str());
    } else {
      table.add({moves::signature(info), std::string(info.group), firstSentence(info.effect)});
    }
  }
  for (const search::Composite* composite : search::composites()) {
    const search::CompositeInfo& info = composite->info();
    if (options.json) {
      std::printf("%s\n", dump(toJson(info)).c_str());
    } else {
      table.add({signature(info), "composite", firstSentence(info.effect)});
    }
  }
  if (!options.json) std::fputs(table.text().c_str(), stdout);
  return kDone;
}

int describe(const std::string& name, bool json) {
  if (const moves::Rule* rule = moves::findRule(name)) {
    std::fputs((json ? dump(toJson(rule->info())) + "\n" : moves::describe(*rule)).c_str(), stdout);
    return kDone;
  }
  if (const search::Composite* composite = search::findComposite(name)) {
    if (json) {
      std::printf("%s\n", dump(toJson(composite->info())).c_str());
      return kDone;
    }
    std::printf("%s\n  %s\n", signature(composite->info()).c_str(),
                std::string(composite->info().effect).c_str());
    for (const search::Knob& knob : composite->info().knobs) {
      std::string values;
      for (const std::int64_t value : knob.values) values += " " + std::to_string(value);
      std::printf("  %s:%s\n", std::string(knob.name).c_str(), values.c_str());
    }
    return kDone;
  }
  std::vector<std::string> names;
  for (const moves::Rule* rule : moves::catalogue()) names.emplace_back(rule->info().name);
  for (const search::Composite* c : search::composites()) names.emplace_back(c->info().name);
  return fail({"move.unknown", "there is no move '" + name + "'" + didYouMean(name, names), "", ""},
              json);
}

int applicable(Options options) {
  options.args.kernel = options.kernel;
  Result<target::Target> target = target::load(options.args.target);
  if (!target.ok()) return fail(target.error(), options.json);
  Result<LoadedKernel> kernel = loadKernel(options.args, *target);
  if (!kernel.ok()) return fail(kernel.error(), options.json);
  for (const moves::Move& move : moves::applicable(kernel->start, *target)) {
    if (options.json) {
      std::printf("%s\n", dump(Json{{"move", moves::toString(move)}}).c_str());
    } else {
      std::printf("%s\n", moves::toString(move).c_str());
    }
  }
  return kDone;
}

int run(const Options& options) {
  if (!options.kernel.empty()) return applicable(options);
  if (!options.name.empty()) return describe(options.name, options.json);
  return catalogue(options);
}

}  // namespace

void addMoves(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = addCommand(
      app, "moves", "The catalogue of moves; one of them in detail; or what is applicable",
      "dojo moves split_scope\n  dojo moves --on softmax", [options] { return run(*options); });
  command->add_option("name", options->name, "Explains this move");
  command->add_option("--on", options->kernel, "Lists what is applicable to this kernel");
  command->add_option("--shape", options->args.shape, "Parameters, as in M=16,N=16,K=16");
  command->add_option("--dtype", options->args.dtype, "Main type instead of the kernel's");
  addTargetOption(*command, options->args.target);
  command->add_option("--trace", options->args.traceFile, "A file of moves to apply first");
  command->add_flag("--json", options->json, "One JSON object a line");
}

}  // namespace dojo::cli
