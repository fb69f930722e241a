// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/instructions.h"

#include <algorithm>
#include <bit>
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
  static const std::vector<std::string> kinds = {"r", "f", "v", "x", "w", "t", "m"};
  return kinds;
}

/// Features of this machine that instructions are known to need, as LLVM names them.
bool machineHas(const std::string& feature) {
#if defined(__x86_64__)
  if (feature == "avx2") return __builtin_cpu_supports("avx2") != 0;
  if (feature == "avx512f") return __builtin_cpu_supports("avx512f") != 0;
  if (feature == "avx512bw") return __builtin_cpu_supports("avx512bw") != 0;
  if (feature == "avx512vnni") return __builtin_cpu_supports("avx512vnni") != 0;
#endif
  static_cast<void>(feature);
  return false;
}

bool hasFeature(const Target& target, const std::string& feature) {
  if (target.features == "native") return machineHas(feature);
  return ("," + target.features + ",").find(",+" + feature + ",") != std::string::npos;
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

/// What registers of a kind can't hold; empty: they hold the operand.
std::string misfit(const ir::Buffer& operand, const std::string& kind, const Target& target) {
  const std::int64_t count = operand.logicalElements();
  const std::int64_t bytes = count * ir::sizeBytes(operand.dtype);
  const std::int64_t word = target.triple.find("64") < target.triple.find('-') ? 8 : 4;
  if (kind == "m") return "";
  if (kind == "r") {
    const bool whole = std::has_single_bit(static_cast<std::uint64_t>(bytes));
    if (whole && bytes <= word) return "";
    return fmt::format("a word of at most {} bytes", word);
  }
  const bool real = operand.dtype == ir::DType::f32 || operand.dtype == ir::DType::f64;
  if (kind == "f" || kind == "t") {
    if (count == 1 && real) return "";
    if (kind == "f" && count > 1 && (bytes == 4 || bytes == 8)) return "";
    return "one f32 or f64, or several elements of 4 or 8 bytes in all";
  }
  if (count == 1 && real) return "";
  const std::int64_t most = target.vector.bits / 8;
  if (count > 1 && bytes >= 8 && bytes <= most &&
      std::has_single_bit(static_cast<std::uint64_t>(count))) {
    return "";
  }
  return fmt::format("one f32 or f64, or a power of two of elements, 8 to {} bytes in all", most);
}

void readConstraints(Reader& in, VendorInstruction& made, const Target& target) {
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
    } else if (const std::string fits = misfit(operand, kind, target); !fits.empty()) {
      in.fail("constraints." + operand.name,
              fmt::format("registers that hold the operand: '{}' holds {}", kind, fits));
    }
    made.constraints.push_back(kind);
    if (found != given.end()) given.erase(found);
  }
  for (const auto& [name, kind] : given) {
    in.fail("constraints." + name, "the name of an operand of the fragment");
  }
}

}  // namespace

void readInstruction(Reader& in, Target& target) {
  std::vector<VendorInstruction>& out = target.instructions;
  VendorInstruction made;
  made.name = in.requiredText("name");
  const std::string text = in.requiredText("fragment");
  made.assembly = in.requiredText("assembly");
  made.cost = in.real("cost", 1);
  const std::vector<std::string> needs = in.texts("needs", {});
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
    readConstraints(in, made, target);
  }
  in.finish();
  const bool offered = std::all_of(needs.begin(), needs.end(), [&](const std::string& feature) {
    return hasFeature(target, feature);
  });
  if (offered) out.push_back(std::move(made));
}

}  // namespace dojo::target
