// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/instructions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/instruction.h"
#include "ir/parse.h"

namespace dojo::target {
namespace {

/// What LLVM's constraints say on the machines that we compile for; "m" is the address of an
/// operand that is only read.
const std::vector<std::string>& registerKinds() {
  static const std::vector<std::string> kinds = {"r", "f", "v", "x", "w", "t", "vr", "m"};
  return kinds;
}

/// The names in braces; nullopt where a brace is left open. `{{` and `}}` are braces themselves.
std::optional<std::set<std::string>> namesIn(const std::string& assembly) {
  std::set<std::string> out;
  for (std::size_t at = 0; at < assembly.size(); ++at) {
    const char c = assembly[at];
    if (c != '{' && c != '}') continue;
    if (at + 1 < assembly.size() && assembly[at + 1] == c) {
      ++at;
      continue;
    }
    const std::size_t end = assembly.find('}', at);
    if (c == '}' || end == std::string::npos) return std::nullopt;
    out.insert(assembly.substr(at + 1, end - at - 1));
    at = end;
  }
  return out;
}

void checkAssembly(Reader& in, const VendorInstruction& made) {
  const auto used = namesIn(made.assembly);
  if (!used) {
    in.fail("assembly", "each operand as {NAME}; a brace of the assembly itself is written twice");
    return;
  }
  std::vector<std::string> names;
  for (const ir::Buffer& operand : made.fragment.operands) names.push_back(operand.name);
  for (const std::string& name : *used) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    in.fail("assembly", fmt::format("operands of the fragment ({}), not '{{{}}}'{}",
                                    fmt::join(names, ", "), name, didYouMean(name, names)));
  }
  for (const std::string& name : names) {
    if (!used->contains(name)) {
      in.fail("assembly",
              fmt::format("every operand of the fragment, and '{{{}}}' isn't there", name));
    }
  }
}

void readConstraints(Reader& in, VendorInstruction& made) {
  std::map<std::string, std::string> given = in.textsByName("constraints");
  const std::vector<std::string>& kinds = registerKinds();
  for (const ir::Buffer& operand : made.fragment.operands) {
    const auto found = given.find(operand.name);
    const std::string kind = found == given.end() ? "r" : found->second;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      in.fail("constraints." + operand.name,
              fmt::format("one of {}, not '{}'", fmt::join(kinds, ", "), kind));
    } else if (kind == "m" && operand.role != ir::Role::in) {
      in.fail("constraints." + operand.name, "a register for an operand that is written");
    }
    made.constraints.push_back(kind);
    if (found != given.end()) given.erase(found);
  }
  for (const auto& [name, kind] : given) {
    in.fail("constraints." + name, "the name of an operand of the fragment");
  }
}

}  // namespace

void readInstruction(Reader& in, std::vector<VendorInstruction>& out) {
  VendorInstruction made;
  made.name = in.requiredText("name");
  const std::string text = in.requiredText("fragment");
  made.assembly = in.requiredText("assembly");
  made.cost = in.real("cost", 1);
  if (std::any_of(out.begin(), out.end(),
                  [&](const VendorInstruction& other) { return other.name == made.name; })) {
    in.fail("name", "distinct names, not two called '" + made.name + "'");
  }
  ir::ParseOptions options;
  options.file = "fragment";
  const Result<ir::Parsed> parsed = ir::parse(text, options);
  Result<ir::Instruction> fragment =
      parsed ? ir::toInstruction(parsed->program) : Result<ir::Instruction>(parsed.error());
  if (!fragment) {
    const Error& problem = fragment.error();
    const std::string where = problem.where.empty() ? "" : problem.where + ": ";
    in.fail("fragment",
            "a program that says what the instruction computes; " + where + problem.message);
  } else if (fragment->name != made.name) {
    in.fail("fragment", fmt::format("'kernel {}', the instruction's name, not 'kernel {}'",
                                    made.name, fragment->name));
  } else {
    made.fragment = *std::move(fragment);
    checkAssembly(in, made);
    readConstraints(in, made);
  }
  in.finish();
  out.push_back(std::move(made));
}

}  // namespace dojo::target
