// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/target.h"

#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/target_check.h"

namespace dojo::cli {
namespace {

Json describe(const target::Target& t) {
  Json json;
  json["target"] = t.name;
  json["description"] = t.description;
  json["file"] = t.file;
  json["triple"] = t.triple;
  json["cpu"] = t.cpu;
  json["features"] = t.features;
  json["harts"] = t.harts;
  json["vector_bits"] = t.vector.bits;
  json["vector_grouping"] = t.vector.grouping;
  json["vector_registers"] = t.vector.registers;
  json["vector_types"] = t.vector.types;
  json["fma"] = t.vector.fma;
  json["mappings"] = t.mappings;
  json["locations"] = t.locations;
  json["stack_bytes"] = t.stackBytes;
  json["unroll_limit"] = t.unrollLimit;
  Json counters = Json::array();
  for (const target::Counter& c : t.counters) {
    counters.push_back({{"name", c.name}, {"width", c.width}, {"event", c.event}});
  }
  json["counters"] = std::move(counters);
  json["cycles_are_time"] = t.cyclesAreTime;
  json["tried_on"] = t.triedOn;
  json["port"] = t.runner.port;
  json["image"] = t.runner.image;
  json["transport"] = t.runner.transport;
  json["command"] = t.runner.command;
  json["hash"] = t.hash;
  return json;
}

int list(bool json) {
  Table table({"TARGET", "ISA", "VECTORS", "MAPPINGS", "TRIED ON"});
  int code = kDone;
  for (const std::string& name : target::shipped()) {
    Result<target::Target> target = target::load(name);
    if (!target.ok()) {
      code = fail(target.error(), json);
      continue;
    }
    if (json) {
      std::printf("%s\n", dump(describe(*target)).c_str());
      continue;
    }
    const std::string vectors =
        target->vector.bits == 0 ? "none" : fmt::format("{} bit", target->vector.bits);
    table.add({name, target->triple, vectors, fmt::format("{}", fmt::join(target->mappings, " ")),
               target->triedOn});
  }
  if (!json) std::fputs(table.text().c_str(), stdout);
  return code;
}

int show(const std::string& name, bool json) {
  Result<target::Target> target = target::load(name);
  if (!target.ok()) return fail(target.error(), json);
  const Json all = describe(*target);
  if (json) {
    std::printf("%s\n", dump(all).c_str());
    return kDone;
  }
  for (const auto& [key, value] : all.items()) {
    std::string text = value.is_string() ? value.get<std::string>() : dump(value);
    std::printf("%-17s %s\n", key.c_str(), text.c_str());
  }
  return kDone;
}

}  // namespace

void addTarget(CLI::App& app) {
  CLI::App* command = app.add_subcommand("target", "Target descriptions: list, show, check");
  command->require_subcommand(1);
  command->footer("Example:\n  dojo target show host");
  auto json = std::make_shared<bool>(false);
  auto name = std::make_shared<std::string>();
  CLI::App* listing = addCommand(*command, "list", "Lists the targets that ship",
                                 "dojo target list", [json] { return list(*json); });
  listing->add_flag("--json", *json, "One JSON object a line");
  CLI::App* showing =
      addCommand(*command, "show", "Everything that a target description says, resolved",
                 "dojo target show host", [=] { return show(*name, *json); });
  showing->add_option("name", *name, "Name of a target, or path of its .json file")->required();
  showing->add_flag("--json", *json, "One JSON object");
  addTargetCheck(*command);
}

}  // namespace dojo::cli
